"""Determinization of Yokai Septet: resample what a seat cannot see, consistent with all it knows."""

from math import factorial

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import ZERO, bit, drop_lowest, has, lowest, popcount, set_of
from ..core.rng import draw, draw32, draw_from
from . import rules
from .rules import BOSSES, CARDS_WITH_FOILS, DOWN, NONE, PASS, SUIT_CARDS, draw_cards, pass_target, shown_card

# Unknown cards go into at most three bins: the other hands, or with two players the other hand, the other's discard
# and all unseen straw places. A world also holds what others passed to each other; all worlds that agree with what the
# seat knows are equally likely.


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


_INVERSE_FACTORIAL = np.array([1.0 / factorial(n) for n in range(CARDS_WITH_FOILS + 1)])


@compiled
def deal_bins(state, bins, forbidden):
    """Deal the unknown cards in three bins anew, as many into each as before, as (bin 0, bin 1, bin 2).

    `forbidden[k]` holds the cards bin k cannot take; all deals that keep to this are equally likely. Only a record that
    contradicts itself, as no played or loaded one does, has none: then all cards stay where they are.
    """
    out_0, out_1, out_2 = forbidden
    cards, room = together(bins)
    part_01, part_02, part_12, weight = split(state, cards, room, forbidden)
    if weight == 0.0:
        return bins
    either_01 = cards & out_2 & ~(out_0 | out_1)
    either_02 = cards & out_1 & ~(out_0 | out_2)
    either_12 = cards & out_0 & ~(out_1 | out_2)
    from_01 = draw_cards(state, either_01, part_01)
    from_02 = draw_cards(state, either_02, part_02)
    from_12 = draw_cards(state, either_12, part_12)
    bin_0 = (cards & out_1 & out_2) | from_01 | from_02
    bin_1 = (cards & out_0 & out_2) | (either_01 ^ from_01) | from_12
    bin_2 = (cards & out_0 & out_1) | (either_02 ^ from_02) | (either_12 ^ from_12)
    free = cards & ~(out_0 | out_1 | out_2)
    free_0 = draw_cards(state, free, room[0] - popcount(bin_0))
    free_1 = draw_cards(state, free ^ free_0, room[1] - popcount(bin_1))
    return bin_0 | free_0, bin_1 | free_1, bin_2 | (free ^ free_0 ^ free_1)


@inlined
def together(bins):
    """All cards of three bins, and how many each has."""
    return bins[0] | bins[1] | bins[2], (popcount(bins[0]), popcount(bins[1]), popcount(bins[2]))


@compiled
def split(state, cards, room, forbidden):
    """How many of the cards with two possible bins go to the first of them, for each pair of bins.

    Returns (of 0 or 1 to 0, of 0 or 2 to 0, of 1 or 2 to 1, sum of weights). The weight of a split is the number of its
    deals up to a factor that all splits of these cards share; the sum is 0 where there is no deal.
    """
    out_0, out_1, out_2 = forbidden
    if cards & out_0 & out_1 & out_2 != ZERO:
        return 0, 0, 0, 0.0
    room_0 = room[0] - popcount(cards & out_1 & out_2)
    room_1 = room[1] - popcount(cards & out_0 & out_2)
    room_2 = room[2] - popcount(cards & out_0 & out_1)
    n_01 = popcount(cards & out_2 & ~(out_0 | out_1))
    n_02 = popcount(cards & out_1 & ~(out_0 | out_2))
    n_12 = popcount(cards & out_0 & ~(out_1 | out_2))
    part_01, part_02, part_12, total = 0, 0, 0, 0.0
    for a in range(max(0, n_01 - room_1), min(n_01, room_0) + 1):
        weight_a = _INVERSE_FACTORIAL[a] * _INVERSE_FACTORIAL[n_01 - a]
        for b in range(max(0, n_02 - room_2), min(n_02, room_0 - a) + 1):
            weight_b = weight_a * _INVERSE_FACTORIAL[b] * _INVERSE_FACTORIAL[n_02 - b]
            weight_b *= _INVERSE_FACTORIAL[room_0 - a - b]
            left_1, left_2 = room_1 - (n_01 - a), room_2 - (n_02 - b)
            for c in range(max(0, n_12 - left_2), min(n_12, left_1) + 1):
                weight = weight_b * _INVERSE_FACTORIAL[c] * _INVERSE_FACTORIAL[n_12 - c]
                weight *= _INVERSE_FACTORIAL[left_1 - c] * _INVERSE_FACTORIAL[left_2 - (n_12 - c)]
                total += weight
                if taken(state, weight, total):
                    part_01, part_02, part_12 = a, b, c
    return part_01, part_02, part_12, total


