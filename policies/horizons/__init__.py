"""How far search looks ahead in a game, and what it makes of where it stops.

By default worlds are played to the end and worth each side's share of the win. A game with long matches registers two
compiled functions: `focus(world)` changes an imagined world so that it ends early (say, with the round), and
`outlook(world, truth, side)` says, for a world that has ended, how likely the side is to win, from 0 to 1.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from monsterzoo.envs.core.bits import first, has, popcount
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.jit import JIT_OFF, compiled
from monsterzoo.envs.core.jit import overload
from numba.np.numpy_support import from_dtype

_games: dict[Any, tuple[Callable[..., Any], Callable[..., Any]]] = {}


def register(record: np.dtype, focus: Callable[..., Any], outlook: Callable[..., Any]) -> None:
    """Make a game's horizon known."""
    _games[record if JIT_OFF else from_dtype(record)] = (focus, outlook)


def load(variant: Variant) -> None:
    """Import the game's horizon, if it has one, before a kernel that needs it is compiled."""
    name = f"{__name__}.{variant.game.name.rsplit('_', 1)[0]}"
    if find_spec(name) is not None:
        import_module(name)


@compiled
def play_to_the_end(world):
    """Leave a world as it is."""


@compiled
def win_share(world, truth, side):
    """The side's share of the win; everybody's is the same where nobody wins."""
    sides = np.int64(world.sides)
    winners = np.uint64(world.winners) & first(sides)
    if winners == np.uint64(0):
        return 1.0 / sides
    return 1.0 / popcount(winners) if has(winners, side) else 0.0


def focus(world: Any) -> None:
    """Make an imagined world end where search stops looking."""
    _of(world.dtype)[0](world)


def outlook(world: Any, truth: Any, side: Any) -> Any:
    """The side's chance to win the game, from 0 to 1; the world has ended, `truth` has the real options."""
    return _of(world.dtype)[1](world, truth, side)


def _of(record: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return _games.get(record, (play_to_the_end, win_share))


@overload(focus)
def _focus(world):
    own = _of(world)[0]
    return lambda world: own(world)


@overload(outlook)
def _outlook(world, truth, side):
    own = _of(world)[1]
    return lambda world, truth, side: own(world, truth, side)
