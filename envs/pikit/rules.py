"""Pikit: the rules for two to four players.

Sections in the comments are those of the rulebook (see README.md for sources and rulings).
"""

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import ONE, ZERO, bit, first, has, lowest, nth, popcount, seen_from, wrap
from ..core.contract import PLAYING, TERMINATED, TRUNCATED, record_type
from ..core.rng import draw
from .bags import copy_of, count, points, total

# --- Cards: kaiju of value 1 … 11, and six mechas, one for each double ---

DECK = {1: 6, 2: 6, 3: 6, 4: 6, 5: 6, 6: 6, 7: 6, 8: 8, 9: 1, 10: 1, 11: 1}
TWO_PLAYER_DECK = {value: copies - 2 if value <= 8 else copies for value, copies in DECK.items()}
MAX_DECK = 120

CENTRE, START, FACES = 8, 10, 6  # cards in the centre, least worth of a starting hand, faces of a die: usually, at most
MECHA_POINTS, ONES_POINTS, WOUND_POINTS = 15, 15, 3
MECHAS = np.uint64(0b1111110)  # a set of mechas has bit d for the double d-d
NONE = -1

# --- Effects of discards, in the order of the cards that have them: 2, 4, 5, 6, 7 ---

REROLL = 0  # + 0: the low die, + 1: the high die, + 2: both
STEAL = 3  # + k: from the seat k + 1 places clockwise
DRAW = 6
CANCEL = 7
TURN = 8  # + f: the low die to face f + 1; + 6 + f: the high die
EFFECTS = 20

# --- Actions: an effect by its own card, the same by a 9, a 10, an 11, then the rest; the last one is the no-op ---

BY_9, BY_10, BY_11 = EFFECTS, 2 * EFFECTS, 3 * EFFECTS
END_DISCARDS, ACCEPT = 80, 81
TAKE_SUM, TAKE_DIFFERENCE, TAKE_LOW, TAKE_HIGH, TAKE_BOTH = 82, 83, 84, 85, 86
TAKE_MECHA, STEAL_MECHA, TAKE_NOTHING = 87, 88, 89
ACTIONS = 91

EFFECT_CARD = (2, 2, 2, 4, 4, 4, 5, 6, *(7,) * 12)  # the card, wild ones aside, that has an effect
CARD_OF = np.array([*EFFECT_CARD, *(9,) * EFFECTS, *(10,) * EFFECTS, *(11,) * EFFECTS], np.int64)
EFFECTS_OF = np.array([sum(1 << e for e in range(EFFECTS) if EFFECT_CARD[e] == v) for v in range(8)], np.uint64)


def _dice_effects(low: int, high: int) -> int:
    """What can be done to the dice: equal ones are both low, and a die is never turned to the face it shows."""
    effects = [REROLL, REROLL + 2] + [TURN + face - 1 for face in range(1, 7) if face != low]
    if low != high:
        effects += [REROLL + 1] + [TURN + 6 + face - 1 for face in range(1, 7) if face != high]
    return sum(1 << effect for effect in effects)


# To which faces dice can be turned, by the faces they have.
FACES_EFFECTS = np.array(
    [~sum(1 << TURN + die + face for die in (0, 6) for face in range(faces, 6)) & 0xFFFFF for faces in range(7)],
    np.uint64,
)
DICE_EFFECTS = np.array([[_dice_effects(low, high) for high in range(7)] for low in range(7)], np.uint64)

# --- State ---

DISCARD, REACT, TAKE = 0, 1, 2  # phase

STATE = record_type(
    [
        # options; for bags see below
        ("max_turns", np.uint16),
        ("copies", np.uint64, 2),  # bag of all cards of the deck
        ("deck_cards", np.uint8),  # how many these are
        ("centre_cards", np.uint8),  # cards face up in the centre
        ("start", np.uint8),  # a starting hand is worth at least this much
        ("faces", np.uint8),  # of a die
        # the turn
        ("turns", np.uint16),  # finished turns
        ("last_turns", np.int8),  # last turns not yet finished, NONE until the turn that emptied the deck is over
        ("turn_player", np.uint8),
        ("phase", np.uint8),
        ("low", np.uint8),  # the dice, low ≤ high
        ("high", np.uint8),
        # Discards are in [0, discarded) from the first one on, the deck is in [top, deck_cards), zeros are between.
        # A pending discard has its seat in the upper four bits.
        ("cards", np.uint8, MAX_DECK),
        ("top", np.uint8),
        ("discarded", np.uint8),
        ("pending", np.uint8),  # discards, the last of the pile, that wait for reactions: a card and cancels on it
        ("effect", np.int8),  # declared for the first of them, else NONE
        # where the cards are; the hand of a seat is known + secret
        ("centre", np.uint64, 2),  # bag
        ("discards", np.uint64, 2),  # bag, pending ones included
        ("known", np.uint64, (4, 2)),  # bag per seat: cards that everybody has seen go into this hand
        ("secret", np.uint64, (4, 2)),  # bag per seat: cards that only the seat has seen
        ("mechas", np.uint8, 4),  # set per seat, see MECHAS; the others are on the table
        ("wounds", np.uint8, 4),
    ]
)


