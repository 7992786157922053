"""Reveal, a game that search must play right: what another seat is forced to show counts, what it hides does not.

Seat 1 has a card, 0 or 1. Seat 0 either asks: seat 1 shows its card, which is all it can do, and seat 0 guesses it. Or
it matches: both choose 0 or 1 at once, seat 0 goes on, and seat 1 may object. Seat 0 wins if the numbers are equal, but
shares the win after an objection.
"""

import numpy as np
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.contract import PLAYING, TERMINATED, record_type, view_type
from monsterzoo.envs.core.game import Game, Positions, Rules, View
from monsterzoo.envs.core.layout import Layout, numbers
from monsterzoo.envs.core.options import choice
from monsterzoo.envs.core.rng import draw

ASK, MATCH = 0, 1
START, SHOW, GUESS, BOTH, PAUSE, LAST = 0, 1, 2, 3, 4, 5
STATE = record_type([("card_reveal", np.int8), ("phase_reveal", np.int8), ("numbers_reveal", np.int8, 2)])
VIEW = view_type([("phase_reveal", np.int8), ("shown_reveal", np.int8)])
LAYOUT = Layout(
    numbers("phase", source="phase_reveal", high=LAST, meaning="START, SHOW, GUESS, BOTH, PAUSE or LAST"),
    numbers("shown", source="shown_reveal", high=2, meaning="the card; 2 if it is not known"),
)


@compiled
def setup(state):
    state.outcome, state.winners, state.acting, state.phase_reveal = PLAYING, 0, 1, START
    state.card_reveal = draw(state, 2)


@compiled
def legal(state, seat, words):
    words[0] = np.uint64(3)
    if state.phase_reveal == SHOW:
        words[0] = np.uint64(1) << np.uint64(state.card_reveal)
    elif state.phase_reveal == PAUSE:
        words[0] = np.uint64(1)


@compiled
def step(state, seat, action):
    if state.phase_reveal == START:
        state.phase_reveal = SHOW if action == ASK else BOTH
        state.acting = 0b10 if action == ASK else 0b11
        return
    if state.phase_reveal == PAUSE:
        state.phase_reveal, state.acting = LAST, 0b10
        return
    equal = state.numbers_reveal[0] == state.numbers_reveal[1]
    if state.phase_reveal == LAST:
        state.outcome, state.acting = TERMINATED, 0
        state.winners = (3 if action == 1 else 1) if equal else 2
        return
    state.numbers_reveal[seat] = action
    if state.phase_reveal == SHOW:
        state.phase_reveal, state.acting = GUESS, 0b01
        return
    state.acting ^= 1 << seat
    if state.acting == 0 and state.phase_reveal == BOTH:
        state.phase_reveal, state.acting = PAUSE, 0b01
    elif state.acting == 0:
        state.outcome = TERMINATED
        state.winners = 1 if state.numbers_reveal[0] == state.numbers_reveal[1] else 2


@compiled
def look(state, seat, view):
    view.phase_reveal = state.phase_reveal
    view.shown_reveal = state.card_reveal if seat == 1 or state.phase_reveal == GUESS else 2


@compiled
def score(state, side):
    return np.int64(state.winners) >> side & 1


@compiled
def determinize(state, seat):
    if seat == 0 and state.phase_reveal != GUESS:
        state.card_reveal = draw(state, 2)


def configure(options, state):
    state.players = state.sides = 2
    state.scale = 1


REVEAL = Game(
    name="reveal_v0",
    title="Reveal",
    options={"players": choice(2, default=2, meaning="number of players")},
    variants=({"players": 2},),
    rules=Rules(
        record=STATE, configure=configure, actions=lambda options: ("zero", "one"), setup=setup, legal=legal,
        step=step, score=score, determinize=determinize,
    ),
    view=View(record=VIEW, look=look, layout=lambda options: LAYOUT),
    positions=Positions(snapshot=lambda state: {}, load=lambda position, state: None),
)  # fmt: skip
