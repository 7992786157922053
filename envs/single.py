"""Any game as a Gymnasium environment for one seat; policies play the others. One game, or a compiled batch."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .core import kernels, seat_kernels
from .core.catalogue import find_game
from .core.game import Game, IllegalActionError
from .core.options import is_whole, whole
from .core.rng import check_seed, env_seed, generator, streams
from .core.seat_kernels import Uniform, fresh_token, mix_tokens
from .core.threads import Crew, check_counts
from .looking import stepped
from .players import as_actions, ask, check_player, make_player
from .rendering import FPS, MODES, SIZE, Renderer
from .spaces import action_space, check_reset_options, fresh_seed, observation_space


class SeatVectorEnv(VectorEnv):
    """`num_envs` games; in each one seat is the learner's and the others are played by `opponents`.

    Observations are `{"observation": int8 (N, n), "action_mask": int8 (N, A)}`, rewards add up from one decision of the
    learner to its next. Finished games are replaced in the same step (`AutoresetMode.SAME_STEP`), with `final_obs` and
    `final_info` in the infos. An illegal action ends its game with reward -1.

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
            raise ValueError(f"{game.name}: render_mode={render_mode!r} is not allowed; allowed: None for batches")
        num_envs, threads = check_counts(game.name, num_envs=num_envs, threads=threads)
        self.num_envs, self.render_mode, self.copy = num_envs, render_mode, copy
        self.policies = _policies(variant, opponents)
        self.single_observation_space = observation_space(variant)
        self.single_action_space = action_space(variant)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {**type(self).metadata, "name": game.name}
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
        self._starting = np.zeros(1, np.bool_)  # whether the next round of work begins all games anew
        self._everywhere = np.ones(num_envs, np.bool_)
        self._streams = streams(0, num_envs, "opponents")
        self._connect(min(threads, num_envs))
        self._seeds: list[int] | None = None
        self._ready = False  # whether every game waits for its learner

    # --- Gymnasium's interface ---

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin all games; game i of seed s is the AEC environment seeded with `env_seed(s, i)`, or with `seed[i]`.

        Seeds are from 0 to 2**64 - 1. There are no options; raises `ValueError` for any, `reset_mask` included.
        """
        check_reset_options(options)
        self._seed(seed)
        self._ready = False
        self.learners[:] = self._first_seats
        if self._compiled is not None:
            self._starting[0] = True
            self._crew.run()
            self._starting[0] = False
        else:
            for i in range(self.num_envs):
                kernels.begin(self.states, i)
            self._ask_others()
            self._show()
        self._ready = True
        observed = self._observed()
        return observed, self._info(observed)

    def step(self, actions: Any) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
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
        if self._compiled is not None:
            self._crew.run()
        else:
            self._ready = False  # stays so if a policy fails: some games have then gone on and others have not
            self._step_in_pieces()
            self._ready = True
        observed = self._observed()
        infos = self._info(observed)
        done = self._terminated | self._truncated
        if done.any():
            infos.update(self._finals(done))
        outcome = (self._rewards, self._terminated, self._truncated)
        rewards, terminated, truncated = (values.copy() for values in outcome) if self.copy else outcome
        return observed, rewards, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """The learners' legal actions, bool (N, A)."""
        return self._masks[:, : self.variant.num_actions].astype(np.bool_)

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
        )
        arguments = (self._seats, self._turn, variant.num_actions, self._starting)
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

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        if seed is None and self._seeds is not None:
            return  # the generators go on
        seed = seed.tolist() if isinstance(seed, np.ndarray) else seed
        if isinstance(seed, Sequence) and not isinstance(seed, str | bytes):
            if len(seed) != self.num_envs:
                raise ValueError(f"{self.num_envs} seeds are needed, not {len(seed)}")
            self._seeds = [fresh_seed() if one is None else check_seed(one) for one in seed]
        else:
            base = fresh_seed() if seed is None else check_seed(seed)
            self._seeds = [env_seed(base, i) for i in range(self.num_envs)]
        self.states["rng"] = [generator(one) for one in self._seeds]
        self._streams["rng"] = [generator(one, "opponents") for one in self._seeds]

    def _step_in_pieces(self) -> None:
        seat_kernels.step_learners(self._seats)
        self._ask_others()
        rewards = self._rewards.copy()
        if seat_kernels.replace_finished(self._seats, self._turn, self._scratch[0][1]):
            self._ask_others()  # what the learner gains before its first decision belongs to no decision
        self._rewards[:] = rewards
        self._show()

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
                    choices[asked] = ask(policy, variant, rows[asked], mask, seats[asked], states)
            seat_kernels.step_others(self.states, self.learners, games[:count], seats[:count], choices, self._rewards)

    def _show(self) -> None:
        seat_kernels.show_learners(self._seats, self.variant.num_actions, self._scratch[0][1])

    def _observed(self) -> dict[str, np.ndarray]:
        masks = self._masks[:, : self.variant.num_actions]
        if not self.copy:
            return {"observation": self._observations, "action_mask": masks}
        return {"observation": self._observations.copy(), "action_mask": masks.copy()}

    def _info(self, observed: dict[str, np.ndarray]) -> dict[str, Any]:
        seats, everywhere = self.learners, self._everywhere
        if self.copy:
            seats, everywhere = seats.copy(), everywhere.copy()
        masks = observed["action_mask"]
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
        observations[:] = [{"observation": row, "action_mask": mask} for row, mask in zip(rows, masks, strict=True)]
        return observations


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
        self._games = SeatVectorEnv(game, 1, **options)
        self.variant = self._games.variant
        self._renderer = Renderer(self.variant, render_mode, view, render_size)
        self.render_mode = render_mode
        self.observation_space = self._games.single_observation_space
        self.action_space = self._games.single_action_space
        self._over = True
        self._last_seat = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin a game; with a rotating seat each game has the next one, a seed starts with seat 0.

        There are no options, and a seed is from 0 to 2**64 - 1; raises `ValueError` for others.
        """
        check_reset_options(options)
        seed = None if seed is None else check_seed(seed)
        super().reset(seed=seed)
        games = self._games
        # A finished game was replaced at once: that one is the next, unless a seed asks for another.
        if seed is not None or games._seeds is None or not self._replaced():
            games.reset(seed=None if seed is None else [seed])
        self._over = False
        self._renderer.forget()
        if self.render_mode == "human":
            self.render()
        return self._first(games._observed()), self._info()

    def _replaced(self) -> bool:
        return self._over and self._games._ready

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play on to its next decision."""
        if self._over:
            raise RuntimeError("the game is over; call reset()")
        number = action.reshape(()) if isinstance(action, np.ndarray) and action.size == 1 else action
        if not is_whole(number):
            raise IllegalActionError(f"an action is a whole number, not {action!r}")
        if not 0 <= whole(number) < self.variant.num_actions:
            raise self.variant.refuse(self._games.states[0], int(self._games.learners[0]), number)
        seat = int(self._games.learners[0])
        if self.render_mode is not None and self._games._masks[0, whole(number)]:
            self._remember(seat, whole(number))
        observations, rewards, terminated, truncated, infos = self._games.step([whole(number)])
        self._last_seat = seat
        self._over = bool(terminated[0] or truncated[0])
        observation = infos["final_obs"][0] if self._over else self._first(observations)
        info = self._info()
        if self._over:
            info["action_mask"] = observation["action_mask"]
            info["illegal"] = int(infos["final_info"]["illegal"][0])
        if self.render_mode == "human":
            self.render()
        return observation, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

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
        if self._over:
            return self._renderer.render(self._games.final_states, self._last_seat)
        return self._renderer.render(self._games.states, int(self._games.learners[0]))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def _info(self) -> dict[str, Any]:
        masks = self._games._masks[0, : self.variant.num_actions]
        return {"action_mask": masks.copy(), "seat": int(self._games.learners[0]), "illegal": 0}

    @staticmethod
    def _first(observations: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {key: values[0] for key, values in observations.items()}


def _policies(variant: Any, opponents: Any) -> list[Any]:
    """One policy for each other seat, clockwise from the learner."""
    several = isinstance(opponents, list | tuple)
    given = list(opponents) if several else [opponents] * (variant.players - 1)
    if len(given) != variant.players - 1:
        raise ValueError(f"opponents: {variant.players - 1} other seats need a policy, {len(given)} are given")
    made: dict[str, Any] = {}
    policies = []
    for one in given:
        if isinstance(one, str):
            if one not in made:
                made[one] = make_player(variant, one)
            one = made[one]
        elif not hasattr(one, "act") or isinstance(one, type):
            raise ValueError(f"opponents: {one!r} is neither the name of a policy nor a policy")
        check_player(one, variant)
        policies.append(one)
    return policies


def _compiled(policies: list[Any]) -> Any:
    """What plays all other seats inside the kernels, or None where some policy is not compiled."""
    tokens = [getattr(policy, "compiled", None) for policy in policies]
    if any(token is None for token in tokens):
        return None
    return mix_tokens(tokens)


def make_seat(game: str, **options: Any) -> SeatEnv:
    """Gymnasium's entry point for one game."""
    return SeatEnv(game, **options)


def make_seats(game: str, num_envs: int, **options: Any) -> SeatVectorEnv:
    """Gymnasium's entry point for a batch."""
    return SeatVectorEnv(game, num_envs, **options)


__all__ = ["SeatEnv", "SeatVectorEnv", "Uniform", "make_seat", "make_seats"]
