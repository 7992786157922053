"""Bite Night for PettingZoo: `env`, `raw_env`, `parallel_env`. Rules, options, tables: `bite_night/README.md`."""

from .api.constructors import constructors

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = constructors("bite_night_v0")
