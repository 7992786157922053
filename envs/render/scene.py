"""Scenes: a table as plain shapes, made from one perspective; pictures and the browser draw the same ones.

A scene lies on a canvas of 1280 × 960 units, whatever size it is shown in. Its parts are painted in order. Parts with
actions can be clicked: one action is carried out, several are offered as a list.
"""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDTH, HEIGHT = 1280, 960
FRAME = "frame"
"""The key of what is only there in pictures, around the board."""
LETTER = 0.53
"""Mean width of a letter, by the size of the text."""

Shape = dict[str, Any]
Box = tuple[float, float, float, float]
"""Left, top, width, height."""
Point = tuple[float, float]


@dataclass(frozen=True)
class Event:
    """Something that happened, as one observer saw it."""

    text: str
    seat: int
    """Whom it is about, clockwise from the observer; -1 for nobody."""
    number: int
    """Its number, see `Variant.event_names`."""


@dataclass(frozen=True)
class Perspective:
    """All that a scene is made from: what one observer knows. Seats count clockwise from the observer, who is 0."""

    seat: int
    """The observer's number at the table."""
    views: tuple[Any, ...]
    """What each seat knows, as fields of its view; None where the observer may not see it. Its own is always there."""
    names: tuple[str, ...]
    """What to call the seats."""
    legal: tuple[tuple[int, str], ...] = ()
    """The observer's legal actions: number and name. Empty where it has nothing to decide, and for spectators."""
    deciding: frozenset[int] = frozenset()
    """Seats that have to decide, as far as their views are here."""
    events: tuple[Event, ...] = ()
    """What has happened lately."""
    winners: tuple[int, ...] | None = None
    """Who has won; None while the game goes on."""

    @property
    def view(self) -> Any:
        """What the observer knows."""
        return self.views[0]

    @property
    def spectator(self) -> bool:
        """Whether everything is shown that anybody knows."""
        return all(view is not None for view in self.views)

    def number(self, k: int) -> int:
        """The number at the table of the seat k places clockwise."""
        return (self.seat + k) % len(self.views)


@dataclass(frozen=True)
class Part:
    """Some shapes that belong together, with what clicking on them does."""

    shapes: tuple[Shape, ...]
    label: str = ""
    """What it is, in words; empty for decoration."""
    actions: tuple[tuple[int, str], ...] = ()
    """Numbers of actions, and what each does, in words."""
    box: Box | None = None
    """Where to click; needed where there are actions."""
    help: str = ""
    """What it does in the game, for those who do not know."""
    key: str = ""
    """Names a thing that can move: in the next scene it is where this key is."""
    origin: str = ""
    """The key of what it comes from, where it was not there before."""


@dataclass
class Scene:
    """A table: its title, what the observer is asked, and its parts in the order they are painted."""

    title: str
    prompt: str = ""
    parts: list[Part] = field(default_factory=list)
    status: str = ""
    """Where the game stands, in words."""
    lesson: str = ""
    """What the observer may do now and what for, in more words than the prompt."""
    board: Box = (0, 0, WIDTH, HEIGHT)
    """The window of the board, for pages that show it apart from the rest."""
    scores: tuple[tuple[str, ...], ...] = ()
    """The scores as a table: its head, and a row for each side."""
    skip: bool = False
    """Whether this moment must not be shown: that others are asked something now is hidden from the observer."""

    def add(
        self,
        shapes: Iterable[Shape],
        label: str = "",
        actions: Iterable[tuple[int, str]] = (),
        box: Box | None = None,
        **more: str,
    ) -> None:
        """Paint one more part on top of the others; `more` are other fields of a `Part`."""
        self.parts.append(Part(tuple(shapes), label, tuple(actions), box, **more))

    def as_json(self) -> dict[str, Any]:
        """The scene as plain data, for the browser: shapes as SVG."""
        from .svg import part_svg

        parts: list[dict[str, Any]] = []
        for part in (part for part in self.parts if part.key != FRAME):
            data: dict[str, Any] = {"svg": part_svg(part.shapes)}
            data |= {name: said for name in ("label", "help", "key", "origin") if (said := getattr(part, name))}
            if part.actions:
                data["actions"] = [list(pair) for pair in part.actions]
                data["box"] = list(part.box or ())
            parts.append(data)
        words = {"title": self.title, "status": self.status, "prompt": self.prompt, "lesson": self.lesson}
        return {**words, "board": list(self.board), "scores": list(map(list, self.scores)), "parts": parts}


# --- Shapes ---

STAR = (
    (0, -1), (0.24, -0.32), (0.95, -0.31), (0.38, 0.12), (0.59, 0.81),
    (0, 0.4), (-0.59, 0.81), (-0.38, 0.12), (-0.95, -0.31), (-0.24, -0.32),
)  # fmt: skip
HEART = (
    (0, 0.9), (-0.55, 0.35), (-0.9, -0.1), (-0.92, -0.5), (-0.7, -0.8), (-0.35, -0.82), (-0.08, -0.6), (0, -0.4),
    (0.08, -0.6), (0.35, -0.82), (0.7, -0.8), (0.92, -0.5), (0.9, -0.1), (0.55, 0.35),
)  # fmt: skip


def rect(box: Box, fill: str | None = None, line: str | None = None, width: float = 2, corner: float = 8) -> Shape:
    """A rectangle with round corners."""
    return {"kind": "rect", **dict(zip("xywh", box)), "fill": fill, "line": line, "width": width, "corner": corner}


def circle(x: float, y: float, r: float, fill: str | None = None, line: str | None = None) -> Shape:
    """A circle."""
    return {"kind": "circle", "x": x, "y": y, "r": r, "fill": fill, "line": line, "width": 2}


def polygon(points: Sequence[Point], fill: str) -> Shape:
    """A closed polygon."""
    return {"kind": "polygon", "points": [[round(x, 1), round(y, 1)] for x, y in points], "fill": fill}


def stroke(points: Sequence[Point], line: str, width: float) -> Shape:
    """An open line through some points."""
    return {"kind": "stroke", "points": [[round(x, 1), round(y, 1)] for x, y in points], "line": line, "width": width}


def text(
    x: float, y: float, words: str, size: float = 24, fill: str = "#ffffff", anchor: str = "middle", room: float = 0
) -> Shape:
    """A line of text, centred on y; made smaller where it would be wider than `room`."""
    return {"kind": "text", "x": x, "y": y, "text": words, "size": size, "fill": fill, "anchor": anchor, "room": room}


def wrapped(words: str, size: float, room: float) -> list[str]:
    """A text as lines that fit into a width, by the mean width of a letter."""
    width = max(int(room / (size * LETTER)), 1)
    return textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False) or [""]


def placed(points: Sequence[Point], x: float, y: float, size: float) -> list[Point]:
    """A figure drawn within -1 … 1, moved to its place and size."""
    return [(x + size * px, y + size * py) for px, py in points]


def star(x: float, y: float, size: float, fill: str) -> Shape:
    """A star of five points."""
    return polygon(placed(STAR, x, y, size), fill)


def heart(x: float, y: float, size: float, fill: str) -> Shape:
    """A heart."""
    return polygon(placed(HEART, x, y, size), fill)
