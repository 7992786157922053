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
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, first, has, lowest, popcount, wrap
from monsterzoo.envs.core.jit import compiled, inlined, specialized
from monsterzoo.envs.pikit.bags import count, points, total
from monsterzoo.envs.pikit.observation import layout, observe_packed, seen_score
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
    STEAL_MECHA,
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
from .reading import columns, eight, number

# --- Where the fields are, by [players, field] ---

FIELDS = (
    "phase", "turn_player", "low", "high", "mechas", "mechas_on_table", "pending_effect", "hand", "centre", "unseen",
    "known", "unknown", "wounds", "cancels",
)  # fmt: skip
(
    PHASE, TURN_PLAYER, LOW, HIGH, MECHAS, ON_TABLE, EFFECT, HAND, CENTRE, UNSEEN, KNOWN, UNKNOWN, WOUNDS, CANCELS,
) = range(len(FIELDS))  # fmt: skip
_LAYOUTS = {players: layout(players) for players in (2, 3, 4)}
_AT = np.zeros((5, len(FIELDS)), np.int64)
for _players, _layout in _LAYOUTS.items():
    _AT[_players] = [_layout.packed_start(name) for name in FIELDS]
# The mechas of all seats are one set of 6 columns a seat: its members 0, 6, 12, 18, and the seats these belong to.
_SEATS = np.uint64(sum(1 << 6 * seat for seat in range(4)))
_SEAT = np.arange(25) // 6 % 4
_NOBODY = 24  # the member to find where there is no other one
_DICE = np.uint64(sum(1 << effect for effect in range(EFFECTS) if effect < STEAL or effect >= TURN))
_STEALS = np.uint64(sum(1 << effect for effect in range(STEAL, DRAW)))
_SIZES = np.array([-1, -1, *(_LAYOUTS[players].size // 8 for players in (2, 3, 4))], np.int64)

# --- Weights, in points ---

EFFORT = 0.7  # what a discard must bring beyond its card's points
ONE_AHEAD, ONE_BEHIND = 6.0, 3.0  # what a 1 adds to the chances of the bonus
SPITE = 0.5  # what a point less is worth for a player who is not in the lead


@compiled
def advise(row, words):
    """The action to choose."""
    # Constant numbers of players let the compiler place every field once and for all.
    if len(row) == _SIZES[2]:
        return decide(row, words, 2)
    if len(row) == _SIZES[3]:
        return decide(row, words, 3)
    return decide(row, words, 4)


@specialized
def decide(row, words, players):
    """The action to choose among so many players."""
    at = _AT[players]
    phase = lowest(columns(row, at[PHASE], 3))
    low, high = lowest(columns(row, at[LOW], 6)) + 1, lowest(columns(row, at[HIGH], 6)) + 1
    if phase == 2:
        return best_take(row, players, words[1], low, high)
    if phase == 1:
        return best_reaction(row, players, words, low, high)
    return best_discard(row, players, words, low, high)


# --- What things are worth ---

# Bags and prices hold a byte for each value of a card, in two words for 0 … 7 and 8 … 15.
_EACH = np.uint64(0x0101010101010101)
_HALF = np.uint64(0x7F7F7F7F7F7F7F7F)
_EVERY_OTHER, _EVERY_OTHER_PAIR = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_EACH_PAIR = np.uint64(0x0001000100010001)
_FACES = np.uint64(0x00FFFFFFFFFFFF00)
_BYTES = np.array(
    [sum(0xFF << 8 * face for face in range(1, 7) if faces >> face - 1 & 1) for faces in range(64)], np.uint64
)
_PRICES = np.uint64(0x0706050403020000), np.uint64(0x000000000B0A0900)  # without 1s and 8s


@inlined
def full_where(numbers):
    """0xFF in each byte that is above 0 (and below 129)."""
    return (((numbers + _HALF) >> np.uint64(7)) & _EACH) * np.uint64(0xFF)


@inlined
def price_list(row, at, one):
    """What taking a value from the centre brings, a byte each; then the same for taking it twice, up to 7."""
    few, many = bag(row, at[CENTRE])
    prices = full_where(few) & (_PRICES[0] | np.uint64(one) << np.uint64(8))
    eights = (many & np.uint64(0xFF)) << np.uint64(3)
    twice = full_where(few - (full_where(few) & _EACH))
    return prices, (full_where(many) & _PRICES[1]) | eights, prices + (prices & twice)


@inlined
def price(prices, value):
    """What taking a value (0 … 12) brings; nothing where there is none."""
    word = prices[1] if value >= 8 else prices[0]
    return np.int64((word >> np.uint64((value & 7) << 3)) & np.uint64(0xFF))


@specialized
def worth_of_one(row, at, players):
    """A 1 is a point, and a step towards the bonus."""
    own, most = number(row, at[HAND]), 0
    for seat in range(1, players):
        most = max(most, number(row, at[KNOWN] + 11 * seat))
    return 1.0 + (ONE_AHEAD if own <= most <= own + 1 else ONE_BEHIND)


@inlined
def worth_of_pairs(prices, die):
    """What the best option of a die with each other face brings: both cards, the sum's or the difference's.

    A byte for each face, as all prices are; that of the double means nothing.
    """
    few, many, _ = prices
    shift = np.uint64(die << 3)
    both = few + _EACH * np.uint64(price(prices, die))
    sums = few >> shift | many << (np.uint64(64) - shift)
    differences = few << shift | turned_around(few) >> (np.uint64(56) - shift)
    return larger(larger(both, sums), differences)


@inlined
def larger(one, other):
    """The larger one of two numbers (below 128) in each byte."""
    wins = (((one | ~_HALF) - other) >> np.uint64(7)) & _EACH
    return other ^ ((one ^ other) & (wins * np.uint64(0xFF)))


@inlined
def turned_around(word):
    """The bytes in the opposite order."""
    word = (word >> np.uint64(8)) & _EVERY_OTHER | (word & _EVERY_OTHER) << np.uint64(8)
    word = (word >> np.uint64(16)) & _EVERY_OTHER_PAIR | (word & _EVERY_OTHER_PAIR) << np.uint64(16)
    return word >> np.uint64(32) | word << np.uint64(32)


@inlined
def of_face(numbers, face):
    """One byte."""
    return np.int64((numbers >> np.uint64(face << 3)) & np.uint64(0xFF))


@inlined
def sum_but(numbers, face):
    """The sum of the bytes of all faces but one."""
    others = numbers & _FACES & ~(np.uint64(0xFF) << np.uint64(face << 3))
    pairs = (others & _EVERY_OTHER) + ((others >> np.uint64(8)) & _EVERY_OTHER)
    return np.int64((pairs * _EACH_PAIR) >> np.uint64(48))


@inlined
def best_face(numbers, faces):
    """The largest byte among some faces (a set without 0) and the first face that has it; any face if there is none."""
    asked = _BYTES[faces >> np.uint64(1)]
    numbers &= asked
    top = larger(numbers, numbers >> np.uint64(32))
    top = larger(top, top >> np.uint64(16))
    top = larger(top, top >> np.uint64(8)) & np.uint64(0xFF)
    differ = numbers ^ (top * _EACH)
    same = (differ - _EACH) & ~differ & ~_HALF & asked
    return np.int64(top), lowest(same | bit(63)) >> 3


@inlined
def worth_of_double(prices, face, mechas, thefts):
    """What the best option of a double brings: cards, its mecha or a theft; `mechas` on the table and by seat."""
    cards = max(price(prices, 2 * face), of_face(prices[2], face))
    on_table, held = mechas
    by_mecha = np.float64(MECHA_POINTS) if has(on_table, face - 1) else thefts[holder_of(held, face)]
    return max(np.float64(cards), by_mecha)


@inlined
def holder_of(held, face):
    """Whose the mecha of a double is, of those held by seats; our own seat if it is nobody's."""
    return _SEAT[lowest(held >> np.uint64(face - 1) & _SEATS | bit(_NOBODY))]


@inlined
def bag(row, start):
    """A field of cards by value as in the rules: a byte for each value, in two words for 1 … 7 and 8 … 11."""
    return eight(row, start - 1) & ~np.uint64(0xFF), eight(row, start + 3) >> np.uint64(32)


@inlined
def average_unseen(row, at):
    """The average value of a card nobody has shown."""
    unseen = bag(row, at[UNSEEN])
    return np.float64(points(unseen)) / max(total(unseen), 1)


@specialized
def worth_of_thefts(row, players, thief):
    """What a random card of each of four seats brings to the thief; nothing of its own or of nobody's."""
    leading, unseen = leaders(row, players), average_unseen(row, _AT[players])
    return (
        worth_of_theft(row, players, 0, leading, unseen) if thief != 0 else 0.0,
        worth_of_theft(row, players, 1, leading, unseen) if thief != 1 else 0.0,
        worth_of_theft(row, players, 2, leading, unseen) if thief != 2 and players > 2 else 0.0,
        worth_of_theft(row, players, 3, leading, unseen) if thief != 3 and players > 3 else 0.0,
    )


@specialized
def worth_of_theft(row, players, victim, leading, unseen):
    """What a random card of a seat brings to the thief, and its loss to the victim."""
    at = _AT[players]
    mechas, unknown = popcount(columns(row, at[MECHAS] + 6 * victim, 6)), number(row, at[UNKNOWN] + victim)
    known = bag(row, at[KNOWN] + 11 * victim)
    loss = 15.0 * mechas + unknown * unseen + points(known)
    wounds = 6.0 * count(known, 3)
    value = loss - wounds + (1.0 if has(leading, victim) else SPITE) * loss / (players - 1)
    return value / max(total(known) + unknown + mechas, 1)


@specialized
def leaders(row, players):
    """The seats with the most points, of cards that we know of."""
    at = _AT[players]
    most_ones = number(row, at[HAND])
    for seat in range(1, players):
        most_ones = max(most_ones, number(row, at[KNOWN] + 11 * seat))
    most, leading = -1000, ZERO
    for seat in range(players):
        cards = bag(row, at[HAND] if seat == 0 else at[KNOWN] + 11 * seat)
        mechas, wounds = popcount(columns(row, at[MECHAS] + 6 * seat, 6)), number(row, at[WOUNDS] + seat)
        score = seen_score(cards, mechas, wounds, most_ones)
        leading = ZERO if score > most else leading
        leading |= bit(seat) if score >= most else ZERO
        most = max(most, score)
    return leading


# --- Decisions ---


@specialized
def best_take(row, players, options, low, high):
    """The option that brings the most."""
    at = _AT[players]
    prices = price_list(row, at, worth_of_one(row, at, players))
    first, second = price(prices, low), price(prices, high)
    best, chosen = 0, TAKE_NOTHING
    best, chosen = better(best, chosen, options, TAKE_SUM, price(prices, low + high))
    best, chosen = better(best, chosen, options, TAKE_DIFFERENCE, price(prices, high - low))
    best, chosen = better(best, chosen, options, TAKE_LOW, first)
    best, chosen = better(best, chosen, options, TAKE_HIGH, second)
    best, chosen = better(best, chosen, options, TAKE_BOTH, first + second)
    best, chosen = better(best, chosen, options, TAKE_MECHA, MECHA_POINTS)
    if has(options, STEAL_MECHA - 64):
        holder = holder_of(columns(row, at[MECHAS], 6 * players), low)
        if worth_of_thefts(row, players, 0)[holder] > best:
            return STEAL_MECHA
    return chosen


@inlined
def better(best, chosen, options, action, value):
    """The better one of what was best so far and another action, if that is legal."""
    taken = has(options, action - 64) and value > best
    return value if taken else best, action if taken else chosen


@specialized
def best_effect(row, players, low, high, one, seat, effects, costs):
    """The one of some effects that brings most to the seat whose turn it is, and how much that is (at least 0).

    `one` is what a 1 is worth to the seat; `costs` are those of an effect by its own card (0 for free, 1 to pay its
    points), by which card else, and which effects have their own.
    """
    at = _AT[players]
    prices, mechas = price_list(row, at, one), (columns(row, at[ON_TABLE], 6), columns(row, at[MECHAS], 6 * players))
    best, chosen = 0.0, -1
    # Who may be robbed: by an effect, or as the holder of the mecha of a double that may come.
    doubles = first(6) if has(effects, REROLL + 2) else bit(low - 1) | bit(high - 1)
    holders = mechas[1] & doubles * _SEATS & ~(first(6) << np.uint64(6 * seat))
    thefts = (0.0, 0.0, 0.0, 0.0)
    if effects & _STEALS != ZERO or (effects & _DICE != ZERO and holders != ZERO):
        thefts = worth_of_thefts(row, players, seat)
    if effects & _DICE != ZERO:
        # Both dice are turned to every face: these are the rolls that may come, too.
        twins = worth_of_double(prices, low, mechas, thefts), worth_of_double(prices, high, mechas, thefts)
        with_low, with_high = worth_of_pairs(prices, low), worth_of_pairs(prices, high)
        now = twins[0] if low == high else np.float64(of_face(with_high, low))
        turned, turn = best_turn(with_high, high, twins[1], TURN - 1, now, effects, costs)
        other_turned, other_turn = best_turn(with_low, low, twins[0], TURN + 5, now, effects, costs)
        value = (sum_but(with_high, high) + twins[1]) / 6.0 - now
        best, chosen = improve(best, chosen, effects, REROLL, value, costs)
        value = (sum_but(with_low, low) + twins[0]) / 6.0 - now
        best, chosen = improve(best, chosen, effects, REROLL + 1, value, costs)
        if has(effects, REROLL + 2):
            value = worth_of_any_roll(prices, mechas, thefts) - now
            best, chosen = improve(best, chosen, effects, REROLL + 2, value, costs)
    steals = effects & _STEALS
    while steals != ZERO:
        effect = lowest(steals)
        steals = drop_lowest(steals)
        value = thefts[wrap(seat + 1 + effect - STEAL, players)]
        best, chosen = improve(best, chosen, effects, effect, value, costs)
    if has(effects, DRAW):
        best, chosen = improve(best, chosen, effects, DRAW, average_unseen(row, at), costs)
    if effects & _DICE != ZERO:
        if turned > best:
            best, chosen = turned, turn
        if other_turned > best:
            best, chosen = other_turned, other_turn
    return best, chosen


@inlined
def best_turn(values, other, double, start, now, effects, costs):
    """What the best turn of a die brings and which effect that is; `values` of its faces with the `other` die.

    Turning it to face f is effect `start` + f, and worth `double` if it then shows what the other die does.
    """
    top, face = best_face(values, ((effects >> np.uint64(start)) & np.uint64(0x7E)) & ~bit(other))
    pair, twin = top - now, double - now
    early = other < face  # of two that are worth the same, the lower face is chosen
    best, chosen = improve(0.0, -1, effects, start + (other if early else face), twin if early else pair, costs)
    return improve(best, chosen, effects, start + (face if early else other), pair if early else twin, costs)


@inlined
def improve(best, chosen, effects, effect, value, costs):
    """The better one of what was best so far and another effect, if that is legal."""
    pay, other_card, own = costs
    card = np.float64(CARD_OF[effect] if has(own, effect) else other_card)
    value = value - pay * card - pay * EFFORT
    taken = has(effects, effect) and value > best
    return value if taken else best, effect if taken else chosen


@inlined
def worth_of_any_roll(prices, mechas, thefts):
    """What the best option of a roll of both dice brings on average."""
    value = 0.0
    for face in range(1, 7):
        value += worth_of_double(prices, face, mechas, thefts) + sum_but(worth_of_pairs(prices, face), face)
    return value / 36.0


@specialized
def best_discard(row, players, words, low, high):
    """The discard that brings the most beyond its card, or the end of discards."""
    at = _AT[players]
    plain = words[0] & first(EFFECTS)
    # A wild card costs so much more that only the cheapest one in hand is worth a thought.
    wild, cheapest = bag(row, at[HAND])[1] >> np.uint64(8), 0
    effects = plain
    if wild != ZERO:
        cheapest = 9 + (lowest(wild) >> 3)
        effects |= wild_effects(words, cheapest)
    one = worth_of_one(row, at, players)
    _, chosen = best_effect(row, players, low, high, one, 0, effects, (1.0, cheapest, plain))
    if chosen < 0:
        return END_DISCARDS
    return chosen if has(plain, chosen) else chosen + EFFECTS * (cheapest - 8)


@inlined
def wild_effects(words, value):
    """The effects that are legal by a 9, 10 or 11."""
    start = EFFECTS * (value - 8)
    effects = words[0] >> np.uint64(start)
    if value == 11:
        effects |= words[1] << np.uint64(64 - start)
    return effects & first(EFFECTS)


@specialized
def best_reaction(row, players, words, low, high):
    """Cancel what does more harm than the card for it is worth; defend the own effect."""
    at = _AT[players]
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
    steals = STEAL <= effect < DRAW
    if turn != 0 and steals and wrap(turn + 1 + effect - STEAL, players) != 0:
        return ACCEPT  # somebody else's trouble
    action = END_DISCARDS
    for k in range(2):  # the cheapest way to cancel is the lowest action
        if words[k] != ZERO and action == END_DISCARDS:
            action = 64 * k + lowest(words[k])
    if action >= END_DISCARDS:
        return ACCEPT
    one = worth_of_one(row, at, players) if turn == 0 else 1.0 + ONE_BEHIND
    value, _ = best_effect(row, players, low, high, one, turn, effects, (0.0, 0, effects))
    if turn != 0 and players > 2 and not steals:
        value *= SPITE
    return action if value > CARD_OF[action] + EFFORT else ACCEPT


register(STATE, advise, observe_packed)
