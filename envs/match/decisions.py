"""A batch of decisions as players see it: what each seat knows and may do, never the game's true state."""

from typing import Any

import numpy as np

from ..core.contract import imagine
from ..core.options import Integer, checked, is_whole
from ..core.rng import check_seed, streams
from ..core.variant import IllegalActionError, Variant


class Decisions:
    """B decisions of seats in possibly different games, the argument of `Policy.act`.

    Indexing by a row, a slice or an index array gives a smaller batch. Batches of a `VectorGame` are views of its
    buffers, which its next step overwrites. Raises `ValueError` for arrays of other shapes than those of the variant.

    Args:
        variant: the game with its options.
        observations: int8 (B, n), what each seat knows; `variant.layout` names the columns.
        action_masks: int8 (B, A), 1 for legal actions.
        seats: integers (B,), who decides.
        states: the games' true records (B,), for `sample_worlds` and compiled search; players do not see them.
    """

    __slots__ = ("_states", "action_masks", "observations", "seats", "variant")

    def __init__(
        self, variant: Variant, observations: Any, action_masks: Any, seats: Any, states: np.ndarray | None = None
    ) -> None:
        self.variant = variant
        self.observations, self.action_masks = np.asarray(observations), np.asarray(action_masks)
        self.seats, self._states = np.asarray(seats), states
        count = self.seats.size
        shapes = {"observations": (count, variant.layout.size), "action_masks": (count, variant.num_actions)}
        for name, wanted in {**shapes, "seats": (count,)}.items():
            if (found := getattr(self, name).shape) != wanted:
                raise ValueError(f"{name} of {count} decisions in {variant} have the shape {wanted}, not {found}")
        if states is not None:
            variant.check_states(states)
            if len(states) != count:
                raise ValueError(f"{count} decisions in {variant} need as many states, not {len(states)}")

    @classmethod
    def unchecked(
        cls, variant: Variant, observations: np.ndarray, action_masks: np.ndarray, seats: np.ndarray, states: Any
    ) -> "Decisions":
        """Decisions from arrays that are known to fit, for inner loops."""
        made = cls.__new__(cls)
        made.variant, made.observations, made.action_masks = variant, observations, action_masks
        made.seats, made._states = seats, states
        return made

    @classmethod
    def from_states(cls, variant: Variant, states: np.ndarray, seats: Any) -> "Decisions":
        """The decisions of seats (B,) in games given by their records (B,); raises `ValueError` if they have none."""
        variant.check_deciding(states, seats)
        pairs = [(i, int(seat)) for i, seat in enumerate(seats)]
        rows = [variant.observation(states, i, seat) for i, seat in pairs]
        masks = [variant.legal_actions(states, i, seat) for i, seat in pairs]
        return cls(variant, np.array(rows), np.array(masks), seats, states)

    def __repr__(self) -> str:
        return f"<{len(self)} Decisions in {self.variant}>"

    def __len__(self) -> int:
        return len(self.seats)

    def __getitem__(self, rows: Any) -> "Decisions":
        rows = [rows] if is_whole(rows) else rows
        states = None if self._states is None else self._states[rows]
        masks, seats = self.action_masks[rows], self.seats[rows]
        return Decisions.unchecked(self.variant, self.observations[rows], masks, seats, states)

    def views(self) -> np.ndarray:
        """What each seat knows as the game's view records, (B,), with named fields."""
        return self.variant.decode(self.observations)

    def sample_worlds(self, i: int, count: int, rng: int | np.random.Generator) -> np.ndarray:
        """States (count,) that the seat of row i holds possible: what it cannot know is resampled.

        They depend on what the seat knows and on `rng`, a seed or a numpy generator, alone. Raises `ValueError` for a
        row or count that cannot be, and for decisions that were made without games.
        """
        if self._states is None:
            raise ValueError("these decisions hold observations only, without games to sample worlds from")
        row = checked("i", i, Integer(-len(self), len(self) - 1)) % len(self)
        worlds = self.variant.new_states(checked("count", count, Integer(0)))
        truth = np.ascontiguousarray(self._states[row : row + 1])
        self.variant.check_deciding(truth, self.seats[row : row + 1])
        seed = rng.integers(1 << 64, dtype=np.uint64) if isinstance(rng, np.random.Generator) else check_seed(rng)
        stream = streams(int(seed), 1, "worlds")
        for k in range(len(worlds)):
            imagine(worlds[k : k + 1], truth, int(self.seats[row]), stream[0])
        return worlds

    def _refusal(self, i: int, action: int) -> IllegalActionError:
        """The error for an action that is not legal in row i."""
        if self._states is None:
            return IllegalActionError(f"action {action} is not legal in row {i}")
        return self.variant.refuse(self._states[i], int(self.seats[i]), action)
