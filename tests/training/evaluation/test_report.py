"""Tables of results, and what a tournament does beside playing."""

from types import SimpleNamespace

import numpy as np
import pytest
from monsterzoo.envs.match.players import make_player
from monsterzoo.training.arena import Tournament
from monsterzoo.training.evaluation import tournament as module
from monsterzoo.training.evaluation.report import (
    as_text,
    grid,
    heat_map,
    latex,
    markdown,
    partners_text,
    percent,
    plot,
    protocol_text,
    with_ends,
)
from needs import needs
from nim import NIM
from toys import FirstLegal


def test_a_plain_table_has_aligned_columns_and_headings_of_several_lines() -> None:
    assert grid(["", "win\nrate", "games"], [["one", "0.5", 10], ["another", "0.25", 1000]]).split("\n") == [
        "          win  games",
        "         rate",
        "-------  ----  -----",
        "one       0.5     10",
        "another  0.25   1000",
    ]


def test_tables_for_markdown_and_latex_escape_what_has_a_meaning_there() -> None:
    rows = [["a|b", "50 % (40–60)"], ["c_d & #2", 7]]
    assert markdown(["player", "rate"], rows).split("\n") == [
        "| player | rate |",
        "| --- | --- |",
        r"| a\|b | 50 % (40–60) |",
        "| c_d & #2 | 7 |",
    ]
    assert latex(["player", "rate"], rows).split("\n") == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"player & rate \\",
        r"\midrule",
        r"a|b & 50 \% (40--60) \\",
        r"c\_d \& \#2 & 7 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize(
    ("interval", "rate", "rating"),
    [
        ((0.25, 0.75), "50.0 % (25.0–75.0)", "+0.50 [+0.25, +0.75]"),
        ((None, 0.75), "50.0 % (0.0–75.0)", "at most +0.75"),
        ((0.25, None), "50.0 % (25.0–100.0)", "at least +0.25"),
        ((None, None), "50.0 % (0.0–100.0)", "+0.50"),
        ((0.5, 0.5), "50.0 % (50.0–50.0)", "+0.50"),
    ],
)
def test_numbers_with_their_intervals(interval, rate, rating) -> None:
    assert percent(0.5, interval) == rate
    assert with_ends(0.5, interval, "+.2f") == rating


# --- Playing ---


def entered(*names: str) -> tuple[Tournament, list]:
    variant = NIM.variant()
    return Tournament(variant, list(names)), [make_player(variant, "random"), FirstLegal()][: len(names)]


def test_a_long_tournament_goes_on_with_and_without_a_file(monkeypatch, tmp_path) -> None:
    """It reports and saves now and then: here two seconds pass between any two looks at the clock."""
    clock = iter(range(0, 10**6, 2))
    monkeypatch.setattr(module, "monotonic", lambda: next(clock))
    results = []
    for path in (None, tmp_path / "games.npz"):
        tournament, players = entered("random", "first")
        told, saved = [], []
        monkeypatch.setattr(Tournament, "save", lambda self, path, told=told, saved=saved: saved.append(self.games))
        tournament.play(players, 60, batch=4, progress=lambda one, told=told: told.append(one.games), save=path)
        results.append(tournament.shares)
        assert told == sorted(told)
        assert len(set(told)) > 5
        assert told[-1] == tournament.games == 60
        if path is None:
            assert saved == []
        else:
            assert 5 < len(saved) < len(told)  # every ten seconds, not every time
            assert saved[-1] == 60
    np.testing.assert_array_equal(*results)


def test_a_tournament_looks_at_its_precision_after_every_few_deals(monkeypatch) -> None:
    tournament, players = entered("random", "first")
    asked = []
    monkeypatch.setattr(Tournament, "precision", lambda self, deals: asked.append(deals) or 0.2 / len(asked))
    tournament.play(players, 100, until_interval=0.06, batch=3)  # 4 · 3 games at a time, two a deal
    assert asked == [6, 12, 18, 24]
    assert tournament.games == 48
    assert tournament.precision(24) == 0.2 / 5


