"""Tiles and cards of Bite Night as shapes, and what the cards do in words."""

from functools import lru_cache
from typing import Any

from ..render.parts import INK, PAPER, cross_out
from ..render.scene import Box, Part, Point, Shape, circle, heart, placed, polygon, rect, stroke, text
from . import rules
from .text import names_of_tiles

PAINTS = ("#2b63c4", "#c22f2f", "#e0b400", "#2b7f3d", "#7d3fb0")
"""Of the tiles' colours, in their order."""
_STONE, _NIGHT = "#5d6670", "#3d2b56"

_BAT = (
    (-1.0, -0.35), (-0.55, -0.5), (-0.25, -0.15), (-0.2, -0.6), (0.0, -0.4), (0.2, -0.6), (0.25, -0.15), (0.55, -0.5),
    (1.0, -0.35), (0.85, 0.35), (0.55, 0.15), (0.3, 0.45), (0.0, 0.75), (-0.3, 0.45), (-0.55, 0.15), (-0.85, 0.35),
)  # fmt: skip
_CROSS = (
    (-0.2, -0.95), (0.2, -0.95), (0.2, -0.45), (0.65, -0.45), (0.65, -0.08), (0.2, -0.08), (0.2, 0.95), (-0.2, 0.95),
    (-0.2, -0.08), (-0.65, -0.08), (-0.65, -0.45), (-0.2, -0.45),
)  # fmt: skip
_DRESS = ((-0.22, -0.25), (0.22, -0.25), (0.75, 0.95), (-0.75, 0.95))
_COFFIN = ((-0.32, -0.98), (0.32, -0.98), (0.62, -0.4), (0.34, 0.98), (-0.34, 0.98), (-0.62, -0.4))
_BULB = (
    (-0.12, -0.98), (0.12, -0.98), (0.18, -0.5), (0.62, -0.1), (0.78, 0.35), (0.5, 0.8), (0.0, 0.92), (-0.5, 0.8),
    (-0.78, 0.35), (-0.62, -0.1), (-0.18, -0.5),
)  # fmt: skip
_TOMB = ((-0.75, 1.0), (-0.75, -0.3), (-0.55, -0.75), (0.0, -1.0), (0.55, -0.75), (0.75, -0.3), (0.75, 1.0))


def symbol(picture: int, x: float, y: float, size: float, colour: str, ground: str) -> list[Shape]:
    """A picture: bat, cross, dress, coffin or bulb for vampire, monk, maiden, coffin and garlic."""
    figure: tuple[Point, ...] = (_BAT, _CROSS, _DRESS, _COFFIN, _BULB)[picture]
    shapes = [polygon(placed(figure, x, y, size), colour)]
    if rules.PICTURES[picture] == "maiden":
        shapes.append(circle(x, y - size * 0.62, size * 0.32, colour))
    elif rules.PICTURES[picture] == "coffin":
        shapes += [
            stroke(placed(line, x, y, size), ground, size * 0.13)
            for line in (((0.0, -0.65), (0.0, 0.4)), ((-0.26, -0.3), (0.26, -0.3)))
        ]
    elif picture == rules.GARLIC:
        shapes += [
            stroke(placed(((s * 0.1, -0.4), (s * 0.36, 0.25), (s * 0.2, 0.75)), x, y, size), ground, size * 0.1)
            for s in (-1, 1)
        ]
    return shapes


