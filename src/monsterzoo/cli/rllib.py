"""`monsterzoo rllib`: train with RLlib's PPO, here or on a cluster."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.options import MOST_THREADS, Checked, Choice, Integer, Number, Specs, Switch, Text
from monsterzoo.envs.match.players import make_player
from monsterzoo.training.config import MOST_AT_ONCE
from monsterzoo.training.evaluation import win_rate
from monsterzoo.training.extras import require

from .options import Parser, chosen_variant, given

MAX_SEED = (1 << 32) - 1
"""Of numpy's global generator, which RLlib and SB3 seed."""


@dataclass(frozen=True)
class Options(Checked):
    """Flags of the command."""

    address: Annotated[str, "'local' starts Ray here, 'auto' or HOST:PORT joins a cluster", Text("ADDRESS")] = "local"
    env_runners: Annotated[int, "actors that play; 0 plays in the learning process", Integer(0, MOST_THREADS)] = 0
    envs_per_runner: Annotated[int, "games that each actor plays at once", Integer(1, MOST_AT_ONCE)] = 64
    opponents: Annotated[str | None, "learn one seat against this policy (default: self-play)", Text("POLICY")] = None
    networks: Annotated[str, "in self-play: one for all seats, or one a team", Choice("shared", "team")] = "shared"
    minutes: Annotated[float, "wall-clock budget", Number(0, above=True)] = 5.0
    seed: Annotated[int | None, "random seed", Integer(0, MAX_SEED)] = None
    against: Annotated[tuple[str, ...], "policies to measure the result against", Specs()] = ("random",)
    out: Annotated[str, "folder of the checkpoint and the policy", Text("FOLDER")] = "runs/rllib"
    resume: Annotated[bool, "go on from the checkpoint in --out", Switch()] = False


def main(arguments: Sequence[str]) -> int:
    """Train, save checkpoint and policies, and print win rates; raises `ValueError` for bad options."""
    parsed = Parser("rllib", "Train a network with RLlib's PPO.", Options, policies=True).read(arguments)
    options, variant = Options(**given(parsed, Options)), chosen_variant(parsed)
    out = Path(options.out)
    checkpoint = (out / "checkpoint").absolute()
    check_policies(variant, *options.against, *([] if options.opponents is None else [options.opponents]))
    if options.resume and not checkpoint.is_dir():
        raise ValueError(f"there is no checkpoint in {out} to go on from")

    require("ray")  # before torch, which comes with another extra too
    import torch

    from monsterzoo.policies import from_rllib
    from monsterzoo.training.distributed.cluster import joined
    from monsterzoo.training.rllib import ppo_config, save_policy

    torch.set_num_threads(1)  # the network is too small for more
    config = ppo_config(
        variant.game.name,
        multi_agent=options.opponents is None,
        env_runners=options.env_runners,
        envs_per_runner=options.envs_per_runner,
        opponents=options.opponents,
        networks=options.networks,
        seed=options.seed,
        **variant.options,
    )
    with joined(options.address):
        algorithm = config.build_algo()
        if options.resume:
            algorithm.restore_from_path(str(checkpoint))
        began = time.monotonic()
        while (seconds := time.monotonic() - began) < 60 * options.minutes:
            print(_progress(algorithm.train(), seconds), flush=True)
        algorithm.save_to_path(str(checkpoint))
        for module_id in sorted(config.policies):
            path = out / f"{module_id}.npz"
            save_policy(algorithm, path, variant.game.name, module_id=module_id, **variant.options)
            print(f"done: the policy is 'net:{path}'")
            print_win_rates(variant, from_rllib(algorithm, module_id=module_id), options.against)
        algorithm.stop()
    return 0


def check_policies(variant: Variant, *specs: str) -> None:
    """Raise `ValueError` for a policy that cannot play the game, before training."""
    for spec in specs:
        make_player(variant, spec)


def print_win_rates(variant: Variant, policy: Any, against: Sequence[str]) -> None:
    """Print the win rate of a policy against each of the others."""
    for spec in against:
        won = win_rate(variant, policy, make_player(variant, spec), 1000, seed=1)
        print("win rate against {}: {:.3f} (95 % interval {:.3f} to {:.3f})".format(spec, won.rate, *won.interval))


def _progress(result: dict[str, Any], seconds: float) -> str:
    played = result["env_runners"]
    steps = played["num_env_steps_sampled_lifetime"]
    share = f", win rate {played['win_rate']:.3f}" if "win_rate" in played else ""
    return f"{seconds:5.0f} s, iteration {result['training_iteration']}: {steps:,.0f} steps{share}"
