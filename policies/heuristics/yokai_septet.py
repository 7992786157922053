"""Yokai Septet by hand: judge every card by who is likely to win its trick and what the trick is worth.

The ideas, the same for all variants:

- A trick is worth the bosses in it; an empty trick is a burden that grows with every trick already taken, for the own
  side and for the others. A trick that ends the round outweighs everything.
- The chance to win a trick comes from counting: cards that nobody has shown yet lie in the other hands in proportion to
  their sizes, seats known to be void may trump, cards passed on are known. Others try harder for a boss.
- A boss is played where the own side probably takes it. Strong cards (the A, trumps) are kept for tricks with bosses.
- Passing and discarding weigh a card's suit, rank and the length of its suit in the hand.
- Seven Suitors: a boss is worth more if its twin is already captured, nothing if the suit cannot be sealed any more;
  tricks cost nothing, and the first lead sets trump, so it comes from a long suit.
"""

import numpy as np
from monsterzoo.envs.core.bits import ONE, ZERO, bit, drop_lowest, first, has, lowest, popcount
from monsterzoo.envs.core.jit import compiled, inlined
from monsterzoo.envs.yokai_septet.observation import layout, observe_packed
from monsterzoo.envs.yokai_septet.rules import (
    BOSSES,
    CARDS,
    CARDS_WITH_FOILS,
    DOWN,
    KEEP_OLD,
    NO_EXCHANGE,
    RANK_OF,
    STATE,
    SUIT_CARDS,
    SUIT_OF,
    THE_A,
    UP,
    WHITE_STARS,
)

from . import register
from .reading import columns, number

# --- Where the fields are, by [variant, field] ---