@compiled
def taken(state, weight, total):
    """Whether an option is drawn instead of those before it; `total` is the weight of all of them and itself."""
    return np.float64(draw32(state)) * 2.0**-32 * total < weight


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
def sent_to(state, seat, other):
    """The cards a seat has passed to another one."""
    cards = ZERO
    for k in range(3):
        if pass_target(state, seat, k) == other:
            cards |= set_of(state.passes[seat, k])
    return cards


@compiled
def hidden_in(state, seat, other):
    """Another hand without what a seat knows to be there: the cards it passed, and a shown card that was kept."""
    if state.phase == PASS:
        return state.hand[other]
    known = sent_to(state, seat, other)
    if state.shown_by == other and state.lead_held:
        known |= bit(shown_card(state.trump_card))
    return state.hand[other] & ~known


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
    # An observer that showed it and knows what it passed knows where the card is.
    own = shown_by == seat and state.passes[seat, 0] != NONE
    if state.lead_held or not reachable or own:
        cards |= bit(shown_card(state.trump_card))
    return cards


@compiled
def resample_hands(state, seat):
    """Deal the unknown cards to the other hands (in the passing phase with the cards chosen to pass)."""
    players = np.int64(state.players)
    left, next_left, right = (seat + 1) % players, (seat + 2) % players, (seat + 3) % players
    if state.phase == PASS:
        for other in range(players):
            for k in range(3 if other != seat else 0):
                state.hand[other] |= set_of(state.passes[other, k])
    old_0, old_1, old_2 = hidden_in(state, seat, left), hidden_in(state, seat, next_left), ZERO
    out_0, out_1, out_2 = impossible_in(state, seat, left), impossible_in(state, seat, next_left), ~ZERO
    if players == 4:
        old_2, out_2 = hidden_in(state, seat, right), impossible_in(state, seat, right)
    bins, forbidden = (old_0, old_1, old_2), (out_0, out_1, out_2)
    if state.phase != PASS and state.shown_by != NONE:
        forbidden = place_shown(state, seat, bins, forbidden)
    new_0, new_1, new_2 = deal_bins(state, bins, forbidden)
    state.hand[left] ^= old_0 ^ new_0
    state.hand[next_left] ^= old_1 ^ new_1
    if players == 4:
        state.hand[right] ^= old_2 ^ new_2


@compiled
def place_shown(state, seat, bins, forbidden):
    """Draw whose hand the shown card is in, if the seat does not know; returns `forbidden` with one bin left for it.

    Hands count by the ways of passing that lead to them. A seat has p cards that the observer did not give it, u of
    them passed by others: its own shown card, if kept, is none of these in (p - u) / p of the ways. Passed on, it is
    among the s cards from its owner in s / p. That makes 9 : 3 in teams, 16 : 3 for three players (what the owner got
    came from the observer) and 11 : 1 in Seven Suitors.
    """
    cards, room = together(bins)
    shown = cards & bit(shown_card(state.trump_card))
    if shown == ZERO:
        return forbidden
    players, suitors = np.int64(state.players), state.variant != rules.BASE
    dealt = np.float64(state.hand_cards)
    kept, passed = dealt if players == 3 else dealt - 3.0, 1.0 if suitors else 3.0
    place, total = 0, 0.0
    for k in range(players - 1):
        if forbidden[k] & shown != ZERO:
            continue
        room_left = (room[0] - (k == 0), room[1] - (k == 1), room[2] - (k == 2))
        weight = split(state, cards ^ shown, room_left, forbidden)[3]
        weight *= kept if (seat + 1 + k) % players == state.shown_by else passed
        total += weight
        if taken(state, weight, total):
            place = k
    return (
        forbidden[0] | (ZERO if place == 0 else shown),
        forbidden[1] | (ZERO if place == 1 else shown),
        forbidden[2] | (ZERO if place == 2 else shown),
    )


