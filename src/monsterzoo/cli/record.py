"""`monsterzoo record`: games between policies as data, see docs/data.md."""

import sys
from collections.abc import Sequence
from dataclasses import MISSING
from pathlib import Path

from monsterzoo.envs.core.options import LARGEST_SEED, MOST_THREADS, Integer, Option, Specs, Text
from monsterzoo.training.runs.extras import require

from .options import Parser, chosen_variant

OPTIONS = {
    "policies": Option(MISSING, Specs(), "who plays, taking turns on the sides; see below"),
    "games": Option(1000, Integer(1), "number of games"),
    "seed": Option(0, Integer(0, LARGEST_SEED), "random seed of deals and policies"),
    "values": Option(None, Text("SEARCH"), "estimate the value of every decision by a search, as in search:200"),
    "threads": Option(1, Integer(1, MOST_THREADS), "threads that play"),
    "out": Option("games.parquet", Text("FILE"), "the file"),
}


def main(words: Sequence[str]) -> int:
    """Record games; 130 or 143 after an interruption, with the games so far in the file."""
    about = "Record games as seeds and moves, as Parquet: monsterzoo.training.data reads them and regenerates the rest."
    parsed = Parser("record", about, OPTIONS, policies=True).read(words)
    require("pyarrow")
    from monsterzoo.training.data import record_games

    path, variant = Path(parsed.out), chosen_variant(parsed)
    done = record_games(
        path,
        variant,
        parsed.policies,
        parsed.games,
        seed=parsed.seed,
        values=parsed.values,
        threads=parsed.threads,
        progress=lambda games: print(f"{games:,} of {parsed.games:,} games", file=sys.stderr, flush=True),
    )
    print(f"{done:,} games of {variant} in {path}, {path.stat().st_size:,} bytes")
    return 0 if done == parsed.games else 130
