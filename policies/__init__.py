"""Players for every game: made by `make("heuristic", "pikit_v0", players=3)`, or any object with an `act`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from monsterzoo.envs.core.game import Table, find_game

from .base import Policy
from .plugins import from_function, from_sb3, from_torch

__all__ = ["Policy", "from_function", "from_sb3", "from_torch", "make", "specs"]

# Spec -> where its maker is: called with (table, argument after the colon or None, seed). Imported when needed.
_MAKERS = {
    "random": "uniform:make",
    "heuristic": "heuristics:make",
    "search": "search:make",
    "ppo": "neural:make",
    "pretrained": "neural:make_pretrained",
}


def specs() -> list[str]:
    """The kinds of policies that `make` knows."""
    return list(_MAKERS)


def make(spec: str, game: str, *, seed: int = 0, **options: Any) -> Policy:
    """The policy of a spec such as "random", "heuristic", "search:1000" or "ppo:runs/pikit2" for a game.

    Raises `ValueError` for an unknown spec, a bad argument, or bad options of the game.
    """
    return make_for(find_game(game).table(**options), spec, seed)


def make_for(table: Table, spec: str, seed: int = 0) -> Policy:
    """The policy of a spec for a game with its options."""
    kind, _, argument = spec.partition(":")
    if kind not in _MAKERS:
        raise ValueError(f"there is no policy {spec!r}; kinds are {', '.join(_MAKERS)}")
    module, name = _MAKERS[kind].split(":")
    maker: Callable[[Table, str | None, int], Policy] = getattr(import_module(f".{module}", __package__), name)
    return maker(table, argument or None, seed)
