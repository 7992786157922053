"""A game and its options on the command line: the same flags, the same values and the same errors for every command."""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

_NAMED = {"True": True, "False": False, "None": None, "none": None}
"""What Python calls the values that JSON spells true, false and null."""


class _NameGame(argparse.Action):
    """A game's name, in its own place or after `--game`; both must not differ."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        before, game = getattr(namespace, "named_game", None), getattr(namespace, "game", None)
        if before is None and game != parser.get_default("game"):  # a flag `--game` of another kind was there
            before = game
        if before is not None and values is not None and values != before:
            parser.error(f"{before} or {values}? Only one game can be chosen")
        if values is not None:
            namespace.named_game = namespace.game = values


def add_game_arguments(parser: argparse.ArgumentParser, game: str | None = None, players: int | None = None) -> None:
    """A game (in its own place or as `--game`), `--players` and `--option KEY=VALUE`.

    A game or a number of players given here is the default. Parse with `parse`, and read with `game_options`.
    """
    shown = "" if game is None else f" (default: {game})"
    add_game_name(parser, shown)
    parser.add_argument("--game", action=_NameGame, default=game, help=argparse.SUPPRESS)
    shown = "the game's own" if players is None else str(players)
    parser.add_argument("--players", type=int, metavar="N", help=f"number of players (default: {shown})")
    add_option_argument(parser)
    parser.set_defaults(usual_players=players)


def add_game_name(parser: argparse.ArgumentParser, more: str = "") -> None:
    """The name of a game in its own place, beside a flag `--game`."""
    about = f"such as pikit_v0; --game GAME does as well{more}"
    parser.add_argument("named_game", nargs="?", action=_NameGame, metavar="GAME", help=about)


def parse(parser: argparse.ArgumentParser, words: Sequence[str] | None, *, needed: bool = True) -> argparse.Namespace:
    """What is on a command line (None: of this program), with a game in any place among the flags.

    Raises `ValueError` if no game is named and one is `needed`.
    """
    parsed = parser.parse_intermixed_args(words if words is None else list(words))
    if needed and parsed.game is None:
        raise which_game()
    return parsed


def which_game() -> ValueError:
    """The error where no game is named."""
    from monsterzoo.envs import names

    return ValueError(f"which game? GAME is one of {', '.join(names())}")


def add_option_argument(parser: argparse.ArgumentParser) -> None:
    """`--option KEY=VALUE` alone; what it collects is for `read_options`."""
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another option of the game, repeatable; VALUE is JSON, as in 'deck={\"1\": 9}', or None, or text",
    )


def game_options(parsed: argparse.Namespace) -> dict[str, Any]:
    """The game's options among the arguments of `add_game_arguments`; raises `ValueError` for text that is none."""
    options = read_options(parsed.players, parsed.option)
    if parsed.usual_players is not None:
        options.setdefault("players", parsed.usual_players)
    return options


def read_options(players: int | None, texts: Sequence[str]) -> dict[str, Any]:
    """Options given as a number of players and KEY=VALUE; raises `ValueError` for other texts and for repeated keys."""
    options: dict[str, Any] = {} if players is None else {"players": players}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise ValueError(f"--option {text!r}: KEY=VALUE is wanted")
        if key in options:
            raise ValueError(f"--option {text!r}: {key} is given twice")
        options[key] = _read_value(value)
        if value[:1] in ("{", "[") and isinstance(options[key], str):
            raise ValueError(f"--option {text!r}: {value!r} is no JSON, as in 'deck={{\"1\": 9}}'")
    return options


def write_option(key: str, value: Any) -> str:
    """The KEY=VALUE that is read as this option; `value` is JSON."""
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
