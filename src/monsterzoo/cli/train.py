"""`monsterzoo train`: self-play training on the command line."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from monsterzoo.envs.core.options import flag
from monsterzoo.training.runs.config import MAY_CHANGE, METHODS, RUN, USUAL, RolloutConfig, RunConfig

from .options import RAY, Parser, chosen_variant, flags_of, game_options, uses_ray


def main(words: Sequence[str]) -> int:
    """Train, or go on with a run. Raises `ValueError` for bad options, `Interrupted` when it is to end early."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    _add_method(first)
    kind = METHODS[first.parse_known_args(words)[0].method]
    usual = {
        name: f"{' '.join(specs) if isinstance(specs, tuple) else specs}; no heuristic where the game has none"
        for name, specs in USUAL.items()
    }
    flags = flags_of(kind, **usual)
    parser = Parser("train", DESCRIPTIONS[kind.method], flags, RAY, policies=True)
    _add_method(parser)
    changes = ", ".join(flag(name) for name in MAY_CHANGE if name != "out")
    parser.add_argument(
        "--resume", action="store_true", help=f"go on with the run in --out, with its options but for {changes}"
    )
    parsed = parser.read(words)
    chosen = {name: value for name, value in parsed.given.items() if name in flags}
    config: RunConfig
    if parsed.resume:
        folder = Path(chosen.get("out", RunConfig.out))
        if not (folder / RUN).exists():
            raise ValueError(f"there is no run in {folder} to go on with")
        config = RunConfig.read(folder / RUN)
        if "--method" in words and config.method != kind.method:
            raise ValueError(f"--method {kind.method} contradicts the run, which has --method {config.method}")
        options = game_options(parsed)
        chosen |= {name: options.pop(name) for name in ("players",) if name in options}
        chosen |= {"options": options} if options else {}
        chosen |= {} if parsed.game is None else {"game": parsed.game}
        config = config.going_on({**chosen, "out": str(folder)})
    else:
        variant = chosen_variant(parsed)  # mistakes are told without torch, too
        options = {key: value for key, value in game_options(parsed).items() if key != "players"}
        config = kind(game=variant.game.name, players=variant.players, options=options, **chosen)

    from monsterzoo.training.runs.run import train  # imports torch, which --help can do without

    if uses_ray(parsed):
        if not isinstance(config, RolloutConfig):
            raise ValueError(f"--ray is for --method rollouts; --method {config.method} runs on one machine")
        from monsterzoo.training.distributed.cluster import joined
        from monsterzoo.training.distributed.rollouts import RayRolloutTrainer

        with joined(parsed.ray, parsed.workers):
            train(config, parsed.resume, kind=partial(RayRolloutTrainer, workers=parsed.workers))
    else:
        train(config, parsed.resume)
    print(f"done: the policy is 'net:{config.out}'")
    return 0


DESCRIPTIONS = {
    "ppo": "Train a network by self-play with PPO (--method ppo; --method rollouts --help tells about another one).",
    "rollouts": "Train a network on values of actions that rollouts estimate (--method rollouts).",
}


def _add_method(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method",
        type=method_name,
        choices=sorted(METHODS),
        default="ppo",
        help="what to learn by (default: %(default)s)",
    )


def method_name(text: str) -> str:
    """The name of a method; one that was renamed is refused with its new name."""
    if text == "playouts":
        raise argparse.ArgumentTypeError("'playouts' is now called 'rollouts'")
    return text
