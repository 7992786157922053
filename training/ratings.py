"""Statistics of a tournament: win rates, mean scores and ratings with 95 % intervals.

The unit is the deal: its games share their luck, so only deals are independent and all errors are clustered by deal.
Arrays: D deals, K players; `won` (D, K) a player's shares of the wins in all games of a deal, `seats` (D, K) how many
sides it played in them (every game has one winner's share to give, so a row of `won` adds up to the number of games).
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


def fit_ratings(lineups: np.ndarray, won: np.ndarray, games: np.ndarray, players: int) -> tuple[np.ndarray, np.ndarray]:
    """Strengths (K,) with mean 0 and their covariance (K, K), in natural units (times `ELO` for Elo points).

    The model is Bradley and Terry's for two sides and Luce's for more: a side wins with a chance in proportion to
    exp(strength). Fitted by Newton's method with one drawn game added to every line-up, which keeps the strength of a
    player that always wins finite; the covariance is the sandwich estimate clustered by deal.

    Args:
        lineups: (D, n) the player of every side.
        won: (D, K) shares of wins by player.
        games: (D,) games played with the deal.
        players: K.
    """
    kinds, which = np.unique(lineups, axis=0, return_inverse=True)
    which = which.reshape(-1)
    sides = lineups.shape[1]
    member = np.zeros((len(kinds), sides, players))
    np.put_along_axis(member, kinds[:, :, None], 1.0, axis=2)
    games_of = np.bincount(which, games, len(kinds)) + 1.0
    won_of = np.stack([np.bincount(which, won[:, k], len(kinds)) for k in range(players)], axis=1)
    won_of += member.sum(axis=1) / sides  # the drawn game

    strengths = np.zeros(players)
    for _ in range(100):
        expected, information = _expectations(strengths, member)
        gradient = (won_of - games_of[:, None] * expected).sum(axis=0)
        hessian = np.tensordot(games_of, information, axes=1)
        move = np.linalg.pinv(hessian) @ gradient
        strengths = strengths + np.clip(move, -2, 2)
        strengths -= strengths.mean()
        if np.abs(move).max() < 1e-10:
            break
    expected, information = _expectations(strengths, member)
    bread = np.linalg.pinv(np.tensordot(games_of, information, axes=1))
    scores = won - games[:, None] * expected[which]
    deals = max(len(won), 2)
    meat = scores.T @ scores * deals / (deals - 1) + np.tensordot(np.ones(len(kinds)), information, axes=1)
    return strengths, bread @ meat @ bread


def _expectations(strengths: np.ndarray, member: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Expected wins (L, K) in a game of every line-up, and the game's information (L, K, K)."""
    logits = member @ strengths
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    expected = np.einsum("ln,lnk->lk", chances, member)
    information = np.einsum("ln,lnk,lnj->lkj", chances, member, member) - np.einsum("lk,lj->lkj", expected, expected)
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
