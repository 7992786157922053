"""`monsterzoo rllib`: train with RLlib's PPO on the command line, here or on a cluster."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.players import make_player

from .config import MOST_AT_ONCE
from .evaluation import win_rate
from .extras import require
from .game_options import add_game_arguments, game_options, parse
from .settings import MOST_THREADS, Number, Whole, kept

LIMITS = {
    "minutes": Number(0, above=True),
    "env_runners": Whole(0, MOST_THREADS),
    "envs_per_runner": Whole(1, MOST_AT_ONCE),
    "seed": Whole(0, (1 << 32) - 1),  # RLlib seeds numpy with it
}
"""What is allowed."""


def main(words: Sequence[str]) -> int:
    """Train, keep checkpoint and policies, and print win rates; raises `ValueError` for bad options."""
    chosen = parse(_parser(), words)
    options = game_options(chosen)
    _check(chosen, find_game(chosen.game).variant(**options))

    require("ray")  # before torch, which comes with another extra too
    import torch
    from monsterzoo.envs import variant

    from .distributed.cluster import joined
    from .rllib import ppo_config

    kind = {"networks": chosen.networks} if chosen.opponents is None else {"opponents": chosen.opponents}
    torch.set_num_threads(1)  # so small a network is not worth more
    config = ppo_config(
        chosen.game,
        multi_agent=chosen.opponents is None,
        env_runners=chosen.env_runners,
        envs_per_runner=chosen.envs_per_runner,
        seed=chosen.seed,
        **kind,
        **options,
    )
    checkpoint = (chosen.out / "checkpoint").absolute()
    with joined(chosen.address):
        algorithm = config.build_algo()
        if chosen.resume:
            algorithm.restore_from_path(str(checkpoint))
        began = time.monotonic()
        while (seconds := time.monotonic() - began) < 60 * chosen.minutes:
            print(_progress(algorithm.train(), seconds), flush=True)
        algorithm.save_to_path(str(checkpoint))
        for module_id in sorted(config.policies):
            _keep(algorithm, module_id, chosen, variant(chosen.game, **options))
        algorithm.stop()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("monsterzoo rllib", description="Train a network with RLlib's PPO.")
    add_game_arguments(parser)
    parser.add_argument(
        "--address", default="local", help="of Ray: 'local' starts it here, 'auto' or HOST:PORT joins a cluster"
    )
    parser.add_argument("--env-runners", type=int, default=0, help="actors that play; 0: the learning process itself")
    parser.add_argument("--envs-per-runner", type=int, default=64, help="games that each of them plays at once")
    parser.add_argument("--opponents", metavar="POLICY", help="learn one seat against this policy (default: self-play)")
    parser.add_argument("--networks", default="shared", choices=("shared", "team"), help="of self-play")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--against", nargs="*", default=["random"], metavar="POLICY", help="whom to measure it against")
    parser.add_argument("--out", type=Path, default=Path("runs/rllib"), help="folder of the checkpoint and the policy")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    return parser


def _check(chosen: argparse.Namespace, variant: Variant) -> None:
    """Raise `ValueError` for what would otherwise fail, or change the experiment, after minutes of training."""
    for name, allowed in LIMITS.items():
        if getattr(chosen, name) is not None:
            kept(name, getattr(chosen, name), allowed)
    for spec in (*chosen.against, *([] if chosen.opponents is None else [chosen.opponents])):
        make_player(variant, spec)
    if chosen.resume and not (chosen.out / "checkpoint").is_dir():
        raise ValueError(f"there is no checkpoint in {chosen.out} to go on from")


def _progress(result: dict[str, Any], seconds: float) -> str:
    played = result["env_runners"]
    steps = played["num_env_steps_sampled_lifetime"]
    share = f", win rate {played['win_rate']:.3f}" if "win_rate" in played else ""
    return f"{seconds:5.0f} s, iteration {result['training_iteration']}: {steps:,.0f} steps{share}"


def _keep(algorithm: Any, module_id: str, chosen: argparse.Namespace, variant: Any) -> None:
    """Write a module's policy and print how often it wins alone against each policy it is measured against."""
    from monsterzoo.policies import from_rllib

    from .rllib import save_policy

    path = chosen.out / f"{module_id}.npz"
    save_policy(algorithm, path, chosen.game, module_id=module_id, **variant.options)
    print(f"done: the policy is 'ppo:{path}'")
    policy = from_rllib(algorithm, module_id=module_id)
    for spec in chosen.against:
        found = win_rate(variant, policy, make_player(variant, spec), 1000, seed=1)
        print(f"wins against {spec}: {found.rate:.3f} ± {1.96 * found.error:.3f}")
