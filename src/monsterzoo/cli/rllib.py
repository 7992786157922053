"""`monsterzoo rllib`: train with RLlib's PPO, here or on a cluster."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.envs.core.options import MOST_THREADS, Choice, Integer, Number, Option, Specs, Switch, Text
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.players import make_player
from monsterzoo.training.evaluation.win_rate import win_rate
from monsterzoo.training.runs.config import LARGEST_NUMPY_SEED, MOST_AT_ONCE
from monsterzoo.training.runs.extras import require

from .options import Parser, chosen_variant

OPTIONS = {
    "address": Option("local", Text("ADDRESS"), "of Ray: 'local' starts it here, 'auto' or HOST:PORT joins a cluster"),
    "env_runners": Option(0, Integer(0, MOST_THREADS), "actors that play; 0 plays in the learning process"),
    "envs_per_runner": Option(64, Integer(1, MOST_AT_ONCE), "games that each actor plays at once"),
    "opponents": Option(None, Text("POLICY"), "learn one seat against this policy (default: self-play)"),
    "networks": Option("shared", Choice("shared", "team"), "self-play with one network for all seats, or one per team"),
    "minutes": Option(5.0, Number(0, above=True), "wall-clock budget"),
    "seed": Option(None, Integer(0, LARGEST_NUMPY_SEED), "random seed"),
    "against": Option(("random",), Specs(), "policies to measure the result against"),
    "out": Option("runs/rllib", Text("FOLDER"), "folder of the checkpoint and the policy"),
    "resume": Option(False, Switch(), "go on from the checkpoint in --out"),
}


def main(words: Sequence[str]) -> int:
    """Train, keep checkpoint and policies, and print win rates; raises `ValueError` for bad options."""
    parsed = Parser("rllib", "Train a network with RLlib's PPO.", OPTIONS, policies=True).read(words)
    variant = chosen_variant(parsed)
    out = Path(parsed.out)
    checkpoint = (out / "checkpoint").absolute()
    check_policies(variant, *parsed.against, *([] if parsed.opponents is None else [parsed.opponents]))
    if parsed.resume and not checkpoint.is_dir():
        raise ValueError(f"there is no checkpoint in {out} to go on from")

    require("ray")  # before torch, which comes with another extra too
    import torch

    from monsterzoo.policies import from_rllib
    from monsterzoo.training.distributed.cluster import joined
    from monsterzoo.training.rllib import ppo_config, save_policy

    torch.set_num_threads(1)  # the network is too small for more
    config = ppo_config(
        variant.game.name,
        multi_agent=parsed.opponents is None,
        env_runners=parsed.env_runners,
        envs_per_runner=parsed.envs_per_runner,
        opponents=parsed.opponents,
        networks=parsed.networks,
        seed=parsed.seed,
        **variant.options,
    )
    with joined(parsed.address):
        algorithm = config.build_algo()
        if parsed.resume:
            algorithm.restore_from_path(str(checkpoint))
        began = time.monotonic()
        while (seconds := time.monotonic() - began) < 60 * parsed.minutes:
            print(_progress(algorithm.train(), seconds), flush=True)
        algorithm.save_to_path(str(checkpoint))
        for module_id in sorted(config.policies):
            path = out / f"{module_id}.npz"
            save_policy(algorithm, path, variant.game.name, module_id=module_id, **variant.options)
            print(f"done: the policy is 'net:{path}'")
            print_win_rates(variant, from_rllib(algorithm, module_id=module_id), parsed.against)
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
        print("win rate against {}: {:.3f} (95 % interval {:.3f} to {:.3f})".format(spec, won.win_rate, *won.interval))


def _progress(result: dict[str, Any], seconds: float) -> str:
    played = result["env_runners"]
    steps = played["num_env_steps_sampled_lifetime"]
    share = f", win rate {played['win_rate']:.3f}" if "win_rate" in played else ""
    return f"{seconds:5.0f} s, iteration {result['training_iteration']}: {steps:,.0f} steps{share}"
