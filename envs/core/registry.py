"""Registry of games, by name: our own, those of installed packages, and those of the user.

A package declares a game with the entry point group `monsterzoo.games` (`name = "package.module:GAME"`); a program
calls `register_game`. Gymnasium and PettingZoo get to know every game. A game is imported when it is first asked for.
"""

import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .game import Game
from .variant import Variant

OWN_GAMES = ("bite_night", "pikit", "yokai_septet")
"""Packages beside this one, each with a `GAME`."""

_loaders: dict[str, Callable[[], Game]] = {}
_games: dict[str, Game] = {}


def names() -> list[str]:
    """The names of all games, in order."""
    return sorted(_loaders)


def find_game(name: str) -> Game:
    """The game of a name such as "pikit_v0"; raises `ValueError` for an unknown one."""
    if name not in _games:
        if name not in _loaders:
            raise ValueError(f"there is no game {name!r}; games are {', '.join(names())}")
        game = _loaders[name]()
        if game.name != name:
            raise ValueError(f"the game registered as {name!r} calls itself {game.name!r}")
        _games[name] = game
    return _games[name]


def find_variant(name: str, options: dict[str, Any]) -> Variant:
    """A game with its options, as variants are pickled."""
    return find_game(name).variant(**options)


def register_game(game: Game) -> None:
    """Register a game of one's own: `make`, `make_vec`, `gymnasium.make` and all commands then find it by name."""
    register_lazily(game.name, lambda: game)


def register_lazily(name: str, load: Callable[[], Game]) -> None:
    """Register a game that `load` returns when it is first asked for."""
    _loaders[name] = load
    _games.pop(name, None)
    _announce(name)


def register_all() -> None:
    """Register our own games, then those of installed packages under names that are not taken."""
    for package in OWN_GAMES:
        own = EntryPoint(f"{package}_v0", f"monsterzoo.envs.{package}:GAME", "monsterzoo.games")
        register_lazily(own.name, own.load)
    for point in entry_points(group="monsterzoo.games"):
        if point.name not in _loaders:
            register_lazily(point.name, point.load)


def gymnasium_id(name: str) -> str:
    """As in "monsterzoo/Pikit-v0" for "pikit_v0"."""
    base, version = name.rsplit("_", 1)
    return f"monsterzoo/{base.title().replace('_', '')}-{version}"


def _announce(name: str) -> None:
    """Register a game with Gymnasium (one seat) and with PettingZoo (AEC and parallel)."""
    import gymnasium

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Overriding environment")  # an installed game may be registered by hand too
        gymnasium.register(
            gymnasium_id(name),
            entry_point="monsterzoo.envs.api.gym:SeatEnv",
            vector_entry_point="monsterzoo.envs.api.gym:SeatVectorEnv",
            kwargs={"game": name},
            disable_env_checker=True,
        )
        try:  # PettingZoo has a registry from 1.27 on
            from pettingzoo.env_registry import registration
        except ImportError:
            return
        for api, maker in (("aec", "make"), ("parallel", "make_parallel")):
            entry = f"monsterzoo.envs:{maker}"
            registration.register(api, f"monsterzoo/{name}", entry_point=entry, kwargs={"name": name})
