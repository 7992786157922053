"""What a seat of Yokai Septet may see, as a tensor.

Seats count clockwise from the observer (0 is itself), sides from the observer's own. A field of cards has one column
a card. The encoder below pushes the fields in the order of the tables.
"""

import numpy as np

from ..core.bits import ZERO, bit, first, where, wrap
from ..core.jit import inlined, specialized
from ..core.layout import (
    Field,
    Layout,
    bitset,
    close_bits,
    close_numbers,
    in_both_forms,
    numbers,
    open_bits,
    open_numbers,
    push,
    push_number,
    push_number_unpacked,
    push_unpacked,
)
from .rules import BASE, CARDS, CARDS_WITH_FOILS, DISCARD, DOWN, NONE, PASS, PLAY, UP


def layout(players: int, suitors: bool) -> Layout:
    """The observation's fields for a number of players."""
    cards = CARDS_WITH_FOILS if suitors else CARDS
    sides = 3 if players == 3 else 2
    bosses, foils = (14, ", then the foil 7s") if suitors else (7, "")
    bits = [
        bitset("hand", cards, meaning="own hand, without the cards already chosen to pass or discard"),
        *(_passing(players, suitors, cards) if players > 2 else _straw(cards)),
        bitset("trump", 7, meaning="trump suit"),
        *([] if suitors else [bitset("trump_card", cards, meaning="the card that set trump")]),
        bitset("trick", players, cards, meaning="card of the current trick, by seat"),
        bitset("played", players, cards, meaning="cards played in this round, by seat"),
        bitset("captured", sides, bosses, meaning="captured bosses by side: the 7s by suit" + foils),
        *([bitset("sealed", sides, 7, meaning="sealed suits by side")] if suitors else []),
        bitset("void", players, 7, meaning="suits a seat has shown not to hold in hand"),
        bitset("lead", players, meaning="leader of the trick, empty until known"),
        bitset("shown_by", players, meaning="who showed the A (or Snow 13) in this round"),
        bitset("phase", 4 if players == 2 else 2, meaning=_PHASES[players == 2]),
    ]
    integers = [
        numbers("tricks", sides, high=23, meaning="tricks taken by side"),
        numbers("scores", sides, high=127, meaning="tokens by side (0 in Seven Suitors)"),
        numbers("target", high=127, meaning="tokens, points or seals that win the match"),
        numbers("round", high=127, meaning="round, counted from 1 and up to 127"),
        numbers("rounds_left", high=127, meaning="rounds until truncation, this one included, up to 127"),
    ]
    return Layout(bits, integers)


_PHASES = {False: "pass, play", True: "discard, exchange, keep, play"}


def _passing(players: int, suitors: bool, cards: int) -> list[Field]:
    if suitors:
        return [
            bitset("sent", 3, cards, meaning="card chosen for the left, opposite and right player"),
            bitset("received", 3, cards, meaning="card received from the left, opposite and right player"),
        ]
    giver, taker = ("the partner",) * 2 if players == 4 else ("the right neighbour", "the left neighbour")
    return [
        bitset("sent", cards, meaning=f"cards chosen for {taker}"),
        bitset("received", cards, meaning=f"cards received from {giver}"),
    ]


def _straw(cards: int) -> list[Field]:
    return [
        bitset("discard", cards, meaning="own discarded card"),
        bitset("exchange", 13, meaning="own exchange as chosen: 0 left, 0 right, …, 5 right, none"),
        bitset("keep", 2, meaning="own choice of the boss that stays up: old, new"),
        bitset("bare", 2, cards, meaning="straw cards that lie open and may be played, by seat"),
        bitset("straw_up", 2, UP, 14, meaning="face-up straw card by place: its suit, then its rank in the suit"),
        bitset("straw_down", 2, DOWN, 14, meaning="the same for the places below, where the card is known"),
        bitset("straw_left", 2, DOWN, meaning="places below that still hold a card, by seat"),
    ]


# Number of 0/1 columns by [players, suitors]; the encoder's only offset.
_BITS = np.zeros((5, 2), np.int64)
for _players, _suitors in ((2, False), (3, False), (4, False), (4, True)):
    _BITS[_players, int(_suitors)] = layout(_players, _suitors).bits


@inlined
def write(state, seat, row, packed):
    """Write the seat's observation, packed or not; `row` is uint64 (size / 8,)."""
    # Constant arguments let the compiler place every field once and for all.
    if state.variant != BASE:
        encode(state, seat, row, packed, 4, 2, True)
    elif state.players == 4:
        encode(state, seat, row, packed, 4, 2, False)
    elif state.players == 3:
        encode(state, seat, row, packed, 3, 3, False)
    else:
        encode(state, seat, row, packed, 2, 2, False)


observe, observe_packed = in_both_forms(write)


