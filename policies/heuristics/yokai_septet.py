"""Heuristic for Yokai Septet: judge every card by who is likely to win its trick and what the trick is worth.

The ideas, the same for all variants:

- A trick is worth the bosses in it; an empty one costs more with every trick already taken, for our side and for the
  others. A trick that ends the round outweighs everything.
- The chance to win a trick comes from counting: cards not seen yet lie in the other hands in proportion to their sizes,
  seats known to be void may trump, cards passed on are known. Others try harder for a boss.
- A boss is played where our side probably takes it. Strong cards (the A, trumps) are kept for tricks with bosses.
- Passing and discarding weigh a card's suit, rank and the length of its suit in the hand.
- Seven Suitors: a boss is worth more if its twin is already captured, nothing if the suit cannot be sealed any more;
  tricks cost nothing, and the first lead sets trump, so it comes from a long suit.
"""

import numpy as np
from monsterzoo.envs.compiling.dispatch import implement
from monsterzoo.envs.compiling.jit import compiled, inlined
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, first, has, lowest, popcount, where
from monsterzoo.envs.yokai_septet.rules import (
    BASE,
    BOSSES,
    CARDS_WITH_FOILS,
    DISCARD,
    KEEP_OLD,
    NO_EXCHANGE,
    NONE,
    PASS,
    PLAY,
    RANK_OF,
    SUIT_CARDS,
    SUIT_OF,
    SUITORS_SHORT,
    THE_A,
    UP,
    WHITE_STARS,
    pass_target,
)
from monsterzoo.envs.yokai_septet.view import VIEW

from . import advise

# --- Weights by game: chosen by hand, then improved by small random changes that won against what was there before ---

# fmt: off
#                  players: 4     3      2    4 in Seven Suitors
# a trick
BOSS = np.array([        1.00,  0.80,  1.00,  1.00])  # a captured boss
STAR = np.array([        0.21,  0.12, -0.20,  0.00])  # each white star of it
TRICK = np.array([       0.22,  0.14,  0.12, -0.10])  # what it costs to take any trick
LATE_TRICK = np.array([  0.09,  0.04,  0.04,  0.00])  # and for each trick already taken
MORE_BOSSES = np.array([-0.09,  0.10,  0.00,  0.00])  # what each player still to come may add to it
EAGERNESS = np.array([   0.00,  0.40,  0.00,  0.54])  # how often others take a trick without bosses if they can
# a card that stays in the hand
KEEP_A = np.array([      0.50,  0.90,  0.16,  0.64])  # the A
KEEP_BOSS = np.array([   0.53,  0.08,  0.05, -0.13])  # a boss
KEEP_TRUMP = np.array([  0.00,  0.06,  0.90,  0.27])  # a trump
HIGH_TRUMP = np.array([  0.04,  0.12, -0.10,  0.07])  # and for each step up in its suit
HIGH_CARD = np.array([  -0.03,  0.01, -0.02,  0.01])  # each step up of another card
# a lead
LEAD_LENGTH = np.array([-0.27,  0.00, -0.20,  0.09])  # each own card of the suit
LEAD_HUNT = np.array([   0.61,  0.10,  0.18,  0.00])  # each boss that may fall, if we probably win, and the reverse
# a card that is given away: passed on or discarded
GIVE_A = np.array([     -0.30, -3.00, -0.65, -3.60])  # the A
GIVE_BOSS = np.array([  -0.36, -0.90, -0.60,  0.35])  # a boss
GIVE_TRUMP = np.array([ -1.30, -1.60, -1.00, -0.54])  # a trump
GIVE_HIGH = np.array([  -0.15,  0.16,  0.06,  0.05])  # each step up in its suit
GIVE_LONG = np.array([  -1.00, -0.26, -0.25, -0.57])  # each own card of the suit
# fmt: on
FOE_BOSS, FOE_HIGH = 0.3, -1.0  # Seven Suitors, for a card that goes to the other side: a boss, and each step up

WINNING, LOSING = 8.0, -8.0  # a trick that ends the round

# --- Cards ---

# Cards that are stronger than a card, trumps aside: higher ones of the same suit and the A.
STRONGER = np.array(
    [
        sum(1 << d for d in range(CARDS_WITH_FOILS) if SUIT_OF[d] == SUIT_OF[c] and RANK_OF[d] > RANK_OF[c])
        | 1 << THE_A
        for c in range(CARDS_WITH_FOILS)
    ],
    np.uint64,
)
STRONGER[THE_A] = 0
# MISSES[k, n]: the chance that none of n cards lies in a hand that holds k / 20 of all unknown cards.
MISSES = np.array([[(1 - k / 20) ** n for n in range(64)] for k in range(21)])


