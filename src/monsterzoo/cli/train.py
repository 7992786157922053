"""`monsterzoo train`: self-play training on the command line."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from monsterzoo.envs.core.options import Choice, Option, Switch, flag
from monsterzoo.training.runs.config import GROUPS, MAY_CHANGE, METHODS, RUN, USUAL, PPOConfig, RolloutConfig, RunConfig

from .options import RAY, Parser, chosen_variant, flags_of, game_options, on_ray, read_flag

DESCRIPTIONS = {
    "ppo": "Train a network by self-play with PPO (--method ppo; --method rollouts --help tells about another one).",
    "rollouts": "Train a network on values of actions that rollouts estimate (--method rollouts).",
}
CHANGES = ", ".join(flag(name) for name in MAY_CHANGE if name != "out")
OPTIONS = {
    "method": Option(PPOConfig.method, Choice(*METHODS), "what to learn by"),
    "resume": Option(False, Switch(), f"go on with the run in --out, with its options but for {CHANGES}"),
    **RAY,
}


def main(words: Sequence[str]) -> int:
    """Train, or go on with a run. Raises `ValueError` for bad options, `Interrupted` when it is to end early."""
    first = argparse.ArgumentParser("monsterzoo train", add_help=False, allow_abbrev=False)
    first.add_argument("--method", default=PPOConfig.method)  # on which all other flags depend
    kind = METHODS[read_flag("method", first.parse_known_args(words)[0].method, OPTIONS["method"].values)]
    shown = {name: specs if isinstance(specs, str) else " ".join(specs) for name, specs in USUAL.items()}
    usual = {name: f"{specs}; no heuristic where the game has none" for name, specs in shown.items()}
    flags = flags_of(kind, **usual)
    parsed = Parser("train", DESCRIPTIONS[kind.method], OPTIONS, flags, policies=True, groups=GROUPS).read(words)
    chosen = {name: value for name, value in parsed.given.items() if name in flags}
    options = game_options(parsed)
    config: RunConfig
    if parsed.resume:
        folder = Path(chosen.get("out", RunConfig.out))
        if not (folder / RUN).exists():
            raise ValueError(f"there is no run in {folder} to go on with")
        config = RunConfig.read(folder / RUN)
        chosen = {name: value for name, value in parsed.given.items() if name == "method"} | chosen
        chosen |= {name: options.pop(name) for name in ("players",) if name in options}
        chosen |= {"options": options} if options else {}
        chosen |= {} if parsed.game is None else {"game": parsed.game}
        config = config.going_on({**chosen, "out": str(folder)})
    else:
        variant = chosen_variant(parsed)  # mistakes are told without torch, too
        options.pop("players", None)
        config = kind(game=variant.game.name, players=variant.players, options=options, **chosen)

    from monsterzoo.training.runs.run import train  # imports torch, which --help can do without

    if parsed.ray is not None and not isinstance(config, RolloutConfig):
        raise ValueError(f"--ray is for --method rollouts; --method {config.method} runs on one machine")
    with on_ray(parsed) as remote:
        learner = None
        if remote:
            from monsterzoo.training.distributed.rollouts import RayRolloutTrainer

            learner = partial(RayRolloutTrainer, workers=parsed.workers)
        train(config, parsed.resume, kind=learner)
    print(f"done: the policy is 'net:{config.out}'")
    return 0
