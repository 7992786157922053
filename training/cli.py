"""The command `monsterzoo`: finds the function of a sub-command and hands it the rest of the line.

A sub-command is an entry of `COMMANDS` and a function `(words) -> exit code`, with a parser of its own. Its module is
imported when it is used, so that no command needs what only another one does.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from .interrupts import ending

COMMANDS = {
    "analyse": ("ask a policy about a position", "monsterzoo.training.analyse_cli:main"),
    "arena": ("let policies play against each other and rank them", "monsterzoo.training.arena_cli:main"),
    "compile": ("compile games ahead of their first use", "monsterzoo.training.compile_cli:main"),
    "exploit": ("find out how much can be won against a policy", "monsterzoo.training.exploit_cli:main"),
    "play": ("play against policies, at a table in the browser", "monsterzoo.training.play_cli:main"),
    "rllib": ("train a network with RLlib, on a cluster too", "monsterzoo.training.rllib_cli:main"),
    "train": ("train a network by self-play", "monsterzoo.training.train_cli:main"),
    "watch": ("watch policies at play, or a record, in the browser", "monsterzoo.training.watch_cli:main"),
}
"""Name of a sub-command: what it does, and "module:function"."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code, 130 or 143 after Ctrl-C or SIGTERM."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] not in COMMANDS:
        return _explain(words)
    module, _, function = COMMANDS[words[0]][1].partition(":")
    try:
        with ending():
            return int(getattr(import_module(module), function)(words[1:]))
    except KeyboardInterrupt as interruption:
        print(f"monsterzoo {words[0]}: {interruption or 'interrupted'}", file=sys.stderr)
        return int(getattr(interruption, "code", 130))
    except ValueError as error:
        problem = str(error)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("monsterzoo"):
            raise
        extra = "rllib" if error.name == "ray" else "train"
        problem = f"{error.name} is not installed; pip install 'monsterzoo[{extra}]' brings it along"
    print(f"monsterzoo {words[0]}: {problem}", file=sys.stderr)
    return 2


def _explain(words: list[str]) -> int:
    """Show what commands there are, or what is wrong with the one given."""
    parser = argparse.ArgumentParser(prog="monsterzoo", description="Monsters at the card table, for machines.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, (summary, _) in COMMANDS.items():
        commands.add_parser(name, help=summary, add_help=False)
    parser.parse_args(words)
    return 2


if __name__ == "__main__":
    sys.exit(main())