@inlined
def encode(state, seat, row, packed, players, sides, suitors):
    """Push every field of the layout in its order."""
    cards = CARDS_WITH_FOILS if suitors else CARDS
    bits = _BITS[players, 1 if suitors else 0]

    s = open_bits(row, bits, packed)
    s = push(row, s, state.hand[seat], cards)
    if players == 2:
        s = push_straw(row, s, state, seat, packed)
    else:
        s = push_passing(row, s, state, seat, players, cards, packed)
    s = push(row, s, one_hot(np.int64(state.trump)), 7)
    if not suitors:
        s = push(row, s, one_hot(np.int64(state.trump_card)), cards)
    other = seat
    for _ in range(players):
        s = push(row, s, one_hot(np.int64(state.trick[other])), cards)
        other = wrap(other + 1, players)
    for _ in range(players):
        s = push(row, s, state.played[other], cards)
        other = wrap(other + 1, players)
    own = wrap(seat, sides)
    for k in range(sides):
        s = push(row, s, np.uint64(state.captured[wrap(own + k, sides)]), 14 if suitors else 7)
    if suitors:
        for k in range(sides):
            s = push(row, s, np.uint64(state.sealed[wrap(own + k, sides)]), 7)
    for _ in range(players):
        s = push(row, s, np.uint64(state.void[other]), 7)
        other = wrap(other + 1, players)
    s = push(row, s, relative(np.int64(state.lead), seat, players), players)
    s = push_unpacked(row, s, relative(np.int64(state.shown_by), seat, players), players, packed)
    if players == 2:
        s = push(row, s, bit(state.phase - DISCARD), PLAY - DISCARD + 1)
    else:
        s = push(row, s, bit(0 if state.phase == PASS else 1), 2)
    close_bits(row, s, bits, packed)

    s = open_numbers(bits, packed)
    for k in range(sides):
        s = push_number(row, s, np.int64(state.tricks[wrap(own + k, sides)]))
    for k in range(sides):
        s = push_number_unpacked(row, s, min(np.int64(state.scores[wrap(own + k, sides)]), 127), packed)
    s = push_number(row, s, np.int64(state.target))
    s = push_number_unpacked(row, s, min(np.int64(state.round_number), 127), packed)
    rounds_left = np.int64(state.max_rounds) - np.int64(state.round_number) + 1
    s = push_number_unpacked(row, s, min(rounds_left, 127), packed)
    close_numbers(row, s)


@inlined
def one_hot(index):
    """The set of one index, empty for NONE."""
    return ZERO if index == NONE else bit(index)


@inlined
def relative(who, seat, players):
    """A seat as seen by another, as a set; empty for NONE."""
    return ZERO if who == NONE else bit(wrap(who - seat + players, players))


@inlined
def push_passing(row, s, state, seat, players, cards, packed):
    """Cards sent (as soon as they are chosen) and received (once everybody has chosen)."""
    if cards == CARDS_WITH_FOILS:
        for k in range(3):
            s = push(row, s, one_hot(np.int64(state.passes[seat, k])), cards)
        for k in range(3):
            giver = (seat + 1 + k) % 4  # for whom the observer is player 2 - k of the three
            received = ZERO if state.phase == PASS else one_hot(np.int64(state.passes[giver, 2 - k]))
            s = push_unpacked(row, s, received, cards, packed)
        return s
    giver = wrap(seat + 2, players)  # the partner of four, the right neighbour of three
    sent, received = ZERO, ZERO
    for k in range(3):
        sent |= one_hot(np.int64(state.passes[seat, k]))
        received |= one_hot(np.int64(state.passes[giver, k]))
    s = push(row, s, sent, cards)
    return push_unpacked(row, s, ZERO if state.phase == PASS else received, cards, packed)


@inlined
def push_straw(row, s, state, seat, packed):
    """Two players: the own secret discard and choices, and what both see of the straw piles."""
    s = push(row, s, one_hot(np.int64(state.discards[seat])), CARDS)
    s = push_unpacked(row, s, one_hot(np.int64(state.exchanges[seat])), 13, packed)
    s = push_unpacked(row, s, one_hot(np.int64(state.keeps[seat])), 2, packed)
    for k in range(2):
        s = push(row, s, state.bare[(seat + k) % 2], CARDS)
    for k in range(2):
        s = push_places(row, s, state.straw_up[(seat + k) % 2], UP, first(UP), False)
    for k in range(2):
        other = (seat + k) % 2
        s = push_places(row, s, state.straw_down[other], DOWN, np.uint64(state.seen_down[other]), packed)
    for k in range(2):
        s = push(row, s, first(DOWN) & ~where(state.straw_down[(seat + k) % 2], NONE), DOWN)
    return s


# A card as two one-hot sets of seven, its suit and its rank in the suit; entry 0 is NONE.
_SUIT_AND_RANK = np.array([0] + [1 << (card // 7) | 1 << (7 + card % 7) for card in range(CARDS)], np.uint64)
# Those 14 bits of every place in a set of four places.
_PLACES = np.array([sum(0x3FFF << (14 * k) for k in range(4) if seen >> k & 1) for seen in range(16)], np.uint64)


@specialized
def push_places(row, s, cards, count, seen, packed):
    """Suit and rank of the cards in straw places, four places a push; nothing where they are not seen."""
    for start in range(0, count, 4):
        code = ZERO
        width = 0
        for place in range(start, min(start + 4, count)):
            code |= _SUIT_AND_RANK[cards[place] + 1] << np.uint64(width)
            width += 14
        s = push_unpacked(row, s, code & _PLACES[(seen >> np.uint64(start)) & np.uint64(15)], width, packed)
    return s
