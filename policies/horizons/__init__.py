"""How far search looks ahead in a game, and what it makes of where it stops.

By default worlds are played to the end and worth what the game rewards: each side's share of the win, or its lead with
reward="score". A game with long matches registers two compiled functions: `focus(world)` changes an imagined world so
that it ends early (say, with the round), and `outlook(world, truth, side)` says, for a world that has ended, how likely
the side is to win, from 0 to 1.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from monsterzoo.envs.compiling.dispatch import dispatched, implement, is_implemented
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.contract import REWARD_SCORE, score
from monsterzoo.envs.core.stepping import score_reward, share_of_win
from monsterzoo.envs.core.variant import Variant


def load(variant: Variant) -> None:
    """Import the game's horizon, if it has one, before a kernel that needs it is compiled."""
    name = f"{__name__}.{variant.game.name.rsplit('_', 1)[0]}"
    if find_spec(name) is not None:
        import_module(name)


def is_near(variant: Variant) -> bool:
    """Whether the game has a horizon of its own, so that worlds are not played to their end."""
    load(variant)
    return is_implemented(focus, variant.game.rules.record)


@compiled
def play_to_the_end(world):
    """Leave a world as it is."""


@compiled
def win_share(world, truth, side):
    """`share_of_win`, as an outlook."""
    return share_of_win(world, side)


@compiled
def as_rewarded(world, truth, side):
    """The share of the win; with reward="score" the lead in points, from 0 (one `scale` behind) to 1 (one ahead)."""
    if truth.reward != REWARD_SCORE:
        return share_of_win(world, side)
    own, total = 0, 0
    for other in range(np.int64(world.sides)):
        points = score(world, other)
        own = points if other == side else own
        total += points
    lead = score_reward(world, np.float32(own), np.float32(total))
    return min(max(0.5 + 0.5 * np.float64(lead), 0.0), 1.0)


@dispatched(default=play_to_the_end)
def focus(world: Any) -> None:
    """Make an imagined world end where search stops looking."""


@dispatched(default=as_rewarded)
def outlook(world: Any, truth: Any, side: Any) -> Any:
    """What the side can expect of the game, from 0 to 1; the world has ended, `truth` has the real options."""


def register(record: np.dtype, focus_on: Callable[..., Any], look_out: Callable[..., Any]) -> None:
    """Make a game's horizon known: its implementations of `focus` and `outlook`."""
    implement(focus, record, focus_on)
    implement(outlook, record, look_out)
