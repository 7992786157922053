"""Read files of games, and play them again to regenerate what the players saw, did and gained.

A move is `seat * actions + action`, as in the move log of a match.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from monsterzoo.envs.compiling.encoding import expand
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core.bits import has
from monsterzoo.envs.core.contract import PLAYING, legal, observe, setup
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import generator
from monsterzoo.envs.core.stepping import advance
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.history import History, after_move, before_move, begin_history, show_history

from ..runs.files import damaged

FORMAT = 1
KEY = b"monsterzoo"
"""Of the file's metadata, JSON: format, version, game, options, seed, policies, values."""
LARGEST_MOVE = 1 << 16
SCHEMA = pa.schema(
    [
        ("seed", pa.uint64()),  # of the AEC environment
        ("seating", pa.list_(pa.uint8())),  # which policy has each seat
        ("moves", pa.list_(pa.uint16())),
        ("returns", pa.list_(pa.float32())),  # of each seat
        ("values", pa.list_(pa.float32())),  # of each decision by search, from 0 to 1; empty if it was not asked
    ]
)
WHAT = "a file of recorded games"


class Samples(NamedTuple):
    """D decisions, game after game, in the order in which they were made."""

    observations: np.ndarray  # int8 (D, n)
    action_masks: np.ndarray  # int8 (D, A)
    actions: np.ndarray  # int64 (D,)
    seats: np.ndarray  # int64 (D,)
    rewards: np.ndarray  # float32 (D,): what the seat gained up to its next decision
    returns: np.ndarray  # float32 (D,): what it gained up to the end
    last: np.ndarray  # bool (D,): whether it was the seat's last decision
    games: np.ndarray  # int64 (D,): number of the game in the file
    policies: np.ndarray  # int64 (D,): which policy decided
    values: np.ndarray | None = None  # float32 (D,): the deciding side's chances by search, if the file has them
    states: np.ndarray | None = None  # (D,): the truth before each decision, hidden cards included, if asked for
    history: np.ndarray | None = None  # int16 (D, T, 2): the last T events that the seat had seen, if asked for


class Replayed(NamedTuple):
    """Games that were played again."""

    samples: Samples  # `policies` are 0
    finals: np.ndarray  # (G,): states at the ends
    totals: np.ndarray  # float32 (G, players): returns of all seats


class _Out(NamedTuple):
    """What the kernel writes: see `Samples`."""

    rows: Any
    masks: Any
    rewards: Any
    returns: Any
    last: Any
    states: Any
    history: Any


@kernel
def replay_games(states, moves, edges, actions, out, totals, latest, words, views, gained, history):
    """Play games (G,) from their generators by recorded moves; game i has moves edges[i] to edges[i + 1].

    Returns -1, or the first move that cannot be; for a game that does not end, the one behind its last.
    """
    for i in range(len(states)):
        state, players = states[i], np.int64(states[i].players)
        setup(state)
        begin_history(history, i)
        latest[:] = -1
        for k in range(edges[i], edges[i + 1]):
            seat, action = np.int64(moves[k]) // actions, np.int64(moves[k]) % actions
            if state.outcome != PLAYING or seat >= players or not has(np.uint64(state.acting), seat):
                return k
            legal(state, seat, words)
            if not has(words[action >> 6], action & 63):
                return k
            observe(state, seat, views[0], out.rows[k])
            expand(words, out.masks[k])
            if len(out.states) > 0:
                out.states[k] = states[i]
            if history is not None:
                show_history(history, i, seat)
                for place in range(out.history.shape[1]):
                    for column in range(2):
                        out.history[k, place, column] = history.shown[i, place, column]
            before_move(history, states, i)
            advance(state, seat, action, gained)
            after_move(history, states, i, seat, action)
            latest[seat] = k
            for other in range(players):
                totals[i, other] += gained[other]
                if latest[other] >= 0:
                    out.rewards[latest[other]] += gained[other]
        if state.outcome == PLAYING:
            return edges[i + 1]
        gained[:] = 0
        for k in range(edges[i + 1] - 1, edges[i] - 1, -1):
            seat = np.int64(moves[k]) // actions
            gained[seat] += out.rewards[k]
            out.returns[k], out.last[k] = gained[seat], latest[seat] == k
    return -1


