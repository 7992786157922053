"""Bite Night: look to the end of the lap; from there a lead counts the more, the fewer laps are left."""

import numpy as np
from monsterzoo.envs.bite_night.rules import STATE, score
from monsterzoo.envs.compiling.dispatch import implement
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.stepping import share_of_win

from . import horizon_value, set_horizon

LEAD = 10.0  # points of a lead that multiply the odds by e with one lap left


@compiled
def end_with_lap(world):
    """End the world with its lap."""
    world.laps = world.lap


@compiled
def odds_by_lead(world, root, side):
    """The share of the win after the last lap, before it odds that grow exponentially with the score."""
    laps_left = np.int64(root.laps) - np.int64(world.lap)
    if laps_left <= 0:
        return share_of_win(world, side)
    scale = 1.0 / (LEAD * np.sqrt(laps_left))
    total = 0.0
    for other in range(np.int64(world.sides)):
        total += np.exp(scale * np.float64(score(world, other) - score(world, side)))
    return 1.0 / total


implement(set_horizon, STATE, end_with_lap)
implement(horizon_value, STATE, odds_by_lead)
