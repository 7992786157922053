"""Any game as a Gymnasium environment for one seat; policies play the others. One game, or a compiled batch."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .core import seat_kernels
from .core.catalogue import find_game
from .core.contract import PLAYING
from .core.game import Game, IllegalActionError
from .core.options import UnexpectedOptionError, is_whole, whole
from .core.rng import check_seed, env_seed, generator, streams
from .core.seat_kernels import Uniform, fresh_token, mix_tokens
from .core.threads import Crew, check_counts
from .looking import stepped
from .match.decisions import Decisions, as_actions
from .match.players import ask, compiled_form
from .match.seating import seat_opponents
from .rendering import FPS, MODES, SIZE, Renderer
from .spaces import action_space, check_reset_options, fresh_seed, observation_space

AUTORESET = {mode.name.lower(): mode for mode in AutoresetMode}
"""How a finished game is followed by the next, by the names that `autoreset_mode` takes."""


class SeatVectorEnv(VectorEnv):
    """`num_envs` games; in each one seat is the learner's and the others are played by `opponents`.

    Observations are `{"observation": int8 (N, n), "action_mask": int8 (N, A)}` or the tensor alone; masks are also in
    the infos. Rewards add up from one decision of the learner to its next. An illegal action ends its game with -1.

    What becomes of a finished game is the `autoreset_mode`, a name or Gymnasium's `AutoresetMode`:

    - "same_step": the next game begins in the same step; the end of the last is in `final_obs` and `final_info`.
    - "next_step": the step returns how the game ended, the next step ignores the action and returns the next game.
    - "disabled": it stays as it ended until `reset(options={"reset_mask": …})`, and `step` refuses to go on.

    An opponent that chooses what it may not raises `IllegalActionError`, naming the policy and the action. The step (or
    reset) is then unfinished, as after any error or interruption inside a policy: `step` refuses to go on until `reset`
    has begun all games anew.

    Args:
        game: the game.
        num_envs: number of games.
        opponents: a policy's name or the policy itself, or one of either for each other seat (clockwise).
        seat: the learner's seat, or "rotate": game i starts with seat i, and each next game with the next seat.
        threads: number of threads that share a step (compiled opponents only).
        copy: whether returned arrays are copies; otherwise the next step overwrites them.
        observation: "dict", or "box" for the tensor without the mask.
        autoreset_mode: see above.
        options: the game's options.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        opponents: Any = "random",
        seat: int | str = "rotate",
        threads: int = 1,
        copy: bool = True,
        observation: str = "dict",
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        game = find_game(game) if isinstance(game, str) else game
        self.variant = variant = game.variant(**options)
        rotating = isinstance(seat, str) and seat == "rotate"
        if not rotating and not (is_whole(seat) and 0 <= int(seat) < variant.players):
            raise ValueError(
                f"{game.name}: seat={seat!r} is not allowed; allowed: 0 to {variant.players - 1} or 'rotate'"
            )
        if render_mode is not None:
            raise UnexpectedOptionError(
                f"{game.name}: render_mode={render_mode!r} is not allowed; allowed: None for batches"
            )
        num_envs, threads = check_counts(game.name, num_envs=num_envs, threads=threads)
        self.num_envs, self.render_mode, self.copy = num_envs, render_mode, copy
        self.autoreset_mode = _mode(game.name, autoreset_mode)
        self.policies = seat_opponents(variant, opponents)
        self.single_observation_space = observation_space(variant, observation)
        self.single_action_space = action_space(variant)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {**type(self).metadata, "name": game.name, "autoreset_mode": self.autoreset_mode}
        self._boxed, self._at_once = observation == "box", self.autoreset_mode is AutoresetMode.SAME_STEP
        self._turn = 1 if rotating else 0
        self._first_seats = np.arange(num_envs) % variant.players if rotating else np.full(num_envs, int(seat))
        self._compiled = _compiled(self.policies)

        self.states, self.final_states = variant.new_states(num_envs), variant.new_states(num_envs)
        self.learners = self._first_seats.astype(np.int64)
        self._observations = np.zeros((num_envs, variant.layout.size), np.int8)
        self._last = np.zeros((num_envs, variant.layout.size), np.int8)
        self._masks = np.zeros((num_envs, 64 * variant.words), np.int8)
        self._sets = np.zeros((num_envs, variant.words), np.uint64)  # the same as bit sets
        self._rewards = np.zeros(num_envs, np.float32)
        self._terminated, self._truncated, self._illegal = (np.zeros(num_envs, np.bool_) for _ in range(3))
        self._choices = np.zeros(num_envs, np.int64)
        self._orders = np.zeros(num_envs, np.uint8)  # what the next round of work does with each game
        self._everywhere = np.ones(num_envs, np.bool_)
        self._streams = streams(0, num_envs, "opponents")
        self._connect(min(threads, num_envs))
        self._seeds: list[int] | None = None
        self._ready = False  # whether every game waits for its learner, or is over
        self._singles: list[SeatOfBatch] = []

    # --- Gymnasium's interface ---

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin games; game i of seed s is the AEC environment seeded with `env_seed(s, i)`, or with `seed[i]`.

        All games begin, or with `options={"reset_mask": …}`, bool (N,), only those; the others stay where they are.
        Without a seed their generators go on, and with a rotating seat the games of a mask go on with the next seat.
        `options={"snapshot": …}` begins them in a position instead, one for all or a list with one a game (None for an
        ordinary start); the other seats play on to the learner's first decision, and into the next game if it has none.

        Seeds are from 0 to 2**64 - 1. Raises `ValueError`, and changes nothing, for other seeds, options and positions.
        """
        given = check_reset_options(options, "reset_mask", "snapshot")
        chosen = _reset_mask(given.get("reset_mask"), self.num_envs)
        if chosen is not None and not (chosen.all() or self._ready):
            raise ValueError("reset_mask: all games have to begin before some of them can begin again")
        seeds = self._read_seeds(seed)
        positions = self._positions(given.get("snapshot"), seeds)
        if isinstance(seed, int | np.integer):
            self._np_random, self._np_random_seed = np_random(int(seed))

        ready, self._ready = self._ready, False
        begun = self._everywhere if chosen is None else chosen
        if chosen is not None and seed is None and ready:
            self._pass_on(begun)
        else:
            self.learners[begun] = self._first_seats[begun]
        self._sow(seeds, begun)
        self._orders[:] = np.where(begun, seat_kernels.BEGIN, seat_kernels.LEAVE)
        for i in np.flatnonzero(begun):
            if positions[i] is not None:
                self.states[i : i + 1] = positions[i]
                self._orders[i] = seat_kernels.GO_ON
        self._run()
        observed = self._observed()
        return observed, self._info(observed)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Carry out the learners' actions, integers (N,).

        Raises `IllegalActionError`, and changes nothing, for what is not the number of an action.
        """
        if not self._ready:
            raise RuntimeError("there is no game to go on with: call reset(), also after a step that was broken off")
        choices = as_actions(actions, self.num_envs)
        self._choices[:] = choices
        if self._choices.view(np.uint64).max() >= self.variant.num_actions:  # or negative
            raise IllegalActionError(
                f"actions are 0 to {self.variant.num_actions - 1}, not {choices.min()} to {choices.max()}"
            )
        self._orders[:] = seat_kernels.CARRY_OUT
        if not self._at_once:
            self._follow_finished()
        self._run()
        observed = self._observed()
        infos = self._info(observed)
        done = self._terminated | self._truncated
        if not self._at_once:
            infos |= {"illegal": self._illegal.copy(), "_illegal": infos["_seat"]}
        elif done.any():
            infos.update(self._finals(done))
        outcome = (self._rewards, self._terminated, self._truncated)
        rewards, terminated, truncated = (values.copy() for values in outcome) if self.copy else outcome
        return observed, rewards, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """The learners' legal actions, bool (N, A)."""
        return self._masks[:, : self.variant.num_actions].astype(np.bool_)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What a method of each game returns, or an attribute of each, see `SeatOfBatch`."""
        values = (getattr(single, name) for single in self._each())
        return tuple(value(*args, **kwargs) if callable(value) else value for value in values)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each game, see `SeatOfBatch`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of each game: to one value a game, in a list or tuple, or to the same value.

        Raises `AttributeError` for what belongs to the whole batch.
        """
        several = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(several) != self.num_envs:
            raise ValueError(f"{self.num_envs} values are needed, one a game, not {len(several)}")
        for single, value in zip(self._each(), several, strict=True):
            setattr(single, name, value)

    def _each(self) -> list["SeatOfBatch"]:
        if not self._singles:
            self._singles = [SeatOfBatch(self, i) for i in range(self.num_envs)]
        return self._singles

    # --- Inside ---

    def _connect(self, threads: int) -> None:
        """Make the threads that step the games."""
        variant = self.variant
        self._scratch = [(np.zeros(variant.words, np.uint64), variant.new_views()) for _ in range(threads)]
        scratch = [(fresh_token(self._compiled), *own) for own in self._scratch]
        self._seats = seat_kernels.Seats(
            states=self.states,
            finals=self.final_states,
            learners=self.learners,
            choices=self._choices,
            rows=self._observations.view(np.uint64),
            sets=self._sets,
            masks=self._masks.view(np.uint64),
            last_rows=self._last.view(np.uint64),
            rewards=self._rewards,
            terminated=self._terminated,
            truncated=self._truncated,
            illegal=self._illegal,
            streams=self._streams,
            orders=self._orders,
        )
        arguments = (self._seats, self._turn, self._at_once, variant.num_actions)
        self._crew = Crew(threads, seat_kernels.step_seats, arguments, scratch)
        self._finals_in_place = self._final_observations(self._last[: 0 if self.copy else None])

    def __getstate__(self) -> dict[str, Any]:
        kept = {
            name: value for name, value in self.__dict__.items() if name not in ("_finals_in_place", "_seats")
        }  # views
        return {**kept, "_crew": self._crew.size}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._connect(kept["_crew"])

    def _read_seeds(self, seed: int | Sequence[int | None] | None) -> list[int] | None:
        """One seed a game; None where the generators go on."""
        if seed is None and self._seeds is not None:
            return None
        seed = seed.tolist() if isinstance(seed, np.ndarray) else seed
        if isinstance(seed, Sequence) and not isinstance(seed, str | bytes):
            if len(seed) != self.num_envs:
                raise ValueError(f"{self.num_envs} seeds are needed, not {len(seed)}")
            return [fresh_seed() if one is None else check_seed(one) for one in seed]
        base = fresh_seed() if seed is None else check_seed(seed)
        return [env_seed(base, i) for i in range(self.num_envs)]

    def _sow(self, seeds: list[int] | None, begun: np.ndarray) -> None:
        """Seed the generators of the games that begin."""
        if seeds is None:
            return
        kept = self._seeds or seeds
        self._seeds = [seeds[i] if begun[i] else kept[i] for i in range(self.num_envs)]
        games = np.flatnonzero(begun)
        self.states["rng"][games] = [generator(seeds[i]) for i in games]
        self._streams["rng"][games] = [generator(seeds[i], "opponents") for i in games]

    def _positions(self, snapshot: Any, seeds: list[int] | None) -> list[np.ndarray | None]:
        """A position to begin in for each game, or None."""
        if snapshot is None:
            return [None] * self.num_envs
        several = snapshot if isinstance(snapshot, list | tuple) else [snapshot] * self.num_envs
        if len(several) != self.num_envs:
            raise ValueError(f"snapshot: {self.num_envs} positions are needed, one a game, not {len(several)}")
        luck = seeds or [fresh_seed() for _ in several]
        return [None if one is None else self.variant.load(one, luck[i]) for i, one in enumerate(several)]

    def _pass_on(self, games: np.ndarray) -> None:
        """Give the learners of these games, bool (N,), the next seat."""
        self.learners[games] = (self.learners[games] + self._turn) % self.variant.players

    def _follow_finished(self) -> None:
        """Have a game begin where one is over; raises `RuntimeError` where that is for the user to say."""
        over = self.states["outcome"] != PLAYING
        if not over.any():
            return
        if self.autoreset_mode is AutoresetMode.DISABLED:
            raise RuntimeError(
                f"games {np.flatnonzero(over).tolist()} are over: begin others with "
                "reset(options={'reset_mask': …}) before the next step"
            )
        self._orders[over] = seat_kernels.BEGIN
        self._pass_on(over)

    def _run(self) -> None:
        """Do what is ordered."""
        if self._compiled is not None:
            self._crew.run()
        else:
            self._ready = False  # stays so if a policy fails: some games have then gone on and others have not
            self._run_in_pieces()
        self._ready = True

    def _run_in_pieces(self) -> None:
        seats, views = self._seats, self._scratch[0][1]
        seat_kernels.follow_all(seats)
        self._ask_others()
        seat_kernels.note_ends(seats, self._turn, self._at_once, views)
        # What the learner gains before its first decision belongs to no decision.
        rewards = np.where(self._orders == seat_kernels.CARRY_OUT, self._rewards, np.float32(0))
        while seat_kernels.replace_finished(seats, self._at_once):  # again where others alone finish a game
            self._ask_others()
        self._rewards[:] = rewards
        seat_kernels.show_learners(seats, self.variant.num_actions, views)

    def _ask_others(self) -> None:
        """Let the other seats' policies decide until every game waits for its learner or is over."""
        n, variant = self.num_envs, self.variant
        games, seats = np.zeros(n, np.int64), np.zeros(n, np.int64)
        rows, masks = np.zeros((n, variant.layout.size), np.int8), np.zeros((n, 64 * variant.words), np.int8)
        while True:
            shown = (rows.view(np.uint64), masks.view(np.uint64), *self._scratch[0], variant.num_actions)
            count = seat_kernels.find_others(self.states, self.learners, games, seats, *shown)
            if not count:
                return
            choices = np.zeros(count, np.int64)
            relative = (seats[:count] - self.learners[games[:count]]) % variant.players - 1
            for who, policy in enumerate(self.policies):
                asked = np.flatnonzero(relative == who)
                if len(asked):
                    mask, states = masks[asked, : variant.num_actions], self.states[games[asked]]
                    choices[asked] = ask(policy, Decisions.unchecked(variant, rows[asked], mask, seats[asked], states))
            seat_kernels.step_others(self.states, self.learners, games[:count], seats[:count], choices, self._rewards)

    def _observed(self) -> Any:
        masks = self._masks[:, : self.variant.num_actions]
        rows = self._observations
        if self.copy:
            rows, masks = rows.copy(), masks.copy()
        return rows if self._boxed else {"observation": rows, "action_mask": masks}

    def _info(self, observed: Any) -> dict[str, Any]:
        seats, everywhere = self.learners, self._everywhere
        masks = self._masks[:, : self.variant.num_actions] if self._boxed else observed["action_mask"]
        if self.copy:
            seats, everywhere = seats.copy(), everywhere.copy()
            masks = masks.copy() if self._boxed else masks
        return {"action_mask": masks, "_action_mask": everywhere, "seat": seats, "_seat": everywhere}

    def _finals(self, done: np.ndarray) -> dict[str, Any]:
        over = np.flatnonzero(done)
        observations = np.empty(self.num_envs, object)  # None where no game is over
        observations[over] = self._final_observations(self._last[over]) if self.copy else self._finals_in_place[over]
        info = {"illegal": self._illegal & done, "_illegal": done}
        return {"final_obs": observations, "_final_obs": done, "final_info": info, "_final_info": done}

    def _final_observations(self, rows: np.ndarray) -> np.ndarray:
        """An array of observations, of these rows (k, n) and masks that allow the no-op."""
        masks = np.zeros((len(rows), self.variant.num_actions), np.int8)
        masks[:, -1] = 1
        observations = np.empty(len(rows), object)
        for i, (row, mask) in enumerate(zip(rows, masks, strict=True)):
            observations[i] = row if self._boxed else {"observation": row, "action_mask": mask}
        return observations


