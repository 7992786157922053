"""Many games at once, compiled: buffers owned by the batch and written in place."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .core import kernels
from .core.contract import PLAYING
from .core.game import Game
from .core.jit import kernel
from .core.kernels import refresh
from .core.rng import check_seed, env_seed, generator, streams
from .core.threads import Crew, check_counts
from .core.variant import IllegalActionError
from .match.decisions import Decisions, as_actions
from .spaces import action_space, fresh_seed, observation_space


@kernel
def refresh_all(batch, views):
    """Write who decides in every game, with observations and masks."""
    for i in range(len(batch.states)):
        refresh(batch, i, views[0])


class VectorGame:
    """`num_envs` games of one kind, each waiting for one decision.

    All arrays are numpy buffers that `step` overwrites; copy what must last. Game i of seed s is the AEC environment
    seeded with `env_seed(s, i)`, and goes on like its `reset()` without a seed when a game is over.

    | name | shape and dtype | meaning |
    |---|---|---|
    | `observations` | (N, n) int8 | what the seat that decides knows |
    | `action_masks` | (N, A) int8 | what it may do |
    | `seats` | (N,) int64 | who decides |
    | `rewards` | (N, players) float32 | of the last step, of every seat |
    | `terminated`, `truncated` | (N,) bool | whether the last step ended a game; the next has then begun |
    | `states` | (N,) records | the games themselves |
    | `final_states` | (N,) records | the last finished game of each, as it ended |
    | `final_returns` | (N, players) float32 | that game's sum of rewards |
    | `final_lengths` | (N,) int64 | that game's number of decisions |
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        threads: int = 1,
        seed: int | None = None,
        *,
        observation: str = "dict",
        **options: Any,
    ) -> None:
        num_envs, threads = check_counts(game.name, num_envs=num_envs, threads=threads)
        self.variant = game.variant(**options)
        self.num_envs = num_envs
        variant, players = self.variant, self.variant.players
        self.states = variant.new_states(num_envs)
        self.final_states = variant.new_states(num_envs)
        self.observations = np.zeros((num_envs, variant.layout.size), np.int8)
        self._legal = np.zeros((num_envs, variant.words), np.uint64)  # the masks as bit sets
        self._padded_masks = np.zeros((num_envs, 64 * variant.words), np.int8)
        self.seats = np.zeros(num_envs, np.int64)
        self.rewards = np.zeros((num_envs, players), np.float32)
        self.terminated = np.zeros(num_envs, np.bool_)
        self.truncated = np.zeros(num_envs, np.bool_)
        self._totals = np.zeros((2, num_envs, players), np.float32)
        self._lengths = np.zeros((2, num_envs), np.int64)
        self.single_observation_space = observation_space(variant, observation)
        self.single_action_space = action_space(variant)
        self._sampled = np.zeros(num_envs, np.int64)
        self._choices = np.zeros(num_envs, np.int64)
        self._starting = np.zeros(1, np.bool_)  # whether the next round of work begins all games anew
        self._connect(min(threads, num_envs))
        self.reset(seed)

    def _connect(self, threads: int) -> None:
        """Make the views of the buffers and the threads that write them."""
        self.action_masks = self._padded_masks[:, : self.variant.num_actions]
        self.final_returns, self.final_lengths = self._totals[1], self._lengths[1]
        self._batch = batch = kernels.Batch(
            states=self.states,
            finals=self.final_states,
            choices=self._choices,
            seats=self.seats,
            rows=self.observations.view(np.uint64),
            sets=self._legal,
            masks=self._padded_masks.view(np.uint64),
            rewards=self.rewards,
            terminated=self.terminated,
            truncated=self.truncated,
            totals=self._totals,
            lengths=self._lengths,
        )
        arguments = (batch, self.variant.num_actions, self._starting)
        scratch = [(self.variant.new_views(),) for _ in range(threads)]
        self._crew = Crew(threads, kernels.step_batch, arguments, scratch)

    def __repr__(self) -> str:
        return f"<VectorGame of {self.num_envs} games: {self.variant}>"

    def __getstate__(self) -> dict[str, Any]:
        views = ("action_masks", "final_returns", "final_lengths", "_batch")  # copies of them would be detached
        kept = {name: value for name, value in self.__dict__.items() if name not in views}
        return {**kept, "_crew": self.threads}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._connect(kept["_crew"])

    @property
    def players(self) -> int:
        """Number of seats."""
        return self.variant.players

    @property
    def threads(self) -> int:
        """Number of threads that share a step."""
        return self._crew.size

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Begin all games anew, of a seed (0 <= seed < 2**64) or a fresh one; returns observations and masks."""
        self.seed = fresh_seed() if seed is None else check_seed(seed)
        self.states["rng"] = [generator(env_seed(self.seed, i)) for i in range(self.num_envs)]
        self._streams = streams(self.seed, self.num_envs, "sample")
        for buffer in (self.rewards, self.terminated, self.truncated, self._totals, self._lengths):
            buffer[:] = 0
        self._starting[0] = True
        self._crew.run()
        self._starting[0] = False
        return self.observations, self.action_masks

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Carry out one action a game, integers (N,); a finished game is replaced at once.

        Returns `observations, action_masks, rewards, terminated, truncated`. Raises `IllegalActionError`, before any
        game has moved, if one of the actions may not be chosen.
        """
        choices = as_actions(actions, self.num_envs)
        self._choices[:] = choices  # what wraps around ends below 0
        wrong = self._crew.run()
        if wrong >= 0:
            error = self.variant.refuse(self.states[wrong], int(self.seats[wrong]), int(choices[wrong]))
            raise IllegalActionError(f"game {wrong}: {error}")
        return self.observations, self.action_masks, self.rewards, self.terminated, self.truncated

    def decisions(self) -> Decisions:
        """The decisions that the games wait for, as `Policy.act` takes them; views of the buffers."""
        return Decisions.unchecked(self.variant, self.observations, self.action_masks, self.seats, self.states)

    def sample_actions(self) -> np.ndarray:
        """A uniformly random legal action for every game, (N,) int64; reproducible, each game has its own stream."""
        kernels.sample_batch(self._legal, self._streams, self._sampled)
        return self._sampled

    def save(self) -> dict[str, np.ndarray]:
        """Copies of everything `restore` needs to go on exactly from here; records as bytes, (N, size) uint8."""
        return {name: values.copy() for name, values in self._lasting().items()}

    def restore(self, saved: dict[str, np.ndarray], foreign: bool = False) -> None:
        """Go on where `save` was called, on a batch of the same game, options and size.

        Raises `ValueError`, and changes nothing, for arrays of another batch. Of states only what is quickly seen is
        checked; with `foreign`, for arrays that were in a file, that each position can be (a millisecond a game).
        """
        lasting = self._lasting()
        if not isinstance(saved, Mapping):
            raise ValueError(f"restore needs the arrays of save(), not {type(saved).__name__}")
        for name, values in lasting.items():
            given = saved.get(name)
            if not isinstance(given, np.ndarray):
                raise ValueError(f"restore needs the arrays of save(): {name} is missing or not an array")
            if given.shape != values.shape or given.dtype != values.dtype:
                raise ValueError(f"{name} was saved by another batch: {given.dtype} {given.shape}")
        for name in ("states", "final_states"):
            states = np.ascontiguousarray(saved[name]).view(self.variant.game.record).reshape(-1)
            if name == "states" and (states["outcome"] != PLAYING).any():
                raise ValueError("restore needs the arrays of save(): in states a game is over")
            self.variant.check_states(states)
            begun = states if name == "states" else states[states["outcome"] != PLAYING]  # else none has ended yet
            self.variant.check_states(begun, exactly=True)
            if foreign and name == "states":
                self.variant.check_positions(states)
        for name, values in lasting.items():
            values[...] = saved[name]
        # Not taken over: what a seat knows and may do follows from the states.
        refresh_all(self._batch, self.variant.new_views())

    def _lasting(self) -> dict[str, np.ndarray]:
        outcome = {"rewards": self.rewards, "terminated": self.terminated, "truncated": self.truncated}
        shown = {"observations": self.observations, "masks": self._padded_masks, "seats": self.seats}
        totals = {"totals": self._totals, "lengths": self._lengths}
        records = {"states": self.states, "final_states": self.final_states, "streams": self._streams}
        # As bytes: copying records field by field would leave out the padding between them.
        raw = {name: values.view(np.uint8).reshape(self.num_envs, -1) for name, values in records.items()}
        return {**raw, **shown, **outcome, **totals}

    def close(self) -> None:
        """Nothing to release."""
