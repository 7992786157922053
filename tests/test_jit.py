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
from monsterzoo.envs.aec import GameEnv
from monsterzoo.envs.core import jit, kernels
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.single import SeatVectorEnv


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
        kernels.sample_rows(env.observe(env.agent_selection)["action_mask"][None], luck, action)
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
        kernels.sample_rows(np.ascontiguousarray(observation["action_mask"]), luck, actions)
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
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_plain_python_plays_the_same_games(name: str, options: dict[str, Any]) -> None:
    plain = in_another_process(__file__, name, json.dumps(options), NUMBA_DISABLE_JIT="1")
    assert plain == {"jit_off": True, **digests(name, options)}


@pytest.mark.parametrize("game", names())
def test_a_later_process_compiles_nothing(game: str) -> None:
    options = find_game(game).variants[0]
    digests(game, options)
    code = """
import json, sys
sys.path.insert(0, ".")
from test_jit import digests, kernels
digests(sys.argv[1], json.loads(sys.argv[2]))
used = [kernels.begin, kernels.advance_one, kernels.observe_one, kernels.step_batch, kernels.sample_batch]
print(json.dumps({k.__name__: [sum(k.stats.cache_hits.values()), sum(k.stats.cache_misses.values())] for k in used}))
"""
    for kernel, (hits, misses) in in_another_process("-c", code, game, json.dumps(options)).items():
        assert (hits > 0, misses) == (True, 0), kernel


# --- Where compiled code is kept ---


def cache_folder(monkeypatch: pytest.MonkeyPatch, envs: Path, package: Path) -> Path:
    monkeypatch.setattr(jit, "_ENVS", envs)
    folder: Path = jit._cache_folder.__wrapped__(package)
    return folder


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two packages: the environments, and another one with kernels of its own."""
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(tmp_path / "cache"))
    envs, other = tmp_path / "envs", tmp_path / "other"
    for folder in (envs / "core", other):
        folder.mkdir(parents=True)
        (folder / "rules.py").write_text("x = 1\n")
    return envs, other


def test_unchanged_sources_keep_their_folder(monkeypatch, sources) -> None:
    assert cache_folder(monkeypatch, *sources) == cache_folder(monkeypatch, *sources)


@pytest.mark.parametrize("package", [0, 1])
def test_a_change_in_any_file_changes_the_folder(monkeypatch, sources, package) -> None:
    before = cache_folder(monkeypatch, *sources)
    next(sources[package].rglob("rules.py")).write_text("x = 2\n")
    assert cache_folder(monkeypatch, *sources) != before


def test_a_renamed_or_new_file_changes_the_folder(monkeypatch, sources) -> None:
    envs, _ = sources
    folders = {cache_folder(monkeypatch, *sources)}
    (envs / "core" / "rules.py").rename(envs / "core" / "laws.py")
    folders.add(cache_folder(monkeypatch, *sources))
    (envs / "core" / "more.py").write_text("")
    folders.add(cache_folder(monkeypatch, *sources))
    assert len(folders) == 3


def test_code_moved_from_one_file_to_the_next_changes_the_folder(monkeypatch, sources) -> None:
    """File borders are part of the digest."""
    envs, _ = sources
    (envs / "a.py").write_text("x = 1\ny = 2\n")
    (envs / "b.py").write_text("")
    before = cache_folder(monkeypatch, *sources)
    (envs / "a.py").write_text("x = 1\n")
    (envs / "b.py").write_text("y = 2\n")
    assert cache_folder(monkeypatch, *sources) != before


def test_kernels_are_kept_in_our_folder_and_numba_is_left_alone() -> None:
    configured = numba.config.CACHE_DIR

    @jit.kernel
    def twice(x):
        return 2 * x

    assert configured == numba.config.CACHE_DIR
    assert twice(4) == 8
    folder = jit._cache_folder(jit._ENVS)
    assert folder.parent == jit.cache_root()
    assert Path(kernels.begin._cache.cache_path).is_relative_to(folder)
    assert Path(twice._cache.cache_path).is_relative_to(jit.cache_root())


def test_the_cache_can_be_put_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(tmp_path))
    assert jit.cache_root() == tmp_path
    monkeypatch.delenv("MONSTERZOO_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert jit.cache_root() == tmp_path / "xdg" / "monsterzoo"


def test_code_of_old_sources_is_dropped_after_a_while(tmp_path: Path) -> None:
    old, recent = tmp_path / "old", tmp_path / "recent"
    for folder in (old, recent):
        folder.mkdir()
        (folder / "kernel.nbc").write_text("")
    a_month_ago = time.time() - 30 * 86_400
    os.utime(old, (a_month_ago, a_month_ago))
    jit._forget_unused(tmp_path)
    assert [folder.name for folder in tmp_path.iterdir()] == ["recent"]


if __name__ == "__main__":
    print(json.dumps({"jit_off": jit.JIT_OFF, **digests(sys.argv[1], json.loads(sys.argv[2]))}))


@pytest.mark.skipif(jit.JIT_OFF, reason="plain Python calls everything")
def test_inner_functions_refuse_python_instead_of_crashing():
    with pytest.raises(TypeError, match=r"call it from a kernel, or call advance\.py_func"):
        kernels.advance(None, 0, 0, None)
