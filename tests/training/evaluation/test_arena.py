"""Tournaments: luck cancels, statistics are right, interruptions lose nothing."""

import json
import sys

import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.cli import main
from monsterzoo.envs import IllegalActionError, variant
from monsterzoo.training.arena import Tournament, arena, enter
from monsterzoo.training.evaluation.report import as_text, plot
from monsterzoo.training.evaluation.tournament import all_seatings, seatings_against
from monsterzoo.training.runs.extras import how_to_get
from needs import needs

ROUND = {"players": 4, "episode": "round"}
GAME = "yokai_septet_v0"
DRAWN = ["arena", GAME, "--policies", "random", "heuristic", "--games", "4", "--quiet", "--output"]


class Hidden:
    """A policy without its compiled form, so that Python asks it."""

    def __init__(self, policy):
        self.name, self.act = policy.name, policy.act


def tournament(specs, options=ROUND, seed=0, game=GAME):
    one = variant(game, **options)
    names, entrants = enter(one, specs, seed)
    return Tournament(one, names, seed), entrants


# --- Luck cancels ---


@pytest.mark.parametrize("spec", ["random", "heuristic"])
@pytest.mark.parametrize("options", [ROUND, {"players": 3, "episode": "round"}, {"players": 2, "episode": "round"}])
def test_identical_policies_get_exactly_equal_scores(spec, options):
    games, entrants = tournament([spec, spec], options)
    games.play(entrants, 60)
    one, two = games.result()["players"]
    assert [one["name"], two["name"]] == [spec, f"{spec}#2"]
    for key in ("win_rate", "mean_score"):
        assert one[key] == two[key]
    # All games of a deal are the same game, with other names at the sides.
    np.testing.assert_array_equal(games.shares, games.shares[:, :1].repeat(len(games.seatings), axis=1))
    assert len(np.unique(games.scores[:, 0], axis=0)) > 1


def test_identical_searches_get_exactly_equal_scores():
    games, entrants = tournament(["search:8,rollout=random"] * 2)
    games.play(entrants, 8)
    np.testing.assert_array_equal(games.shares[:, 0], games.shares[:, 1])


@pytest.mark.parametrize(("players", "sides"), [(2, 2), (3, 2), (2, 3), (3, 3), (2, 4), (3, 4)])
def test_every_player_has_every_side_equally_often(players, sides):
    seatings = all_seatings(players, sides)
    assert len(seatings) == len(set(map(tuple, seatings))) == players**sides - players
    for side in range(sides):
        assert len(set(np.bincount(seatings[:, side], minlength=players))) == 1


# --- One tournament, however it is played ---


def test_compiled_games_and_batches_are_the_same_games(name, options):
    compiled, entrants = tournament(["random", "heuristic"], options, game=name)
    compiled.play(entrants, 8)
    batched, _ = tournament(["random", "heuristic"], options, game=name)
    batched.play([entrants[0], Hidden(entrants[1])], 8, batch=5)
    np.testing.assert_array_equal(compiled.shares, batched.shares)
    np.testing.assert_array_equal(compiled.scores, batched.scores)


