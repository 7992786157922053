"""Pikit for PettingZoo: `env`, `raw_env`, `parallel_env`. Rules, options, tables: `pikit/README.md`."""

from .api.constructors import constructors

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = constructors("pikit_v0")
