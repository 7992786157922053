"""Heuristic policies, one module per game: rules of thumb of a good human player.

A game's module registers one compiled function `(view, words) -> action`, which reads what the seat knows and the bit
set of its legal actions, and never sees a state. Games from outside do the same with `register_heuristic`.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.dispatch import dispatched, implement, is_implemented
from monsterzoo.envs.compiling.jit import compiled, inlined, kernel
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, lowest
from monsterzoo.envs.core.contract import legal, look
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.compiled_policies import compiled_policy
from monsterzoo.envs.match.decisions import Decisions

from ..base import Named, legal_masks


class Heuristic(NamedTuple):
    """Compiled policy: the game's heuristic."""

    level: int = 1


@dispatched()
def advise(view: Any, words: Any) -> Any:
    """The action of the game's heuristic; `words` is the set of legal actions, of which there are several."""


def register_heuristic(game: Game, function: Callable[..., Any]) -> None:
    """Make a game's heuristic known: compiled code `(view, words) -> action` in the game's own package."""
    implement(advise, game.view.record, function)


@inlined
def sole(words):
    """The only member of a bit set of several words; -1 if there are more."""
    k = 0
    while words[k] == ZERO:
        k += 1
    if drop_lowest(words[k]) != ZERO:
        return -1
    for other in range(k + 1, len(words)):
        if words[other] != ZERO:
            return -1
    return 64 * k + lowest(words[k])


@compiled
def choose_by_heuristic(policy, state, seat, words, views, stream):
    """The heuristic's action for an acting seat; a forced one without looking at the view."""
    legal(state, seat, words)
    only = sole(words)
    if only >= 0:
        return only
    look(state, seat, views[0])
    return advise(views[0], words)


compiled_policy(Heuristic, choose_by_heuristic)


@kernel
def advise_views(views, masks, words, choices):
    """The heuristic's action for every view; `views` (B,), `masks` (B, A) int8.

    Returns the first row whose mask does not allow the action, -1 if there is none.
    """
    for i in range(len(choices)):
        words[:] = np.uint64(0)
        for action in range(masks.shape[1]):
            if masks[i, action] != 0:
                words[action // 64] |= bit(action % 64)
        only = sole(words)
        choices[i] = only if only >= 0 else advise(views[i], words)
        if not 0 <= choices[i] < masks.shape[1] or masks[i, choices[i]] == 0:
            return i
    return -1


class HeuristicPolicy(Named):
    """The game's heuristic."""

    name = "heuristic"
    compiled = Heuristic()

    def __init__(self, variant: Variant) -> None:
        if not has_heuristic(variant):
            raise ValueError(f"{variant.game.name} has no heuristic")
        self.variant = variant

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, int64 (B,).

        Raises `ValueError` for decisions in another game, and for observations that contradict their masks.
        """
        masks, views = legal_masks(self, decisions), self.variant.decode(decisions.observations)
        choices, words = np.empty(len(views), np.int64), np.zeros(self.variant.words, np.uint64)
        wrong = advise_views(views, masks, words, choices)
        if wrong >= 0:
            raise ValueError(f"{self.name}: the observation of row {wrong} does not go with its legal actions")
        return choices


def has_heuristic(variant: Variant) -> bool:
    """Whether the game has a heuristic; one of ours is imported, so that kernels that play it can be compiled."""
    view, module = variant.game.view.record, f"{__name__}.{variant.game.name.rsplit('_', 1)[0]}"
    if not is_implemented(advise, view) and find_spec(module) is not None:
        import_module(module)
    return is_implemented(advise, view)


def make(variant: Variant, argument: str | None, seed: int) -> HeuristicPolicy:
    """The policy of the spec "heuristic"."""
    if argument is not None:
        raise ValueError(f"'heuristic' takes no argument, not {argument!r}")
    return HeuristicPolicy(variant)
