"""Make games known: by name to our own functions and commands, and to Gymnasium and PettingZoo."""

import warnings
from collections.abc import Callable
from importlib.metadata import entry_points

import gymnasium

from .core import catalogue
from .core.game import Game


def gymnasium_id(name: str) -> str:
    """As in "monsterzoo/Pikit-v0" for "pikit_v0"."""
    base, version = name.rsplit("_", 1)
    return f"monsterzoo/{base.title().replace('_', '')}-{version}"


def register_game(game: Game) -> None:
    """Make a game of one's own known: `make`, `make_vec`, `gymnasium.make` and all commands then find it by name."""
    register_lazily(game.name, lambda: game)


def register_lazily(name: str, load: Callable[[], Game]) -> None:
    """The same for a game that is imported when it is first asked for."""
    catalogue.add(name, load)
    announce(name)


def register_installed() -> None:
    """Make the games of installed packages known; none takes the name of another."""
    for point in entry_points(group="monsterzoo.games"):
        if point.name not in catalogue.names():
            register_lazily(point.name, point.load)


def announce(name: str) -> None:
    """Register a game as a one-seat environment with Gymnasium, and as AEC and parallel environment with PettingZoo."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Overriding environment")  # an installed game may be registered by hand too
        gymnasium.register(
            gymnasium_id(name),
            entry_point="monsterzoo.envs.single:SeatEnv",
            vector_entry_point="monsterzoo.envs.single:SeatVectorEnv",
            kwargs={"game": name},
            disable_env_checker=True,
        )
        try:  # PettingZoo has a registry from 1.27 on
            from pettingzoo.env_registry import registration
        except ImportError:
            return
        for kind, maker in (("aec", "make"), ("parallel", "make_parallel")):
            entry = f"monsterzoo.envs:{maker}"
            registration.register(kind, f"monsterzoo/{name}", entry_point=entry, kwargs={"name": name})
