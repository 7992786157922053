"""The published table of what enemies win."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from monsterzoo.benchmarks import enemies
from monsterzoo.cli import main
from monsterzoo.envs.core import catalogue
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies.networks import files as weights_files
from monsterzoo.training import ppo
from monsterzoo.training.config import PPOConfig
from monsterzoo.training.fingerprints import fingerprint
from monsterzoo.training.models import enter_model, publish
from monsterzoo.training.runs import train
from nim import NIM

NAME = "nim_v0-2p"
TINY = PPOConfig(
    NIM.name, updates=1, num_envs=8, steps=16, width=8, minibatch=64, evaluate=(), opponents=(), tensorboard=False
)


def ship(folder: Path, seed: int) -> None:
    """Make a network for Nim the one that is shipped."""
    train(PPOConfig(**{**vars(TINY), "seed": seed, "out": str(folder / f"run-{seed}")}))
    enter_model(publish(folder / f"run-{seed}", 8, folder / "shipped"), folder / "shipped")


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nim is the only game there is, and has a network."""
    monkeypatch.setattr(catalogue, "_loaders", {NIM.name: lambda: NIM})
    monkeypatch.setattr(catalogue, "_games", {NIM.name: NIM})
    monkeypatch.setattr(weights_files, "PRETRAINED", tmp_path / "shipped")
    ship(tmp_path, 0)
    yield tmp_path
    weights_files.pretrained.cache_clear()


def bench(folder: Path, *words: str) -> int:
    return main(["bench", "enemies", "--runs", str(folder / "runs"), "--output", str(folder / "docs"), *words])


def found(folder: Path) -> list[dict]:
    return json.loads((folder / "docs" / "enemies.json").read_text())["enemies"]


TRY = ("--updates", "2", "--games", "40", "--num-envs", "8")


def test_enemies_of_several_players_are_found_once_each(tmp_path, monkeypatch) -> None:
    assert bench(tmp_path, *TRY, "--policies", "pretrained", "random") == 0
    first, second = found(tmp_path)
    assert (first["policy"], second["policy"]) == ("pretrained", "random")
    assert first["network"] == fingerprint(make_player(NIM.variant(), "pretrained"))
    assert second["network"] is None
    for row in (first, second):
        assert (row["variant"], row["updates"], row["steps"], row["games"]) == (NAME, 2, 2 * 8 * 64, 40)
        assert row["interval"][0] <= row["win_rate"] <= row["interval"][1]
        assert row["method"] == "ppo"  # Nim has no near horizon
        (run,) = (tmp_path / "runs" / NAME).glob(f"{row['policy']}*/run.json")
        assert json.loads(run.read_text())["config"]["start"] == "pretrained"
    monkeypatch.setattr(ppo.PPOTrainer, "update", lambda self: pytest.fail("nothing is left to find"))
    assert bench(tmp_path, *TRY, "--policies", "pretrained", "random") == 0


def test_a_larger_budget_goes_on_with_the_enemy(tmp_path) -> None:
    assert bench(tmp_path, *TRY) == 0
    assert bench(tmp_path, *TRY, "--updates", "3") == 0
    (row,) = found(tmp_path)
    assert row["updates"] == 3


def test_the_next_network_has_enemies_of_its_own_and_the_earlier_one_is_still_told_of(tmp_path, capsys) -> None:
    assert bench(tmp_path, *TRY) == 0
    (before,) = found(tmp_path)
    ship(tmp_path, 1)
    assert bench(tmp_path, *TRY) == 0
    earlier, now = found(tmp_path)
    assert earlier == before
    assert now["network"] != before["network"]
    page = (tmp_path / "docs" / "enemies.md").read_text()
    assert [line.split(" | ")[1] for line in page.splitlines() if NAME in line] == ["an earlier network", "pretrained"]
    assert bench(tmp_path, "--policies", "--forget") == 0
    assert found(tmp_path) == [now]


def test_players_that_a_game_does_not_have_are_left_out(tmp_path, capsys) -> None:
    assert bench(tmp_path, *TRY, "--policies", "heuristic") == 0
    assert f"{NAME}, heuristic: left out" in capsys.readouterr().err
    assert found(tmp_path) == []


def test_only_players_with_two_sides_that_lose_too_much_are_marked() -> None:
    row = {
        "variant": NAME, "policy": "random", "network": None, "even": 0.5, "win_rate": 0.66, "interval": [0.6, 0.7],
        "games": 100, "method": "ppo", "updates": 9, "steps": 1_000_000, "minutes": 1.5, "seed": 0,
    }  # fmt: skip
    assert "**66.0 % (60.0–70.0)** (marked) | 100 | ppo | 9 | 1.0 M | 1.5 | 0 |" in enemies.table_of([row], {})
    assert "marked" not in enemies.table_of([{**row, "win_rate": 0.64}, {**row, "even": 0.25}], {})


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--updates", "0"], "--updates 0 is no budget"),
        (["--games", "x"], "--games x is not allowed"),
        (["--variant", "chess"], "there is no variant 'chess'"),
    ],
)
def test_wrong_words_are_refused(words, problem, tmp_path, capsys) -> None:
    assert bench(tmp_path, *words) == 2
    assert problem in capsys.readouterr().err