class SeatOfBatch:
    """One game of a batch, as `call`, `get_attr` and `set_attr` of Gymnasium's vector environments see it."""

    def __init__(self, batch: SeatVectorEnv, index: int) -> None:
        self._batch, self._index = batch, index

    variant = property(lambda self: self._batch.variant)
    observation_space = property(lambda self: self._batch.single_observation_space)
    action_space = property(lambda self: self._batch.single_action_space)
    metadata = property(lambda self: self._batch.metadata)
    render_mode = property(lambda self: self._batch.render_mode)
    spec = property(lambda self: self._batch.spec)
    unwrapped = property(lambda self: self)

    @property
    def seat(self) -> int:
        """The learner's seat."""
        return int(self._batch.learners[self._index])

    @property
    def np_random_seed(self) -> int | None:
        """The seed of the game, None before the first reset."""
        seeds = self._batch._seeds
        return None if seeds is None else seeds[self._index]

    @property
    def np_random(self) -> np.random.Generator:
        """A fresh generator of that seed, for whoever wants one; the game's own luck is in its state."""
        return np.random.default_rng(self.np_random_seed)

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions, bool (A,)."""
        return self._batch._masks[self._index, : self.variant.num_actions].astype(np.bool_)

    def snapshot(self) -> dict[str, Any]:
        """The whole truth as a JSON-able dict of names."""
        return self.variant.snapshot(self._batch.states[self._index])


class SeatEnv(gymnasium.Env):
    """One game for one seat, see `SeatVectorEnv`; seeded with s it is the AEC environment seeded with s."""

    metadata: dict[str, Any] = {"render_modes": MODES, "render_fps": FPS}

    def __init__(
        self,
        game: Game | str,
        *,
        render_mode: str | None = None,
        view: str | None = None,
        render_size: tuple[int, int] = SIZE,
        **options: Any,
    ) -> None:
        if "autoreset_mode" in options:  # which the batch inside would take
            raise UnexpectedOptionError("autoreset_mode is for batches (unexpected keyword argument 'autoreset_mode')")
        self._games = SeatVectorEnv(game, 1, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.variant = self._games.variant
        self._renderer = Renderer(self.variant, render_mode, view, render_size)
        self.render_mode = render_mode
        self.observation_space = self._games.single_observation_space
        self.action_space = self._games.single_action_space
        self._over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game; with a rotating seat each game has the next one, a seed starts with seat 0.

        `options={"snapshot": …}` begins in a position, see `SeatVectorEnv.reset`. Raises `ValueError`, and changes
        nothing, for other options, impossible positions and seeds that are not from 0 to 2**64 - 1.
        """
        given = check_reset_options(options, "snapshot")
        if seed is None and self._over and self._games._ready:
            given["reset_mask"] = [True]  # the next game, with the next seat
        observed, _ = self._games.reset(seed=None if seed is None else [check_seed(seed)], options=given)
        super().reset(seed=None if seed is None else check_seed(seed))
        self._over = False
        self._renderer.forget()
        if self.render_mode == "human":
            self.render()
        return self._first(observed), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play on to its next decision."""
        if self._over:
            raise RuntimeError("the game is over; call reset()")
        number = action.reshape(()) if isinstance(action, np.ndarray) and action.size == 1 else action
        if not is_whole(number):
            raise IllegalActionError(f"an action is a whole number, not {action!r}")
        if not 0 <= whole(number) < self.variant.num_actions:
            raise self.variant.refuse(self._games.states[0], int(self._games.learners[0]), number)
        if self.render_mode is not None and self._games._masks[0, whole(number)]:
            self._remember(int(self._games.learners[0]), whole(number))
        observed, rewards, terminated, truncated, _ = self._games.step([whole(number)])
        self._over = bool(terminated[0] or truncated[0])
        if self.render_mode == "human":
            self.render()
        return self._first(observed), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), self._info()

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions, bool (A,), as MaskablePPO asks for them."""
        return self._games.action_masks()[0]

    def _remember(self, seat: int, action: int) -> None:
        """For pictures: the learner's action, carried out on a copy, and then whatever the others do."""
        self._renderer.remember(self._games.states, seat, action)
        self._renderer.remember(stepped(self.variant, self._games.states, seat, action), seat, None)

    def render(self) -> np.ndarray | str | None:
        """What the learner sees, or who `view` says: text, pixels, uint8 (height, width, 3), or a window.

        After the last step it is the finished game.
        """
        if self.render_mode is not None and self._games._seeds is None:
            raise RuntimeError("there is nothing to show before reset()")
        return self._renderer.render(self._games.states, int(self._games.learners[0]))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def _info(self) -> dict[str, Any]:
        masks, illegal = self._games._masks[0, : self.variant.num_actions], self._games._illegal[0]
        return {"action_mask": masks.copy(), "seat": int(self._games.learners[0]), "illegal": int(illegal)}

    @staticmethod
    def _first(observed: Any) -> Any:
        return {key: values[0] for key, values in observed.items()} if isinstance(observed, dict) else observed[0]


