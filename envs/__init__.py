"""MonsterZoo's environments: `make`, `make_vec`, `names`, `replay`, and one module per game such as `pikit_v0`."""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

from pettingzoo import AECEnv

from .core import rng
from .core.catalogue import find_game, names
from .core.game import Game, IllegalActionError, SnapshotError, Variant
from .core.options import is_whole
from .language import text_game
from .register import register_game, register_installed, register_lazily
from .vector import VectorGame
from .version import VERSION as __version__  # noqa: N811

__all__ = [
    "Game",
    "IllegalActionError",
    "SnapshotError",
    "VectorGame",
    "__version__",
    "env_seed",
    "make",
    "make_parallel",
    "make_vec",
    "names",
    "register_game",
    "replay",
    "text_game",
    "variant",
]


def make(name: str, render_mode: str | None = None, **options: Any) -> AECEnv:
    """The PettingZoo AEC environment of a game, with the standard wrappers; raises `ValueError` for bad options."""
    from .aec import env_of

    game = find_game(name)
    return env_of(lambda: game)(render_mode, **options)


def make_parallel(name: str, render_mode: str | None = None, **options: Any) -> Any:
    """The PettingZoo parallel environment of a game; raises `ValueError` for bad options."""
    from .parallel import ParallelGameEnv

    return ParallelGameEnv(find_game(name), render_mode, **options)


def make_vec(name: str, num_envs: int, threads: int = 1, seed: int | None = None, **options: Any) -> VectorGame:
    """`num_envs` games as one compiled batch; raises `ValueError` for bad options."""
    return VectorGame(find_game(name), num_envs, threads, seed, **options)


def env_seed(seed: int, index: int) -> int:
    """The seed of the AEC environment that plays the same games as game `index` of a batch seeded with `seed`.

    Raises `ValueError` unless 0 <= seed < 2**64 and index is a whole number from 0.
    """
    if not is_whole(index) or index < 0:
        raise ValueError(f"an index is a whole number from 0, not {index!r}")
    return rng.env_seed(rng.check_seed(seed), index)


def variant(name: str, **options: Any) -> Variant:
    """A game with its options: sizes, action names, observation layout, without an environment around it."""
    return find_game(name).variant(**options)


def replay(record: dict[str, Any]) -> AECEnv:
    """The `raw_env` of a record (see `GameEnv.record`), played to where the record ends.

    Raises `ValueError` for what is not a record, and `IllegalActionError` for a game that cannot be.
    """
    from .aec import play_record

    if not isinstance(record, Mapping):
        raise ValueError(f"a record is a dict, not {record!r:.80}")
    for key, kind in (("game", str), ("options", Mapping), ("actions", list | tuple)):
        if key not in record:
            raise ValueError(f"the record has no {key!r}")
        if not isinstance(record[key], kind):
            raise ValueError(f"{key!r} of the record cannot be {record[key]!r:.80}")
    if not all(isinstance(option, str) for option in record["options"]):
        raise ValueError(f"'options' of the record cannot be {record['options']!r:.80}")
    return play_record(find_game(record["game"]), record)


def _own_game(folder: str) -> Game:
    game: Game = import_module(f".{folder}", __name__).GAME
    return game


for _folder in ("bite_night", "pikit", "yokai_septet"):
    register_lazily(f"{_folder}_v0", partial(_own_game, _folder))
register_installed()
