"""`monsterzoo sb3`: train with MaskablePPO of Stable-Baselines3's contrib package."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from monsterzoo.envs.core.options import Checked, Integer, Specs, Text
from monsterzoo.training.config import MOST_AT_ONCE
from monsterzoo.training.extras import require

from .options import Parser, chosen_variant, given
from .rllib import MAX_SEED, check_policies, print_win_rates


@dataclass(frozen=True)
class Options(Checked):
    """Flags of the command."""

    steps: Annotated[int, "decisions to learn from", Integer(1)] = 2_000_000
    num_envs: Annotated[int, "games played at once", Integer(1, MOST_AT_ONCE)] = 512
    opponents: Annotated[str, "learn one seat against this policy, or 'past' for self-play", Text("POLICY")] = "past"
    seed: Annotated[int, "random seed", Integer(0, MAX_SEED)] = 0
    against: Annotated[tuple[str, ...], "policies to measure the result against", Specs()] = ("random",)
    out: Annotated[str, "folder of the model and the policy", Text("FOLDER")] = "runs/sb3"


def main(arguments: Sequence[str]) -> int:
    """Train, save model and policy, and print win rates; raises `ValueError` for bad options."""
    parser = Parser("sb3", "Train a network with MaskablePPO of Stable-Baselines3.", Options, policies=True)
    parsed = parser.read(arguments)
    options, variant = Options(**given(parsed, Options)), chosen_variant(parsed)
    check_policies(variant, *options.against, *([] if options.opponents == "past" else [options.opponents]))

    require("stable_baselines3")
    from monsterzoo.policies import from_sb3
    from monsterzoo.training.sb3 import learn, save_policy

    game, out = variant.game.name, Path(options.out)
    out.mkdir(parents=True, exist_ok=True)  # fails before training
    model = learn(game, options.steps, options.num_envs, options.opponents, options.seed, **variant.options)
    model.save(out / "model.zip")
    save_policy(model, out / "policy.npz", game, **variant.options)
    print(f"done: the policy is 'net:{out}', the model for SB3 is {out / 'model.zip'}")
    print_win_rates(variant, from_sb3(model), options.against)
    return 0
