"""What a seat of Pikit may see, as a tensor.

Seats count clockwise from the observer (0 is itself). A field of cards counts the copies of the values 1 … 11. Whether
another seat was or will be asked to cancel is nowhere in it. The encoder below pushes the fields in the order of the
tables.
"""

import numpy as np

from ..core.bits import ZERO, bit, popcount, wrap
from ..core.jit import inlined
from ..core.layout import (
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
from .bags import count, points, total
from .rules import (
    CENTRE,
    DRAW,
    EFFECTS,
    MAX_DECK,
    MECHA_POINTS,
    MECHAS,
    NONE,
    ONES_POINTS,
    STEAL,
    WOUND_POINTS,
    deck_size,
    hand,
    hand_size,
    last_discarder,
)


def layout(players: int) -> Layout:
    """The observation's fields for a number of players."""
    bits = [
        bitset("phase", 3, meaning="discard, react, take"),
        bitset("turn_player", players, meaning="whose turn it is"),
        bitset("low", 6, meaning="face of the low die (of both, if they are equal)"),
        bitset("high", 6, meaning="face of the high die (of both, if they are equal)"),
        bitset("mechas", players, 6, meaning="mechas by seat"),
        bitset("mechas_on_table", 6, meaning="mechas that nobody holds"),
        bitset("pending_card", 11, meaning="value of the turn player's discard that waits for reactions"),
        bitset("pending_effect", EFFECTS, meaning="its declared effect, in the order of the first 20 actions"),
        bitset("pending_victim", players, meaning="whom it steals from"),
        bitset("last_cancel", players, meaning="who laid the last cancel on it"),
    ]
    integers = [
        numbers("hand", 11, high=MAX_DECK, meaning="own kaiju"),
        numbers("centre", 11, high=CENTRE, meaning="cards in the centre"),
        numbers("discard_pile", 11, high=MAX_DECK, meaning="discarded cards, pending ones included"),
        numbers("unseen", 11, high=MAX_DECK, meaning="cards in the deck or secretly in other hands"),
        numbers("known", players, 11, high=MAX_DECK, meaning="kaiju by seat that everybody has seen go into the hand"),
        numbers("unknown", players, high=MAX_DECK, meaning="number of other kaiju by seat: drawn secretly"),
        numbers("hand_size", players, high=MAX_DECK + 6, meaning="kaiju and mechas by seat"),
        numbers("wounds", players, high=127, meaning="wounds by seat"),
        numbers("scores", players, low=-128, high=127, meaning="score now by seat, of cards the observer knows of"),
        numbers("cancels", players, high=MAX_DECK, meaning="cancels by seat on the pending discard"),
        numbers("deck", high=MAX_DECK, meaning="number of cards in the deck"),
        numbers("last_turns", high=players, meaning="last turns left, this one included; 0 before they begin"),
        numbers("turns_left", high=127, meaning="turns until truncation, this one included, up to 127"),
    ]
    return Layout(bits, integers)


# Number of 0/1 columns by players; the encoder's only offset.
_BITS = np.array([0, 0, layout(2).bits, layout(3).bits, layout(4).bits], np.int64)


@inlined
def write(state, seat, row, packed):
    """Write the seat's observation, packed or not; `row` is uint64 (size / 8,)."""
    # Constant arguments let the compiler place every field once and for all.
    if state.players == 4:
        encode(state, seat, row, packed, 4)
    elif state.players == 3:
        encode(state, seat, row, packed, 3)
    else:
        encode(state, seat, row, packed, 2)


observe, observe_packed = in_both_forms(write)


@inlined
def encode(state, seat, row, packed, players):
    """Push every field of the layout in its order."""
    bits = _BITS[players]

    s = open_bits(row, bits, packed)
    s = push(row, s, bit(state.phase), 3)
    s = push(row, s, relative(np.int64(state.turn_player), seat, players), players)
    s = push(row, s, bit(state.low - 1), 6)
    s = push(row, s, bit(state.high - 1), 6)
    on_table = MECHAS
    other = seat
    for _ in range(players):
        s = push(row, s, np.uint64(state.mechas[other]) >> np.uint64(1), 6)
        on_table ^= np.uint64(state.mechas[other])
        other = wrap(other + 1, players)
    s = push(row, s, on_table >> np.uint64(1), 6)
    s = push_pending(row, s, state, seat, players, packed)
    close_bits(row, s, bits, packed)

    s = open_numbers(bits, packed)
    own = hand(state, seat)
    s = push_bag(row, s, own[0], own[1])
    s = push_bag(row, s, state.centre[0], state.centre[1])
    s = push_unpacked(row, s, state.discards[0] >> np.uint64(8), 56, packed)
    s = push_unpacked(row, s, state.discards[1], 32, packed)
    # What everybody has not seen, without the observer's own secret cards.
    unseen_0 = state.copies[0] - state.centre[0] - state.discards[0] - state.secret[seat, 0]
    unseen_1 = state.copies[1] - state.centre[1] - state.discards[1] - state.secret[seat, 1]
    for other in range(players):
        unseen_0 -= state.known[other, 0]
        unseen_1 -= state.known[other, 1]
    s = push_bag(row, s, unseen_0, unseen_1)
    other = seat
    for _ in range(players):
        s = push_bag(row, s, state.known[other, 0], state.known[other, 1])
        other = wrap(other + 1, players)
    for _ in range(players):
        s = push_number(row, s, total((state.secret[other, 0], state.secret[other, 1])))
        other = wrap(other + 1, players)
    for _ in range(players):
        s = push_number_unpacked(row, s, hand_size(state, other), packed)
        other = wrap(other + 1, players)
    for _ in range(players):
        s = push_number(row, s, min(np.int64(state.wounds[other]), 127))
        other = wrap(other + 1, players)
    most_ones = count(own, 1)
    for _ in range(players - 1):
        other = wrap(other + 1, players)
        most_ones = max(most_ones, count((state.known[other, 0], ZERO), 1))
    other = wrap(other + 1, players)
    for k in range(players):
        cards = own if k == 0 else (state.known[other, 0], state.known[other, 1])
        mechas, wounds = popcount(np.uint64(state.mechas[other])), np.int64(state.wounds[other])
        s = push_number_unpacked(row, s, seen_score(cards, mechas, wounds, most_ones), packed)
        other = wrap(other + 1, players)
    s = push(row, s, cancels(state, seat, players), 8 * players)
    s = push_number_unpacked(row, s, deck_size(state), packed)
    s = push_number_unpacked(row, s, max(np.int64(state.last_turns), 0), packed)
    s = push_number_unpacked(row, s, min(np.int64(state.max_turns) - np.int64(state.turns), 127), packed)
    close_numbers(row, s)


@inlined
def relative(who, seat, players):
    """A seat as seen by another, as a set."""
    return bit(wrap(who - seat + players, players))


@inlined
def push_bag(row, s, low, high):
    """Append the numbers of cards of each value."""
    s = push(row, s, low >> np.uint64(8), 56)
    return push(row, s, high, 32)


@inlined
def push_pending(row, s, state, seat, players, packed):
    """The discard that waits for reactions, its effect and victim, and the last cancel laid on it."""
    effect, card, effects, victim, canceller = np.int64(state.effect), ZERO, ZERO, ZERO, ZERO
    if effect != NONE:
        card = bit((np.int64(state.cards[state.discarded - state.pending]) & 15) - 1)
        effects = bit(effect)
        if STEAL <= effect < DRAW:
            victim = relative(wrap(np.int64(state.turn_player) + 1 + effect - STEAL, players), seat, players)
        if state.pending > 1:
            canceller = relative(last_discarder(state), seat, players)
    s = push_unpacked(row, s, card, 11, packed)
    s = push(row, s, effects, EFFECTS)
    s = push_unpacked(row, s, victim, players, packed)
    return push_unpacked(row, s, canceller, players, packed)


@inlined
def cancels(state, seat, players):
    """How many cancels each seat has laid on the pending discard, a byte each."""
    laid = ZERO
    for k in range(state.discarded - state.pending + 1, np.int64(state.discarded)):
        laid += bit(8 * wrap((np.int64(state.cards[k]) >> 4) - seat + players, players))
    return laid


@inlined
def seen_score(cards, mechas, wounds, most_ones):
    """What a hand would score now if it held nothing but these kaiju, the ones that the observer knows of."""
    score = points(cards) + MECHA_POINTS * mechas - WOUND_POINTS * wounds
    score += ONES_POINTS if most_ones > 0 and count(cards, 1) == most_ones else 0
    return min(max(score, -128), 127)