FOUR, THREE, TWO, SUITORS = 0, 1, 2, 3
_LAYOUTS = (layout(4, False), layout(3, False), layout(2, False), layout(4, True))
FIELDS = (
    "hand", "trump", "trump_card", "trick", "played", "captured", "void", "lead", "phase", "tricks", "sent", "sealed",
    "discard", "bare", "straw_up", "straw_left", "target",
)  # fmt: skip
(
    HAND, TRUMP, TRUMP_CARD, TRICK, PLAYED, CAPTURED, VOID, LEAD, PHASE, TRICKS, SENT, SEALED,
    DISCARD, BARE, STRAW_UP, STRAW_LEFT, TARGET,
) = range(len(FIELDS))  # fmt: skip
_AT = np.array(
    [[one.packed_start(name) if name in {f.name for f in one} else -1 for name in FIELDS] for one in _LAYOUTS], np.int64
)
_SIZES = np.array([one.size // 8 for one in _LAYOUTS], np.int64)
_PLAYERS = np.array([4, 3, 2, 4], np.int64)
_SIDES = np.array([2, 3, 2, 2], np.int64)
_CARDS = np.array([CARDS, CARDS, CARDS, CARDS_WITH_FOILS], np.int64)

_NEED = np.array([4, 3, 4, 99], np.int64)  # bosses that win the round
_LIMIT = np.array([7, 7, 13, 99], np.int64)  # tricks that lose it

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
LOSING, WINNING = -8.0, 8.0

# --- Weights: chosen by hand, then improved by small random changes that won against what was there before ---

_WEIGHTS = (
    "boss", "star", "trick", "trick_growth", "keep_a", "keep_trump", "keep_trump_rank", "keep_rank", "keep_boss",
    "reluctance", "lead_length", "lead_boss", "pass_boss", "pass_trump", "pass_rank", "pass_length", "pass_a",
    "foe_pass_rank", "foe_pass_boss", "later_boss",
)  # fmt: skip
(
    W_BOSS, W_STAR, W_TRICK, W_GROWTH, W_A, W_TRUMP, W_TRUMP_RANK, W_RANK, W_KEEP_BOSS,
    W_RELUCTANCE, W_LEAD_LENGTH, W_LEAD_BOSS, W_PASS_BOSS, W_PASS_TRUMP, W_PASS_RANK, W_PASS_LENGTH, W_PASS_A,
    W_FOE_RANK, W_FOE_BOSS, W_LATER_BOSS,
) = range(len(_WEIGHTS))  # fmt: skip
WEIGHTS = np.array(
    [
        [1, 0.21, 0.22, 0.09, 0.5, 0, 0.04, -0.03, 0.53, 0, -0.27, 0.61, -0.36, -1.3, -0.15, -1, -0.3, 0, 0, -0.09],
        [0.8, 0.12, 0.14, 0.04, 0.9, 0.06, 0.12, 0.01, 0.08, 0.4, 0, 0.1, -0.9, -1.6, 0.16, -0.26, -3, 0, 0, 0.1],
        [1, -0.2, 0.12, 0.04, 0.16, 0.9, -0.1, -0.02, 0.05, 0, -0.2, 0.18, -0.6, -1, 0.06, -0.25, -0.65, 0, 0, 0],
        [1, 0, -0.1, 0, 0.64, 0.27, 0.07, 0.01, -0.13, 0.54, 0.09, 0, 0.35, -0.54, 0.05, -0.57, -3.6, -1, 0.3, 0],
    ]
)  # fmt: skip


@compiled
def advise(row, words):
    """The action to choose."""
    # Constant variants let the compiler place every field once and for all.
    if len(row) == _SIZES[FOUR]:
        return decide(row, words, FOUR, WEIGHTS[FOUR])
    if len(row) == _SIZES[THREE]:
        return decide(row, words, THREE, WEIGHTS[THREE])
    if len(row) == _SIZES[TWO]:
        return decide(row, words, TWO, WEIGHTS[TWO])
    return decide(row, words, SUITORS, WEIGHTS[SUITORS])


@inlined
def decide(row, words, variant, weights):
    """The action to choose with given weights."""
    phase = columns(row, _AT[variant, PHASE], 4 if variant == TWO else 2)
    if variant == TWO:
        if phase == bit(3):
            return best_card(row, words[0], variant, weights)
        if phase == bit(0):
            return best_to_pass(row, words[0], variant, weights)
        return best_exchange(words[0])
    if phase == ONE:
        return best_to_pass(row, words[0], variant, weights)
    return best_card(row, words[0], variant, weights)


# --- Passing, discarding, exchanging ---


@compiled
def best_to_pass(row, legal, variant, weights):
    """The card to give away next."""
    at = _AT[variant]
    cards = _CARDS[variant]
    trump = trump_suit(row, variant)
    to_foe = False
    if variant == SUITORS:  # the left, the opposite, then the right player
        to_foe = (columns(row, at[SENT], cards) == ZERO) or (columns(row, at[SENT] + cards, cards) != ZERO)
    hand = columns(row, at[HAND], cards)
    # Weights are looked up before the loop: there, the compiler then adds one or 0 without a jump.
    of_rank, of_boss = weights[W_FOE_RANK if to_foe else W_PASS_RANK], weights[W_FOE_BOSS if to_foe else W_PASS_BOSS]
    of_length, of_trump, of_a = weights[W_PASS_LENGTH], weights[W_PASS_TRUMP], weights[W_PASS_A]
    best, chosen = -1e9, 0
    left = legal
    while left != ZERO:
        card = lowest(left)
        left = drop_lowest(left)
        suit = SUIT_OF[card]
        value = of_rank * place_in_suit(card)
        value += of_length * popcount(hand & SUIT_CARDS[suit])
        value += of_boss if has(BOSSES, card) else 0.0
        value += of_trump if suit == trump else 0.0
        value += of_a if card == THE_A else 0.0
        better = value > best
        best, chosen = value if better else best, card if better else chosen
    return chosen


@compiled
def best_exchange(legal):
    """Two players: leave bosses where they are, where they can be followed with and seen."""
    return NO_EXCHANGE if has(legal, NO_EXCHANGE) else KEEP_OLD


# --- Playing a card ---


@inlined
def trump_suit(row, variant):
    """The trump suit, or -1 while there is none."""
    suits = columns(row, _AT[variant, TRUMP], 7)
    return lowest(suits) if suits != ZERO else -1


@inlined
def place_in_suit(card):
    """0 for the lowest card of a suit to 6 for the highest."""
    return RANK_OF[card] - SUIT_OF[card] - 1


@inlined
def seals(row, variant):
    """Seven Suitors: bosses captured and suits sealed, by us and them, and whether one seal denies a suit for good."""
    if variant != SUITORS:
        return ZERO, ZERO, ZERO, ZERO, False
    at = _AT[variant]
    captured, sealed = columns(row, at[CAPTURED], 28), columns(row, at[SEALED], 14)
    short = number(row, at[TARGET]) == 4
    return captured & first(14), captured >> np.uint64(14), sealed & first(7), sealed >> np.uint64(7), short


@inlined
def worth(boss, variant, of_boss, of_star, trump, sealing):
    """What capturing a boss is worth to the own side."""
    suit = SUIT_OF[boss]
    if variant != SUITORS:
        star = of_star * WHITE_STARS[suit]
        return of_boss + (star if suit != trump else 0.0)
    our_bosses, their_bosses, our_seals, their_seals, short = sealing
    twins = np.uint64(0x81) << np.uint64(suit)
    ours, theirs = our_bosses & twins != ZERO, their_bosses & twins != ZERO
    we, they = has(our_seals, suit), has(their_seals, suit)
    seal = 0.0 if we or theirs else (2.0 if ours else 1.0)
    deny = 0.0 if they or ours else (2.0 if theirs else 1.0)
    value = of_boss * 0.5 * (seal + deny)
    return 0.0 if short and (we or they) else value


@inlined
def best_card(row, legal, variant, weights):
    """The card to lead or to follow with."""
    if drop_lowest(legal) == ZERO:
        return lowest(legal)
    at = _AT[variant]
    players, cards = _PLAYERS[variant], _CARDS[variant]
    trump = trump_suit(row, variant)
    trumps = SUIT_CARDS[trump] if trump >= 0 else ZERO
    hand = columns(row, at[HAND], cards)
    leader = lowest(columns(row, at[LEAD], players))
    later = players - 1 if leader == 0 else leader - 1  # seats 1 … later play after us

    # The trick so far.
    led, best_seat, strongest, on_table, stronger = 0, 0, 0, ZERO, ZERO
    if leader != 0:
        best_seat, strongest = leader, lowest(columns(row, at[TRICK] + leader * cards, cards))
        led, on_table, stronger = SUIT_OF[strongest], bit(strongest), beaters(strongest, trump, trumps)
        for k in range(leader + 1, players):
            card = lowest(columns(row, at[TRICK] + k * cards, cards))
            on_table |= bit(card)
            better = has(stronger, card)
            best_seat, strongest = k if better else best_seat, card if better else strongest
            stronger = beaters(strongest, trump, trumps)
    of_boss, of_star, sealing = weights[W_BOSS], weights[W_STAR], seals(row, variant)
    bosses = on_table & BOSSES
    prize = 0.0
    while bosses != ZERO:
        prize += worth(lowest(bosses), variant, of_boss, of_star, trump, sealing)
        bosses = drop_lowest(bosses)
    table_bosses = popcount(on_table & BOSSES)

    # What we know of the cards we do not see, and of the seats that play after us.
    unknown = first(cards) & ~hand
    for k in range(players):
        unknown &= ~columns(row, at[PLAYED] + k * cards, cards)
    share = 10 if variant == THREE else 7  # of the unknown cards in another hand, in twentieths
    known = (ZERO, ZERO, ZERO)
    if variant == TWO:
        bare = columns(row, at[BARE] + CARDS, CARDS)
        known = (bare, ZERO, ZERO)
        unknown &= ~(bare | columns(row, at[BARE], CARDS) | columns(row, at[DISCARD], CARDS))
        share = straw_share(row, popcount(unknown))
    elif later > 0:
        known = passed_on(row, variant)
    if variant != SUITORS:
        unknown &= ~columns(row, at[TRUMP_CARD], cards)
    voids = columns(row, at[VOID] + 7, 7 * (players - 1))
    teams = players == 4
    others = (teams, later, unknown, known, voids, share)

    width = 14 if variant == SUITORS else 7
    foe = rival(row, variant, best_seat)
    need, limit = _NEED[variant], _LIMIT[variant]
    our_bosses, our_tricks = popcount(columns(row, at[CAPTURED], width)), number(row, at[TRICKS])
    foe_bosses = popcount(columns(row, at[CAPTURED] + foe * width, width))
    foe_tricks = number(row, at[TRICKS] + foe)
    ahead = weights[W_LATER_BOSS] * later
    reluctance = 1.0 if table_bosses > 0 else weights[W_RELUCTANCE]

    # Our side's chance when a card that is not the best is added, and when that is a boss.
    hold, hold_boss = 0.0, 0.0
    if leader != 0:
        ours = teams and best_seat == 2
        hold, hold_boss = chance_to_win(stronger, led, ours, others, reluctance)
    costs = (weights[W_A], weights[W_TRUMP], weights[W_TRUMP_RANK], weights[W_RANK], weights[W_KEEP_BOSS])
    of_trick, of_growth = weights[W_TRICK], weights[W_GROWTH]
    our_burden, foe_burden = of_growth * our_tricks, of_growth * foe_tricks
    lead_length, lead_boss = weights[W_LEAD_LENGTH], weights[W_LEAD_BOSS]
    top, chosen = -1e9, 0
    left = legal
    while left != ZERO:
        card = lowest(left)
        left = drop_lowest(left)
        suit = SUIT_OF[card]
        boss = has(BOSSES, card)
        captured = worth(card, variant, of_boss, of_star, trump, sealing)
        stake = prize + (captured if boss else 0.0)
        count = table_bosses + (1 if boss else 0)
        plain_chance, boss_chance = hold, hold_boss
        if leader == 0 or has(stronger, card):
            follow = suit if leader == 0 else led
            plain_chance, boss_chance = chance_to_win(beaters(card, trump, trumps), follow, True, others, reluctance)
        chance = boss_chance if boss else plain_chance
        worth_alone = stake - of_trick
        ours = gain(worth_alone - our_burden, our_bosses + count >= need, our_tricks + 1 >= limit)
        theirs = gain(worth_alone - foe_burden, foe_bosses + count >= need, foe_tricks + 1 >= limit)
        value = chance * (ours + ahead) - (1.0 - chance) * (theirs + ahead) - kept(card, trump, boss, costs)
        if leader == 0:
            value += lead_length * popcount(hand & SUIT_CARDS[suit])
            value += lead_boss * popcount(unknown & SUIT_CARDS[suit] & BOSSES) * (2.0 * chance - 1.0)
        better = value > top
        top, chosen = value if better else top, card if better else chosen
    return chosen


@inlined
def kept(card, trump, boss, costs):
    """What it costs not to have a card any more."""
    of_a, of_trump, of_trump_rank, of_rank, of_boss = costs
    cost, place = of_boss if boss else 0.0, place_in_suit(card)
    as_trump, as_plain = cost + of_trump + of_trump_rank * place, cost + of_rank * place
    cost = as_trump if SUIT_OF[card] == trump else as_plain
    return of_a if card == THE_A else cost


@inlined
def rival(row, variant, best_seat):
    """The side that takes the trick if we do not: whose card is best, else the one with the most bosses."""
    if variant != THREE:
        return 1
    if best_seat != 0:
        return best_seat
    at = _AT[variant]
    left, right = columns(row, at[CAPTURED] + 7, 7), columns(row, at[CAPTURED] + 14, 7)
    return 1 if popcount(left) >= popcount(right) else 2


@inlined
def gain(value, wins, loses):
    """What a trick is worth to a side, where it may win or lose the round."""
    value = LOSING if loses else value
    return WINNING if wins else value


@inlined
def beaters(card, trump, trumps):
    """All cards that beat the best card of a trick."""
    return STRONGER[card] | (ZERO if SUIT_OF[card] == trump or card == THE_A else trumps)


@inlined
def straw_share(row, unknown):
    """Two players: how much of the unknown cards is in the other hand, in twentieths."""
    at = _AT[TWO]
    straw = popcount(columns(row, at[STRAW_LEFT] + DOWN, DOWN))
    for place in range(UP):
        if columns(row, at[STRAW_UP] + (UP + place) * 14, 14) != ZERO:
            straw += 1
    held = 23 - popcount(columns(row, at[PLAYED] + CARDS, CARDS)) - straw
    return min(20, 20 * held // max(unknown, 1))


@inlined
def chance_to_win(stronger, led, ours, others, reluctance):
    """The chance that the own side takes a trick if only `stronger` cards beat the best one, and with a boss in it.

    Others beat it if they can where there is a boss, else they are reluctant. The best card is `ours` or not.
    """
    teams, later, unknown, known, voids, share = others
    chance, boss_chance = 1.0, 1.0
    if not ours:  # only the partner may help
        beats = chance_to_beat(stronger, led, unknown, known[1], voids, 2, share) if teams and later >= 2 else 0.0
        return beats * reluctance, beats
    if later >= 1:
        beats = chance_to_beat(stronger, led, unknown, known[0], voids, 1, share)
        chance, boss_chance = 1.0 - beats * reluctance, 1.0 - beats
    seat = 3 if teams else 2
    if later >= seat:
        beats = chance_to_beat(stronger, led, unknown, known[2] if teams else known[1], voids, seat, share)
        chance, boss_chance = chance * (1.0 - beats * reluctance), boss_chance * (1.0 - beats)
    return chance, boss_chance


@inlined
def chance_to_beat(stronger, led, unknown, known, voids, seat, share):
    """The chance that a seat has a stronger card of the led suit, or any one where it cannot follow."""
    follow, hidden = SUIT_CARDS[led], unknown & ~known
    free = stronger & ~follow
    void = has(voids, 7 * (seat - 1) + led)
    follows = 1.0 - MISSES[share, popcount(hidden & follow & stronger)]
    follows = 0.0 if void else follows
    follows = 1.0 if known & follow & stronger != ZERO else follows
    absent = MISSES[share, popcount(hidden & follow)]
    absent = 1.0 if void else absent
    absent = 0.0 if known & follow != ZERO else absent
    other = 1.0 - MISSES[share, popcount(hidden & free)]
    return follows + absent * (1.0 if known & free != ZERO else other)


@inlined
def passed_on(row, variant):
    """Cards that we gave to the seats 1, 2 and 3 and that they still hold."""
    at = _AT[variant]
    cards = _CARDS[variant]
    if variant == SUITORS:
        return (
            columns(row, at[SENT], cards) & ~columns(row, at[PLAYED] + cards, cards),
            columns(row, at[SENT] + cards, cards) & ~columns(row, at[PLAYED] + 2 * cards, cards),
            columns(row, at[SENT] + 2 * cards, cards) & ~columns(row, at[PLAYED] + 3 * cards, cards),
        )
    receiver = 2 if variant == FOUR else 1
    sent = columns(row, at[SENT], cards) & ~columns(row, at[PLAYED] + receiver * cards, cards)
    return (ZERO, sent, ZERO) if variant == FOUR else (sent, ZERO, ZERO)


register(STATE, advise, observe_packed)
