"""Statistics of tournaments: closed forms, and intervals that hold the truth as often as they promise."""

import numpy as np
import pytest
from monsterzoo.training.evaluation.ratings import ELO, means, membership, quantile_95, ratings, win_rates
from monsterzoo.training.evaluation.tournament import all_seatings

TWO = np.array([[0, 1], [1, 0]])


def rated(shares, seatings=TWO, players=2, anchor=0):
    shares = np.asarray(shares, float)
    return ratings(seatings, shares, np.ones(shares.shape[:2], np.bool_), players, anchor)


def two_sides(deals, lost):
    """Player 1 loses one game in each of the first deals, and wins all others."""
    shares = np.tile(TWO.astype(float), (deals, 1, 1))
    shares[:lost, 0] = [1, 0]
    return shares


# --- Closed forms ---


@pytest.mark.parametrize(("deals", "lost"), [(10_000, 30), (500, 0), (50, 0), (40, 20), (1_000_000, 1), (3, 3)])
def test_two_players_have_the_log_odds_of_their_wins(deals, lost):
    found, _ = rated(two_sides(deals, lost))
    assert found[0] == 0
    assert found[1] == pytest.approx(ELO * np.log((2 * deals - lost + 0.5) / (lost + 0.5)), abs=1e-3)


@pytest.mark.parametrize("sides", [3, 4])
def test_a_player_alone_has_the_log_odds_of_luces_model(sides):
    seatings = np.eye(sides, dtype=int)
    won = 170 * sides
    shares = np.zeros((200, sides, sides))
    shares[:170] = seatings
    shares[170:] = 1 - seatings
    shares /= shares.sum(axis=2, keepdims=True)
    found, _ = rated(shares, seatings)
    chance = (won + 1 / sides) / (200 * sides + 1)
    assert found[1] == pytest.approx(ELO * np.log(chance * (sides - 1) / (1 - chance)), abs=1e-3)


@pytest.mark.parametrize("games", [100, 3000])
def test_at_a_table_of_four_the_number_of_games_does_not_move_ratings(games):
    """One drawn game in all: added to every seating, it pulled ratings down, the more the fewer games there were."""
    seatings = all_seatings(3, 4)
    strengths = np.array([0.0, 5.0, 6.0])
    chances = np.exp(strengths[seatings])
    chances /= chances.sum(axis=1, keepdims=True)
    found, _ = rated(np.tile(chances, (games, 1, 1)), seatings, 3)  # every share is as large as it should be
    assert found == pytest.approx(ELO * strengths, abs=15 if games == 100 else 1)


def test_deals_that_repeat_each_other_are_one_deal_each():
    """A deal's games decide alike: twice as many of them tell no more."""
    luck = np.random.default_rng(0).random(300) < 0.7
    once = np.stack([luck, ~luck], axis=1)[:, None].astype(float)
    _, ((low, high),) = win_rates(once[:, 0, :1], np.ones((300, 1)))
    _, (twice,) = win_rates(2 * once[:, 0, :1], np.full((300, 1), 2.0))
    assert twice == pytest.approx([low, high], abs=5e-4)


def test_a_win_rate_of_all_games_has_an_interval_of_some_width_and_no_end_beyond_1():
    _, ((low, high),) = win_rates(np.full((30, 1), 2.0), np.full((30, 1), 2.0))
    assert high == 1
    assert low == pytest.approx(1 - 3.84 / (60 + 3.84), abs=0.01)  # Wilson's for 60 of 60


def test_at_a_table_of_four_intervals_are_no_wider_than_independent_games_make_them():
    draws = np.random.default_rng(1)
    won = (draws.random((13, 104)) < 0.5).sum(axis=1, keepdims=True).astype(float)  # 13 deals, 78 games each
    _, ((low, high),) = win_rates(won, np.full((13, 1), 104.0))
    assert high - low < 1.5 * 2 * quantile_95(13) * np.sqrt(0.25 / (13 * 104))


def test_one_deal_says_nothing():
    _, ((low, high),) = win_rates(np.array([[3.0]]), np.array([[4.0]]))
    assert (low, high) == (0, 1)
    _, ((low, high),) = means(np.array([[3.0]]), np.array([[4.0]]))
    assert (low, high) == (-np.inf, np.inf)


@pytest.mark.parametrize(("deals", "exact"), [(4, 3.182), (11, 2.228), (31, 2.042), (10**6, 1.960)])
def test_quantiles_are_students(deals, exact):
    assert quantile_95(deals) == pytest.approx(exact, rel=0.04)


# --- Ends that are not bounded ---


