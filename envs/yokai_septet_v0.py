"""Yokai Septet for PettingZoo: `env`, `raw_env`, `parallel_env`. Rules, options, tables: `yokai_septet/README.md`."""

from functools import partial

from . import make, make_parallel, make_raw

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = (partial(maker, "yokai_septet_v0") for maker in (make, make_raw, make_parallel))
