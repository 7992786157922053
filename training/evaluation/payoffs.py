"""Payoffs between players: Nash averages, which do not depend on how many weak or equal players took part, and cycles.

Players meet in a symmetric zero-sum game whose strategies are the players (Balduzzi and others, Re-evaluating
evaluation, 2018). The payoff of i against j is half the difference of their win rates at tables where both sit: with
two sides, the win rate over 50 %. Its equilibrium of most entropy is unique; a player's Nash average is its payoff
against that mixture, 0 for those in it and below 0 for all others.
"""

from itertools import combinations
from typing import Any

import numpy as np

SHARPEST = 1e-5  # weight of the entropy at the end, in units of payoff: differences below it are not told apart


def payoffs(names: list[str], pairs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Payoff matrix, equilibrium, Nash averages and cycles of a tournament; None unless all players met.

    A cycle is three players of whom each beats the next, all beyond the 95 % intervals.
    """
    place = {name: k for k, name in enumerate(names)}
    rates = np.full((len(names), len(names), 3), np.nan)
    for pair in pairs:
        rates[place[pair["player"]], place[pair["against"]]] = pair["win_rate"], *pair["interval"]
    matrix = (rates[..., 0] - rates[..., 0].T) / 2
    np.fill_diagonal(matrix, 0)
    if not np.isfinite(matrix).all():
        return None
    mixture = max_entropy_nash(matrix)
    beats = rates[..., 1] > rates[..., 2].T
    either_way = [one for a, b, c in combinations(range(len(names)), 3) for one in ((a, b, c), (a, c, b))]
    cycles = [[names[k] for k in one] for one in either_way if beats[one, np.roll(one, -1)].all()]
    averages = (matrix @ mixture).tolist()
    return {"matrix": matrix.tolist(), "nash": mixture.tolist(), "nash_averages": averages, "cycles": cycles}


def max_entropy_nash(matrix: np.ndarray) -> np.ndarray:
    """The equilibrium of most entropy, (K,), of a symmetric zero-sum game with antisymmetric payoffs (K, K).

    The limit of logit equilibria p = softmax(M p / temperature), each found by Newton's method from the one before.
    """
    logits, identity = np.zeros(len(matrix)), np.eye(len(matrix))
    for temperature in np.geomspace(1, SHARPEST, 80):
        for _ in range(50):
            mixture = _softmax(logits)
            error = logits - matrix @ mixture / temperature
            if np.abs(error).max() < 1e-9:
                break
            slope = identity - matrix @ (np.diag(mixture) - np.outer(mixture, mixture)) / temperature
            logits = logits - np.linalg.solve(slope, error)
    return _softmax(logits)


def _softmax(logits: np.ndarray) -> np.ndarray:
    chances = np.exp(logits - logits.max())
    return chances / chances.sum()
