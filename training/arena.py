"""Tournaments that cancel luck: every deal is replayed until each player has had every side's cards.

A *line-up* names the player of each side (a team is one side). All line-ups with at least two different players are
played in turn, one a deal, and every deal is played once for each rotation of its line-up, with the same luck for the
game and for the players' own random choices. Identical players therefore get exactly equal results.

Deal d is a function of the seed and d alone: a tournament can be interrupted and resumed, and ends up the same.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from monsterzoo.envs.core import kernels
from monsterzoo.envs.core.arrays import unowned
from monsterzoo.envs.core.bits import first, has, lowest, popcount
from monsterzoo.envs.core.contract import PLAYING, score, setup, step
from monsterzoo.envs.core.game import IllegalActionError, Table, find_game
from monsterzoo.envs.core.jit import compiled, kernel
from monsterzoo.envs.core.rng import env_seed, generator, streams
from monsterzoo.envs.core.seat_kernels import choose, choose_one, show_learner
from monsterzoo.envs.threads import Team
from monsterzoo.policies import Policy, make_for
from monsterzoo.policies.base import compiled_form

from .ratings import elo, fit_ratings, mean_with_interval

SAVE_SECONDS = 10.0
Progress = Callable[["Tournament"], None]


# --- Playing, compiled ---


@compiled
def write_result(state, shares, scores):
    """Every side's share of the win (all the same where nobody wins) and score."""
    sides = np.int64(state.sides)
    winners = np.uint64(state.winners) & first(sides)
    for side in range(sides):
        if winners == np.uint64(0):
            shares[side] = 1.0 / sides
        else:
            shares[side] = 1.0 / popcount(winners) if has(winners, side) else 0.0
        scores[side] = score(state, side)


@kernel
def play_games(
    tokens, template, players, luck, policy_luck, start, stop, shares, scores, states, streams, words, scratch
):  # fmt: skip
    """Play games start … stop - 1 between compiled policies.

    `players` (G, sides) says which token plays a side, `luck` and `policy_luck` (G,) start the generators.
    """
    players, shares, scores = unowned(players), unowned(shares), unowned(scores)
    words, scratch = unowned(words), unowned(scratch)
    sides = np.int64(template[0].sides)
    for game in range(start, stop):
        states[0] = template[0]
        state, stream = states[0], streams[0]
        state.rng = luck[game]
        stream.rng = policy_luck[game]
        setup(state)
        while state.outcome == PLAYING:
            seat = lowest(np.uint64(state.acting))
            who = players[game, seat % sides]
            step(state, seat, choose_one(tokens, who, state, seat, words, scratch, stream))
        write_result(state, shares[game], scores[game])


# --- Playing in batches, for policies that Python asks ---


@kernel
def show_games(states, seats, rows, masks, words, actions):
    """Write who decides in every game that is not over (else -1), with observation and mask."""
    rows, masks, words = unowned(rows), unowned(masks), unowned(words)
    for i in range(len(states)):
        seats[i] = -1
        if states[i].outcome == PLAYING:
            seats[i] = lowest(np.uint64(states[i].acting))
            show_learner(states[i], seats[i], rows[i], masks[i], words, actions)


@kernel
def choose_listed(policy, states, games, seats, streams, choices, words, scratch):
    """Let a compiled policy decide in the listed games, each with its own stream."""
    words, scratch = unowned(words), unowned(scratch)
    for i in games:
        choices[i] = choose(policy, states[i], seats[i], words, scratch, streams[i])


@kernel
def step_games(states, seats, choices):
    """Carry out one decision in every game that waits for one."""
    for i in range(len(states)):
        if seats[i] >= 0:
            step(states[i], seats[i], choices[i])


@kernel
def result_of(states, i, shares, scores):
    """Write the result of game i."""
    write_result(states[i], shares, scores)


# --- The schedule ---


def line_ups(players: int, sides: int) -> np.ndarray:
    """All line-ups with at least two different players, one of each set of rotations, (L, sides)."""
    kept = []
    for one in product(range(players), repeat=sides):
        rotations = [one[k:] + one[:k] for k in range(sides)]
        if len(set(one)) > 1 and one == min(rotations):
            kept.append(one)
    return np.array(kept, np.int64)


