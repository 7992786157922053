"""Networks made by recipes: what is trained, what is not trained again, and what is written down."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from monsterzoo.envs.core import registry
from monsterzoo.policies.networks import WEIGHTS
from monsterzoo.policies.networks import files as weights_files
from monsterzoo.training.algorithms.ppo import PPOTrainer
from monsterzoo.training.runs.exits import exit_code
from nim import NIM

from tools import networks, zoo
from tools.networks import INDEX, README
from tools.variants import NamedVariant, variant_name

NAME = "nim_v0-2p"
TINY = "--width 8 --num-envs 8 --steps 16 --minibatch 64 --evaluate-games 8"
RECIPE = {
    "ppo": f"--updates 3 {TINY}",
    "exploiter": f"--updates 1 --self-play 0 --opponents net:{{ppo}} {TINY}",
    "robust": f"--updates 2 --start net:{{ppo}} --opponents past net:{{exploiter}} {TINY}",
}


@pytest.fixture(autouse=True)
def recipes(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    """Nim is the only game there is, with a recipe."""
    monkeypatch.setattr(registry, "_loaders", {NIM.name: lambda: NIM})
    monkeypatch.setattr(registry, "_games", {NIM.name: NIM})
    recipes = {NAME: RECIPE}
    monkeypatch.setattr(zoo, "RECIPES", recipes)
    return recipes


def make(folder: Path, *words: str) -> int:
    places = ["--runs", str(folder / "runs"), "--out", str(folder / "out"), "--games", "8"]
    return exit_code("zoo", zoo.main, [*places, *words])


def trained(folder: Path, stage: str) -> bytes:
    return (folder / "runs" / NAME / stage / WEIGHTS).read_bytes()


# --- The whole way ---


def test_what_is_missing_is_trained_measured_and_written_down(tmp_path, capsys) -> None:
    assert make(tmp_path) == 0
    index = json.loads((tmp_path / "out" / INDEX).read_text())
    (model,) = index["models"]
    own_moves = (3 + 1 + 2) * 8 * 16
    assert own_moves <= model["steps"] <= 3 * own_moves, "opponents' moves are steps too"
    assert (model["file"], set(model["arena"])) == (f"{NAME}.npz", {"random"})
    assert len(model["commands"]) == 3
    assert f"--start net:{tmp_path}/runs/{NAME}/ppo" in model["commands"][2]
    assert f"--opponents past net:{tmp_path}/runs/{NAME}/exploiter" in model["commands"][2]
    assert f"`{NAME}.npz`" in (tmp_path / "out" / README).read_text()
    shipped, _ = weights_files.read(tmp_path / "out" / f"{NAME}.npz")
    learned, _ = weights_files.read(tmp_path / "runs" / NAME / "robust" / WEIGHTS)
    assert all(np.allclose(shipped[key], learned[key], atol=1e-3) for key in learned)
    capsys.readouterr()
    assert make(tmp_path) == 0
    assert "measuring" not in capsys.readouterr().out, "every variant has a network"


def test_finished_stages_are_not_trained_again(tmp_path, monkeypatch, capsys) -> None:
    assert make(tmp_path) == 0
    monkeypatch.setattr(PPOTrainer, "update", lambda self: pytest.fail("nothing is left to learn"))
    assert make(tmp_path, NAME) == 0
    assert capsys.readouterr().out.count("already finished") == 3


def test_an_interrupted_recipe_goes_on_to_the_same_network(tmp_path, monkeypatch, capsys) -> None:
    assert make(tmp_path / "whole") == 0
    update, count = PPOTrainer.update, 0

    def interrupt(self: PPOTrainer) -> dict[str, float]:
        nonlocal count
        count += 1
        if count == 5:  # the first of the last stage's
            os.kill(os.getpid(), signal.SIGTERM)
        return update(self)

    monkeypatch.setattr(PPOTrainer, "update", interrupt)
    assert make(tmp_path / "parts") == 143
    assert "zoo: interrupted; saved in" in capsys.readouterr().err
    assert not (tmp_path / "parts" / "out").exists()
    assert make(tmp_path / "parts") == 0
    assert count == 6
    whole, parts = (weights_files.read(tmp_path / one / "out" / f"{NAME}.npz")[0] for one in ("whole", "parts"))
    assert all((whole[key] == parts[key]).all() for key in whole)
    commands = json.loads((tmp_path / "parts" / "out" / INDEX).read_text())["models"][0]["commands"]
    assert not any("--resume" in command for command in commands)


def test_a_run_by_another_recipe_is_refused(tmp_path, recipes, capsys) -> None:
    assert make(tmp_path) == 0
    recipes[NAME] = {**RECIPE, "exploiter": RECIPE["exploiter"].replace("--updates 1", "--updates 2")}
    assert make(tmp_path, NAME) == 2
    assert f"{NAME}/exploiter was trained with another command" in capsys.readouterr().err


def test_a_stage_whose_start_is_gone_is_refused(tmp_path, capsys) -> None:
    assert make(tmp_path) == 0
    (tmp_path / "runs" / NAME / "ppo").rename(tmp_path / "elsewhere")
    assert make(tmp_path, NAME) == 2
    assert "exploiter started from an earlier" in capsys.readouterr().err


def test_runs_of_other_seeds_have_folders_of_their_own(tmp_path, recipes) -> None:
    recipes[NAME] = {"ppo": RECIPE["ppo"]}
    assert make(tmp_path) == 0
    assert make(tmp_path, NAME, "--seed", "3") == 0
    assert trained(tmp_path, "ppo") != trained(tmp_path, "seed-3/ppo")
    assert json.loads((tmp_path / "out" / INDEX).read_text())["models"][0]["seed"] == 3


def test_shipped_networks_can_be_measured_again(tmp_path) -> None:
    assert make(tmp_path) == 0
    before = json.loads((tmp_path / "out" / INDEX).read_text())["models"][0]
    assert make(tmp_path, "--measure", "--games", "20") == 0
    after = json.loads((tmp_path / "out" / INDEX).read_text())["models"][0]
    assert (before["arena"]["random"]["games"], after["arena"]["random"]["games"]) == (8, 20)
    assert {**after, "arena": before["arena"]} == before


def test_a_network_that_is_too_large_is_not_shipped(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(networks, "MAX_BYTES", 1000)
    assert make(tmp_path) == 2
    assert "bytes; at most 1000 are shipped" in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())


# --- Reading recipes ---


def test_wrong_words_are_refused(capsys) -> None:
    for words, problem in (
        ("chess-2p", "unknown variant 'chess-2p'; there are nim_v0-2p"),
        ("--games=1", "--games 1 is"),
    ):
        assert exit_code("zoo", zoo.main, [words]) == 2
        assert problem in capsys.readouterr().err


def test_a_stage_starts_from_the_one_before_unless_it_says_otherwise(recipes) -> None:
    recipes[NAME] = {"first": "--updates 5", "second": "--updates 7", "third": "--start net:{runs}/other/ppo"}
    stages = zoo.commands(NamedVariant(NIM.name, {"players": 2}), 4, Path("x/here"), Path("x"))
    starts = [command[command.index("--start") + 1] if "--start" in command else None for command in stages.values()]
    assert list(stages) == [Path("x/here/first"), Path("x/here/second"), Path("x/here/third")]
    assert starts == [None, "net:x/here/first", "net:x/other/ppo"]


def test_variants_are_named_by_what_tells_them_apart() -> None:
    assert variant_name("a_v0", {"players": 3, "advanced": True}) == "a_v0-3p-advanced"
    assert variant_name("a_v0", {"players": 3, "grab": "two hands", "laps": False}) == "a_v0-3p-two_hands-no_laps"