def test_a_player_alone_has_one_side_of_every_table():
    pikit = variant("pikit_v0", players=4)
    games = Tournament(pikit, ["random", "heuristic"], against=["random"])
    assert games.seatings.tolist() == [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    games.play(enter(pikit, ["random", "heuristic"])[1], 400)
    random, heuristic = games.result()["players"]
    assert games.games == 400
    assert heuristic["win_rate"] > 0.85  # with copies of itself at the table it could not be
    assert 3 * random["win_rate"] + heuristic["win_rate"] == pytest.approx(1)
    with pytest.raises(ValueError, match="against='nobody'"):
        Tournament(pikit, ["random", "heuristic"], against=["nobody"])


@pytest.mark.parametrize(("sides", "games"), [(2, 10), (4, 24)])
def test_everybody_meets_every_opponent_from_every_side_once(sides, games):
    """Of four players two are opponents, who meet each other too."""
    seatings = seatings_against(4, sides, [0, 1])
    assert len(seatings) == len(np.unique(seatings, axis=0)) == games
    counts = np.stack([(seatings == k).sum(axis=1) for k in range(4)], axis=1)
    assert (counts.max(axis=1) == sides - 1).all()
    assert (counts[:, 2:] <= 1).all()


def test_threads_do_not_change_results():
    one, entrants = tournament(["random", "heuristic"])
    two, _ = tournament(["random", "heuristic"])
    one.play(entrants, 100)
    two.play(entrants, 100, threads=3)
    np.testing.assert_array_equal(one.scores, two.scores)


@pytest.mark.parametrize("hidden", [False, True])
def test_interrupted_and_resumed_equals_uninterrupted(tmp_path, hidden):
    record = tmp_path / "games.npz"

    def play(games, entrants, count, **more):
        games.play([Hidden(one) if hidden and one.name == "heuristic" else one for one in entrants], count, **more)

    whole, entrants = tournament(["random", "heuristic"])
    play(whole, entrants, 60, batch=7)

    broken, entrants = tournament(["random", "heuristic"])

    def stop(games):
        if games.games >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(broken, entrants, 20 if not hidden else 60, batch=7, progress=stop, save=record)
    resumed, entrants = tournament(["random", "heuristic"])
    resumed.load(record)
    assert resumed.games >= 20
    before, finished = resumed.scores.copy(), resumed.done.copy()
    play(resumed, entrants, 60, batch=11)
    np.testing.assert_array_equal(resumed.scores[: len(before)][finished], before[finished])
    np.testing.assert_array_equal(resumed.shares, whole.shares)
    assert resumed.result() == whole.result()


def test_listed_games_are_played_and_no_others():
    games, entrants = tournament(["random", "heuristic"])
    games.play_listed(entrants, np.zeros((0, 2), np.int64))
    assert games.games == 0
    games.play_listed(entrants, np.array([[2, 1], [0, 0]]))
    assert np.argwhere(games.done).tolist() == [[0, 0], [2, 1]]


def test_games_of_another_tournament_are_refused(tmp_path):
    games, entrants = tournament(["random", "heuristic"])
    games.play(entrants, 4, save=tmp_path / "games.npz")
    other, _ = tournament(["random", "heuristic"], seed=1)
    with pytest.raises(ValueError, match="seed"):
        other.load(tmp_path / "games.npz")


def test_illegal_actions_stop_a_tournament():
    cheat = Hidden(policies.from_function(lambda observations, masks: masks.argmax(axis=1), "cheat"))
    cheat.act = lambda decisions: decisions.action_masks.argmin(axis=1)
    games, (random, _) = tournament(["random", "heuristic"])
    with pytest.raises(IllegalActionError, match="cheat"):
        games.play([random, cheat], 4)


def test_players_made_for_another_table_stop_a_tournament():
    stranger = policies.make("search:5,rollout=random", "pikit_v0", players=4)
    games, (random, _) = tournament(["random", "heuristic"], {"players": 2}, game="pikit_v0")
    with pytest.raises(ValueError, match="made for pikit_v0 with players=4 and cannot play pikit_v0 with players=2"):
        games.play([random, stranger], 4)


# --- Statistics ---


def test_scores_of_known_results():
    games, _ = tournament(["random", "heuristic"])
    games._make_room(4)
    games.done[:] = True
    # Player 1 has side 1, then side 0. It wins both games of deals 0 … 2; in deal 3 the cards decide.
    games.shares[:3] = [[0, 1], [1, 0]]
    games.shares[3] = [[0, 1], [0, 1]]
    games.scores[:] = games.shares * 4
    random, heuristic = games.result()["players"]
    assert (random["win_rate"], heuristic["win_rate"]) == (1 / 8, 7 / 8)
    assert heuristic["mean_score"] == 3.5
    low, high = heuristic["mean_score_interval"]  # deals of 4, 4, 4 and 2 points a game: a deviation of 1, over 2
    assert (high + low) / 2 == pytest.approx(3.5)
    assert (high - low) / 2 == pytest.approx(3.182 / 2, rel=0.04)  # Student's quantile for four


def test_who_never_lost_is_rated_at_least(tmp_path, capsys):
    games, _ = tournament(["random", "heuristic"])
    games._make_room(100)
    games.done[:] = True
    games.shares[:] = [[0, 1], [1, 0]]
    result = games.result()
    low, high = result["players"][1]["rating_interval"]
    assert low > 300
    assert high is None
    assert f" at least {low:+.0f} " in as_text(result)
    needs("matplotlib")
    plot(result, tmp_path / "plot.png")


def test_stronger_players_are_ranked_first():
    result = arena(GAME, ["random", "heuristic"], 2000, **ROUND)
    random, heuristic = result["players"]
    assert result["games"] == 2000
    assert heuristic["win_rate_interval"][0] > 0.85
    assert heuristic["rating_interval"][0] > 300
    assert random["rating"] == 0
    assert result["pairs"][0]["win_rate"] == random["win_rate"]


def test_stops_at_the_wanted_precision():
    games, entrants = tournament(["random", "heuristic"])
    games.play(entrants, 100_000, until_interval=0.02)
    assert games.games < 20_000
    low, high = games.result()["players"][1]["win_rate_interval"]
    assert high - low <= 0.04


# --- Command line ---


def test_arena_on_the_command_line_writes_and_resumes(tmp_path, capsys):
    call = ["arena", "--game", GAME, "--players", "4", "--option", "episode=round", "--policies", "random",
            "heuristic", "--seed", "3", "--quiet", "--output", str(tmp_path / "ladder")]  # fmt: skip
    assert main([*call, "--games", "40"]) == 0
    first = json.loads((tmp_path / "ladder.json").read_text())
    assert first["games"] == 40
    assert first["options"]["episode"] == "round"
    assert main([*call, "--games", "80"]) == 0
    shown = capsys.readouterr()
    assert "40 finished games taken over" in shown.err
    assert "heuristic" in shown.out
    assert json.loads((tmp_path / "ladder.json").read_text())["games"] == 80


def test_the_result_is_drawn(tmp_path):
    needs("matplotlib")
    assert main([*DRAWN, str(tmp_path / "ladder")]) == 0
    assert (tmp_path / "ladder.png").stat().st_size > 1000


def test_without_matplotlib_there_is_a_result_without_a_picture(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main([*DRAWN, str(tmp_path / "ladder")]) == 0
    assert capsys.readouterr().err.strip() == f"no picture: {how_to_get('matplotlib')}"
    assert (tmp_path / "ladder.json").exists()
    assert not (tmp_path / "ladder.png").exists()


def test_the_command_line_explains_mistakes(capsys):
    assert main(["arena", "--game", "chess", "--policies", "random", "heuristic"]) == 2
    assert "there is no game 'chess'" in capsys.readouterr().err
    assert main(["arena", "--game", GAME, "--option", "x", "--policies", "random", "heuristic"]) == 2
    assert "KEY=VALUE" in capsys.readouterr().err


def test_players_of_another_table_are_refused():
    pikit, others = variant("pikit_v0", players=2), variant("pikit_v0", players=4)
    _, policies = enter(others, ["random", "heuristic"])
    with pytest.raises(ValueError, match=r"heuristic was made for pikit_v0 with players=4.*players=2"):
        Tournament(pikit, ["random", "heuristic"]).play(policies[1:] * 2, 2)
