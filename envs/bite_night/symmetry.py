"""Symmetries of Bite Night: renamed colours, in the basic game also renamed pictures, leave the game as it is.

Only advanced cards name pictures. The two copies of a tile are not swapped: players who grab at once can use them to
avoid each other.
"""

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from ..core.symmetry import Symmetry
from .rules import CARD_NAMES, COLOURS, HEARTS, PICTURES
from .text import KINDS, actions, names_of_tiles
from .view import layout

NAMES_IN = {
    **dict.fromkeys(("hand", "chosen_card", "pile"), CARD_NAMES),
    **dict.fromkeys(("middle", "tiles", "graveyard", "chosen_tiles"), names_of_tiles(int(HEARTS))),
    "claims": COLOURS,
}
"""What the columns of the last axis stand for, in the fields of the observation that show cards, tiles or colours."""


def symmetry(options: dict[str, Any]) -> Symmetry | None:
    """The renamings of two neighbouring colours or pictures; None if decks or hearts of one's own tell them apart."""
    if options["cards"] is not None or options["hearts"] is not None:
        return None
    swaps, things = [*pairwise(COLOURS)], [*COLOURS]
    if not options["advanced"]:
        swaps += pairwise(PICTURES)
        things += [*PICTURES, *KINDS, *map(" ".join, combinations(PICTURES, 2))]
    return Symmetry(
        np.stack([_columns(options, swap) for swap in swaps]),
        np.stack([_renamed((*actions(options), "no-op"), swap) for swap in swaps]),
        np.stack([_renamed(things, swap) for swap in swaps]),
    )


def _renamed(names: Sequence[str], swap: tuple[str, str]) -> np.ndarray:
    """New places of names in which two words change places; the order of words does not matter."""
    other = {swap[0]: swap[1], swap[1]: swap[0]}
    words = [re.findall("[a-z]+", name) for name in names]
    places = {frozenset(one): place for place, one in enumerate(words)}
    return np.array([places[frozenset(other.get(word, word) for word in one)] for one in words])


def _columns(options: dict[str, Any], swap: tuple[str, str]) -> np.ndarray:
    fields = layout(options)
    columns = np.arange(fields.size)
    for field in fields:
        if field.name in NAMES_IN:
            places = columns[field.slice].reshape(field.shape)
            columns[field.slice] = places[..., _renamed(NAMES_IN[field.name][: field.shape[-1]], swap)].ravel()
    return columns
