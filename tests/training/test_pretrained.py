"""The shipped networks and the table about them."""

import numpy as np
import pytest
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.players import make_player
from monsterzoo.policies import make
from monsterzoo.policies.neural import PRETRAINED, pretrained
from monsterzoo.training import models
from monsterzoo.training.config import Config
from monsterzoo.training.evaluation import play_games
from monsterzoo.training.exits import exit_code
from monsterzoo.training.models import README, document, publish
from monsterzoo.training.runs import train

MODELS = [pytest.param(model, id=model["file"]) for model in pretrained()]


@pytest.mark.parametrize("model", MODELS)
def test_a_shipped_network_beats_random_players(model) -> None:
    variant = find_game(model["game"]).variant(**model["options"])
    policy = make("pretrained", model["game"], **model["options"])
    games = 100 * variant.sides
    shares = play_games(variant, policy, make_player(variant, "random"), games, seed=2)
    assert shares.mean() - 3 * shares.std() / np.sqrt(games) > 1 / variant.sides


@pytest.mark.parametrize("model", MODELS)
def test_a_shipped_network_does_against_its_heuristic_as_the_index_says(model) -> None:
    variant = find_game(model["game"]).variant(**model["options"])
    policy = make("pretrained", model["game"], **model["options"])
    measured = model["arena"]["heuristic"]["alone"]
    games = 100 * variant.sides
    shares = play_games(variant, policy, make_player(variant, "heuristic"), games, seed=3)
    low, high = measured["interval"]
    assert low <= measured["win_rate"] <= high
    assert abs(shares.mean() - measured["win_rate"]) < 4 * shares.std() / np.sqrt(games)


def test_the_table_is_made_from_the_index() -> None:
    assert pretrained()
    assert (PRETRAINED / README).read_text() == document(list(pretrained()))


def test_small_files() -> None:
    assert sum(file.stat().st_size for file in PRETRAINED.glob("*.npz")) < 5_000_000


def test_no_network_for_a_variant_says_which_there_are() -> None:
    with pytest.raises(ValueError, match=r"no pretrained network for yokai_septet_v0 .*monsterzoo train"):
        make("pretrained", "yokai_septet_v0", players=4, variant="seven_suitors_short")


@pytest.mark.parametrize(
    ("options", "file"),
    [({}, "yokai_septet_v0-4p.npz"), ({"variant": "seven_suitors"}, "yokai_septet_v0-4p-seven_suitors.npz")],
)
def test_a_run_can_be_published(tmp_path, options, file) -> None:
    config = Config(
        game="yokai_septet_v0", players=4, num_envs=16, steps=8, minibatch=64, width=16, updates=1, imitate="",
        opponents=(), evaluate=(), tensorboard=False, out=str(tmp_path / "run"), options={"reward": "score", **options},
    )  # fmt: skip
    train(config)
    model = publish(tmp_path / "run", 20, tmp_path / "shipped")
    assert (tmp_path / "shipped" / file).exists()
    assert model["options"] == {"players": 4, **options}
    assert model["commands"][0].startswith("monsterzoo train --game yokai_septet_v0 --players 4 --option reward=score")
    assert set(model["arena"]) == {"random", "heuristic"}
    assert file in document([model])


@pytest.mark.parametrize("games", ["0", "-4", "x", "3", "1e3", "nan"])
def test_too_few_games_to_measure_are_refused(games, capsys) -> None:
    assert exit_code("models", models.main, ["--games", games]) == 2
    assert f"models: --games {games} is not allowed; allowed: a whole number from 4" in capsys.readouterr().err
