"""All games by name: those of this package, and those that other packages bring along.

A package makes a game known with the entry point group `monsterzoo.games` (`name = "package.module:GAME"`), or by
calling `monsterzoo.envs.register_game` before the game is asked for.
"""

from collections.abc import Callable
from typing import Any

from .game import Game, Variant

_loaders: dict[str, Callable[[], Game]] = {}
_games: dict[str, Game] = {}


def add(name: str, load: Callable[[], Game]) -> None:
    """Make a game known that is imported when it is asked for."""
    _loaders[name] = load
    _games.pop(name, None)


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
