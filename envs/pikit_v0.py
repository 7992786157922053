"""Pikit for PettingZoo: `env`, `raw_env`, `parallel_env`. Rules, options, tables: `pikit/README.md`."""

from functools import partial

from . import make, make_parallel, make_raw

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = (partial(maker, "pikit_v0") for maker in (make, make_raw, make_parallel))
