"""Sample what a seat of Pikit cannot see, consistent with all it knows."""

import numpy as np

from ..core.bits import ZERO, lowest
from ..core.jit import compiled
from ..core.rng import draw
from .rules import REACT, can_cancel, copy_of, count, total


@compiled
def determinize(state, seat):
    """Resample the deck and the others' secret cards with the state's generator, every deal with the same chance.

    One reaction tells something: whoever is being asked right now can cancel. Seats that accepted and seats that were
    not asked look alike to others, and who is asked next follows from the new hands.
    """
    players, top = np.int64(state.players), np.int64(state.top)
    start = top
    for other in range(players):
        if other != seat:
            start = gather_secrets(state, other, start)
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
def gather_secrets(state, seat, top):
    """Put copies of a seat's secret cards on a deck that begins at `top`; returns where it begins now."""
    for value in range(1, 12):
        for _ in range(count((state.secret[seat, 0], state.secret[seat, 1]), value)):
            top -= 1
            state.cards[top] = value
    return top


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