def test_who_never_lost_is_rated_at_least():
    _, intervals = rated(two_sides(500, 0))
    assert intervals[0].tolist() == [0, 0]
    low, high = intervals[1]
    assert high == np.inf
    assert low < ELO * np.log(1000 / 3.0)  # of 1,000 games none was lost: the chance is below 3 in 1,000 (one-sided)
    assert low > ELO * np.log(1000 / 10.0)


def test_who_lost_to_one_that_lost_is_bounded_by_way_of_it():
    seatings = all_seatings(3, 2)
    shares = np.zeros((20, len(seatings), 2))
    wins = {(0, 1): [8, 12], (0, 2): [0, 20], (1, 2): [3, 17]}  # of 20 games on either side
    for s, (one, other) in enumerate(seatings):
        first = wins[min(one, other), max(one, other)][0 if one < other else 1]
        shares[:first, s, 0] = 1
        shares[first:, s, 1] = 1
    _, intervals = rated(shares, seatings, 3)
    assert np.isfinite(intervals).all()
    shares[:, (seatings == 2).any(axis=1)] = (seatings == 2)[(seatings == 2).any(axis=1)]
    _, intervals = rated(shares, seatings, 3)
    assert np.isinf(intervals).tolist() == [[False, False], [False, False], [False, True]]
    _, intervals = rated(shares, seatings, 3, anchor=None)
    assert np.isinf(intervals).tolist() == [[True, False], [True, False], [False, True]]


# --- Coverage ---


def simulated(strengths, sides, deals, luck, draws):
    """Shares of a tournament in which a side wins in proportion to exp(strength), and the chances.

    With `luck`, games of a deal share their random number now and then, as games with the same cards do.
    """
    seatings = all_seatings(len(strengths), sides)
    chances = np.exp(strengths[seatings])
    chances /= chances.sum(axis=1, keepdims=True)
    number = draws.random((deals, len(seatings), 1))
    shared = draws.random((deals, len(seatings), 1)) < luck
    number = np.where(shared, draws.random((deals, 1, 1)), number)
    winner = (number > chances.cumsum(axis=1)).sum(axis=2)
    return seatings, np.eye(sides)[winner], chances


@pytest.mark.parametrize(
    ("strengths", "sides", "deals", "luck"),
    [
        ([0.0, 0.3], 2, 60, 0.0),
        ([0.0, 0.3], 2, 60, 0.5),
        ([0.0, 5.0], 2, 400, 0.0),
        ([0.0, 1.0, 5.0], 2, 150, 0.3),
        ([0.0, 0.3], 4, 40, 0.0),
        ([0.0, 4.0], 4, 60, 0.3),
    ],
)
def test_intervals_hold_the_truth_95_times_of_100(strengths, sides, deals, luck):
    draws, strengths, held = np.random.default_rng(2), np.array(strengths), []
    for _ in range(1500 if sides == 2 else 800):
        seatings, shares, chances = simulated(strengths, sides, deals, luck, draws)
        member = membership(seatings, len(strengths))
        a_deal = member.sum(axis=(0, 1))
        true_rates = np.einsum("sn,snk->k", chances, member) / a_deal
        sums = np.einsum("dsn,snk->dk", shares, member)
        _, of_rates = win_rates(sums, np.tile(a_deal, (deals, 1)))
        _, of_ratings = rated(shares, seatings, len(strengths))
        for truth, (low, high) in ((true_rates, of_rates.T), (ELO * (strengths - strengths[0]), of_ratings.T)):
            held.append((low <= truth) & (truth <= high))
    rates, elo = np.mean(held[::2]), np.mean(held[1::2], axis=0)[1:].mean()
    assert 0.93 <= rates <= 0.97
    assert 0.93 <= elo <= 0.97


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_single_win_or_shared_one_bounds_a_rating(share):
    shares = two_sides(20, 0)
    shares[3, 0] = [share, 1 - share]
    _, intervals = rated(shares)
    assert np.isfinite(intervals).all()


def test_who_beat_nobody_has_no_lower_bound_and_chains_of_any_length_count():
    """Of five players each beats the next one, and the last beats the first."""
    seatings = np.array([[k, (k + 1) % 5] for k in range(5)])
    shares = np.tile([1.0, 0.0], (4, 5, 1))
    _, intervals = rated(shares, seatings, 5)
    assert np.isfinite(intervals).all()
    shares[:, 4] = 1 / 2  # the last one only draws
    assert np.isfinite(rated(shares, seatings, 5)[1]).all()
    shares[:, 4] = [0, 1]  # now the first beats it too: nobody below has beaten anybody above
    _, intervals = rated(shares, seatings, 5)
    assert np.isinf(intervals[1:]).tolist() == [[True, False]] * 4


# --- Numbers worked out by hand ---


