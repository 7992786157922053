"""Compiled batch of games: buffers owned by the batch and written in place."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.contract import PLAYING
from ..core.game import Game
from ..core.options import Integer, checked
from ..core.rng import check_seed, env_seed, generator, streams
from ..core.variant import read_actions
from ..match.decisions import Decisions
from ..match.match import Match, exclusive
from ..match.sampling import sample_batch
from .spaces import Columns, action_space, fresh_seed, observation_space


class VectorGame:
    """`num_envs` games of one variant, each waiting for one decision.

    All arrays are numpy buffers that `step` overwrites; copy what must last. Write into none of them but `states`, and
    there only positions of this variant (`restore` checks them). One thread at a time may call `step`, `reset` and
    `restore`; a second one gets a `RuntimeError`. Game i of seed s is the AEC environment
    seeded with `env_seed(s, i)`, and goes on like its `reset()` without a seed when a game is over.

    | name | shape and dtype | meaning |
    |---|---|---|
    | `observations` | (N, n) int8 or `dtype` | what the seat that decides knows, see `Columns` |
    | `action_masks` | (N, A) int8 | what it may do |
    | `seats` | (N,) int64 | who decides |
    | `rewards` | (N, players) float32 | of the last step, of every seat |
    | `terminated`, `truncated` | (N,) bool | whether the last step ended a game; the next has then begun |
    | `states` | (N,) records | the games themselves |
    | `final_states` | (N,) records | the last finished game of each, as it ended |
    | `final_returns` | (N, players) float32 | that game's sum of rewards |
    | `final_lengths` | (N,) int64 | that game's number of decisions |
    | `histories` | (N, T, 2) int16 | with `history=T`: the last events that the seat saw, see `observation_space` |
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        threads: int = 1,
        seed: int | None = None,
        *,
        observation: str = "dict",
        dtype: Any = "int8",
        scale: bool = False,
        history: int | None = None,
        log: int = 0,
        **options: Any,
    ) -> None:
        self.num_envs = num_envs = checked(f"{game.name}: num_envs", num_envs, Integer(1))
        threads = checked(f"{game.name}: threads", threads, Integer(1))
        self.variant = game.variant(**options)
        self._tensor = Columns(self.variant, dtype, scale)
        self.single_observation_space = observation_space(self.variant, observation, history, self._tensor)
        self._match = Match(self.variant, num_envs, threads=threads, log=log, history=history or 0)
        self.single_action_space = action_space(self.variant)
        self._sampled = np.zeros(num_envs, np.int64)
        self._converted = self._tensor.convert(self._match.observations) if self._tensor.floats else None
        self.reset(fresh_seed() if seed is None else seed)

    # The match's buffers.
    caller = property(lambda self: self._match.caller)
    states = property(lambda self: self._match.arrays["states"])
    final_states = property(lambda self: self._match.arrays["finals"])
    action_masks = property(lambda self: self._match.action_masks)
    seats = property(lambda self: self._match.seats)
    rewards = property(lambda self: self._match.arrays["rewards"])
    terminated = property(lambda self: self._match.arrays["terminated"])
    truncated = property(lambda self: self._match.arrays["truncated"])
    final_returns = property(lambda self: self._match.arrays["totals"][1])
    final_lengths = property(lambda self: self._match.arrays["lengths"][1])
    histories = property(lambda self: self._match.history["shown"])
    observations = property(lambda self: self._match.observations if self._converted is None else self._converted)
    players = property(lambda self: self.variant.players)
    threads = property(lambda self: self._match.threads)

    def __repr__(self) -> str:
        return f"<VectorGame of {self.num_envs} games: {self.variant}>"

    @exclusive
    def reset(self, seed: int | None = None) -> None:
        """Begin all games anew, with a seed (0 <= seed < 2**64).

        Without one the games' own generators, and the streams of `sample_actions`, go on, as in the AEC environment; a
        batch that was made without a seed has drawn a fresh one.
        """
        if seed is not None:
            seed = check_seed(seed)
            self.states["rng"] = generator(env_seed(seed, np.arange(self.num_envs)))
            self._streams = streams(seed, self.num_envs, "sample")
        for name in ("rewards", "terminated", "truncated", "totals", "lengths"):
            self._match.arrays[name][:] = 0
        self._match.begin(np.ones(self.num_envs, np.bool_))
        self._convert()

    def _convert(self) -> None:
        """Write observations in the type that was asked for, if it is another one."""
        if self._converted is not None:
            self._converted[:] = self._tensor.convert(self._match.observations)

    @exclusive
    def step(self, actions: Any) -> None:
        """Carry out one action a game, integers (N,), and write the buffers; a finished game is replaced at once.

        Raises `IllegalActionError`, before any game has moved, if one of the actions is not legal.
        """
        self._match.act(read_actions(actions, self.num_envs))
        self._convert()

    def record(self, i: int, final: bool = False) -> dict[str, Any]:
        """Game i so far, or the last finished one, for `monsterzoo.envs.replay`; needs `log`, the most moves to keep.

        Raises `ValueError` for a game with more moves.
        """
        return self._match.record(i, final)

    def decisions(self) -> Decisions:
        """The decisions that the games wait for, as `Policy.act` takes them; views of the buffers."""
        return self._match.decisions()

    def sample_actions(self) -> np.ndarray:
        """A uniformly random legal action for every game, (N,) int64; reproducible, each game has its own stream."""
        sample_batch(self._match.arrays["sets"], self._streams, self._sampled)
        return self._sampled

    def save(self) -> dict[str, np.ndarray]:
        """Copies of everything `restore` needs to go on exactly from here; records as bytes, (N, size) uint8."""
        return {name: values.copy() for name, values in self._lasting().items()}

    @exclusive
    def restore(self, saved: dict[str, np.ndarray], validate: bool = False) -> None:
        """Go on where `save` was called, on a batch of the same game, options and size.

        Raises `ValueError`, and changes nothing, for arrays of another batch. With `validate`, for arrays from a file,
        also if a state is not a position that can be (a millisecond a game).
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
            states = np.ascontiguousarray(saved[name]).view(self.variant.game.rules.record).reshape(-1)
            if name == "states" and (states["outcome"] != PLAYING).any():
                raise ValueError("restore needs the arrays of save(): in states a game is over")
            self.variant.check_states(states)
            begun = states if name == "states" else states[states["outcome"] != PLAYING]  # else none has ended yet
            self.variant.check_states(begun, exactly=True)
            if validate and name == "states":
                self.variant.check_positions(states)
        for name, values in lasting.items():
            values[...] = saved[name]
        # Not taken over: what a seat knows and may do follows from the states.
        self._match.begin(np.zeros(self.num_envs, np.bool_))
        self._convert()

    def _lasting(self) -> dict[str, np.ndarray]:
        names = ("rewards", "terminated", "truncated", "totals", "lengths", "starts", "moves", "seats")
        records = {"states": self.states, "final_states": self.final_states, "streams": self._streams}
        # As bytes: copying records field by field would leave out the padding between them.
        raw = {name: values.view(np.uint8).reshape(self.num_envs, -1) for name, values in records.items()}
        events = {name: self._match.history[name] for name in ("rings", "counts") if self._match.history}
        return {**raw, **{name: self._match.arrays[name] for name in names}, **events}
