"""The ladder: rungs that are measured one by one, ratings that add up, and what is published."""

import json
from copy import deepcopy
from math import inf
from pathlib import Path

import pytest
from monsterzoo.envs.core import registry
from monsterzoo.envs.core.registry import find_game
from monsterzoo.training.arena import Tournament
from monsterzoo.training.evaluation.published import published_ratings, rating_from
from monsterzoo.training.runs.exits import exit_code
from nim import NIM

from tools import ladder as ladders
from tools.variants import NamedVariant, all_variants, variant_name

PIKIT = NamedVariant("pikit_v0", {"players": 2})
MADE = {"command": "bench", "machine": {"processor": "abacus"}}


def rung(player: str, against: str, step: float, half: float | None = 10.0, network: str | None = None) -> ladders.Rung:
    return {
        "player": player, "against": against, "games": 100, "win_rate": 0.6, "interval": [0.5, 0.7],
        "step": step, "half_width": half, "network": network,
    }  # fmt: skip


def ladder_of(*rungs: ladders.Rung) -> ladders.Ladder:
    return {"game": PIKIT.game, "options": PIKIT.options, "chance_level": 0.5, "rungs": list(rungs)}


def cells(ladder: ladders.Ladder) -> dict[str, list[str]]:
    """The cells of the table by player."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in ladders.table_of([ladder]).splitlines()[2:]]
    return {row[1]: row for row in rows}


# --- Ratings ---


def test_ratings_add_up_the_steps_in_whatever_order_they_were_measured() -> None:
    ladder = ladder_of(rung("guided", "search", 50), rung("search", "heuristic", 100), rung("heuristic", "random", 800))
    assert [one["player"] for one in ladders.in_order(ladder)] == ["heuristic", "search", "guided"]
    assert ladders.rating(ladder, "guided")[0] == 950
    assert ladders.rating(ladder, "random") == (0, 0)


def test_a_player_whose_way_down_was_not_measured_has_no_rating() -> None:
    ladder = ladder_of(rung("heuristic", "random", 800), rung("guided", "search", 50))
    assert ladders.rating(ladder, "guided")[0] == inf
    assert cells(ladder)["guided"][6] == "–"
    circle = ladder_of(rung("a", "b", 1), rung("b", "a", 1))
    assert ladders.rating(circle, "a")[0] == inf


def test_intervals_add_up_from_the_heuristic_on() -> None:
    """The heuristic's own step is uncertain by 500 points; how the others compare is not."""
    base, search = rung("heuristic", "random", 800, 500), rung("search", "heuristic", 100, 30)
    ladder = ladder_of(base, search, rung("guided", "search", 41, 40))
    assert [ladders.rating(ladder, player)[1] for player in ("heuristic", "search", "guided")] == [500, 30, 50]
    assert cells(ladder)["guided"][6] == "+941 ± 50"
    assert ladders.rating(ladder_of(rung("heuristic", "random", 800, None)), "heuristic")[1] == inf


# --- Merging ---


def test_a_rung_takes_the_place_of_its_predecessor_and_all_others_stay() -> None:
    result = {"made": [], "ladders": []}
    other = {**MADE, "command": "again"}
    ladders.merge(result, PIKIT, rung("heuristic", "random", 800), MADE)
    ladders.merge(result, PIKIT, rung("search", "heuristic", 100), MADE)
    ladders.merge(result, NamedVariant("bite_night_v0", {"players": 3}), rung("heuristic", "random", 700), MADE)
    assert [ladder["game"] for ladder in result["ladders"]] == ["bite_night_v0", "pikit_v0"]
    before = deepcopy(result)
    ladders.merge(result, PIKIT, rung("search", "heuristic", 150), other)
    assert result["made"] == [MADE, other]
    assert result["ladders"][0] == before["ladders"][0]
    heuristic, search = result["ladders"][1]["rungs"]
    assert heuristic == before["ladders"][1]["rungs"][0]
    assert (search["step"], search["made"]) == (150, 1)