@lru_cache(4096)
def tile(number: int, box: Box, hearts: int, edge: str = "#ffffff") -> tuple[Shape, ...]:
    """A tile: its colour, its picture, a heart in the corner if it is one of the set `hearts`."""
    x, y, w, h = box
    colour, picture = divmod(number, 10)
    ink = INK if rules.COLOURS[colour] == "yellow" else "#ffffff"
    shapes = [rect(box, PAINTS[colour], edge, 2 if w < 60 else 3, w * 0.16)]
    shapes += symbol(picture // 2, x + w / 2, y + h / 2, w * 0.33, ink, PAINTS[colour])
    if hearts >> number & 1:
        shapes += [
            circle(x + w * 0.84, y + h * 0.17, w * 0.19, "#ffffff"),
            heart(x + w * 0.84, y + h * 0.18, w * 0.13, "#d01030"),
        ]
    return tuple(shapes)


def tile_words(number: int, hearts: int) -> str:
    """A tile in words."""
    name = names_of_tiles(hearts)[number]
    return name.replace(" heart", " with a heart")


@lru_cache(4096)
def face(card: int, box: Box) -> tuple[Shape, ...]:
    """A rendezvous card: what it is about, and what it brings."""
    x, y, w, h = box
    shapes = [rect(box, PAPER, _NIGHT, 3, 7)]
    if w < 40:  # no room for words
        return (*shapes, *_motif(card, x + w / 2, y + h / 2, w * 0.24))
    if w < 100:
        brings = text(x + w / 2, y + h - 14, _BRINGS[card], 20, INK, room=w)
        return (*shapes, *_motif(card, x + w / 2, y + h * 0.36, w * 0.24), brings)
    lines = rules.CARD_NAMES[card].replace("+", "+ ").split(" ", 2)
    shapes += [text(x + w / 2, y + 16 + 20 * i, words, 20, _NIGHT) for i, words in enumerate(lines)]
    shapes.append(text(x + w * 0.78, y + h * 0.77, _BRINGS[card], 24, INK))
    return (*shapes, *_motif(card, x + w * 0.36, y + h * 0.77, w * 0.14))


def sample_cards(options: dict[str, Any]) -> list[Part]:
    """A tile, and every design of card, with what they do."""
    box = (0.0, 0.0, 132.0, 120.0)
    designs = range(rules.DESIGNS if options["advanced"] else rules.BASIC_DESIGNS)
    small = (0.0, 0.0, 90.0, 90.0)
    hearts = "A tile with a heart. Hearts count for the advanced cards."
    cards = [Part(face(card, box), rules.CARD_NAMES[card], box=box, help=effect(card)) for card in designs]
    return [Part(tile(1, small, 2), tile_words(1, 2), box=small, help=hearts), *cards]


def _motif(card: int, x: float, y: float, size: float) -> list[Shape]:
    """The signs on a card."""
    if card == rules.COLOUR_SET:
        step = size * 0.8
        return [
            rect((x - 2.5 * step + i * step, y - size, step - 1, 2 * size), paint, None, corner=2)
            for i, paint in enumerate(PAINTS)
        ]
    if rules.PICTURE_CARD <= card < rules.COLOUR_CARD:
        return symbol(card - rules.PICTURE_CARD, x, y, size * 1.3, _NIGHT, PAPER)
    if rules.COLOUR_CARD <= card < rules.PAIR:
        box = (x - size * 1.2, y - size * 1.2, size * 2.4, size * 2.4)
        return [rect(box, PAINTS[card - rules.COLOUR_CARD], None, corner=6)]
    if rules.PAIR <= card < rules.COMBINATION:
        return _two(card - rules.PAIR, card - rules.PAIR, x, y, size)
    if rules.COMBINATION <= card < rules.GRAVEYARD:
        return _two(*rules.COUPLES[card - rules.COMBINATION], x, y, size)
    if rules.GRAVEYARD <= card < rules.GRAVEYARD_ANY:
        return [_tomb(x, y, size), *symbol(card - rules.GRAVEYARD, x, y + size * 0.15, size * 0.75, "#ffffff", _STONE)]
    if card == rules.GRAVEYARD_ANY:
        return [_tomb(x, y, size), text(x, y + size * 0.2, "?", max(size * 1.7, 19))]
    if card == rules.SKIP_TWO:
        arrows = [[(s, -0.8), (s + 0.8, 0.0), (s, 0.8)] for s in (-0.9, 0.1)]
        return [stroke(placed(arrow, x, y, size), _NIGHT, size * 0.35) for arrow in arrows]
    return _advanced_motif(card, x, y, size)


def _advanced_motif(card: int, x: float, y: float, size: float) -> list[Shape]:
    barred = cross_out((x - size, y - size, 2 * size, 2 * size), "#c22f2f", size * 0.25)
    if card == rules.CLOSED:
        return [_tomb(x, y, size), *barred]
    if card == rules.RESURRECTION:
        arrow = placed(((0.0, 0.7), (0.0, -0.6), (-0.4, -0.15), (0.0, -0.6), (0.4, -0.15)), x, y, size)
        return [_tomb(x, y, size), stroke(arrow, "#ffffff", size * 0.22)]
    if card in (rules.WEDDING, rules.BITE, rules.PROVISIONS, rules.DAWN):
        return _two(int(rules.THIEF[card]), int(rules.VICTIM[card]), x, y, size, arrow=True)
    if card in (rules.SERVANT, rules.CELIBACY):
        return [*_motif(rules.DAWN if card == rules.SERVANT else rules.WEDDING, x, y, size), *barred]
    if card == rules.SOUP:
        return symbol(rules.GARLIC, x, y, size * 1.3, _NIGHT, PAPER)
    assert card == rules.BANISHMENT
    return [_tomb(x, y, size), *symbol(rules.VAMPIRE, x, y + size * 0.15, size * 0.75, "#ffffff", _STONE)]


def _tomb(x: float, y: float, size: float) -> Shape:
    return polygon(placed(_TOMB, x, y, size * 1.25), _STONE)


def _two(one: int, other: int, x: float, y: float, size: float, arrow: bool = False) -> list[Shape]:
    """Two pictures side by side, the first one after the second where there is an arrow."""
    shapes = [
        *symbol(one, x - size * 0.95, y, size * 0.85, _NIGHT, PAPER),
        *symbol(other, x + size * 0.95, y, size * 0.85, "#b5562b" if arrow else _NIGHT, PAPER),
    ]
    if arrow:
        ends = ((-0.5, 1.25), (0.5, 1.25), (0.2, 1.0), (0.5, 1.25), (0.2, 1.5))
        shapes.append(stroke(placed(ends, x, y, size), INK, size * 0.14))
    return shapes


_BRINGS = (
    "× 5", *("× 1",) * 10, *("× 3",) * 5, *("× 4",) * 10, *("bury",) * 6, "skip", "shut", "rise", "take", "stop",
    "take", "take", "stop", "× 3", "take", "bury",
)  # fmt: skip
assert len(_BRINGS) == len(rules.CARD_NAMES)


def effect(card: int) -> str:
    """What a card does when it is revealed, in words."""
    if card == rules.COLOUR_SET:
        return "5 points for every set of five colours"
    if card < rules.COLOUR_CARD:
        return f"1 point for every {rules.PICTURES[card - rules.PICTURE_CARD]}, more for four or five colours"
    if card < rules.PAIR:
        return f"1 point for every {rules.COLOURS[card - rules.COLOUR_CARD]} tile, more for four or five pictures"
    if card < rules.COMBINATION:
        return f"3 points for two tiles {rules.PICTURES[card - rules.PAIR]} of one colour"
    if card < rules.GRAVEYARD:
        one, other = (rules.PICTURES[picture] for picture in rules.COUPLES[card - rules.COMBINATION])
        return f"4 points for every {one} and {other} of one colour"
    if card < rules.GRAVEYARD_ANY:
        return f"everybody buries two tiles {rules.PICTURES[card - rules.GRAVEYARD]}"
    if card in (rules.WEDDING, rules.BITE, rules.PROVISIONS, rules.DAWN):
        thief, victim = rules.PICTURES[rules.THIEF[card]], rules.PICTURES[rules.VICTIM[card]]
        return f"every {thief} with a heart steals a {victim} with a heart of its colour"
    return {
        rules.GRAVEYARD_ANY: "everybody buries any two tiles",
        rules.SKIP_TWO: "the next two cards do nothing",
        rules.CLOSED: "the next graveyard card does nothing",
        rules.RESURRECTION: "for every heart, raise a buried tile of its colour",
        rules.SERVANT: "the next dawn does nothing",
        rules.CELIBACY: "the next blood wedding does nothing",
        rules.SOUP: "3 points for every garlic, which is then buried",
        rules.BANISHMENT: "who has garlic buries all own vampires",
    }[card]
