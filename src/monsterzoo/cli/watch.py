"""`monsterzoo watch`: watch policies at play, or a record, in the browser."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from monsterzoo.envs.core.options import LARGEST_SEED, Checked, Integer, Specs, Text

from .options import Parser, chosen_variant, given
from .play import ServerOptions, announce, load_server
from .replay import read_record


@dataclass(frozen=True)
class Options(Checked):
    """Flags of the command."""

    record: Annotated[str | None, "a game as `env.record()` gives it, in JSON", Text("FILE")] = None
    policies: Annotated[
        tuple[str, ...] | None, "one for all seats, or one each (default: heuristic, or random without one)", Specs()
    ] = None
    seed: Annotated[int | None, "random seed of the game (default: a fresh one)", Integer(0, LARGEST_SEED)] = None


def main(words: Sequence[str]) -> int:
    """Serve a game to watch until interrupted; returns the exit code."""
    about = "Watch policies at play, or a record, in the browser: forward and back."
    parsed = Parser("watch", about, Options, ServerOptions, policies=True).read(words)
    options, server = Options(**given(parsed, Options)), ServerOptions(**given(parsed, ServerOptions))
    if (parsed.game is None) == (options.record is None):
        raise ValueError("watch needs either a GAME or --record FILE")
    table: Any = load_server()
    from monsterzoo.table import watched

    if options.record is not None:
        game = watched.watch_record(read_record(Path(options.record)))
    else:
        variant = chosen_variant(parsed)
        seed = secrets.randbits(32) if options.seed is None else options.seed
        game = watched.watch_policies(variant, options.policies, seed)
    plan = table.Plan(game.variant.game.name, dict(game.variant.options))
    table.serve(table.Room(plan, game), server.port, lambda address: announce(address, server.browser))
    return 0
