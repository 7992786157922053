"""`monsterzoo train`: self-play training on the command line."""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from monsterzoo.envs.core.options import flag
from monsterzoo.training.config import MAY_CHANGE, METHODS, RUN, USUAL, LessonConfig, RunConfig

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

    from monsterzoo.training.runs import train  # imports torch, which --help can do without

    if uses_ray(parsed):
        from monsterzoo.training.ray_pool import joined

        with joined(parsed.ray, parsed.workers):
            train(config, parsed.resume, kind=partial(_kind_on_ray(config), workers=parsed.workers))
    else:
        train(config, parsed.resume)
    print(f"done: the policy is 'ppo:{config.out}'")
    return 0


def _kind_on_ray(config: RunConfig) -> Callable[..., Any]:
    """What makes a method's learner with its games on Ray."""
    if isinstance(config, LessonConfig):
        from monsterzoo.training.ray_lessons import kind_on_ray

        return kind_on_ray(config.method)
    from monsterzoo.training.ray_train import RayTrainer

    return RayTrainer


DESCRIPTIONS = {
    "ppo": "Train a network by self-play with PPO (--method ppo; --method search --help tells about another one).",
    "search": "Train a network with the decisions of search in games of its own (--method search).",
    "playouts": "Train a network with what actions come to when they are played on (--method playouts).",
}


def _add_method(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method", choices=sorted(METHODS), default="ppo", help="what to learn by (default: %(default)s)"
    )
