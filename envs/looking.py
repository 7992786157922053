"""Looking at a game: what a seat, or a spectator, sees of a position as a scene, as text, and as the last moves.

A seat's scene is made from its view alone. A spectator sees what all seats know together.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .core import kernels
from .core.contract import PLAYING
from .core.game import Variant, fields_of
from .core.scene import Scene, Sight, Told
from .core.scene_parts import fallback

ALL = "all"
MOST_MOVES = 24
"""How many of the last moves are remembered for pictures."""


def check_view(variant: Variant, view: Any) -> str | None:
    """A `view`: None, "all" or an agent; raises `ValueError` for anything else."""
    if view is None or (isinstance(view, str) and view in (ALL, *variant.agents)):
        return view
    allowed = ", ".join(map(repr, (None, ALL, *variant.agents)))
    raise ValueError(f"{variant.game.name}: view={view!r} is not allowed; allowed: {allowed}")


def sight_of(
    variant: Variant, states: np.ndarray, seat: int | None, told: tuple[Told, ...] = (), reveal: bool = False
) -> Sight:
    """What a seat, or a spectator (None), sees of the first of some states; with `reveal` all cards are laid open."""
    observer = 0 if seat is None else seat
    seats = [(observer + k) % variant.players for k in range(variant.players)]
    shown = [k == 0 or seat is None or reveal for k in range(variant.players)]
    acting = int(states["acting"][0])
    legal: list[tuple[int, str]] = []
    if seat is not None and acting >> seat & 1:
        actions = np.flatnonzero(variant.legal_actions(states, 0, seat)).tolist()
        legal = [(action, variant.action_names[action]) for action in actions]
    winners = int(states["winners"][0])
    return Sight(
        observer,
        tuple(fields_of(variant.look(states, 0, s)[0]) if show else None for s, show in zip(seats, shown)),
        _called(variant, seat),
        tuple(legal),
        frozenset(k for k, s in enumerate(seats) if shown[k] and acting >> s & 1),
        told,
        tuple(k for k, s in enumerate(seats) if winners >> s & 1) if states["outcome"][0] != PLAYING else None,
    )


def _called(variant: Variant, seat: int | None) -> tuple[str, ...]:
    """What an observer calls the seats, clockwise from itself."""
    agents = variant.agents
    return agents if seat is None else ("you", *(agents[(seat + k) % len(agents)] for k in range(1, len(agents))))


def scene_of(
    variant: Variant, states: np.ndarray, seat: int | None, told: tuple[Told, ...] = (), reveal: bool = False
) -> Scene:
    """The table as a seat, or a spectator (None), sees it; of the first of some states."""
    sight = sight_of(variant, states, seat, told, reveal)
    if variant.game.looks.scene is not None:
        return variant.game.looks.scene(sight)
    return fallback(sight, variant.game.title, text_of(variant, states, seat).splitlines())


def text_of(variant: Variant, states: np.ndarray, seat: int | None) -> str:
    """The same in words."""
    if seat is None:
        return variant.draw_table(states, 0)
    return variant.describe(variant.look(states, 0, seat)[0], seat)


def hear(
    variant: Variant, before: np.ndarray, after: np.ndarray, seat: int | None, mover: int, action: int | None
) -> list[Told]:
    """What a seat, or a spectator (None), hears of a decision that led from one state to another."""
    listener = mover if seat is None else seat  # a spectator looks over everybody's shoulder
    views = [fields_of(variant.look(states, 0, listener)[0]) for states in (before, after)]
    relative = (mover - listener) % variant.players
    tell: Callable[..., list[Told]] = variant.game.looks.narrate or _tell_own(variant)
    told = tell(views[0], views[1], relative, action)
    shift = (listener - (0 if seat is None else seat)) % variant.players
    called = _called(variant, seat)
    called = (*called[shift:], *called[:shift])
    return [
        replace(one, text=one.text.format(*called), seat=(one.seat + shift) % variant.players if one.seat >= 0 else -1)
        for one in told
    ]


def _tell_own(variant: Variant) -> Callable[..., list[Told]]:
    """How a game without a `tell` is told: own actions only, for nobody knows which others are secret."""

    def tell(before: Any, after: Any, mover: int, action: int | None) -> list[Told]:
        if mover or action is None:
            return []
        return [Told("{0}: " + variant.action_names[action], 0)]

    return tell


def stepped(variant: Variant, states: np.ndarray, seat: int, action: int) -> np.ndarray:
    """The position after a legal action, an array (1,) of its own."""
    after = states.copy()
    masks, words = np.empty((variant.players, 8 * variant.words), np.uint64), np.empty(variant.words, np.uint64)
    kernels.advance_one(
        after, 0, seat, action, np.empty(variant.players, np.float32), masks, words, variant.num_actions
    )
    return after


class Trail:
    """The last decisions of a game, with the position before each, to be told to whoever looks."""

    def __init__(self, most: int = MOST_MOVES) -> None:
        self._most = most
        self._moves: list[tuple[np.ndarray, int, int | None]] = []

    def clear(self) -> None:
        """Forget everything: another game begins."""
        self._moves.clear()

    def add(self, states: np.ndarray, mover: int, action: int | None) -> None:
        """Remember the position, an array (1,), in which a seat decides; it is copied."""
        self._moves = [*self._moves[1 - self._most :], (states.copy(), mover, action)]

    def told(self, variant: Variant, states: np.ndarray, seat: int | None) -> tuple[Told, ...]:
        """What a seat has heard of these decisions, which led to the position now."""
        positions = [before for before, _, _ in self._moves] + [states]
        return tuple(
            one
            for i, (before, mover, action) in enumerate(self._moves)
            for one in hear(variant, before, positions[i + 1], seat, mover, action)
        )
