"""`monsterzoo play`: play a game against policies, at a table in the browser (or, with --text, in the terminal)."""

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from monsterzoo.envs import names
from monsterzoo.training.game_options import add_option_argument, read_options


def main(words: Sequence[str]) -> int:
    """Serve a table until interrupted; returns the exit code."""
    words = list(words)
    if "--text" in words:
        words.remove("--text")
        return int(import_module("monsterzoo.training.text_play").main(words))
    parsed = _parser().parse_args(words)
    table: Any = load_server()
    options = read_options(parsed.players, parsed.option)
    plan = table.Plan(parsed.game, options, parsed.opponents, parsed.seat, parsed.seed)
    plan.start()  # to complain now, not in the browser
    table.serve(table.Room(plan), parsed.port, lambda address: announce(address, parsed.browser))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "monsterzoo play", description="Play a game against policies, at a table in the browser."
    )
    parser.add_argument("game", metavar="GAME", help=f"one of {', '.join(names())}")
    parser.add_argument("--players", type=int, help="number of players (default: the game's own)")
    add_option_argument(parser)
    parser.add_argument(
        "--opponents", nargs="+", default=["heuristic"], metavar="POLICY",
        help="specs such as heuristic, search:200, pretrained: one for all other seats, or one each clockwise",
    )  # fmt: skip
    parser.add_argument("--seat", type=int, default=0, help="your seat (default: 0)")
    parser.add_argument("--seed", type=int, help="of the first game; without it every game is another")
    parser.add_argument("--text", action="store_true", help="play in the terminal instead")
    add_server_arguments(parser)
    return parser


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """What the commands that open a page have in common."""
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="print the address, but open no browser"
    )


def load_server() -> Any:
    """The module of the server; raises `ValueError` saying what to install."""
    try:
        from monsterzoo.training.table import server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("monsterzoo"):
            raise
        raise ValueError(
            f"{error.name} is not installed; pip install 'monsterzoo[play]' brings it along (play --text needs nothing)"
        ) from None
    return server


def announce(address: str, browser: bool) -> None:
    """Say where the table is, and open it."""
    print(f"The table is at {address}\nIt is for this machine only; Ctrl-C ends it.", flush=True)
    if browser:
        import webbrowser

        webbrowser.open(address)
