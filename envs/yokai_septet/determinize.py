"""Sample what a seat of Yokai Septet cannot see, consistent with all it knows."""

import numpy as np

from ..core.bits import ONE, ZERO, bit, has, lowest, popcount
from ..core.jit import compiled
from ..core.rng import draw
from .rules import (
    BOSSES,
    DOWN,
    EXCHANGING,
    KEEP,
    NONE,
    PASS,
    SUIT_CARDS,
    UP,
    draw_card,
    pass_target,
    shown_card,
)

# Unknown cards go into at most three bins: the other hands, or with two players the other hand, the other's discard
# and all unseen straw places together. A set of bins is a small bit mask.


@compiled
def determinize(state, seat):
    """Resample the hidden cards and choices with the state's generator."""
    if state.players == 2:
        resample_straw(state, seat)
        return
    resample_hands(state, seat)
    if state.phase == PASS:
        rechoose_passes(state, seat)
    else:
        resample_passes(state, seat)


@compiled
def deal_bins(state, cards, room, forbidden):
    """Deal unknown cards into three bins with `room` places each, as (bin 0, bin 1, bin 2).

    `forbidden[k]` holds the cards bin k cannot take. At least one such deal exists (the truth). Cards with the fewest
    bins go first, each to a bin with a chance by the places left in it, never one that leaves the rest without places.
    """
    bins_0, bins_1, bins_2 = ZERO, ZERO, ZERO
    room_0, room_1, room_2 = room
    out_0, out_1, out_2 = forbidden
    for choices in range(1, 4):
        pending = ZERO
        left = cards
        while left != ZERO:
            card = left & (~left + ONE)
            left ^= card
            # As integers: numpy's booleans, which plain Python has here, do not count when added.
            open_bins = int(card & out_0 == ZERO) + int(card & out_1 == ZERO) + int(card & out_2 == ZERO)
            if open_bins == choices:
                pending |= card
        while pending != ZERO:
            card = bit(draw_card(state, pending))
            weight_0 = room_0 if card & out_0 == ZERO else 0
            weight_1 = room_1 if card & out_1 == ZERO else 0
            weight_2 = room_2 if card & out_2 == ZERO else 0
            rest = cards ^ card
            outs = (out_0, out_1, out_2)
            if weight_0 > 0 and not fits(rest, (room_0 - 1, room_1, room_2), outs):
                weight_0 = 0
            if weight_1 > 0 and not fits(rest, (room_0, room_1 - 1, room_2), outs):
                weight_1 = 0
            if weight_2 > 0 and not fits(rest, (room_0, room_1, room_2 - 1), outs):
                weight_2 = 0
            lot = draw(state, weight_0 + weight_1 + weight_2)
            if lot < weight_0:
                bins_0 |= card
                room_0 -= 1
            elif lot < weight_0 + weight_1:
                bins_1 |= card
                room_1 -= 1
            else:
                bins_2 |= card
                room_2 -= 1
            pending ^= card
            cards = rest
    return bins_0, bins_1, bins_2


@compiled
def fits(cards, room, forbidden):
    """Whether the cards can be dealt at all (Hall's condition over the sets of bins)."""
    room_0, room_1, room_2 = room
    out_0, out_1, out_2 = forbidden
    return (
        popcount(cards & out_1 & out_2) <= room_0
        and popcount(cards & out_0 & out_2) <= room_1
        and popcount(cards & out_0 & out_1) <= room_2
        and popcount(cards & out_2) <= room_0 + room_1
        and popcount(cards & out_1) <= room_0 + room_2
        and popcount(cards & out_0) <= room_1 + room_2
    )


@compiled
def void_cards(state, seat):
    """Cards of the suits a seat has shown not to hold."""
    cards = ZERO
    for suit in range(7):
        if has(np.uint64(state.void[seat]), suit):
            cards |= SUIT_CARDS[suit]
    return cards


# --- Three and four players ---


@compiled
def chosen_by(state, seat):
    """The cards a seat has chosen to pass."""
    cards = ZERO
    for k in range(3):
        if state.passes[seat, k] != NONE:
            cards |= bit(state.passes[seat, k])
    return cards


@compiled
def sent_to(state, seat, other):
    """The cards a seat has passed to another one."""
    cards = ZERO
    for k in range(3):
        if pass_target(state, seat, k) == other:
            cards |= bit(state.passes[seat, k])
    return cards


@compiled
def known_in(state, seat, other):
    """Unplayed cards that a seat knows to be in another hand: those it passed there, and a shown card that must be."""
    if state.phase == PASS:
        return ZERO
    known = sent_to(state, seat, other)
    card = shown_card(state)
    if state.shown_by == other and state.lead_held:
        known |= bit(card)
    return known & state.hand[other]


@compiled
def impossible_in(state, seat, other):
    """Cards that a seat knows not to be in another hand: of void suits, and the shown card where it cannot be."""
    cards = void_cards(state, other)
    shown_by = np.int64(state.shown_by)
    if state.phase == PASS or shown_by == NONE or other == shown_by:
        return cards
    # The shown card is still with its first owner or with somebody that one passed to.
    reachable = False
    for k in range(3):
        reachable |= pass_target(state, shown_by, k) == other
    # The observer's own passes are known; had it been passed to another, it would have been seen.
    if state.lead_held or not reachable or shown_by == seat:
        cards |= bit(shown_card(state))
    return cards


