"""What checking a snapshot takes, whatever the game."""

from typing import Any


class SnapshotError(ValueError):
    """A position that cannot be; the message says what is wrong with it."""


def require(condition: Any, problem: str) -> None:
    """Raise `SnapshotError` unless the condition holds."""
    if not condition:
        raise SnapshotError(problem)


def read_number(value: Any, key: str, low: int, high: int) -> int:
    """A whole number in a range; raises `SnapshotError` for anything else."""
    whole = type(value) is int and low <= value <= high
    require(whole, f"{key} is a whole number from {low} to {high}, not {value!r}")
    return int(value)
