"""Sample what a seat of Pikit cannot see, consistent with all it knows."""

import numpy as np

from ..compiling.jit import compiled
from ..core.bits import ZERO, lowest
from ..core.rng import draw
from .bags import copy_of, count, total
from .rules import REACT, can_cancel

# How often a seat that is being asked is dealt to until it can cancel. A deal lets it with a chance of at least 1 in
# MAX_DECK, so all fail with one below 10 ** -70, unless the record contradicts itself: then the seat can only accept.
ATTEMPTS = 20_000


@compiled
def determinize(state, seat):
    """Resample the deck and the others' secret cards with the state's generator, every deal with the same chance.

    One reaction tells something: whoever is being asked right now can cancel. Seats that accepted and seats that were
    not asked look alike to others, and who is asked next follows from the new hands.
    """
    top = np.int64(state.top)
    low, high = unseen(state, seat)
    start = np.int64(state.deck_cards) - total((low, high))
    if start < np.int64(state.discarded) or top - start != others_secrets(state, seat):
        return  # cards are missing or too many, as in no played or loaded record; there is nothing to deal from
    lay_out(state, low, high, start)
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
def unseen(state, seat):
    """The bag of all cards a seat has not seen: the deck and the others' secret cards."""
    low = state.copies[0] - state.centre[0] - state.discards[0] - state.secret[seat, 0]
    high = state.copies[1] - state.centre[1] - state.discards[1] - state.secret[seat, 1]
    for other in range(np.int64(state.players)):
        low -= state.known[other, 0]
        high -= state.known[other, 1]
    return low, high


@compiled
def others_secrets(state, seat):
    """How many secret cards all other seats have together."""
    cards = 0
    for other in range(np.int64(state.players)):
        if other != seat:
            cards += total((state.secret[other, 0], state.secret[other, 1]))
    return cards


@compiled
def lay_out(state, low, high, start):
    """Put a bag of cards on the deck, which then begins at `start`."""
    # In order of their values, so that no trace of where they were is left.
    place, end = start, np.int64(state.deck_cards)
    for value in range(1, 12):
        for _ in range(min(count((low, high), value), end - place)):
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
