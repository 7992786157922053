"""Yokai Septet: the rules for four, three and two players and for Seven Suitors.

Sections in the comments are those of the rulebook (see README.md for sources and rulings).
"""

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import ONE, ZERO, bit, drop_lowest, first, has, lowest, popcount, set_of, where, wrap
from ..core.contract import PLAYING, TERMINATED, TRUNCATED, record_type
from ..core.rng import draw_below, draw_from

# --- Cards: suit s holds the ranks s + 1 … s + 7; foil sevens (Seven Suitors) follow as cards 49 … 55 ---

SUITS = ("Wind", "Earth", "Charm", "Lightning", "Darkness", "Fire", "Snow")
CARDS, CARDS_WITH_FOILS = 49, 56
THE_A, SNOW_13 = 0, 48
NONE = -1

WHITE_STARS = np.array([0, 0, 1, 1, 1, 2, 2], np.int64)
BLACK_STARS = np.array([0, 1, 0, 1, 1, 1, 1], np.int64)

SUIT_OF = np.array([card // 7 for card in range(CARDS)] + list(range(7)), np.int64)
RANK_OF = np.array([card % 7 + card // 7 + 1 for card in range(CARDS)] + [7] * 7, np.int64)
SUIT_CARDS = np.array([(0x7F << (7 * s)) | (1 << (CARDS + s)) for s in range(7)], np.uint64)
BOSSES = np.uint64(sum(1 << card for card in range(CARDS_WITH_FOILS) if RANK_OF[card] == 7))
# A captured boss is bit s (plain) or bit 7 + s (foil) of its suit s.
BOSS_BIT = np.array(
    [0 if RANK_OF[c] != 7 else 1 << (SUIT_OF[c] + (7 if c >= CARDS else 0)) for c in range(CARDS_WITH_FOILS)],
    np.uint64,
)

# --- Actions: a card, then what only two players have; the last action of every variant is the no-op ---

EXCHANGE = CARDS  # + 2 j: face-up straw card j with the card below it to the left; + 2 j + 1: to the right
NO_EXCHANGE = EXCHANGE + 12
KEEP_OLD, KEEP_NEW = NO_EXCHANGE + 1, NO_EXCHANGE + 2

# --- State ---

BASE, SUITORS, SUITORS_SHORT = 0, 1, 2  # variant
PASS, DISCARD, EXCHANGING, KEEP, PLAY = 0, 1, 2, 3, 4  # phase
UP, DOWN = 6, 7  # places in a straw pile; face-up place j covers the face-down places j and j + 1

STATE = record_type(
    [
        # options
        ("deck", np.uint64),  # all cards of the game, as a set
        ("hand_cards", np.uint8),  # cards dealt to each hand
        ("straw", np.uint8),  # two players: face-up cards of each straw pile; below them is one more, or no card at all
        ("round_tricks", np.uint8),  # tricks of a round in which all cards are played
        ("bosses_to_win", np.uint8),  # base game: bosses that win a round
        ("tricks_to_lose", np.uint8),  # and tricks that lose it, without enough bosses
        ("variant", np.uint8),  # BASE, SUITORS or SUITORS_SHORT
        ("basic", np.uint8),  # 1: scoring="basic"
        ("target", np.uint8),  # tokens (or points, or seals) that win the match
        ("lead_held", np.uint8),  # 1: first_lead="held"
        ("late_reveal", np.uint8),  # 1: straw_reveal="trick_end"
        ("one_round", np.uint8),  # 1: episode="round"
        ("max_rounds", np.uint16),
        # the match
        ("round_number", np.uint16),  # from 1
        ("scores", np.uint8, 4),  # tokens per side
        ("sealed", np.uint8, 4),  # suits sealed per side
        # the round
        ("phase", np.uint8),
        ("trump", np.int8),  # suit, or NONE before the first lead of a Seven Suitors round
        ("trump_card", np.int8),  # NONE in Seven Suitors
        ("hand", np.uint64, 4),  # without the cards chosen to pass or discard
        ("passes", np.int8, (4, 3)),  # cards chosen to pass, in order; kept for the round, NONE where missing
        ("shown_by", np.int8),  # who showed the A (or Snow 13) and led first in this round, else NONE
        ("captured", np.uint16, 4),  # bosses per side, see BOSS_BIT
        ("tricks", np.uint8, 4),  # per side
        ("played", np.uint64, 4),  # per seat, the current trick included
        ("void", np.uint8, 4),  # per seat: suits it has shown not to hold in hand
        # the trick
        ("lead", np.int8),  # seat, NONE until known
        ("trick", np.int8, 4),  # card by seat, NONE where not played yet
        ("trick_size", np.uint8),
        # two players
        ("straw_down", np.int8, (2, DOWN)),  # card, NONE once played
        ("straw_up", np.int8, (2, UP)),
        ("bare", np.uint64, 2),  # straw cards that lie open and may be played
        ("seen_down", np.uint8, 2),  # lower places whose card both have seen: it lies open or came there by an exchange
        ("discards", np.int8, 2),
        ("exchanges", np.int8, 2),  # 0 … 11 as the action, 12 no exchange, NONE not chosen (yet)
        ("keeps", np.int8, 2),  # 0 old up, 1 new up, NONE not chosen (yet)
    ]
)


# --- Preparation of a match and of a round ---


@compiled
def setup(state):
    """Begin a match."""
    state.outcome = PLAYING
    state.winners = 0
    state.round_number = 0
    state.lead = NONE
    state.scores[:] = 0
    state.sealed[:] = 0
    deal(state)


@compiled
def deal(state):
    """Shuffle and deal the next round; the leader of a later round is already known in the base game."""
    state.round_number += 1
    state.shown_by = NONE
    state.trick_size = 0
    for seat in range(4):
        state.hand[seat] = ZERO
        state.played[seat] = ZERO
        state.captured[seat] = 0
        state.tricks[seat] = 0
        state.void[seat] = 0
        state.trick[seat] = NONE
        for k in range(3):
            state.passes[seat, k] = NONE

    # Hands and piles take random cards from what is left: the same as a shuffle, without a deck to keep.
    left = state.deck
    if state.variant != BASE:
        state.trump_card = state.trump = state.lead = NONE
    else:
        state.trump_card = draw_from(state, left)
        state.trump = SUIT_OF[state.trump_card]
        left ^= bit(state.trump_card)
    players = np.int64(state.players)
    state.phase = PASS
    state.acting = (1 << players) - 1
    if players == 2:
        state.phase = DISCARD
        state.lead = dealer(state)
        left = deal_straw(state, left)
    for seat in range(players - 1):
        hand = draw_cards(state, left, np.int64(state.hand_cards))
        state.hand[seat] = hand
        left ^= hand
    state.hand[players - 1] = left


@inlined
def dealer(state):
    """Two players: who deals this round and leads; seat 0 deals first."""
    return (state.round_number - 1) % 2


@compiled
def draw_cards(state, cards, count):
    """A uniformly random subset of `count` cards."""
    size = popcount(cards)
    chosen = ZERO
    left = np.int64(count)
    # Walk over the cards and take each with probability (still wanted) / (still to come).
    while left > 0:
        card = cards & (~cards + ONE)
        taken = draw_below(state, size, left)
        chosen |= card if taken else ZERO  # no branch: it would be unpredictable
        left -= taken
        cards ^= card
        size -= 1
    return chosen


@compiled
def deal_straw(state, left):
    """Two players: six cards face up on top of seven face down for each, or fewer; returns the cards left."""
    for seat in range(2):
        state.bare[seat] = ZERO
        state.seen_down[seat] = first(DOWN) & ~first(straw_below(state))  # there is nothing more to see
        state.discards[seat] = state.exchanges[seat] = state.keeps[seat] = NONE
        state.straw_down[seat] = state.straw_up[seat] = NONE
        for place in range(straw_below(state)):
            card = draw_from(state, left)
            state.straw_down[seat, place] = card
            left ^= bit(card)
        for place in range(state.straw):
            card = draw_from(state, left)
            state.straw_up[seat, place] = card
            state.bare[seat] |= bit(card)
            left ^= bit(card)
    return left


@inlined
def straw_below(state):
    """Two players: face-down cards of each straw pile."""
    return np.int64(state.straw) + (state.straw > 0)


# --- Legal actions ---


@compiled
def legal(state, seat, words):
    """Write the bit set of the seat's legal actions."""
    words[0] = legal_cards(state, seat)
    if state.players == 2:
        words[1] = ZERO
        if state.phase == EXCHANGING:
            words[0] = legal_exchanges(state, seat)
        elif state.phase == KEEP:
            words[0] = bit(KEEP_OLD) | bit(KEEP_NEW)


@compiled
def legal_cards(state, seat):
    """The cards a seat may choose: to pass, to discard, to lead or to follow."""
    hand = state.hand[seat]
    if state.phase == PASS:
        return hand
    if state.phase == DISCARD:
        return hand & ~BOSSES
    if state.players == 2:
        hand |= state.bare[seat]
    if state.trick_size == 0:
        return hand
    following = hand & SUIT_CARDS[SUIT_OF[state.trick[state.lead]]]
    return following if following != ZERO else hand


@compiled
def legal_exchanges(state, seat):
    """Each face-up boss may change places with either card below it."""
    exchanges = bit(NO_EXCHANGE)
    for place in range(UP):
        if has(BOSSES, state.straw_up[seat, place]):
            exchanges |= np.uint64(3) << np.uint64(EXCHANGE + 2 * place)
    return exchanges


# --- Actions ---


@compiled
def step(state, seat, action):
    """Carry out a legal action."""
    if state.phase == PLAY:
        play(state, seat, action)
    elif state.phase == PASS:
        choose_pass(state, seat, action)
    elif state.phase == DISCARD:
        choose_discard(state, seat, action)
    elif state.phase == EXCHANGING:
        choose_exchange(state, seat, action)
    else:
        choose_keep(state, seat, action)


@compiled
def decided(state, seat):
    """The seat has decided; whether it was the last of this simultaneous phase."""
    state.acting &= ~(1 << seat) & 0xFF
    return state.acting == 0


@compiled
def choose_pass(state, seat, card):
    """Take one more card out of the hand to pass; the last card of the last seat lets all of them change hands."""
    state.hand[seat] ^= bit(card)
    for k in range(3):
        if state.passes[seat, k] == NONE:
            state.passes[seat, k] = card
            if k == 2 and decided(state, seat):
                exchange_passes(state)
            return


@compiled
def pass_target(state, seat, k):
    """Who receives the k-th passed card: the partner, the left neighbour, or (Seven Suitors) each other player."""
    if state.variant != BASE:
        return (seat + 1 + k) % 4
    return (seat + 2) % 4 if state.players == 4 else (seat + 1) % 3


@inlined
def pass_giver(state, seat, k):
    """Whose k-th passed card a seat receives."""
    if state.variant != BASE:
        return (seat + 3 - k) % 4
    return wrap(seat + 2, np.int64(state.players))  # the partner of four, the right neighbour of three


@compiled
def exchange_passes(state):
    """All passed cards reach their new owners, then the first leader is known."""
    players = np.int64(state.players)
    shows = state.round_number == 1 or state.variant != BASE
    if shows and not state.lead_held:
        show_leader(state)
    for seat in range(players):
        for k in range(3):
            state.hand[pass_target(state, seat, k)] |= bit(state.passes[seat, k])
    if shows and state.lead_held:
        show_leader(state)
    begin_play(state)


@compiled
def shown_card(trump_card):
    """The card whose owner leads first: the A, or Snow 13 where the A is the trump card."""
    return SNOW_13 if trump_card == THE_A else THE_A


@compiled
def show_leader(state):
    """Whoever has the A (chosen passes included) shows it and leads."""
    card = shown_card(state.trump_card)
    for seat in range(np.int64(state.players)):
        held = has(state.hand[seat], card)
        if not state.lead_held:
            for k in range(3):
                held |= state.passes[seat, k] == card
        if held:
            state.shown_by = seat
            state.lead = seat


@compiled
def begin_play(state):
    """The leader opens the round's first trick."""
    state.phase = PLAY
    state.acting = 1 << state.lead


# --- Two players: discard and exchange ---


@compiled
def choose_discard(state, seat, card):
    """One card, no boss, leaves the round face down."""
    state.hand[seat] ^= bit(card)
    state.discards[seat] = card
    if not decided(state, seat):
        return
    state.phase = EXCHANGING
    for other in range(2):
        if state.bare[other] & BOSSES != ZERO:
            state.acting |= 1 << other
    if state.acting == 0:
        begin_play(state)


@compiled
def choose_exchange(state, seat, action):
    """One face-up boss may change places with a card below it; both players' exchanges happen together."""
    state.exchanges[seat] = action - EXCHANGE
    if not decided(state, seat):
        return
    state.phase = KEEP
    for other in range(2):
        choice = np.int64(state.exchanges[other])
        if changes_places(choice):
            swap_straw(state, other, choice)
            if has(BOSSES, state.straw_up[other, exchanged_places(choice)[0]]):
                state.acting |= 1 << other
    if state.acting == 0:
        begin_play(state)


@inlined
def changes_places(choice):
    """Whether something is exchanged by a choice; not by "no exchange" or none yet."""
    return 0 <= choice < NO_EXCHANGE - EXCHANGE


@inlined
def exchanged_places(choice):
    """The upper and the lower straw place of an exchange."""
    return choice // 2, choice // 2 + choice % 2


@compiled
def swap_straw(state, seat, choice):
    """The face-up card of an exchange changes places with the one below it; both are seen."""
    up, down = exchanged_places(choice)
    above, below = state.straw_up[seat, up], state.straw_down[seat, down]
    state.straw_up[seat, up], state.straw_down[seat, down] = below, above
    state.bare[seat] ^= bit(above) | bit(below)
    state.seen_down[seat] |= 1 << down


@compiled
def choose_keep(state, seat, action):
    """Two bosses: the owner says which one stays face up."""
    state.keeps[seat] = action - KEEP_OLD
    if not decided(state, seat):
        return
    for other in range(2):
        if state.keeps[other] == 0:
            swap_straw(state, other, np.int64(state.exchanges[other]))
    begin_play(state)


@compiled
def take_from_straw(state, seat, card):
    """Remove a played card from the straw and turn up what it bared."""
    state.bare[seat] ^= bit(card)
    up = where(state.straw_up[seat], card)
    if up == ZERO:
        state.straw_down[seat, lowest(where(state.straw_down[seat], card))] = NONE
        return
    state.straw_up[seat, lowest(up)] = NONE
    if not state.late_reveal:
        turn_up(state, seat, up | up << ONE)


@compiled
def uncovered(state, seat):
    """The lower straw places with nothing on them."""
    covers = first(UP) & ~where(state.straw_up[seat], NONE)
    return first(DOWN) & ~(covers | covers << ONE)


@compiled
def turn_up(state, seat, places):
    """Of some lower straw places, those with nothing on them lie open from now on."""
    places &= uncovered(state, seat)
    while places != ZERO:
        place = lowest(places)
        places = drop_lowest(places)
        card = state.straw_down[seat, place]
        if card != NONE:
            state.bare[seat] |= bit(card)
            state.seen_down[seat] |= 1 << place


# --- Tricks ---


@compiled
def play(state, seat, card):
    """Lead or follow with a card."""
    if state.players == 2 and not has(state.hand[seat], card):
        take_from_straw(state, seat, card)
    else:
        state.hand[seat] ^= bit(card)
    state.played[seat] |= bit(card)
    state.trick[seat] = card
    state.trick_size += 1
    suit = SUIT_OF[card]
    if state.trick_size == 1:
        if state.trump == NONE:  # Seven Suitors: the round's first lead sets trump
            state.trump = suit
    else:
        led = SUIT_OF[state.trick[state.lead]]
        if suit != led:
            state.void[seat] |= 1 << led
    if state.trick_size == state.players:
        finish_trick(state)
        return
    state.acting = 1 << wrap(seat + 1, np.int64(state.players))


@compiled
def power(state, card, led):
    """How strong a card is in a trick; equal sevens are told apart by who played first."""
    if card == THE_A:
        return 1000
    suit, rank = SUIT_OF[card], RANK_OF[card]
    if suit == state.trump:
        return 100 + rank
    return rank if suit == led else 0


@compiled
def trick_winner(state):
    """The seat that wins a complete trick."""
    players = np.int64(state.players)
    winner = np.int64(state.lead)
    led = SUIT_OF[state.trick[winner]]
    best = power(state, state.trick[winner], led)
    seat = winner
    for _ in range(players - 1):
        seat = wrap(seat + 1, players)
        strength = power(state, state.trick[seat], led)
        if strength > best:
            best, winner = strength, seat
    return winner


@compiled
def finish_trick(state):
    """The winner takes the trick and leads the next one, unless that ends the round."""
    winner = trick_winner(state)
    side = wrap(winner, np.int64(state.sides))
    bosses = np.uint64(state.captured[side])
    for seat in range(np.int64(state.players)):
        bosses |= BOSS_BIT[state.trick[seat]]
        state.trick[seat] = NONE
    state.captured[side] = bosses
    state.tricks[side] += 1
    state.trick_size = 0
    state.lead = winner
    state.acting = 1 << winner
    if state.players == 2 and state.late_reveal:
        for seat in range(2):
            turn_up(state, seat, first(DOWN))
    if state.variant == BASE:
        finish_round(state, side)
    else:
        seal(state, side)


# --- End of a round: base game ---


@compiled
def finish_round(state, side):
    """Whether the trick just won by `side` ended the round, and who won it."""
    loser = np.int64(NONE)
    if popcount(np.uint64(state.captured[side])) < state.bosses_to_win:
        # All have played as many cards, so one seat tells whether any are left; straw cards are all bare at the end.
        left = state.hand[0] | (state.bare[0] if state.players == 2 else ZERO)
        if state.tricks[side] >= state.tricks_to_lose:
            loser = side
        elif left != ZERO:
            return
    reward_round(state, side, loser)


@inlined
def bosses_among(cards):
    """The bosses among some cards as a set of captured ones."""
    bosses = ZERO
    cards &= BOSSES
    while cards != ZERO:
        bosses |= BOSS_BIT[lowest(cards)]
        cards = drop_lowest(cards)
    return bosses


@compiled
def take_unplayed_bosses(state, side):
    """A side that wins by the others' last trick also takes the bosses still in hands and straw piles."""
    left = ZERO
    for seat in range(np.int64(state.players)):
        left |= state.hand[seat]
    if state.players == 2:
        for seat in range(2):
            for card in state.straw_down[seat]:
                left |= set_of(card)
            for card in state.straw_up[seat]:
                left |= set_of(card)
    state.captured[side] |= bosses_among(left)


@compiled
def stars(state, side):
    """What the captured bosses are worth: white stars, with three players black ones too; the trump boss nothing."""
    total = 0
    for suit in range(7):
        if suit != state.trump and has(np.uint64(state.captured[side]), suit):
            total += WHITE_STARS[suit]
            if state.players == 3:
                total += BLACK_STARS[suit]
    return total


@compiled
def reward_round(state, side, loser):
    """Score the round that `side` has won, or that all others have won when it is the `loser` by too many tricks."""
    sides = np.int64(state.sides)
    if loser != NONE and sides == 2:
        take_unplayed_bosses(state, 1 - loser)
    won, best = 0, 0
    for other in range(sides):
        if (other == side) == (loser == NONE):
            won |= 1 << other
            if state.basic:
                state.scores[other] += 1
            elif loser != NONE and sides == 3:
                state.scores[other] += 3
            else:
                state.scores[other] += stars(state, other)
        best = max(best, np.int64(state.scores[other]))
    if state.one_round:
        end_match(state, won)
    elif best >= state.target:
        end_match(state, leaders(state, best, loser))
    else:
        next_round(state)


@compiled
def leaders(state, best, loser):
    """The side that wins with the best score; of several, the nearest clockwise after the 7-trick loser."""
    sides = np.int64(state.sides)
    side = max(loser, 0)
    for _ in range(sides):
        side = wrap(side + 1, sides)
        if state.scores[side] == best:
            return 1 << side
    return 0


@compiled
def next_round(state):
    """Deal again, unless that would be one round too many."""
    if state.round_number >= state.max_rounds:
        state.outcome = TRUNCATED
        state.acting = 0
        return
    deal(state)


@compiled
def end_match(state, sides):
    """The match is over, won by a set of sides (empty: by nobody)."""
    state.outcome = TERMINATED
    state.acting = 0
    winners = 0
    for seat in range(np.int64(state.players)):
        if (sides >> wrap(seat, np.int64(state.sides))) & 1:
            winners |= 1 << seat
    state.winners = winners


# --- End of a trick: Seven Suitors ---


@inlined
def pairs(bosses):
    """The suits of which both sevens are among captured bosses."""
    return bosses & (bosses >> np.uint64(7)) & first(7)


@compiled
def seal(state, side):
    """Both sevens of a suit seal it; enough seals win at once."""
    sealed = pairs(np.uint64(state.captured[side]))
    if state.variant == SUITORS_SHORT:
        sealed &= ~np.uint64(state.sealed[1 - side])
    state.sealed[side] |= sealed
    won = 1 << side
    if popcount(np.uint64(state.sealed[side])) < state.target:
        if state.hand[0] != ZERO:
            return
        if not state.one_round:
            next_round(state)
            return
        lead = popcount(np.uint64(state.sealed[side])) - popcount(np.uint64(state.sealed[1 - side]))
        won = 0 if lead == 0 else 1 << (side if lead > 0 else 1 - side)
    end_match(state, won)


# --- Result ---


@compiled
def score(state, side):
    """Tokens of a side; seals in Seven Suitors."""
    if state.variant == BASE:
        return np.int64(state.scores[side])
    return np.int64(popcount(np.uint64(state.sealed[side])))