def test_the_precision_is_half_of_the_widest_interval() -> None:
    tournament, _ = entered("random", "first")
    tournament._make_room(60)
    tournament.done[:50] = True
    tournament.shares[:50:2], tournament.shares[1:50:2] = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    low, high = tournament.result()["players"][0]["win_rate_interval"]
    assert tournament.precision(50) == pytest.approx((high - low) / 2)
    assert tournament.precision(10) > 1.5 * tournament.precision(50)


def test_how_many_games_a_tournament_plays() -> None:
    tournament, players = entered("random", "first")
    assert [tournament.whole_deals(games) for games in (1, 2, 3, 40)] == [1, 1, 2, 20]
    tournament.play(players, 7)
    assert (tournament.games, tournament.done.shape) == (8, (4, 2))
    result = tournament.result()
    assert (result["games"], result["deals"], result["chance_level"]) == (8, 4, 0.5)
    assert [player["games"] for player in result["players"]] == [8, 8]
    tournament.play(players, 4)  # nothing left to do
    assert tournament.games == 8


@pytest.mark.parametrize("against", [(), ("a",), ("a", "b")])
def test_pairs_are_counted_at_tables_where_both_sit(against) -> None:
    """Of three players one beats all, and one loses to all."""
    tournament = Tournament(NIM.variant(), ["a", "b", "c"], against=against)
    tournament._make_room(3)
    tournament.done[:] = True
    tournament.shares[:] = tournament.seatings < tournament.seatings[:, ::-1]  # the first one of both wins
    found = {(pair["player"], pair["against"]): pair["win_rate"] for pair in tournament.result()["pairs"]}
    met = [pair for pair in ("ab", "ac", "bc") if not against or set(pair) & set(against)]
    assert found == {**{tuple(pair): 1.0 for pair in met}, **{tuple(pair[::-1]): 0.0 for pair in met}}


def test_a_rating_counts_from_the_only_opponent_else_from_the_random_player() -> None:
    for names, against, zero in (
        (("random", "first"), (), "random"),
        (("random", "first"), ("first",), "first"),
        (("second", "first"), (), None),
    ):
        tournament = Tournament(NIM.variant(), list(names), against=against)
        tournament._make_room(4)
        tournament.done[:] = True
        tournament.shares[:] = tournament.seatings == 0
        rated = {player["name"]: player["rating"] for player in tournament.result()["players"]}
        assert rated[names[0]] > rated[names[1]]
        assert rated[zero] == 0 if zero else sum(rated.values()) == pytest.approx(0, abs=1e-9)


def test_games_may_be_played_elsewhere() -> None:
    tournament, _ = entered("random", "first")
    asked = []

    def spread(one, games, tick) -> None:
        asked.append(games.tolist())
        one.take(games, np.full((len(games), 2), 0.5), np.ones((len(games), 2)))
        tick()

    tournament.play([SimpleNamespace(name="one"), SimpleNamespace(name="two")], 6, spread=spread)
    assert asked == [[[deal, seating] for deal in range(3) for seating in range(2)]]
    assert tournament.done.all()
    assert tournament.scores.all()


# --- Whole reports ---


def ranked(name, rate, rating, games, ends=(None, None)):
    return {
        "name": name, "games": games, "win_rate": rate, "win_rate_interval": [rate - 0.125, rate + 0.125],
        "mean_score": 4 * rate, "mean_score_interval": [None, None], "rating": rating, "rating_interval": list(ends),
    }  # fmt: skip


def met(player, against, rate):
    return {"player": player, "against": against, "win_rate": rate, "interval": [rate - 0.1, rate + 0.1]}