# --- Hands ---


@inlined
def hand(state, seat):
    """The bag of a seat's kaiju."""
    return state.known[seat, 0] + state.secret[seat, 0], state.known[seat, 1] + state.secret[seat, 1]


@inlined
def hand_size(state, seat):
    """How many cards, kaiju and mechas, a seat holds."""
    return total(hand(state, seat)) + popcount(np.uint64(state.mechas[seat]))


@inlined
def has_cards(state, seat):
    """Whether there is anything to steal from a seat."""
    kaiju = hand(state, seat)
    return (kaiju[0] | kaiju[1] | np.uint64(state.mechas[seat])) != ZERO


@inlined
def deck_size(state):
    """How many cards are left in the deck."""
    return np.int64(state.deck_cards) - np.int64(state.top)


@inlined
def unseen(state, seat, word):
    """A word of the bag of all cards a seat has not seen: the deck and the others' secret cards."""
    cards = state.copies[word] - state.centre[word] - state.discards[word] - state.secret[seat, word]
    for other in range(4):  # a seat that is not in the game has no cards
        cards -= state.known[other, word]
    return cards


@compiled
def gain(state, seat, value):
    """A card that everybody sees goes into a hand."""
    state.known[seat, value >> 3] += copy_of(value)


@compiled
def lose(state, seat, value):
    """A card that everybody sees leaves a hand.

    Copies are alike, so where one of this value was known, it is that one: of the others nothing has been learned.
    """
    if count((state.known[seat, 0], state.known[seat, 1]), value) > 0:
        state.known[seat, value >> 3] -= copy_of(value)
    else:
        state.secret[seat, value >> 3] -= copy_of(value)


@compiled
def discard(state, value):
    """Put a card on the discard pile."""
    state.cards[state.discarded] = value
    state.discarded += 1
    state.discards[value >> 3] += copy_of(value)


@compiled
def top_card(state):
    """Take the top card of a deck that is not empty."""
    value = np.int64(state.cards[state.top])
    state.cards[state.top] = 0
    state.top += 1
    return value


# --- Preparation ---


@compiled
def setup(state):
    """Begin a game."""
    state.outcome = PLAYING
    state.winners = state.turns = state.pending = 0
    state.last_turns = state.effect = NONE
    for word in range(2):
        state.centre[word] = state.discards[word] = ZERO
        for seat in range(4):
            state.known[seat, word] = state.secret[seat, word] = ZERO
    for seat in range(4):
        state.mechas[seat] = state.wounds[seat] = 0
    shuffle_deck(state)
    deal(state)
    begin_turn(state, 0)


@compiled
def shuffle_deck(state):
    """All cards in random order: each is put at a random place among those before it."""
    state.top = state.discarded = 0
    size = 0
    for value in range(1, 12):
        for _ in range(count(state.copies, value)):
            place = draw(state, size + 1)
            state.cards[size] = state.cards[place]
            state.cards[place] = value
            size += 1


@compiled
def deal(state):
    """Fill the centre; everybody draws face up until the hand is worth enough."""
    refill(state)
    for seat in range(np.int64(state.players)):
        worth = 0
        while worth < state.start:
            value = top_card(state)
            gain(state, seat, value)
            worth += value


@compiled
def refill(state):
    """Fill up the centre as far as the deck allows."""
    for _ in range(min(np.int64(state.centre_cards) - total(state.centre), deck_size(state))):
        value = top_card(state)
        state.centre[value >> 3] += copy_of(value)


# --- Legal actions ---


@compiled
def legal(state, seat, words):
    """Write the bit set of the seat's legal actions."""
    if state.phase == TAKE:
        words[0] = ZERO
        words[1] = takes(state, seat)
    elif state.phase == REACT:
        write_discards(state, seat, bit(CANCEL), words)
        words[1] |= bit(ACCEPT - 64)
    else:
        write_discards(state, seat, possible_effects(state, seat), words)
        words[1] |= bit(END_DISCARDS - 64)


@compiled
def possible_effects(state, seat):
    """The set of effects the turn player can declare now, whatever it holds."""
    owners = ZERO
    for other in range(4):  # a seat that is not in the game has no cards
        owners |= np.uint64(has_cards(state, other)) << np.uint64(other)
    victims = seen_from(seat, owners, np.int64(state.players)) >> ONE
    draw_one = bit(DRAW) if deck_size(state) > 0 else ZERO
    return dice_effects(state) | victims << np.uint64(STEAL) | draw_one