@compiled
def best_action(view, words):
    """The action to choose."""
    cards = words[0] & first(CARDS_WITH_FOILS)
    if view.phase == PLAY:
        return best_card(view, cards)
    if view.phase == PASS or view.phase == DISCARD:
        return best_to_give(view, cards)
    # Two players: leave bosses where they are, where they can be followed with and seen.
    return NO_EXCHANGE if has(words[0], NO_EXCHANGE) else KEEP_OLD


@inlined
def game_of(view):
    """Whose weights count: of 4, 3 or 2 players, or of Seven Suitors."""
    return 4 - np.int64(view.players) if view.variant == BASE else 3


@inlined
def place_in_suit(card):
    """0 for the lowest card of a suit to 6 for the highest."""
    return RANK_OF[card] - SUIT_OF[card] - 1


@inlined
def beaters(view, card):
    """All cards that beat the best card of a trick: stronger ones of its suit, the A, and trumps if it is none."""
    if card == THE_A or view.trump == SUIT_OF[card] or view.trump == NONE:
        return STRONGER[card]
    return STRONGER[card] | SUIT_CARDS[view.trump]


# --- Passing and discarding ---


@compiled
def best_to_give(view, legal):
    """The card to pass or discard next."""
    game = game_of(view)
    to_foe = view.variant != BASE and next_receiver(view) != 2
    of_boss, of_step = (FOE_BOSS, FOE_HIGH) if to_foe else (GIVE_BOSS[game], GIVE_HIGH[game])
    best, chosen = -1e9, 0
    while legal != ZERO:
        card = lowest(legal)
        legal = drop_lowest(legal)
        suit = SUIT_OF[card]
        value = of_step * place_in_suit(card)
        value += GIVE_LONG[game] * popcount(view.hand & SUIT_CARDS[suit])
        value += of_boss if has(BOSSES, card) else 0.0
        value += GIVE_TRUMP[game] if suit == view.trump else 0.0
        value += GIVE_A[game] if card == THE_A else 0.0
        if value > best:
            best, chosen = value, card
    return chosen


@inlined
def next_receiver(view):
    """Seven Suitors: the seat that gets the card we choose now."""
    passed = 0
    for k in range(3):
        passed += popcount(view.sent_to[k])
    return pass_target(view, 0, passed)


# --- Playing a card ---


@compiled
def best_card(view, legal):
    """The card to lead or to follow with."""
    game, leading = game_of(view), view.lead == 0
    best_seat, stronger, on_table = trick_so_far(view)
    led = SUIT_OF[view.trick[view.lead]]
    prize = worth_of_bosses(view, game, on_table)
    unknown = unknown_cards(view)
    share = share_of_hand(view, popcount(unknown))
    foe, partner_wins = rival(view, best_seat), view.players == 4 and best_seat == 2
    more = MORE_BOSSES[game] * players_to_come(view)
    best, chosen = -1e9, 0
    while legal != ZERO:
        card = lowest(legal)
        legal = drop_lowest(legal)
        suit, wins = SUIT_OF[card], has(stronger, card)
        bosses = (on_table | bit(card)) & BOSSES
        stake = prize + (worth_of_boss(view, game, card) if has(BOSSES, card) else 0.0)
        beats, eagerness = beaters(view, card) if wins else stronger, EAGERNESS[game] if bosses == ZERO else 1.0
        followed, ours = suit if leading else led, wins or partner_wins
        chance = chance_to_win(view, beats, followed, ours, unknown, share, eagerness)
        gain = worth_of_trick(view, game, 0, stake, popcount(bosses)) + more
        loss = worth_of_trick(view, game, foe, stake, popcount(bosses)) + more
        value = chance * gain - (1.0 - chance) * loss - worth_in_hand(view, game, card)
        if leading:
            value += LEAD_LENGTH[game] * popcount(view.hand & SUIT_CARDS[suit])
            value += LEAD_HUNT[game] * popcount(unknown & SUIT_CARDS[suit] & BOSSES) * (2.0 * chance - 1.0)
        if value > best:
            best, chosen = value, card
    return chosen


@inlined
def trick_so_far(view):
    """Who has played the best card (0: nobody has led), the cards that would beat it, and all cards of the trick."""
    best_seat, stronger, on_table = 0, ~ZERO, ZERO
    for seat in range(1, np.int64(view.players)):
        card = np.int64(view.trick[seat])
        if card != NONE:
            on_table |= bit(card)
            if has(stronger, card):
                best_seat, stronger = seat, beaters(view, card)
    return best_seat, stronger, on_table


@inlined
def players_to_come(view):
    """How many play after us: the seats from 1 on."""
    return np.int64(view.players if view.lead == 0 else view.lead) - 1


@inlined
def rival(view, best_seat):
    """The side that takes the trick if we do not: whose card is best, else the one with the most bosses."""
    if view.players != 3:
        return 1
    if best_seat != 0:
        return best_seat
    return 1 if popcount(np.uint64(view.captured[1])) >= popcount(np.uint64(view.captured[2])) else 2


# --- What things are worth ---


