"""Policies for every game: `make("heuristic", "pikit_v0", players=3)`, or any object with `act(decisions)`."""

from typing import Any

from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.players import act_in, make_player

from .adapters import from_function, from_rllib, from_sb3, from_torch
from .base import Policy
from .heuristics import register_heuristic

__all__ = [
    "Decisions",
    "Policy",
    "act_in",
    "from_function",
    "from_rllib",
    "from_sb3",
    "from_torch",
    "make",
    "register_heuristic",
]


def make(spec: str, game: str, *, seed: int = 0, **options: Any) -> Policy:
    """The policy of a spec such as "random", "heuristic", "search:1000", "net:runs/pikit2" or "mymodule:MyPlayer".

    Raises `ValueError` for an unknown spec, a bad argument, or bad options of the game.
    """
    return make_player(find_game(game).variant(**options), spec, seed)
