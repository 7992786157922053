"""The command `monsterzoo`: one module per sub-command; what they share is in `options` and `training.exits`.

A sub-command is a function `(words) -> exit code`. Its module is imported when it is used, so that no command needs
what only another one does. Exit codes: 0 success, 1 a problem that a command was asked to look for, 2 a mistake in the
command line or in a file it names, 128 plus the number of a signal (130 Ctrl-C, 143 SIGTERM, 141 closed pipe).
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from monsterzoo.training.runs.exits import exit_code

COMMANDS = {
    "games": "list the games, their options and rules",
    "play": "play against policies, at a table in the browser or with --text",
    "watch": "watch policies at play, or a record, in the browser",
    "train": "train a network by self-play",
    "sb3": "train a network with Stable-Baselines3",
    "rllib": "train a network with RLlib, on a cluster too",
    "arena": "let policies play against each other and rank them",
    "analyse": "ask a policy about a position",
    "exploit": "train an exploiter of a policy",
    "record": "record games between policies as data",
    "replay": "show a recorded game, move by move",
    "mcp": "serve the games to assistants by the Model Context Protocol",
    "bench": "measure speed",
    "compile": "compile games ahead of their first use",
    "doctor": "show what is installed, and what is missing for which command",
}
"""What each sub-command does; its module has its name."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code, see above."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] not in COMMANDS:
        return _explain(words)
    module = "monsterzoo.benchmarks.bench" if words[0] == "bench" else f"{__name__}.{words[0]}"

    def work(rest: Sequence[str]) -> int:
        here = os.getcwd()
        sys.path.insert(0, here)  # policies of the user's own, as `python -m` would find them
        try:
            return int(import_module(module).main(rest))
        finally:
            with suppress(ValueError):
                sys.path.remove(here)

    return exit_code(f"monsterzoo {words[0]}", work, words[1:])


def _explain(words: list[str]) -> int:
    """List the commands, or say what is wrong with the one given."""
    parser = argparse.ArgumentParser(
        prog="monsterzoo",
        description="Hidden-information table games with monsters: play, train, compare.",
        epilog="`monsterzoo COMMAND --help` lists the options of one.",
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(metavar="command")
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, add_help=False)
    if not words:
        parser.print_help()
    elif parser.parse_args(words).version:
        from importlib.metadata import version

        print(f"monsterzoo {version('monsterzoo')}")
    return 0
