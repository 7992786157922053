"""Statistics of a tournament: win rates, mean scores and ratings with 95 % intervals.

The unit is the deal: its games share their luck, so only deals are independent and all errors are clustered by deal.
Arrays: D deals, S seatings (which player has which of the n sides), K players.
"""

import numpy as np

NORMAL_95 = 1.959964
ELO = 400 / np.log(10)


def mean_with_interval(sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means per side and half-widths of their intervals, both (K,); `sums` and `counts` are (D, K).

    A ratio of sums over deals. Half a unit of variance is added (as if the next deal surprised), so that a few
    equal results do not look certain.
    """
    total = counts.sum(axis=0)
    means = np.divide(sums.sum(axis=0), total, out=np.full(total.shape, np.nan), where=total > 0)
    played = (counts > 0).sum(axis=0)
    a_deal = np.divide(total, played, out=np.ones(total.shape), where=played > 0)
    residuals = (sums - means * counts) / a_deal
    spread = np.sqrt(np.nansum(residuals**2, axis=0) + 0.5)
    free = np.sqrt(np.maximum(played * (played - 1.0), 1e-9))
    half = np.where(played > 1, NORMAL_95 * spread / free, np.inf)
    return means, half


def fit_ratings(
    seatings: np.ndarray, shares: np.ndarray, done: np.ndarray, players: int
) -> tuple[np.ndarray, np.ndarray]:
    """Strengths (K,) with mean 0 and their covariance (K, K), in natural units (times `ELO` for Elo points).

    The model is Bradley and Terry's for two sides and Luce's for more: a side wins with a chance in proportion to
    exp(strength). Fitted by Newton's method with one drawn game added to every seating, which keeps the strength of a
    player that always wins finite; the covariance is the sandwich estimate clustered by deal.

    Args:
        seatings: (S, n) the player of every side.
        shares: (D, S, n) every side's share of the win.
        done: (D, S) whether the game was played.
        players: K.
    """
    member = membership(seatings, players)
    won = np.einsum("dsn,snk->sk", shares * done[:, :, None], member) + member.mean(axis=1)  # and the drawn game
    games = done.sum(axis=0) + 1.0
    strengths = np.zeros(players)
    for _ in range(100):
        expected, information = _expectations(strengths, member)
        gradient = (won - games[:, None] * expected).sum(axis=0)
        move = np.linalg.pinv(np.tensordot(games, information, axes=1)) @ gradient
        strengths = strengths + np.clip(move, -2, 2)
        strengths -= strengths.mean()
        if np.abs(move).max() < 1e-10:
            break
    expected, information = _expectations(strengths, member)
    bread = np.linalg.pinv(np.tensordot(games, information, axes=1))
    scores = np.einsum("dsn,snk->dk", shares * done[:, :, None], member) - done @ expected
    deals = max(len(scores), 2)
    meat = scores.T @ scores * deals / (deals - 1) + information.sum(axis=0)
    return strengths, bread @ meat @ bread


def membership(seatings: np.ndarray, players: int) -> np.ndarray:
    """(S, n, K): 1 where a side is played by a player."""
    member = np.zeros((*seatings.shape, players))
    np.put_along_axis(member, seatings[:, :, None], 1.0, axis=2)
    return member


def _expectations(strengths: np.ndarray, member: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Expected wins (S, K) in a game of every seating, and the game's information (S, K, K)."""
    logits = member @ strengths
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    expected = np.einsum("sn,snk->sk", chances, member)
    information = np.einsum("sn,snk,snj->skj", chances, member, member) - np.einsum("sk,sj->skj", expected, expected)
    return expected, information


def elo(strengths: np.ndarray, covariance: np.ndarray, anchor: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Ratings (K,) and half-widths of their intervals, relative to the anchor or, without one, to the mean."""
    count = len(strengths)
    shift = np.eye(count)
    if anchor is not None:
        shift[:, anchor] -= 1.0
    else:
        shift -= 1.0 / count
    spread = np.sqrt(np.maximum(np.diag(shift @ covariance @ shift.T), 0))
    return ELO * shift @ strengths, ELO * NORMAL_95 * spread
