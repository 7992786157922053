"""Heuristic players, one module a game: how a good human player would play, reading the observation and mask alone.

A game's module registers one compiled function `(row, words) -> action`, which reads a packed observation and the legal
actions, and never sees a state. Its decisions are a pure function of what the seat knows, so the same player plays in
compiled loops and in batches.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, lowest
from monsterzoo.envs.core.contract import legal
from monsterzoo.envs.core.game import Table
from monsterzoo.envs.core.jit import JIT_OFF, compiled, inlined, kernel
from monsterzoo.envs.core.layout import pack_row
from monsterzoo.envs.core.seat_kernels import compiled_policy
from numba.extending import overload
from numba.np.numpy_support import from_dtype


class Heuristic(NamedTuple):
    """Every seat plays the game's heuristic."""

    level: int = 1


_players: dict[Any, Callable[..., Any]] = {}
_observers: dict[Any, Callable[..., Any]] = {}


def register(record: np.dtype, function: Callable[..., Any], observer: Callable[..., Any]) -> None:
    """Make a game's heuristic known: compiled code `(row, words) -> action`, and what packs its observations."""
    kind = record if JIT_OFF else from_dtype(record)
    _players[kind], _observers[kind] = function, observer


def advise(state: Any, row: Any, words: Any) -> Any:
    """The action of the game's heuristic for a packed observation and the legal actions; `state` tells which game."""
    return _players[state.dtype](row, words)


@overload(advise, strict=False)
def _advise(state, row, words):
    own = _players[state]
    return lambda state, row, words: own(row, words)


def observe_packed(state: Any, seat: Any, row: Any) -> Any:
    """Write what a seat knows, packed, to the front of a row."""
    return _observers[state.dtype](state, seat, row)


@overload(observe_packed, strict=False)
def _observe_packed(state, seat, row):
    own = _observers[state]
    return lambda state, seat, row: own(state, seat, row)


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
def choose_by_heuristic(policy, state, seat, words, scratch, stream):
    """The heuristic's action for an acting seat; where only one is legal, nothing is looked at."""
    legal(state, seat, words)
    only = sole(words)
    if only >= 0:
        return only
    observe_packed(state, seat, scratch)
    return advise(state, scratch, words)


compiled_policy(Heuristic, choose_by_heuristic)


@kernel
def advise_rows(states, rows, bits, masks, words, scratch, choices):
    """The heuristic's action for every row; `rows` (B, n / 8) uint64 with `bits` 0/1 columns, `masks` (B, A) int8.

    `states` tells the game; `scratch` uint64 (n / 8,).
    """
    for i in range(len(choices)):
        pack_row(rows[i], bits, scratch)
        words[:] = np.uint64(0)
        for action in range(masks.shape[1]):
            if masks[i, action] != 0:
                words[action // 64] |= bit(action % 64)
        choices[i] = advise(states[0], scratch, words)


class HeuristicPolicy:
    """The game's heuristic."""

    name = "heuristic"
    compiled = Heuristic()

    def __init__(self, table: Table) -> None:
        load(table)
        self.table = table

    def act(
        self, observations: np.ndarray, action_masks: np.ndarray, seats: np.ndarray, states: np.ndarray | None = None
    ) -> np.ndarray:
        """One legal action a row, integers (B,)."""
        rows = np.ascontiguousarray(observations, np.int8).view(np.uint64)
        choices = np.empty(len(rows), np.int64)
        words = np.zeros(self.table.words, np.uint64)
        scratch, masks = np.zeros(rows.shape[1], np.uint64), np.asarray(action_masks, np.int8)
        advise_rows(self.table.template, rows, self.table.layout.bits, masks, words, scratch, choices)
        return choices


def load(table: Table) -> None:
    """Import the game's heuristic, which must be known before a kernel that plays it is compiled."""
    import_module(f".{table.game.name.rsplit('_', 1)[0]}", __name__)


def make(table: Table, argument: str | None, seed: int) -> HeuristicPolicy:
    """The maker behind the spec "heuristic"."""
    if argument is not None:
        raise ValueError(f"'heuristic' takes no argument, not {argument!r}")
    return HeuristicPolicy(table)