@inlined
def dice_effects(state):
    """The set of effects on the dice as they lie."""
    return DICE_EFFECTS[state.low, state.high] & FACES_EFFECTS[state.faces]


@inlined
def write_discards(state, seat, effects, words):
    """Write every way to bring about one of the effects with a card in hand."""
    cards, plain = hand(state, seat), ZERO
    for value in range(2, 8):
        if count(cards, value) > 0:
            plain |= effects & EFFECTS_OF[value]
    words[0], words[1] = plain, ZERO
    if count(cards, 9) > 0:
        words[0] |= effects << np.uint64(BY_9)
    if count(cards, 10) > 0:
        words[0] |= effects << np.uint64(BY_10)
    if count(cards, 11) > 0:
        words[0] |= effects << np.uint64(BY_11)
        words[1] = effects >> np.uint64(64 - BY_11)


@compiled
def takes(state, seat):
    """The set of options to take, as bits of the second word of actions."""
    low, high = np.int64(state.low), np.int64(state.high)
    of_low, of_high = count(state.centre, low), count(state.centre, high)
    options = bit(TAKE_NOTHING - 64)
    if count(state.centre, low + high) > 0:  # there is no 12
        options |= bit(TAKE_SUM - 64)
    if count(state.centre, high - low) > 0:  # nor a 0
        options |= bit(TAKE_DIFFERENCE - 64)
    if of_low > 0:
        options |= bit(TAKE_LOW - 64)
    if low != high:
        if of_high > 0:
            options |= bit(TAKE_HIGH - 64)
            if of_low > 0:
                options |= bit(TAKE_BOTH - 64)
        return options
    if of_low >= 2:
        options |= bit(TAKE_BOTH - 64)
    holder = mecha_holder(state, low)
    if holder == NONE:
        options |= bit(TAKE_MECHA - 64)
    elif holder != seat:
        options |= bit(STEAL_MECHA - 64)
    return options


@compiled
def mecha_holder(state, number):
    """Who holds the mecha of a double, NONE where it is on the table."""
    for seat in range(np.int64(state.players)):
        if has(np.uint64(state.mechas[seat]), number):
            return seat
    return NONE


# --- Actions ---


@compiled
def step(state, seat, action):
    """Carry out a legal action."""
    if action < END_DISCARDS:
        lay(state, seat, action)
    elif action == END_DISCARDS:
        state.phase = TAKE
    elif action == ACCEPT:
        ask_next(state, seat)
    else:
        take(state, seat, action)
        end_turn(state)


# --- Discards and reactions ---


@compiled
def lay(state, seat, action):
    """Discard a card for a declared effect, which waits until nobody cancels any more."""
    value = CARD_OF[action]
    lose(state, seat, value)
    discard(state, value)
    state.cards[state.discarded - 1] |= seat << 4
    if state.pending == 0:
        while action >= EFFECTS:
            action -= EFFECTS
        state.effect = action
    state.pending += 1
    ask_next(state, seat)


@inlined
def can_cancel(state, seat):
    """Whether a seat holds a 6, 9, 10 or 11."""
    cards = hand(state, seat)
    return count(cards, 6) + count(cards, 9) + count(cards, 10) + count(cards, 11) > 0


@inlined
def last_discarder(state):
    """Whose discard the open window is about."""
    return np.int64(state.cards[state.discarded - 1]) >> 4


@compiled
def ask_next(state, seat):
    """The next seat, clockwise up to whoever discarded last, that can cancel this discard is asked to."""
    able = ZERO
    for other in range(4):  # a seat that is not in the game has no cards
        able |= np.uint64(can_cancel(state, other)) << np.uint64(other)
    players = np.int64(state.players)
    following = wrap(seat + 1, players)
    left_to_ask = wrap(last_discarder(state) - following + players, players)
    asked = seen_from(following, able, players) & first(left_to_ask)
    if asked == ZERO:
        resolve(state)
        return
    state.phase = REACT
    state.acting = 1 << wrap(following + lowest(asked), players)


@compiled
def resolve(state):
    """Nobody cancels any more: the effect takes place unless the number of cancels is odd."""
    effect, stands = np.int64(state.effect), (state.pending & 1) == 1
    for k in range(state.discarded - state.pending, state.discarded):
        state.cards[k] &= 15
    state.pending = 0
    state.effect = NONE
    state.phase = DISCARD
    state.acting = 1 << state.turn_player
    if stands:
        apply(state, effect)


