"""Tournaments on duplicate deals: every deal is replayed until each player has had every side's cards.

A *seating* names the player of each side (a team is one side). Every deal is played with all seatings of at least two
different players, or of one player against copies of another, with the same luck for the game and for the players' own
random choices, so that identical players get exactly equal results. Deal d is a function of purpose, seed and d alone:
an interrupted tournament ends up the same.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import numpy as np
from monsterzoo.envs.core.options import LARGEST_SEED, MOST_THREADS, Checked, Integer, Number, checked
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.compiled_policies import Uniform
from monsterzoo.envs.match.loop import Queue
from monsterzoo.envs.match.match import Caller, exclusive, play_listed
from monsterzoo.envs.match.players import check_player, compiled_form
from monsterzoo.policies import Policy, heuristics

from ..runs.files import damaged, replacing
from ..runs.interrupts import DeferredInterrupt
from . import ratings
from .payoffs import payoffs
from .seeds import Purpose, generators

SAVE_SECONDS, TICK_SECONDS = 10.0, 0.5
USUAL_GAMES = 1000
MOST_GAMES = 10_000_000
Progress = Callable[["Tournament"], None]
Spread = Callable[["Tournament", np.ndarray, Callable[[], None]], None]
"""Plays listed games (deal, seating) elsewhere, hands them to `Tournament.take`, and calls a function now and then."""


@dataclass(frozen=True)
class ArenaOptions(Checked):
    """Options of a tournament; each is also a flag of `monsterzoo arena`."""

    games: Annotated[int | None, "games to play in all, rounded up to whole deals", Integer(1, 1_000_000_000)] = None
    until_interval: Annotated[float | None, "stop when all win rates are known to ± this", Number(0, 1, True)] = None
    seed: Annotated[int, "random seed of deals and policies", Integer(0, LARGEST_SEED)] = 0
    batch: Annotated[int, "games at once where a policy is not compiled", Integer(1, 1 << 20)] = 64
    threads: Annotated[int, "threads for games between compiled policies", Integer(1, MOST_THREADS)] = 1


# --- The schedule ---


def all_seatings(players: int, sides: int) -> np.ndarray:
    """All seatings with at least two different players, (S, sides); rotations of each other are neighbours."""
    seatings = []
    for one in product(range(players), repeat=sides):
        rotations = [one[k:] + one[:k] for k in range(sides)]
        if len(set(one)) > 1 and one == min(rotations):
            seatings += list(dict.fromkeys(rotations))
    return np.array(seatings, np.int64)


def seatings_against(players: int, sides: int, opponents: Sequence[int]) -> np.ndarray:
    """All seatings of one player on one side and an opponent on all others, (S, sides)."""
    pairs = [(one, other) for other in opponents for one in range(players) if one != other]
    seatings = [np.where(np.arange(sides) == side, *pair) for pair in pairs for side in range(sides)]
    return np.unique(np.array(seatings, np.int64), axis=0)  # with two sides, either of two opponents is the one


@dataclass
class Tournament:
    """The games of a tournament and their results; `play` adds more.

    Args:
        variant: the game with its options.
        names: the players' names, all different.
        seed: of deals and policies.
        against: with some names, only tables at which one player has one side and one of these all others.
        purpose: whose deals these are, see `seeds`.
        lineups: (K, seats of a side), which policy has each seat of a player's side; None if player k is policy k.
    """

    variant: Variant
    names: list[str]
    seed: int = 0
    against: Sequence[str] = ()
    purpose: str = "choosing"
    lineups: np.ndarray | None = field(default=None, repr=False)
    shares: np.ndarray = field(init=False, repr=False)  # (deals, seatings, sides) every side's share of the win
    scores: np.ndarray = field(init=False, repr=False)  # (deals, seatings, sides) final scores
    done: np.ndarray = field(init=False, repr=False)  # (deals, seatings) whether a game was played

    def __post_init__(self) -> None:
        self.sides, self.caller = self.variant.sides, Caller()
        checked("seed", self.seed, Integer(0, LARGEST_SEED))
        checked("purpose", self.purpose, Purpose)
        if len(self.names) < 2:
            raise ValueError("a tournament needs at least two players")
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"players must have different names, not {self.names}")
        if unknown := set(self.against) - set(self.names):
            raise ValueError(f"against={unknown.pop()!r} is none of the players {self.names}")
        if self.against:
            self.seatings = seatings_against(len(self.names), self.sides, [*map(self.names.index, self.against)])
        else:
            self.seatings = all_seatings(len(self.names), self.sides)
        if self.lineups is None:
            self.lineups = np.arange(len(self.names))[:, None].repeat(self.variant.players // self.sides, axis=1)
        shape = (0, *self.seatings.shape)
        self.shares, self.scores, self.done = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2], np.bool_)

    @property
    def games(self) -> int:
        """Games played so far."""
        return int(self.done.sum())

    def whole_deals(self, games: int) -> int:
        """The number of deals that has at least so many games."""
        return -(-games // len(self.seatings))

    def _make_room(self, deals: int) -> None:
        missing = deals - len(self.done)
        if missing > 0:
            for name in ("shares", "scores", "done"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros((missing, *old.shape[1:]), old.dtype)]))

    # --- Playing ---

    @exclusive
    def play(
        self,
        policies: Sequence[Policy],
        games: int,
        *,
        until_interval: float | None = None,
        batch: int = 64,
        threads: int = 1,
        progress: Progress | None = None,
        save: Path | None = None,
        spread: Spread | None = None,
    ) -> None:
        """Play until there are `games` games, or all win rates are known to within ± `until_interval`.

        Games already played are kept; an interrupted call loses only unfinished games. SIGINT and SIGTERM raise
        `Interrupted` at the next moment at which results are complete. Raises `ValueError` for numbers not allowed, and
        `RuntimeError` while another thread plays this tournament.

        Args:
            policies: in the order of `names`, or as `lineups` number them.
            games: rounded up to whole deals.
            until_interval: half-width at which to stop; looked at after every few deals.
            batch: games at once, where some policy is not compiled.
            threads: for games between compiled policies.
            progress: called now and then.
            save: file of the results, written now and then, and whenever the call ends.
            spread: plays the games elsewhere, see `distributed.arena`; the results are the same.
        """
        ArenaOptions(games, until_interval, self.seed, batch, threads)
        for policy in policies:
            check_player(policy, self.variant)
        all_compiled = all(compiled_form(policy) is not None for policy in policies)
        last = self.whole_deals(games)
        self._make_room(last)
        step_deals = self.whole_deals(4096 if all_compiled else 4 * batch)
        if until_interval is None and (spread is not None or not all_compiled):
            step_deals = max(last, 1)
        saved, signals = monotonic(), DeferredInterrupt()

        def tick() -> None:
            nonlocal saved
            if progress is not None:
                progress(self)
            if save is not None and monotonic() - saved > SAVE_SECONDS:
                self.save(save)
                saved = monotonic()
            signals.check()

        with signals:
            try:
                for begin in range(0, last, step_deals):
                    if until_interval is not None and begin and self.precision(begin) <= until_interval:
                        break
                    open_games = np.argwhere(~self.done[begin : min(begin + step_deals, last)])
                    open_games[:, 0] += begin
                    if not len(open_games):
                        continue
                    if spread is not None:
                        spread(self, open_games, tick)
                    else:
                        self.play_listed(policies, open_games, batch, threads, tick)
                    tick()
            finally:
                if save is not None:
                    self.save(save)

    @exclusive
    def play_listed(
        self,
        policies: Sequence[Policy],
        games: np.ndarray,
        batch: int = 64,
        threads: int = 1,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        """Play the listed games, rows (deal, seating), whatever else was played; see `play`."""
        if not len(games):
            return
        self._make_room(int(games[:, 0].max()) + 1)
        seats, lineups = np.arange(self.variant.players), np.asarray(self.lineups)
        usual = (heuristics.Heuristic(), Uniform()) if heuristics.has_heuristic(self.variant) else (Uniform(),)
        ticked, running = monotonic(), list[Queue]()

        def take_finished() -> None:
            for queue in running:
                self.take(games[queue.done], queue.shares[queue.done], queue.scores[queue.done])

        def on_round(queue: Queue) -> None:
            nonlocal ticked
            running[:] = [queue]
            if monotonic() - ticked > TICK_SECONDS:
                take_finished()
                tick()
                ticked = monotonic()

        try:
            queue = play_listed(
                self.variant,
                policies,
                lineups[self.seatings[games[:, 1]][:, seats % self.sides], seats // self.sides],
                generators(self.purpose, self.seed, games[:, 0], "game"),
                generators(self.purpose, self.seed, games[:, 0], "policies"),
                batch=batch,
                threads=threads,
                known=usual,  # the usual two are compiled together, once
                on_round=on_round,
            )
        finally:
            take_finished()  # also when a policy fails
        self.take(games, queue.shares, queue.scores)

    def take(self, games: np.ndarray, shares: np.ndarray, scores: np.ndarray) -> None:
        """Take over results of listed games, (G, sides) each."""
        deals, seatings = games.T
        self.shares[deals, seatings], self.scores[deals, seatings] = shares, scores
        self.done[deals, seatings] = True

    def precision(self, deals: int) -> float:
        """Half of the players' widest interval of a win rate, after the first `deals` deals."""
        _, intervals = ratings.win_rates(*self.by_player(self.shares[:deals], self.done[:deals]))
        return float(np.ptp(intervals, axis=1).max()) / 2

    # --- Results ---

    def by_player(self, values: np.ndarray, done: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of values (D, S, sides) and sides played, both (D, K), of the games `done` (D, S)."""
        member = ratings.membership(self.seatings, len(self.names))
        return np.einsum("dsn,snk->dk", values * done[:, :, None], member), done @ member.sum(axis=1)

    def _about(self) -> dict[str, Any]:
        about = {"game": self.variant.game.name, "options": self.variant.options, "seed": self.seed}
        return {**about, "purpose": self.purpose, "against": list(self.against)}

    def result(self) -> dict[str, Any]:
        """Everything as a JSON-able dict: per player, in pairs, and what was played."""
        played = self.done.any(axis=1)
        shares, done = self.shares[played], self.done[played]
        won, sides = self.by_player(shares, done)
        scored, _ = self.by_player(self.scores[played], done)
        zero = self.against[0] if len(self.against) == 1 else "random"
        anchor = self.names.index(zero) if zero in self.names else None
        columns = {
            "win_rate": ratings.win_rates(won, sides),
            "mean_score": ratings.means(scored, sides),
            "rating": ratings.ratings(self.seatings, shares, done, len(self.names), anchor),
        }
        players: list[dict[str, Any]] = []
        for k, name in enumerate(self.names):
            games = int(done[:, (self.seatings == k).any(axis=1)].sum())
            players.append({"name": name, "games": games})
            for column, (values, intervals) in columns.items():
                players[k] |= {column: float(values[k]), f"{column}_interval": ends(intervals[k])}
        return {
            **self._about(),
            "games": self.games,
            "deals": len(done),
            "sides": self.sides,
            "chance_level": 1 / self.sides,
            "players": players,
            "pairs": (pairs := self._pairs(shares, done)),
            "payoffs": payoffs(self.names, pairs),
        }

    def _pairs(self, shares: np.ndarray, done: np.ndarray) -> list[dict[str, Any]]:
        """Each player's win rate at the tables where another one sits too; with `against`, on one side alone."""
        pairs = []
        for one, other in permutations(range(len(self.names)), 2):
            copies, most = (self.seatings == one).sum(axis=1), 1 if self.against else self.sides
            both = (copies > 0) & (copies <= most) & (self.seatings == other).any(axis=1)
            if both.any():
                won, sides = self.by_player(shares, done & both)
                (rate,), (interval,) = ratings.win_rates(won[:, [one]], sides[:, [one]])
                who = {"player": self.names[one], "against": self.names[other]}
                pairs.append({**who, "win_rate": float(rate), "interval": ends(interval)})
        return pairs

    # --- Files ---

    def _identity(self) -> dict[str, Any]:
        own = {"observation": self.variant.layout.signature, "players": self.names}
        return {**self._about(), **own, "lineups": np.asarray(self.lineups).tolist()}

    def save(self, path: Path) -> None:
        """Write all results so that `load` can go on from them; an old file is replaced in one step."""
        with replacing(path) as part, part.open("wb") as file:
            identity = np.array(json.dumps(self._identity()))
            np.savez_compressed(file, identity=identity, shares=self.shares, scores=self.scores, done=self.done)

    def load(self, path: Path) -> None:
        """Take over the results in a file; raises `ValueError` if it is damaged or of another tournament."""
        what = "a file of tournament results"
        try:
            with np.load(path, allow_pickle=False) as data:  # as data: nothing in it is run
                identity = json.loads(str(data["identity"]))
                shares, scores, done = (data[name] for name in ("shares", "scores", "done"))
        except Exception as error:  # whatever a reader of archives stumbles over
            raise damaged(path, what, error) from error
        if not isinstance(identity, dict):
            raise damaged(path, what, "it does not say what was played")
        for key, value in json.loads(json.dumps(self._identity())).items():
            if identity.get(key) != value:
                raise ValueError(f"{path} is of another tournament: {key} is {identity.get(key)!r}, not {value!r}")
        shape = (len(done) if done.ndim else 0, *self.seatings.shape)
        for name, values in {"done": done, "shares": shares, "scores": scores}.items():
            kind, wanted = (np.bool_, shape[:2]) if name == "done" else (np.float64, shape)
            if values.dtype != kind or values.shape != wanted:
                raise damaged(path, what, f"{name} is {values.dtype} {values.shape}")
        if not (np.isfinite(scores).all() and ((shares >= 0) & (shares <= 1)).all()):
            raise damaged(path, what, "it has results that no game has")
        self.shares, self.scores, self.done = shares, scores, done


def ends(interval: np.ndarray) -> list[float | None]:
    """An interval (2,) for JSON; None for an end that is not bounded."""
    return [float(end) if np.isfinite(end) else None for end in interval]
