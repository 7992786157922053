"""What a policy is."""

from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Policy(Protocol):
    """Chooses actions for a batch of seats, possibly in different games."""

    name: str
    """For tables and plots; policies made from a spec are called like it."""

    def act(
        self, observations: np.ndarray, action_masks: np.ndarray, seats: np.ndarray, states: np.ndarray | None = None
    ) -> np.ndarray:
        """One legal action per row, integers (B,).

        Args:
            observations: int8 (B, n), what each seat knows.
            action_masks: int8 (B, A), what each may do.
            seats: integers (B,), which seat decides.
            states: the games' records (B,). Only search needs them, and only to resample what the seat cannot know.
        """


def compiled_form(policy: Any) -> Any:
    """The NamedTuple that plays the policy inside compiled loops (`seat_kernels.choose`), or None."""
    return getattr(policy, "compiled", None)
