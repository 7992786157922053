"""Symmetries of Bite Night: renamed colours, in the basic game also renamed pictures, leave the game as it is.

Only advanced cards name pictures. The two copies of a tile are not swapped: players who grab at once can use them to
avoid each other.
"""

from typing import Any

import numpy as np

from ..core.symmetry import Symmetry
from .rules import BASIC_DESIGNS, COLOUR_CARD, COMBINATION, COUPLES, DESIGNS, GRAVEYARD, PAIR, PICTURE_CARD, TILES
from .view import layout

NAMES = 5  # of colours, and of pictures
CARDS_IN = ("hand", "chosen_card", "pile")
TILES_IN = ("middle", "tiles", "graveyard", "chosen_tiles")
COLOURS_IN = ("claims",)
"""Fields of the observation whose last axis has a column for each card, tile or colour."""


def symmetry(options: dict[str, Any]) -> Symmetry | None:
    """The renamings of two neighbouring colours or pictures; None if decks or hearts of one's own tell them apart."""
    if options["cards"] is not None or options["hearts"] is not None:
        return None
    same, advanced = np.arange(NAMES), options["advanced"]
    swaps = [_swapped(name) for name in range(NAMES - 1)]
    renamings = [(colours, same) for colours in swaps] + ([] if advanced else [(same, pictures) for pictures in swaps])
    return Symmetry(
        np.stack([_columns(options, *one) for one in renamings]),
        np.stack([_actions(advanced, *one) for one in renamings]),
        np.stack([_things(advanced, *one) for one in renamings]),
    )


def _swapped(name: int) -> np.ndarray:
    names = np.arange(NAMES)
    names[[name, name + 1]] = name + 1, name
    return names


def _kinds(colours: np.ndarray, pictures: np.ndarray) -> np.ndarray:
    """New places of the 25 kinds of tiles, which are in the order of colours, then pictures."""
    return (NAMES * colours[:, None] + pictures).ravel()


def _tiles(colours: np.ndarray, pictures: np.ndarray) -> np.ndarray:
    return (2 * _kinds(colours, pictures)[:, None] + [0, 1]).ravel()


def _couples(pictures: np.ndarray) -> np.ndarray:
    renamed = (sorted((pictures[left], pictures[right])) for left, right in COUPLES)
    return np.array([COUPLES.index((left, right)) for left, right in renamed])


def _cards(colours: np.ndarray, pictures: np.ndarray) -> np.ndarray:
    cards = np.arange(DESIGNS)
    cards[COLOUR_CARD : COLOUR_CARD + NAMES] = COLOUR_CARD + colours
    for first in (PICTURE_CARD, PAIR, GRAVEYARD):
        cards[first : first + NAMES] = first + pictures
    cards[COMBINATION : COMBINATION + len(COUPLES)] = COMBINATION + _couples(pictures)
    return cards


def _columns(options: dict[str, Any], colours: np.ndarray, pictures: np.ndarray) -> np.ndarray:
    fields = layout(options)
    columns = np.arange(fields.size)
    renamed = {
        **dict.fromkeys(CARDS_IN, _cards(colours, pictures)),
        **dict.fromkeys(TILES_IN, _tiles(colours, pictures)),
        **dict.fromkeys(COLOURS_IN, colours),
    }
    for field in fields:
        if field.name in renamed:
            places = columns[field.slice].reshape(field.shape)
            columns[field.slice] = places[..., renamed[field.name][: field.shape[-1]]].ravel()
    return columns


def _actions(advanced: bool, colours: np.ndarray, pictures: np.ndarray) -> np.ndarray:
    designs, verbs = (DESIGNS, 3) if advanced else (BASIC_DESIGNS, 2)
    cards = _cards(colours, pictures)[:designs]
    tiles = [designs + verb * TILES + _tiles(colours, pictures) for verb in range(verbs)]
    return np.concatenate([cards, *tiles, [designs + verbs * TILES]])


def _things(advanced: bool, colours: np.ndarray, pictures: np.ndarray) -> np.ndarray:
    """Colours; in the basic game also pictures, kinds of tiles and couples of pictures."""
    if advanced:
        return colours
    parts = (colours, pictures, _kinds(colours, pictures), _couples(pictures))
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    return np.concatenate([start + part for start, part in zip(starts, parts)])
