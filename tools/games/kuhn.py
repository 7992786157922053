"""Kuhn poker, whose equilibria are known in closed form (Kuhn, 1950).

Three cards, two players, an ante of one chip each. A pass after a pass, or a bet after a bet, leads to the showdown; a
pass after a bet folds. The higher card wins the pot.
"""

from typing import Any

import numpy as np
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.bits import has
from monsterzoo.envs.core.contract import PLAYING, TERMINATED, record_type, view_type
from monsterzoo.envs.core.game import Game, Positions, Rules, View
from monsterzoo.envs.core.layout import Layout, one_hot
from monsterzoo.envs.core.options import choice
from monsterzoo.envs.core.rng import draw

CARDS = ("J", "Q", "K")
ACTIONS = ("pass", "bet")
PASS, BET = 0, 1
NONE = -1
MAX_MOVES = 3

MOVES = ("moves", np.int8, MAX_MOVES)  # PASS or BET in order, then NONE
# Card of each seat, moves, their number, and chips in the pot by seat.
STATE = record_type([("dealt", np.uint8, 2), MOVES, ("made", np.uint8), ("chips", np.uint8, 2)])
VIEW = view_type([("own_card", np.int8), MOVES])
LAYOUT = Layout(
    one_hot("own_card", len(CARDS), meaning="its own card: J, Q, K"),
    one_hot("moves", MAX_MOVES, len(ACTIONS), meaning="pass or bet, in order"),
)


@compiled
def setup(state):
    """Antes and cards; seat 0 begins."""
    state.outcome = PLAYING
    state.winners = 0
    state.acting = 0b01
    state.moves[:] = NONE
    state.made = 0
    state.chips[:] = 1
    state.dealt[0] = draw(state, 3)
    state.dealt[1] = (state.dealt[0] + 1 + draw(state, 2)) % 3


@compiled
def legal(state, seat, words):
    """Both actions are always legal."""
    words[0] = np.uint64(0b11)


@compiled
def step(state, seat, action):
    """Pass or bet."""
    first_move = state.made == 0
    state.moves[state.made] = action
    state.made += 1
    state.chips[seat] += action
    state.acting = 1 << (1 - seat)
    showdown = not first_move and state.chips[0] == state.chips[1]
    fold = action == PASS and state.chips[seat] < state.chips[1 - seat]
    if fold or showdown:
        winner = 1 - seat if fold else 0 if state.dealt[0] > state.dealt[1] else 1
        state.outcome = TERMINATED
        state.winners = 1 << winner
        state.acting = 0


@compiled
def look(state, seat, view):
    """A seat sees its own card and all moves."""
    view.own_card = state.dealt[seat]
    for k in range(MAX_MOVES):
        view.moves[k] = state.moves[k]


@compiled
def score(state, side):
    """Chips won (or lost, below zero); before the end nobody has any."""
    if state.winners == 0:
        return 0
    if has(np.uint64(state.winners), side):
        return np.int64(state.chips[1 - side])
    return -np.int64(state.chips[side])


@compiled
def determinize(state, seat):
    """A seat does not know the other one's card."""
    state.dealt[1 - seat] = (state.dealt[seat] + 1 + draw(state, 2)) % 3


def snapshot(state: Any) -> dict[str, Any]:
    """The position: cards and moves."""
    moves = [ACTIONS[move] for move in state.moves if move != NONE]
    return {"cards": [CARDS[card] for card in state.dealt], "moves": moves}


def load(position: dict[str, Any], state: Any) -> None:
    """Write a position into a state: deal its cards, and make its moves once more."""
    luck = state.rng
    setup(state)
    state.dealt[:] = [CARDS.index(card) for card in position["cards"]]
    for move in position["moves"]:
        step(state, int(state.made) % 2, ACTIONS.index(move))
    state.rng = luck  # dealing has advanced the generator


def configure(options: dict[str, Any], state: Any) -> None:
    """Write the options: two seats, each a side of its own; a chip won is a reward of 1."""
    state.players = state.sides = 2
    state.scale = 2


KUHN = Game(
    name="kuhn_poker_v0",
    title="Kuhn poker",
    options={"players": choice(2, default=2, meaning="number of players")},
    variants=({"players": 2},),
    rules=Rules(
        record=STATE,
        configure=configure,
        actions=lambda options: ACTIONS,
        setup=setup,
        legal=legal,
        step=step,
        score=score,
        determinize=determinize,
    ),
    view=View(record=VIEW, look=look, layout=lambda options: LAYOUT),
    positions=Positions(snapshot=snapshot, load=load),
)
