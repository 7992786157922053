"""Spaces, seeds and options of `reset` that all adapters share."""

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from ..core.options import Choice, Integer, Option, checked, refusal, whole
from ..core.variant import Variant


class Columns:
    """The type of observations: int8, or `dtype="float32"`, with `scale` from 0 to 1 by the ranges of the layout.

    Raises `ValueError` for another type, and for `scale` with int8.
    """

    def __init__(self, variant: Variant, dtype: Any = "int8", scale: bool = False) -> None:
        name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
        checked(f"{variant.game.name}: dtype", name, Choice("int8", "float32"))
        if not isinstance(scale, bool) or (scale and name == "int8"):
            raise refusal(f"{variant.game.name}: scale={scale!r}", "False, or True with float32")
        self.floats, self.scale, self._type = name == "float32", scale, np.dtype(name)
        self._low, self._high = (bound.astype(self._type) for bound in variant.layout.bounds)

    def space(self, seats: int = 1) -> spaces.Box:
        """The space of one observation, or of those of several seats behind each other."""
        low, high = (np.tile(bound, seats) for bound in (self._low, self._high))
        return spaces.Box(0, 1, low.shape, np.float32) if self.scale else spaces.Box(low, high, dtype=self._type.type)

    def convert(self, rows: np.ndarray) -> np.ndarray:
        """Observations, int8 (…, n), in this type; int8 itself as it is."""
        if not self.floats:
            return rows
        values = rows.astype(np.float32)
        return (values - self._low) / np.maximum(self._high - self._low, 1) if self.scale else values


def observation_space(
    variant: Variant, observation: str = "dict", history: int | None = None, columns: Columns | None = None
) -> spaces.Space:
    """`Dict(observation: Box int8 (n,), action_mask: Box int8 (A,))`, or with "box" the first of them alone.

    With `history`, an integer T from 1, the dict has a third part: `history: Box int16 (T, 2)`, the last T events that
    the seat saw, the newest last, zeros in front. An event is a seat, clockwise from the observer, and a number, see
    `Variant.event_names`. Raises `ValueError` for anything else.
    """
    name = variant.game.name
    checked(f"{name}: observation", observation, Choice("dict", "box"))
    checked(f"{name}: history", history, Option(None, Integer(1), ""))
    tensor = (columns or Columns(variant)).space()
    if observation == "box":
        if history is not None:
            raise ValueError(f"{name}: history needs observation='dict'")
        return tensor
    parts: dict[str, spaces.Space[Any]] = {
        "observation": tensor,
        "action_mask": spaces.Box(0, 1, (variant.num_actions,), np.int8),
    }
    if history is not None:
        most = np.array([variant.players - 1, len(variant.event_names) - 1])
        parts["history"] = spaces.Box(0, np.tile(most, (whole(history), 1)).astype(np.int16), dtype=np.int16)
    return spaces.Dict(parts)


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
