"""What a policy is."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from monsterzoo.envs.core.game import Variant


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


def named(policy: Any) -> str:
    """How a policy shows itself: "<SearchPolicy search:100 for pikit_v0 with players=4>"."""
    return f"<{type(policy).__name__} {policy.name} for {policy.variant}>"


def read_table(
    name: str, variant: Variant, observations: Any, action_masks: Any, states: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What a policy made for a variant is shown: observations (B, n) and masks (B, A) of zeros and ones, as int8.

    Raises `ValueError` if they, or the states, are those of another game or number of players.
    """
    rows, masks = np.asarray(observations), np.asarray(action_masks)
    for what, shown, columns in (("masks", masks, variant.num_actions), ("observations", rows, variant.layout.size)):
        if shown.ndim != 2 or shown.shape[1] != columns:
            raise ValueError(f"{name} was made for {variant}: {what} are (B, {columns}) there, not {shown.shape}")
    if states is not None:
        try:
            variant.check_states(states)
        except ValueError as error:
            raise ValueError(f"{name} was made for {variant}: {error}") from None
    if len(rows) != len(masks) or (states is not None and len(states) != len(masks)):
        raise ValueError(f"{name}: as many observations and states as masks are needed")
    legal = np.ascontiguousarray(masks != 0)
    if not legal.any(axis=1).all():
        raise ValueError(f"{name}: no action is legal in row {int(legal.any(axis=1).argmin())}")
    return rows, legal.view(np.int8)


def compiled_form(policy: Any) -> Any:
    """The NamedTuple that plays the policy inside compiled loops (`match.compiled_policies`), or None."""
    return getattr(policy, "compiled", None)
