"""Options of a game: what is allowed, what is the default, and errors that say so."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any


def whole(value: Any) -> int:
    """A whole number of any integer type as Python's; raises `TypeError` for anything else, truth values included."""
    if isinstance(value, bool):
        raise TypeError("a truth value is not a whole number")
    return index(value)


def is_whole(value: Any) -> bool:
    """Whether `whole` takes a value."""
    try:
        whole(value)
    except TypeError:
        return False
    return True


class UnexpectedOptionError(TypeError, ValueError):
    """An option that there is not, or not here.

    A `ValueError` as for any bad option, and a `TypeError` as for any unknown keyword: the RL libraries try keywords
    such as `render_mode` or `frameskip`, and do without them where that is what they get.
    """


def unexpected(name: str, key: str, known: Iterable[str]) -> UnexpectedOptionError:
    """The error for an option that there is not."""
    return UnexpectedOptionError(
        f"{name} has no option {key!r}; its options are {', '.join(known)} (unexpected keyword argument {key!r})"
    )


@dataclass(frozen=True)
class Option:
    """One option: its default, a test that also normalises a value, and the allowed values in words."""

    default: Any
    parse: Callable[[Any], Any]
    """Returns the value as it is kept (JSON-able), or raises `ValueError` or `TypeError`."""
    allowed: str
    meaning: str


def choice(*values: Any, default: Any, meaning: str) -> Option:
    """One of a few values."""

    def parse(value: Any) -> Any:
        if is_whole(value):
            value = whole(value)
        for allowed in values:
            if type(value) is type(allowed) and value == allowed:
                return allowed
        raise ValueError

    return Option(default, parse, ", ".join(repr(v) for v in values), meaning)


def whole_number(low: int, high: int, *, default: int | None, meaning: str) -> Option:
    """A whole number in a range; None is allowed where it is the default."""

    def parse(value: Any) -> Any:
        if value is None and default is None:
            return None
        if not is_whole(value):
            raise TypeError
        number = whole(value)
        if not low <= number <= high:
            raise ValueError
        return number

    allowed = f"a whole number from {low} to {high}" + (" or None" if default is None else "")
    return Option(default, parse, allowed, meaning)


REWARD = choice("win", "score", default="win", meaning="what is rewarded: winning the game, or changes of the score")


def resolve(name: str, table: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a game with defaults filled in; raises `ValueError` naming the option and what is allowed.

    An option that there is not raises `UnexpectedOptionError`, which is a `TypeError` too.
    """
    for key in given:
        if key not in table:
            raise unexpected(name, key, table)
    values = {}
    for key, option in table.items():
        value = given.get(key, option.default)
        try:
            values[key] = option.parse(value)
        except (ValueError, TypeError) as error:
            detail = f" ({error})" if str(error) else ""
            raise ValueError(f"{name}: {key}={value!r} is not allowed; allowed: {option.allowed}{detail}") from None
    return values