def a_result(**more):
    players = [ranked("a", 0.25, -100.4, 30, (-150, -50)), ranked("b", 0.75, 90.6, 20, (None, 99))]
    players.append(ranked("c", 0.5, 0, 10))
    pairs = [met("a", "b", 0.25), met("b", "a", 0.75), met("b", "c", 0.625), met("c", "b", 0.375)]
    return {
        "game": "nim", "options": {"players": 2}, "seed": 7, "purpose": "choosing", "games": 60, "deals": 30,
        "players": players, "pairs": pairs, "chance_level": 0.5, "payoffs": None, "against": ["a", "c"],
        "version": "1.2", **more,
    }  # fmt: skip


def test_a_tournament_reads_as_a_ranking_and_a_cross_table() -> None:
    assert as_text(a_result()).split("\n") == [
        "nim players=2",
        "60 games, 30 deals for choosing, seed 7; 95 % intervals",
        "",
        "             rating              win rate  mean score  games",
        "-  ----------------  --------------------  ----------  -----",
        "b       at most +99  0.750 [0.625, 0.875]        3.00     20",
        "c                +0  0.500 [0.375, 0.625]        2.00     10",
        "a  -100 [-150, -50]  0.250 [0.125, 0.375]        1.00     30",
        "",
        "win rate of the row at tables with the column (chance level: 0.500):",
        "       b      c      a",
        "-  -----  -----  -----",
        "b      –  0.625  0.750",
        "c  0.375      –      –",
        "a  0.250      –      –",
    ]


def test_players_that_all_met_have_nash_averages_and_cycles() -> None:
    payoffs = {"nash": [0.25, 0.75, 0], "nash_averages": [-0.125, 0, 0.0625], "cycles": [["a", "b", "c"]]}
    assert as_text(a_result(payoffs=payoffs)).split("\n")[-6:] == [
        "       b      c      a  Nash  average",
        "-  -----  -----  -----  ----  -------",
        "b      –  0.625  0.750   75%   +0.000",
        "c  0.375      –      –    0%   +0.062",
        "a  0.250      –      –   25%   -0.125",
        "a cycle: a beats b beats c beats a",
    ]
    two = a_result(payoffs={"nash": [0.5, 0.5], "nash_averages": [0, 0], "cycles": []})
    two["players"] = two["players"][:2]
    assert "Nash" not in as_text(two)


@pytest.mark.parametrize(("write", "mark"), [(markdown, ""), (latex, "% ")])
def test_a_protocol_has_a_column_for_each_opponent(write, mark) -> None:
    told = protocol_text(a_result(), write)
    assert told.endswith("\n")
    rows = [["b", "75.0 % (65.0–85.0)", "62.5 % (52.5–72.5)", "at most +99"], ["c", "–", "–", "+0"]]
    rows.append(["a", "–", "–", "-100 [-150, -50]"])
    assert told.split("\n")[:4] == [
        f"{mark}nim players=2",
        f"{mark}60 games, 30 deals for choosing, seed 7; 95 % intervals; chance level 50.0%; MonsterZoo 1.2.",
        "",
        write(["player", "against a", "against c", "rating"], rows).split("\n")[0],
    ]
    assert told.rstrip("\n").split("\n")[3:] == write(["player", "against a", "against c", "rating"], rows).split("\n")


def test_partners_read_as_a_matrix_and_their_scores() -> None:
    scores = [
        {
            "name": name, "self_play": 0.5, "self_play_interval": [0.4, 0.6], "cross_play": 0.25,
            "cross_play_interval": [None, 0.5], "gap": 0.25, "gap_interval": [0.125, None],
        }
        for name in ("all", "a")
    ]  # fmt: skip
    result = a_result(players=["a", "b"], opponents="c", matrix=[[0.5, 0.25], [0.25, 1]], scores=scores)
    result["intervals"] = [[[0.4, 0.6], [0.2, 0.3]], [[0.2, 0.3], [None, None]]]
    assert partners_text(result).split("\n") == [
        "nim players=2",
        "60 games, 30 deals for choosing, seed 7; 95 % intervals",
        "",
        "win rate of the row and the column as partners, against c:",
        "                    a                    b",
        "-  ------------------  -------------------",
        "a  50.0 % (40.0–60.0)   25.0 % (20.0–30.0)",
        "b  25.0 % (20.0–30.0)  100.0 % (0.0–100.0)",
        "",
        "                self-play     cross-play             gap",
        "---  --------------------  -------------  --------------",
        "all  0.500 [0.400, 0.600]  at most 0.500  at least 0.125",
        "a    0.500 [0.400, 0.600]  at most 0.500  at least 0.125",
    ]