@compiled
def rechoose_passes(state, seat):
    """While others are choosing, nobody knows their choices: as many random cards of the new hands."""
    players = np.int64(state.players)
    for k in range(1, players):
        other = (seat + k) % players
        for place in range(3):
            if state.passes[other, place] != NONE:
                card = draw_from(state, state.hand[other])
                state.passes[other, place] = card
                state.hand[other] ^= bit(card)


@compiled
def resample_passes(state, seat):
    """What others passed to each other: cards that their receivers hold or have played."""
    players = np.int64(state.players)
    unknown = ZERO  # passed cards to draw anew, as bits 3 * giver + k; what is not recorded at all stays so
    for giver in range(players):
        for k in range(3):
            if giver != seat and pass_target(state, giver, k) != seat and state.passes[giver, k] != NONE:
                unknown |= bit(3 * giver + k)
                state.passes[giver, k] = NONE
    banned = ZERO
    if state.shown_by != NONE and not state.lead_held:
        banned = bit(shown_card(state.trump_card))  # its way is known: from its first owner to where it is now
        unknown = trace_shown(state, unknown)
    while unknown != ZERO:
        giver, k = lowest(unknown) // 3, lowest(unknown) % 3
        unknown = drop_lowest(unknown)
        receiver = pass_target(state, giver, k)
        held = (state.hand[receiver] | state.played[receiver]) & ~banned
        state.passes[giver, k] = draw_from(state, held & ~passed_to(state, receiver))


@compiled
def trace_shown(state, unknown):
    """Where the shown card has moved between two others, its first owner passed it; returns the other unknown ones."""
    giver, card = np.int64(state.shown_by), shown_card(state.trump_card)
    for k in range(3):
        receiver = pass_target(state, giver, k)
        if has(unknown, 3 * giver + k) and has(state.hand[receiver] | state.played[receiver], card):
            state.passes[giver, k] = card
            return unknown ^ bit(3 * giver + k)
    return unknown


@compiled
def passed_to(state, receiver):
    """The cards recorded as passed to a seat, by anybody."""
    cards = ZERO
    for giver in range(np.int64(state.players)):
        cards |= sent_to(state, giver, receiver)
    return cards


# --- Two players ---


@compiled
def is_unseen(state, owner, place):
    """Whether a lower straw place holds a card that nobody has seen."""
    return state.straw_down[owner, place] != NONE and not has(np.uint64(state.seen_down[owner]), place)


@compiled
def resample_straw(state, seat):
    """The other hand, the other's discard and pending choice, and every unseen straw card of both players."""
    other, straw = 1 - seat, ZERO
    for owner in range(2):
        for place in range(DOWN):
            if is_unseen(state, owner, place):
                straw |= bit(state.straw_down[owner, place])
    bins = (state.hand[other], set_of(state.discards[other]), straw)
    state.hand[other], discard, straw = deal_bins(state, bins, (void_cards(state, other), BOSSES, ZERO))
    for owner in range(2):
        for place in range(DOWN):
            if is_unseen(state, owner, place):
                card = draw_from(state, straw)
                straw ^= bit(card)
                state.straw_down[owner, place] = card
    if discard != ZERO:
        state.discards[other] = lowest(discard)
    if state.phase == rules.EXCHANGING and state.exchanges[other] != NONE:
        state.exchanges[other] = draw_from(state, rules.legal_exchanges(state, other)) - rules.EXCHANGE
    if state.phase == rules.KEEP and state.keeps[other] != NONE:
        state.keeps[other] = draw(state, 2)
