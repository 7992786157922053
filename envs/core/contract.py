"""The game contract: functions that every game implements, and the header of its state.

A game's state is one record that begins with the fields of `HEADER`. Generic kernels call the functions below, which
are dispatched on the type of that record.

What a seat knows is a second record, the game's view. Only `look` turns a state into a view; all that a seat gets
(tensor, text, pictures, the advice of a heuristic) is made from its view. What it sees happen are `events`, made from
its views before and after a decision.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from math import prod
from typing import Any

import numpy as np

from ..compiling.dispatch import dispatched
from ..compiling.encoding import encode
from ..compiling.jit import compiled, inlined, kernel
from .bits import ZERO, drop_lowest, lowest
from .layout import NUMBERS, SET, Layout

MAX_PLAYERS = 4
MAX_EVENTS = 128
"""Most events of one decision, of any game."""

PLAYING, TERMINATED, TRUNCATED = 0, 1, 2
REWARD_WIN, REWARD_SCORE = 0, 1

HEADER: list[tuple[Any, ...]] = [
    ("rng", np.uint64),  # the random generator
    ("scale", np.float32),  # what reward="score" divides by
    ("players", np.uint8),  # number of seats
    ("sides", np.uint8),  # number of sides; seat s plays for side s % sides
    ("reward", np.uint8),  # REWARD_WIN or REWARD_SCORE
    ("acting", np.uint8),  # bit set of the seats that must decide now; empty when the game is over
    ("outcome", np.uint8),  # PLAYING, TERMINATED or TRUNCATED
    ("winners", np.uint8),  # bit set of the winning seats
]


VIEW_HEADER: list[tuple[Any, ...]] = [
    ("layout", np.uint8),  # which of the game's layouts the tensor has
    ("players", np.uint8),  # as in the state
    ("sides", np.uint8),
]


def record_type(fields: list[tuple[Any, ...]]) -> np.dtype:
    """The dtype of a game's state: the common header, then the game's own fields."""
    return _without_gaps(HEADER + fields)


def view_type(fields: list[tuple[Any, ...]]) -> np.dtype:
    """The dtype of a game's views: a common header, then the game's own fields.

    Seats and sides in a view count clockwise from the observer, who is seat 0. A field that `look` does not write has
    the name of one of the state's options and holds its value.
    """
    return _without_gaps(VIEW_HEADER + fields)


def view_of(layouts: Iterable[Layout], *more: tuple[Any, ...]) -> np.dtype:
    """The dtype of views that hold what some layouts show, and more fields: sets as small as can be, numbers in a byte.

    A field has room for the largest layout; one whose numbers have a `first` holds them as words of eight.
    """
    found: dict[str, tuple[Any, tuple[int, ...]]] = {}
    for field in chain(*layouts):
        end, places = field.first + prod(field.shape[-1:]), field.shape[:-1]
        kind: Any = np.dtype(np.int8)
        if field.kind == SET:
            kind = np.min_scalar_type((1 << end) - 1)
        elif field.kind == NUMBERS and field.first:
            kind, places = np.dtype(np.uint64), (*places, (end + 7) // 8)
        elif field.kind == NUMBERS:
            places = field.shape
        old, room = found.get(field.source, (kind, places))
        found[field.source] = np.promote_types(kind, old), tuple(map(max, places, room))
    named = {name for name, *_ in more}
    return view_type([*more, *((name, *entry) for name, entry in found.items() if name not in named)])


def _without_gaps(fields: list[tuple[Any, ...]]) -> np.dtype:
    """An aligned record type. Gaps are fields too: numpy copies nothing else, and records are compared by bytes."""
    for name, *_ in fields:
        if hasattr(np.record, name):
            raise ValueError(f"a field cannot be called {name!r}: numpy's records have that attribute already")
    aligned = np.dtype(fields, align=True)
    complete: list[tuple[Any, ...]] = []
    end = 0
    for field in fields:
        kind, start = (aligned.fields or {})[field[0]][:2]
        if start > end:
            complete.append((f"gap_{end}", np.uint8, start - end))
        complete.append(field)
        end = start + kind.itemsize
    if aligned.itemsize > end:
        complete.append((f"gap_{end}", np.uint8, aligned.itemsize - end))
    return np.dtype((np.record, np.dtype(complete, align=True)))


@dispatched()
def setup(state: Any) -> None:
    """Begin a new episode: everything but the options and the generator is set anew."""


@dispatched()
def legal(state: Any, seat: Any, words: Any) -> None:
    """Write the legal actions of an acting seat as a bit set; `words` is uint64 (ceil(actions / 64),)."""


@dispatched()
def step(state: Any, seat: Any, action: Any) -> None:
    """Carry out a legal action of an acting seat; hidden simultaneous choices wait for the last acting seat."""


@dispatched()
def look(state: Any, seat: Any, view: Any) -> None:
    """Write what a seat knows: every field of the view but those that never change, see `view_type`."""


@dispatched()
def score(state: Any, side: Any) -> Any:
    """The side's score now, as an integer; reward="score" pays its changes."""


@dispatched()
def determinize(state: Any, seat: Any) -> None:
    """Resample in place, with the state's generator, everything the seat cannot know."""


@dispatched()
def events(before: Any, after: Any, mover: Any, action: Any, out: Any) -> Any:
    """Write what a decision looked like to one seat, the observer; returns the number of events.

    `before` and `after` are the observer's views, and the mover counts clockwise from the observer. The events may
    depend on these; on the action, and on who moved, only where the observer moved itself or everybody sees it.
    `out` is int16 (MAX_EVENTS, 2), a row an event: the seat it is about, clockwise from the observer (0 where it is
    about none), and its number. The numbers' meanings are the variant's `event_names`; 0 is no event.
    """


def numbered(*groups: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """The names of events by number, of several groups one behind the other, and the first number of each group."""
    return ("", *chain(*groups)), list(accumulate(map(len, groups), initial=1))[:-1]


@inlined
def add_event(out, count, seat, number):
    """Write one more event behind the first `count`, if there is room; returns how many there are then."""
    if count == len(out):
        return count
    out[count, 0] = seat
    out[count, 1] = number
    return count + 1


@inlined
def add_events(out, count, seat, number, members):
    """Write an event for each member of a bit set: `number` + the member."""
    while members != ZERO:
        count = add_event(out, count, seat, number + lowest(members))
        members = drop_lowest(members)
    return count


@compiled
def own_actions(before, after, mover, action, out):
    """`events` of a game that defines none: own actions only, since nobody knows which others are secret."""
    return add_event(out, 0, 0, action + 1) if mover == 0 else 0


@compiled
def observe(state, seat, view, row):
    """Write what a seat knows as a view and as a tensor; `row` is int8 seen as uint64 (observation / 8,)."""
    look(state, seat, view)
    encode(view, row)


@compiled
def resample(world, truth, seat, stream):
    """Write into `world` a sample of the states that a seat holds possible in `truth`, drawn from `stream` alone.

    `world` and `truth` are arrays of one state; `stream` has a field `rng`, which moves on.
    """
    world[0] = truth[0]
    state = world[0]
    state.rng = stream.rng
    determinize(state, seat)
    stream.rng = state.rng


@kernel
def imagine(world, truth, seat, stream):
    """`resample`, called from Python."""
    resample(world, truth, seat, stream)
