"""`env`, `raw_env` and `parallel_env` of a game, as PettingZoo's modules have them."""

from collections.abc import Callable
from typing import Any

from pettingzoo import AECEnv, ParallelEnv

from .. import make, make_parallel, make_raw


def constructors(name: str) -> tuple[Callable[..., AECEnv], Callable[..., AECEnv], Callable[..., ParallelEnv]]:
    """The three functions of a game's module; the game is imported when one of them is called."""

    def env(render_mode: str | None = None, **options: Any) -> AECEnv:
        """The AEC environment with PettingZoo's standard wrappers; an illegal action ends the game with reward -1."""
        return make(name, render_mode, **options)

    def raw_env(render_mode: str | None = None, **options: Any) -> AECEnv:
        """The AEC environment without wrappers; an illegal action raises `IllegalActionError`."""
        return make_raw(name, render_mode, **options)

    def parallel_env(render_mode: str | None = None, **options: Any) -> ParallelEnv:
        """The parallel environment; an illegal action ends the game with reward -1 for who chose it."""
        return make_parallel(name, render_mode, **options)

    return env, raw_env, parallel_env
