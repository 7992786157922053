"""What a seat of Bite Night may see, as a tensor.

Seats count clockwise from the observer (0 is itself). A field of cards has one column a design, a field of tiles one
column a tile. The encoder below pushes the fields in the order of the tables.
"""

import numpy as np

from ..core.bits import ZERO, bit, first, seen_from, wrap
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
    stream_start,
)
from .rules import (
    BASIC_DESIGNS,
    BURY,
    CELIBACY,
    CLOSED,
    DESIGNS,
    GRAB,
    LAY,
    MAX_OPEN,
    NONE,
    SERVANT,
    TILES,
    TWICE,
    to_grab,
)

MOST_POINTS = 1279
"""Scores are shown up to this one."""


def layout(players: int, advanced: bool) -> Layout:
    """The observation's fields."""
    designs = DESIGNS if advanced else BASIC_DESIGNS
    places = 15 if players == 3 else 16
    guards = "first and second graveyard closed" + (", servant, vow of celibacy" if advanced else "")
    bits = [
        bitset("hand", designs, meaning="own hand; in the rendezvous the own cards that were set aside"),
        bitset("hand_twice", len(TWICE), meaning=f"both copies in hand: {', '.join(TWICE)}"),
        bitset("chosen_card", designs, meaning="own card chosen to lay, while others are choosing"),
        bitset("pile", places, designs, meaning="card by place in the pile, where known: own and revealed ones"),
        bitset("pile_seats", places, players, meaning="who laid the card, by place in the pile"),
        bitset("middle", TILES, meaning="tiles to grab"),
        bitset("tiles", players, TILES, meaning="tiles in front of a seat"),
        bitset("graveyard", TILES, meaning="buried tiles"),
        bitset("chosen_tiles", TILES, meaning="own tiles chosen to grab or bury, while others are choosing"),
        bitset("open_cards", 4 if advanced else 2, meaning=f"protective cards that lie open: {guards}"),
        bitset("first_player", players, meaning="first player of the round, in the rendezvous the leader of the lap"),
        bitset("lap_leader", players, meaning="leader of the lap"),
        bitset("asked", players, meaning="seats that decide now (whether or not they have chosen)"),
        bitset("phase", 4 if advanced else 3, meaning="lay, grab, bury" + (", resurrect" if advanced else "")),
    ]
    integers = [
        numbers("to_grab", players, high=3, meaning="tiles a seat still needs in this round"),
        numbers(
            "score_tens", players, high=127, meaning=f"score of a seat, up to {MOST_POINTS}: all digits but the last"
        ),
        numbers("score_units", players, high=9, meaning="last digit of the score of a seat"),
        numbers("lap", high=100, meaning="lap, counted from 1"),
        numbers("laps_left", high=99, meaning="laps that follow this one"),
        numbers("round", high=5, meaning="round of the lap, counted from 1"),
        numbers("resolved", high=places, meaning="cards of the pile that are done, without the one being applied"),
    ]
    if advanced:
        integers.append(numbers("claims", 5, high=5, meaning="tiles of a colour the resurrecting seat may still raise"))
    return Layout(bits, integers)


# Number of 0/1 columns by [players, advanced]; the encoder's only offset.
_BITS = np.zeros((5, 2), np.int64)
for _players in (3, 4):
    for _advanced in (False, True):
        _BITS[_players, int(_advanced)] = layout(_players, _advanced).bits

# Who lays the cards of one round, as the columns of `pile_seats`, by [players, first player as the observer sees it].
_OWNERS = np.zeros((5, 4), np.uint64)
for _players in (3, 4):
    for _leader in range(_players):
        _OWNERS[_players, _leader] = sum(1 << k * _players + (_leader + k) % _players for k in range(_players))


@inlined
def write(state, seat, row, packed):
    """Write the seat's observation, packed or not; `row` is uint64 (size / 8,)."""
    # Constant arguments let the compiler place every field once and for all.
    if state.players == 4:
        if state.advanced:
            encode(state, seat, row, packed, 4, True)
        else:
            encode(state, seat, row, packed, 4, False)
    elif state.advanced:
        encode(state, seat, row, packed, 3, True)
    else:
        encode(state, seat, row, packed, 3, False)


observe, observe_packed = in_both_forms(write)


