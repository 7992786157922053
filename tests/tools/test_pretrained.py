"""The shipped networks and the table about them."""

import shlex
from pathlib import Path

import pytest
from monsterzoo.cli import train as train_command
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies import make
from monsterzoo.policies.networks import PRETRAINED, pretrained
from monsterzoo.policies.networks import files as weights_files
from monsterzoo.training.evaluation.win_rate import win_rate
from monsterzoo.training.runs import run as runs
from monsterzoo.training.runs.config import PPOConfig
from monsterzoo.training.runs.run import train

from tools.variants import NamedVariant, all_variants
from tools.zoo import CARDS, card, networks_table, publish, read_index

MODELS = [pytest.param(model, id=model["file"]) for model in pretrained()]


@pytest.mark.parametrize("model", MODELS)
def test_a_shipped_network_does_against_its_heuristic_as_the_index_says(model) -> None:
    variant = find_game(model["game"]).variant(**model["options"])
    policy = make("pretrained", model["game"], **model["options"])
    measured = model["arena"]["heuristic"]
    games = 100 * variant.sides
    found = win_rate(variant, policy, make_player(variant, "heuristic"), games, seed=3)
    low, high = measured["interval"]
    assert low <= measured["win_rate"] <= high
    assert abs(found.win_rate - measured["win_rate"]) < 4 * found.error


@pytest.mark.parametrize("model", MODELS)
def test_what_the_index_says_of_a_network_fits_together(model) -> None:
    of = NamedVariant(model["game"], model["options"])
    assert model["file"] == f"{of.name}.npz"
    assert of.name in all_variants()
    assert model["chance_level"] == 1 / of.variant.sides
    arrays, about = weights_files.read(PRETRAINED / model["file"])
    assert model["weights"] == sum(values.size for values in arrays.values())
    assert about["layout"] == of.variant.layout.signature
    for result in model["arena"].values():
        low, high = result["interval"]
        assert low <= result["win_rate"] <= high


def test_every_variant_has_a_network() -> None:
    assert {model["file"].removesuffix(".npz") for model in pretrained()} == set(all_variants())


def test_all_networks_beat_their_heuristics_as_the_page_says() -> None:
    assert "All beat their heuristic players." in (PRETRAINED / "README.md").read_text()
    for model in pretrained():
        assert model["arena"]["heuristic"]["interval"][0] > model["chance_level"]


@pytest.mark.parametrize("model", MODELS)
def test_the_commands_of_the_index_are_command_lines_of_training(model, monkeypatch) -> None:
    configs = []
    monkeypatch.setattr(runs, "train", lambda config, resume, kind: configs.append(config))
    for command in model["commands"]:
        program, name, *words = shlex.split(command)
        assert (program, name, train_command.main(words)) == ("monsterzoo", "train", 0)
    assert [config.command() for config in configs] == model["commands"]
    assert all(config.updates for config in configs), "budgets are counted in updates, not in minutes"


@pytest.mark.parametrize("file", sorted(PRETRAINED.glob("*.npz")), ids=lambda file: file.name)
def test_files_are_small_and_in_the_index(file) -> None:
    assert file.name in {model["file"] for model in pretrained()}
    assert file.stat().st_size <= 300_000


def test_no_network_for_a_variant_says_which_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    only = next(model for model in pretrained() if model["file"] == "pikit_v0-2p.npz")
    monkeypatch.setattr(weights_files, "pretrained", lambda: (only,))
    with pytest.raises(
        ValueError, match=r"no pretrained network for pikit_v0 .* there are: pikit_v0 .*monsterzoo train"
    ):
        make("pretrained", "pikit_v0", players=3)


@pytest.mark.parametrize(
    ("options", "file"),
    [({}, "yokai_septet_v0-4p.npz"), ({"variant": "seven_suitors"}, "yokai_septet_v0-4p-seven_suitors.npz")],
)
def test_a_run_can_be_published(tmp_path, options, file) -> None:
    config = PPOConfig(
        game="yokai_septet_v0", players=4, num_envs=16, steps=8, minibatch=64, width=16, updates=1, imitate="",
        opponents=(), evaluate=(), log="none", out=str(tmp_path / "run"), options={"reward": "score", **options},
    )  # fmt: skip
    train(config)
    publish(NamedVariant(config.game, {"players": 4, **options}), [tmp_path / "run"], 20, tmp_path / "shipped")
    (model,) = read_index(tmp_path / "shipped")["models"]
    assert (tmp_path / "shipped" / file).exists()
    assert model["options"] == {"players": 4, **options}
    assert model["commands"][0].startswith("monsterzoo train --game yokai_septet_v0 --players 4 --option reward=score")
    assert set(model["arena"]) == {"random", "heuristic"}
    assert file in networks_table([model])


@pytest.mark.parametrize("model", MODELS)
def test_the_model_card_is_made_from_the_index(model) -> None:
    path = PRETRAINED / CARDS / f"{Path(model['file']).stem}.md"
    assert path.read_text(encoding="utf-8") == card(model), "run make generated"
