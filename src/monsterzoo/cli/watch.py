"""`monsterzoo watch`: watch policies at play, or a record, in the browser."""

import argparse
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.envs import names
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.training.game_options import add_option_argument, read_options

from .play import add_server_arguments, announce, load_server
from .replay import read_record


def main(words: Sequence[str]) -> int:
    """Serve a game to watch until interrupted; returns the exit code."""
    parsed = _parser().parse_args(words)
    if (parsed.game is None) == (parsed.record is None):
        raise ValueError("watch needs either a GAME or --record FILE")
    table: Any = load_server()
    from monsterzoo.training.table import watched

    if parsed.record is not None:
        game = watched.watch_record(read_record(parsed.record))
    else:
        variant = find_game(parsed.game).variant(**read_options(parsed.players, parsed.option))
        seed = secrets.randbits(32) if parsed.seed is None else parsed.seed
        game = watched.watch_policies(variant, parsed.policies, seed)
    plan = table.Plan(game.variant.game.name, dict(game.variant.options))
    table.serve(table.Room(plan, game), parsed.port, lambda address: announce(address, parsed.browser))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "monsterzoo watch", description="Watch policies at play, or a record, in the browser: forward and back."
    )
    parser.add_argument("game", metavar="GAME", nargs="?", help=f"one of {', '.join(names())}")
    parser.add_argument("--record", type=Path, metavar="FILE", help="a game as `env.record()` gives it, in JSON")
    parser.add_argument("--players", type=int, help="number of players (default: the game's own)")
    add_option_argument(parser)
    parser.add_argument(
        "--policies", nargs="+", default=["heuristic"], metavar="POLICY", help="one for all seats, or one each"
    )
    parser.add_argument("--seed", type=int, help="of the game; without it every game is another")
    add_server_arguments(parser)
    return parser
