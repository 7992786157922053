"""Seating: specs and policies become one player for each seat, the same way everywhere."""

import json
from pathlib import Path

import pytest
from monsterzoo.envs import make, text_game, variant
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.core import registry
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.seating import (
    default_spec,
    distinct_names,
    make_players,
    seat_around,
    seat_opponents,
    seat_players,
)  # fmt: skip
from monsterzoo.policies import make as make_policy
from toys import import_game, write_game


class First:
    def act(self, decisions):
        return decisions.action_masks.argmax(axis=1)


class Former:
    name = "former"

    def act(self, observations, action_masks, seats, states=None):
        return action_masks.argmax(axis=1)


@pytest.fixture
def four() -> Variant:
    return variant("pikit_v0", players=4)


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Game:
    """A game without a heuristic."""
    folder = tmp_path_factory.mktemp("games")
    write_game(folder, "seated")
    return import_game(folder, "seated")


def names(players: list) -> list:
    return [getattr(player, "name", player) for player in players]


def test_one_for_all_or_one_each(four: Variant) -> None:
    first = First()
    assert names(seat_players(four, "random")) == ["random"] * 4
    assert names(seat_players(four, ["heuristic", "random", first, "random"])) == [
        "heuristic",
        "random",
        first,
        "random",
    ]
    assert seat_opponents(four, first) == seat_opponents(four, [first]) == [first] * 3
    for given in ([], ["random"] * 2):
        with pytest.raises(ValueError, match=f"for each of the 4, got {len(given)}"):
            seat_players(four, given)


def test_equal_specs_are_one_player_unless_each_enters_a_tournament(four: Variant) -> None:
    one, two, other = seat_opponents(four, ["random", "random", "heuristic"], 5)
    assert one is two is not other
    entered = make_players(four, ["random", "random"], shared=False)
    assert entered[0] is not entered[1]
    assert distinct_names(["random"] * 2, entered) == ["random", "random#2"]
    assert distinct_names(["my:First"] * 2, [First(), First()]) == ["my:First", "my:First#2"]
    assert distinct_names(["my:First"] * 3, [First() for _ in range(3)])[2] == "my:First#3"
    assert distinct_names([First()], [First()]) == ["First"]


def test_opponents_sit_clockwise_from_the_own_seat(four: Variant) -> None:
    seated = seat_around(four, 2, ["random", "heuristic", "search:5"])
    assert names(seated) == ["heuristic", "search:5", None, "random"]
    with pytest.raises(ValueError, match="there is no seat 4; seats are 0 to 3"):
        seat_around(four, 4)
    with pytest.raises(ValueError, match="there is no seat -1"):
        seat_around(four, -1)


@pytest.mark.parametrize(
    ("player", "problem"),
    [
        (Former(), r"'former' is not a player but an object whose `act` cannot be called with \(decisions\)"),
        (First, "is neither the name of a policy nor a policy"),
        (7, "is neither the name of a policy nor a policy"),
        (make_policy("random", "pikit_v0", players=2), "random was made for pikit_v0 with players=2 and cannot play"),
    ],
)  # fmt: skip
def test_what_cannot_play_is_refused_at_every_table(four: Variant, player: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        seat_players(four, player)
    with pytest.raises(ValueError, match=problem):
        SeatVectorEnv("pikit_v0", 2, opponents=player, players=4)
    if player is not First and player != 7:
        with pytest.raises(ValueError, match=problem):
            text_game(make("pikit_v0", players=4), player, seed=0)


# --- A game without a heuristic ---


def test_the_default_is_the_heuristic_where_there_is_one(four: Variant, race: Game) -> None:
    assert names(seat_players(four)) == ["heuristic"] * 4
    assert default_spec(race.variant()) == "random"
    assert names(seat_around(race.variant(), 1)) == ["random", None]


def test_play_and_watch_work_without_a_heuristic(
    race: Game, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("starlette")
    from monsterzoo.cli import main
    from monsterzoo.table import server

    monkeypatch.setitem(registry._loaders, race.name, lambda: race)
    monkeypatch.setitem(registry._games, race.name, race)
    served = []
    monkeypatch.setattr(server, "serve", lambda room, *rest: served.append(room))
    assert main(["play", race.name, "--seed", "1", "--no-browser"]) == 0
    assert served[0].welcome()["opponents"] == ["random"]
    game = served[0].plan.start()
    messages = list(game.play_on())
    assert messages[-1]["players"] == ["you", "random"]
    assert main(["watch", race.name, "--seed", "1", "--no-browser"]) == 0
    watched = served[1].watched.game.show(-1)
    assert watched["complete"]
    assert watched["players"] == ["random", "random"]
    monkeypatch.setattr("builtins.input", lambda _: "1")
    assert main(["play", "--text", race.name, "--seed", "1", "--output", str(tmp_path / "race.json")]) == 0
    assert "player_1 (random)" in capsys.readouterr().out
    assert json.loads((tmp_path / "race.json").read_text())["game"] == race.name
