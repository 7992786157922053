"""Networks made by recipes: what is trained, what is not trained again, and what is written down."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from monsterzoo.envs.core import catalogue
from monsterzoo.policies.networks import WEIGHTS
from monsterzoo.policies.networks import files as weights_files
from monsterzoo.training import models, models_page, zoo
from monsterzoo.training.config import RolloutConfig
from monsterzoo.training.exits import exit_code
from monsterzoo.training.models import INDEX, README
from monsterzoo.training.ppo import PPOTrainer
from monsterzoo.training.stages import read_recipe
from monsterzoo.training.variants import NamedVariant, variant_name
from nim import NIM

NAME = "nim_v0-2p"
TINY = "--num-envs 8 --steps 16 --minibatch 64 --evaluate-games 8"
RECIPE = {
    "ppo": f"--updates 3 --width 8 {TINY}",
    "enemy": f"--updates 1 --self-play 0 --opponents net:{{ppo}} {TINY}",
    "wiser": f"--updates 2 --start net:{{ppo}} --opponents past net:{{enemy}} {TINY}",
}


@pytest.fixture(autouse=True)
def recipes(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    """Nim is the only game there is, with a recipe."""
    monkeypatch.setattr(catalogue, "_loaders", {NIM.name: lambda: NIM})
    monkeypatch.setattr(catalogue, "_games", {NIM.name: NIM})
    recipes = {NAME: RECIPE}
    for module in (zoo, models_page):
        monkeypatch.setattr(module, "RECIPES", recipes)
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
    steps = (3 + 1 + 2) * 8 * 16
    assert (model["file"], model["steps"], set(model["arena"])) == (f"{NAME}.npz", steps, {"random"})
    assert len(model["commands"]) == 3
    assert f"--start net:{tmp_path}/runs/{NAME}/ppo" in model["commands"][2]
    assert f"--opponents past net:{tmp_path}/runs/{NAME}/enemy" in model["commands"][2]
    assert f"`{NAME}.npz`" in (tmp_path / "out" / README).read_text()
    shipped, _ = weights_files.read(tmp_path / "out" / f"{NAME}.npz")
    learned, _ = weights_files.read(tmp_path / "runs" / NAME / "wiser" / WEIGHTS)
    assert all(np.allclose(shipped[key], learned[key], atol=1e-3) for key in learned)
    capsys.readouterr()
    assert make(tmp_path) == 0
    assert "every variant has a network" in capsys.readouterr().out


def test_finished_stages_are_not_trained_again(tmp_path, monkeypatch, capsys) -> None:
    assert make(tmp_path) == 0
    monkeypatch.setattr(PPOTrainer, "update", lambda self: pytest.fail("nothing is left to learn"))
    assert make(tmp_path, NAME) == 0
    assert capsys.readouterr().out.count("finished before") == 3


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
    assert f"interrupted; the same command goes on from {tmp_path}/parts/runs" in capsys.readouterr().err
    assert not (tmp_path / "parts" / "out").exists()
    assert make(tmp_path / "parts") == 0
    assert count == 6
    whole, parts = (weights_files.read(tmp_path / one / "out" / f"{NAME}.npz")[0] for one in ("whole", "parts"))
    assert all((whole[key] == parts[key]).all() for key in whole)
    commands = json.loads((tmp_path / "parts" / "out" / INDEX).read_text())["models"][0]["commands"]
    assert not any("--resume" in command for command in commands)


def test_a_run_by_another_recipe_is_refused_or_moved_aside_with_all_that_began_from_it(
    tmp_path, recipes, capsys
) -> None:
    assert make(tmp_path) == 0
    before = {stage: trained(tmp_path, stage) for stage in RECIPE}
    recipes[NAME] = {**RECIPE, "enemy": RECIPE["enemy"].replace("--updates 1", "--updates 2")}
    assert make(tmp_path, NAME) == 2
    refusal = capsys.readouterr().err
    assert f"{NAME}/enemy is not by the present recipe (--updates 1 instead of 2)" in refusal
    assert "--anew" in refusal
    assert make(tmp_path, NAME, "--anew") == 0
    assert trained(tmp_path, "ppo") == before["ppo"]
    assert trained(tmp_path, "enemy") != before["enemy"] == trained(tmp_path, "enemy.before-1")
    assert trained(tmp_path, "wiser.before-1") == before["wiser"]


def test_a_stage_whose_beginning_is_gone_is_refused(tmp_path, capsys) -> None:
    assert make(tmp_path) == 0
    (tmp_path / "runs" / NAME / "ppo").rename(tmp_path / "elsewhere")
    assert make(tmp_path, NAME) == 2
    assert "enemy is not by the present recipe (a stage before it is not finished)" in capsys.readouterr().err


def test_watching_in_another_way_is_no_other_recipe(tmp_path, recipes) -> None:
    assert make(tmp_path) == 0
    recipes[NAME] = {**RECIPE, "ppo": f"{RECIPE['ppo']} --evaluate-every 5 --threads 2"}
    assert make(tmp_path, NAME) == 0


def test_several_seeds_are_compared_and_none_is_shipped(tmp_path, recipes) -> None:
    recipes[NAME] = {"ppo": RECIPE["ppo"]}
    assert make(tmp_path, NAME, "--seeds", "0", "3") == 0
    index = json.loads((tmp_path / "out" / INDEX).read_text())
    (entry,) = index["seeds"]
    assert [run["seed"] for run in entry["runs"]] == [0, 3]
    assert index["models"] == []
    assert trained(tmp_path, "ppo") != trained(tmp_path, "seed-3/ppo")
    assert "| seed 0 | seed 3 | highest less lowest |" in (tmp_path / "out" / README).read_text()
    assert make(tmp_path, "--seed", "3", NAME) == 0, "the run with seed 3 is there already"
    index = json.loads((tmp_path / "out" / INDEX).read_text())
    assert (index["models"][0]["seed"], index["seeds"]) == (3, [entry])


def test_the_list_tells_networks_and_runs(tmp_path, capsys) -> None:
    assert make(tmp_path, "--list") == 0
    assert f"| {NAME} | no | 50% | – | – | 0 of 3 stages |" in capsys.readouterr().out
    assert make(tmp_path) == 0
    assert make(tmp_path, "--list") == 0
    assert f"| {NAME} | yes | 50% | – | – | 3 of 3 stages |" in capsys.readouterr().out


def test_shipped_networks_can_be_measured_again(tmp_path) -> None:
    assert make(tmp_path) == 0
    before = json.loads((tmp_path / "out" / INDEX).read_text())["models"][0]
    assert make(tmp_path, "--measure", "--games", "20") == 0
    after = json.loads((tmp_path / "out" / INDEX).read_text())["models"][0]
    assert (before["arena"]["random"]["alone"]["games"], after["arena"]["random"]["alone"]["games"]) == (8, 20)
    assert {**after, "arena": before["arena"]} == before


def test_a_network_that_is_too_large_is_not_shipped(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(models, "LARGEST", 1000)
    assert make(tmp_path) == 2
    assert "KB, at most 1 KB are shipped" in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())


# --- Reading recipes ---


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--minutes 3", "--minutes is not for a recipe to say"),
        ("--updates 3 --out x", "--out is not for a recipe to say"),
        ("--updates 3 --seed 1", "--seed is not for a recipe to say"),
        ("--width 8", "its budget must be counted in --updates"),
        ("--updates 0", "its budget must be counted in --updates"),
        ("--updates 3 --option deck=5", "--option reward=… is all that a recipe may choose"),
        ("--updates 3 --opponents net:{nobody}", "there is no earlier stage 'nobody'"),
        ("--updates 3 --method magic", "invalid choice: 'magic'"),
        ("--updates 3 --simulations 7", "unrecognized arguments: --simulations 7"),
        ("--updates 3 --gamma 7", "--gamma 7 is not allowed"),
    ],
)
def test_wrong_recipes_are_refused(words, problem, tmp_path, recipes, capsys) -> None:
    recipes[NAME] = {**RECIPE, "last": words}
    assert make(tmp_path) == 2
    refusal = capsys.readouterr().err
    assert f"the recipe of {NAME}, stage 'last'" in refusal
    assert problem in refusal
    assert not (tmp_path / "runs").exists(), "refused before anything was trained"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["chess-2p"], "there is no variant 'chess-2p'; there are nim_v0-2p"),
        (["--games", "1"], "--games 1 is not allowed"),
        (["--seed", "x"], "--seed x is not allowed"),
        ([NAME, "--seeds", "1", "1"], "--seeds must all be different"),
    ],
)
def test_wrong_words_are_refused(words, problem, capsys) -> None:
    assert exit_code("zoo", zoo.main, words) == 2
    assert problem in capsys.readouterr().err


def test_a_later_stage_has_the_shape_of_the_one_it_starts_from_and_imitates_nobody() -> None:
    recipe = {
        "ppo": "--updates 5 --width 24 --blocks 2 --option reward=score",
        "rollouts": "--method rollouts --updates 7",
        "ppo again": "--updates 9",
    }
    stages = read_recipe(NamedVariant(NIM.name, {"players": 2}), recipe, 4, Path("x"))
    first, second, third = (stage.config for stage in stages)
    assert first.start is None
    assert isinstance(second, RolloutConfig)
    assert (second.start, third.start) == (f"net:{Path('x', NAME, 'seed-4', 'ppo')}", f"net:{second.out}")
    assert {(config.width, config.blocks, config.seed) for config in (first, second, third)} == {(24, 2, 4)}
    assert (first.imitate, third.imitate) == (None, "")
    assert (first.options, third.options) == ({"reward": "score"}, {})


def test_a_recipe_may_start_from_the_network_of_another_variant() -> None:
    recipe = {"ppo": "--updates 5 --start net:{runs}/nim_v0-3p/ppo"}
    (stage,) = read_recipe(NamedVariant(NIM.name, {"players": 2}), recipe, 4, Path("x"))
    assert (stage.config.start, stage.config.imitate) == ("net:x/nim_v0-3p/ppo", "")


def test_variants_are_named_by_what_tells_them_apart() -> None:
    assert variant_name("a_v0", {"players": 3, "advanced": True, "reward": "score"}) == "a_v0-3p-advanced"
    assert variant_name("a_v0", {"players": 3, "grab": "two hands", "laps": False}) == "a_v0-3p-two_hands-no_laps"
