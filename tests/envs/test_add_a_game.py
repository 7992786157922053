"""The guide `docs/add_a_game.md`: its code is put together from the page, and does what the page says."""

import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import gymnasium
import monsterzoo.envs as mz
import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import conformance
from monsterzoo.envs.core import contract, registry
from monsterzoo.envs.core.registry import gymnasium_id
from monsterzoo.training.arena import arena
from needs import ROOT, beside, needs, needs_checkout

from tools.games.leduc import BLOCK, files, write

PAGE = beside("docs/add_a_game.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    """The blocks of one kind that belong to no file."""
    return [block["code"] for block in BLOCK.finditer(PAGE) if block["kind"] == kind and not block["file"]]


FILES = files(PAGE)
PACKAGE = {name: text for name, text in FILES.items() if name.startswith("leduc_poker/")}


def forget(name: str) -> None:
    """Let the library no longer know a game, for the sake of other tests in this process."""
    registry._loaders.pop(name, None)
    registry._games.pop(name, None)
    gymnasium.registry.pop(gymnasium_id(name), None)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write(folder, FILES)
    return folder


@pytest.fixture(scope="module")
def leduc(project: Path) -> Iterator[ModuleType]:
    """The package, without its heuristic, with its game registered."""
    sys.path.insert(0, str(project))
    module = importlib.import_module("leduc_poker")
    mz.register_game(module.GAME)
    yield module
    sys.path.remove(str(project))
    forget("leduc_poker_v0")


def run(command: list[str], folder: Path, **environment: str) -> str:
    result = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr + result.stdout
    return result.stdout


# --- The page ---


def test_the_page_has_the_size_it_says() -> None:
    written = [line for text in PACKAGE.values() for line in text.splitlines()]
    lines = sum(bool(line.strip()) for line in written)
    assert len(PACKAGE) <= 4
    assert lines <= 250
    assert f"four files and {lines} lines" in PAGE
    assert f"| 4 files, {lines} lines, {len(written)} with blank ones |" in PAGE


@needs_checkout
def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
    for label in re.findall(r"\]\[(\w+)\]", PAGE):
        assert f"\n[{label}]: https://" in PAGE


def test_the_code_is_formatted_and_clean(project: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    settings = ["--config", str(beside("pyproject.toml")), "leduc_poker"]
    run([*ruff, "format", "--check", *settings], project)
    run([*ruff, "check", "--no-cache", *settings], project)


@pytest.mark.slow
def test_what_the_page_tries_out_prints_what_it_says(project: Path) -> None:
    """Also `check_game`, batches, one seat, search and, at the end, the heuristic."""
    (project / "page.py").write_text("\n".join(blocks("python")), encoding="utf-8")
    printed = run([sys.executable, "page.py"], project)
    for text in blocks("text"):
        assert text in printed
    assert "check_secrets" in printed


@pytest.mark.parametrize("entry", ["leduc_poker:GAME", "leduc_poker.heuristic:GAME"])
def test_an_installed_game_is_known_by_name(tmp_path: Path, entry: str) -> None:
    site = install(tmp_path, entry)
    code = (
        "import gymnasium, monsterzoo.envs as mz; from monsterzoo.policies.heuristics import has_heuristic; "
        "gymnasium.make('monsterzoo/LeducPoker-v0').reset(seed=0); "
        "print('leduc_poker_v0' in mz.names(), has_heuristic(mz.variant('leduc_poker_v0')))"
    )
    known, has_heuristic = run([sys.executable, "-P", "-c", code], tmp_path, PYTHONPATH=site).split()
    assert known == "True"
    assert has_heuristic == str("heuristic" in entry)


@pytest.mark.slow
def test_the_commands_of_the_page_take_an_installed_game(tmp_path: Path) -> None:
    needs("torch")
    site = install(tmp_path, "leduc_poker:GAME")
    (commands,) = blocks("sh")
    for line in commands.splitlines()[1:]:
        short = re.sub(r"--games \d+", "--games 20", line)
        short = short.replace("--minutes 1", "--updates 1 --num-envs 32 --steps 16 --evaluate-games 8 --log none")
        command = [sys.executable, "-P", "-m", "monsterzoo.cli", *shlex.split(short)[1:]]
        assert "leduc" in run(command, tmp_path, PYTHONPATH=site)


def install(folder: Path, entry: str) -> str:
    """Install the package with an entry point; returns where it is."""
    assert "leduc_poker:GAME" in FILES["pyproject.toml"]
    write(folder, {**PACKAGE, "pyproject.toml": FILES["pyproject.toml"].replace("leduc_poker:GAME", entry)})
    pip = "-m pip --quiet --disable-pip-version-check install --no-index --no-build-isolation --no-deps --target site ."
    run([sys.executable, *pip.split()], folder)
    return str(folder / "site")


# --- The rules ---


def play(leduc: ModuleType, *actions: str, **position: object) -> mz.Variant:
    env = conformance.Case("leduc_poker_v0", {"reward": "score"}).raw_env()
    env.reset(seed=0, options={"snapshot": {"cards": ["Ks", "Js"], "public": None, "bets": [], **position}})
    for action in actions:
        env.step(env.parse_action(action))
    return env


@pytest.mark.parametrize(
    ("cards", "public", "winners"),
    [
        (["Ks", "Js"], "Qh", [0]),  # the higher card
        (["Js", "Qs"], "Kh", [1]),
        (["Js", "Ks"], "Jh", [0]),  # a pair
        (["Ks", "Qs"], "Qh", [1]),
        (["Qs", "Qh"], "Ks", [0, 1]),  # equal
    ],
)
def test_showdown(leduc: ModuleType, cards: list[str], public: str, winners: list[int]) -> None:
    end = play(leduc, "call", "call", cards=cards, public=public, bets=[["raise", "call"], []])
    assert end.snapshot()["winners"] == winners
    won = 0 if len(winners) == 2 else 3 / 13
    assert end.rewards["player_0"] == pytest.approx(won if winners[0] == 0 else -won)


def test_who_folds_loses_what_is_in_the_pot(leduc: ModuleType) -> None:
    end = play(leduc, "raise", "raise", "fold")
    assert end.snapshot()["winners"] == [1]
    assert end.rewards == {"player_0": pytest.approx(-3 / 13), "player_1": pytest.approx(3 / 13)}


def test_the_largest_pot_is_worth_one(leduc: ModuleType) -> None:
    most = ["call", "raise", "raise", "call"]
    end = play(leduc, *most, public="Qh", bets=[most, []])
    assert end.rewards == {"player_0": 1.0, "player_1": -1.0}


def test_two_raises_a_round(leduc: ModuleType) -> None:
    env = play(leduc, "raise", "raise")
    assert env.infos["player_0"]["action_mask"].tolist() == [1, 1, 0, 0]
    with pytest.raises(mz.IllegalActionError, match="'raise'"):
        env.step(env.parse_action("raise"))
    env.step(env.parse_action("call"))
    assert env.infos["player_0"]["action_mask"].tolist() == [0, 1, 1, 0]


def test_the_tree_is_that_of_the_literature(leduc: ModuleType) -> None:
    """As many decisions and ends as OpenSpiel's tests count for its Leduc poker; 288 information sets by rank."""
    variant = mz.variant("leduc_poker_v0")
    decisions, ends, sets = set(), set(), set()

    def walk(states: np.ndarray) -> None:
        state, words = states[0], np.zeros(1, np.uint64)
        key = (*state.cards, state.public, *state.bets.flat)
        if state.outcome != contract.PLAYING:
            ends.add(key)
            return
        decisions.add(key)
        seat = int(state.acting) >> 1
        view = variant.new_views()
        contract.look(state, seat, view[0])
        sets.add(view.tobytes())
        contract.legal(state, seat, words)
        for action in range(3):
            if int(words[0]) >> action & 1:
                after = states.copy()
                contract.step(after[0], seat, action)
                turned = after["street"][0] > state.street
                for public in set(range(6)) - set(state.cards.tolist()) if turned else after["public"].tolist():
                    after["public"] = public
                    walk(after.copy())

    start = variant.new_states(1)
    contract.setup(start[0])
    for one in range(6):
        for other in set(range(6)) - {one}:
            start["cards"] = one, other
            walk(start.copy())
    assert (len(decisions), len(ends), len(sets)) == (3780, 5520, 288)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"cards": ["Ks", "Ks"]}, "a card is in two places"),
        ({"cards": ["Ks"]}, "cards are two of"),
        ({"cards": ["Ks", "As"]}, "cards are two of Js, Jh, Qs, Qh, Ks, Kh"),
        ({"cards": ["Ks", 3]}, "cards are two of"),
        ({"public": "Js", "bets": [["call", "call"]]}, "a card is in two places"),
        ({"public": "Qh"}, "public is 'Qh' in betting round 1"),
        ({"bets": [["call", "call"]]}, "public is None in betting round 2"),
        ({"bets": [["fold"]]}, "'fold' is not possible"),
        ({"bets": [["raise", "raise", "raise"]]}, "'raise' is not possible after"),
        ({"bets": [["call"], ["call"]]}, "betting round 2: 'call' is not possible"),
        ({"bets": [["raise", "fold"]]}, "these bets end the game"),
        ({"bets": [["raise", "fold", "call"]]}, "'call' is not possible"),
        ({"bets": [["bluff"]]}, "'bluff' is not possible"),
        ({"bets": 7}, "not a position of leduc_poker_v0"),
        ({"to_act": [1]}, "the position waits for"),
    ],
)
def test_impossible_positions_are_refused(leduc: ModuleType, change: dict[str, object], problem: str) -> None:
    with pytest.raises(mz.SnapshotError, match=problem):
        play(leduc, **change)
    assert play(leduc).snapshot()["cards"] == ["Ks", "Js"]


