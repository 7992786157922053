"""A policy and games that tests make up; the games are packages of their own, as small as a game can be."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.match.decisions import Decisions


class FirstLegal:
    """A policy that is not compiled: always the first legal action."""

    name = "first legal"

    def act(self, decisions: Decisions) -> np.ndarray:
        return decisions.action_masks.argmax(axis=1)


SOURCE = '''"""Race: seats take turns and move by one or two steps; who reaches the goal first wins."""

import numpy as np
from monsterzoo.envs.compiling.jit import compiled
from monsterzoo.envs.core.contract import PLAYING, TERMINATED, record_type, view_type
from monsterzoo.envs.core.game import Game, Positions, Rules, View
from monsterzoo.envs.core.layout import Layout, numbers
from monsterzoo.envs.core.options import choice

GOAL = 5
STATE = record_type([("place_NAME", np.int8)])
VIEW = view_type([("place_NAME", np.int8)])
LAYOUT = Layout(numbers("place", source="place_NAME", high=GOAL + 1, meaning="how far the race has come"))


@compiled
def setup(state):
    state.outcome, state.winners, state.acting, state.place_NAME = PLAYING, 0, 1, 0


@compiled
def legal(state, seat, words):
    words[0] = np.uint64(3)


@compiled
def step(state, seat, action):
    state.place_NAME += action + 1
    state.acting = 1 << (1 - seat)
    if state.place_NAME >= GOAL:
        state.outcome, state.winners, state.acting = TERMINATED, 1 << seat, 0


@compiled
def look(state, seat, view):
    view.place_NAME = state.place_NAME


@compiled
def score(state, side):
    return np.int64(state.winners) >> side & 1


def configure(options, state):
    state.players = state.sides = 2
    state.scale = 1


def load(snapshot, state):
    state.place_NAME, state.acting = snapshot["place"], 1 << snapshot["to_act"][0]


GAME = Game(
    name="NAME_v0", title="Race",
    options={"players": choice(2, default=2, meaning="number of players")}, variants=({"players": 2},),
    rules=Rules(
        record=STATE, configure=configure, actions=lambda options: ("one", "two"), setup=setup, legal=legal, step=step,
        score=score,
    ),
    view=View(record=VIEW, look=look, layout=lambda options: LAYOUT),
    positions=Positions(snapshot=lambda state: {"phase": "race", "place": int(state.place_NAME)}, load=load),
)
'''


def write_game(folder: Path, name: str) -> Path:
    """Write a package with a game called `<name>_v0`; returns the file of its rules."""
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text("from .rules import GAME\n")
    rules = package / "rules.py"
    rules.write_text(SOURCE.replace("NAME", name))
    return rules


def import_game(folder: Path, name: str) -> Game:
    """Import such a game."""
    sys.path.insert(0, str(folder))
    try:
        game: Game = import_module(name).GAME
    finally:
        sys.path.remove(str(folder))
    return game
