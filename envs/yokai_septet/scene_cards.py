"""Cards of Yokai Septet as shapes: the symbols of the seven suits, faces, and chips for small spaces."""

from functools import lru_cache
from math import cos, pi, sin
from types import SimpleNamespace
from typing import Any

from ..render.parts import GOLD, INK, PAPER
from ..render.scene import Box, Part, Point, Shape, heart, placed, polygon, rect, star, stroke, text
from .rules import BASE, BLACK_STARS, CARDS, RANK_OF, SUIT_OF, SUITORS, SUITS, THE_A, WHITE_STARS
from .text import CARD_NAMES, bosses_to_win

COLOURS = ("#15807c", "#8a5522", "#c02a72", "#a87600", "#51409e", "#c5301b", "#2a70bd")
"""Of the suits, in their order."""

_BOLT = ((0.15, -1.0), (-0.65, 0.15), (-0.08, 0.15), (-0.3, 1.0), (0.65, -0.25), (0.08, -0.25), (0.55, -1.0))
_FLAME = (
    (0.05, -1.0), (0.35, -0.45), (0.62, -0.1), (0.72, 0.35), (0.5, 0.8), (0.0, 1.0), (-0.5, 0.8), (-0.72, 0.35),
    (-0.55, -0.1), (-0.35, 0.1), (-0.2, -0.35),
)  # fmt: skip
_PEAKS = ((-1.0, 0.75), (-0.35, -0.6), (0.0, 0.05), (0.3, -0.35), (1.0, 0.75))
_MOON = (
    *((0.95 * cos(a), 0.95 * sin(a)) for a in (pi * (1 + 4 * i / 16) / 3 for i in range(17))),
    *((0.71 + 0.86 * cos(a), 0.86 * sin(a)) for a in (pi * (254 - 148 * i / 12) / 180 for i in range(13))),
)


def symbol(suit: int, x: float, y: float, size: float, colour: str) -> list[Shape]:
    """The sign of a suit: wind, mountains, heart, bolt, moon, flame, snowflake."""
    if suit == 0:
        waves = [[(-1 + i / 4, 0.55 * row + 0.2 * sin(i * pi / 4 + row)) for i in range(9)] for row in (-1, 0, 1)]
        return [stroke(placed(wave, x, y, size), colour, size * 0.22) for wave in waves]
    if suit == 6:
        arms: list[list[Point]] = []
        for i in range(3):
            c, s = cos(pi * i / 3 + pi / 6), sin(pi * i / 3 + pi / 6)
            arms.append([(-c, -s), (c, s)])
            arms += [
                [(e * (0.6 * c - 0.22 * s), e * (0.6 * s + 0.22 * c)), (e * 0.4 * c, e * 0.4 * s)] for e in (-1, 1)
            ]
        return [stroke(placed(arm, x, y, size), colour, size * 0.2) for arm in arms]
    if suit == 2:
        return [heart(x, y, size * 0.95, colour)]
    figure: tuple[Point, ...] = {1: _PEAKS, 3: _BOLT, 4: _MOON, 5: _FLAME}[suit]
    return [polygon(placed(figure, x, y, size), colour)]


def suit_sign(suit: int, x: float, y: float) -> list[Shape]:
    """A suit's sign on a small square."""
    return [rect((x, y, 27, 27), "#ffffff", None, corner=5), *symbol(suit, x + 13, y + 13, 9, COLOURS[suit])]


def describe_card(card: int) -> str:
    """A card in words."""
    if card == THE_A:
        return "the A (Wind 1)"
    boss = ", a boss" if RANK_OF[card] == 7 else ""
    return f"{SUITS[SUIT_OF[card]]} {RANK_OF[card]}{' foil' if card >= CARDS else ''}{boss}"


def card_help(card: int, view: Any) -> str:
    """What a card is good for, as things are in a view."""
    if card == THE_A:
        return "Wins every trick."
    suit, rank = int(SUIT_OF[card]), int(RANK_OF[card])
    trump = "Trump: beats the other suits. " if view.trump == suit else ""
    if rank != 7:
        return f"{trump}Rank {rank} of {SUITS[suit]}, from {suit + 1} to {suit + 7}."
    if view.variant != BASE:
        return f"{trump}A boss: both 7s of {SUITS[suit]}, taken in one round, seal the suit."
    stars = 0 if trump else int(WHITE_STARS[suit]) + (int(BLACK_STARS[suit]) if view.players == 3 else 0)
    tokens = "1 token" if stars == 1 else f"{stars} tokens"
    return f"{trump}A boss: {int(view.bosses_to_win)} of them win the round; this one then counts {tokens}."


@lru_cache(4096)
def face(card: int, box: Box) -> tuple[Shape, ...]:
    """A card face up: its name in the corner, the suit's sign, a star and gold for bosses."""
    x, y, w, h = box
    suit, boss = int(SUIT_OF[card]), RANK_OF[card] == 7
    colour = COLOURS[suit]
    paper = "#ffe9a8" if card >= CARDS else "#fff3cf" if boss else PAPER
    size = min(28, w * 0.36)
    shapes = [
        rect(box, paper, colour, 4, 8),
        text(x + 7, y + 8 + size / 2, CARD_NAMES[card], size, colour, "start", w - 12),
        *symbol(suit, x + w / 2, y + h * (0.56 if boss or card == THE_A else 0.6), min(w, h) * 0.27, colour),
    ]
    if boss:
        shapes.append(star(x + w / 2, y + h * 0.86, min(w, h) * 0.12, "#d99a00"))
    if card == THE_A:
        shapes.append(text(x + w / 2, y + h * 0.87, "A", max(h * 0.2, 19), INK))
    return tuple(shapes)


def sample_cards(options: dict[str, Any]) -> list[Part]:
    """The A, the bosses and a plain card of every suit, with what they do."""
    variant = BASE if options["variant"] == "base" else SUITORS
    view = SimpleNamespace(trump=-1, variant=variant, players=options["players"], bosses_to_win=bosses_to_win(options))
    cards = [THE_A, *(card for card in range(CARDS) if RANK_OF[card] == 7), CARDS - 1]
    box = (0.0, 0.0, 84.0, 118.0)
    return [Part(face(card, box), describe_card(card), box=box, help=card_help(card, view)) for card in cards]


def chip(card: int, x: float, y: float, width: float = 40) -> list[Shape]:
    """A card in a small space."""
    boss = RANK_OF[card] == 7
    return [
        rect((x, y, width, 36), COLOURS[SUIT_OF[card]], GOLD if boss else "#ffffff", 3 if boss else 1.5, 6),
        text(x + width / 2, y + 19, CARD_NAMES[card], 22, room=width - 5),
    ]


def chips(cards: list[int], x: float, y: float, room: float, step: float = 43) -> list[Shape]:
    """Chips in rows that fit into a width."""
    a_row = max(int((room - 40) // step) + 1, 1)
    return [s for i, card in enumerate(cards) for s in chip(card, x + i % a_row * step, y + i // a_row * 40)]
