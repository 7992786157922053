"""Sample what a seat of Pikit cannot see, consistent with all it knows."""

import numpy as np

from ..core.bits import ZERO, lowest
from ..core.jit import compiled
from ..core.rng import draw
from .bags import copy_of, count, total
from .rules import REACT, can_cancel


@compiled
def determinize(state, seat):
    """Resample the deck and the others' secret cards with the state's generator, every deal with the same chance.

    One reaction tells something: whoever is being asked right now can cancel. Seats that accepted and seats that were
    not asked look alike to others, and who is asked next follows from the new hands.
    """
    players, top = np.int64(state.players), np.int64(state.top)
    start = gather_unseen(state, seat)
    place = start
    asked = lowest(np.uint64(state.acting)) if state.phase == REACT else seat
    if asked != seat:
        place = deal_secrets(state, asked, start)
        while not can_cancel(state, asked):  # one deal at least, the truth, lets it
            deal_secrets(state, asked, start)
    for other in range(players):
        if other != seat and other != asked:
            place = deal_secrets(state, other, place)
    for k in range(top, np.int64(state.deck_cards)):
        draw_to(state, k)
    for k in range(start, top):
        state.cards[k] = 0


@compiled
def gather_unseen(state, seat):
    """Put all cards a seat has not seen on the deck, in order of their values; returns where that deck begins."""
    # In order, so that no trace of where they were is left.
    low, high = state.copies[0], state.copies[1]
    low -= state.centre[0] + state.discards[0] + state.secret[seat, 0]
    high -= state.centre[1] + state.discards[1] + state.secret[seat, 1]
    for other in range(np.int64(state.players)):
        low -= state.known[other, 0]
        high -= state.known[other, 1]
    start = np.int64(state.deck_cards) - total((low, high))
    place = start
    for value in range(1, 12):
        for _ in range(count((low, high), value)):
            state.cards[place] = value
            place += 1
    return start


@compiled
def deal_secrets(state, seat, top):
    """Give a seat as many secret cards as it has, at random from the deck that begins at `top`; returns its new top."""
    rest = top + total((state.secret[seat, 0], state.secret[seat, 1]))
    state.secret[seat, 0] = ZERO
    state.secret[seat, 1] = ZERO
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
