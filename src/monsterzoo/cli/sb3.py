"""`monsterzoo sb3`: train with MaskablePPO of Stable-Baselines3's contrib package."""

from collections.abc import Sequence
from pathlib import Path

from monsterzoo.envs.core.options import Integer, Option, Specs, Text
from monsterzoo.training.runs.config import LARGEST_NUMPY_SEED, MOST_AT_ONCE
from monsterzoo.training.runs.extras import require

from .options import Parser, chosen_variant
from .rllib import check_policies, print_win_rates

OPTIONS = {
    "steps": Option(2_000_000, Integer(1), "decisions to learn from"),
    "num_envs": Option(512, Integer(1, MOST_AT_ONCE), "games played at once"),
    "opponents": Option("past", Text("POLICY"), "learn one seat against this policy, or 'past' for self-play"),
    "seed": Option(0, Integer(0, LARGEST_NUMPY_SEED), "random seed"),
    "against": Option(("random",), Specs(), "policies to measure the result against"),
    "out": Option("runs/sb3", Text("FOLDER"), "folder of the model and the policy"),
}


def main(words: Sequence[str]) -> int:
    """Train, keep model and policy, and print win rates; raises `ValueError` for bad options."""
    parsed = Parser("sb3", "Train a network with MaskablePPO of Stable-Baselines3.", OPTIONS, policies=True).read(words)
    variant = chosen_variant(parsed)
    check_policies(variant, *parsed.against, *([] if parsed.opponents == "past" else [parsed.opponents]))

    require("stable_baselines3")
    from monsterzoo.policies import from_sb3
    from monsterzoo.training.sb3 import learn, save_policy

    game, out = variant.game.name, Path(parsed.out)
    out.mkdir(parents=True, exist_ok=True)  # mistakes are told before training
    model = learn(game, parsed.steps, parsed.num_envs, parsed.opponents, parsed.seed, **variant.options)
    model.save(out / "model.zip")
    save_policy(model, out / "policy.npz", game, **variant.options)
    print(f"done: the policy is 'net:{out}', the model for SB3 is {out / 'model.zip'}")
    print_win_rates(variant, from_sb3(model), parsed.against)
    return 0