@inlined
def worth_of_bosses(view, game, cards):
    """What capturing all bosses among some cards is worth."""
    bosses, total = cards & BOSSES, 0.0
    while bosses != ZERO:
        total += worth_of_boss(view, game, lowest(bosses))
        bosses = drop_lowest(bosses)
    return total


@compiled
def worth_of_boss(view, game, boss):
    """What capturing a boss is worth to our side."""
    suit = SUIT_OF[boss]
    if view.variant == BASE:
        return BOSS[game] + (STAR[game] * WHITE_STARS[suit] if suit != view.trump else 0.0)
    twins = np.uint64(0x81) << np.uint64(suit)
    ours, theirs = np.uint64(view.captured[0]) & twins != ZERO, np.uint64(view.captured[1]) & twins != ZERO
    we, they = has(np.uint64(view.sealed[0]), suit), has(np.uint64(view.sealed[1]), suit)
    if view.variant == SUITORS_SHORT and (we or they):
        return 0.0
    seal = 0.0 if we or theirs else (2.0 if ours else 1.0)
    deny = 0.0 if they or ours else (2.0 if theirs else 1.0)
    return BOSS[game] * 0.5 * (seal + deny)


@inlined
def worth_of_trick(view, game, side, stake, bosses):
    """What a trick is worth to a side, which may win or lose the round by it."""
    tricks = np.int64(view.tricks[side])
    if view.variant == BASE:
        if popcount(np.uint64(view.captured[side])) + bosses >= view.bosses_to_win:
            return WINNING
        if tricks + 1 >= view.tricks_to_lose:
            return LOSING
    return stake - TRICK[game] - LATE_TRICK[game] * tricks


@inlined
def worth_in_hand(view, game, card):
    """What it costs not to have a card any more."""
    if card == THE_A:
        return KEEP_A[game]
    of_boss, place = KEEP_BOSS[game] if has(BOSSES, card) else 0.0, place_in_suit(card)
    if SUIT_OF[card] == view.trump:
        return of_boss + KEEP_TRUMP[game] + HIGH_TRUMP[game] * place
    return of_boss + HIGH_CARD[game] * place


# --- Where the other cards are ---


@inlined
def unknown_cards(view):
    """All cards that we do not see and have not seen in this round."""
    seen = view.hand | view.trump_card | view.discard | view.bare[0] | view.bare[1]
    for seat in range(np.int64(view.players)):
        seen |= view.played[seat]
    return view.deck & ~seen


@inlined
def share_of_hand(view, unknown):
    """How many of the unknown cards another hand holds, in twentieths."""
    if view.players == 2:
        straw = popcount(np.uint64(view.straw_left[1])) + UP - popcount(where(view.straw_up[1], NONE))
        held = np.int64(view.round_tricks) - popcount(view.played[1]) - straw
        # The weights were found with the trump card counted among the unknown.
        return min(max(20 * held // (unknown + 1), 0), 20)
    return 10 if view.players == 3 else 7


@inlined
def known_in_hand(view, seat):
    """Cards that another seat is known to have: those we gave it, and those that lie open."""
    if view.players == 2:
        return view.bare[1]
    if view.variant != BASE:
        return view.sent_to[seat - 1] & ~view.played[seat]
    return view.sent & ~view.played[seat] if seat == pass_target(view, 0, 0) else ZERO


@compiled
def chance_to_win(view, stronger, led, ours, unknown, share, eagerness):
    """The chance that our side takes a trick that is `ours` now, or not, and that only `stronger` cards can turn."""
    later, teams = players_to_come(view), view.players == 4
    if eagerness == 0.0:  # nobody else wants it
        return 1.0 if ours else 0.0
    if not ours:  # only the partner may help
        helps = teams and later >= 2
        return eagerness * chance_to_beat(view, 2, stronger, led, unknown, share) if helps else 0.0
    chance = 1.0
    for seat in range(1, later + 1):
        if not (teams and seat == 2):
            chance *= 1.0 - eagerness * chance_to_beat(view, seat, stronger, led, unknown, share)
    return chance


@compiled
def chance_to_beat(view, seat, stronger, led, unknown, share):
    """The chance that a seat has a stronger card of the led suit, or any one where it cannot follow."""
    follow, known = SUIT_CARDS[led], known_in_hand(view, seat)
    unknown &= ~(known | follow) if has(np.uint64(view.void[seat]), led) else ~known
    beats = 1.0 - chance_without(follow & stronger, known, unknown, share)
    cannot_follow = chance_without(follow, known, unknown, share)
    return beats + cannot_follow * (1.0 - chance_without(stronger & ~follow, known, unknown, share))


@inlined
def chance_without(cards, known, unknown, share):
    """The chance that a seat has none of some cards, of which it has the known ones and some of the unknown."""
    by_count = MISSES[share, popcount(cards & unknown)]
    return 0.0 if cards & known != ZERO else by_count


implement(advise, VIEW, best_action)
