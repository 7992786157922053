"""Compiled and plain Python code play the same games, and compiled code is kept by what it was built from."""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from monsterzoo.envs import make_vec, names
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.compiling import cache, jit
from monsterzoo.envs.compiling.jit import InnerFunction, kernel
from monsterzoo.envs.core import stepping
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match import loop, sampling
from monsterzoo.envs.match.compiled_policies import Uniform
from monsterzoo.policies import heuristics
from monsterzoo.training.algorithms.rollouts import play_range
from needs import HOME, ROOT
from toys import write_game

compiled_only = pytest.mark.skipif(jit.JIT_OFF, reason="nothing is compiled")


def digests(name: str, options: dict[str, Any]) -> dict[str, str]:
    """Short games through every interface, each boiled down to a digest."""
    return {play.__name__: play(name, options).hexdigest() for play in (aec, batch, one_seat, worlds)}


def aec(name: str, options: dict[str, Any]) -> Any:
    """Everything every seat gets in one game, and the position at the end."""
    env, digest, luck = GameEnv(find_game(name), **options), hashlib.sha256(), streams(1, 1, "test")
    env.reset(seed=1)
    action = np.zeros(1, np.int64)
    for _ in range(250):
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        for agent in env.agents:
            view = env.observe(agent)
            digest.update(view["observation"].tobytes() + view["action_mask"].tobytes())
            digest.update(env.text_observation(agent).encode())
        sampling.sample_rows(env.observe(env.agent_selection)["action_mask"][None], luck, action)
        env.step(int(action[0]))
        digest.update(json.dumps(env.rewards).encode())
    digest.update(json.dumps(env.snapshot()).encode())
    return digest


def batch(name: str, options: dict[str, Any]) -> Any:
    """Observations, masks, seats and rewards of a batch; reward="score" so that there are some."""
    games, digest = make_vec(name, 3, seed=2, reward="score", **options), hashlib.sha256()
    for _ in range(100):
        games.step(games.sample_actions())
        for buffer in (games.observations, games.action_masks, games.seats, games.rewards, games.terminated):
            digest.update(np.ascontiguousarray(buffer).tobytes())
    return digest


def one_seat(name: str, options: dict[str, Any]) -> Any:
    """The learner's view of games against compiled opponents."""
    games, digest = SeatVectorEnv(name, 2, **options), hashlib.sha256()
    observation, _ = games.reset(seed=3)
    luck, actions = streams(3, 1, "test"), np.zeros(2, np.int64)
    for _ in range(30):
        sampling.sample_rows(np.ascontiguousarray(observation["action_mask"]), luck, actions)
        observation, rewards, *_ = games.step(actions)
        digest.update(observation["observation"].tobytes() + rewards.tobytes())
    return digest


def worlds(name: str, options: dict[str, Any]) -> Any:
    """What each seat could imagine at a few moments of a game."""
    games, digest, luck = make_vec(name, 1, seed=4, **options), hashlib.sha256(), streams(4, 1, "test")
    world = games.variant.new_states(1)
    for step in range(60):
        if step % 6 == 0:
            for seat in range(games.players):
                imagine(world, games.states, seat, luck[0])
                digest.update(json.dumps(games.variant.snapshot(world[0])).encode())
        games.step(games.sample_actions())
    return digest


def in_another_process(*arguments: str, **environment: str) -> Any:
    """What a Python process prints as JSON; plain code must not even warn of overflows."""
    command = [sys.executable, "-W", "error::RuntimeWarning", *arguments]
    result = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests"), **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", names())
def test_plain_python_plays_the_same_games(name: str) -> None:
    jit_off, *plain = in_another_process(__file__, name, NUMBA_DISABLE_JIT="1")
    assert jit_off
    assert plain == [digests(name, options) for options in find_game(name).variants]


@pytest.mark.parametrize("name", names())
def test_a_later_process_compiles_nothing(name: str) -> None:
    options = find_game(name).variants[0]
    digests(name, options)
    code = """
import json, sys
sys.path.insert(0, ".")
from test_jit import digests, sampling, loop, stepping
digests(sys.argv[1], json.loads(sys.argv[2]))
used = [stepping.begin, stepping.advance_one, stepping.observe_one, loop.play_on, sampling.sample_batch]
print(json.dumps({k.__name__: [sum(k.stats.cache_hits.values()), sum(k.stats.cache_misses.values())] for k in used}))
"""
    for one, (hits, misses) in in_another_process("-c", code, name, json.dumps(options)).items():
        assert (hits > 0, misses) == (True, 0), one


# --- What a kernel is built from ---


@kernel
def _twice(numbers):
    for i in range(len(numbers)):
        numbers[i] *= 2


