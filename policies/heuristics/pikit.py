"""Heuristic for Pikit: count points.

- Every roll has a best thing to take from the centre: the cards' values, all 8s together, a mecha for its double, a 1
  for the bonus it may bring. Stealing from the holder of a mecha is worth its average card.
- A discard costs the card's points. Turning a die or rolling again is worth how much better the best take becomes (on
  average), stealing the victim's average card (a 3 wounds) and what the victim loses, drawing the average unseen card.
  The best of these is done if it brings more than it costs, else the discards end.
- An effect of another player is cancelled if it does more harm than the cancelling card is worth; our own effect is
  defended the same way.
"""

import numpy as np
from monsterzoo.envs.compiling.dispatch import implement
from monsterzoo.envs.compiling.jit import compiled, inlined
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, first, has, lowest, popcount, wrap
from monsterzoo.envs.pikit.bags import copy_of, count, points, total
from monsterzoo.envs.pikit.rules import (
    ACCEPT,
    CARD_OF,
    DRAW,
    EFFECTS,
    END_DISCARDS,
    MECHA_POINTS,
    NONE,
    REACT,
    REROLL,
    STEAL,
    STEAL_MECHA,
    TAKE,
    TAKE_DIFFERENCE,
    TAKE_HIGH,
    TAKE_LOW,
    TAKE_MECHA,
    TAKE_NOTHING,
    TAKE_SUM,
    TURN,
    WOUND_POINTS,
    mecha_holder,
)
from monsterzoo.envs.pikit.view import VIEW

from . import advise

# --- Weights, in points ---

EFFORT = 0.7  # what a discard must bring beyond its card's points
ONE_AHEAD, ONE_BEHIND = 6, 3  # what a 1 adds to the chances of the bonus
SPITE = 0.5  # what a point less is worth for a player who is not in the lead
WOUND = 2.0 * WOUND_POINTS  # a stolen 3 brings no points and costs some


@compiled
def best_action(view, words):
    """The action to choose."""
    if view.phase == TAKE:
        return best_take(view, words)
    if view.phase == REACT:
        return best_reaction(view, words)
    return best_discard(view, words)


# --- What things are worth ---


@inlined
def price_list(view, one):
    """What taking each value from the centre brings, kept like a bag of cards; `one` is what a 1 is worth."""
    few, many = ZERO, ZERO
    for value in range(1, 8):
        if count(view.centre, value) > 0:
            few |= copy_of(value) * np.uint64(one if value == 1 else value)
    for value in range(9, 12):
        if count(view.centre, value) > 0:
            many |= copy_of(value) * np.uint64(value)
    return few, many | copy_of(8) * np.uint64(8 * count(view.centre, 8))  # all 8s come together


@compiled
def worth_of_one(view):
    """A 1 is a point, and a step towards the bonus."""
    own, most = count(view.hand, 1), 0
    for seat in range(1, np.int64(view.players)):
        most = max(most, count(view.known[seat], 1))
    return 1 + (ONE_AHEAD if own <= most <= own + 1 else ONE_BEHIND)


@inlined
def worth_of_roll(view, prices, one_die, other_die):
    """What the best option of a roll brings to the seat whose turn it is: the sum, the difference, or both cards."""
    if one_die == other_die:
        return worth_of_double(view, prices, one_die)
    both = count(prices, one_die) + count(prices, other_die)
    alone = max(count(prices, one_die + other_die), count(prices, abs(one_die - other_die)))
    return np.float64(max(both, alone))


@compiled
def worth_of_double(view, prices, face):
    """What the best option of a double brings: the sum, one or two such cards, its mecha, a theft from its holder."""
    copies = min(count(view.centre, face), 2)
    best = np.float64(max(count(prices, 2 * face), copies * count(prices, face)))
    if has(np.uint64(view.mechas_on_table), face):
        return max(best, np.float64(MECHA_POINTS))
    holder = mecha_holder(view, face)
    return best if holder == view.turn_player else max(best, worth_of_theft(view, holder))


@inlined
def average_unseen(view):
    """The average value of a card nobody has shown."""
    return np.float64(points(view.unseen)) / max(total(view.unseen), 1)


@compiled
def worth_of_theft(view, victim):
    """What a random card of a seat brings to the thief, and its loss to the victim."""
    known = view.known[victim]
    mechas, unknown = popcount(np.uint64(view.mechas[victim])), np.int64(view.unknown[victim])
    loss = MECHA_POINTS * mechas + unknown * average_unseen(view) + points(known)
    harm = (1.0 if leads(view, victim) else SPITE) * loss / (view.players - 1)
    return (loss - WOUND * count(known, 3) + harm) / max(total(known) + unknown + mechas, 1)


@inlined
def leads(view, seat):
    """Whether nobody has more points than a seat, of cards that we know of."""
    for other in range(np.int64(view.players)):  # noqa: SIM110 - numba has no generators
        if view.scores[other] > view.scores[seat]:
            return False
    return True


