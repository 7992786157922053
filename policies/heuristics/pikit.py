"""Pikit by hand: count points.

- Every roll has a best thing to take from the centre: the cards' values, all 8s together, a mecha for its double, a 1
  for the bonus it may bring. Stealing from the holder of a mecha is worth its average card.
- A discard costs the card's points. Turning a die or rolling again is worth how much better the best take becomes (on
  average), stealing the victim's average card (a 3 wounds) and what the victim loses, drawing the average unseen card.
  The best of these is done if it brings more than it costs, else the discards end.
- An effect of another player is cancelled if it does more harm than the cancelling card is worth; the own effect is
  defended the same way.
"""

import numpy as np
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, has, lowest, popcount
from monsterzoo.envs.core.jit import compiled, inlined
from monsterzoo.envs.pikit.observation import layout
from monsterzoo.envs.pikit.rules import (
    ACCEPT,
    CARD_OF,
    DRAW,
    EFFECTS,
    END_DISCARDS,
    MECHA_POINTS,
    REROLL,
    STATE,
    STEAL,
    TAKE_BOTH,
    TAKE_DIFFERENCE,
    TAKE_HIGH,
    TAKE_LOW,
    TAKE_MECHA,
    TAKE_NOTHING,
    TAKE_SUM,
    TURN,
)

from . import register
from .reading import columns, number

# --- Where the fields are, by [players, field] ---

_NAMES = (
    "phase", "turn_player", "low", "high", "mechas", "mechas_on_table", "pending_effect", "hand", "centre", "unseen",
    "known", "unknown", "hand_size", "scores", "cancels", "last_turns",
)  # fmt: skip
(
    PHASE, TURN_PLAYER, LOW, HIGH, MECHAS, ON_TABLE, EFFECT, HAND, CENTRE, UNSEEN,
    KNOWN, UNKNOWN, HAND_SIZE, SCORES, CANCELS, LAST_TURNS,
) = range(len(_NAMES))  # fmt: skip
_LAYOUTS = {players: layout(players) for players in (2, 3, 4)}
_AT = np.zeros((5, len(_NAMES)), np.int64)
for _players, _layout in _LAYOUTS.items():
    _AT[_players] = [_layout[name].start for name in _NAMES]
