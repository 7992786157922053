"""Reading and checking snapshots: what the games share. Everything here raises `SnapshotError`."""

from collections.abc import Mapping, Sequence
from typing import Any


class SnapshotError(ValueError):
    """A position that cannot be; the message says what is wrong with it."""


def require(condition: Any, problem: str) -> None:
    """Raise `SnapshotError` unless the condition holds."""
    if not condition:
        raise SnapshotError(problem)


def require_once(found: Sequence[int], names: Mapping[int, str]) -> None:
    """Every thing that has a name is found in exactly one place."""
    for thing, name in names.items():
        count = found.count(thing)
        require(count == 1, f"{name} is {f'in {count} places' if count else 'missing'}")


def read_number(value: Any, key: str, low: int, high: int) -> int:
    """An integer in a range."""
    require(type(value) is int and low <= value <= high, f"{key} is an integer from {low} to {high}, not {value!r}")
    return int(value)


def read_list(value: Any, key: str, length: int | None = None) -> list[Any]:
    """A list, of a given length if there is one."""
    fits = isinstance(value, list | tuple) and length in (None, len(value))
    require(fits, f"{key} is a list{'' if length is None else f' of {length}'}, not {value!r}")
    return list(value)


def read_name(name: Any, key: str, numbers: Mapping[str, int], kind: str) -> int:
    """The number of a card, tile or suit by its name."""
    require(isinstance(name, str) and name in numbers, f"{key}: there is no {kind} {name!r}")
    return numbers[name]


def read_names(names: Any, key: str, numbers: Mapping[str, int], kind: str) -> list[int]:
    """The numbers of different cards, tiles or suits, from one of the lists of a key."""
    found = [read_name(name, key, numbers, kind) for name in read_list(names, f"each of {key}")]
    for name in names:
        require(names.count(name) == 1, f"{key}: {name!r} is there twice")
    return found


def told(key: str, value: Any) -> list[str]:
    """A key of a snapshot as lines for people: one, or one for each of several seats or piles; none if it is empty."""
    if value is None or value is False or value == [] or key in ("options", "generator"):
        return []
    if isinstance(value, list) and isinstance(value[0], list | dict):
        rows = [f"  {number}  {_words(one)}" for number, one in enumerate(value) if one]
        return [f"{key}:", *rows] if rows else []
    return [f"{key}: {_words(value)}"]


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {_words(one)}" for key, one in value.items() if one != [])
    return ", ".join(map(_words, value)) if isinstance(value, list) else "-" if value in (None, "") else str(value)


class Reader:
    """Base of each game's loader, which writes a snapshot into a record."""

    def __init__(self, data: Mapping[str, Any], state: Any) -> None:
        self.data, self.state, self.players = data, state, int(state.players)
        self.seats = range(self.players)

    def phase(self, phases: Sequence[str], allowed: Sequence[str]) -> int:
        """The number of the phase, which must be one of the allowed ones."""
        phase = self.data["phase"]
        require(phase in allowed, f"phase is one of {', '.join(allowed)}, not {phase!r}")
        return phases.index(phase)

    def number(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """The key's integer; a key with a default may be missing or null."""
        if default is not None and self.data.get(key) is None:
            return default
        return read_number(self.data[key], key, low, high)

    def rows(self, key: str, length: int | None = None) -> list[Any]:
        """The key's list with one entry per seat, or with `length` entries."""
        return read_list(self.data[key], key, length or self.players)

    def optional_rows(self, key: str, default: Any, length: int | None = None) -> list[Any]:
        """The same for a key that may be missing or null."""
        return [default] * (length or self.players) if self.data.get(key) is None else self.rows(key, length)
