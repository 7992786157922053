"""`monsterzoo play`: play against policies, at a table in the browser (or, with --text, in the terminal)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from monsterzoo.envs.core.options import LARGEST_SEED, Checked, Integer, Specs, Switch, Text

from .options import Parser, chosen_variant, game_options, given


@dataclass(frozen=True)
class ServerOptions(Checked):
    """Flags of the commands that open a page."""

    port: Annotated[int, "port on 127.0.0.1; 0 is any free one", Integer(0, 65535)] = 0
    browser: Annotated[bool, "open a browser; the address is printed anyway", Switch()] = True


@dataclass(frozen=True)
class Options(Checked):
    """Flags of the command."""

    opponents: Annotated[
        tuple[str, ...] | None,
        "who plays the other seats: one for all, or one each, clockwise (default: heuristic, or random without one)",
        Specs(),
    ] = None
    seat: Annotated[int, "your seat, from 0", Integer(0)] = 0
    seed: Annotated[int | None, "random seed of the first game (default: a fresh one)", Integer(0, LARGEST_SEED)] = None
    text: Annotated[bool, "play in the terminal instead", Switch()] = False
    output: Annotated[str | None, "with --text: write the game's record here, as JSON", Text("FILE")] = None


def main(words: Sequence[str]) -> int:
    """Serve a table until interrupted, or play one game as text; returns the exit code."""
    about = "Play a game against policies, at a table in the browser or in the terminal."
    parsed = Parser("play", about, Options, ServerOptions, policies=True).read(words)
    options, server = Options(**given(parsed, Options)), ServerOptions(**given(parsed, ServerOptions))
    variant = chosen_variant(parsed)
    if options.text:
        from monsterzoo.table.terminal import play

        output = None if options.output is None else Path(options.output)
        return play(variant, options.opponents, options.seat, options.seed, output)
    if options.output is not None:
        raise ValueError("--output needs --text")
    table = load_server()
    plan = table.Plan(variant.game.name, game_options(parsed), options.opponents, options.seat, options.seed)
    plan.start()  # to complain now, not in the browser
    table.serve(table.Room(plan), server.port, lambda address: announce(address, server.browser))
    return 0


def load_server() -> Any:
    """The module of the server; raises `ValueError` saying what to install."""
    try:
        from monsterzoo.table import server
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