def folders_of(function: Any, *arguments: Any) -> set[str]:
    """The sources of a kernel for some arguments, relative to the project."""
    sources = cache.sources_of(function, tuple(map(numba.typeof, arguments)))
    homes = {source: HOME if source.is_relative_to(HOME) else ROOT for source in sources}
    return {source.relative_to(home).as_posix() for source, home in homes.items()}


@compiled_only
def test_kernels_are_built_from_what_games_share_their_own_package_and_what_their_arguments_belong_to() -> None:
    pikit = find_game("pikit_v0").variant()
    assert heuristics.has_heuristic(pikit)
    states, views, tokens = pikit.new_states(1), pikit.new_views(), (Uniform(), heuristics.Heuristic())
    shared = {"envs/compiling", "envs/core", "envs/match"}
    assert folders_of(sampling.sample_rows, np.zeros((1, 8), np.int8)) == shared
    assert folders_of(stepping.begin, states, 0) == shared | {"envs/pikit"}
    assert folders_of(stepping.look_at, states, 0, 0, views) == shared | {"envs/pikit"}
    assert folders_of(heuristics.advise_views, views) == shared | {"envs/pikit", "policies"}
    assert folders_of(stepping.begin, (tokens, (states,))) == shared | {"envs/pikit", "policies"}
    assert folders_of(_twice, np.zeros(1)) == shared | {"policies", "tests/envs/compiling/test_jit.py"}
    assert folders_of(play_range, states) == shared | {"envs/pikit", "policies", "training"}


def test_a_package_is_one_source_with_its_subpackages(tmp_path: Path) -> None:
    for folder in (tmp_path / "game", tmp_path / "game" / "rules"):
        folder.mkdir()
        (folder / "__init__.py").touch()
    assert cache._home_of(str(tmp_path / "game" / "rules" / "scoring.py")) == tmp_path / "game"
    assert cache._home_of(str(tmp_path / "script.py")) == tmp_path / "script.py"


PLAY_BOTH = """
import json, sys
sys.path.insert(0, sys.argv[1])
from monsterzoo.envs.core import stepping
report = {}
for name in ("alpha", "beta"):
    states = __import__(name).GAME.variant().new_states(1)
    before = [sum(counted.values()) for counted in (stepping.begin.stats.cache_hits, stepping.begin.stats.cache_misses)]
    stepping.begin(states, 0)
    after = [sum(counted.values()) for counted in (stepping.begin.stats.cache_hits, stepping.begin.stats.cache_misses)]
    hits, misses = (new - old for new, old in zip(after, before))
    report[name] = {"place": int(states[f"place_{name}"][0]), "hits": hits, "misses": misses}
print(json.dumps(report))
"""


@compiled_only
def test_editing_a_game_compiles_that_game_anew_and_no_other(tmp_path: Path) -> None:
    rules = {name: write_game(tmp_path, name) for name in ("alpha", "beta")}
    kept = {"MONSTERZOO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def play() -> Any:
        return in_another_process("-c", PLAY_BOTH, str(tmp_path), **kept)

    fresh, old = {"place": 0, "hits": 0, "misses": 1}, {"place": 0, "hits": 1, "misses": 0}
    assert play() == {"alpha": fresh, "beta": fresh}
    assert play() == {"alpha": old, "beta": old}
    text = rules["alpha"].read_text()
    rules["alpha"].write_text(text.replace("PLAYING, 0, 1, 0", "PLAYING, 0, 1, 3"))
    assert play() == {"alpha": {"place": 3, "hits": 0, "misses": 1}, "beta": old}
    rules["alpha"].write_text(text)
    assert play() == {"alpha": old, "beta": old}, "code of both versions is kept"


# --- Where compiled code is kept ---


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> frozenset[Path]:
    """Two packages and a script that a kernel is built from."""
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(tmp_path / "cache"))
    for folder in (tmp_path / "core" / "parts", tmp_path / "game"):
        folder.mkdir(parents=True)
        (folder / "rules.py").write_text("x = 1\n")
    (tmp_path / "script.py").write_text("y = 1\n")
    return frozenset({tmp_path / "core", tmp_path / "game", tmp_path / "script.py"})


def folder_for(sources: frozenset[Path]) -> Path:
    """The folder that a new process would take."""
    cache._digest.cache_clear()
    folder: Path = cache._folder.__wrapped__(sources, "")
    return folder


def test_unchanged_sources_keep_their_folder(sources: frozenset[Path], tmp_path: Path) -> None:
    before = folder_for(sources)
    assert before.parent == tmp_path / "cache"
    (tmp_path / "core" / "notes.md").write_text("no code")
    (tmp_path / "core" / "rules.pyc").write_text("what Python leaves")
    assert folder_for(sources) == before


