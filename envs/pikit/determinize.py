"""Determinization of Pikit: resample what a seat cannot see, consistent with all it knows."""

import numpy as np

from ..compiling.jit import compiled
from ..core.bits import ZERO, lowest
from ..core.rng import draw
from .bags import copy_of, count, total
from .rules import REACT, can_cancel, unseen

# How often a seat that is being asked is dealt to until it can cancel. A deal lets it with a chance of at least 1 in
# MAX_DECK, so all fail with one below 10 ** -70, unless the record contradicts itself: then the seat can only accept.
ATTEMPTS = 20_000


@compiled
def determinize(state, seat):
    """Resample the deck and the others' secret cards with the state's generator, every deal with the same chance.

    One reaction tells something: whoever is being asked right now can cancel. Seats that accepted and seats that were
    not asked look alike to others, and who is asked next follows from the new hands.
    """
    top, cards, secrets = np.int64(state.top), (unseen(state, seat, 0), unseen(state, seat, 1)), 0
    for other in range(np.int64(state.players)):
        secrets += total((state.secret[other, 0], state.secret[other, 1])) if other != seat else 0
    start = np.int64(state.deck_cards) - total(cards)
    if start < np.int64(state.discarded) or top - start != secrets:
        return  # cards are missing or too many, as in no played or loaded record; there is nothing to deal from
    lay_out(state, cards, start)
    place = start
    asked = lowest(np.uint64(state.acting)) if state.phase == REACT else seat
    if asked != seat:
        place = deal_secrets(state, asked, start)
        for _ in range(ATTEMPTS):
            if can_cancel(state, asked):
                break
            deal_secrets(state, asked, start)
    for other in range(np.int64(state.players)):
        if other != seat and other != asked:
            place = deal_secrets(state, other, place)
    for k in range(top, np.int64(state.deck_cards)):
        draw_to(state, k)
    for k in range(start, top):
        state.cards[k] = 0


@compiled
def lay_out(state, cards, start):
    """Put a bag of cards on the deck, which then begins at `start`."""
    # In order of their values, so that no trace of where they were is left.
    place, end = start, np.int64(state.deck_cards)
    for value in range(1, 12):
        for _ in range(min(count(cards, value), end - place)):
            state.cards[place] = value
            place += 1


@compiled
def deal_secrets(state, seat, top):
    """Give a seat as many secret cards as it has, at random from the deck that begins at `top`; returns its new top."""
    rest = top + total((state.secret[seat, 0], state.secret[seat, 1]))
    state.secret[seat, 0] = state.secret[seat, 1] = ZERO
    for place in range(top, rest):
        value = draw_to(state, place)
        state.secret[seat, value >> 3] += copy_of(value)
    return rest


@compiled
def draw_to(state, place):
    """Exchange the card at a place with a random one from there to the bottom of the deck; returns the new card."""
    other = place + draw(state, np.int64(state.deck_cards) - place)
    value = np.int64(state.cards[other])
    state.cards[other] = state.cards[place]
    state.cards[place] = value
    return value