# --- Without a heuristic ---


def test_a_game_without_a_heuristic_lacks_only_that(leduc: ModuleType) -> None:
    with pytest.raises(ValueError, match="leduc_poker_v0 has no heuristic"):
        policies.make("heuristic", "leduc_poker_v0")
    with pytest.raises(ValueError, match="leduc_poker_v0 has no heuristic"):
        policies.make("search:9,rollout=heuristic", "leduc_poker_v0")
    assert policies.make("search:9", "leduc_poker_v0").settings.rollout == "random"
    result = arena("leduc_poker_v0", ["random", "search:50"], games=400, reward="score")
    chips = {player["name"]: player["mean_score_interval"] for player in result["players"]}
    assert chips["search:50"][0] > 0.3


def test_search_plays_for_what_is_rewarded(leduc: ModuleType) -> None:
    """With a jack against raises, the pot can only be won by staying, and chips only be saved by folding."""
    position = {"cards": ["Js", "Ks"], "public": "Kh", "bets": [["raise", "raise", "call"], ["call", "raise"]]}
    for reward, action in (("win", {"call", "raise"}), ("score", {"fold"})):
        env = conformance.Case("leduc_poker_v0", {"reward": reward}).raw_env()
        env.reset(seed=0, options={"snapshot": position})
        search = policies.make("search:500", "leduc_poker_v0", reward=reward)
        assert env.action_name(policies.act_in(search, env)) in action


