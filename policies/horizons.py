"""How far search looks ahead in a game, and what it makes of where it stops.

By default worlds are played to the end and worth what the game rewards: each side's share of the win, or its lead with
reward="score". A game with long matches implements two functions of its own: `set_horizon(world)` lets an imagined
world end early (say, with the round), and `horizon_value(world, root, side)` says, for a world that has ended, how
likely the side is to win, from 0 to 1.
"""

from typing import Any

import numpy as np
from monsterzoo.envs.bite_night.rules import STATE as BITE_NIGHT
from monsterzoo.envs.compiling.dispatch import dispatched, implement, is_implemented
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.contract import REWARD_SCORE, score
from monsterzoo.envs.core.stepping import score_reward, share_of_win
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.yokai_septet.rules import STATE as YOKAI_SEPTET


def is_near(variant: Variant) -> bool:
    """Whether the game has a horizon of its own, so that worlds are not played to their end."""
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


# --- Bite Night: to the end of the lap; from there a lead counts the more, the fewer laps are left ---

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


implement(set_horizon, BITE_NIGHT, end_with_lap)
implement(horizon_value, BITE_NIGHT, odds_by_lead)

# --- Yokai Septet: to the end of the round; from there each side's distance to the target tells its chances ---


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


implement(set_horizon, YOKAI_SEPTET, end_with_round)
implement(horizon_value, YOKAI_SEPTET, race_to_target)