_SIZES = np.array([-1, -1, *(_LAYOUTS[players].size // 8 for players in (2, 3, 4))], np.int64)

# --- Weights, in points ---

EFFORT = 0.7  # what a discard must bring beyond its card's points
ONE_AHEAD, ONE_BEHIND = 6.0, 3.0  # what a 1 adds to the chances of the bonus
SPITE = 0.5  # what a point less is worth for a player who is not in the lead


@compiled
def advise(row, words):
    """The action to choose."""
    players = 2
    while _SIZES[players] != len(row):
        players += 1
    at = _AT[players]
    phase = lowest(columns(row, at[PHASE], 3))
    low, high = lowest(columns(row, at[LOW], 6)) + 1, lowest(columns(row, at[HIGH], 6)) + 1
    centre = counts(row, at[CENTRE])
    if phase == 2:
        return best_take(row, at, players, words[1], centre, low, high)
    if phase == 1:
        return best_reaction(row, at, players, words, centre, low, high)
    return best_discard(row, at, players, words, centre, low, high)


@inlined
def counts(row, start):
    """Cards by value, 1 … 11, as four bits each (15 stands for more)."""
    bag = ZERO
    for value in range(1, 12):
        bag |= np.uint64(min(number(row, start + value - 1), 15)) << np.uint64(4 * value)
    return bag


@inlined
def copies(bag, value):
    """How many cards of a value (0 … 15) are in a bag of `counts`."""
    return np.int64((bag >> np.uint64(4 * value)) & np.uint64(15))


# --- What things are worth ---


@inlined
def worth(centre, value, one):
    """What taking a value from the centre brings; nothing where there is none."""
    copies_there = copies(centre, value)
    if copies_there == 0:
        return 0.0
    if value == 8:
        return 8.0 * copies_there
    return one if value == 1 else np.float64(value)


@compiled
def worth_of_one(row, at, players):
    """A 1 is a point, and a step towards the bonus."""
    own, most = number(row, at[HAND]), 0
    for seat in range(1, players):
        most = max(most, number(row, at[KNOWN] + 11 * seat))
    return 1.0 + (ONE_AHEAD if own <= most <= own + 1 else ONE_BEHIND)


@compiled
def worth_of_roll(row, at, players, centre, low, high, one, seat):
    """What the best option of a roll brings to a seat."""
    best = max(worth(centre, low + high, one), worth(centre, high - low, one))
    first, second = worth(centre, low, one), worth(centre, high, one)
    if low != high:
        return max(best, first + second)
    best = max(best, 2.0 * first if copies(centre, low) >= 2 else first)
    if has(columns(row, at[ON_TABLE], 6), low - 1):
        return max(best, np.float64(MECHA_POINTS))
    for other in range(players):
        if other != seat and has(columns(row, at[MECHAS] + 6 * other, 6), low - 1):
            return max(best, worth_of_theft(row, at, players, other))
    return best


@compiled
def average_unseen(row, at):
    """The average value of a card nobody has shown."""
    total, cards = 0.0, 0
    for value in range(1, 12):
        seen = number(row, at[UNSEEN] + value - 1)
        total += seen * value
        cards += seen
    return total / max(cards, 1)


@compiled
def worth_of_theft(row, at, players, victim):
    """What a random card of a seat brings to the thief, and its loss to the victim."""
    size = number(row, at[HAND_SIZE] + victim)
    if size == 0:
        return 0.0
    mechas = 15.0 * popcount(columns(row, at[MECHAS] + 6 * victim, 6))
    unknown = number(row, at[UNKNOWN] + victim)
    loss = mechas + (unknown * average_unseen(row, at) if unknown > 0 else 0.0)
    wounds = 0.0
    for value in range(1, 12):
        cards = number(row, at[KNOWN] + 11 * victim + value - 1)
        loss += value * cards
        if value == 3:
            wounds = 6.0 * cards
    best = -1000
    for seat in range(players):
        if seat != victim:
            best = max(best, number(row, at[SCORES] + seat))
    ahead = number(row, at[SCORES] + victim) >= best
    return (loss - wounds + (1.0 if ahead else SPITE) * loss / (players - 1)) / size


# --- Decisions ---


@compiled
def best_take(row, at, players, options, centre, low, high):
    """The option that brings the most."""
    one = worth_of_one(row, at, players)
    best, chosen = 0.0, TAKE_NOTHING
    options &= ~bit(TAKE_NOTHING - 64)
    while options != ZERO:
        action = lowest(options) + 64
        options = drop_lowest(options)
        if action == TAKE_SUM:
            value = worth(centre, low + high, one)
        elif action == TAKE_DIFFERENCE:
            value = worth(centre, high - low, one)
        elif action == TAKE_LOW:
            value = worth(centre, low, one)
        elif action == TAKE_HIGH:
            value = worth(centre, high, one)
        elif action == TAKE_BOTH:
            value = worth(centre, low, one) + worth(centre, high, one)
        elif action == TAKE_MECHA:
            value = np.float64(MECHA_POINTS)
        else:
            value = stolen_mecha(row, at, players, low)
        if value > best:
            best, chosen = value, action
    return chosen


@inlined
def stolen_mecha(row, at, players, low):
    """What stealing from the holder of a double's mecha brings."""
    for other in range(1, players):
        if has(columns(row, at[MECHAS] + 6 * other, 6), low - 1):
            return worth_of_theft(row, at, players, other)
    return 0.0


@compiled
def worth_of_effect(row, at, players, centre, low, high, one, effect, seat):
    """What an effect brings to the seat whose turn it is; `one` is what a 1 is worth to it."""
    if effect == DRAW:
        return average_unseen(row, at)
    if STEAL <= effect < DRAW:
        victim = (seat + 1 + effect - STEAL) % players
        return worth_of_theft(row, at, players, victim)
    now = worth_of_roll(row, at, players, centre, low, high, one, seat)
    if effect >= TURN:
        face, other = (effect - TURN - 5, low) if effect >= TURN + 6 else (effect - TURN + 1, high)
        return worth_of_roll(row, at, players, centre, min(face, other), max(face, other), one, seat) - now
    total = 0.0
    if effect == REROLL + 2:
        for first in range(1, 7):
            for second in range(first, 7):
                weight = 1.0 if first == second else 2.0
                total += weight * worth_of_roll(row, at, players, centre, first, second, one, seat)
        return total / 36.0 - now
    other = high if effect == REROLL else low
    for face in range(1, 7):
        total += worth_of_roll(row, at, players, centre, min(face, other), max(face, other), one, seat)
    return total / 6.0 - now


@compiled
def best_discard(row, at, players, words, centre, low, high):
    """The discard that brings the most beyond its card, or the end of discards."""
    one = worth_of_one(row, at, players)
    best, chosen = 0.0, END_DISCARDS
    plain = words[0] & (bit(EFFECTS) - np.uint64(1))
    # A wild card costs so much more that only the cheapest one in hand is worth a thought.
    cheapest = 0
    for value in range(11, 8, -1):
        if number(row, at[HAND] + value - 1) > 0:
            cheapest = value
    effects = plain
    if cheapest > 0:
        effects |= wild_effects(words, cheapest)
    while effects != ZERO:
        effect = lowest(effects)
        effects = drop_lowest(effects)
        by_own = has(plain, effect)
        cost = np.float64(CARD_OF[effect] if by_own else cheapest)
        value = worth_of_effect(row, at, players, centre, low, high, one, effect, 0) - cost - EFFORT
        if value > best:
            best, chosen = value, effect if by_own else effect + EFFECTS * (cheapest - 8)
    return chosen


@inlined
def wild_effects(words, value):
    """The effects that are legal by a 9, 10 or 11."""
    start = EFFECTS * (value - 8)
    effects = words[0] >> np.uint64(start)
    if value == 11:
        effects |= words[1] << np.uint64(64 - start)
    return effects & (bit(EFFECTS) - np.uint64(1))


@compiled
def best_reaction(row, at, players, words, centre, low, high):
    """Cancel what does more harm than the card for it is worth; defend the own effect."""
    cancels = 0
    for seat in range(players):
        cancels += number(row, at[CANCELS] + seat)
    turn = lowest(columns(row, at[TURN_PLAYER], players))
    stands = cancels & 1 == 0
    if stands == (turn == 0):
        return ACCEPT
    effects = columns(row, at[EFFECT], EFFECTS)
    if effects == ZERO:
        return ACCEPT
    effect = lowest(effects)
    one = worth_of_one(row, at, players) if turn == 0 else 1.0 + ONE_BEHIND
    value = worth_of_effect(row, at, players, centre, low, high, one, effect, turn)
    if turn != 0:
        if STEAL <= effect < DRAW and (turn + 1 + effect - STEAL) % players != 0:
            return ACCEPT  # somebody else's trouble
        if players > 2 and not STEAL <= effect < DRAW:
            value *= SPITE
    action = END_DISCARDS
    for k in range(2):  # the cheapest way to cancel is the lowest action
        if words[k] != ZERO and action == END_DISCARDS:
            action = 64 * k + lowest(words[k])
    if action >= END_DISCARDS:
        return ACCEPT
    return action if value > CARD_OF[action] + EFFORT else ACCEPT


register(STATE, advise)
