"""Events of Pikit: what a seat sees of a decision, as numbers, and what they mean.

Everybody sees every action but `accept`: who was asked to cancel and did not is nobody else's business.
"""

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.contract import add_event, add_events, numbered
from . import rules
from .bags import count
from .rules import DRAW, EFFECTS, END_DISCARDS, STEAL, TURN

EFFECT_WORDS = (
    *(f"reroll {dice}" for dice in ("the low die", "the high die", "both dice")),
    *(f"steal a card from {{{k}}}" for k in (1, 2, 3)),
    "draw a card from the deck",
    "cancel",
    *(f"turn the {die} die to {face}" for die in ("low", "high") for face in range(1, 7)),
)
"""Effects of discards; {1} is the seat next to the one that discards."""

# An action's number is one more than its own; what follows from it comes behind.
EVENT_NAMES, (_, CANCELLED, DICE, GAIN, GAIN_MECHA, WOUND, DRAWN, DRAWS, REFILL, LAST_TURNS) = numbered(
    [
        *(f"{{0}}: {rules.CARD_OF[action]} to {EFFECT_WORDS[action % EFFECTS]}" for action in range(END_DISCARDS)),
        "{0}: end the discards",
        "{0}: accept the discard",
        *(f"{{0}}: take {what}" for what in ("the sum", "the difference", "the low die", "the high die", "both dice")),
        "{0}: take the mecha of the dice",
        "{0}: steal from who holds the mecha of the dice",
        "{0}: take nothing",
    ],
    ["… it is cancelled"],
    [f"{{0}}: dice {low} and {high}" for high in range(1, 7) for low in range(1, high + 1)],
    [f"{{0}}: gain a {value}" for value in range(1, 12)],  # that everybody sees
    [f"{{0}}: gain the mecha {number}-{number}" for number in range(1, 7)],
    ["{0}: a stolen 3 wounds"],
    [f"{{0}}: draw a {value}" for value in range(1, 12)],  # the observer's own secret card
    ["{0}: draw a card"],  # another's
    [f"new in the centre: {value}" for value in range(1, 12)],
    ["the deck is empty: last turns"],
)
assert rules.ACTIONS == CANCELLED


@compiled
def events(before, after, mover, action, out):
    """Write what a seat saw of a decision."""
    n = 0
    if action != rules.ACCEPT or mover == 0:
        n = add_event(out, n, mover, action + 1)
    if before.phase == rules.TAKE:
        n = add_gains(before, after, mover, 0, out, n)
        return add_end_of_turn(before, after, action, out, n)
    if action == END_DISCARDS or after.pending_effect != rules.NONE:
        return n
    return add_effect(before, after, mover, action, out, n)


@inlined
def add_effect(before, after, mover, action, out, n):
    """Nobody cancels any more: what the turn player's discard does."""
    turn_player = before.turn_player
    effect, cancels, discarded = before.pending_effect, 0, 0
    if before.phase == rules.DISCARD:
        effect = action % EFFECTS
    for k in range(before.players):
        cancels += before.cancels[k]
    if action < END_DISCARDS:
        cancels += before.phase == rules.REACT
        discarded = rules.CARD_OF[action] if mover == turn_player else 0
    if cancels % 2 == 1:
        return add_event(out, n, 0, CANCELLED)
    if effect < STEAL or effect >= TURN:
        return add_dice(after, out, n)
    if effect < DRAW:
        return add_gains(before, after, turn_player, discarded, out, n)
    return add_draw(before, after, discarded, out, n)


@inlined
def add_dice(after, out, n):
    """What the dice show now."""
    return add_event(out, n, after.turn_player, DICE + after.high * (after.high - 1) // 2 + after.low - 1)


@inlined
def add_gains(before, after, seat, discarded, out, n):
    """Cards that a seat took or stole, which everybody sees; `discarded` left its hand before that (0: none)."""
    for value in range(1, 12):
        held = count(before.known[seat], value)
        if value == discarded and held > 0:  # otherwise it was a secret one
            held -= 1
        for _ in range(count(after.known[seat], value) - held):
            n = add_event(out, n, seat, GAIN + value - 1)
    n = add_events(out, n, seat, GAIN_MECHA - 1, np.uint64(after.mechas[seat] & ~before.mechas[seat]))
    if count(after.discard_pile, 3) > count(before.discard_pile, 3):
        n = add_event(out, n, seat, WOUND)
    return n


@inlined
def add_draw(before, after, discarded, out, n):
    """A secret card from the deck; only the turn player knows which."""
    if before.turn_player != 0:
        return add_event(out, n, before.turn_player, DRAWS)
    for value in range(1, 12):
        if count(after.hand, value) - count(before.hand, value) + (value == discarded) > 0:
            n = add_event(out, n, 0, DRAWN + value - 1)
    return n


@inlined
def add_end_of_turn(before, after, action, out, n):
    """The centre is refilled, and the next turn begins with a roll."""
    seat = before.turn_player
    for value in range(1, 12):
        new = count(after.centre, value) - count(before.centre, value)
        if action != rules.STEAL_MECHA:  # what the seat took came from here
            new += count(after.known[seat], value) - count(before.known[seat], value)
        for _ in range(new):
            n = add_event(out, n, 0, REFILL + value - 1)
    if after.last_turns > 0 and before.last_turns == 0:
        n = add_event(out, n, 0, LAST_TURNS)
    return add_dice(after, out, n) if after.turn_player != seat else n