@dataclass
class Tournament:
    """The games of a tournament and their results; `play` adds more.

    Args:
        table: the game with its options.
        names: the players' names, all different.
        seed: starts all luck.
    """

    table: Table
    names: list[str]
    seed: int = 0
    shares: np.ndarray = field(init=False, repr=False)
    """(deals, rotations, sides) share of the win; rotation r lets player `lineup[(side + r) % sides]` play a side."""
    scores: np.ndarray = field(init=False, repr=False)
    """(deals, rotations, sides) final scores."""
    done: np.ndarray = field(init=False, repr=False)
    """(deals, rotations) whether a game was played."""

    def __post_init__(self) -> None:
        if len(self.names) < 2:
            raise ValueError("a tournament needs at least two players")
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"players must have different names, not {self.names}")
        self.line_ups = line_ups(len(self.names), self.sides)
        self._resize(0)

    @property
    def sides(self) -> int:
        """Sides of the game, and rotations of a deal."""
        return self.table.sides

    @property
    def games(self) -> int:
        """Games played so far."""
        return int(self.done.sum())

    def whole_deals(self, games: int) -> int:
        """The number of deals that has at least so many games and every line-up equally often."""
        deals = -(-games // self.sides)
        return -(-deals // len(self.line_ups)) * len(self.line_ups)

    def lineups_of(self, deals: np.ndarray) -> np.ndarray:
        """The line-up of each deal, (D, sides)."""
        return self.line_ups[deals % len(self.line_ups)]

    def _resize(self, deals: int) -> None:
        old = self.done if hasattr(self, "done") else None
        keep = 0 if old is None else len(old)
        if old is not None and deals <= keep:
            return
        shape = (deals, self.sides, self.sides)
        shares, scores, done = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2], np.bool_)
        if keep:
            shares[:keep], scores[:keep], done[:keep] = self.shares, self.scores, self.done
        self.shares, self.scores, self.done = shares, scores, done

    # --- Playing ---

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
    ) -> None:
        """Play until there are `games` games, or all win rates are known to within ± `until_interval`.

        Games already played are kept; an interrupted call loses only unfinished games. With `save` the results are
        written there now and then, and whenever the call ends.

        Args:
            policies: in the order of `names`.
            games: rounded up to whole deals with all line-ups equally often.
            until_interval: half-width at which to stop; looked at after every few deals.
            batch: games at once, where some policy is not compiled.
            threads: for games between compiled policies.
            progress: called now and then.
            save: file of the results.
        """
        tokens = tuple(compiled_form(policy) for policy in policies)
        all_compiled = all(token is not None for token in tokens)
        last = self.whole_deals(games)
        self._resize(last)
        step_deals = self.whole_deals(4096 if all_compiled else 4 * batch)
        if not all_compiled and until_interval is None:
            step_deals = max(last, 1)
        saved = monotonic()

        def tick() -> None:
            nonlocal saved
            if progress is not None:
                progress(self)
            if save is not None and monotonic() - saved > SAVE_SECONDS:
                self.save(save)
                saved = monotonic()

        try:
            for begin in range(0, last, step_deals):
                if until_interval is not None and begin and self.precision(begin) <= until_interval:
                    break
                open_games = np.argwhere(~self.done[begin : min(begin + step_deals, last)])
                open_games[:, 0] += begin
                if not len(open_games):
                    continue
                if all_compiled:
                    self._play_compiled(tokens, open_games, threads)
                else:
                    self._play_batch(policies, tokens, open_games, batch, tick)
                tick()
        finally:
            if save is not None:
                self.save(save)

    def precision(self, deals: int) -> float:
        """The widest half-width of the players' win rates after the first `deals` deals."""
        won, seats = self._by_player(self.shares[:deals], np.arange(deals))
        return float(mean_with_interval(won, seats)[1].max())

    def _luck(self, deals: np.ndarray, purpose: str) -> np.ndarray:
        known: dict[int, np.uint64] = {}
        for deal in deals.tolist():
            if deal not in known:
                known[deal] = generator(env_seed(self.seed, deal), purpose)
        return np.array([known[deal] for deal in deals.tolist()], np.uint64)

    def _players_of(self, games: np.ndarray) -> np.ndarray:
        """Which player has each side in games given as (deal, rotation), (G, sides)."""
        turned = (np.arange(self.sides) + games[:, 1:]) % self.sides
        return np.take_along_axis(self.lineups_of(games[:, 0]), turned, axis=1)

    def _play_compiled(self, tokens: tuple[Any, ...], games: np.ndarray, threads: int) -> None:
        table, count = self.table, len(games)
        players = self._players_of(games)
        luck, policy_luck = self._luck(games[:, 0], "game"), self._luck(games[:, 0], "policies")
        shares, scores = np.zeros((count, self.sides)), np.zeros((count, self.sides))

        def arguments(start: int, stop: int) -> tuple[Any, ...]:
            scratch = np.zeros(table.words, np.uint64), np.zeros(table.layout.size // 8, np.uint64)
            own = (table.new_states(1), streams(0, 1, "policies"), *scratch)
            return (tokens, table.template, players, luck, policy_luck, start, stop, shares, scores, *own)

        Team(min(threads, count)).run(play_games, count, arguments)
        deals, rotations = games.T
        self.shares[deals, rotations], self.scores[deals, rotations] = shares, scores
        self.done[deals, rotations] = True

    def _play_batch(
        self,
        policies: Sequence[Policy],
        tokens: tuple[Any, ...],
        games: np.ndarray,
        batch: int,
        tick: Callable[[], None],
    ) -> None:
        table, slots = self.table, min(batch, len(games))
        states, luck = table.new_states(slots), streams(0, slots, "policies")
        states["outcome"] = PLAYING + 1
        seats, choices = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
        rows = np.zeros((slots, table.layout.size), np.int8)
        masks = np.zeros((slots, 64 * table.words), np.int8)
        words, scratch = np.zeros(table.words, np.uint64), np.zeros(table.layout.size // 8, np.uint64)
        players = self._players_of(games)
        game_luck, policy_luck = self._luck(games[:, 0], "game"), self._luck(games[:, 0], "policies")
        running = np.full(slots, -1)  # the game in each slot
        waiting = iter(range(len(games)))
        ticked = monotonic()
        while True:
            for slot in range(slots):
                if states["outcome"][slot] == PLAYING:
                    continue
                if running[slot] >= 0:
                    deal, rotation = games[running[slot]]
                    result_of(states, slot, self.shares[deal, rotation], self.scores[deal, rotation])
                    self.done[deal, rotation] = True
                running[slot] = next(waiting, -1)
                if running[slot] >= 0:
                    states[slot] = table.template[0]
                    states["rng"][slot] = game_luck[running[slot]]
                    luck["rng"][slot] = policy_luck[running[slot]]
                    kernels.begin(states, slot)
            if (running < 0).all():
                return
            show_games(states, seats, rows.view(np.uint64), masks.view(np.uint64), words, table.num_actions)
            busy = np.flatnonzero((seats >= 0) & (running >= 0))
            seats[running < 0] = -1
            deciding = players[running[busy], seats[busy] % self.sides]
            for who in np.unique(deciding):
                asked = busy[deciding == who]
                if tokens[who] is not None:
                    choose_listed(tokens[who], states, asked, seats, luck, choices, words, scratch)
                else:
                    choices[asked] = policies[who].act(
                        rows[asked], masks[asked, : table.num_actions], seats[asked], states[asked]
                    )
                    self._check(policies[who], states, asked, seats, choices, masks)
            step_games(states, seats, choices)
            if monotonic() - ticked > 0.5:
                tick()
                ticked = monotonic()

    def _check(
        self,
        policy: Policy,
        states: np.ndarray,
        asked: np.ndarray,
        seats: np.ndarray,
        choices: np.ndarray,
        masks: np.ndarray,
    ) -> None:
        """Raise `IllegalActionError` if a policy chose what it may not."""
        wrong = kernels.first_illegal(choices[asked], masks[asked], self.table.num_actions)
        if wrong >= 0:
            slot = asked[wrong]
            error = self.table.refuse(states[slot], int(seats[slot]), int(choices[slot]))
            raise IllegalActionError(f"{policy.name}: {error}")

    # --- Results ---

    def _by_player(self, values: np.ndarray, deals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of values (D, rotations, sides) and sides played, both (D, K), of finished games."""
        sums, seats = np.zeros((len(deals), len(self.names))), np.zeros((len(deals), len(self.names)))
        lineups, rows = self.lineups_of(deals), np.arange(len(deals))
        for rotation in range(self.sides):
            done = self.done[deals, rotation]
            for side in range(self.sides):
                who = lineups[:, (side + rotation) % self.sides]
                np.add.at(sums, (rows, who), values[:, rotation, side] * done)
                np.add.at(seats, (rows, who), done)
        return sums, seats

    def result(self) -> dict[str, Any]:
        """Everything as a JSON-able dict: per player, in pairs, and what was played."""
        deals = np.flatnonzero(self.done.any(axis=1))
        won, seats = self._by_player(self.shares[deals], deals)
        scored, _ = self._by_player(self.scores[deals], deals)
        rates, rate_half = mean_with_interval(won, seats)
        means, mean_half = mean_with_interval(scored, seats)
        strengths, covariance = fit_ratings(
            self.lineups_of(deals), won, self.done[deals].sum(axis=1).astype(float), len(self.names)
        )
        anchor = self.names.index("random") if "random" in self.names else None
        ratings, rating_half = elo(strengths, covariance, anchor)
        players = [
            {
                "name": name,
                "games": int((seats[:, k] > 0) @ self.done[deals].sum(axis=1)),
                "win_rate": float(rates[k]),
                "win_rate_interval": _interval(rates[k], rate_half[k], 0, 1),
                "mean_score": float(means[k]),
                "mean_score_interval": _interval(means[k], mean_half[k]),
                "rating": float(ratings[k]),
                "rating_interval": _interval(ratings[k], rating_half[k]),
            }
            for k, name in enumerate(self.names)
        ]
        return {
            "game": self.table.game.name,
            "options": self.table.options,
            "seed": self.seed,
            "games": self.games,
            "deals": len(deals),
            "sides": self.sides,
            "even": 1 / self.sides,
            "players": players,
            "pairs": self._pairs(won, seats),
        }

    def _pairs(self, won: np.ndarray, seats: np.ndarray) -> list[dict[str, Any]]:
        """Each player's win rate in the games that another one plays too."""
        pairs = []
        for one in range(len(self.names)):
            for other in range(len(self.names)):
                both = (seats[:, one] > 0) & (seats[:, other] > 0)
                if one == other or not both.any():
                    continue
                rate, half = mean_with_interval(won[both][:, [one]], seats[both][:, [one]])
                pairs.append(
                    {
                        "player": self.names[one],
                        "against": self.names[other],
                        "win_rate": float(rate[0]),
                        "interval": _interval(rate[0], half[0], 0, 1),
                    }
                )
        return pairs

    # --- Files ---

    def _identity(self) -> dict[str, Any]:
        return {
            "game": self.table.game.name,
            "options": self.table.options,
            "observation": self.table.layout.signature,
            "players": self.names,
            "seed": self.seed,
        }

    def save(self, path: Path) -> None:
        """Write all results so that `load` can go on from them; an old file is replaced in one step."""
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(path.name + ".part")
        with open(scratch, "wb") as file:
            identity = np.array(json.dumps(self._identity()))
            np.savez_compressed(file, identity=identity, shares=self.shares, scores=self.scores, done=self.done)
        os.replace(scratch, path)

    def load(self, path: Path) -> None:
        """Take over the results in a file; raises `ValueError` if they are of another tournament."""
        with np.load(path, allow_pickle=False) as data:
            identity, own = json.loads(str(data["identity"])), json.loads(json.dumps(self._identity()))
            for key, value in own.items():
                if identity.get(key) != value:
                    raise ValueError(f"{path} is of another tournament: {key} is {identity.get(key)!r}, not {value!r}")
            self.shares, self.scores, self.done = data["shares"], data["scores"], data["done"]


def _interval(value: float, half: float, low: float = -np.inf, high: float = np.inf) -> list[float | None]:
    """The ends of an interval; None where they are not known."""
    if not np.isfinite(half):
        return [None, None]
    return [float(max(value - half, low)), float(min(value + half, high))]


def enter(table: Table, specs: Sequence[str | Policy], seed: int = 0) -> tuple[list[str], list[Policy]]:
    """Names (all different) and policies of the entrants, given as specs or policies."""
    policies = [make_for(table, one, seed) if isinstance(one, str) else one for one in specs]
    names: list[str] = []
    for policy in policies:
        copies = sum(name.partition("#")[0] == policy.name for name in names)
        names.append(policy.name if not copies else f"{policy.name}#{copies + 1}")
    return names, policies


def arena(
    game: str,
    policies: Sequence[str | Policy],
    games: int = 1000,
    *,
    seed: int = 0,
    until_interval: float | None = None,
    batch: int = 64,
    threads: int = 1,
    **options: Any,
) -> dict[str, Any]:
    """Play a tournament and return its result, see `Tournament.result`."""
    table = find_game(game).table(**options)
    names, players = enter(table, policies, seed)
    tournament = Tournament(table, names, seed)
    tournament.play(players, games, until_interval=until_interval, batch=batch, threads=threads)
    return tournament.result()
