"""Events of Yokai Septet: what a seat sees of a decision, as numbers, and what they mean.

Cards that are played are seen by all. Choices that are made at once (to pass, to discard, to exchange) are only events
for who makes them; what others can see of them follows when all have chosen.
"""

from typing import Any

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import ZERO, lowest, popcount, set_of, wrap
from ..core.contract import add_event, add_events, numbered
from . import rules
from .rules import BASE, BOSS_BIT, DISCARD, DOWN, EXCHANGE, NONE, PASS, PLAY, SUIT_OF, SUITS, UP
from .text import CARD_NAMES, EXCHANGES, KEEPS

MOST_TOKENS = 15  # of a round; the stars are fewer
EVENT_NAMES, (
    PLAYED, PASSED, DISCARDED, RECEIVED, CHOSEN, STRAW, TRICK, SEALED, ENDED, COUNTED, SCORED, DEALT, TRUMP, SHOWN
) = numbered(
    [f"{{0}}: {card}" for card in CARD_NAMES],
    [f"{{0}}: pass {card}" for card in CARD_NAMES],  # the observer's own, like the next one
    [f"{{0}}: discard {card}" for card in CARD_NAMES],
    [f"received from {{0}}: {card}" for card in CARD_NAMES],
    [f"{{0}}: {choice}" for choice in (*EXCHANGES, *KEEPS)],  # the observer's own; exchanges of the other, when seen
    [f"{{0}}: {card} lies open in the straw pile" for card in CARD_NAMES],  # for the first time
    ["… trick for {0}"],
    [f"suit sealed by {{0}}: {suit}" for suit in SUITS],
    [  # why the trick ends the round
        "{0}: the third boss wins the round",
        "{0}: the fourth boss of the side wins the round",
        "{0}: the seventh trick loses the round",
        "{0}: the 13th trick loses the round",
        "{0}: the last trick wins the round",
    ],
    [f"bosses for {{0}}: {suit}" for suit in SUITS],  # of who wins the round
    [f"tokens for {{0}}: {count}" for count in range(1, MOST_TOKENS + 1)],
    ["a new round begins"],
    [f"trump is {suit}" for suit in SUITS],
    ["{0}: show the A, or Snow 13, and lead"],
)  # fmt: skip


def event_names(options: dict[str, Any]) -> tuple[str, ...]:
    """What each event means; in a smaller game other numbers of bosses and tricks end a round."""
    if options["deck"] is None and options["straw"] == UP:
        return EVENT_NAMES
    names = list(EVENT_NAMES)
    names[ENDED + 1], names[ENDED + 3] = "{0}: enough bosses win the round", "{0}: too many tricks lose the round"
    return tuple(names)


@compiled
def events(before, after, mover, action, out):
    """Write what a seat saw of a decision."""
    n, same_round = 0, before.round_number == after.round_number
    if before.phase == PLAY:
        n = add_event(out, n, mover, PLAYED + action)
        n = add_trick(before, mover, action, out, n)
    elif mover == 0:
        n = add_event(out, n, 0, own_choice(before.phase, action))
    if before.phase == PASS and after.phase == PLAY:
        n = add_received(after, out, n)
    if before.players == 2 and same_round:
        n = add_straw(before, after, out, n)
    n = add_scores(before, after, out, n)
    if not same_round:
        n = add_event(out, n, 0, DEALT)
    if after.trump != NONE and (after.trump != before.trump or not same_round):
        n = add_event(out, n, 0, TRUMP + np.int64(after.trump))
    if after.shown_by != NONE and (before.shown_by == NONE or not same_round):
        n = add_event(out, n, after.shown_by, SHOWN)
    return n


@inlined
def own_choice(phase, action):
    """The event of a choice that only the seat itself knows of."""
    if phase == PASS:
        return PASSED + action
    return DISCARDED + action if phase == DISCARD else CHOSEN + action - EXCHANGE


@inlined
def add_trick(before, mover, card, out, n):
    """Who takes the trick, if this card completes it, and how that ends the round."""
    players, laid, winner, best = np.int64(before.players), 1, 0, -1
    for k in range(players):
        laid += before.trick[k] != NONE
    if laid < players:
        return n
    seat = np.int64(before.lead)
    led = SUIT_OF[before.trick[seat]]
    for _ in range(players):
        strength = rules.power(before, card if seat == mover else np.int64(before.trick[seat]), led)
        if strength > best:
            best, winner = strength, seat
        seat = wrap(seat + 1, players)
    n = add_event(out, n, winner, TRICK)
    return add_round_end(before, mover, card, winner, out, n) if before.variant == BASE else n


@inlined
def add_round_end(before, mover, card, winner, out, n):
    """Why the round is over, and the bosses that count; all of it follows from the trick."""
    players, sides, tricks = np.int64(before.players), np.int64(before.sides), 1
    side = wrap(winner, sides)
    bosses = np.uint64(before.captured[side]) | BOSS_BIT[card]
    for k in range(players):
        if k != mover:
            bosses |= BOSS_BIT[before.trick[k]]
    for k in range(sides):
        tricks += before.tricks[k]
    if popcount(bosses) >= before.bosses_to_win:
        n = add_event(out, n, winner, ENDED + (0 if players == 3 else 1))
    elif before.tricks[side] + 1 >= before.tricks_to_lose:
        n = add_event(out, n, winner, ENDED + (3 if players == 2 else 2))
        if sides == 3:
            return n
        winner = 1 - side
        left = ~bosses & ~BOSS_BIT[lowest(before.trump_card)]  # the others take all of them
        bosses = rules.bosses_among(before.deck) & left
    elif tricks == before.round_tricks:
        n = add_event(out, n, winner, ENDED + 4)
    else:
        return n
    return add_events(out, n, winner, COUNTED, bosses)


@inlined
def add_received(after, out, n):
    """The cards that others have passed to the observer."""
    if after.variant == BASE:
        return add_events(out, n, 2, RECEIVED, after.received)  # from the partner, or the right neighbour of three
    for k in range(3):
        n = add_events(out, n, k + 1, RECEIVED, after.received_from[k])
    return n


@inlined
def add_straw(before, after, out, n):
    """Two players: the other's exchange, or the way back, and cards that lie open for the first time."""
    if before.phase != PLAY:
        for up in range(UP):
            for down in range(up, up + 2):
                # Both cards of an exchange are seen.
                if after.straw_down[1, down] == before.straw_up[1, up] and before.straw_up[1, up] != NONE:
                    n = add_event(out, n, 1, CHOSEN + up + down)
    for k in range(2):
        n = add_events(out, n, k, STRAW, open_cards(after, k) & ~open_cards(before, k))
    return n


@inlined
def open_cards(view, k):
    """The cards of a straw pile that both have seen."""
    cards = ZERO
    for place in range(UP):
        cards |= set_of(view.straw_up[k, place])
    for place in range(DOWN):
        cards |= set_of(view.straw_down[k, place])
    return cards


@inlined
def add_scores(before, after, out, n):
    """Suits that were sealed and tokens that were won, by the nearest seat of each side."""
    for side in range(before.sides):
        n = add_events(out, n, side, SEALED, np.uint64(after.sealed[side] & ~before.sealed[side]))
        tokens = np.int64(after.scores[side]) - np.int64(before.scores[side])
        if tokens > 0:
            n = add_event(out, n, side, SCORED + tokens - 1)
    return n