def test_ppo_learns_to_win_chips(leduc: ModuleType) -> None:
    needs("torch")
    from monsterzoo.training.algorithms.network import NetworkPolicy
    from monsterzoo.training.algorithms.ppo import PPOTrainer
    from monsterzoo.training.runs.config import PPOConfig

    config = PPOConfig(
        game="leduc_poker_v0", options={"reward": "score"}, num_envs=256, steps=16, width=32, learning_rate=3e-3,
        updates=20,
    )  # fmt: skip
    trainer = PPOTrainer(config)
    while trainer.progress < 1:
        trainer.update()
    player = NetworkPolicy(trainer.network)
    player.name = "network"
    result = arena("leduc_poker_v0", ["random", player], games=2000, batch=2000, reward="score")
    chips = {one["name"]: one["mean_score_interval"] for one in result["players"]}
    assert chips["network"][0] > 0.3


# --- What the public tests find ---

MISTAKES = [
    ("rules", "    state.bets[:] = NONE\n", "", conformance.check_contract),
    ("rules", "    state.acting = 0\n", "", conformance.check_contract),
    ("view", "    view.public = NONE if state.public == NONE else state.public // 2\n", "", conformance.check_views),
    ("view", 'one_hot("card", 3,', 'one_hot("card", 2,', conformance.check_views),
    ("view", "state.cards[seat] // 2", "state.cards[1 - seat] // 2", conformance.check_secrets),
    ("rules", "    state.cards[1 - seat] = random_card(state, unseen)\n", "", conformance.check_secrets),
    ("__init__", "    state.rng = luck  # dealing has moved the generator\n", "", conformance.check_conservation),
]  # fmt: skip
SAYINGS = re.findall(r"^\| .* \| (.*) \|$", PAGE.partition("what `check_game` says |\n|---|---|\n")[2], re.MULTILINE)


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_are_found_in_the_words_of_the_page(number: int, tmp_path: Path, monkeypatch) -> None:
    module, right, wrong, check = MISTAKES[number]
    package = f"mistake_{number}"
    texts = {name.removeprefix("leduc_poker/"): text for name, text in PACKAGE.items() if "heuristic" not in name}
    assert texts[f"{module}.py"].count(right) == 1
    texts[f"{module}.py"] = texts[f"{module}.py"].replace(right, wrong)
    texts["__init__.py"] = texts["__init__.py"].replace('"leduc_poker_v0"', f'"{package}_v0"')
    # Games are told apart by the fields of their records.
    texts["rules.py"] = texts["rules.py"].replace(
        '("public", np.int8),', f'("{package}", np.int8), ("public", np.int8),'
    )
    texts["view.py"] = texts["view.py"].replace("view_of([LAYOUT])", f'view_of([LAYOUT], ("{package}", "i1"))')
    write(tmp_path / package, texts)
    monkeypatch.syspath_prepend(str(tmp_path))
    mz.register_game(importlib.import_module(package).GAME)
    try:
        with pytest.raises(AssertionError, match=re.escape(SAYINGS[number])):
            check(conformance.Case(f"{package}_v0", {}))
    finally:
        forget(f"{package}_v0")


def test_records_that_cannot_be_told_apart_are_refused(leduc: ModuleType) -> None:
    from dataclasses import replace

    with pytest.raises(ValueError, match="leduc_poker_v1 has a record or view with exactly the fields of one of leduc"):
        replace(leduc.GAME, name="leduc_poker_v1")
    with pytest.raises(ValueError, match="with its version at the end, not 'leduc'"):
        replace(leduc.GAME, name="leduc")
