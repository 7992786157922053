"""Histories: the last T events that each seat saw, for recurrent and sequence models.

An event is (seat, number), see `contract.events`; the seat counts clockwise from the observer. Kernels take None for
the `History` where none is kept, and are then compiled without any of this.
"""

from typing import Any, NamedTuple

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import wrap
from ..core.contract import MAX_EVENTS, events, look
from ..core.variant import Variant


class History(NamedTuple):
    """Event histories of N games, with one thread's scratch."""

    rings: Any  # (2, N, players, T, 2) int16: the last events of the running and of the last finished game
    counts: Any  # (2, N, players) int64: how many there were; event k is at place k % T
    shown: Any  # (N, T, 2) int16: those of the seat that is waited for, the newest last, zeros in front
    before: Any  # (1,) scratch: the state before a decision
    views: Any  # (2,) scratch: the views of a seat before and after it
    out: Any  # (MAX_EVENTS, 2) int16 scratch: its events

    @staticmethod
    def arrays(variant: Variant, count: int, length: int) -> dict[str, np.ndarray]:
        """The arrays for so many games."""
        seats = variant.players
        return {
            "rings": np.zeros((2, count, seats, length, 2), np.int16),
            "counts": np.zeros((2, count, seats), np.int64),
            "shown": np.zeros((count, length, 2), np.int16),
        }

    @classmethod
    def with_scratch(cls, variant: Variant, arrays: dict[str, np.ndarray]) -> "History":
        """The arrays for another thread."""
        out = np.zeros((MAX_EVENTS, 2), np.int16)
        return cls(**arrays, before=variant.new_states(1), views=variant.new_views(2), out=out)


def unrolled(rings: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Histories (B, T, 2) from ring buffers (B, T, 2) and their counts (B,): the newest last, zeros in front."""
    length = rings.shape[1]
    places = counts[:, None] - length + np.arange(length)
    return np.where(places[:, :, None] < 0, 0, np.take_along_axis(rings, (places % length)[:, :, None], axis=1))


@inlined
def before_move(history, states, i):
    """Keep the state that the next decision of game i changes."""
    if history is not None:
        history.before[0] = states[i]


@inlined
def after_move(history, states, i, mover, action):
    """Append what every seat saw of a decision."""
    if history is not None:
        append_events(history, states, i, mover, action)


@compiled
def append_events(history, states, i, mover, action):
    """Append what every seat saw of a decision to its ring buffer."""
    players, length = np.int64(states[i].players), history.shown.shape[1]
    for seat in range(players):
        look(history.before[0], seat, history.views[0])
        look(states[i], seat, history.views[1])
        found = events(history.views[0], history.views[1], wrap(mover - seat + players, players), action, history.out)
        for k in range(found):
            place = history.counts[0, i, seat] % length
            history.rings[0, i, seat, place, 0] = history.out[k, 0]
            history.rings[0, i, seat, place, 1] = history.out[k, 1]
            history.counts[0, i, seat] += 1


@inlined
def begin_history(history, i):
    """Forget the events of game i: another one begins."""
    if history is not None:
        for seat in range(history.counts.shape[2]):
            history.counts[0, i, seat] = 0


@inlined
def end_history(history, i):
    """Keep the events of game i, which is over."""
    if history is not None:
        for seat in range(history.counts.shape[2]):
            history.counts[1, i, seat] = history.counts[0, i, seat]
            for k in range(history.shown.shape[1]):
                history.rings[1, i, seat, k, 0] = history.rings[0, i, seat, k, 0]
                history.rings[1, i, seat, k, 1] = history.rings[0, i, seat, k, 1]


@inlined
def show_history(history, i, seat):
    """Write the history of the seat that is waited for."""
    if history is not None:
        length = history.shown.shape[1]
        for k in range(length):
            place = history.counts[0, i, seat] - length + k
            for column in range(2):
                event = np.int16(0) if place < 0 else history.rings[0, i, seat, place % length, column]
                history.shown[i, k, column] = event
