"""`monsterzoo play`: play against policies, at a table in the browser (or, with --text, in the terminal)."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.envs.core.options import LARGEST_SEED, Integer, Option, Specs, Switch, Text
from monsterzoo.table import terminal
from monsterzoo.table.played import Plan

from .options import Parser, chosen_variant, game_options

SERVER = {
    "port": Option(0, Integer(0, 65535), "port on 127.0.0.1; 0 is any free one"),
    "browser": Option(True, Switch(), "open a browser; the address is printed anyway"),
}
"""Flags of the commands that open a page."""
OPTIONS = {
    "opponents": Option(None, Specs(), "the other seats: one for all, or one each, clockwise (default: heuristic)"),
    "seat": Option(0, Integer(0), "your seat"),
    "seed": Option(None, Integer(0, LARGEST_SEED), "random seed of the first game (default: a fresh one)"),
    "text": Option(False, Switch(), "play in the terminal instead"),
    "output": Option(
        None, Text("FILE"), "write the record of a finished game here, as JSON (with --text also of one that was left)"
    ),
}


def main(words: Sequence[str]) -> int:
    """Serve a table until interrupted, or play one game as text; returns the exit code."""
    about = "Play a game against policies, at a table in the browser or in the terminal."
    parsed = Parser("play", about, OPTIONS, SERVER, policies=True).read(words)
    variant = chosen_variant(parsed)
    output = None if parsed.output is None else Path(parsed.output)
    plan = Plan(variant.game.name, game_options(parsed), parsed.opponents, parsed.seat, parsed.seed)
    if parsed.text:
        return terminal.play(plan.start(), output)
    from monsterzoo.table import server  # needs an extra

    plan.start()  # to complain now, not in the browser
    return serve(server.Room(plan, output=output), parsed)


def serve(room: Any, parsed: Namespace) -> int:
    """Serve a room until interrupted, saying where it is; returns the exit code."""
    from monsterzoo.table import server

    def announce(address: str) -> None:
        print(f"The table is at {address}\nIt is for this machine only; Ctrl-C ends it.", flush=True)
        if parsed.browser:
            import webbrowser

            webbrowser.open(address)

    server.serve(room, parsed.port, announce)
    return 0
