"""The random player."""

import numpy as np
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match import kernels
from monsterzoo.envs.match.compiled_policies import Uniform

from .base import named, read_table


class UniformPolicy:
    """A uniformly random legal action."""

    name = "random"
    compiled = Uniform()

    def __init__(self, variant: Variant, seed: int = 0) -> None:
        self.variant = variant
        self._stream = streams(seed, 1, "policy")

    def __repr__(self) -> str:
        return named(self)

    def act(
        self, observations: np.ndarray, action_masks: np.ndarray, seats: np.ndarray, states: np.ndarray | None = None
    ) -> np.ndarray:
        """One legal action per row, integers (B,); raises `ValueError` at the table of another game."""
        _, masks = read_table(self.name, self.variant, observations, action_masks, states)
        actions = np.empty(len(masks), np.int64)
        kernels.sample_rows(masks, self._stream, actions)
        return actions


def make(variant: Variant, argument: str | None, seed: int) -> UniformPolicy:
    """The maker behind the spec "random"."""
    if argument is not None:
        raise ValueError(f"'random' takes no argument, not {argument!r}")
    return UniformPolicy(variant, seed)
