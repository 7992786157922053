"""Options: name, default, allowed values and help; one system for games, search specs, training and commands.

A game has a dict of `Option`s. Everything else declares its options as the fields of a dataclass:

```python
@dataclass(frozen=True)
class Settings(Checked):
    gamma: Annotated[float, "discount", Number(0, 1)] = 1.0
```

Checks, messages, command-line flags and help texts all come from there.
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
    """Values that an option may have: `str` describes them."""

    description: str = "anything"
    types: tuple[type, ...] = (object,)
    convert: Callable[[Any], Any] = str
    """From text."""
    metavar: str = "TEXT"

    def __str__(self) -> str:
        return self.description

    def check(self, value: Any) -> Any:
        """A value from Python or JSON as it is kept; raises `ValueError` or `TypeError`."""
        return self._check(value)

    def read(self, text: Any) -> Any:
        """A value from text, or from a list of texts."""
        return self._check(type(self).convert(text))

    def _check(self, value: Any) -> Any:
        if not isinstance(value, self.types):
            raise TypeError
        return value


@dataclass(frozen=True)
class Integer(Allowed):
    """An integer in a range, both ends included."""

    low: int
    high: int | None = None

    metavar, convert = "N", int

    def __str__(self) -> str:
        return f"an integer from {self.low}" + ("" if self.high is None else f" to {self.high}")

    def _check(self, value: Any) -> int:
        number = whole(value)
        if number < self.low or (self.high is not None and number > self.high):
            raise ValueError
        return number


@dataclass(frozen=True)
class Number(Allowed):
    """A finite number in a range, both ends included unless it is `above` the lower one."""

    low: float
    high: float | None = None
    above: bool = False

    metavar, convert = "X", float

    def __str__(self) -> str:
        start, to = ("a number above", ", at most") if self.above else ("a number from", " to")
        return f"{start} {self.low:g}" + ("" if self.high is None else f"{to} {self.high:g}")

    def _check(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"expected a number, got {type(value).__name__}")
        number = float(value)
        high = math.inf if self.high is None else self.high
        if not math.isfinite(number) or not self.low <= number <= high or (self.above and number == self.low):
            raise ValueError
        return number


class Choice(Allowed):
    """One of a few values; 1 is not True."""

    def __init__(self, *values: Any) -> None:
        self.values, self.metavar = values, "|".join(map(str, values))

    def __str__(self) -> str:
        return ", ".join(map(repr, self.values))

    def _check(self, value: Any) -> Any:
        value = whole(value) if is_whole(value) else value
        for one in self.values:
            if type(value) is type(one) and value == one:
                return one
        raise ValueError


@dataclass(frozen=True)
class Text(Allowed):
    """A string."""

    metavar: str = "TEXT"

    description, types = "a string", (str,)


class Specs(Allowed):
    """A list of policy specs, not one string."""

    description, convert, metavar = "a list of policies", list, "POLICY"

    def _check(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise TypeError
        return tuple(value)


class Switch(Allowed):
    """On or off."""

    description, types, convert = "True or False", (bool,), bool


class GameOptions(Allowed):
    """Options of a game, which the game checks itself."""

    description, types = "a dict of the game's options", (dict,)


@dataclass(frozen=True)
class Custom(Allowed):
    """Values that a function checks and normalises."""

    function: Callable[[Any], Any]
    description: str

    def _check(self, value: Any) -> Any:
        return self.function(value)


# --- Options ---


@dataclass(frozen=True)
class Option:
    """One option; `default` is `MISSING` where a value must be given, and None is allowed where it is the default."""

    default: Any
    values: Allowed
    meaning: str
    shown: str | None = None
    """The default in words, where it does not speak for itself."""

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return f"None, or {self.values}" if self.default is None else str(self.values)

    def check(self, value: Any) -> Any:
        """A value from Python or JSON as it is kept; raises `ValueError` or `TypeError`."""
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


def refusal(given: str, allowed: object, detail: object = "") -> ValueError:
    """The error for a value that is not allowed; `given` shows it as it was given, such as "--seed -1"."""
    return ValueError(f"{given} is not allowed; allowed: {allowed}" + (f" ({detail})" if str(detail) else ""))


def checked(name: str, value: Any, option: Option | Allowed) -> Any:
    """A keyword's value as it is kept; raises `ValueError` saying what is allowed."""
    if isinstance(option, Allowed):
        option = Option(MISSING, option, "")
    try:
        return option.check(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise refusal(f"{name}={value!r:.200}", option.allowed, error) from None


def resolve(name: str, table: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a game with defaults filled in; raises `ValueError` naming the option and what is allowed.

    An unknown option raises `UnexpectedOptionError`, which is a `TypeError` too.
    """
    for key in given:
        if key not in table:
            known = f"{name} has no option {key!r}; its options are {', '.join(table)}"
            raise UnexpectedOptionError(f"{known} (unexpected keyword argument {key!r})")
    return {key: checked(f"{name}: {key}", given.get(key, one.default), one) for key, one in table.items()}


# --- Options that are fields of a dataclass ---


def options_of(kind: type) -> dict[str, Option]:
    """The options of a dataclass by name, from its annotated fields."""
    hints = get_type_hints(kind, include_extras=True)
    found = {}
    for field in fields(kind):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        meaning, allowed = getattr(hints[field.name], "__metadata__", ("", Allowed()))
        found[field.name] = Option(default, allowed, meaning)
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
