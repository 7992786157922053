"""`monsterzoo play --text`: a person plays against policies in a terminal.

Shown are what the seat knows (`text_observation`), with a mark where it has changed since the last decision, and its
legal actions. Other seats' moves are not announced: some are secret, and the view tells what became known.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.spaces import fresh_seed
from monsterzoo.envs.api.text import legal_actions, read_choice, rules_in_short
from monsterzoo.envs.core.options import Integer, as_flag, refusal
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.driver import is_over, moves
from monsterzoo.envs.match.players import act_in, name_of
from monsterzoo.envs.match.seating import seat_opponents
from monsterzoo.training.runs.files import write_json

HELP = """Type the number of an action, or its name (the beginning is enough where it is clear).
  ?        this help
  rules    the rules in short
  view     what you know, once more
  quit     leave the game (so does the end of input)
Lines marked with * have changed since your last decision."""


def play(variant: Variant, opponents: Sequence[str] | None, seat: int, seed: int | None, output: Path | None) -> int:
    """Play one game; returns the exit code, 130 after Ctrl-C. Raises `ValueError` for bad options."""
    if seat >= variant.players:
        raise refusal(as_flag("seat", seat), Integer(0, variant.players - 1))
    env = GameEnv(variant.game, **variant.options)
    seed = fresh_seed() if seed is None else seed
    own = variant.agents[seat]
    clockwise = [*variant.agents[seat + 1 :], *variant.agents[:seat]]
    others = dict(zip(clockwise, seat_opponents(variant, opponents, seed)))
    env.reset(seed=seed)
    against = ", ".join(f"{agent} ({name_of(policy)})" for agent, policy in others.items())
    print(f"{variant.game.title}: you are {own}, against {against}. Seed {seed}. ? is help.")
    code, left = 0, True
    try:
        left = not _play(env, own, others)
    except KeyboardInterrupt as interruption:
        code = int(getattr(interruption, "code", 130))
    print("\nThe game is left." if left else _ending(env, own))
    if output is not None:
        write_json(output, env.record())
        print(f"The record is in {output}; `monsterzoo replay {output}` shows it.")
    return code


def _who(others: dict[str, Any]) -> str:
    return ", ".join(f"{agent} ({name_of(policy)})" for agent, policy in others.items())


def _play(env: GameEnv, own: str, others: dict[str, Any]) -> bool:
    """Play to the end; False if the person has left before."""
    shown = ""

    def choose(agent: str) -> int | None:
        nonlocal shown
        if agent != own:
            return act_in(others[agent], env)
        view = env.text_observation(own)
        print("\n" + _marked(view, shown))
        shown = view
        return _decide(env, own, view)

    for _ in moves(env, choose):
        pass
    return is_over(env)


def _marked(view: str, before: str) -> str:
    known = set(before.splitlines())
    return "\n".join(f"{' ' if not before or line in known else '*'} {line}" for line in view.splitlines())


def _decide(env: GameEnv, own: str, view: str) -> int | None:
    """Ask until the person names a legal action; None if there is nobody any more."""
    legal = legal_actions(env, own)
    names = [env.action_name(action) for action in legal]
    print("\n".join(_columns([f"{number:3} {name}" for number, name in enumerate(names, 1)])))
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
            print(rules_in_short(env.variant.game) or "This game's package has no rules in short.")
        elif line == "view":
            print(_marked(view, view))
        elif line:
            try:
                return legal[read_choice(line, names)]
            except ValueError as error:
                print(f"{line!r:.60}: {error}. {_why_not(env, own, line)}Which action? ? is help.")


def _why_not(env: GameEnv, own: str, line: str) -> str:
    """Why an action that exists cannot be chosen now."""
    try:
        action = env.parse_action(line)
    except ValueError:
        return ""
    seat = env.possible_agents.index(own)
    return f"{env.variant.refuse(env.states[0], seat, action)}. "


def _columns(cells: list[str], width: int = 79) -> list[str]:
    """Cells below each other in as many columns as fit."""
    widest = max(len(cell) for cell in cells) + 2
    rows = -(-len(cells) // max(1, width // widest))
    return ["".join(cell.ljust(widest) for cell in cells[row::rows]).rstrip() for row in range(rows)]


def _ending(env: GameEnv, own: str) -> str:
    winners = [env.possible_agents[seat] for seat in env.snapshot()["winners"]]
    if not winners:
        result = "The game was broken off: nobody wins."
    elif own in winners:
        result = "You win!" if len(winners) == 1 else f"You win, with {' and '.join(set(winners) - {own})}."
    else:
        result = f"{' and '.join(winners)} won."
    return f"\n{env.variant.draw_table(env.states, 0)}\n\n{result}"