@compiled
def hidden_in(state, seat, other):
    """The cards of another hand that a seat does not know to be there."""
    return state.hand[other] ^ known_in(state, seat, other)


@compiled
def resample_hands(state, seat):
    """Deal the unknown cards to the other hands (in the passing phase with the cards chosen to pass)."""
    players = np.int64(state.players)
    left, next_left, right = (seat + 1) % players, (seat + 2) % players, (seat + 3) % players
    if state.phase == PASS:
        for k in range(1, players):
            state.hand[(seat + k) % players] |= chosen_by(state, (seat + k) % players)
    old_0, old_1, old_2 = hidden_in(state, seat, left), hidden_in(state, seat, next_left), ZERO
    out_0, out_1, out_2 = impossible_in(state, seat, left), impossible_in(state, seat, next_left), ~ZERO
    if players == 4:
        old_2, out_2 = hidden_in(state, seat, right), impossible_in(state, seat, right)
    room = (popcount(old_0), popcount(old_1), popcount(old_2))
    new_0, new_1, new_2 = deal_bins(state, old_0 | old_1 | old_2, room, (out_0, out_1, out_2))
    state.hand[left] ^= old_0 ^ new_0
    state.hand[next_left] ^= old_1 ^ new_1
    if players == 4:
        state.hand[right] ^= old_2 ^ new_2


@compiled
def rechoose_passes(state, seat):
    """While others are choosing, nobody knows their choices: as many random cards of the new hands."""
    players = np.int64(state.players)
    for k in range(1, players):
        other = (seat + k) % players
        for place in range(3):
            if state.passes[other, place] != NONE:
                card = draw_card(state, state.hand[other])
                state.passes[other, place] = card
                state.hand[other] ^= bit(card)


@compiled
def resample_passes(state, seat):
    """What others passed to each other: cards that their receivers hold or have played."""
    players = np.int64(state.players)
    for giver in range(players):
        for k in range(3):
            if giver != seat and pass_target(state, giver, k) != seat:
                state.passes[giver, k] = NONE
    banned = ZERO
    if state.shown_by != NONE and not state.lead_held:
        banned = bit(shown_card(state))  # its way is known: from its first owner to where it is now
        trace_shown(state, seat)
    for giver in range(players):
        for k in range(3):
            if state.passes[giver, k] == NONE:
                receiver = pass_target(state, giver, k)
                held = (state.hand[receiver] | state.played[receiver]) & ~banned
                state.passes[giver, k] = draw_card(state, held & ~passed_to(state, receiver))


@compiled
def trace_shown(state, seat):
    """Where the shown card has moved between two others, its first owner passed it."""
    giver, card = np.int64(state.shown_by), shown_card(state)
    for k in range(3):
        receiver = pass_target(state, giver, k)
        if has(state.hand[receiver] | state.played[receiver], card) and state.passes[giver, k] == NONE:
            state.passes[giver, k] = card
            return


@compiled
def passed_to(state, receiver):
    """The cards recorded as passed to a seat, by anybody."""
    cards = ZERO
    for giver in range(np.int64(state.players)):
        for k in range(3):
            if state.passes[giver, k] != NONE and pass_target(state, giver, k) == receiver:
                cards |= bit(state.passes[giver, k])
    return cards


# --- Two players ---


@compiled
def is_unseen(state, owner, place):
    """Whether a lower straw place holds a card that nobody has seen."""
    return state.straw_down[owner, place] != NONE and not has(np.uint64(state.seen_down[owner]), place)


@compiled
def resample_straw(state, seat):
    """The other hand, the other's discard and pending choice, and every unseen straw card of both players."""
    other = 1 - seat
    hand, discard, straw = state.hand[other], ZERO, ZERO
    if state.discards[other] != NONE:
        discard = bit(state.discards[other])
    for owner in range(2):
        for place in range(DOWN):
            if is_unseen(state, owner, place):
                straw |= bit(state.straw_down[owner, place])
    room = (popcount(hand), popcount(discard), popcount(straw))
    forbidden = (void_cards(state, other), BOSSES, ZERO)
    hand, discard, straw = deal_bins(state, hand | discard | straw, room, forbidden)
    state.hand[other] = hand
    for owner in range(2):
        for place in range(DOWN):
            if is_unseen(state, owner, place):
                card = draw_card(state, straw)
                straw ^= bit(card)
                state.straw_down[owner, place] = card
    if discard != ZERO:
        state.discards[other] = lowest(discard)
    if state.phase == EXCHANGING and state.exchanges[other] != NONE:
        rechoose_exchange(state, other)
    if state.phase == KEEP and state.keeps[other] != NONE:
        state.keeps[other] = draw(state, 2)


@compiled
def rechoose_exchange(state, seat):
    """A random exchange in place of one that is chosen but still secret."""
    bosses = ZERO
    for place in range(UP):
        if has(BOSSES, state.straw_up[seat, place]):
            bosses |= bit(2 * place) | bit(2 * place + 1)
    state.exchanges[seat] = draw_card(state, bosses | bit(12))
