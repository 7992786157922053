"""`monsterzoo play --text`: a person plays against policies in a terminal.

Shown are what has happened, what the seat knows (all of it first, then what has changed), and its legal actions.
"""

import textwrap
from cmd import Cmd
from pathlib import Path
from shutil import get_terminal_size

from monsterzoo.envs.api.answers import read_choice
from monsterzoo.envs.api.prompts import rules_in_short
from monsterzoo.training.evaluation.report import grid
from monsterzoo.training.runs.files import write_json

from .played import PlayedGame

HELP = """Type the number of an action, or its name (the beginning is enough where it is clear).
  ?        this help
  hint     what a search thinks that knows what you know
  undo     take your last action back
  view     all that you know
  rules    the rules in short
  quit     leave the game (so does the end of input)"""


def play(game: PlayedGame, output: Path | None) -> int:
    """Play one game; returns the exit code, 130 after Ctrl-C."""
    variant, seat = game.variant, game.seat
    clockwise = [(seat + k) % variant.players for k in range(1, variant.players)]
    against = ", ".join(f"player_{other} ({game.names[other]})" for other in clockwise)
    seed = game.env.record()["seed"]
    _print(f"{variant.game.title}: you are player_{seat}, against {against}. Seed {seed}. ? is help.")
    game, code = _play(game)
    if game.over:
        tables = (grid(head, rows) for head, *rows in filter(None, (game.scores(), game.breakdown())))
        print("", variant.draw_table(game.env.states, 0), *tables, game.result(), sep="\n\n")
    else:
        print("\nThe game is left.")
    if output is not None:
        write_json(output, game.env.record())
        print(f"The record is in {output}; `monsterzoo replay {output}` shows it.")
    return code


def _play(game: PlayedGame) -> tuple[PlayedGame, int]:
    """Play until the game is over or the person leaves; returns the game, another one after an undo, and a code."""
    told, known = 0, ""
    action: int | str | None = 0
    try:
        while action is not None:
            for _ in game.advance():
                pass
            for event in game.events[told:]:
                _print(event.text)
            if game.over:
                break
            view = game.env.text_observation(game.variant.agents[game.seat])
            old = set(known.splitlines())
            _print("\n" + "\n".join(line for line in view.splitlines() if line not in old))
            told, known = len(game.events), view
            action = _ask(game, view)
            if action == "undo":
                game, known = game.undo(), ""
                told = len(game.events)
            elif action is not None:
                game.act(len(game.decisions) - 1, action)
    except KeyboardInterrupt as interruption:
        return game, int(getattr(interruption, "code", 130))
    return game, 0


def _ask(game: PlayedGame, view: str) -> int | str | None:
    """What the person wants to do: a legal action, "undo", or None to leave."""
    legal, names = list(game.legal()), list(game.legal().values())
    width = get_terminal_size((79, 24)).columns
    Cmd().columnize([f"{number:3} {name}" for number, name in enumerate(names, 1)], width)
    while True:
        try:
            line = input("> ").strip()
        except EOFError:
            return None
        if line in ("quit", "q", "exit"):
            return None
        if line in ("?", "help"):
            print(HELP)
        elif line == "rules":
            _print(
                rules_in_short(game.variant.game, game.variant.options) or "This game's package has no rules in short."
            )
        elif line == "view":
            _print(view)
        elif line == "hint":
            print(game.analyse())
        elif line == "undo":
            if len(game.decisions) > 1:
                return line
            print("There is nothing to take back.")
        elif line:
            try:
                return legal[read_choice(line, names)]
            except ValueError as error:
                print(f"{line!r:.60}: {error}. {_why_not(game, line)}Which action? ? is help.")


def _why_not(game: PlayedGame, line: str) -> str:
    """Why an action that exists cannot be chosen now."""
    try:
        action = game.env.parse_action(line)
    except ValueError:
        return ""
    return f"{game.variant.refuse(game.env.states[0], game.seat, action)}. "


def _print(text: str) -> None:
    """Print a text whose lines are wrapped at the width of the terminal."""
    width = get_terminal_size((79, 24)).columns
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        print("\n".join(textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False)))
