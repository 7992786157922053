"""MonsterZoo's environments: `make`, `make_vec`, `names`, `replay`, `save_gif`, and one module per game."""

from typing import Any

from pettingzoo import AECEnv

from .api.aec import GameEnv
from .api.parallel import ParallelGameEnv
from .api.pictures import save_gif
from .api.saving import check_record, play_record
from .api.text import TextGame, text_game
from .api.vector import VectorGame
from .api.wrappers import StandardWrappers
from .core import rng
from .core.game import Game
from .core.options import Integer, checked
from .core.registry import find_game, names, register_all, register_game
from .core.snapshots import SnapshotError
from .core.variant import ActionTypeError, IllegalActionError, Variant
from .version import VERSION as __version__  # noqa: N811

__all__ = [
    "ActionTypeError",
    "Game",
    "IllegalActionError",
    "SnapshotError",
    "TextGame",
    "VectorGame",
    "__version__",
    "env_seed",
    "make",
    "make_parallel",
    "make_vec",
    "names",
    "register_game",
    "replay",
    "save_gif",
    "text_game",
    "variant",
]


def make(name: str, render_mode: str | None = None, **options: Any) -> AECEnv:
    """The PettingZoo AEC environment of a game with PettingZoo's standard wrappers: a module's `env`.

    An illegal action ends the game with reward -1. Raises `ValueError` for bad options.
    """
    return StandardWrappers(make_raw(name, render_mode, **options))


def make_raw(name: str, render_mode: str | None = None, **options: Any) -> GameEnv:
    """The AEC environment without wrappers, a module's `raw_env`: an illegal action raises `IllegalActionError`."""
    return GameEnv(find_game(name), render_mode, **options)


def make_parallel(name: str, render_mode: str | None = None, **options: Any) -> ParallelGameEnv:
    """The PettingZoo parallel environment of a game, a module's `parallel_env`."""
    return ParallelGameEnv(find_game(name), render_mode, **options)


def make_vec(name: str, num_envs: int, threads: int = 1, seed: int | None = None, **options: Any) -> VectorGame:
    """`num_envs` games as one compiled batch, see `VectorGame`; raises `ValueError` for bad options."""
    return VectorGame(find_game(name), num_envs, threads, seed, **options)


def env_seed(seed: int, index: int) -> int:
    """The seed of the AEC environment that plays the same games as game `index` of a batch seeded with `seed`.

    Raises `ValueError` unless 0 <= seed < 2**64 and index is an integer from 0.
    """
    return rng.env_seed(rng.check_seed(seed), checked("index", index, Integer(0)))


def variant(name: str, **options: Any) -> Variant:
    """A game with its options: sizes, action names, observation layout, without an environment around it."""
    return find_game(name).variant(**options)


def replay(record: dict[str, Any]) -> GameEnv:
    """The `raw_env` of a record (see `GameEnv.record`), played to where the record ends.

    Raises `ValueError` for what is not a record, and `IllegalActionError` for a game that cannot be.
    """
    check_record(record)
    env = make_raw(record["game"], **record["options"])
    play_record(env, record)
    return env


register_all()