def test_commands_of_which_nothing_is_left_are_not_on_the_page() -> None:
    result = {"made": [], "ladders": []}
    for number in range(3):
        ladders.merge(result, PIKIT, rung("heuristic", "random", 800), {**MADE, "command": f"command {number}"})
        ladders.merge(result, PIKIT, rung("search", "heuristic", 100), {**MADE, "command": "same"})
    text = ladders.commands_of(result)
    assert [f"`command {number}`" in text for number in range(3)] == [False, False, True]
    assert text.count("`same`") == 1


def test_a_rung_of_a_network_that_is_no_longer_shipped_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = ladder_of(rung("heuristic", "random", 800), rung("pretrained", "heuristic", 90, network="0001"))
    monkeypatch.setattr(ladders, "shipped_networks", lambda: {PIKIT.name: "0002"})
    assert cells(ladder)["pretrained"][7] == "an earlier network"
    monkeypatch.setattr(ladders, "shipped_networks", lambda: {PIKIT.name: "0001"})
    assert cells(ladder)["pretrained"][7] == ""


# --- Playing ---


@pytest.fixture
def nim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nim is the only game there is."""
    monkeypatch.setattr(registry, "_loaders", {NIM.name: lambda: NIM})
    monkeypatch.setattr(registry, "_games", {NIM.name: NIM})


def bench(folder: Path, *words: str) -> list[ladders.Rung]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladders, "RESULTS", folder / "out")
        patch.setattr(ladders, "RUNS", folder / "games")
        assert exit_code("ladder", ladders.main, words) == 0
    result = json.loads((folder / "out" / "ladder.json").read_text())
    return result["ladders"][0]["rungs"]


@pytest.mark.usefixtures("nim")
def test_rungs_are_added_one_by_one_and_games_are_kept(tmp_path, monkeypatch, capsys) -> None:
    (first,) = bench(tmp_path, "--rungs", "search:2", "--games", "20")
    assert (first["player"], first["against"], first["games"]) == ("search:2", "random", 20)
    *_, second = bench(tmp_path, "--rungs", "search:20", "--against", "search:2", "--games", "16")
    assert (second["player"], second["against"]) == ("search:20", "search:2")
    made = ladders.commands_of(json.loads((tmp_path / "out" / "ladder.json").read_text()))
    assert "`python -m tools.ladder --rungs search:2 --games 20`" in made
    monkeypatch.setattr(Tournament, "play_listed", lambda *_, **__: pytest.fail("all games are there"))
    *_, again = bench(tmp_path, "--rungs", "search:2", "--games", "20")
    assert {**again, "made": 0} == {**first, "made": 0}


@pytest.mark.usefixtures("nim")
def test_players_that_a_game_does_not_have_are_skipped(tmp_path, capsys) -> None:
    bench(tmp_path, "--rungs", "heuristic", "pretrained", "search:2", "--games", "2")
    told = capsys.readouterr().err
    assert "nim_v0-2p, heuristic: skipped" in told
    assert "nim_v0-2p, pretrained: skipped" in told


# --- What is published ---


def test_the_published_ladder_has_every_variant() -> None:
    result = ladders.read()
    assert [variant_name(ladder["game"], ladder["options"]) for ladder in result["ladders"]] == list(all_variants())


def test_published_numbers_fit_together() -> None:
    for ladder in ladders.read()["ladders"]:
        for one in ladder["rungs"]:
            low, high = one["interval"]
            assert low <= one["win_rate"] <= high
            assert (one["win_rate"] > ladder["chance_level"]) == (one["step"] > 0)
            assert ladders.rating(ladder, one["player"])[0] < inf


def test_the_shipped_ratings_are_those_of_the_published_ladder() -> None:
    from tools.tables import LADDER, shipped_ladder

    assert LADDER.read_text(encoding="utf-8") == shipped_ladder(), "run make generated"
    rated = published_ratings(find_game("pikit_v0").variant(players=2))
    assert rated["random"] == 0 < rated["heuristic"] < rated["pretrained"]
    assert rating_from(0.5, 2, rated["heuristic"]) == rated["heuristic"]
    assert rating_from(0.25, 4, 100) == pytest.approx(100)
    assert rating_from(0, 2, 0) == -inf
    assert published_ratings(find_game("pikit_v0").variant(players=2, max_turns=10)) == {}
