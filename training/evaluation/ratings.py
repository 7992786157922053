"""Statistics of a tournament: win rates, mean scores and ratings with 95 % intervals.

The unit is the deal: its games share their luck, so only deals are independent. All variances are clustered by deal,
and quantiles are Student's for the number of deals. Arrays: D deals, S seatings (which player has which of the n
sides), K players. Intervals have the shape (K, 2); an end that the games do not bound is infinite.
"""

import warnings

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]
NORMAL_95 = 1.959964
ELO = 400 / np.log(10)
HALF_A_GAME = 0.5  # variance added to what was seen, so that a few equal results do not look certain


def quantile_95(deals: np.ndarray | int) -> np.ndarray:
    """Student's quantile of a two-sided 95 % interval from so many independent deals (Cornish and Fisher)."""
    free = np.maximum(np.asarray(deals) - 1.0, 1.0)
    z = NORMAL_95
    return z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)


def _clustered(sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ratio estimator from sums and counts by deal (D, K): counts, means, variances of the sums, deals, all (K,)."""
    total, deals = counts.sum(axis=0), (counts > 0).sum(axis=0)
    means = np.divide(sums.sum(axis=0), total, out=np.full(total.shape, np.nan), where=total > 0)
    squares = np.nansum((sums - means * counts) ** 2, axis=0)
    return total, means, squares * deals / np.maximum(deals - 1, 1), deals


def win_rates(sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Win rates (K,) and their Wilson score intervals (K, 2), from wins and sides played by deal, (D, K) each.

    The number of games in Wilson's formula is the effective one: that which independent wins and losses would need for
    the variance between deals (Kish's design effect).
    """
    total, rates, variance, deals = _clustered(sums, counts)
    binomial = total * rates * (1 - rates)
    games = np.maximum(total, 1) * (binomial + HALF_A_GAME) / (variance + HALF_A_GAME)
    pull = quantile_95(deals) ** 2 / games
    middle = (rates + pull / 2) / (1 + pull)
    half = np.sqrt(pull * rates * (1 - rates) + pull**2 / 4) / (1 + pull)
    known = deals > 1
    return rates, np.stack([np.where(known, middle - half, 0), np.where(known, middle + half, 1)], axis=-1).clip(0, 1)


def means(sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means per count (K,) and their clustered t intervals (K, 2); sums and counts are (D, K)."""
    total, found, variance, deals = _clustered(sums, counts)
    half = np.where(deals > 1, quantile_95(deals) * np.sqrt(variance) / np.maximum(total, 1), np.inf)
    return found, np.stack([found - half, found + half], axis=-1)


def ratings(seatings: np.ndarray, shares: np.ndarray, done: np.ndarray, players: int, anchor: int | None) -> Pair:
    """Elo ratings (K,) and their intervals (K, 2), relative to the anchor or, without one, to the mean.

    Where a player never lost to the anchor, not even by way of others, the rating has no upper bound, and where it
    never won no lower one: these ends are infinite.

    Args:
        seatings: (S, n) the player of every side.
        shares: (D, S, n) every side's share of the win.
        done: (D, S) whether the game was played.
        players: K.
        anchor: the player whose rating is 0, or None.
    """
    strengths, covariance = fit_strengths(seatings, shares, done, players)
    origin = np.full(players, 1 / players) if anchor is None else np.eye(players)[anchor]
    shift = np.eye(players) - origin
    spread = np.sqrt(np.maximum(np.diag(shift @ covariance @ shift.T), 0))
    half = quantile_95(done.any(axis=1).sum()) * spread
    beats = _reachable(seatings, shares * done[:, :, None], players)
    others = slice(None) if anchor is None else [anchor]
    low = np.where(beats[:, others].all(axis=1), shift @ strengths - half, -np.inf)
    high = np.where(beats[others].all(axis=0), shift @ strengths + half, np.inf)
    return ELO * shift @ strengths, ELO * np.stack([low, high], axis=-1)


def fit_strengths(seatings: np.ndarray, shares: np.ndarray, done: np.ndarray, players: int) -> Pair:
    """Strengths (K,) with mean 0 and their covariance (K, K), in natural units (times `ELO` for Elo points).

    The model is Bradley and Terry's for two sides and Luce's for more: a side wins with a chance in proportion to
    exp(strength). Maximum likelihood by Newton's method, with one drawn game added, spread evenly over the seatings,
    which keeps the strength of a player that always wins finite (for two sides the correction of Haldane and
    Anscombe). The covariance is the sandwich estimate clustered by deal; in it the drawn game counts as one that every
    side wins with equal chance. Arguments are those of `ratings`.
    """
    member = membership(seatings, players)
    seen = np.einsum("dsn,snk->dk", shares * done[:, :, None], member)
    won = seen.sum(axis=0) + member.mean(axis=(0, 1))
    games = done.sum(axis=0) + 1 / len(seatings)
    strengths = np.zeros(players)
    for _ in range(200):
        expected, information = _expectations(strengths, member)
        bread = np.linalg.pinv(np.tensordot(games, information, axes=1), rcond=1e-9, hermitian=True)
        move = bread @ (won - games @ expected)
        strengths = strengths + move * min(1, 1 / max(np.abs(move).max(), 1e-300))  # far from the end, a step at most
        if np.abs(move).max() < 1e-7:
            break
    else:
        warnings.warn("the ratings did not converge: do not trust them", RuntimeWarning, stacklevel=2)
    residuals = seen - done @ expected
    deals = max(int(done.any(axis=1).sum()), 2)
    surprise = member - expected[:, None]  # of the drawn game, by the side that wins it
    drawn = np.einsum("snk,snj->kj", surprise, surprise) / surprise[..., 0].size
    return strengths - strengths.mean(), bread @ (residuals.T @ residuals * deals / (deals - 1) + drawn) @ bread


def membership(seatings: np.ndarray, players: int) -> np.ndarray:
    """(S, n, K): 1 where a side is played by a player."""
    return np.eye(players)[seatings]


def _expectations(strengths: np.ndarray, member: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Expected wins (S, K) in a game of every seating, and the game's information (S, K, K)."""
    logits = member @ strengths
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    expected = np.einsum("sn,snk->sk", chances, member)
    information = np.einsum("sn,snk,snj->skj", chances, member, member) - np.einsum("sk,sj->skj", expected, expected)
    return expected, information


def _reachable(seatings: np.ndarray, shares: np.ndarray, players: int) -> np.ndarray:
    """(K, K): whether the row won at a table with the column, or with one who did, and so on."""
    member = membership(seatings, players)
    won = np.einsum("dsn,snk->sk", shares, member) > 0
    beats = (won.T.astype(float) @ member.any(axis=1) > 0) | np.eye(players, dtype=np.bool_)
    for _ in range(players.bit_length()):
        beats = beats.astype(float) @ beats > 0
    return beats
