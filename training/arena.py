"""Tournaments between policies: `arena("pikit_v0", ["heuristic", "search:200"], players=2)`."""

from collections.abc import Sequence
from typing import Any

from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.seating import distinct_names, make_players
from monsterzoo.policies import Policy

from .evaluation.tournament import ArenaOptions, Tournament

<<<<<<< HEAD
__all__ = ["ArenaOptions", "Tournament", "arena", "enter"]
=======
SAVE_SECONDS = 10.0
USUAL_GAMES = 1000
MOST_GAMES = 10_000_000
Progress = Callable[["Tournament"], None]
Spread = Callable[["Tournament", np.ndarray, Callable[[], None]], None]
"""Plays listed games (deal, seating) elsewhere, hands them to `Tournament.take`, and calls a function now and then."""


@dataclass(frozen=True)
class ArenaOptions(Checked):
    """Options of a tournament; each is also a flag of `monsterzoo arena`."""

    games: Annotated[int | None, "games to play in all, rounded up to whole deals", Whole(1, 1_000_000_000)] = None
    until_interval: Annotated[
        float | None, "stop when all win rates are known to within ± this", Number(0, 1, above=True)
    ] = None
    seed: Annotated[int, "of all luck", Whole(0, LARGEST_SEED)] = 0
    batch: Annotated[int, "games at once where a policy is not compiled", Whole(1, 1 << 20)] = 64
    threads: Annotated[int, "threads for games between compiled policies", Whole(1, MOST_THREADS)] = 1

    @property
    def most_games(self) -> int:
        """How many games to play if none of the intervals ends the tournament before."""
        return self.games or (USUAL_GAMES if self.until_interval is None else MOST_GAMES)


# --- Playing, compiled ---


@compiled
def write_result(state, shares, scores):
    """Every side's share of the win, and its score."""
    for side in range(np.int64(state.sides)):
        shares[side] = share_of_win(state, side)
        scores[side] = score(state, side)


@kernel
def play_games(
    tokens, template, players, luck, policy_luck, start, stop, shares, scores, states, streams, words, views
):  # fmt: skip
    """Play games start … stop - 1 between compiled policies.

    `players` (G, sides) says which token plays a side, `luck` and `policy_luck` (G,) start the generators.
    """
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
            step(state, seat, choose_one(tokens, who, state, seat, words, views, stream))
        write_result(state, shares[game], scores[game])


# --- Playing in batches, for policies that Python asks ---


@kernel
def show_games(states, seats, rows, masks, words, views, actions):
    """Write who decides in every game that is not over (else -1), with observation and mask."""
    for i in range(len(states)):
        seats[i] = -1
        if states[i].outcome == PLAYING:
            seats[i] = lowest(np.uint64(states[i].acting))
            show(states[i], seats[i], views[0], rows[i], words, masks[i], actions)


@kernel
def choose_listed(policy, states, games, seats, streams, choices, words, views):
    """Let a compiled policy decide in the listed games, each with its own stream."""
    for i in games:
        choices[i] = choose(policy, states[i], seats[i], words, views, streams[i])


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


def all_seatings(players: int, sides: int) -> np.ndarray:
    """All seatings with at least two different players, (S, sides); rotations of each other are neighbours."""
    seatings = []
    for one in product(range(players), repeat=sides):
        rotations = [one[k:] + one[:k] for k in range(sides)]
        if len(set(one)) > 1 and one == min(rotations):
            seatings += list(dict.fromkeys(rotations))
    return np.array(seatings, np.int64)


