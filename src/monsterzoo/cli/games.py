"""`monsterzoo games`: what can be played, with which options, and by which rules."""

import json
from collections.abc import Sequence
from typing import Any

from monsterzoo.envs import names
from monsterzoo.envs.api.text import rules_in_short
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.options import REWARD, Option, Switch, label, write_option
from monsterzoo.envs.core.registry import find_game, gymnasium_id
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.policies.networks import pretrained

from .options import Parser, game_name

OPTIONS = {
    "rules": Option(False, Switch(), "also the rules of GAME in short"),
    "json": Option(False, Switch(), "print JSON"),
}


def main(words: Sequence[str]) -> int:
    """List the games, or tell about one; raises `ValueError` for an unknown one."""
    parsed = Parser("games", "The games, their options and rules.", OPTIONS, game="name").read(words)
    chosen = [find_game(one) for one in ([game_name(parsed)] if parsed.game or parsed.rules else names())]
    if parsed.json:
        print(json.dumps([_facts(game) for game in chosen], indent=2))
    elif parsed.game is None:
        print(_overview(chosen))
    else:
        print(_page(chosen[0]))
        if parsed.rules:
            print("\n" + (rules_in_short(chosen[0]) or "The game's package has no rules in short."))
    return 0


def _facts(game: Game) -> dict[str, Any]:
    options = {**game.options, "reward": REWARD}
    variants = []
    for chosen in game.variants:
        variant = game.variant(**chosen)
        sizes = {"players": variant.players, "sides": variant.sides, "actions": variant.num_actions}
        variants.append({"options": chosen, **sizes, "observation": variant.layout.size})
    return {
        "name": game.name,
        "title": game.title,
        "gymnasium": gymnasium_id(game.name),
        "options": {
            key: {"default": one.default, "allowed": one.allowed, "meaning": one.meaning}
            for key, one in options.items()
        },
        "variants": variants,
        "heuristic": has_heuristic(game.variant()),
        "pretrained": [model["options"] for model in pretrained() if model["game"] == game.name],
    }


def _overview(games: list[Game]) -> str:
    rows = [("game", "title", "players", "options")]
    for game in games:
        counts = sorted({game.variant(**chosen).players for chosen in game.variants})
        rows.append((game.name, game.title, ", ".join(map(str, counts)), ", ".join(game.options)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]) for row in rows]
    return "\n".join([*lines, "", "`monsterzoo games GAME` tells what they mean, with --rules also how it is played."])


def _page(game: Game) -> str:
    facts = _facts(game)
    lines = [f"{game.title}: {game.name}, in Gymnasium {facts['gymnasium']}", "", "options (--option KEY=VALUE):"]
    for key, one in facts["options"].items():
        lines += [
            f"  {write_option(key, one['default'])}",
            f"      {one['meaning']}",
            f"      allowed: {one['allowed']}",
        ]
    lines += ["", "variants:"]
    for one in facts["variants"]:
        sides = f"{one['sides']} sides" if one["sides"] != one["players"] else "everybody alone"
        sizes = f"{sides}, {one['actions']} actions, observations of {one['observation']} columns"
        lines.append(f"  {label(one['options'])}: {sizes}")
    players = ["random", "search:BUDGET"]
    players += ["heuristic"] if facts["heuristic"] else []
    players += [f"pretrained ({label(options)})" for options in facts["pretrained"]]
    return "\n".join([*lines, "", f"players: {', '.join(players)}"])
