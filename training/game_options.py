"""A game and its options on the command line: the same flags, the same values and the same errors for every command."""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

_NAMED = {"True": True, "False": False, "None": None, "none": None}
"""What Python calls the values that JSON spells true, false and null."""


def add_game_arguments(parser: argparse.ArgumentParser, game: str | None = None, players: int | None = None) -> None:
    """`--game`, `--players` and `--option KEY=VALUE`; a game or a number of players given here is the default."""
    shown = "" if game is None else f" (default: {game})"
    parser.add_argument("--game", required=game is None, default=game, help=f"such as yokai_septet_v0{shown}")
    shown = "the game's own" if players is None else str(players)
    parser.add_argument("--players", type=int, help=f"number of players (default: {shown})")
    add_option_argument(parser)
    parser.set_defaults(usual_players=players)


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
    except json.JSONDecodeError:
        return text
