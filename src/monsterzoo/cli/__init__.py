"""The command `monsterzoo`: one module per sub-command; what they share is in `options` and `training.exits`.

A sub-command is a function `(words) -> exit code`. Its module is imported when it is used, so that no command needs
what only another one does. Exit codes: 0 success, 1 a problem that a command was asked to look for, 2 a mistake in the
command line or in a file it names, 128 plus the number of a signal (130 Ctrl-C, 143 SIGTERM, 141 closed pipe).
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module

from monsterzoo.training.runs.exits import exit_code

COMMANDS = {
    "games": ("list the games, their options and rules", "monsterzoo.cli.games:main"),
    "play": ("play against policies, at a table in the browser or with --text", "monsterzoo.cli.play:main"),
    "watch": ("watch policies at play, or a record, in the browser", "monsterzoo.cli.watch:main"),
    "train": ("train a network by self-play", "monsterzoo.cli.train:main"),
    "sb3": ("train a network with Stable-Baselines3", "monsterzoo.cli.sb3:main"),
    "rllib": ("train a network with RLlib, on a cluster too", "monsterzoo.cli.rllib:main"),
    "arena": ("let policies play against each other and rank them", "monsterzoo.cli.arena:main"),
    "analyse": ("ask a policy about a position", "monsterzoo.cli.analyse:main"),
    "exploit": ("train an exploiter of a policy", "monsterzoo.cli.exploit:main"),
    "replay": ("show a recorded game, move by move", "monsterzoo.cli.replay:main"),
    "bench": ("measure speed and strength", "monsterzoo.benchmarks.bench:main"),
    "compile": ("compile games ahead of their first use", "monsterzoo.cli.compile:main"),
    "doctor": ("show what is installed, and what is missing for which command", "monsterzoo.cli.doctor:main"),
}
"""Name of a sub-command: what it does, and "module:function"."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code, see above."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] not in COMMANDS:
        return _explain(words)
    module, _, function = COMMANDS[words[0]][1].partition(":")

    def work(rest: Sequence[str]) -> int:
        with _current_folder_importable():
            return int(getattr(import_module(module), function)(rest))

    return exit_code(f"monsterzoo {words[0]}", work, words[1:])


@contextmanager
def _current_folder_importable() -> Iterator[None]:
    """Find policies of the user's own ("mymodule:MyPlayer") in the current folder, as `python -m` would."""
    here = os.getcwd()
    if here in sys.path or "" in sys.path:
        yield
        return
    sys.path.insert(0, here)
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.path.remove(here)


def _explain(words: list[str]) -> int:
    """List the commands, or say what is wrong with the one given."""
    parser = argparse.ArgumentParser(
        prog="monsterzoo",
        description="Hidden-information table games with monsters: play, train, compare.",
        epilog="`monsterzoo COMMAND --help` lists the options of one.",
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(metavar="command")
    for name, (summary, _) in COMMANDS.items():
        commands.add_parser(name, help=summary, add_help=False)
    if not words:
        parser.print_help()
    elif parser.parse_args(words).version:
        from importlib.metadata import version

        print(f"monsterzoo {version('monsterzoo')}")
    return 0
