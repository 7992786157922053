"""The ladder: tournaments of all players, and what is published of them."""

import json
from math import comb, inf
from pathlib import Path
from typing import Any

import pytest
from monsterzoo.envs.core import registry
from monsterzoo.envs.core.registry import find_game
from monsterzoo.training.arena import Tournament
from monsterzoo.training.evaluation.published import published_ratings, rating_from
from monsterzoo.training.runs.exits import exit_code
from nim import NIM

from tools import ladder as ladders
from tools.variants import all_variants, variant_name


@pytest.fixture
def nim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nim is the only game there is."""
    monkeypatch.setattr(registry, "_loaders", {NIM.name: lambda: NIM})
    monkeypatch.setattr(registry, "_games", {NIM.name: NIM})


def play(folder: Path, *words: str) -> ladders.Ladder:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladders, "RESULTS", folder / "out")
        patch.setattr(ladders, "RUNS", folder / "games")
        assert exit_code("ladder", ladders.main, words) == 0
    (ladder,) = json.loads((folder / "out" / "ladder.json").read_text())["ladders"]
    return dict(ladder)


@pytest.mark.usefixtures("nim")
def test_every_pairing_is_played_from_every_side_and_games_are_kept(tmp_path, monkeypatch, capsys) -> None:
    words = "--players", "random", "search:2", "search:50", "--games", "20"
    ladder = play(tmp_path, *words)
    assert {(one["player"], one["against"]) for one in ladder["pairs"]} == {
        (one, other) for one in words[1:4] for other in words[1:4] if one != other
    }
    assert ladder["games"] == 3 * 20, "and none beyond, since only one of them is compiled"
    assert next(iter(ladders.ratings(ladder))) == "random"
    assert ladder["purpose"] == "publishing"
    assert ladder["command"] == "python -m tools.ladder --players random search:2 search:50 --games 20"
    assert "| `search:50` |" in capsys.readouterr().out
    monkeypatch.setattr(Tournament, "play_listed", lambda _, __, games: len(games) and pytest.fail("they are there"))
    assert play(tmp_path, *words)["players"] == ladder["players"]


@pytest.mark.usefixtures("nim")
def test_players_that_a_game_does_not_have_are_left_out(tmp_path, capsys) -> None:
    ladder = play(tmp_path, "--players", "random", "heuristic", "pretrained", "search:2", "--games", "2")
    assert [one["name"] for one in ladder["players"]] == ["random", "search:2"]
    told = capsys.readouterr().err
    assert "nim_v0-2p, heuristic: left out" in told
    assert "nim_v0-2p, pretrained: left out" in told


def three_players() -> ladders.Ladder:
    """A circle of three with the ratings 0, 20 and 10."""
    names = ["random", "b", "c"]
    pairs = [
        {"player": one, "against": other, "win_rate": rate, "interval": [rate - 0.05, rate + 0.05]}
        for one, other, rate in [("random", "b", 0.6), ("b", "c", 0.7), ("c", "random", 0.8)]
    ]
    players = [
        {"name": name, "rating": rating, "rating_interval": interval}
        for name, rating, interval in zip(names, (5.0, 25.0, 15.0), ([5.0, 5.0], [20.0, None], [10.0, 20.0]))
    ]
    payoffs = {"nash": [0.5, 0.3, 0.2], "nash_averages": [0.0, 0.0, -0.125], "cycles": [names]}
    about: dict[str, Any] = {"game": "pikit_v0", "options": {"players": 2}, "games": 30, "chance_level": 0.5}
    return {**about, "players": players, "pairs": pairs, "payoffs": payoffs, "network": "old"}


def test_ratings_count_from_the_random_player() -> None:
    assert ladders.ratings(three_players()) == {"random": 0, "c": 10, "b": 20}


def test_the_table_has_the_strongest_player_first_and_its_win_rates_against_the_others() -> None:
    first, *_ = ladders.table(three_players()).splitlines()[2:]
    cells = [cell.strip() for cell in first.split("|")[1:-1]]
    assert cells == ["`b`", "at least +20", "30%", "+0.000", "–", "70.0 (65.0–75.0)", "–"]


def test_the_page_tells_of_cycles_and_of_networks_that_are_no_longer_shipped() -> None:
    page = ladders.tables([three_players()])
    assert "A cycle: `random` beats `b` beats `c` beats `random`." in page
    assert "`pretrained` is an earlier network." in page


# --- What is published ---


def test_the_published_ladder_has_every_variant() -> None:
    assert [variant_name(one["game"], one["options"]) for one in ladders.read()] == list(all_variants())


def test_published_pairings_have_at_least_400_games_on_deals_for_publishing() -> None:
    for ladder in ladders.read():
        assert ladder["purpose"] == "publishing"
        assert ladder["games"] >= 400 * comb(len(ladder["players"]), 2)


def test_the_shipped_ratings_are_those_of_the_published_ladder() -> None:
    from tools.tables import LADDER, shipped_ladder

    assert LADDER.read_text(encoding="utf-8") == shipped_ladder(), "run make generated"
    rated = published_ratings(find_game("pikit_v0").variant(players=2))
    assert rated["random"] == 0 < rated["heuristic"] < rated["pretrained"]
    assert rating_from(0.5, 2, rated["heuristic"]) == rated["heuristic"]
    assert rating_from(0.25, 4, 100) == pytest.approx(100)
    assert rating_from(0, 2, 0) == -inf
    assert published_ratings(find_game("pikit_v0").variant(players=2, max_turns=10)) == {}
