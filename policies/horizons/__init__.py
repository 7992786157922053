"""How far search looks ahead in a game, and what it makes of where it stops.

By default worlds are played to the end and worth what the game rewards: each side's share of the win, or its lead with
reward="score". A game with long matches implements two functions of its own: `set_horizon(world)` lets an imagined
world end early (say, with the round), and `horizon_value(world, root, side)` says, for a world that has ended, how
likely the side is to win, from 0 to 1.
"""

from typing import Any

import numpy as np
from monsterzoo.envs.compiling.dispatch import dispatched, is_implemented
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.contract import REWARD_SCORE, score
from monsterzoo.envs.core.stepping import score_reward, share_of_win
from monsterzoo.envs.core.variant import Variant

from ..base import import_for


def load(variant: Variant) -> None:
    """Import the game's horizon, if it has one, before a kernel that needs it is compiled."""
    import_for(__name__, variant)


def is_near(variant: Variant) -> bool:
    """Whether the game has a horizon of its own, so that worlds are not played to their end."""
    load(variant)
    return is_implemented(set_horizon, variant.game.rules.record)


@compiled
def play_to_the_end(world):
    """Leave a world as it is."""


@compiled
def as_rewarded(world, root, side):
    """The share of the win; with reward="score" the lead in points, from 0 (one `scale` behind) to 1 (one ahead)."""
    if root.reward != REWARD_SCORE:
        return share_of_win(world, side)
    own, total = 0, 0
    for other in range(np.int64(world.sides)):
        points = score(world, other)
        own = points if other == side else own
        total += points
    lead = score_reward(world, np.float32(own), np.float32(total))
    return min(max(0.5 + 0.5 * np.float64(lead), 0.0), 1.0)


@dispatched(default=play_to_the_end)
def set_horizon(world: Any) -> None:
    """Make an imagined world end where search stops looking."""


@dispatched(default=as_rewarded)
def horizon_value(world: Any, root: Any, side: Any) -> Any:
    """The side's chances in the game, from 0 to 1, when a world has ended; `root`, a state, has the real options."""
