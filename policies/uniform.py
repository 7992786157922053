"""The uniformly random policy."""

import numpy as np
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match import sampling
from monsterzoo.envs.match.compiled_policies import Uniform
from monsterzoo.envs.match.decisions import Decisions

from .base import Named, legal_masks


class UniformPolicy(Named):
    """A uniformly random legal action."""

    name = "random"
    compiled = Uniform()

    def __init__(self, variant: Variant, seed: int = 0) -> None:
        self.variant = variant
        self._stream = streams(seed, 1, "policy")

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, int64 (B,); raises `ValueError` for decisions in another game."""
        masks = legal_masks(self, decisions)
        actions = np.empty(len(masks), np.int64)
        sampling.sample_rows(masks, self._stream, actions)
        return actions


def make(variant: Variant, argument: str | None, seed: int) -> UniformPolicy:
    """The policy of the spec "random"."""
    if argument is not None:
        raise ValueError(f"'random' takes no argument, not {argument!r}")
    return UniformPolicy(variant, seed)