@pytest.mark.parametrize("file", ["core/parts/rules.py", "game/rules.py", "script.py"])
def test_a_change_in_any_file_changes_the_folder(sources: frozenset[Path], tmp_path: Path, file: str) -> None:
    before = folder_for(sources)
    (tmp_path / file).write_text("x = 2\n")
    assert folder_for(sources) != before


def test_other_packages_do_not_matter(sources: frozenset[Path], tmp_path: Path) -> None:
    fewer = sources - {tmp_path / "game"}
    before = folder_for(fewer)
    assert before != folder_for(sources)
    (tmp_path / "game" / "rules.py").write_text("x = 2\n")
    assert folder_for(fewer) == before


def test_a_renamed_or_new_file_changes_the_folder(sources: frozenset[Path], tmp_path: Path) -> None:
    folders = {folder_for(sources)}
    (tmp_path / "game" / "rules.py").rename(tmp_path / "game" / "laws.py")
    folders.add(folder_for(sources))
    (tmp_path / "game" / "more.py").write_text("")
    folders.add(folder_for(sources))
    assert len(folders) == 3


def test_code_moved_from_one_file_to_the_next_changes_the_folder(sources: frozenset[Path], tmp_path: Path) -> None:
    """File borders are part of the digest."""
    one, two = tmp_path / "game" / "a.py", tmp_path / "game" / "b.py"
    one.write_text("x = 1\ny = 2\n")
    two.write_text("")
    before = folder_for(sources)
    one.write_text("x = 1\n")
    two.write_text("y = 2\n")
    assert folder_for(sources) != before


@compiled_only
def test_kernels_are_kept_in_our_folder_and_numba_is_left_alone() -> None:
    configured = numba.config.CACHE_DIR
    numbers = np.arange(3)
    _twice(numbers)
    assert numbers.tolist() == [0, 2, 4]
    assert configured == numba.config.CACHE_DIR
    folder = Path(_twice._cache.cache_path)
    assert folder.is_relative_to(cache.cache_root())
    assert list(folder.glob("test_jit._twice*.nbc")), "its machine code is there"


def test_the_cache_can_be_put_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(tmp_path))
    assert cache.cache_root() == tmp_path
    monkeypatch.delenv("MONSTERZOO_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.cache_root() == tmp_path / "xdg" / "monsterzoo"


def test_code_of_old_sources_is_dropped_after_a_while(tmp_path: Path) -> None:
    old, recent = tmp_path / "old", tmp_path / "recent"
    for folder in (old, recent):
        folder.mkdir()
        (folder / "kernel.nbc").write_text("")
    a_month_ago = time.time() - 30 * 86_400
    os.utime(old, (a_month_ago, a_month_ago))
    cache._forget_unused(tmp_path)
    assert [folder.name for folder in tmp_path.iterdir()] == ["recent"]


def test_code_in_use_is_not_dropped(sources: frozenset[Path]) -> None:
    folder = folder_for(sources)
    folder.mkdir(parents=True)
    a_month_ago = time.time() - 30 * 86_400
    os.utime(folder, (a_month_ago, a_month_ago))
    assert folder_for(sources) == folder
    cache._forget_unused(folder.parent)
    assert folder.exists()


# --- Inner functions ---


@jit.compiled
def _digits_of(number):
    """How many bits an integer has; Python's go on for ever, compiled ones end at 64."""
    digits = 0
    while number:
        number >>= 1
        digits += 1
    return digits


@kernel
def _digits_of_all(numbers, digits):
    for i in range(len(numbers)):
        digits[i] = _digits_of(numbers[i])


def test_inner_functions_called_from_python_run_their_source() -> None:
    numbers, digits = np.array([0, 1, 255], np.uint64), np.zeros(3, np.int64)
    _digits_of_all(numbers, digits)
    assert digits.tolist() == [_digits_of(int(number)) for number in numbers] == [0, 1, 8]
    assert _digits_of(1 << 100) == 101, "only Python's numbers are as long"


@compiled_only
def test_inner_functions_have_no_machine_code_of_their_own() -> None:
    assert isinstance(stepping.advance, InnerFunction)
    assert isinstance(_digits_of, InnerFunction)
    assert not isinstance(loop.play_on, InnerFunction)
    _digits_of_all(np.ones(1, np.uint64), np.zeros(1, np.int64))
    kept = [file.name for file in Path(_digits_of_all._cache.cache_path).glob("*.nbc")]
    assert any("._digits_of_all-" in name for name in kept), "their callers have"
    assert not any("._digits_of-" in name for name in kept)


if __name__ == "__main__":
    print(json.dumps([jit.JIT_OFF, *(digests(sys.argv[1], options) for options in find_game(sys.argv[1]).variants)]))
