"""What a seat, or a spectator, sees of a position and of a move.

A seat's scene is made from its view alone. A spectator (`seat` is None) sees what all seats know together.
"""

import re
from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import stepping
from ..core.contract import PLAYING
from ..core.options import Choice, checked
from ..core.variant import Variant, fields_of
from .parts import text_table
from .scene import Event, Perspective, Scene

ALL = "all"
MOST_MOVES = 24
"""How many of the last moves are remembered for pictures."""


def check_view(variant: Variant, view: Any) -> str | None:
    """A `view`: None, "all" or an agent; raises `ValueError` for anything else."""
    found: str | None = checked(f"{variant.game.name}: view", view, Choice(None, ALL, *variant.agents))
    return found


def perspective_of(
    variant: Variant, states: np.ndarray, seat: int | None, events: tuple[Event, ...] = (), reveal: bool = False
) -> Perspective:
    """What an observer knows in the first of some states; with `reveal` all cards are laid open."""
    observer = 0 if seat is None else seat
    seats = [(observer + k) % variant.players for k in range(variant.players)]
    shown = [k == 0 or seat is None or reveal for k in range(variant.players)]
    acting = int(states["acting"][0])
    legal: list[tuple[int, str]] = []
    if seat is not None and acting >> seat & 1:
        actions = np.flatnonzero(variant.legal_actions(states, 0, seat)).tolist()
        legal = [(action, variant.action_names[action]) for action in actions]
    winners = int(states["winners"][0])
    return Perspective(
        observer,
        tuple(fields_of(variant.look(states, 0, s)[0]) if show else None for s, show in zip(seats, shown)),
        _names(variant, seat),
        tuple(legal),
        frozenset(k for k, s in enumerate(seats) if shown[k] and acting >> s & 1),
        events,
        tuple(k for k, s in enumerate(seats) if winners >> s & 1) if states["outcome"][0] != PLAYING else None,
    )


def _names(variant: Variant, seat: int | None) -> tuple[str, ...]:
    """What an observer calls the seats, clockwise from itself."""
    agents = variant.agents
    return agents if seat is None else ("you", *agents[seat + 1 :], *agents[:seat])


def scene_of(
    variant: Variant, states: np.ndarray, seat: int | None, events: tuple[Event, ...] = (), reveal: bool = False
) -> Scene:
    """The table as an observer sees it in the first of some states."""
    seen = perspective_of(variant, states, seat, events, reveal)
    if variant.game.looks.scene is not None:
        return variant.game.looks.scene(seen)
    return text_table(seen, variant.game.title, text_of(variant, states, seat).splitlines())


def text_of(variant: Variant, states: np.ndarray, seat: int | None) -> str:
    """The table in words, as an observer sees it."""
    if seat is None:
        return variant.draw_table(states, 0)
    return variant.describe(variant.look(states, 0, seat)[0], seat)


def narrate(
    variant: Variant, seat: int | None, before: np.ndarray, after: np.ndarray, mover: int, action: int
) -> list[Event]:
    """What an observer saw of a decision that led from one state (1,) to another."""
    observer = mover if seat is None else seat  # a spectator looks over everybody's shoulder
    names = _names(variant, seat)
    told: list[Event] = []
    for about, number in variant.events(before, after, observer, mover, action).tolist():
        who = (about + observer - (seat or 0)) % variant.players
        name = variant.event_names[number]
        words = name.format(*names[who:], *names[:who])
        head, colon, rest = words.partition(": ")
        # Several of the same stand in one line. What seats do never: whether that was one decision or two is a secret.
        if colon and not name.startswith("{0}: ") and told and told[-1].text.startswith(head + colon):
            told[-1] = replace(told[-1], text=f"{told[-1].text}, {rest}")
        else:
            told.append(Event(words, who if "{0}" in name else -1, number))
    return _with_story(variant, seat or 0, names, told, before, mover, action)


def _with_story(
    variant: Variant, seat: int, names: tuple[str, ...], told: list[Event], before: np.ndarray, mover: int, action: int
) -> list[Event]:
    """What was seen, told in more words where the game has them."""
    looks, players = variant.game.looks, variant.players
    lines = looks.story(before, mover, action) if looks.story is not None else []
    if not lines:
        return told
    called = [names[(k - seat) % players] for k in range(players)]
    story = [Event(_conjugated(text.format(*called)), (k - seat) % players if k >= 0 else -1, 0) for k, text in lines]
    first = [event for event in told if event.number < looks.retold.start]
    return [*first, *story, *(event for event in told if event.number >= looks.retold.stop)]


def _conjugated(words: str) -> str:
    return re.sub(r"\b(you (?:\+\d+ and )?(?:gain|lose))s\b", r"\1", words)


def stepped(variant: Variant, states: np.ndarray, seat: int, action: int) -> np.ndarray:
    """The position after a legal action, an array (1,) of its own."""
    after = states.copy()
    masks, words = np.empty((variant.players, 8 * variant.words), np.uint64), np.empty(variant.words, np.uint64)
    stepping.advance_one(
        after, 0, seat, action, np.empty(variant.players, np.float32), masks, words, variant.num_actions
    )
    return after


class Trail:
    """The last decisions of a game, with the position before each."""

    def __init__(self) -> None:
        self._moves: deque[tuple[np.ndarray, int, int]] = deque(maxlen=MOST_MOVES)

    def clear(self) -> None:
        """Forget everything: another game begins."""
        self._moves.clear()

    def add(self, states: np.ndarray, mover: int, action: int) -> None:
        """Remember the position, an array (1,), in which a seat decides; it is copied."""
        self._moves.append((states.copy(), mover, action))

    def events(self, variant: Variant, states: np.ndarray, seat: int | None) -> tuple[Event, ...]:
        """What an observer saw of these decisions, which led to the position `states`."""
        after = [*(before for before, _, _ in self._moves), states][1:]
        moves = [(before, end, mover, action) for (before, mover, action), end in zip(self._moves, after)]
        return tuple(event for move in moves for event in narrate(variant, seat, *move))