@compiled
def worth_of_effect(view, effect, prices):
    """What an effect brings to the seat whose turn it is; new dice are worth their best option."""
    low, high = np.int64(view.low), np.int64(view.high)
    if effect == DRAW:
        return average_unseen(view)
    if STEAL <= effect < DRAW:
        return worth_of_theft(view, wrap(view.turn_player + 1 + effect - STEAL, np.int64(view.players)))
    if effect >= TURN + 6:
        return worth_of_roll(view, prices, low, effect - TURN - 5)
    if effect >= TURN:
        return worth_of_roll(view, prices, effect - TURN + 1, high)
    if effect == REROLL:
        return average_roll(view, prices, high)
    if effect == REROLL + 1:
        return average_roll(view, prices, low)
    total = 0.0
    for face in range(1, view.faces + 1):
        total += average_roll(view, prices, face)
    return total / view.faces


@inlined
def changes_dice(effect):
    """Whether an effect turns or rolls dice, so that what they show now is lost."""
    return effect < STEAL or effect >= TURN


@compiled
def average_roll(view, prices, die):
    """What the best option brings on average when one die stays and the other is rolled."""
    total = 0.0
    for face in range(1, view.faces + 1):
        total += worth_of_roll(view, prices, face, die)
    return total / view.faces


# --- Decisions ---


@compiled
def best_take(view, words):
    """The option that brings the most."""
    prices, low, high = price_list(view, worth_of_one(view)), np.int64(view.low), np.int64(view.high)
    options = words[1] & ~bit(TAKE_NOTHING - 64)
    best, chosen = 0.0, TAKE_NOTHING
    while options != ZERO:
        action = lowest(options) + 64
        options = drop_lowest(options)
        if action == TAKE_SUM:
            value = np.float64(count(prices, low + high))
        elif action == TAKE_DIFFERENCE:
            value = np.float64(count(prices, high - low))
        elif action == TAKE_MECHA:
            value = np.float64(MECHA_POINTS)
        elif action == STEAL_MECHA:
            value = worth_of_theft(view, mecha_holder(view, low))
        else:
            of_low, of_high = action != TAKE_HIGH, action != TAKE_LOW
            value = np.float64(of_low * count(prices, low) + of_high * count(prices, high))
        if value > best:
            best, chosen = value, action
    return chosen


@compiled
def best_discard(view, words):
    """The discard that brings the most beyond its card, or the end of discards."""
    prices = price_list(view, worth_of_one(view))
    now = worth_of_roll(view, prices, np.int64(view.low), np.int64(view.high))
    # A wild card costs so much more that only the cheapest one in hand is worth a thought.
    plain, wild = words[0] & first(EFFECTS), cheapest_wild(view)
    effects = plain | effects_by(words, wild) if wild != NONE else plain
    best, chosen = 0.0, END_DISCARDS
    while effects != ZERO:
        effect = lowest(effects)
        effects = drop_lowest(effects)
        by_own_card = has(plain, effect)
        card = CARD_OF[effect] if by_own_card else wild
        value = worth_of_effect(view, effect, prices) - card - EFFORT
        if changes_dice(effect):
            value -= now
        if value > best:
            best, chosen = value, effect if by_own_card else effect + EFFECTS * (wild - 8)
    return chosen


@inlined
def cheapest_wild(view):
    """The lowest 9, 10 or 11 in hand, or NONE."""
    for value in range(9, 12):
        if count(view.hand, value) > 0:
            return value
    return NONE


@inlined
def effects_by(words, value):
    """The effects that are legal by a 9, 10 or 11."""
    start = EFFECTS * (value - 8)
    effects = words[0] >> np.uint64(start)
    if value == 11:
        effects |= words[1] << np.uint64(64 - start)
    return effects & first(EFFECTS)


@compiled
def best_reaction(view, words):
    """Cancel what does more harm than the card for it is worth; defend our own effect."""
    effect, ours = np.int64(view.pending_effect), view.turn_player == 0
    laid = 0
    for seat in range(np.int64(view.players)):
        laid += view.cancels[seat]
    stands = laid % 2 == 0
    if stands == ours:
        return ACCEPT
    steals = STEAL <= effect < DRAW
    if steals and not ours and view.pending_victim != 0:
        return ACCEPT  # the theft hurts another player
    prices = price_list(view, worth_of_one(view) if ours else 1 + ONE_BEHIND)
    value = worth_of_effect(view, effect, prices)
    if changes_dice(effect):
        value -= worth_of_roll(view, prices, np.int64(view.low), np.int64(view.high))
    if not ours and not steals and view.players > 2:
        value *= SPITE
    # The cheapest way is the lowest action.
    cancel = lowest(words[0]) if words[0] != ZERO else min(64 + lowest(words[1]), len(CARD_OF) - 1)
    return cancel if value > CARD_OF[cancel] + EFFORT else ACCEPT


implement(advise, VIEW, best_action)
