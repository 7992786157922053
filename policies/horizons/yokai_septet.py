"""Yokai Septet: look to the end of the round; from there each side's distance to the target tells its chances."""

import numpy as np
from monsterzoo.envs.compiling.dispatch import implement
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.stepping import share_of_win
from monsterzoo.envs.yokai_septet.rules import STATE, score

from . import horizon_value, set_horizon


@compiled
def end_with_round(world):
    """End the world with its round."""
    world.one_round = 1


@compiled
def race_to_target(world, root, side):
    """The share of the win in a single round, else a race: the odds fall with the distance to the target to the 1.5."""
    if root.one_round:
        return share_of_win(world, side)
    sides, target, best = np.int64(world.sides), np.int64(world.target), 0
    for other in range(sides):
        best = max(best, score(world, other))
    own, total = 0.0, 0.0
    for other in range(sides):
        if best >= target:
            odds = 1.0 if score(world, other) == best else 0.0
        else:
            distance = np.float64(target - score(world, other))
            odds = 1.0 / (distance * np.sqrt(distance))
        total += odds
        own = odds if other == side else own
    return own / total


implement(set_horizon, STATE, end_with_round)
implement(horizon_value, STATE, race_to_target)
