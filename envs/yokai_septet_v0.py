"""Yokai Septet for PettingZoo: `env`, `raw_env`, `parallel_env`. Rules, options, tables: `yokai_septet/README.md`."""

from .api.constructors import constructors

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = constructors("yokai_septet_v0")
