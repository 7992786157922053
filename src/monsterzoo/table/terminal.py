"""`monsterzoo play --text`: a person plays against policies in a terminal.

Shown are what the seat knows (`text_observation`), with a mark where it has changed since the last decision, and its
legal actions. Other seats' moves are not announced: some are secret, and the view tells what became known.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from monsterzoo.envs.aec import GameEnv
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.language import legal_actions, read_choice, rules_in_short
from monsterzoo.envs.match.driver import is_over, moves
from monsterzoo.envs.players import act_in, check_player, make_player, name_of
from monsterzoo.envs.spaces import fresh_seed
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.training import settings
from monsterzoo.training.files import write_json
from monsterzoo.training.game_options import add_game_arguments, game_options, parse
from monsterzoo.training.settings import LARGEST_SEED, Checked, Whole
from monsterzoo.training.specs import about_policies

HELP = """Type the number of an action, or its name (the beginning is enough where it is clear).
  ?        this help
  rules    the rules in short
  view     what you know, once more
  quit     leave the game (so does the end of input)
Lines marked with * have changed since your last decision."""


@dataclass(frozen=True)
class PlayOptions(Checked):
    """Options of a game against policies."""

    seat: Annotated[int, "your seat, from 0", Whole(0)] = 0
    seed: Annotated[int | None, "of the game's luck; a fresh one by default", Whole(0, LARGEST_SEED)] = None


def main(words: Sequence[str]) -> int:
    """Play one game; returns the exit code, 130 after Ctrl-C. Raises `ValueError` for bad options."""
    parsed = parse(_parser(), words)
    variant = find_game(parsed.game).variant(**game_options(parsed))
    env = GameEnv(variant.game, **variant.options)
    options = PlayOptions(**settings.given(parsed, PlayOptions))
    if options.seat >= variant.players:
        raise settings.refusal("seat", options.seat, Whole(0, variant.players - 1))
    seed = fresh_seed() if options.seed is None else options.seed
    own = variant.agents[options.seat]
    others = _opponents(env, own, parsed.opponents, seed)
    env.reset(seed=seed)
    against = ", ".join(f"{agent} ({name_of(policy)})" for agent, policy in others.items())
    print(f"{variant.game.title}: you are {own}, against {against}. Seed {seed}. ? is help.")
    code, left = 0, True
    try:
        left = not _play(env, own, others)
    except KeyboardInterrupt as interruption:
        code = int(getattr(interruption, "code", 130))
    print("\nThe game is left." if left else _ending(env, own))
    if parsed.output is not None:
        write_json(parsed.output, env.record())
        print(f"The record is in {parsed.output}; `monsterzoo replay {parsed.output}` shows it.")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "monsterzoo play --text",
        description="Play a game against policies in the terminal.",
        epilog=about_policies(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_game_arguments(parser)
    parser.add_argument("--text", action="store_true", help=argparse.SUPPRESS)  # who comes here has said so
    parser.add_argument(
        "--opponents",
        nargs="+",
        metavar="POLICY",
        help="who plays the other seats: one for all, or one each, clockwise (default: the heuristic, else random)",
    )
    settings.add_flags(parser, PlayOptions)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the game's record here, as JSON")
    return parser


def _opponents(env: GameEnv, own: str, specs: list[str] | None, seed: int) -> dict[str, Any]:
    """The policies of the other agents, clockwise from one's own seat."""
    variant, seat = env.variant, env.possible_agents.index(own)
    agents = [variant.agents[(seat + k) % variant.players] for k in range(1, variant.players)]
    usual = ["heuristic" if has_heuristic(variant) else "random"]
    named = (specs or usual) * (len(agents) if len(specs or usual) == 1 else 1)
    if len(named) != len(agents):
        raise ValueError(f"--opponents: {len(agents)} other seats need a policy, {len(named)} are given")
    made = {spec: make_player(variant, spec, seed) for spec in dict.fromkeys(named)}
    for policy in made.values():
        check_player(policy, variant)
    return {agent: made[spec] for agent, spec in zip(agents, named)}


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
