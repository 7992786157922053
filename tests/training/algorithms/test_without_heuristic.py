"""A game that has no heuristic can be trained and played all the same."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from monsterzoo.cli import main
from monsterzoo.envs.core import registry
from monsterzoo.envs.core.registry import find_game
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.training.arena import arena
from monsterzoo.training.runs.config import USUAL, PPOConfig
from nim import NIM

TINY = ["--updates", "2", "--num-envs", "16", "--steps", "16", "--width", "8", "--minibatch", "64",
        "--evaluate-games", "8", "--log", "none"]  # fmt: skip


@pytest.fixture(autouse=True)
def nim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nim is known while a test runs."""
    monkeypatch.setitem(registry._loaders, NIM.name, lambda: NIM)
    monkeypatch.setitem(registry._games, NIM.name, NIM)


def train(out: Path, *words: str) -> int:
    return main(["train", "--game", NIM.name, *TINY, "--out", str(out), *words])


def test_defaults_do_without_it_and_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path / "run") == 0
    shown = capsys.readouterr().out
    assert "nim_v0 has no heuristic; --opponents is without it: past random" in shown
    assert "nim_v0 has no heuristic; --imitate is without it: none" in shown
    assert "nim_v0 has no heuristic; --evaluate is without it: random" in shown
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["config"]["opponents"] == ["past", "random"]
    assert run["config"]["imitate"] == ""
    assert "win_random" in run["result"]
    assert "win_heuristic" not in run["result"]
    assert main(["train", "--resume", "--updates", "3", "--out", str(tmp_path / "run")]) == 0
    assert "no heuristic" not in capsys.readouterr().out, "what a run began with is what it goes on with"


@pytest.mark.parametrize("flag", USUAL)
def test_a_request_for_it_is_refused_by_name(flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path / "run", f"--{flag}", "heuristic") == 2
    assert f"monsterzoo train: --{flag} heuristic: nim_v0 has no heuristic" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("flag", USUAL)
def test_a_policy_that_does_not_exist_is_not_ignored(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "run", f"--{flag}", "hueristic") == 2
    assert f"--{flag} hueristic: there is no policy 'hueristic'" in capsys.readouterr().err


def test_games_with_a_heuristic_use_it_and_say_nothing() -> None:
    variant = find_game("pikit_v0").variant(players=2)
    assert has_heuristic(variant)
    settled, notes = PPOConfig("pikit_v0").settled(variant)
    assert {name: getattr(settled, name) for name in USUAL} == USUAL
    assert notes == []
    chosen = replace(PPOConfig("pikit_v0", players=2), opponents=(), imitate="", evaluate=("random",))
    assert chosen.settled(variant) == (chosen, [])


def test_tournaments_of_random_players_and_networks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = arena(NIM.name, ["random", "random"], 8)
    assert [player["win_rate"] for player in result["players"]] == [0.5, 0.5]
    assert train(tmp_path / "run") == 0
    call = ["arena", "--game", NIM.name, "--games", "8", "--quiet", "--policies", "random"]
    assert main([*call, f"net:{tmp_path / 'run'}"]) == 0
    assert main([*call, "heuristic"]) == 2
    assert "monsterzoo arena: nim_v0 has no heuristic" in capsys.readouterr().err
