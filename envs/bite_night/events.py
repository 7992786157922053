"""Events of Bite Night: what a seat sees of a decision, as numbers, and what they mean.

A choice is an event only for who makes it; what comes of it, everybody sees when all have chosen. Much can follow from
one decision in the rendezvous: then the events say which cards were revealed and what has changed in the end. When the
last card ends a lap, the cards and tiles are gone, and only the points are left to be told. (For people, story.py tells
it card by card.)
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import ZERO, bit
from ..core.contract import add_event, add_events, numbered
from .rules import BASIC_DESIGNS, CARD_NAMES, DESIGNS, GRAB, LAY, TILES, revealed, rounds
from .text import heart_tiles, names_of_tiles

ROUNDS = 5
MOST_POINTS = 99  # of one event; more are told by several


def _groups(tiles: Sequence[object]) -> Iterator[list[str]]:
    """The names of events; those of tiles depend on where hearts are."""
    yield [f"{{0}}: lay {card}" for card in CARD_NAMES]  # the observer's own choice, as are the next ones
    yield [f"{{0}}: {verb} {tile}" for verb in ("reach for", "choose to bury", "raise") for tile in tiles]
    yield ["… too late, {0} was quicker"]  # who got the tile that the observer had reached for
    yield [f"{{0}}: gain {tile}" for tile in tiles]  # grabbed, raised or stolen
    yield [f"{{0}}: bury {tile}" for tile in tiles]
    yield [f"revealed, laid by {{0}}: {card}" for card in CARD_NAMES]
    yield [f"points for {{0}}: {points}" for points in range(1, MOST_POINTS + 1)]
    yield [f"to grab: {tile}" for tile in tiles]
    yield [f"round {number} begins" for number in range(1, ROUNDS + 1)]
    yield ["a new lap begins, {0} leads"]


_, (LAYS, CHOOSES, TOO_LATE, GAINS, BURIES, REVEALED, POINTS, MIDDLE, ROUND, LAP) = numbered(*_groups(range(TILES)))


def event_names(options: dict[str, Any]) -> tuple[str, ...]:
    """What each event means, by number; the same in all variants but for the hearts."""
    return numbered(*_groups(names_of_tiles(heart_tiles(options["hearts"]))))[0]


@compiled
def events(before, after, mover, action, out):
    """Write what a seat saw of a decision."""
    n, same_lap = 0, before.lap == after.lap
    if mover == 0:
        n = add_event(out, n, 0, own_choice(before, action))
    if same_lap:
        n = add_tiles(before, after, mover, action, out, n)
        places = before.players * rounds(before.players)
        for place in range(revealed(before), min(revealed(after), places)):
            n = add_event(out, n, after.pile_seats[place], REVEALED + np.int64(after.pile[place]))
    n = add_points(before, after, out, n)
    n = add_events(out, n, 0, MIDDLE, after.middle & ~before.middle)
    if not same_lap:
        n = add_event(out, n, after.lap_leader, LAP)
    if not same_lap or after.round_number != before.round_number:
        n = add_event(out, n, 0, ROUND + np.int64(after.round_number) - 1)
    return n


@inlined
def own_choice(before, action):
    """The event of an own choice."""
    if before.phase == LAY:
        return LAYS + action
    return CHOOSES + action - (DESIGNS if before.advanced else BASIC_DESIGNS)


@inlined
def add_tiles(before, after, mover, action, out, n):
    """Tiles that have found another owner, or a grave."""
    if before.phase == GRAB and after.to_grab[0] > 0:  # who has enough was quick, even if a card takes a tile away then
        wanted = before.chosen_tiles
        if mover == 0:
            wanted = bit(action - (DESIGNS if before.advanced else BASIC_DESIGNS))
        for k in range(1, before.players):
            if wanted & after.tiles[k] != ZERO:
                n = add_event(out, n, k, TOO_LATE)
    for k in range(before.players):
        n = add_events(out, n, k, GAINS, after.tiles[k] & ~before.tiles[k])
    for k in range(before.players):
        n = add_events(out, n, k, BURIES, before.tiles[k] & after.graveyard)
    return n


@inlined
def add_points(before, after, out, n):
    """What every seat has scored."""
    for k in range(before.players):
        points = 10 * np.int64(after.score_tens[k]) + after.score_units[k]
        points -= 10 * np.int64(before.score_tens[k]) + before.score_units[k]
        while points > 0:
            n = add_event(out, n, k, POINTS + min(points, MOST_POINTS) - 1)
            points -= MOST_POINTS
    return n
