"""View of Pikit, which holds what a seat knows, and the layout of the observation made from it.

Seats count clockwise from the observer (0 is itself). Whether another seat was or will be asked to cancel is nowhere in
it. Cards that nobody has shown are known by number only: those of the deck, and those drawn secretly.
"""

from typing import Any

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import seen_by, wrap
from ..core.contract import view_of
from ..core.layout import Layout, bitset, numbers, one_hot
from . import rules
from .bags import count, total
from .rules import CENTRE, DRAW, EFFECTS, MAX_DECK, NONE, STEAL, hand

MOST_TURNS = 127
"""Turns until truncation are known up to this number."""


def layout(options: dict[str, Any]) -> Layout:
    """The observation's fields."""
    players = options["players"]
    return Layout(
        one_hot("phase", 3, always=True, meaning="discard, react, take"),
        one_hot("turn_player", players, always=True, meaning="whose turn it is"),
        one_hot("low", 6, first=1, always=True, meaning="face of the low die (of both, if they are equal)"),
        one_hot("high", 6, first=1, always=True, meaning="face of the high die (of both, if they are equal)"),
        bitset("mechas", players, 6, first=1, meaning="mechas by seat"),
        bitset("mechas_on_table", 6, first=1, meaning="mechas that nobody holds"),
        one_hot("pending_card", 11, first=1, meaning="value of the turn player's discard that waits for reactions"),
        one_hot("pending_effect", EFFECTS, meaning="its declared effect, in the order of the first 20 actions"),
        one_hot("pending_victim", players, meaning="whom it steals from"),
        one_hot("last_cancel", players, meaning="who laid the last cancel on it"),
        numbers("hand", 11, first=1, high=MAX_DECK, meaning="own kaiju"),
        numbers("centre", 11, first=1, high=CENTRE, meaning="cards in the centre"),
        numbers("discard_pile", 11, first=1, high=MAX_DECK, meaning="discarded cards, pending ones included"),
        numbers("unseen", 11, first=1, high=MAX_DECK, meaning="cards in the deck or secretly in other hands"),
        numbers(
            "known", players, 11, first=1, high=MAX_DECK,
            meaning="kaiju by seat that everybody has seen go into the hand",
        ),
        numbers("unknown", players, high=MAX_DECK, meaning="number of other kaiju by seat: drawn secretly"),
        numbers("hand_size", players, high=MAX_DECK + 6, meaning="kaiju and mechas by seat"),
        numbers("wounds", players, high=127, meaning="wounds by seat"),
        numbers("scores", players, low=-128, high=127, meaning="score now by seat, of cards the observer knows of"),
        numbers("cancels", players, high=MAX_DECK, meaning="cancels by seat on the pending discard"),
        numbers("deck", high=MAX_DECK, meaning="number of cards in the deck"),
        numbers("last_turns", high=players, meaning="last turns left, this one included; 0 before they begin"),
        numbers("turns_left", high=MOST_TURNS, meaning="turns until truncation, this one included, up to 127"),
    )  # fmt: skip


VIEW = view_of([layout({"players": players}) for players in (2, 3, 4)], ("faces", np.int8))  # faces of a die


@compiled
def look(state, seat, view):
    """Write what a seat knows."""
    players = np.int64(state.players)
    view.phase = state.phase
    view.turn_player = seen_by(seat, np.int64(state.turn_player), players)
    view.low = state.low
    view.high = state.high
    view.last_turns = max(np.int64(state.last_turns), 0)
    view.turns_left = min(np.int64(state.max_turns) - np.int64(state.turns), MOST_TURNS)
    look_at_pending(state, seat, view)
    look_at_cards(state, seat, view)
    look_at_seats(state, seat, view)


@inlined
def look_at_pending(state, seat, view):
    """The discard that waits for reactions, and the cancels laid on it."""
    players, turn_player = np.int64(state.players), np.int64(state.turn_player)
    effect, victim, canceller = np.int64(state.effect), NONE, NONE
    view.pending_card = 0
    for k in range(players):
        view.cancels[k] = 0
    if effect != NONE:
        start, end = np.int64(state.discarded) - np.int64(state.pending), np.int64(state.discarded)
        view.pending_card = state.cards[start] & 15
        if STEAL <= effect < DRAW:
            victim = wrap(turn_player + 1 + effect - STEAL, players)
        if state.pending > 1:
            canceller = rules.last_discarder(state)
        for k in range(start + 1, end):
            view.cancels[seen_by(seat, np.int64(state.cards[k]) >> 4, players)] += 1
    view.pending_effect = effect
    view.pending_victim = seen_by(seat, victim, players)
    view.last_cancel = seen_by(seat, canceller, players)


@inlined
def look_at_cards(state, seat, view):
    """What lies on the table, its own hand, and what must be somewhere else."""
    own = hand(state, seat)
    for word in range(2):
        view.hand[word] = own[word]
        view.centre[word] = state.centre[word]
        view.discard_pile[word] = state.discards[word]
        view.unseen[word] = rules.unseen(state, seat, word)
    view.deck = rules.deck_size(state)


@inlined
def look_at_seats(state, seat, view):
    """What every seat has, as far as everybody has seen it; the observer knows its own cards."""
    players, other = np.int64(state.players), seat
    on_table, most_ones = rules.MECHAS, count(hand(state, seat), 1)
    for k in range(players):
        view.known[k, 0] = state.known[other, 0]
        view.known[k, 1] = state.known[other, 1]
        view.unknown[k] = total((state.secret[other, 0], state.secret[other, 1]))
        view.hand_size[k] = rules.hand_size(state, other)
        view.mechas[k] = state.mechas[other]
        view.wounds[k] = min(np.int64(state.wounds[other]), 127)
        on_table ^= np.uint64(state.mechas[other])
        most_ones = max(most_ones, count((state.known[other, 0], state.known[other, 1]), 1))
        other = wrap(other + 1, players)
    view.mechas_on_table = on_table
    for k in range(players):
        cards = hand(state, seat) if k == 0 else (state.known[other, 0], state.known[other, 1])
        score = rules.points_of(cards, np.uint64(state.mechas[other]), np.int64(state.wounds[other]), most_ones)
        view.scores[k] = min(max(score, -128), 127)
        other = wrap(other + 1, players)
