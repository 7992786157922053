"""The command `monsterzoo`: one subcommand a module, imported when it is used."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

# Name -> (module with `add_arguments(parser)` and `run(arguments) -> exit code`, what it does).
_COMMANDS = {
    "arena": ("arena_cli", "let policies play against each other and rank them"),
    "train": ("ppo", "train a network by self-play"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="monsterzoo", description="Monsters at the card variant, for machines.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    given = list(sys.argv[1:] if arguments is None else arguments)
    for name, (module, summary) in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name in given[:1]:
            import_module(f".{module}", __package__).add_arguments(command)
    parsed = parser.parse_args(given)
    try:
        return int(import_module(f".{_COMMANDS[parsed.command][0]}", __package__).run(parsed))
    except ValueError as error:
        print(f"monsterzoo {parsed.command}: {error}", file=sys.stderr)
        return 2


def add_game_arguments(parser: argparse.ArgumentParser) -> None:
    """`--game`, `--players` and `--option key=value`, the same for every command."""
    parser.add_argument("--game", required=True, help="such as yokai_septet_v0")
    parser.add_argument("--players", type=int, help="number of players")
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="another option of the game; repeatable"
    )


def game_options(parsed: argparse.Namespace) -> dict[str, Any]:
    """The game's options among the arguments; raises `ValueError` for text that is none."""
    options: dict[str, Any] = {} if parsed.players is None else {"players": parsed.players}
    for text in parsed.option:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--option {text!r}: KEY=VALUE is wanted")
        options[key] = _value(value)
    return options


def _value(text: str) -> Any:
    named = {"true": True, "false": False, "none": None}
    if text.lower() in named:
        return named[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


if __name__ == "__main__":
    sys.exit(main())
