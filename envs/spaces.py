"""Spaces and seeds that all adapters share."""

import secrets

import numpy as np
from gymnasium import spaces

from .core.game import Variant


def observation_space(variant: Variant) -> spaces.Dict:
    """`Dict(observation: Box int8 (n,), action_mask: Box int8 (A,))`."""
    low, high = variant.layout.bounds
    return spaces.Dict(
        {
            "observation": spaces.Box(low, high, dtype=np.int8),
            "action_mask": spaces.Box(0, 1, (variant.num_actions,), np.int8),
        }
    )


def action_space(variant: Variant) -> spaces.Discrete:
    """`Discrete(A)`; the last action is the no-op."""
    return spaces.Discrete(variant.num_actions)


def fresh_seed() -> int:
    """A seed from the operating system's randomness."""
    return secrets.randbits(63)