def replay(
    variant: Variant, seeds: Sequence[int], moves: np.ndarray, edges: np.ndarray, *, states: bool = False,
    history: int = 0,
) -> Replayed:  # fmt: skip
    """Play G games again: seeds (G,), moves (D,), and where each game's begin and end, edges (G + 1,).

    Raises `ValueError` for a move that cannot be, and for games that do not end with their last.
    """
    count, decisions, seats = len(seeds), len(moves), variant.players
    games, kept = variant.new_states(count), variant.new_states(decisions if states else 0)
    games["rng"] = [generator(seed) for seed in seeds]
    rows = np.zeros((decisions, variant.layout.size), np.int8)
    masks = np.zeros((decisions, 64 * variant.words), np.int8)
    rewards, returns, last = (np.zeros(decisions, kind) for kind in (np.float32, np.float32, np.bool_))
    shown = np.zeros((decisions if history else 0, history, 2), np.int16)
    out = _Out(rows.view(np.uint64), masks.view(np.uint64), rewards, returns, last, kept, shown)
    totals, gained, latest = np.zeros((count, seats), np.float32), np.zeros(seats, np.float32), np.zeros(seats, int)
    events = History.with_scratch(variant, History.arrays(variant, count, history)) if history else None
    moves, edges, actions = moves.astype(np.int64), edges.astype(np.int64), variant.num_actions
    words = np.zeros(variant.words, np.uint64)
    wrong = replay_games(games, moves, edges, actions, out, totals, latest, words, variant.new_views(), gained, events)
    if wrong >= 0:
        game = int(np.searchsorted(edges, min(wrong, decisions - 1), side="right")) - 1
        raise ValueError(f"game {game}: move {wrong - edges[game]} cannot be, or the game does not end with its moves")
    whose = np.repeat(np.arange(count), np.diff(edges))
    samples = Samples(
        rows, masks[:, :actions], moves % actions, moves // actions, rewards, returns, last, whose, 0 * whose,
        states=kept if states else None, history=shown if history else None,
    )  # fmt: skip
    return Replayed(samples, games, totals)


class GameFile:
    """A file of games; iterate over `samples` to regenerate decisions.

    Raises `ValueError` naming the file if it is damaged, or not of games.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        try:
            self._file = pq.ParquetFile(self.path)
            described = json.loads((self._file.schema_arrow.metadata or {})[KEY])
            if described["format"] != FORMAT:
                raise ValueError(f"its format is {described['format']!r}, this version reads {FORMAT}")
            if not self._file.schema_arrow.equals(SCHEMA):
                raise ValueError("it has other columns")
            self.policies: list[str] = [str(name) for name in described["policies"]]
            self.variant = find_game(described["game"]).variant(**described["options"])
        except FileNotFoundError:
            raise ValueError(f"there is no file {self.path}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = "it does not say which games" if isinstance(error, KeyError) else error
            raise damaged(self.path, WHAT, problem) from error

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    @property
    def groups(self) -> int:
        """Number of row groups, which are read and replayed one at a time."""
        return int(self._file.num_row_groups)

    def samples(
        self, groups: Sequence[int] | None = None, *, states: bool = False, history: int = 0
    ) -> Iterator[Samples]:
        """All decisions, or those of some row groups, a group at a time; with the true states, or the last T events."""
        for group in range(self.groups) if groups is None else groups:
            table, replayed = self.replayed(group, states=states, history=history)
            samples = replayed.samples
            seating = np.array(table["seating"].to_pylist())
            values = table["values"].combine_chunks().flatten().to_numpy()
            before = sum(self._file.metadata.row_group(one).num_rows for one in range(group))
            yield samples._replace(
                games=samples.games + before,
                policies=seating[samples.games, samples.seats],
                values=values if len(values) == len(samples.seats) else None,
            )

    def replayed(self, group: int, **more: Any) -> tuple[pa.Table, Replayed]:
        """A row group and its games, see `replay`; raises `ValueError` if they are not what was recorded."""
        try:
            table = self._file.read_row_group(group)
            columns = {name: table[name].combine_chunks() for name in ("moves", "seating")}
            edges, moves = columns["moves"].offsets.to_numpy(), columns["moves"].flatten().to_numpy()
            seating = np.array(columns["seating"].to_pylist(), np.int64)
            if seating.shape != (len(table), self.variant.players) or seating.max() >= len(self.policies):
                raise ValueError("it has seatings that cannot be")
            replayed = replay(self.variant, table["seed"].to_pylist(), moves, edges - edges[0], **more)
            if not np.array_equal(np.array(table["returns"].to_pylist(), np.float32), replayed.totals):
                raise ValueError("its games end otherwise by the rules of this version")
        except (OSError, ValueError) as error:
            raise damaged(self.path, WHAT, error) from error
        return table, replayed
