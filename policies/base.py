"""The `Policy` protocol, and what implementations of it share."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.players import check_player


@runtime_checkable
class Policy(Protocol):
    """Chooses actions for a batch of seats, possibly in different games."""

    name: str
    """For tables and plots; policies made from a spec are called like it."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, integers (B,)."""


class Named:
    """Base of policies with a repr such as "<SearchPolicy search:100 for pikit_v0 with players=4>"."""

    name: str
    variant: Variant

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} for {self.variant}>"


def legal_masks(policy: Any, decisions: Decisions) -> np.ndarray:
    """The masks as zeros and ones, contiguous int8 (B, A), for compiled code.

    Raises `ValueError` if the policy was made for another game, and for a row without a legal action.
    """
    check_player(policy, decisions.variant)
    legal = np.ascontiguousarray(decisions.action_masks != 0)
    if not legal.any(axis=1).all():
        raise ValueError(f"{policy.name}: no action is legal in row {int(legal.any(axis=1).argmin())}")
    return legal.view(np.int8)
