"""PettingZoo AEC environment of any game."""

import struct
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from ..core import stepping
from ..core.contract import PLAYING, TERMINATED
from ..core.game import Game
from ..core.layout import Layout
from ..core.rng import check_seed, generator
from ..core.variant import IllegalActionError, Variant, read_action
from ..match.decisions import Decisions
from ..render.renderer import FPS, MODES, SIZE, Renderer
from .pictures import DrawsItself
from .saving import Saved, pack, play_record, unpack
from .spaces import Columns, action_space, check_reset_options, fresh_seed, observation_space


class GameEnv(DrawsItself, AECEnv):
    """One game as an AEC environment; several seats that choose at once are asked one after another.

    `observe` gives `{"observation": int8 (n,), "action_mask": int8 (A,)}` (of another type with `dtype`, see
    `Columns`); the mask is also in `infos`. With `observation="box"` it gives the tensor alone, with `history=T` also
    the last T events, see `observation_space`. A seat that has nothing to decide has the no-op, the last action, alone
    in its mask.
    """

    # Not parallelizable: seats do not take turns in a fixed cycle. `parallel_env` is the parallel environment, and
    # PettingZoo's `turn_based_aec_to_parallel` works too.
    metadata: dict[str, Any] = {"render_modes": MODES, "is_parallelizable": False, "render_fps": FPS}

    def __init__(
        self,
        game: Game,
        render_mode: str | None = None,
        *,
        observation: str = "dict",
        history: int | None = None,
        dtype: Any = "int8",
        scale: bool = False,
        view: str | None = None,
        render_size: tuple[int, int] = SIZE,
        **options: Any,
    ) -> None:
        super().__init__()
        self.variant: Variant = game.variant(**options)
        self._renderer = Renderer(self.variant, render_mode, view, render_size)
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "name": game.name}
        self.possible_agents = list(self.variant.agents)
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._tensor = Columns(self.variant, dtype, scale)
        self._observation_space = observation_space(self.variant, observation, history, self._tensor)
        self._history = None if history is None else int(history)
        self._boxed = observation == "box"
        self._action_space = action_space(self.variant)
        self.observation_spaces = dict.fromkeys(self.possible_agents, self._observation_space)
        self.action_spaces = dict.fromkeys(self.possible_agents, self._action_space)
        self._states, self._views = self.variant.new_states(1), self.variant.new_views()
        self._num_actions, self._columns = self.variant.num_actions, self.variant.layout.size
        self._mask_shape = (self.variant.players, 8 * self.variant.words)
        self._words = np.empty(self.variant.words, np.uint64)
        self._rewards = np.empty(self.variant.players, np.float32)
        self._seeded = False
        self.agents: list[str] = []

    # --- Spaces ---

    def observation_space(self, agent: str) -> spaces.Space:
        """The same object for every agent."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Discrete:
        """The same object for every agent."""
        return self._action_space

    @property
    def observation_layout(self) -> Layout:
        """The fields of an observation: name, slice, shape, low, high and meaning."""
        return self.variant.layout

    @property
    def options(self) -> dict[str, Any]:
        """The game's options, defaults included."""
        return dict(self.variant.options)

    @property
    def teams(self) -> dict[str, list[str]]:
        """The agents of each side; singletons where everybody plays alone."""
        return {team: list(agents) for team, agents in self.variant.teams.items()}

    @property
    def state_space(self) -> spaces.Box:
        """The space of `state()`."""
        return self._tensor.space(self.variant.players)

    # --- Playing ---

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game: of a seed (0 <= seed < 2**64), of the last game's generator, or from a snapshot.

        `options={"snapshot": …}` is the only option; raises `ValueError` for others, and changes nothing then.
        """
        # PettingZoo's own tests pass an option called "options", which means nothing.
        snapshot = check_reset_options(options, "snapshot", "options").get("snapshot")
        if seed is not None:
            seed = check_seed(seed)
        elif not self._seeded:
            seed = fresh_seed()
        if snapshot is not None:
            states = self.variant.load(snapshot, fresh_seed() if seed is None else seed)
            self._start: dict[str, Any] = {"snapshot": self.variant.snapshot(states[0])}
            self._states = states
        else:
            if seed is not None:
                self._states["rng"] = generator(seed)
            self._start = {"seed": seed} if seed is not None else {"generator": int(self._states["rng"][0])}
            stepping.begin(self._states, 0)
        self._seeded = True
        self._moves: list[tuple[int, int]] = []
        self._begin()

    def reset_generator(self, state: int) -> None:
        """Begin a game with the generator in a known state, as a record without a seed does."""
        self._states["rng"] = check_seed(state, "generator")
        self._seeded = True
        self.reset()

    def _begin(self) -> None:
        """Bookkeeping of a game that has just begun."""
        self._renderer.forget()
        self._events: list[list[tuple[int, int]]] = [[] for _ in self.possible_agents]
        agents = self.possible_agents
        self.agents = list(agents)
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
        masks = np.empty(self._mask_shape, np.uint64)
        stepping.mask_all(self._states, 0, masks, self._words, self._num_actions)
        self._show(masks, int(self._states["acting"][0]))

    def _show(self, masks: np.ndarray, acting: int) -> None:
        """Publish every seat's mask and who decides next."""
        self._masks = masks.view(np.int8)[:, : self._num_actions]
        # Copies: what users do to the arrays they get must not change what is legal.
        for agent, mask in zip(self.possible_agents, self._masks.copy()):
            self.infos[agent] = {"action_mask": mask}
        if acting:
            self._acting = (acting & -acting).bit_length() - 1
            self.agent_selection = self.possible_agents[self._acting]

    def step(self, action: Any) -> None:
        """Carry out the action of `agent_selection`, an integer of any type or an integer array of size 1.

        Raises `IllegalActionError` and changes nothing for an action that is not legal; for what is no integer it is an
        `ActionTypeError`, which is a `TypeError` too.
        """
        agent = self.agent_selection
        if not self.agents:
            raise RuntimeError("the game is over for everybody; call reset()")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # which takes None alone
            return
        self._step_seat(self._acting, action)

    def step_for(self, agent: str, action: Any) -> None:
        """Carry out the action of any agent that must decide now, whoever `agent_selection` is."""
        self._step_seat(self._seat(agent), action)

    def _step_seat(self, seat: int, action: Any) -> None:
        number = read_action(action)
        if not 0 <= number < self._num_actions - 1 or not self._masks[seat, number]:
            raise self.variant.refuse(self._states[0], seat, number)
        if self.render_mode is not None:
            self._renderer.remember(self._states, seat, number)
        before = None if self._history is None else self._states.copy()
        masks = np.empty(self._mask_shape, np.uint64)
        acting = int(
            stepping.advance_one(self._states, 0, seat, number, self._rewards, masks, self._words, self._num_actions)
        )
        self._moves.append((seat, number))
        if before is not None:
            for observer, seen in enumerate(self._events):
                seen += self.variant.events(before, self._states, observer, seat, number).tolist()
        cumulative, rewards = self._cumulative_rewards, self.rewards
        cumulative[self.possible_agents[seat]] = 0.0
        for other, reward in zip(self.possible_agents, self._rewards.tolist()):
            rewards[other] = reward
            if reward:
                cumulative[other] += reward
        self._show(masks, int(acting))
        if not acting:
            self._finish()
        if self.render_mode == "human":
            self.render()

    def refusal(self, agent: str, action: int) -> IllegalActionError | None:
        """The error for an action that an agent may not choose now, None if it may (a waiting agent: the no-op)."""
        seat = self._seat(agent)
        if 0 <= action < self._num_actions and self._masks[seat, action]:
            return None
        return self.variant.refuse(self._states[0], seat, action)

    def is_legal(self, action: Any) -> bool:
        """Whether `agent_selection` may choose an action now; False for all once the game is over.

        Raises `ActionTypeError` for what is not an integer.
        """
        agents = self.agents
        if not agents or self.terminations[agents[0]] or self.truncations[agents[0]]:
            return False
        number = read_action(action)
        return 0 <= number < self._num_actions and bool(self._masks[self._acting, number])

    def _finish(self) -> None:
        ended = int(self._states["outcome"][0])
        over = self.terminations if ended == TERMINATED else self.truncations
        for agent in self.possible_agents:
            over[agent] = True
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Any:
        """What an agent may see now, a dict of arrays or one array; fresh ones."""
        seat = self._seat(agent)
        row = self._tensor.convert(self._row(seat))
        if self._boxed:
            return row
        observed = {"observation": row, "action_mask": self._masks[seat].copy()}
        if self._history is not None:
            observed["history"] = history = np.zeros((self._history, 2), np.int16)
            if last := self._events[seat][-self._history :]:
                history[-len(last) :] = last
        return observed

    def _row(self, seat: int) -> np.ndarray:
        row = np.empty(self._columns, np.int8)
        stepping.observe_one(self._states, 0, seat, self._views, row.view(np.uint64))
        return row

    def _seat(self, agent: str) -> int:
        try:
            return self._seat_of[agent]
        except (KeyError, TypeError):
            raise ValueError(f"there is no agent {agent!r}; agents are {', '.join(self.possible_agents)}") from None

    @property
    def states(self) -> np.ndarray:
        """A copy of the game's record, shape (1,): what search imagines worlds from, and `Variant`'s methods take."""
        return self._states.copy()

    def decisions(self, agent: str | None = None) -> Decisions:
        """The decision of an agent that must decide now (without one: `agent_selection`), as `Policy.act` takes it.

        A batch of one. Raises `ValueError` if the agent has nothing to decide.
        """
        if not hasattr(self, "_masks"):
            raise ValueError("there is no game yet: call reset()")
        seat = self._seat(self.agent_selection if agent is None else agent)
        if self._masks[seat, -1]:
            raise ValueError(f"{self.possible_agents[seat]} has nothing to decide now")
        rows, masks = self._row(seat)[None], self._masks[seat : seat + 1].copy()
        return Decisions.unchecked(self.variant, rows, masks, np.array([seat]), self.states)

    def state(self) -> np.ndarray:
        """The global state for centralised critics: every seat's observation, (players * n,) of the chosen `dtype`."""
        return np.concatenate([self._tensor.convert(self._row(seat)) for seat in range(self.variant.players)])

    # --- Positions ---

    def snapshot(self) -> dict[str, Any]:
        """The whole truth as a JSON-able dict of names."""
        return self.variant.snapshot(self._states[0])

    def text_observation(self, agent: str) -> str:
        """What an agent knows, in words."""
        return self.variant.describe(self.variant.look(self._states, 0, self._seat(agent))[0], self._seat(agent))

    def action_name(self, action: int) -> str:
        """The name of an action; raises `ValueError` for what is none."""
        number = read_action(action)
        if not 0 <= number < self._num_actions:
            raise ValueError(f"action {number} is out of range, actions are 0 to {self._num_actions - 1}")
        return self.variant.action_names[number]

    def parse_action(self, text: str) -> int:
        """The action of a name; raises `ValueError` for an unknown one."""
        return self.variant.parse_action(text)

    # --- Records and saves ---

    @property
    def moves(self) -> list[tuple[int, int]]:
        """The moves of this game so far: seat and action."""
        return list(self._moves)

    def record(self) -> dict[str, Any]:
        """The game so far as JSON: name, options, start (seed, generator or snapshot), actions and who chose them."""
        return self.variant.record(self._start, self._moves)

    def save(self) -> Saved:
        """The environment in mid-game, exact, as bytes: the state with its generator, the moves and pending rewards."""
        head = {
            "start": self._start,
            "moves": self._moves,
            "agents": self.agents,
            "agent_selection": self.agent_selection,
            "rewards": self.rewards,
            "cumulative": self._cumulative_rewards,
        }
        return pack(self.variant, head, self._states)

    def restore(self, data: bytes) -> None:
        """Continue where `save` was called; raises `ValueError` and changes nothing for other bytes.

        What `save` returned in this process is trusted. Of other bytes the game is played again, which takes some
        milliseconds, and must lead to the same bytes.
        """
        again = None
        try:
            head, states = unpack(self.variant, data)
            if not isinstance(data, Saved) or self._history is not None:
                again = self._replayed(head)
                if again.save() != data:
                    raise ValueError("the game in the saved bytes, played again, comes to another end")
        except (ValueError, KeyError, TypeError, AttributeError, RuntimeError, struct.error) as error:
            raise ValueError(f"the saved bytes hold no game of this environment: {error}") from error
        self._states = states
        self._start, self._moves = head["start"], [(seat, action) for seat, action in head["moves"]]
        self._begin()
        if again is not None:
            self._events = again._events
        self.rewards, self._cumulative_rewards = head["rewards"], head["cumulative"]
        if int(states["outcome"][0]) != PLAYING:
            self._finish()
        self.agents = head["agents"]
        self.agent_selection = head["agent_selection"]
        for name in ("rewards", "_cumulative_rewards", "terminations", "truncations", "infos"):
            values = getattr(self, name)
            setattr(self, name, {agent: values[agent] for agent in self.agents})
        self._seeded = True

    def _replayed(self, head: dict[str, Any]) -> "GameEnv":
        """The game that saved bytes tell of, played again."""
        again = GameEnv(self.variant.game, history=self._history, **self.options)
        seats, actions = [seat for seat, _ in head["moves"]], [self.action_name(action) for _, action in head["moves"]]
        play_record(again, {**head["start"], "seats": seats, "actions": actions})
        while len(again.agents) > len(head["agents"]):
            again.step(None)
        return again

    # --- Looking ---

    def render(self) -> np.ndarray | str | None:
        """What the seat that decides sees, or who `view` says.

        Text with render_mode="ansi", pixels, uint8 (height, width, 3), with "rgb_array", a document with "svg", a
        window with "human".
        """
        if self.render_mode is not None and not self._seeded:
            raise RuntimeError("there is nothing to show before reset()")
        return self._renderer.render(self._states, self._acting)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def __repr__(self) -> str:
        return f"<GameEnv {self.variant}>"