@compiled
def apply(state, effect):
    """The effect of the turn player's discard; one that has become impossible does nothing."""
    seat = np.int64(state.turn_player)
    if effect >= TURN + 6:
        set_dice(state, np.int64(state.low), effect - TURN - 5)
    elif effect >= TURN:
        set_dice(state, effect - TURN + 1, np.int64(state.high))
    elif effect == DRAW:
        if deck_size(state) > 0:
            value = top_card(state)
            state.secret[seat, value >> 3] += copy_of(value)
    elif effect >= STEAL:
        steal(state, seat, wrap(seat + 1 + effect - STEAL, np.int64(state.players)))
    else:
        low = np.int64(state.low) if effect == REROLL + 1 else roll_die(state)
        high = np.int64(state.high) if effect == REROLL else roll_die(state)
        set_dice(state, low, high)


@compiled
def roll_die(state):
    """A random face."""
    return draw(state, np.int64(state.faces)) + 1


@compiled
def set_dice(state, one, other):
    """Lay down two faces, the low one first."""
    state.low = min(one, other)
    state.high = max(one, other)


@compiled
def steal(state, thief, victim):
    """A random card of the victim, if there is one, is shown and kept; a 3 is discarded at once and wounds."""
    if not has_cards(state, victim):
        return
    cards, mechas = hand(state, victim), np.uint64(state.mechas[victim])
    kaiju = total(cards)
    left = draw(state, kaiju + popcount(mechas))
    if left >= kaiju:
        mecha = bit(nth(mechas, left - kaiju))
        state.mechas[victim] ^= mecha
        state.mechas[thief] |= mecha
        return
    value = 1
    while left >= count(cards, value):
        left -= count(cards, value)
        value += 1
    lose(state, victim, value)
    if value == 3:
        discard(state, value)
        state.wounds[thief] += 1
    else:
        gain(state, thief, value)


# --- Taking, end of a turn ---


@compiled
def take(state, seat, action):
    """Carry out the chosen option; for a double also those with its mecha."""
    low, high = np.int64(state.low), np.int64(state.high)
    if action == TAKE_SUM:
        take_card(state, seat, low + high)
    elif action == TAKE_DIFFERENCE:
        take_card(state, seat, high - low)
    elif action == TAKE_MECHA:
        state.mechas[seat] |= bit(low)
    elif action == STEAL_MECHA:
        steal(state, seat, mecha_holder(state, low))
    elif action != TAKE_NOTHING:
        if action != TAKE_HIGH:
            take_card(state, seat, low)
        if action != TAKE_LOW:
            take_card(state, seat, high)


@compiled
def take_card(state, seat, value):
    """Take a card of a value from the centre; an 8 brings all other 8s along."""
    cards = copy_of(value)
    if value == 8:
        cards *= np.uint64(count(state.centre, value))
    state.centre[value >> 3] -= cards
    state.known[seat, value >> 3] += cards


@compiled
def begin_turn(state, seat):
    """The turn of a seat begins with a roll."""
    state.turn_player = seat
    set_dice(state, roll_die(state), roll_die(state))
    state.phase = DISCARD
    state.acting = 1 << seat


@compiled
def end_turn(state):
    """Refill the centre; the turn that empties the deck is followed by one last turn of everybody."""
    refill(state)
    state.turns += 1
    if state.last_turns != NONE:
        state.last_turns -= 1
    elif deck_size(state) == 0:
        state.last_turns = state.players
    if state.last_turns == 0:
        end_game(state)
    elif state.turns >= state.max_turns:
        state.outcome = TRUNCATED
        state.acting = 0
    else:
        begin_turn(state, wrap(np.int64(state.turn_player) + 1, np.int64(state.players)))


# --- End of the game ---


@compiled
def end_game(state):
    """Most points win, of those the fewest cards in hand; what is still tied is shared."""
    state.outcome = TERMINATED
    state.acting = 0
    best, winners = -1_000_000, 0
    for seat in range(np.int64(state.players)):
        rank = score(state, seat) * 256 - hand_size(state, seat)
        if rank > best:
            best, winners = rank, 0
        if rank == best:
            winners |= 1 << seat
    state.winners = winners


@compiled
def score(state, seat):
    """What a hand scores if the game ends now."""
    most_ones = 0
    for other in range(np.int64(state.players)):
        most_ones = max(most_ones, count(hand(state, other), 1))
    mechas, wounds = np.uint64(state.mechas[seat]), np.int64(state.wounds[seat])
    return points_of(hand(state, seat), mechas, wounds, most_ones)


@inlined
def points_of(kaiju, mechas, wounds, most_ones):
    """The points of a bag of kaiju, a set of mechas and wounds, where the most 1s in a hand are `most_ones`."""
    bonus = ONES_POINTS if most_ones > 0 and count(kaiju, 1) == most_ones else 0
    return points(kaiju) + MECHA_POINTS * popcount(mechas) + bonus - WOUND_POINTS * wounds
