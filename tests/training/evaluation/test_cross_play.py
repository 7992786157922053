"""Cross-play: who plays which seat, and matrices with known answers."""

import json

import numpy as np
import pytest
from monsterzoo.cli import main
from monsterzoo.envs import variant
from monsterzoo.training.evaluation.cross_play import cross_play, cross_play_result
from monsterzoo.training.evaluation.tournament import play_listed
from needs import needs

YOKAI = variant("yokai_septet_v0", players=4, episode="round")


def seated(tournament, seating):
    """The policy of every seat."""
    seats = np.arange(4)
    return tournament.lineups[tournament.seatings[seating][seats % 2], seats // 2].tolist()


def filled(names, wins, deals=200, seed=0):
    """A tournament whose results are drawn: partners a and b win with the chance `wins(a, b)`."""
    draws, tournament = np.random.default_rng(seed), cross_play(YOKAI, names, "heuristic")
    tournament._make_room(deals)
    tournament.done[:] = True
    for seating, sides in enumerate(tournament.seatings):
        team = int(np.flatnonzero(sides != len(names) ** 2)[0])
        won = draws.random(deals) < wins(*tournament.lineups[sides[team]])
        tournament.shares[:, seating, team] = won
        tournament.shares[:, seating, 1 - team] = ~won
    return cross_play_result(tournament, names)


def test_every_pair_has_both_sides_in_both_orders_against_the_opponents():
    tournament = cross_play(YOKAI, ["a", "b"], "c")
    found = sorted(seated(tournament, s) for s in range(len(tournament.seatings)))
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert found == sorted([[a, 2, b, 2] for a, b in pairs] + [[2, a, 2, b] for a, b in pairs])


def test_the_policies_sit_where_the_lineups_say(monkeypatch):
    seatings = []

    def listed(variant, players, seating, *more, **options):
        seatings.append(seating)
        return play_listed(variant, players, seating, *more, **options)

    monkeypatch.setattr("monsterzoo.training.evaluation.tournament.play_listed", listed)
    tournament = cross_play(YOKAI, ["a", "b"], "c")
    tournament.play([make_random()] * 3, 8)
    assert seatings[0].tolist() == [seated(tournament, s) for s in range(8)]


def make_random():
    from monsterzoo.policies import make

    return make("random", "yokai_septet_v0", players=4, episode="round")


def test_equal_players_win_half_of_the_games_with_every_partner_and_have_no_gap():
    tournament = cross_play(YOKAI, ["a", "b"], "c")
    tournament.play([make_random()] * 3, 400)
    result = cross_play_result(tournament, ["a", "b"])
    assert result["matrix"] == [[0.5, 0.5], [0.5, 0.5]]  # exactly: the same games on both sides
    assert result["scores"][0]["gap"] == 0
    assert result["deals"] == 50


def test_a_convention_is_worth_its_gap():
    """Partners of one school win four games of five, others half of them."""
    result = filled(["a", "b", "c"], lambda one, other: 0.8 if one == other else 0.5)
    every, *players = result["scores"]
    for score in (every, *players):
        for key, truth in (("self_play", 0.8), ("cross_play", 0.5), ("gap", 0.3)):
            low, high = score[f"{key}_interval"]
            assert low - 0.03 < truth < high + 0.03
            assert low < score[key] < high
    assert np.allclose(result["matrix"], np.transpose(result["matrix"]))
    assert every["gap_interval"][0] > 0.2


def test_intervals_of_the_gap_hold_the_truth():
    held = 0
    for seed in range(100):
        gap = filled(["a", "b"], lambda one, other: 0.8 if one == other else 0.5, 50, seed)["scores"][0]
        low, high = gap["gap_interval"]
        held += low <= 0.3 <= high
    assert held >= 89


def test_a_game_without_partners_is_refused(capsys):
    with pytest.raises(ValueError, match="sides of two partners"):
        cross_play(variant("pikit_v0", players=4), ["a", "b"], "c")
    words = ["arena", "pikit_v0", "--policies", "random", "heuristic", "--cross-play"]
    assert main(words) == 2
    assert "sides of two partners" in capsys.readouterr().err


def test_cross_play_on_the_command_line(tmp_path, capsys):
    words = ["arena", "yokai_septet_v0", "--option", "episode=round", "--policies", "random", "heuristic", "--quiet"]
    assert main([*words, "--cross-play", "--games", "160", "--output", str(tmp_path / "partners")]) == 0
    result = json.loads((tmp_path / "partners.json").read_text())
    assert (result["players"], result["opponents"], result["games"]) == (["random", "heuristic"], "heuristic", 160)
    assert result["matrix"][1][1] == 0.5
    assert result["matrix"][0][0] < result["matrix"][0][1] < 0.5
    shown = capsys.readouterr().out
    assert "against heuristic" in shown
    assert "self-play" in shown
    needs("matplotlib")
    assert (tmp_path / "partners.png").stat().st_size > 1000


def test_the_protocol_writes_one_table_twice_and_one_result(tmp_path, capsys):
    words = ["arena", "pikit_v0", "--players", "2", "--policies", "heuristic", "--protocol", "standard", "--quiet"]
    assert main([*words, "--games", "60", "--output", str(tmp_path / "p")]) == 0
    result = json.loads((tmp_path / "p.json").read_text())
    assert (result["protocol"], result["purpose"]) == ("standard", "publishing")
    assert result["against"] == ["random", "heuristic", "pretrained"]
    text, tex = (tmp_path / "p.md").read_text(), (tmp_path / "p.tex").read_text()
    assert text in capsys.readouterr().out
    assert "| player | against random | against heuristic | against pretrained | rating |" in text
    assert r"pikit\_v0" not in tex.split("\\begin")[1]
    assert tex.count(r"\\") == 4  # the head and three players
    assert "10 deals for publishing, seed 0" in text
    assert main([*words, "--cross-play"]) == 2
    assert "--protocol says whom to play" in capsys.readouterr().err
