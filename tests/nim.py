"""Nim for two, whose best play is known: take one or two of the stones; who takes the last one wins."""

from types import SimpleNamespace

import numpy as np
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.contract import PLAYING, TERMINATED, record_type, view_type
from monsterzoo.envs.core.game import Game, Positions, Rules, View
from monsterzoo.envs.core.layout import Layout, numbers, one_hot
from monsterzoo.envs.core.options import choice
from monsterzoo.envs.core.rng import draw
from monsterzoo.envs.match.decisions import Decisions

MOST = 12
STATE = record_type([("stones", np.uint8)])
VIEW = view_type([("stones", np.int8)])
COUNT = numbers("count", source="stones", high=MOST, meaning="stones left")
LAYOUT = Layout(one_hot("stones", 16, meaning="stones left"), COUNT)
OTHER_LAYOUT = Layout(one_hot("pebbles", 16, source="stones", meaning="stones left"), COUNT)


@compiled
def setup(state):
    state.outcome = PLAYING
    state.winners = 0
    state.stones = 4 + draw(state, MOST - 3)
    state.acting = 1 << draw(state, 2)


@compiled
def legal(state, seat, words):
    words[0] = np.uint64(3) if state.stones > 1 else np.uint64(1)


@compiled
def step(state, seat, action):
    state.stones -= action + 1
    state.acting = 1 << (1 - seat)
    if state.stones == 0:
        state.outcome = TERMINATED
        state.winners = 1 << seat
        state.acting = 0


@compiled
def look(state, seat, view):
    view.stones = state.stones


@compiled
def score(state, side):
    return np.int64(state.winners) >> side & 1


def _configure(options, state):
    state.players = state.sides = 2
    state.scale = 1


def _load(snapshot, state):
    state.stones = snapshot["stones"]
    state.acting = 1 << snapshot["to_act"][0]


NIM = Game(
    name="nim_v0",
    title="Nim",
    options={"players": choice(2, default=2, meaning="number of players")},
    variants=({"players": 2},),
    rules=Rules(
        record=STATE,
        configure=_configure,
        actions=lambda options: ("take 1", "take 2"),
        setup=setup,
        legal=legal,
        step=step,
        score=score,
    ),
    view=View(record=VIEW, look=look, layout=lambda options: LAYOUT),
    positions=Positions(snapshot=lambda state: {"stones": int(state.stones)}, load=_load),
)


def positions() -> SimpleNamespace:
    """Every position with a choice: stones, observations, masks, and the winning move or -1."""
    variant = NIM.variant()
    stones = np.arange(2, MOST + 1)
    states = variant.new_states(len(stones))
    states["stones"] = stones
    states["acting"] = 1
    observations = np.stack([variant.observation(states, i, 0) for i in range(len(stones))])
    masks = np.tile(np.array([1, 1, 0], np.int8), (len(stones), 1))
    decisions = Decisions(variant, observations, masks, np.zeros(len(stones), np.int64))
    return SimpleNamespace(
        variant=variant, stones=stones, observations=observations, masks=masks, decisions=decisions, best=stones % 3 - 1
    )