@inlined
def encode(state, seat, row, packed, players, advanced):
    """Push every field of the layout in its order."""
    designs = DESIGNS if advanced else BASIC_DESIGNS
    bits = _BITS[players, 1 if advanced else 0]
    laying = state.phase == LAY
    chosen = one_hot(np.int64(state.choices[seat, 0]))

    s = open_bits(row, bits, packed)
    s = push(row, s, state.hand[seat] & first(designs), designs)
    s = push_unpacked(row, s, state.hand[seat] >> np.uint64(DESIGNS), len(TWICE), packed)
    s = push_unpacked(row, s, chosen if laying else ZERO, designs, packed)
    for _ in range(15 if players == 3 else 16):
        s = push(row, s, ZERO, designs)  # the pile, see below
    s = push_owners(row, s, state, seat, players)
    s = push_unpacked(row, s, np.uint64(state.middle), TILES, packed)
    other = seat
    for _ in range(players):
        s = push(row, s, state.tiles[other], TILES)
        other = wrap(other + 1, players)
    s = push_unpacked(row, s, np.uint64(state.graveyard), TILES, packed)
    hidden = ZERO if laying else chosen | one_hot(np.int64(state.choices[seat, 1]))
    s = push_unpacked(row, s, hidden, TILES, packed)
    s = push_unpacked(row, s, open_set(state), 4 if advanced else 2, packed)
    s = push_unpacked(row, s, bit(wrap(np.int64(state.first_player) - seat + players, players)), players, packed)
    s = push_unpacked(row, s, bit(wrap(np.int64(state.lap_leader) - seat + players, players)), players, packed)
    s = push_unpacked(row, s, seen_from(seat, np.uint64(state.asked), players), players, packed)
    s = push(row, s, bit(state.phase), 4 if advanced else 3)
    # Few places of the pile are known: cheaper to set their bits than to push every place.
    mark_pile(row, state, seat, players, designs, stream_start(row, bits, packed))
    close_bits(row, s, bits, packed)

    s = open_numbers(bits, packed)
    grabbing = state.phase == GRAB and state.acting != 0
    for _ in range(players):
        s = push_number_unpacked(row, s, to_grab(state, other) if grabbing else 0, packed)
        other = wrap(other + 1, players)
    for _ in range(players):
        s = push_number_unpacked(row, s, min(np.int64(state.scores[other]), MOST_POINTS) // 10, packed)
        other = wrap(other + 1, players)
    for _ in range(players):
        s = push_number_unpacked(row, s, min(np.int64(state.scores[other]), MOST_POINTS) % 10, packed)
        other = wrap(other + 1, players)
    s = push_number_unpacked(row, s, np.int64(state.lap), packed)
    s = push_number_unpacked(row, s, np.int64(state.laps) - np.int64(state.lap), packed)
    s = push_number(row, s, np.int64(state.round_number))
    s = push_number(row, s, np.int64(state.resolved))
    if advanced:
        for colour in range(5):
            s = push_number_unpacked(row, s, np.int64(state.claims[colour]), packed)
    close_numbers(row, s)


@inlined
def one_hot(index):
    """The set of one index, empty for NONE."""
    return ZERO if index == NONE else bit(index)


@inlined
def revealed(state):
    """How many cards of the pile everybody has seen: those done, and the one being applied."""
    return np.int64(state.resolved) + (1 if state.phase >= BURY else 0)


@inlined
def push_owners(row, s, state, seat, players):
    """Who laid which card of the pile; the first player moves on by one each round."""
    first_player = wrap(np.int64(state.lap_leader) - seat + players, players)  # as the observer sees it
    for turn in range(5 if players == 3 else 4):
        laid = turn * players < state.pile_size
        s = push(row, s, _OWNERS[players, first_player] if laid else ZERO, players * players)
        first_player = wrap(first_player + 1, players)
    return s


@inlined
def mark_pile(row, state, seat, players, designs, start):
    """Put the known cards of the pile, own and revealed ones, into the stream of bits, whose first word is `start`."""
    seen, size = revealed(state), np.int64(state.pile_size)
    for place in range(min(seen, size)):
        mark_card(row, state, place, designs, start)
    place = wrap(seat - np.int64(state.lap_leader) + players, players)  # the seat's card of the first round
    for turn in range(5 if players == 3 else 4):
        if place < size:
            mark_card(row, state, place, designs, start)
        # one place earlier in each round; from the first place of a round to the last of the next
        place += 2 * players - 1 if place == turn * players else players - 1


@inlined
def mark_card(row, state, place, designs, start):
    """Set the bit of the card in a place of the pile."""
    column = designs + len(TWICE) + designs + place * designs + np.int64(state.pile[place])
    row[start + (column >> 6)] |= bit(column & 63)


@inlined
def open_set(state):
    """The open cards as columns: first and second graveyard closed, servant, vow of celibacy."""
    closed, others = ZERO, ZERO
    for place in range(MAX_OPEN):
        card = np.int64(state.open_cards[place])
        if card == CLOSED:
            closed = (closed << np.uint64(1)) | np.uint64(1)
        elif card == SERVANT:
            others |= np.uint64(4)
        elif card == CELIBACY:
            others |= np.uint64(8)
    return closed | others
