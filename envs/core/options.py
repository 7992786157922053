"""Options: name, default, allowed values and help; one system for games, search specs, training and commands.

A game has a dict of `Option`s. Everything else declares its options as the fields of a dataclass:

```python
@dataclass(frozen=True)
class Settings(Checked):
    gamma: Annotated[float, "discount", Number(0, 1)] = 1.0
```

Checks, messages, command-line flags and help texts all come from there. `check` takes a value from Python or JSON,
`read` takes text from a command line or a spec; both return the value as it is kept, or raise `ValueError` or
`TypeError`.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from numbers import Real
from operator import index
from typing import Any, TypeVar, get_type_hints

LARGEST_SEED = (1 << 64) - 1
MOST_THREADS = 1024
_NAMED = {"True": True, "False": False, "None": None, "none": None}
"""Python's names of the values that JSON spells true, false and null."""

T = TypeVar("T")

# --- Allowed values ---


def whole(value: Any) -> int:
    """An integer of any type as Python's `int`; raises `TypeError` for anything else, bool included."""
    if not isinstance(value, bool):
        with suppress(TypeError):
            return index(value)
    raise TypeError(f"expected an integer, got {type(value).__name__}")


def is_whole(value: Any) -> bool:
    """Whether `whole` takes a value."""
    try:
        whole(value)
    except TypeError:
        return False
    return True


class Allowed:
    """Values that an option may have; `str` describes them."""

    metavar: str = "TEXT"

    def check(self, value: Any) -> Any:
        """A value from Python or JSON as it is kept."""
        raise NotImplementedError

    def read(self, text: str) -> Any:
        """A value from text."""
        return self.check(text)


@dataclass(frozen=True)
class Integer(Allowed):
    """An integer in a range, both ends included."""

    low: int
    high: int | None = None

    metavar = "N"

    def __str__(self) -> str:
        return f"an integer from {self.low}" + ("" if self.high is None else f" to {self.high}")

    def check(self, value: Any) -> int:
        """Any integer type but bool."""
        number = whole(value)
        if number < self.low or (self.high is not None and number > self.high):
            raise ValueError
        return number

    def read(self, text: str) -> int:
        """Decimal digits."""
        return self.check(int(text))


@dataclass(frozen=True)
class Number(Allowed):
    """A finite number in a range, both ends included unless it is `above` the lower one."""

    low: float
    high: float | None = None
    above: bool = False

    metavar = "X"

    def __str__(self) -> str:
        start = f"a number above {self.low:g}" if self.above else f"a number from {self.low:g}"
        if self.high is None:
            return start
        return start + (", at most " if self.above else " to ") + f"{self.high:g}"

    def check(self, value: Any) -> float:
        """Any real number type but bool."""
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError
        number = float(value)
        if not math.isfinite(number) or number < self.low or (self.above and number == self.low):
            raise ValueError
        if self.high is not None and number > self.high:
            raise ValueError
        return number

    def read(self, text: str) -> float:
        """As `float` reads it."""
        return self.check(float(text))


class Choice(Allowed):
    """One of a few values."""

    def __init__(self, *values: Any) -> None:
        self.values = values
        self.metavar = "|".join(map(str, values))

    def __str__(self) -> str:
        return ", ".join(map(repr, self.values))

    def check(self, value: Any) -> Any:
        """The value itself; 1 is not True."""
        if is_whole(value):
            value = whole(value)
        for one in self.values:
            if type(value) is type(one) and value == one:
                return one
        raise ValueError

    def read(self, text: str) -> Any:
        """By the value's text."""
        return self.check({str(one): one for one in self.values}.get(text, text))


@dataclass(frozen=True)
class Text(Allowed):
    """A string."""

    metavar: str = "TEXT"

    def __str__(self) -> str:
        return "a string"

    def check(self, value: Any) -> str:
        """Strings only."""
        if not isinstance(value, str):
            raise TypeError
        return value


class Specs(Allowed):
    """A list of policy specs."""

    metavar = "POLICY"

    def __str__(self) -> str:
        return "a list of policies"

    def check(self, value: Any) -> tuple[str, ...]:
        """Lists and tuples, not one string."""
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise TypeError
        return tuple(value)

    def read(self, text: Any) -> tuple[str, ...]:
        """The list that a command line gives."""
        return self.check(text)


class Switch(Allowed):
    """On or off."""

    def __str__(self) -> str:
        return "True or False"

    def check(self, value: Any) -> bool:
        """Only bool."""
        if not isinstance(value, bool):
            raise TypeError
        return value


class GameOptions(Allowed):
    """Options of a game, which the game checks itself."""

    def __str__(self) -> str:
        return "a dict of the game's options"

    def check(self, value: Any) -> dict[str, Any]:
        """A dict with names as keys."""
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise TypeError
        return value


@dataclass(frozen=True)
class Custom(Allowed):
    """Values that a function checks and normalises."""

    function: Callable[[Any], Any]
    description: str

    def __str__(self) -> str:
        return self.description

    def check(self, value: Any) -> Any:
        """What the function returns."""
        return self.function(value)


# --- Options ---


