"""`monsterzoo watch`: watch policies at play, or a record, in the browser."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from monsterzoo.envs.core.options import LARGEST_SEED, Integer, Option, Specs, Text

from .options import Parser, chosen_variant
from .play import SERVER, serve
from .replay import read_record

OPTIONS = {
    "record": Option(None, Text("FILE"), "a game as `env.record()` gives it, in JSON"),
    "policies": Option(None, Specs(), "one for all seats, or one each (default: heuristic, or random without one)"),
    "seed": Option(None, Integer(0, LARGEST_SEED), "random seed of the game (default: a fresh one)"),
}


def main(words: Sequence[str]) -> int:
    """Serve a game to watch until interrupted; returns the exit code."""
    about = "Watch policies at play, or a record, in the browser: forward and back."
    parsed = Parser("watch", about, OPTIONS, SERVER, policies=True).read(words)
    if (parsed.game is None) == (parsed.record is None):
        raise ValueError("watch needs either a GAME or --record FILE")
    from monsterzoo.table import server, watched  # needs an extra

    if parsed.record is not None:
        game = watched.watch_record(read_record(Path(parsed.record)))
    else:
        variant = chosen_variant(parsed)
        seed = secrets.randbits(32) if parsed.seed is None else parsed.seed
        game = watched.watch_policies(variant, parsed.policies, seed)
    plan = server.Plan(game.variant.game.name, dict(game.variant.options))
    return serve(server.Room(plan, game), parsed)
