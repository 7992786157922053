"""Gymnasium environments for one seat of a game; policies play the others. One game, or a compiled batch."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..core import stepping
from ..core.contract import PLAYING
from ..core.game import Game
from ..core.options import Choice, Integer, UnexpectedOptionError, checked, is_whole, refusal
from ..core.registry import find_game
from ..core.rng import check_seed, env_seed, generator
from ..core.variant import IllegalActionError, read_action, read_actions
from ..match.loop import ACT, BEGIN, CONTINUE, LEAVE, Endless
from ..match.match import Match, exclusive, read_only
from ..match.seating import seat_opponents
from ..render.perspective import stepped
from ..render.renderer import FPS, MODES, SIZE, Renderer
from .pictures import DrawsItself
from .spaces import Columns, action_space, check_reset_options, fresh_seed, observation_space

LOG = 1 << 14
"""Moves that the log of a `SeatEnv` has room for, more than any game has."""
AUTORESET = {mode.name.lower(): mode for mode in AutoresetMode}
"""How a finished game is followed by the next, by the names that `autoreset_mode` takes."""


class SeatVectorEnv(VectorEnv):
    """`num_envs` games; in each, one seat is the learner's and `opponents` play the others.

    Observations are `{"observation": int8 (N, n), "action_mask": int8 (N, A)}` or the tensor alone; masks are also in
    the infos. Rewards add up from one decision of the learner to its next. An illegal action ends its game with -1.

    `autoreset_mode`, a name or Gymnasium's `AutoresetMode`, says what becomes of a finished game:

    - "next_step" (the default, as in Gymnasium's own environments; all of its vector wrappers work): the step returns
      how the game ended, with the no-op alone in the mask; the next step ignores the action and returns the next game.
    - "same_step": the next game begins in the same step, so every step is a decision; the end of the last one is in
      `final_obs` and `final_info`. Gymnasium's wrappers that change observations refuse it.
    - "disabled": it stays as it ended until `reset(options={"reset_mask": …})`, and `step` refuses to go on.

    An illegal action of an opponent raises `IllegalActionError`, naming the policy and the action. After this, as after
    any error inside a policy, `step` refuses to go on until `reset` has begun all games anew. A second thread that
    calls `step` or `reset` meanwhile gets a `RuntimeError`. `states` (N,) and `learners` (N,), the learners' seats, are
    read-only.

    Args:
        opponents: a policy's name or the policy itself, or one of either for each other seat (clockwise).
        seat: the learner's seat, or "rotate": game i starts with seat i, and each next game with the next seat.
        threads: number of threads that share a step (compiled opponents only).
        copy: whether returned arrays are copies; otherwise the next step overwrites them.
        observation: "dict", or "box" for the tensor without the mask.
        dtype: "int8" or "float32", of the tensor.
        scale: whether a float32 tensor is scaled to 0…1 by the ranges of the layout.
        autoreset_mode: see above.
        history: T, to observe the last T events too, see `observation_space`.
        log: length of the move log, which `record` needs.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

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
        dtype: Any = "int8",
        scale: bool = False,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        history: int | None = None,
        log: int = 0,
        **options: Any,
    ) -> None:
        game = find_game(game) if isinstance(game, str) else game
        self.variant = variant = game.variant(**options)
        rotating, players = isinstance(seat, str) and seat == "rotate", variant.players
        if not rotating and not (is_whole(seat) and 0 <= int(seat) < players):
            raise refusal(f"{game.name}: seat={seat!r}", f"0 to {players - 1} or 'rotate'")
        if render_mode is not None:
            raise UnexpectedOptionError(f"{game.name}: render_mode={render_mode!r} is not allowed; batches have None")
        threads = checked(f"{game.name}: threads", threads, Integer(1))
        self.num_envs = num_envs = checked(f"{game.name}: num_envs", num_envs, Integer(1))
        self.render_mode, self.copy = render_mode, copy
        if not isinstance(autoreset_mode, AutoresetMode):
            autoreset_mode = AUTORESET[checked(f"{game.name}: autoreset_mode", autoreset_mode, Choice(*AUTORESET))]
        self.autoreset_mode = autoreset_mode
        self.policies = seat_opponents(variant, opponents)
        self._tensor = Columns(variant, dtype, scale)
        self.single_observation_space = observation_space(variant, observation, history, self._tensor)
        self.single_action_space = action_space(variant)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {**type(self).metadata, "name": game.name, "autoreset_mode": self.autoreset_mode}
        self._boxed, self._at_once = observation == "box", self.autoreset_mode is AutoresetMode.SAME_STEP
        self._turn = 1 if rotating else 0
        self._first_seats = np.arange(num_envs) % players if rotating else np.full(num_envs, int(seat))
        self._everywhere, self._first_columns = np.ones(num_envs, np.bool_), players * np.arange(num_envs)
        self._match = Match(
            variant, num_envs, self.policies, source=Endless(self._turn), replace=self._at_once, forfeit=True,
            threads=threads, log=log, history=history or 0,
        )  # fmt: skip
        self._positions: list[np.ndarray | None] = [None] * num_envs  # in which games were begun
        self.seeded = False
        self._ready = False  # whether every game waits for its learner, or is over

    # The match's arrays.
    caller = property(lambda self: self._match.caller)
    learners = property(lambda self: self._match.seats)
    states = property(lambda self: read_only(self._match.arrays["states"]))
    final_states = property(lambda self: self._match.arrays["finals"])

    @cached_property
    def _reused(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Final observations, where what is overwritten anyway is not made anew.

        A step of 1,024 games against random players takes 8 % less.
        """
        if self.copy or self._match.history or self._tensor.floats:
            return None, None
        rows = np.zeros((self.num_envs, self.variant.layout.size), np.int8)
        return rows, self._separate(rows)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_reused"}

    # --- Gymnasium's interface ---

    @exclusive
    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin games; game i of seed s is the AEC environment seeded with `env_seed(s, i)`, or with `seed[i]`.

        All games begin, or with `options={"reset_mask": …}`, bool (N,), only those; the others stay where they are.
        Without a seed their generators go on, and with a rotating seat the games of a mask go on with the next seat.
        `options={"snapshot": …}` begins them in a position instead, one for all or a list with one a game (None for an
        ordinary start); the other seats play on to the learner's first decision, and into the next game if it has none.
        Raises `ValueError`, and changes nothing, for bad seeds (0 <= seed < 2**64), options and positions.
        """
        given = check_reset_options(options, "reset_mask", "snapshot")
        chosen = _reset_mask(given.get("reset_mask"), self.num_envs)
        if chosen is not None and not (chosen.all() or self._ready):
            raise ValueError("reset_mask: all games have to begin before some of them can begin again")
        seeds = self._read_seeds(seed)
        positions = self._load(given.get("snapshot"), seeds)
        if isinstance(seed, int | np.integer):
            self._np_random, self._np_random_seed = np_random(int(seed))

        ready, self._ready = self._ready, False
        begun = self._everywhere if chosen is None else chosen
        if chosen is not None and seed is None and ready:
            self._pass_on(begun)
        else:
            self._seat_learners(begun, self._first_seats)
        self._sow(seeds, begun)
        self._match.arrays["orders"][:] = np.where(begun, BEGIN, LEAVE)
        for i in np.flatnonzero(begun):
            if positions[i] is not None:
                self._match.arrays["states"][i : i + 1] = positions[i]
                self._match.arrays["orders"][i] = CONTINUE
            self._positions[i] = positions[i]
        self._run()
        return self._shown()

    @exclusive
    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Carry out the learners' actions, integers (N,).

        Raises `IllegalActionError`, and changes nothing, for what is not the number of an action.
        """
        if not self._ready:
            raise RuntimeError("there is no game to go on with: call reset(), also after a step that was broken off")
        one, choices = self._match.arrays, read_actions(actions, self.num_envs)
        one["choices"][:] = choices
        if one["choices"].view(np.uint64).max() >= self.variant.num_actions:  # negative numbers are large ones
            raise IllegalActionError(
                f"actions are 0 to {self.variant.num_actions - 1}, not {choices.min()} to {choices.max()}"
            )
        one["orders"].fill(ACT)
        if not self._at_once:
            self._follow_finished()
        played = one["seats"].copy()
        self._run()
        observed, infos = self._shown()
        done = one["terminated"] | one["truncated"]
        if not self._at_once:
            infos |= {"illegal": one["illegal"].copy(), "_illegal": infos["_seat"]}
        elif done.any():
            infos.update(self._finals(done, played))
        rewards = one["rewards"].ravel()[self._first_columns + played]
        outcome = (one["terminated"], one["truncated"])
        terminated, truncated = (values.copy() for values in outcome) if self.copy else outcome
        return observed, rewards, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """The learners' legal actions, bool (N, A)."""
        return self._match.action_masks.astype(np.bool_)

    # --- Inside ---

    def _read_seeds(self, seed: int | Sequence[int | None] | None) -> np.ndarray | None:
        """One seed a game, uint64 (N,); None where the generators go on."""
        if seed is None and self.seeded:
            return None
        seed = seed.tolist() if isinstance(seed, np.ndarray) else seed
        if isinstance(seed, Sequence) and not isinstance(seed, str | bytes):
            if len(seed) != self.num_envs:
                raise ValueError(f"{self.num_envs} seeds are needed, not {len(seed)}")
            return np.array([fresh_seed() if one is None else check_seed(one) for one in seed], np.uint64)
        base = fresh_seed() if seed is None else check_seed(seed)
        return env_seed(base, np.arange(self.num_envs))

    def _sow(self, seeds: np.ndarray | None, begun: np.ndarray) -> None:
        """Seed the generators of the games that begin."""
        if seeds is not None:
            self.seeded = True
            self._match.arrays["states"]["rng"][begun] = generator(seeds[begun])
            self._match.arrays["streams"]["rng"][begun] = generator(seeds[begun], "opponents")

    def _load(self, snapshot: Any, seeds: np.ndarray | None) -> list[np.ndarray | None]:
        """A position to begin in for each game, or None."""
        several = snapshot if isinstance(snapshot, list | tuple) else [snapshot] * self.num_envs
        if len(several) != self.num_envs:
            raise ValueError(f"snapshot: {self.num_envs} positions are needed, one a game, not {len(several)}")
        luck = [fresh_seed() for _ in several] if seeds is None else seeds.tolist()
        return [None if one is None else self.variant.load(one, seed) for one, seed in zip(several, luck)]

    def _seat_learners(self, games: np.ndarray, seats: np.ndarray) -> None:
        """Seat learners (N,) in these games, bool (N,), with the policies clockwise from them."""
        players = self.variant.players
        clockwise = (np.arange(players) - seats[games][:, None]) % players
        self._match.seat(games, clockwise - 1)  # the learner's own place becomes OUTSIDE
        self._match.arrays["seats"][games] = seats[games]

    def _pass_on(self, games: np.ndarray) -> None:
        """Give the learners of these games, bool (N,), the next seat."""
        self._seat_learners(games, (self.learners + self._turn) % self.variant.players)

    def _follow_finished(self) -> None:
        """Have a game begin where one is over; raises `RuntimeError` where that is for the user to say."""
        over = self._match.arrays["states"]["outcome"] != PLAYING
        if not over.any():
            return
        if self.autoreset_mode is AutoresetMode.DISABLED:
            raise RuntimeError(
                f"games {np.flatnonzero(over).tolist()} are over: begin others with "
                "reset(options={'reset_mask': …}) before the next step"
            )
        self._match.arrays["orders"][over] = BEGIN
        self._pass_on(over)

    def _run(self) -> None:
        """Do what is ordered."""
        self._ready = False  # stays so if a policy fails: some games have then gone on and others have not
        self._match.run()
        self._ready = True

    def _shown(self) -> tuple[Any, dict[str, Any]]:
        """Observations and infos."""
        kept = (self._match.observations, self._match.action_masks, self.learners, self._everywhere)
        rows, masks, seats, everywhere = (values.copy() for values in kept) if self.copy else kept
        infos = {"action_mask": masks, "_action_mask": everywhere, "seat": seats, "_seat": everywhere}
        rows = self._tensor.convert(rows)
        if self._boxed:
            return rows, infos
        events = self._match.history.get("shown")
        history = {} if events is None else {"history": events.copy() if self.copy else events}
        return {"observation": rows, "action_mask": masks, **history}, infos

    def _finals(self, done: np.ndarray, played: np.ndarray) -> dict[str, Any]:
        """What the learners' seats (N,) knew when games ended."""
        over = np.flatnonzero(done)
        reused, ended = self._reused
        rows = self._match.final_observations(over, played[over], reused)
        ended = self._separate(self._tensor.convert(rows)) if ended is None else ended
        if self._match.history:
            for observed, events in zip(ended, self._match.final_histories(over, played[over])):
                observed["history"] = events
        observations = np.empty(self.num_envs, object)  # None where no game is over
        observations[over] = ended[: len(over)]
        info = {"illegal": self._match.arrays["illegal"] & done, "_illegal": done}
        return {"final_obs": observations, "_final_obs": done, "final_info": info, "_final_info": done}

    def _separate(self, rows: np.ndarray) -> np.ndarray:
        """Final observations, one for each row (B, n), as an array of objects (B,)."""
        masks = np.zeros((len(rows), self.variant.num_actions), np.int8)
        masks[:, -1] = 1  # the no-op
        both = ({"observation": row, "action_mask": mask} for row, mask in zip(rows, masks))
        return np.fromiter(rows if self._boxed else both, object, len(rows))

    def record(self, i: int, final: bool = False) -> dict[str, Any]:
        """Game i so far, or the last finished one, with all players' moves, for `monsterzoo.envs.replay`.

        Raises `ValueError` if it has more moves than `log` has room for.
        """
        position = self._given(i, final)
        start = None if position is None else {"snapshot": self.variant.snapshot(position[0])}
        return self._match.record(i, final, start)

    def _given(self, i: int, final: bool) -> np.ndarray | None:
        """The position, (1,), in which a game began, if it was given."""
        position, luck = self._positions[i], self._match.arrays["starts"][int(final), i]
        return position if position is not None and position["rng"][0] == luck else None

    def start_of(self, i: int, final: bool = False) -> np.ndarray:
        """The position, (1,), in which game i, or the last finished one, began."""
        if (position := self._given(i, final)) is not None:
            return position.copy()
        states = self.variant.new_states(1)
        states["rng"] = self._match.arrays["starts"][int(final), i]
        stepping.begin(states, 0)
        return states

    def moves(self, i: int, final: bool = False) -> list[tuple[int, int]]:
        """The moves of game i so far, or of the last finished one, as (seat, action); see `record`."""
        return self._match.logged(i, final)


class SeatEnv(DrawsItself, gymnasium.Env):
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
        self._games = SeatVectorEnv(game, 1, autoreset_mode=AutoresetMode.DISABLED, **{"log": LOG, **options})
        self.variant = self._games.variant
        self._renderer = Renderer(self.variant, render_mode, view, render_size)
        self.render_mode = render_mode
        self.observation_space = self._games.single_observation_space
        self.action_space = self._games.single_action_space
        self._over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game, see `SeatVectorEnv.reset`; with a rotating seat each has the next one, a seed seat 0.

        `options={"snapshot": …}` begins in a position. Raises `ValueError`, and changes nothing, for bad input.
        """
        given = check_reset_options(options, "snapshot")
        if seed is None and self._over:
            given["reset_mask"] = [True]  # the next game, with the next seat
        observed, infos = self._games.reset(seed=None if seed is None else [check_seed(seed)], options=given)
        super().reset(seed=None if seed is None else check_seed(seed))
        self._over = False
        self._renderer.forget()
        self._shown = self._games.start_of(0)
        self._remember(0)
        if self.render_mode == "human":
            self.render()
        return self._first(observed), self._info(infos)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play on to its next decision."""
        if self._over:
            raise RuntimeError("the game is over; call reset()")
        number = read_action(action)
        if not 0 <= number < self.variant.num_actions:
            raise self.variant.refuse(self._games.states[0], int(self._games.learners[0]), number)
        played = len(self._games.moves(0)) if self.render_mode is not None else 0
        observed, rewards, terminated, truncated, infos = self._games.step([number])
        self._over = bool(terminated[0] or truncated[0])
        self._remember(played)
        if self.render_mode == "human":
            self.render()
        return self._first(observed), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), self._info(infos)

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions, bool (A,), as MaskablePPO asks for them."""
        return self._games.action_masks()[0]

    def record(self) -> dict[str, Any]:
        """The game so far with all players' moves, for `monsterzoo.envs.replay`."""
        return self._games.record(0)

    def to_svg(self, view: str | None = None, width: float | None = None) -> str:
        """The position as an SVG document: as `view` ("all" or an agent) sees it, else the learner."""
        if not self._games.seeded:
            raise RuntimeError("there is nothing to show before reset()")
        return super().to_svg(view or self.variant.agents[int(self._games.learners[0])], width)

    def _remember(self, played: int) -> None:
        """For pictures: every move after the first so many, one by one."""
        if self.render_mode is None:
            return
        for seat, action in self._games.moves(0)[played:]:
            self._renderer.remember(self._shown, seat, action)
            self._shown = stepped(self.variant, self._shown, seat, action)

    def render(self) -> np.ndarray | str | None:
        """What the learner sees, or who `view` says: text, pixels, uint8 (height, width, 3), or a window."""
        if self.render_mode is not None and not self._games.seeded:
            raise RuntimeError("there is nothing to show before reset()")
        return self._renderer.render(self._games.states, int(self._games.learners[0]))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def _info(self, infos: dict[str, Any]) -> dict[str, Any]:
        mask, illegal = infos["action_mask"][0].copy(), infos["illegal"][0] if "illegal" in infos else 0
        return {"action_mask": mask, "seat": int(infos["seat"][0]), "illegal": int(illegal)}

    @staticmethod
    def _first(observed: Any) -> Any:
        return {key: values[0] for key, values in observed.items()} if isinstance(observed, dict) else observed[0]


def _reset_mask(mask: Any, count: int) -> np.ndarray | None:
    """Which games begin, bool (count,), or None where it is not said."""
    if mask is None:
        return None
    chosen = np.asarray(mask)
    if chosen.shape != (count,) or chosen.dtype != np.bool_ or not chosen.any():
        raise ValueError(f"reset_mask: {count} truth values are needed, some of them true, not {mask!r:.80}")
    return chosen
