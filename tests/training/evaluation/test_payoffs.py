"""Nash averages and cycles of known games."""

import numpy as np
import pytest
from monsterzoo.training.evaluation.payoffs import max_entropy_nash, payoffs

ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
NAMES = ["rock", "paper", "scissors"]


def pairs_of(matrix, names, half=0.02):
    return [
        {
            "player": names[i],
            "against": names[j],
            "win_rate": 0.5 + matrix[i, j],
            "interval": [0.5 + matrix[i, j] - half, 0.5 + matrix[i, j] + half],
        }
        for i in range(len(names))
        for j in range(len(names))
        if i != j
    ]


def test_rock_paper_and_scissors_are_worth_the_same_and_beat_each_other_in_a_circle():
    found = payoffs(NAMES, pairs_of(0.3 * ROCK_PAPER_SCISSORS, NAMES))
    assert found["nash"] == pytest.approx([1 / 3] * 3)
    assert found["nash_averages"] == pytest.approx([0] * 3, abs=1e-9)
    assert found["cycles"] == [["rock", "scissors", "paper"]]
    assert payoffs(NAMES, pairs_of(0.01 * ROCK_PAPER_SCISSORS, NAMES))["cycles"] == [], "within the intervals"


def test_a_copy_changes_nobodys_average():
    twice = 0.4 * ROCK_PAPER_SCISSORS[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]
    assert max_entropy_nash(twice) == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-4)


def test_who_beats_everybody_is_the_equilibrium():
    matrix = np.array([[0, 0.3, 0.2], [-0.3, 0, 0.1], [-0.2, -0.1, 0]])
    found = payoffs(NAMES, pairs_of(matrix, NAMES))
    assert found["nash"] == pytest.approx([1, 0, 0])
    assert found["nash_averages"] == pytest.approx([0, -0.3, -0.2])
    assert found["cycles"] == []


def test_an_equilibrium_of_unequal_shares():
    """Each share is the payoff between the other two."""
    matrix = np.array([[0, 0.5, -0.1], [-0.5, 0, 0.2], [0.1, -0.2, 0]])
    assert max_entropy_nash(matrix) == pytest.approx(np.array([0.2, 0.1, 0.5]) / 0.8, abs=1e-4)


def test_no_mixture_is_exploited():
    draws = np.random.default_rng(0)
    for size in (2, 4, 7):
        for scale in (0.003, 0.05, 0.5):
            matrix = draws.uniform(-scale, scale, (size, size))
            matrix = (matrix - matrix.T) / 2
            assert (matrix @ max_entropy_nash(matrix)).max() < 1e-4


def test_players_that_never_met_have_no_averages():
    assert payoffs(NAMES, pairs_of(ROCK_PAPER_SCISSORS, NAMES)[:-1]) is None
