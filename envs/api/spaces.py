"""Spaces, seeds and options of `reset` that all adapters share."""

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from ..core.options import is_whole, whole
from ..core.variant import Variant


def observation_space(variant: Variant, observation: str = "dict", history: int | None = None) -> spaces.Space:
    """`Dict(observation: Box int8 (n,), action_mask: Box int8 (A,))`, or with "box" the first of them alone.

    With `history`, an integer T from 1, the dict has a third part: `history: Box int16 (T, 2)`, the last T events that
    the seat saw, the newest last, zeros in front. An event is a seat, clockwise from the observer, and a number, see
    `Variant.event_names`. Raises `ValueError` for anything else.
    """
    if observation not in ("dict", "box"):
        raise ValueError(
            f"{variant.game.name}: observation={observation!r} is not allowed; allowed: 'dict', 'box' (masks in infos)"
        )
    low, high = variant.layout.bounds
    columns = spaces.Box(low, high, dtype=np.int8)
    masks = spaces.Box(0, 1, (variant.num_actions,), np.int8)
    if history is None:
        return columns if observation == "box" else spaces.Dict({"observation": columns, "action_mask": masks})
    if not is_whole(history) or whole(history) < 1:
        raise ValueError(
            f"{variant.game.name}: history={history!r} is not allowed; allowed: None, or an integer from 1"
        )
    if observation == "box":
        raise ValueError(f"{variant.game.name}: history needs observation='dict'")
    most = np.array([variant.players - 1, len(variant.event_names) - 1])
    events = spaces.Box(0, np.tile(most, (whole(history), 1)).astype(np.int16), dtype=np.int16)
    return spaces.Dict({"observation": columns, "action_mask": masks, "history": events})


def action_space(variant: Variant) -> spaces.Discrete:
    """`Discrete(A)`; the last action is the no-op."""
    return spaces.Discrete(variant.num_actions)


def check_reset_options(options: Any, *known: str) -> dict[str, Any]:
    """The options of a `reset`; raises `ValueError` for keys that are not known."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options of reset are a dict, not {options!r}")
    for key in options:
        if key not in known:
            allowed = ", ".join(map(repr, known)) or "none"
            raise ValueError(f"reset has no option {key!r}; its options are: {allowed}")
    return dict(options)


def fresh_seed() -> int:
    """A seed from the operating system's randomness."""
    return secrets.randbits(63)
