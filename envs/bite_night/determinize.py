"""Determinization of Bite Night: resample what a seat cannot see, consistent with all it knows."""

import numpy as np

from ..compiling.jit import compiled
from ..core.bits import ZERO, bit, drop_lowest, lowest, popcount
from ..core.rng import draw_from
from . import rules
from .rules import ALL_TILES, LAID_BY, LAY, NONE, SECONDS, TILES, design_of, legal_tiles, with_card, without_card


@compiled
def determinize(state, seat):
    """Resample the hidden cards, tiles and choices with the state's generator."""
    resample_cards(state, seat)
    resample_stacks(state)
    rechoose(state, seat)


# --- Cards: other hands, the places of the pile that others laid and nobody has seen, and the box ---


@compiled
def resample_cards(state, seat):
    """Deal the unknown cards anew: nothing is known of them but how many lie where."""
    unknown, own = np.uint64(state.deck), state.hand[seat]
    while own != ZERO:
        unknown = without_card(state, unknown, design_of(state, lowest(own)))
        own = drop_lowest(own)
    hidden = 0
    for place in range(np.int64(state.pile_size)):
        if is_known(state, seat, place):
            unknown = without_card(state, unknown, np.int64(state.pile[place]))
        else:
            hidden += 1
    for other in range(np.int64(state.players)):
        hidden += popcount(state.hand[other]) if other != seat else 0
    if popcount(unknown) < hidden:
        return  # a design comes up too often, as in no played or loaded record; everything stays where it is
    for place in range(np.int64(state.pile_size)):
        if not is_known(state, seat, place):
            card = draw_card(state, unknown)
            state.pile[place] = card
            unknown = without_card(state, unknown, card)
    for other in range(np.int64(state.players)):
        if other != seat:
            hand = ZERO
            for _ in range(popcount(state.hand[other])):
                card = draw_card(state, unknown)
                hand = with_card(state, hand, card)
                unknown = without_card(state, unknown, card)
            state.hand[other] = hand


@compiled
def is_known(state, seat, place):
    """Whether a seat knows a card of the pile: everybody has seen it, or it is the seat's own."""
    return place < rules.revealed(state) or LAID_BY[state.players, state.lap_leader, place] == seat


@compiled
def draw_card(state, cards):
    """A uniformly random card of a set, as its design."""
    return design_of(state, draw_from(state, cards))


# --- Tiles: everything that does not lie open is in a stack or in the box ---


@compiled
def resample_stacks(state):
    """Fill the stacks anew with tiles that nobody has seen."""
    unknown = ALL_TILES & ~(np.uint64(state.middle) | np.uint64(state.graveyard))
    for seat in range(np.int64(state.players)):
        unknown &= ~state.tiles[seat]
    for place in range(TILES):
        if state.stacks[place] != NONE and unknown != ZERO:
            tile = draw_from(state, unknown)
            unknown ^= bit(tile)
            state.stacks[place] = tile


# --- Choices that others have made but not shown ---


@compiled
def rechoose(state, seat):
    """Random legal choices in place of the hidden ones."""
    for other in range(np.int64(state.players)):
        if other == seat or state.choices[other, 0] == NONE:
            continue
        old, again = np.int64(state.choices[other, 0]), np.int64(state.choices[other, 1])
        state.choices[other, 0] = NONE
        options = state.hand[other] & ~SECONDS if state.phase == LAY else legal_tiles(state, other)
        state.choices[other, 0] = member_or(state, options, old)
        if again != NONE:  # the second tile to bury
            state.choices[other, 1] = member_or(state, legal_tiles(state, other), again)


@compiled
def member_or(state, bits, old):
    """A random member of a set; of an empty one, where a record contradicts itself, what there was."""
    return draw_from(state, bits) if bits != ZERO else old
