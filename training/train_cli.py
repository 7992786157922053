"""`monsterzoo train`: self-play training on the command line."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from monsterzoo.envs.core.catalogue import find_game

from .config import MAY_CHANGE, METHODS, RUN, PPOConfig, RolloutConfig, RunConfig, add_options, given
from .distributed.options import add_ray_arguments, uses_ray
from .game_options import add_game_name, parse, which_game
from .settings import flag
from .specs import about_policies


def main(words: Sequence[str]) -> int:
    """Train, or go on with a run. Raises `ValueError` for bad options, `Interrupted` when it is to end early."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    _add_method(first)
    kind = METHODS[first.parse_known_args(words)[0].method]
    parser = argparse.ArgumentParser(
        "monsterzoo train",
        description=DESCRIPTIONS[kind.method],
        epilog=about_policies(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_game_name(parser)
    _add_method(parser)
    changes = ", ".join(flag(name) for name in MAY_CHANGE if name != "out")
    parser.add_argument(
        "--resume", action="store_true", help=f"go on with the run in --out, with its options but for {changes}"
    )
    add_options(parser, kind)
    add_ray_arguments(parser, "play the games")
    parsed = parse(parser, words, needed=False)
    chosen = given(parsed, kind)
    config: RunConfig
    if parsed.resume:
        folder = Path(chosen.get("out", PPOConfig.out))
        if not (folder / RUN).exists():
            raise ValueError(f"there is no run in {folder} to go on with")
        config = RunConfig.read(folder / RUN)
        if "--method" in words and config.method != kind.method:
            raise ValueError(f"--method {kind.method} contradicts the run, which has --method {config.method}")
        config = config.going_on({**chosen, "out": str(folder)})
    elif "game" in chosen:
        config = kind(**{"players": _usual_players(chosen["game"], chosen.get("options", {})), **chosen})
        find_game(config.game).variant(**config.game_options())  # mistakes are told without torch, too
    else:
        raise which_game()

    from .runs import train  # imports torch, which --help can do without

    if uses_ray(parsed):
        if not isinstance(config, RolloutConfig):
            raise ValueError(f"--ray is for --method rollouts; --method {config.method} runs on one machine")
        from .distributed.cluster import joined
        from .distributed.rollouts import RayRolloutTrainer

        with joined(parsed.ray, parsed.workers):
            train(config, parsed.resume, kind=partial(RayRolloutTrainer, workers=parsed.workers))
    else:
        train(config, parsed.resume)
    print(f"done: the policy is 'ppo:{config.out}'")
    return 0


def _usual_players(game: str, options: dict[str, Any]) -> int:
    """Two players, who learn fastest; the game's own number where they cannot play with these options."""
    try:
        return find_game(game).variant(**{**options, "players": PPOConfig.players}).players
    except ValueError:
        return int(find_game(game).options["players"].default)


DESCRIPTIONS = {
    "ppo": "Train a network by self-play with PPO (--method ppo; --method rollouts --help tells about another one).",
    "rollouts": "Train a network on values of actions that rollouts estimate (--method rollouts).",
}


def _add_method(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method",
        type=method_name,
        choices=sorted(METHODS),
        default=PPOConfig.method,
        help="what to learn by (default: %(default)s)",
    )


def method_name(text: str) -> str:
    """The name of a method; one that was renamed is refused with its new name."""
    if text == "playouts":
        raise argparse.ArgumentTypeError("'playouts' is now called 'rollouts'")
    return text