@pytest.mark.parametrize(("deals", "expanded"), [(0, 7.1547), (2, 7.1547), (3, 3.8517), (5, 2.7294), (31, 2.0422)])
def test_quantiles_have_two_terms_of_the_expansion(deals, expanded):
    """With z = 1.96 and f deals but one: z + (z³ + z) / 4f + (5z⁵ + 16z³ + 3z) / 96f²; f is 1 at the least."""
    assert quantile_95(deals) == pytest.approx(expanded, abs=1e-4)


def test_a_win_rate_of_four_deals_by_hand():
    """Six of eight won: the variance is 4/3 · 1, so 8 · (1.5 + 0.5) / (4/3 + 0.5) = 8.727 games count; t is 3.0643."""
    (rate,), ((low, high),) = win_rates(np.array([[1.0], [2], [1], [2], [0]]), np.array([[2.0], [2], [2], [2], [0]]))
    assert rate == 0.75
    pull = 3.06433**2 / (8 * 2 / (4 / 3 + 0.5))
    middle, half = (0.75 + pull / 2) / (1 + pull), np.sqrt(pull * 0.1875 + pull**2 / 4) / (1 + pull)
    assert (low, high) == pytest.approx((middle - half, middle + half), abs=1e-5)


def test_a_mean_of_deals_with_unequal_counts_by_hand():
    """8 by 4 in three deals: 2, and residuals of -1, 0 and 1; half an interval is t √(2 · 3/2) / 4."""
    (mean,), ((low, high),) = means(np.array([[1.0], [4], [3], [0]]), np.array([[1.0], [2], [1], [0]]))
    assert mean == 2
    assert (low, high) == pytest.approx((2 - 3.8517 * np.sqrt(3) / 4, 2 + 3.8517 * np.sqrt(3) / 4), abs=1e-4)


def test_nobody_played_is_no_mean():
    rates, ((low, high),) = win_rates(np.zeros((3, 1)), np.zeros((3, 1)))
    assert np.isnan(rates[0])
    assert (low, high) == (0, 1)


def test_the_interval_of_a_rating_by_hand():
    """Two players, 40 deals: residuals clustered by deal, and a drawn game that either may have won."""
    deals, lost = 40, 10
    (_, found), (own, (low, high)) = rated(two_sides(deals, lost))
    chance = (2 * deals - lost + 0.5) / (2 * deals + 1)
    residuals = (lost * (1 - 2 * chance) ** 2 + (deals - lost) * (2 - 2 * chance) ** 2) * deals / (deals - 1)
    drawn = (chance**2 + (1 - chance) ** 2) / 2
    error = np.sqrt(residuals + drawn) / ((2 * deals + 1) * chance * (1 - chance))
    assert own.tolist() == [0, 0]
    assert (low, high) == pytest.approx([found + sign * ELO * quantile_95(deals) * error for sign in (-1, 1)], abs=1e-4)


def test_games_that_were_not_played_count_for_nothing():
    shares, done = two_sides(30, 9), np.ones((30, 2), np.bool_)
    shares[20:], done[20:] = 99, False
    done[19, 1] = False
    found, intervals = ratings(TWO, shares, done, 2, None)
    shares[19, 1] = -7
    again, same = ratings(TWO, shares[:20], done[:20], 2, None)
    np.testing.assert_allclose(found, again)
    np.testing.assert_allclose(intervals, same)
    assert found.sum() == pytest.approx(0)


def test_ratings_that_do_not_converge_are_told(monkeypatch):
    monkeypatch.setattr(np.linalg, "pinv", lambda matrix, **_: np.eye(len(matrix)))
    with pytest.warns(RuntimeWarning, match="did not converge"):
        rated(two_sides(1000, 1))


def test_a_single_game_has_a_mean_and_rate():
    one = np.ones((1, 1))
    assert means(3 * one, one)[0] == win_rates(one, one)[0] * 3 == 3


def test_ends_without_bounds_are_infinite_in_their_direction():
    _, intervals = rated(two_sides(500, 0), anchor=None)
    assert (intervals[0, 0], intervals[1, 1]) == (-np.inf, np.inf)
    assert np.isfinite(intervals[0, 1])
    assert np.isfinite(intervals[1, 0])
    assert intervals[0, 1] == pytest.approx(-intervals[1, 0])


def test_players_that_always_sit_in_the_same_places_are_rated_by_their_wins():
    shares = np.tile([1.0, 0.0], (40, 1, 1))
    shares[:10] = [[0.0, 1.0]]
    found, _ = rated(shares, np.array([[0, 1]]), anchor=1)
    assert found == pytest.approx([ELO * np.log(30.5 / 10.5), 0], abs=1e-3)
