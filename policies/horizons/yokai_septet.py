"""Yokai Septet: look to the end of the round; from there each side's distance to the target tells its chances."""

import numpy as np
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.yokai_septet.rules import STATE, score

from . import register, win_share


@compiled
def focus(world):
    """End the world with its round."""
    world.one_round = 1


@compiled
def outlook(world, truth, side):
    """The share of the win in a single round, else a race: the odds fall with the distance to the target to the 1.5."""
    if truth.one_round:
        return win_share(world, truth, side)
    sides, target = np.int64(world.sides), np.int64(world.target)
    best = 0
    for other in range(sides):
        best = max(best, score(world, other))
    total, own = 0.0, 0.0
    for other in range(sides):
        if best >= target:
            odds = 1.0 if score(world, other) == best else 0.0
        else:
            distance = np.float64(target - score(world, other))
            odds = 1.0 / (distance * np.sqrt(distance))
        total += odds
        if other == side:
            own = odds
    return own / total


register(STATE, focus, outlook)
