"""Pikit for PettingZoo: `env`, `raw_env`, `parallel_env`. Rules, options, tables: `pikit/README.md`."""

from .aec import env_of, raw_env_of
from .core.catalogue import find_game
from .parallel import parallel_env_of

__all__ = ["env", "parallel_env", "raw_env"]


def _game():
    return find_game("pikit_v0")


env = env_of(_game)
raw_env = raw_env_of(_game)
parallel_env = parallel_env_of(_game)
