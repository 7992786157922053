"""View of Bite Night, which holds what a seat knows, and the layout of the observation made from it.

Seats count clockwise from the observer (0 is itself). Who of those that decide now has chosen already is nowhere in it.
"""

from typing import Any

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import ZERO, seen_by, seen_from, set_of, wrap
from ..core.contract import view_of
from ..core.layout import Layout, bitset, numbers, one_hot
from . import rules
from .rules import BASIC_DESIGNS, CLOSED, DESIGNS, LAID_BY, MAX_OPEN, MOST_TWICE, NONE, TILES, rounds

MOST_POINTS = 1279
"""Scores are known up to this one."""

OPEN_CARDS = (CLOSED, CLOSED, rules.SERVANT, rules.CELIBACY)
"""The members of a view's set of open cards."""


def layout(options: dict[str, Any]) -> Layout:
    """The observation's fields. One of cards has a column per design, one of tiles a column per tile."""
    players, advanced = options["players"], options["advanced"]
    designs, places = DESIGNS if advanced else BASIC_DESIGNS, players * rounds(players)
    phases = ("lay", "grab", "bury", "resurrect")[: 4 if advanced else 3]
    guards = "first and second graveyard closed" + (", servant, vow of celibacy" if advanced else "")
    twice = ", ".join(rules.TWICE)
    first_player = "first player of the round, in the rendezvous the leader of the lap"
    score_tens = f"score of a seat, up to {MOST_POINTS}: all digits but the last"
    fields = [
        bitset("hand", designs, meaning="own hand; in the rendezvous its own cards that were set aside"),
        bitset("hand_twice", MOST_TWICE, source="hand", first=DESIGNS, meaning=f"both copies in hand: {twice}"),
        one_hot("chosen_card", designs, meaning="own card chosen to lay, while others are choosing"),
        one_hot("pile", places, designs, meaning="card by place in the pile, where known: own and revealed ones"),
        one_hot("pile_seats", places, players, meaning="who laid the card, by place in the pile"),
        bitset("middle", TILES, meaning="tiles to grab"),
        bitset("tiles", players, TILES, meaning="tiles in front of a seat"),
        bitset("graveyard", TILES, meaning="buried tiles"),
        bitset("chosen_tiles", TILES, meaning="own tiles chosen to grab or bury, while others are choosing"),
        bitset("open_cards", 4 if advanced else 2, meaning=f"protective cards that lie open: {guards}"),
        one_hot("first_player", players, always=True, meaning=first_player),
        one_hot("lap_leader", players, always=True, meaning="leader of the lap"),
        bitset("asked", players, meaning="seats that decide now (whether or not they have chosen)"),
        one_hot("phase", len(phases), always=True, meaning=", ".join(phases)),
        numbers("to_grab", players, high=3, meaning="tiles a seat still needs in this round"),
        numbers("score_tens", players, high=127, meaning=score_tens),
        numbers("score_units", players, high=9, meaning="last digit of the score of a seat"),
        numbers("lap", high=100, meaning="lap, counted from 1"),
        numbers("laps_left", high=99, meaning="laps that follow this one"),
        numbers("round", source="round_number", high=5, meaning="round of the lap, counted from 1"),
        numbers("resolved", high=places, meaning="cards of the pile that are done, without the one being applied"),
    ]
    if advanced:
        fields.append(numbers("claims", 5, high=5, meaning="tiles of a colour the resurrecting seat may still raise"))
    return Layout(*fields)


VIEW = view_of(
    [layout({"players": players, "advanced": True}) for players in (3, 4)],
    ("advanced", np.uint8),  # this and the next two as in the state
    ("twice", np.int8, MOST_TWICE),
    ("hearts", np.uint64),
)


@compiled
def look(state, seat, view):
    """Write what a seat knows."""
    look_at_course(state, seat, view)
    look_at_pile(state, seat, view)
    look_at_tiles(state, seat, view)
    look_at_choices(state, seat, view)


@inlined
def look_at_course(state, seat, view):
    """How far the game is, who leads and decides, and the scores."""
    players, other = np.int64(state.players), seat
    view.phase = state.phase
    view.lap = state.lap
    view.laps_left = np.int64(state.laps) - np.int64(state.lap)
    view.round_number = state.round_number
    view.first_player = seen_by(seat, state.first_player, players)
    view.lap_leader = seen_by(seat, state.lap_leader, players)
    view.asked = seen_from(seat, np.uint64(state.asked), players)
    for k in range(players):
        points = min(np.int64(state.scores[other]), MOST_POINTS)
        view.score_tens[k] = points // 10
        view.score_units[k] = points % 10
        other = wrap(other + 1, players)


@inlined
def look_at_pile(state, seat, view):
    """Who laid the cards, and those that are the seat's own or that everybody has seen; the cards that lie open."""
    players, size, seen = np.int64(state.players), np.int64(state.pile_size), rules.revealed(state)
    owners = LAID_BY[players, seen_by(seat, state.lap_leader, players)]
    for place in range(players * rounds(players)):
        view.pile_seats[place] = owners[place] if place < size else NONE
        view.pile[place] = state.pile[place] if place < seen or owners[place] == 0 else NONE
    view.resolved = state.resolved
    view.open_cards = open_set(state)


@inlined
def open_set(state):
    """The cards that lie open, as a set of places in OPEN_CARDS."""
    closed, others = ZERO, ZERO
    for place in range(MAX_OPEN):
        card = np.int64(state.open_cards[place])
        if card == CLOSED:
            closed = (closed << np.uint64(1)) | np.uint64(1)
        elif card == rules.SERVANT:
            others |= np.uint64(4)
        elif card == rules.CELIBACY:
            others |= np.uint64(8)
    return closed | others


@inlined
def look_at_tiles(state, seat, view):
    """All tiles but those of the stacks, and how many of them can still be had."""
    players, other = np.int64(state.players), seat
    grabbing = state.phase == rules.GRAB and state.asked != 0  # a game may end in this phase
    view.middle = state.middle
    view.graveyard = state.graveyard
    for k in range(players):
        view.tiles[k] = state.tiles[other]
        view.to_grab[k] = rules.to_grab(state, other) if grabbing else 0
        other = wrap(other + 1, players)
    for colour in range(5):
        view.claims[colour] = state.claims[colour]


@inlined
def look_at_choices(state, seat, view):
    """The own hand, and what of it or of the tiles the seat has chosen."""
    card_or_tile, second_tile = np.int64(state.choices[seat, 0]), np.int64(state.choices[seat, 1])
    view.hand = state.hand[seat]
    if state.phase == rules.LAY:
        view.chosen_card = card_or_tile
        view.chosen_tiles = ZERO
    else:
        view.chosen_card = NONE
        view.chosen_tiles = set_of(card_or_tile) | set_of(second_tile)
