"""`env`, `raw_env` and `parallel_env` of a game, as PettingZoo's modules have them."""

from collections.abc import Callable
from functools import partial, update_wrapper

from pettingzoo import AECEnv, ParallelEnv

from .. import make, make_parallel, make_raw


def constructors(name: str) -> tuple[Callable[..., AECEnv], Callable[..., AECEnv], Callable[..., ParallelEnv]]:
    """The three functions of a game's module; the game is imported when one of them is called."""
    env, raw_env, parallel_env = partial(make, name), partial(make_raw, name), partial(make_parallel, name)
    return update_wrapper(env, make), update_wrapper(raw_env, make_raw), update_wrapper(parallel_env, make_parallel)
