"""Bite Night: look to the end of the lap; from there a lead counts the more, the fewer laps are left."""

import numpy as np
from monsterzoo.envs.bite_night.rules import STATE, score
from monsterzoo.envs.compiling.jit import compiled

from . import register, win_share

LEAD = 10.0  # points of a lead that multiply the odds by e with one lap left


@compiled
def focus(world):
    """End the world with its lap."""
    world.laps = world.lap


@compiled
def outlook(world, truth, side):
    """The share of the win after the last lap, before it odds that grow exponentially with the score."""
    laps_left = np.int64(truth.laps) - np.int64(world.lap)
    if laps_left <= 0:
        return win_share(world, truth, side)
    scale = 1.0 / (LEAD * np.sqrt(laps_left))
    total = 0.0
    for other in range(np.int64(world.sides)):
        total += np.exp(scale * np.float64(score(world, other) - score(world, side)))
    return 1.0 / total


register(STATE, focus, outlook)