@dataclass
class Tournament:
    """The games of a tournament and their results; `play` adds more.

    Args:
        variant: the game with its options.
        names: the players' names, all different.
        seed: starts all luck.
        alone: a player who has one side at every table, while the others share the rest; None for all seatings.
    """

    variant: Variant
    names: list[str]
    seed: int = 0
    alone: str | None = None
    shares: np.ndarray = field(init=False, repr=False)
    """(deals, seatings, sides) every side's share of the win."""
    scores: np.ndarray = field(init=False, repr=False)
    """(deals, seatings, sides) final scores."""
    done: np.ndarray = field(init=False, repr=False)
    """(deals, seatings) whether a game was played."""

    def __post_init__(self) -> None:
        settings.checked(ArenaOptions, "seed", self.seed)
        if len(self.names) < 2:
            raise ValueError("a tournament needs at least two players")
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"players must have different names, not {self.names}")
        self.seatings = all_seatings(len(self.names), self.sides)
        if self.alone is not None:
            if self.alone not in self.names:
                raise ValueError(f"alone={self.alone!r} is none of the players {self.names}")
            self.seatings = self.seatings[(self.seatings == self.names.index(self.alone)).sum(axis=1) == 1]
        self._resize(0)

    @property
    def sides(self) -> int:
        """Sides of the game."""
        return self.variant.sides

    @property
    def games(self) -> int:
        """Games played so far."""
        return int(self.done.sum())

    def whole_deals(self, games: int) -> int:
        """The number of deals that has at least so many games."""
        return -(-games // len(self.seatings))

    def _resize(self, deals: int) -> None:
        old = self.done if hasattr(self, "done") else None
        keep = 0 if old is None else len(old)
        if old is not None and deals <= keep:
            return
        shape = (deals, *self.seatings.shape)
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
        spread: Spread | None = None,
    ) -> None:
        """Play until there are `games` games, or all win rates are known to within ± `until_interval`.

        Games already played are kept; an interrupted call loses only unfinished games. With `save` the results are
        written there now and then, and whenever the call ends. SIGINT and SIGTERM raise `Interrupted` at the next
        moment at which results are complete. Raises `ValueError` for numbers that are not allowed.

        Args:
            policies: in the order of `names`.
            games: rounded up to whole deals.
            until_interval: half-width at which to stop; looked at after every few deals.
            batch: games at once, where some policy is not compiled.
            threads: for games between compiled policies.
            progress: called now and then.
            save: file of the results.
            spread: plays the games elsewhere, see `ray_arena`; the results are the same.
        """
        ArenaOptions(games, until_interval, self.seed, batch, threads)
        for policy in policies:
            check_player(policy, self.variant)
        all_compiled = all(compiled_form(policy) is not None for policy in policies)
        last = self.whole_deals(games)
        self._resize(last)
        step_deals = self.whole_deals(4096 if all_compiled else 4 * batch)
        if until_interval is None and (spread is not None or not all_compiled):
            step_deals = max(last, 1)
        saved, signals = monotonic(), Patient()

        def tick() -> None:
            nonlocal saved
            if progress is not None:
                progress(self)
            if save is not None and monotonic() - saved > SAVE_SECONDS:
                self.save(save)
                saved = monotonic()
            signals.check()

        with signals, self._saved_at_the_end(save):
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

    def play_listed(
        self,
        policies: Sequence[Policy],
        games: np.ndarray,
        batch: int = 64,
        threads: int = 1,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        """Play the listed games, rows (deal, seating), whatever else was played; see `play`."""
        self._resize(int(games[:, 0].max(initial=-1)) + 1)
        tokens = tuple(compiled_form(policy) for policy in policies)
        if all(token is not None for token in tokens):
            self._play_compiled(tokens, games, threads)
        else:
            self._play_batch(policies, tokens, games, batch, tick)

    def take(self, games: np.ndarray, shares: np.ndarray, scores: np.ndarray) -> None:
        """Take over results of listed games, (G, sides) each."""
        deals, seatings = games.T
        self.shares[deals, seatings], self.scores[deals, seatings] = shares, scores
        self.done[deals, seatings] = True

    @contextmanager
    def _saved_at_the_end(self, path: Path | None) -> Iterator[None]:
        """Save the results when a block ends, also by an error."""
        try:
            yield
        finally:
            if path is not None:
                self.save(path)

    def precision(self, deals: int) -> float:
        """The widest half-width of the players' win rates after the first `deals` deals."""
        won, seats = self._by_player(self.shares[:deals], self.done[:deals])
        return float(mean_with_interval(won, seats)[1].max())

    def _luck(self, deals: np.ndarray, purpose: str) -> np.ndarray:
        known: dict[int, np.uint64] = {}
        for deal in deals.tolist():
            if deal not in known:
                known[deal] = generator(env_seed(self.seed, deal), purpose)
        return np.array([known[deal] for deal in deals.tolist()], np.uint64)

    def _play_compiled(self, tokens: tuple[Any, ...], games: np.ndarray, threads: int) -> None:
        variant, count = self.variant, len(games)
        usual = (heuristics.Heuristic(), Uniform()) if heuristics.has_heuristic(variant) else (Uniform(),)
        which, kinds = distinct_tokens(list(tokens), usual)  # the usual two together, to compile once
        players = np.array(which)[self.seatings[games[:, 1]]]
        luck, policy_luck = self._luck(games[:, 0], "game"), self._luck(games[:, 0], "policies")
        shares, scores = np.zeros((count, self.sides)), np.zeros((count, self.sides))

        def arguments(start: int, stop: int) -> tuple[Any, ...]:
            scratch = np.zeros(variant.words, np.uint64), variant.new_views()
            own = (variant.new_states(1), streams(0, 1, "policies"), *scratch)
            mine = tuple(map(fresh_token, kinds))
            return (mine, variant.template, players, luck, policy_luck, start, stop, shares, scores, *own)

        Team(min(threads, count)).run(play_games, count, arguments)
        self.take(games, shares, scores)

    def _play_batch(
        self,
        policies: Sequence[Policy],
        tokens: tuple[Any, ...],
        games: np.ndarray,
        batch: int,
        tick: Callable[[], None],
    ) -> None:
        variant, slots = self.variant, min(batch, len(games))
        states, luck = variant.new_states(slots), streams(0, slots, "policies")
        states["outcome"] = PLAYING + 1
        seats, choices = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
        rows = np.zeros((slots, variant.layout.size), np.int8)
        masks = np.zeros((slots, 64 * variant.words), np.int8)
        words, views = np.zeros(variant.words, np.uint64), variant.new_views()
        players = self.seatings[games[:, 1]]
        game_luck, policy_luck = self._luck(games[:, 0], "game"), self._luck(games[:, 0], "policies")
        running = np.full(slots, -1)  # the game in each slot
        waiting = iter(range(len(games)))
        ticked = monotonic()
        while True:
            for slot in range(slots):
                if states["outcome"][slot] == PLAYING:
                    continue
                if running[slot] >= 0:
                    deal, seating = games[running[slot]]
                    result_of(states, slot, self.shares[deal, seating], self.scores[deal, seating])
                    self.done[deal, seating] = True
                running[slot] = next(waiting, -1)
                if running[slot] >= 0:
                    states[slot] = variant.template[0]
                    states["rng"][slot] = game_luck[running[slot]]
                    luck["rng"][slot] = policy_luck[running[slot]]
                    kernels.begin(states, slot)
            if (running < 0).all():
                return
            show_games(states, seats, rows.view(np.uint64), masks.view(np.uint64), words, views, variant.num_actions)
            busy = np.flatnonzero((seats >= 0) & (running >= 0))
            seats[running < 0] = -1
            deciding = players[running[busy], seats[busy] % self.sides]
            for who in np.unique(deciding):
                asked = busy[deciding == who]
                if tokens[who] is not None:
                    choose_listed(tokens[who], states, asked, seats, luck, choices, words, views)
                else:
                    seen = rows[asked], masks[asked, : variant.num_actions], seats[asked], states[asked]
                    choices[asked] = ask(policies[who], Decisions.unchecked(variant, *seen))
            step_games(states, seats, choices)
            if monotonic() - ticked > 0.5:
                tick()
                ticked = monotonic()

    # --- Results ---

    def _by_player(self, values: np.ndarray, done: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of values (D, S, sides) and sides played, both (D, K), of the games `done` (D, S)."""
        member = membership(self.seatings, len(self.names))
        return np.einsum("dsn,snk->dk", values * done[:, :, None], member), done @ member.sum(axis=1)

    def result(self) -> dict[str, Any]:
        """Everything as a JSON-able dict: per player, in pairs, and what was played."""
        played = self.done.any(axis=1)
        shares, done = self.shares[played], self.done[played]
        won, seats = self._by_player(shares, done)
        scored, _ = self._by_player(self.scores[played], done)
        rates, rate_half = mean_with_interval(won, seats)
        means, mean_half = mean_with_interval(scored, seats)
        strengths, covariance = fit_ratings(self.seatings, shares, done, len(self.names))
        anchor = self.names.index("random") if "random" in self.names else None
        ratings, rating_half = elo(strengths, covariance, anchor)
        players = [
            {
                "name": name,
                "games": int(done[:, (self.seatings == k).any(axis=1)].sum()),
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
            "game": self.variant.game.name,
            "options": self.variant.options,
            "seed": self.seed,
            "games": self.games,
            "deals": len(done),
            "sides": self.sides,
            "even": 1 / self.sides,
            "players": players,
            "pairs": self._pairs(shares, done),
        }

    def _pairs(self, shares: np.ndarray, done: np.ndarray) -> list[dict[str, Any]]:
        """Each player's win rate at the tables where another one sits too."""
        pairs = []
        for one in range(len(self.names)):
            for other in range(len(self.names)):
                if one == other:
                    continue
                both = (self.seatings == one).any(axis=1) & (self.seatings == other).any(axis=1)
                won, seats = self._by_player(shares, done & both)
                rate, half = mean_with_interval(won[:, [one]], seats[:, [one]])
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
            "game": self.variant.game.name,
            "options": self.variant.options,
            "observation": self.variant.layout.signature,
            "players": self.names,
            "seed": self.seed,
            "alone": self.alone,
        }

    def save(self, path: Path) -> None:
        """Write all results so that `load` can go on from them; an old file is replaced in one step."""
        with replacing(path) as part, part.open("wb") as file:
            identity = np.array(json.dumps(self._identity()))
            np.savez_compressed(file, identity=identity, shares=self.shares, scores=self.scores, done=self.done)

    def load(self, path: Path) -> None:
        """Take over the results in a file; raises `ValueError` if it is damaged or of another tournament."""
        what = "a file of tournament results"
        data = read_arrays(path, what)
        try:
            identity = json.loads(str(data["identity"]))
            shares, scores, done = (data[name] for name in ("shares", "scores", "done"))
        except KeyError as error:
            raise damaged(path, what, f"it lacks {error}") from error
        except ValueError as error:
            raise damaged(path, what, error) from error
        if not isinstance(identity, dict):
            raise damaged(path, what, "it does not say what was played")
        for key, value in json.loads(json.dumps(self._identity())).items():
            if identity.get(key) != value:
                raise ValueError(f"{path} is of another tournament: {key} is {identity.get(key)!r}, not {value!r}")
        shape = (len(done) if done.ndim else 0, *self.seatings.shape)
        for name, values, kind, wanted in (
            ("done", done, np.bool_, shape[:2]), ("shares", shares, np.float64, shape),
            ("scores", scores, np.float64, shape),
        ):  # fmt: skip
            if values.dtype != kind or values.shape != wanted:
                raise damaged(path, what, f"{name} is {values.dtype} {values.shape}")
        if not (np.isfinite(scores).all() and ((shares >= 0) & (shares <= 1)).all()):
            raise damaged(path, what, "it has results that no game has")
        self.shares, self.scores, self.done = shares, scores, done


def _interval(value: float, half: float, low: float = -np.inf, high: float = np.inf) -> list[float | None]:
    """The ends of an interval; None where they are not known."""
    if not np.isfinite(half):
        return [None, None]
    return [float(max(value - half, low)), float(min(value + half, high))]
>>>>>>> decisions


def enter(variant: Variant, specs: Sequence[str | Policy], seed: int = 0) -> tuple[list[str], list[Policy]]:
    """Names (all different) and policies of the entrants, given as specs or policies."""
    policies = make_players(variant, specs, seed, shared=False)
    return distinct_names(specs, policies), policies


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
    ArenaOptions(games, until_interval, seed, batch, threads)  # raises ValueError for what is not allowed
    variant = find_game(game).variant(**options)
    names, players = enter(variant, policies, seed)
    tournament = Tournament(variant, names, seed)
    tournament.play(players, games, until_interval=until_interval, batch=batch, threads=threads)
    return tournament.result()
