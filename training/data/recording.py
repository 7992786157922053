"""Play games between policies and write them as Parquet, one row per game."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from monsterzoo.envs.core.options import LARGEST_SEED, MOST_THREADS, Integer, checked
from monsterzoo.envs.core.rng import env_seed, generator
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.match import listed_match
from monsterzoo.envs.match.players import make_player, name_of
from monsterzoo.envs.match.seating import make_players
from monsterzoo.envs.version import VERSION
from monsterzoo.policies.search import SearchPolicy

from ..runs.files import replacing
from ..runs.interrupts import DeferredInterrupt, Interrupted
from .replaying import FORMAT, KEY, LARGEST_MOVE, SCHEMA, replay

CHUNK = 1024
"""Games played at once, and the size of a row group."""
LOG = 1 << 14
"""Most moves of a game."""


def record_games(
    path: Path | str,
    variant: Variant,
    policies: Sequence[Any],
    games: int,
    *,
    seed: int = 0,
    values: str | None = None,
    threads: int = 1,
    progress: Callable[[int], None] = lambda games: None,
) -> int:
    """Play games and write them to a file; returns how many, fewer than asked for after Ctrl-C.

    Game i is the AEC environment seeded with `env_seed(seed, i)`, on deals for training (see `evaluation.seeds`);
    policy (side + i) modulo their number plays a side. With `values`, the spec of a search, that search estimates the
    value of every decision. `progress` is called with the number of games after every chunk.

    Raises `ValueError`, before anything is written, for policies and numbers that cannot be.
    """
    checked("games", games, Integer(1))
    checked("seed", seed, Integer(0, LARGEST_SEED))
    checked("threads", threads, Integer(1, MOST_THREADS))
    players = make_players(variant, policies, seed)
    search = None if values is None else make_player(variant, values, seed)
    if search is not None and not isinstance(search, SearchPolicy):
        raise ValueError(f"values={values!r}: expected a search, as in 'search:200'")
    if variant.players * variant.num_actions > LARGEST_MOVE:
        raise ValueError(f"{variant} has too many actions for a file of games: a move is a number of 16 bits")
    described = {
        "format": FORMAT, "version": VERSION, "game": variant.game.name, "options": variant.options, "seed": seed,
        "policies": [name_of(player) for player in players], "values": values,
    }  # fmt: skip
    done = 0
    schema = SCHEMA.with_metadata({KEY: json.dumps(described)})
    with (
        DeferredInterrupt() as signals,
        replacing(Path(path)) as part,
        pq.ParquetWriter(part, schema, compression="zstd") as writer,
    ):
        while done < games and not signals.came():
            numbers = np.arange(done, min(done + CHUNK, games))
            try:
                table = _play(variant, players, numbers, seed, search, threads)
            except Interrupted:  # the games before these are kept
                break
            writer.write_table(table)
            done += len(numbers)
            progress(done)
    return done


def _play(
    variant: Variant, players: list[Any], numbers: np.ndarray, seed: int, search: SearchPolicy | None, threads: int
) -> pa.Table:
    """Play the numbered games; a row each."""
    seeds = env_seed(seed, numbers)
    sides = np.arange(variant.players) % variant.sides
    seating = (sides + numbers[:, None]) % len(players)
    luck, policy_luck = generator(seeds, "game"), generator(seeds, "opponents")
    match, _ = listed_match(variant, players, seating, luck, policy_luck, len(numbers), threads, log=LOG)
    match.run()
    lengths, edges = match.arrays["lengths"][1], np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(lengths, out=edges[1:])
    moves = np.concatenate([row[:length] for row, length in zip(match.arrays["moves"][1], lengths)])
    found = np.zeros(0, np.float32)
    if search is not None:
        samples = replay(variant, seeds, moves, edges, states=True).samples
        found = search.search(samples.observations, samples.seats, samples.states).root_values.astype(np.float32)
    offsets = pa.array(edges, pa.int32())
    columns = {
        "seed": pa.array(seeds, pa.uint64()),
        "seating": pa.array(list(seating.astype(np.uint8)), pa.list_(pa.uint8())),
        "moves": pa.ListArray.from_arrays(offsets, pa.array(moves.astype(np.uint16))),
        "returns": pa.array(list(match.arrays["totals"][1]), pa.list_(pa.float32())),
        "values": pa.ListArray.from_arrays(offsets if len(found) else pa.array(0 * edges, pa.int32()), pa.array(found)),
    }
    return pa.table(columns, SCHEMA)