# --- Pictures ---


@pytest.fixture
def figures(monkeypatch) -> list:
    """Figures that are saved, with what they are saved with."""
    needs("matplotlib")
    from matplotlib.figure import Figure

    saved = []
    monkeypatch.setattr(
        Figure, "savefig", lambda self, path, **more: saved.append((self, more)) or path.write_bytes(b"")
    )
    return saved


def test_a_picture_has_ratings_with_intervals_and_arrows_where_nothing_bounds_them(figures, tmp_path) -> None:
    result = a_result()
    result["players"].append(ranked("d", 0.125, 10, 5, (-20, None)))
    plot(result, tmp_path / "ratings.png")
    ((figure, more),) = figures
    assert more == {"format": "png", "dpi": 150}
    assert figure.get_size_inches().tolist() == [7, pytest.approx(1.2 + 4 * 0.45)]
    (axes,) = figure.axes
    bars, points = axes.lines[::2], axes.lines[1::2]
    assert [[*line.get_xdata(), *line.get_ydata()] for line in bars] == [
        [-150, -50, 0, 0], [0, 0, 1, 1], [-20, 10, 2, 2], [90.6, 99, 3, 3]
    ]  # fmt: skip
    assert {(line.get_linewidth(), line.get_alpha()) for line in bars} == {(3, 0.4)}
    assert [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in points] == [
        (-100.4, 0, "o"), (0, 1, "o"), (10, 2, ">"), (90.6, 3, "<")
    ]  # fmt: skip
    assert {line.get_color() for line in axes.lines} == {"tab:blue"}
    assert [(one.get_text(), one.xy) for one in axes.texts] == [
        ("25.0%", (-100.4, 0)), ("50.0%", (0, 1)), ("12.5%", (10, 2)), ("75.0%", (90.6, 3))
    ]  # fmt: skip
    assert {one.xyann for one in axes.texts} == {(0, 6)}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "c", "d", "b"]
    assert axes.get_yticks().tolist() == [0, 1, 2, 3]
    assert axes.get_ylim() == (-0.5, 3.7)
    assert axes.get_xlabel() == "rating (Elo points), and win rate (chance level: 50.0%)"
    assert axes.get_title() == "nim, 60 games"


def test_a_heat_map_has_every_pair_with_half_of_its_interval(figures, tmp_path) -> None:
    intervals = [[[0.4, 0.6], [0.2, 0.3]], [[0.1, 0.4], [0.95, 1.0]]]
    result = a_result(players=["a", "b"], opponents="c", matrix=[[0.5, 0.25], [0.75, 1]], intervals=intervals)
    heat_map(result, tmp_path / "partners.png")
    ((figure, _),) = figures
    assert figure.get_size_inches().tolist() == pytest.approx([4.4, 3.0])
    axes, bar = figure.axes
    assert axes.images[0].get_array().tolist() == [[0.5, 0.25], [0.75, 1]]
    assert [(one.get_position(), one.get_text(), one.get_color()) for one in axes.texts] == [
        ((0, 0), "50.0%\n± 10.0%", "white"), ((1, 0), "25.0%\n± 5.0%", "white"), ((0, 1), "75.0%\n± 15.0%", "black"),
        ((1, 1), "100.0%\n± 2.5%", "black"),
    ]  # fmt: skip
    for ticks, labels in ((axes.get_xticks(), axes.get_xticklabels()), (axes.get_yticks(), axes.get_yticklabels())):
        assert (ticks.tolist(), [label.get_text() for label in labels]) == ([0, 1], ["a", "b"])
    assert axes.get_title() == "nim: wins of two partners against c"
    assert bar.get_ylabel() == "win rate"
