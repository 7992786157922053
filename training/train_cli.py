"""`monsterzoo train`: self-play training on the command line."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .config import BUDGET, RUN, Config, add_options, given


def main(words: Sequence[str]) -> int:
    """Train, or go on with a run; 130 after an interruption. Raises `ValueError` for bad options."""
    parser = argparse.ArgumentParser("monsterzoo train", description="Train a network by self-play.")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out, with its options")
    add_options(parser)
    parsed = parser.parse_args(words)
    chosen = given(parsed)

    from . import ppo  # imports torch, which --help can do without

    config = Config(**chosen)
    if parsed.resume:
        folder = Path(config.out)
        if not all((folder / file).exists() for file in (RUN, ppo.CHECKPOINT)):
            raise ValueError(f"there is no run in {folder} to go on with")
        config = replace(Config.read(folder / RUN), **{name: chosen[name] for name in BUDGET if name in chosen})
    try:
        ppo.train(config, parsed.resume)
    except KeyboardInterrupt:
        again = f"monsterzoo train --resume --out {config.out}"
        print(f"interrupted; from the last checkpoint on: {again}", file=sys.stderr)
        return 130
    print(f"done: the policy is 'ppo:{config.out}'")
    return 0
