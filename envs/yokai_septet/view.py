"""View of Yokai Septet, which holds what a seat knows, and the layout of the observation made from it.

Seats count clockwise from the observer (0 is itself), sides from the observer's own. Sets of cards, suits and captured
bosses are those of rules.py.
"""

from typing import Any

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import ZERO, first, has, seen_by, set_of, where, wrap
from ..core.contract import view_of
from ..core.layout import Field, Layout, bitset, coded, numbers, one_hot
from .rules import BASE, CARDS, CARDS_WITH_FOILS, DISCARD, DOWN, NONE, PASS, UP, pass_giver

MOST_ROUNDS = 127
"""Rounds, past and still to come, are known up to this number."""


def layout(options: dict[str, Any]) -> Layout:
    """The observation's fields."""
    players, suitors = options["players"], options["variant"] != "base"
    cards = CARDS_WITH_FOILS if suitors else CARDS
    sides = 3 if players == 3 else 2
    bosses, foils = (14, ", then the foil 7s") if suitors else (7, "")
    return Layout(
        bitset("hand", cards, meaning="own hand, without the cards already chosen to pass or discard"),
        *(_straw(cards) if players == 2 else _passing(players, cards, suitors)),
        one_hot("trump", 7, meaning="trump suit"),
        *([] if suitors else [bitset("trump_card", cards, meaning="the card that set trump")]),
        one_hot("trick", players, cards, meaning="card of the current trick, by seat"),
        bitset("played", players, cards, meaning="cards played in this round, by seat"),
        bitset("captured", sides, bosses, meaning="captured bosses by side: the 7s by suit" + foils),
        *([bitset("sealed", sides, 7, meaning="sealed suits by side")] if suitors else []),
        bitset("void", players, 7, meaning="suits a seat has shown not to hold in hand"),
        one_hot("lead", players, meaning="leader of the trick, empty until known"),
        one_hot("shown_by", players, meaning="who showed the A (or Snow 13) in this round"),
        _phase(players),
        numbers("tricks", sides, high=23, meaning="tricks taken by side"),
        numbers("scores", sides, high=127, meaning="tokens by side (0 in Seven Suitors)"),
        numbers("target", high=127, meaning="tokens, points or seals that win the match"),
        numbers("round", high=127, source="round_number", meaning="round, counted from 1 and up to 127"),
        numbers("rounds_left", high=127, meaning="rounds until truncation, this one included, up to 127"),
    )


def _phase(players: int) -> Field:
    if players == 2:
        return one_hot("phase", 4, first=DISCARD, always=True, meaning="discard, exchange, keep, play")
    # No phase and those between PASS and PLAY never come up; their codes are only there to be different.
    return coded("phase", 2, codes=(7, 0b01, 4, 5, 6, 0b10), meaning="pass, play")


def _passing(players: int, cards: int, suitors: bool) -> list[Field]:
    if suitors:
        others = "the left, opposite and right player"
        return [
            bitset("sent", 3, cards, source="sent_to", meaning=f"card chosen for {others}"),
            bitset("received", 3, cards, source="received_from", meaning=f"card received from {others}"),
        ]
    giver, taker = ("the partner",) * 2 if players == 4 else ("the right neighbour", "the left neighbour")
    return [
        bitset("sent", cards, meaning=f"cards chosen for {taker}"),
        bitset("received", cards, meaning=f"cards received from {giver}"),
    ]