@dataclass(frozen=True)
class Option:
    """One option; `default` is `MISSING` where a value must be given, and None is allowed where it is the default."""

    default: Any
    values: Allowed
    meaning: str

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return f"None, or {self.values}" if self.default is None else str(self.values)

    def check(self, value: Any) -> Any:
        """A value from Python or JSON as it is kept."""
        return None if value is None and self.default is None else self.values.check(value)


def choice(*values: Any, default: Any, meaning: str) -> Option:
    """An option of a game: one of a few values."""
    return Option(default, Choice(*values), meaning)


def integer(low: int, high: int, *, default: int | None, meaning: str) -> Option:
    """An option of a game: an integer in a range; None is allowed where it is the default."""
    return Option(default, Integer(low, high), meaning)


REWARD = choice("win", "score", default="win", meaning="what is rewarded: winning the game, or changes of the score")


class UnexpectedOptionError(TypeError, ValueError):
    """Unknown option.

    A `ValueError` as for any bad option, and a `TypeError` as for any unknown keyword: the RL libraries try keywords
    such as `render_mode` or `frameskip`, and do without them where that is what they get.
    """


def unexpected(name: str, key: str, known: Iterable[str]) -> UnexpectedOptionError:
    """The error for an unknown option."""
    return UnexpectedOptionError(
        f"{name} has no option {key!r}; its options are {', '.join(known)} (unexpected keyword argument {key!r})"
    )


def refusal(given: str, allowed: object, detail: object = "") -> ValueError:
    """The error for a value that is not allowed; `given` shows it as it was given, such as "--seed -1"."""
    return ValueError(f"{given} is not allowed; allowed: {allowed}" + (f" ({detail})" if str(detail) else ""))


def checked(name: str, value: Any, option: Option | Allowed, place: str = "") -> Any:
    """A keyword's value as it is kept; raises `ValueError` saying what is allowed."""
    try:
        return option.check(value)
    except (ValueError, TypeError, OverflowError) as error:
        allowed = option.allowed if isinstance(option, Option) else option
        raise refusal(f"{place}{name}={value!r:.200}", allowed, error) from None


def resolve(name: str, table: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a game with defaults filled in; raises `ValueError` naming the option and what is allowed.

    An unknown option raises `UnexpectedOptionError`, which is a `TypeError` too.
    """
    for key in given:
        if key not in table:
            raise unexpected(name, key, table)
    return {key: checked(key, given.get(key, one.default), one, f"{name}: ") for key, one in table.items()}


# --- Options that are fields of a dataclass ---


def options_of(kind: type) -> dict[str, Option]:
    """The options of a dataclass by name, from its annotated fields."""
    hints = get_type_hints(kind, include_extras=True)
    found = {}
    for field in fields(kind):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        meaning, values = getattr(hints[field.name], "__metadata__", ("", Custom(lambda value: value, "anything")))
        found[field.name] = Option(default, values, meaning)
    return found


class Checked:
    """Base of dataclasses whose fields are options: none has a value that is not allowed."""

    def __post_init__(self) -> None:
        for name, option in options_of(type(self)).items():
            # Frozen dataclasses too: a value may be kept in another form, such as a tuple for a list.
            object.__setattr__(self, name, checked(name, getattr(self, name), option))


def read_settings(kind: type[T], texts: Iterable[str], **given: Any) -> T:
    """A dataclass of options from "name=value" texts and other values; raises `ValueError` for what is wrong."""
    table = options_of(kind)
    for text in texts:
        name, _, value = text.partition("=")
        if name not in table:
            raise ValueError(f"unknown setting {name!r}; settings are {', '.join(table)}")
        if name in given:
            raise ValueError(f"{name} is given twice")
        try:
            given[name] = table[name].values.read(value)
        except (ValueError, TypeError, OverflowError):
            raise refusal(text[:80], table[name].values) from None
    return kind(**given)


# --- Options as text ---


def flag(name: str) -> str:
    """An option's name on the command line."""
    return "--" + name.replace("_", "-")


def as_flag(name: str, value: Any) -> str:
    """An option and its value as on the command line."""
    return f"{flag(name)} {value if isinstance(value, str) and value else repr(value)}"


def read_options(players: int | None, texts: Sequence[str]) -> dict[str, Any]:
    """A game's options from a number of players and KEY=VALUE texts; raises `ValueError` for other texts."""
    options: dict[str, Any] = {} if players is None else {"players": players}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise ValueError(f"--option {text!r}: expected KEY=VALUE")
        if key in options:
            raise ValueError(f"--option {text!r}: {key} is given twice")
        options[key] = _read_value(value)
        if value[:1] in ("{", "[") and isinstance(options[key], str):
            raise ValueError(f"--option {text!r}: {value!r} is not JSON, as in 'deck={{\"1\": 9}}'")
    return options


def write_option(key: str, value: Any) -> str:
    """The KEY=VALUE text of an option; `value` is JSON."""
    plain = isinstance(value, str) and _read_value(value) == value
    return f"{key}={value if plain else json.dumps(value)}"


def label(options: Mapping[str, Any], between: str = ", ") -> str:
    """Options for people to read: "players=4, variant=seven_suitors"."""
    return between.join(f"{key}={value}" for key, value in options.items())


def _read_value(text: str) -> Any:
    if text in _NAMED:
        return _NAMED[text]
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):  # brackets within brackets without end
        return text