def _mode(name: str, mode: Any) -> AutoresetMode:
    """Gymnasium's autoreset mode by its name."""
    if isinstance(mode, AutoresetMode):
        return mode
    if not isinstance(mode, str) or mode not in AUTORESET:
        allowed = ", ".join(map(repr, AUTORESET))
        raise ValueError(f"{name}: autoreset_mode={mode!r} is not allowed; allowed: {allowed} or Gymnasium's enum")
    return AUTORESET[mode]


def _reset_mask(mask: Any, count: int) -> np.ndarray | None:
    """Which games begin, bool (count,), or None where it is not said."""
    if mask is None:
        return None
    chosen = np.asarray(mask)
    if chosen.shape != (count,) or chosen.dtype != np.bool_ or not chosen.any():
        raise ValueError(f"reset_mask: {count} truth values are needed, some of them true, not {mask!r:.80}")
    return chosen


def _compiled(policies: list[Any]) -> Any:
    """What plays all other seats inside the kernels, or None where some policy is not compiled."""
    tokens = [compiled_form(policy) for policy in policies]
    if any(token is None for token in tokens):
        return None
    return mix_tokens(tokens)


__all__ = ["AUTORESET", "SeatEnv", "SeatOfBatch", "SeatVectorEnv", "Uniform"]