def _straw(cards: int) -> list[Field]:
    # A card in 14 columns: its suit, then its place in the suit; nothing for NONE.
    codes = [0, *(1 << card // 7 | 1 << 7 + card % 7 for card in range(CARDS))]
    return [
        bitset("discard", cards, meaning="own discarded card"),
        one_hot("exchange", 13, meaning="own exchange as chosen: 0 left, 0 right, …, 5 right, none"),
        one_hot("keep", 2, meaning="own choice of the boss that stays up: old, new"),
        bitset("bare", 2, cards, meaning="straw cards that lie open and may be played, by seat"),
        coded(
            "straw_up", 2, UP, 14, codes=codes,
            meaning="face-up straw card by place: its suit, then its rank in the suit",
        ),
        coded("straw_down", 2, DOWN, 14, codes=codes, meaning="the same for the places below, where the card is known"),
        bitset("straw_left", 2, DOWN, meaning="places below that still hold a card, by seat"),
    ]  # fmt: skip


VIEW = view_of(
    [layout({"players": players, "variant": "base"}) for players in (2, 3, 4)]
    + [layout({"players": 4, "variant": "seven_suitors"})],
    ("variant", np.uint8),  # this and the next four as in the state
    ("deck", np.uint64),
    ("round_tricks", np.int8),
    ("bosses_to_win", np.int8),
    ("tricks_to_lose", np.int8),
    ("sealed", np.uint8, 3),  # of three sides too, which is always empty
)


@compiled
def look(state, seat, view):
    """Write what a seat knows."""
    players, round_number = np.int64(state.players), np.int64(state.round_number)
    view.round_number = min(round_number, MOST_ROUNDS)
    view.rounds_left = min(np.int64(state.max_rounds) - round_number + 1, MOST_ROUNDS)
    view.phase = state.phase
    view.trump = state.trump
    view.trump_card = set_of(state.trump_card)
    view.hand = state.hand[seat]
    view.shown_by = seen_by(seat, np.int64(state.shown_by), players)
    view.lead = seen_by(seat, np.int64(state.lead), players)
    look_at_seats_and_sides(state, seat, view)
    if players == 2:
        look_at_straw(state, seat, view)
    elif state.variant == BASE:
        look_at_passes(state, seat, view)
    else:
        look_at_passes_to_all(state, seat, view)


@inlined
def look_at_seats_and_sides(state, seat, view):
    """What everybody has played, taken, won, and shown not to hold."""
    players, sides = np.int64(state.players), np.int64(state.sides)
    other = seat
    for k in range(players):
        view.trick[k] = state.trick[other]
        view.played[k] = state.played[other]
        view.void[k] = state.void[other]
        other = wrap(other + 1, players)
    side = wrap(seat, sides)
    for k in range(sides):
        view.captured[k] = state.captured[side]
        view.sealed[k] = state.sealed[side]
        view.tricks[k] = state.tricks[side]
        view.scores[k] = state.scores[side]
        side = wrap(side + 1, sides)


@inlined
def look_at_passes(state, seat, view):
    """Cards sent, as soon as they are chosen, and received, once everybody has chosen."""
    sent, received = ZERO, ZERO
    for k in range(3):
        sent |= set_of(state.passes[seat, k])
        received |= set_of(state.passes[pass_giver(state, seat, k), k])
    view.sent = sent
    view.received = ZERO if state.phase == PASS else received


@inlined
def look_at_passes_to_all(state, seat, view):
    """The same for Seven Suitors, where every other player gets a card."""
    for k in range(3):
        card = set_of(state.passes[pass_giver(state, seat, k), k])
        view.sent_to[k] = set_of(state.passes[seat, k])
        view.received_from[2 - k] = ZERO if state.phase == PASS else card  # givers count the other way round


@inlined
def look_at_straw(state, seat, view):
    """Two players: its own secret discard and choices, and what both see of the straw piles."""
    view.discard = set_of(state.discards[seat])
    view.exchange = state.exchanges[seat]
    view.keep = state.keeps[seat]
    other = seat
    for k in range(2):
        view.bare[k] = state.bare[other]
        view.straw_left[k] = first(DOWN) & ~where(state.straw_down[other], NONE)
        seen = np.uint64(state.seen_down[other])
        for place in range(UP):
            view.straw_up[k, place] = state.straw_up[other, place]
        for place in range(DOWN):
            view.straw_down[k, place] = state.straw_down[other, place] if has(seen, place) else NONE
        other = 1 - other
