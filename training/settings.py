"""Options that say what they mean and what they may be, for a command line and for Python alike.

An option is a field of a dataclass, annotated with a line of help and with what is allowed:

```python
@dataclass
class Options(Checked):
    gamma: Annotated[float, "discount", Number(0, 1)] = 1.0
```

The flag, its help, and the check of values from a command line, from Python and from files all come from there.
"""

import argparse
import math
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from numbers import Real
from typing import Any, get_type_hints

from .game_options import add_option_argument

LARGEST_SEED = (1 << 64) - 1
MOST_THREADS = 1024


@dataclass(frozen=True)
class Whole:
    """A whole number of a range, both ends included."""

    low: int
    high: int | None = None

    metavar = "N"

    def __str__(self) -> str:
        return f"a whole number from {self.low}" + ("" if self.high is None else f" to {self.high}")

    def __call__(self, value: Any) -> int:
        """The value, as text or number; raises `ValueError` or `TypeError` if it is not allowed."""
        if isinstance(value, bool):
            raise TypeError
        number = int(value) if isinstance(value, str) else value.__index__() if hasattr(value, "__index__") else None
        if number is None or number < self.low or (self.high is not None and number > self.high):
            raise ValueError
        return int(number)


@dataclass(frozen=True)
class Number:
    """A finite number of a range, both ends included unless it is `above` the lower one."""

    low: float
    high: float | None = None
    above: bool = False

    metavar = "X"

    def __str__(self) -> str:
        start = f"a number above {self.low:g}" if self.above else f"a number from {self.low:g}"
        if self.high is None:
            return start
        return start + (", at most " if self.above else " to ") + f"{self.high:g}"

    def __call__(self, value: Any) -> float:
        """The value, as text or number; raises `ValueError` or `TypeError` if it is not allowed."""
        if isinstance(value, bool) or not isinstance(value, str | Real):
            raise TypeError
        number = float(value)
        if not math.isfinite(number) or number < self.low or (self.above and number == self.low):
            raise ValueError
        if self.high is not None and number > self.high:
            raise ValueError
        return number


@dataclass(frozen=True)
class Text:
    """One text."""

    metavar = "TEXT"

    def __str__(self) -> str:
        return "a text"

    def __call__(self, value: Any) -> str:
        """The value; raises `TypeError` for anything else."""
        if not isinstance(value, str):
            raise TypeError
        return value


@dataclass(frozen=True)
class Policies:
    """Specs of policies; one text would be a list of its letters."""

    metavar = "POLICY"

    def __str__(self) -> str:
        return "a list of policies"

    def __call__(self, value: Any) -> tuple[str, ...]:
        """The value as a tuple (JSON has lists); raises `TypeError` for anything else."""
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise TypeError
        return tuple(value)


@dataclass(frozen=True)
class Switch:
    """On or off."""

    def __str__(self) -> str:
        return "True or False"

    def __call__(self, value: Any) -> bool:
        """The value; raises `TypeError` for anything else."""
        if not isinstance(value, bool):
            raise TypeError
        return value


@dataclass(frozen=True)
class GameOptions:
    """Options of a game, which the game checks itself."""

    def __str__(self) -> str:
        return "a dict of the game's options"

    def __call__(self, value: Any) -> dict[str, Any]:
        """The value; raises `TypeError` for anything else."""
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise TypeError
        return value


def flag(name: str) -> str:
    """What an option is called on the command line."""
    return "--" + name.replace("_", "-")


def refusal(name: str, value: Any, allowed: Any) -> ValueError:
    """The one sentence about a value that is not allowed."""
    shown = value if isinstance(value, str) and value else repr(value)
    return ValueError(f"{flag(name)} {shown} is not allowed; allowed: {allowed}")


@cache
def described(kind: type) -> dict[str, tuple[str, Any]]:
    """Meaning and range of every option of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    return {one.name: hints[one.name].__metadata__ for one in fields(kind)}


def checked(kind: type, name: str, value: Any) -> Any:
    """The value of an option as it is kept; raises `ValueError` saying what is allowed."""
    if value is None and default_of(kind, name) is None:
        return None
    return kept(name, value, described(kind)[name][1])


def kept(name: str, value: Any, allowed: Any) -> Any:
    """A value as it is kept; raises `ValueError` saying what is allowed."""
    try:
        return allowed(value)
    except (ValueError, TypeError, OverflowError):
        raise refusal(name, value, allowed) from None


def default_of(kind: type, name: str) -> Any:
    """An option's default; `MISSING` if it has to be given."""
    one: Field[Any] = next(one for one in fields(kind) if one.name == name)
    return one.default if one.default_factory is MISSING else one.default_factory()


class Checked:
    """Base of dataclasses whose fields are options: none has a value that is not allowed."""

    def __post_init__(self) -> None:
        kind: type = type(self)
        for name in described(kind):
            # Also for frozen dataclasses: what is kept may be another form of the value, a tuple for a list, say.
            object.__setattr__(self, name, checked(kind, name, getattr(self, name)))


def add_flags(
    parser: argparse.ArgumentParser,
    kind: type,
    defaults: dict[str, str] | None = None,
    aliases: dict[str, str] | None = None,
) -> None:
    """A flag for every option of a dataclass, with what is allowed and the default in its help.

    Args:
        parser: gets the flags; read them with `given`.
        kind: the dataclass.
        defaults: defaults in words, where the field's own does not tell.
        aliases: other flags of options, as other commands call them.
    """
    for name, (meaning, allowed) in described(kind).items():
        if isinstance(allowed, GameOptions):
            add_option_argument(parser)
            continue
        default = default_of(kind, name)
        shown = (defaults or {}).get(name, default)
        more: dict[str, Any] = {}
        if isinstance(allowed, Switch):
            more["action"] = argparse.BooleanOptionalAction
        else:
            more["metavar"] = allowed.metavar
        if isinstance(allowed, Policies):
            more["nargs"] = "*"
        notes = [str(allowed)] if isinstance(allowed, Whole | Number) else []
        notes += [] if shown in (None, MISSING) else [f"default: {shown}"]
        text = f"{meaning} ({'; '.join(notes)})" if notes else meaning
        flags = [flag(name), *([aliases[name]] if aliases and name in aliases else [])]
        parser.add_argument(*flags, dest=name, default=None, help=text.replace("%", "%%"), **more)


def given(parsed: argparse.Namespace, kind: type) -> dict[str, Any]:
    """The options that were on the command line, checked, but for the options of the game."""
    names = (name for name, (_, allowed) in described(kind).items() if not isinstance(allowed, GameOptions))
    found = ((name, getattr(parsed, name)) for name in names)
    return {name: checked(kind, name, value) for name, value in found if value is not None}
