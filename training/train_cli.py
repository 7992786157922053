"""`monsterzoo train`: self-play training on the command line."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from .config import MAY_CHANGE, RUN, Config, add_options, given
from .settings import flag


def main(words: Sequence[str]) -> int:
    """Train, or go on with a run. Raises `ValueError` for bad options, `Interrupted` when it is to end early."""
    parser = argparse.ArgumentParser("monsterzoo train", description="Train a network by self-play.")
    changes = ", ".join(flag(name) for name in MAY_CHANGE if name != "out")
    parser.add_argument(
        "--resume", action="store_true", help=f"go on with the run in --out, with its options but for {changes}"
    )
    add_options(parser)
    parsed = parser.parse_args(words)
    chosen = given(parsed)
    if parsed.resume:
        folder = Path(chosen.get("out", Config.out))
        if not (folder / RUN).exists():
            raise ValueError(f"there is no run in {folder} to go on with")
        config = Config.read(folder / RUN).going_on({**chosen, "out": str(folder)})
    elif "game" in chosen:
        config = Config(**chosen)
    else:
        from monsterzoo.envs import names

        raise ValueError(f"which game? --game is one of {', '.join(names())}")

    from . import ppo  # imports torch, which --help can do without

    ppo.train(config, parsed.resume)
    print(f"done: the policy is 'ppo:{config.out}'")
    return 0
