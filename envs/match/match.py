"""Match: many games with a player or the caller on every seat, in one compiled loop.

A game is its start (a generator or a position), its seating and its moves; with a move log it can be recorded.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from ..compiling.threads import ParallelKernel
from ..compiling.work_queue import PARTS
from ..core.options import Integer, checked
from ..core.variant import IllegalActionError, Variant
from . import loop
from .batch import Batch, Log, play_batch
from .compiled_policies import distinct_tokens, fresh_token
from .decisions import Decisions
from .history import History, unrolled
from .loop import ACT, ANSWER, BEGIN, LEAVE, OUTSIDE, Endless, Mode, Queue
from .players import ask, compiled_form

_Method = TypeVar("_Method", bound=Callable[..., Any])


class Caller:
    """The lock of what one thread at a time may call, see `exclusive`; a copy has one of its own."""

    def __init__(self) -> None:
        self.lock = RLock()

    def __reduce__(self) -> Any:
        return Caller, ()


def exclusive(method: _Method) -> _Method:
    """Let one thread at a time call methods that share buffers; a second gets a `RuntimeError`, nothing has changed.

    For classes with a `caller`, which all that play on the same games share.
    """

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.caller.lock.acquire(blocking=False):
            raise RuntimeError(f"another thread is inside this {type(self).__name__}: one call at a time")
        try:
            return method(self, *args, **kwargs)
        finally:
            self.caller.lock.release()

    return call  # type: ignore[return-value]


def read_only(values: np.ndarray) -> np.ndarray:
    """A view of a buffer for users to read: compiled code trusts what is in it."""
    values = values.view()
    values.flags.writeable = False
    return values


class Match:
    """N games that `run` plays on, each until the caller must decide or, without outside seats, to the end.

    Set `orders` and `choices` (see `loop`), call `run`, read the arrays. Players that are not compiled are asked in
    between, each once per round for all games that wait for it. In a match without players all games get the same
    order, see `batch`.

    Args:
        players: who plays; seatings name them by number.
        seating: (N, players) or (players,): the number of a player or `OUTSIDE` for each seat. Raises `ValueError` for
            others.
        source: where games come from, `Endless` (default) or `Queue`.
        replace: whether a finished game is replaced in the same call.
        forfeit: whether an illegal outside action ends its game; otherwise `run` does nothing and names the game.
        log: length of the move log; 0 for none.
        history: T, how many events of each seat are kept, see `history`; 0 for none.
        known: tokens that are compiled together anyway, see `distinct_tokens`.
    """

    def __init__(
        self,
        variant: Variant,
        count: int,
        players: Sequence[Any] = (),
        seating: Any = OUTSIDE,
        *,
        source: Any = None,
        replace: bool = True,
        forfeit: bool = False,
        threads: int = 1,
        log: int = 0,
        history: int = 0,
        known: tuple[Any, ...] = (),
    ) -> None:
        log = checked("log", log, Integer(0))
        self.variant, self.players, self.source = variant, list(players), source or Endless(0)
        compiled = [k for k, player in enumerate(players) if compiled_form(player) is not None]
        which, self._tokens = distinct_tokens([compiled_form(players[k]) for k in compiled], known)
        self._asked = [k for k in range(len(players)) if k not in compiled]
        self._number = np.full(len(players) + 1, OUTSIDE, np.int8)  # of each player in the loop; the last is OUTSIDE
        self._number[compiled] = which
        self._number[self._asked] = len(self._tokens) + np.arange(len(self._asked))
        self._mode = Mode(variant.num_actions, bool(replace), bool(forfeit))
        self._threads = min(threads, count)
        self.caller = Caller()
        self._plain = not players and replace and not forfeit and source is None
        self.arrays = loop.new_arrays(variant, count, log)
        self.history = History.arrays(variant, count, history) if history else {}
        self._connect()
        self.seat(slice(None), seating)

    def _connect(self) -> None:
        """Name the arrays, and hand them to the threads."""
        self._views = self.variant.new_views()
        self.observations = self.arrays["rows"]
        self.action_masks = self.arrays["masks"][:, : self.variant.num_actions]
        self.seats = read_only(self.arrays["seats"])
        words = {name: self.arrays[name].view(np.uint64) for name in ("rows", "masks")}
        self._games = loop.Games(**{**self.arrays, **words})
        variant = self.variant
        scratch: list[tuple[Any, ...]]
        if self._plain:
            batch = Batch(**{name: getattr(self._games, name) for name in Batch._fields})
            log = Log(self.arrays["starts"], self.arrays["moves"]) if self.arrays["moves"].size else None
            arguments = (batch, variant.num_actions, self.arrays["orders"], log)
            scratch = [(variant.new_views(), self._new_history()) for _ in range(self._threads)]
            self._kernel = ParallelKernel(self._threads, play_batch, arguments, scratch)
            return
        scratch = [
            (
                tuple(map(fresh_token, self._tokens)),
                np.zeros(variant.players, np.float32),
                np.zeros(variant.words, np.uint64),
                variant.new_views(),
                self._new_history(),
            )
            for _ in range(self._threads)
        ]
        self._kernel = ParallelKernel(self._threads, loop.play_on, (self._games, self._mode, self.source), scratch)

    def _new_history(self) -> History | None:
        return History.with_scratch(self.variant, self.history) if self.history else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_games", "_kernel")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._connect()

    @property
    def threads(self) -> int:
        """Number of threads that share a call."""
        return self._kernel.size

    def seat(self, games: Any, seating: Any) -> None:
        """Say who plays some games: player numbers or `OUTSIDE`, (B, players) or for all of them (players,).

        Raises `ValueError` for another shape or an unknown player.
        """
        given = np.asarray(seating)
        target = self.arrays["seating"][games]
        if given.ndim and given.shape not in (target.shape, target.shape[1:]):
            raise ValueError(f"seating: expected the shape {target.shape} or {target.shape[1:]}, got {given.shape}")
        if given.dtype.kind not in "iu" or ((given < OUTSIDE) | (given >= len(self.players))).any():
            raise ValueError(f"seating: expected players 0 to {len(self.players) - 1} or {OUTSIDE}, got {given!r:.80}")
        self.arrays["seating"][games] = self._number[given]
        bits = (self.arrays["seating"] == OUTSIDE) << np.arange(self.variant.players)
        self.arrays["outside"][:] = bits.sum(axis=1)

    def numbers(self, seating: np.ndarray) -> np.ndarray:
        """A seating as the loop counts players, for a `Queue`."""
        return self._number[seating]

    def draw_from(self, source: Any) -> None:
        """Take games from another source."""
        self.source = source
        self._connect()

    @exclusive
    def run(self, on_round: Callable[[], None] | None = None) -> int:
        """Do what `orders` say; returns -1, or the first game whose choice is not legal: then nothing has happened.

        `on_round` is called after each round of asking players. Raises `IllegalActionError` naming a player that chose
        what it may not; games that others play are then in the middle of things.
        """
        wrong = int(self._kernel.run())
        while self._asked and wrong < 0:
            first = len(self._tokens)
            games = np.flatnonzero(self.arrays["waiting"] >= first)
            if not len(games):
                break
            for k, player in enumerate(self._asked):
                asked = games[self.arrays["waiting"][games] == first + k]
                if len(asked):
                    self.arrays["choices"][asked] = ask(self.players[player], self.decisions(asked))
            self.arrays["orders"][:] = LEAVE
            self.arrays["orders"][games] = ANSWER
            wrong = int(self._kernel.run())
            if on_round is not None:
                on_round()
        return wrong

    def act(self, choices: np.ndarray) -> None:
        """Carry out an outside action in every game, integers (N,), and play on.

        Raises `IllegalActionError`, and does nothing, for an illegal one, unless it forfeits the game.
        """
        self.arrays["choices"][:] = choices
        self.arrays["orders"].fill(ACT)
        wrong = self.run()
        if wrong >= 0:
            error = self.variant.refuse(self.arrays["states"][wrong], int(self.arrays["seats"][wrong]), choices[wrong])
            raise IllegalActionError(f"game {wrong}: {error}")

    def begin(self, games: np.ndarray) -> None:
        """Begin some games, bool (N,), as they are seated."""
        self.arrays["orders"][:] = np.where(games, BEGIN, LEAVE)
        self.run()

    def decisions(self, games: Any = slice(None)) -> Decisions:
        """The decisions that games wait for, as `Policy.act` takes them."""
        one = self.arrays
        return Decisions.unchecked(
            self.variant, one["rows"][games], self.action_masks[games], self.seats[games], one["states"][games]
        )

    def final_observations(self, games: np.ndarray, seats: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """What seats (B,) knew at the end of the last finished of some games (B,), int8 (B, n), written into `rows`."""
        rows = np.zeros((len(games), self.variant.layout.size), np.int8) if rows is None else rows[: len(games)]
        loop.observe_finals(self.arrays["finals"], games, seats, self._views, rows.view(np.uint64))
        return rows

    def final_histories(self, games: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """The histories of seats (B,) at the end of the last finished of some games (B,), int16 (B, T, 2)."""
        return unrolled(self.history["rings"][1, games, seats], self.history["counts"][1, games, seats])

    def logged(self, i: int, final: bool = False) -> list[tuple[int, int]]:
        """The moves (seat, action) of game i so far, or of the last finished one; raises `ValueError` without a log."""
        length = int(self.arrays["lengths"][int(final), i])
        room = self.arrays["moves"].shape[2]
        if not room or length > room:
            raise ValueError(f"game {i} has {length} moves and the log keeps {room}: ask for a longer one with log=")
        moves = self.arrays["moves"][int(final), i, :length].tolist()
        return [divmod(move, self.variant.num_actions) for move in moves]

    def record(self, i: int, final: bool = False, start: dict[str, Any] | None = None) -> dict[str, Any]:
        """Game i so far, or the last finished one, as `GameEnv.record` gives it; `start` replaces its generator."""
        start = {"generator": int(self.arrays["starts"][int(final), i])} if start is None else start
        return self.variant.record(start, self.logged(i, final))


def play_listed(
    variant: Variant,
    players: Sequence[Any],
    seating: np.ndarray,
    luck: np.ndarray,
    policy_luck: np.ndarray,
    *,
    batch: int = 64,
    threads: int = 1,
    known: tuple[Any, ...] = (),
    on_round: Callable[[Queue], None] = lambda queue: None,
) -> Queue:
    """Play G listed games to their ends; the results are in the returned queue.

    `seating` (G, players) says which of the `players` has each seat; `luck` and `policy_luck` (G,) uint64 are the
    generators of the games and of compiled policies. Where some player is not compiled, `batch` games are played at
    once. `on_round` is called with the queue after each round of asking players; for `known` see `Match`.
    """
    all_compiled = all(compiled_form(player) is not None for player in players)
    slots = PARTS * threads if all_compiled else batch
    match, queue = listed_match(variant, players, seating, luck, policy_luck, slots, threads, known=known)
    match.run(lambda: on_round(queue))
    return queue


def listed_match(
    variant: Variant, players: Sequence[Any], seating: np.ndarray, luck: np.ndarray, policy_luck: np.ndarray,
    slots: int, threads: int = 1, **more: Any,
) -> tuple[Match, Queue]:  # fmt: skip
    """A match that is ready to play listed games, at most `slots` at once, and their queue; see `play_listed`."""
    count, sides = len(luck), variant.sides
    slots = min(slots, count)
    match = Match(variant, slots, players, 0, threads=threads, **more)
    results = np.zeros((count, sides)), np.zeros((count, sides)), np.zeros(count, np.bool_)
    seats = np.full((count, variant.players), 0) + seating
    queue = Queue(variant.template, luck, policy_luck, match.numbers(seats), np.arange(slots) - slots, *results)
    match.draw_from(queue)
    match.arrays["orders"][:] = BEGIN
    return match, queue
