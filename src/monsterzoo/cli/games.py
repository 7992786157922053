"""`monsterzoo games`: what can be played, with which options, and by which rules."""

from collections.abc import Sequence

from monsterzoo.envs import names
from monsterzoo.envs.api.prompts import rules_in_short
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.options import REWARD, Option, Switch, label, write_option
from monsterzoo.envs.core.registry import find_game, gymnasium_id
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.policies.networks import pretrained

from .options import Parser, game_name

OPTIONS = {"rules": Option(False, Switch(), "also the rules of GAME in short")}


def main(words: Sequence[str]) -> int:
    """List the games, or tell about one; raises `ValueError` for an unknown one."""
    parsed = Parser("games", "The games, their options and rules.", OPTIONS, game="name").read(words)
    if parsed.game is None and not parsed.rules:
        print(_overview([find_game(name) for name in names()]))
        return 0
    game = find_game(game_name(parsed))
    print(_page(game))
    if parsed.rules:
        print("\n" + (rules_in_short(game) or "The game's package has no rules in short."))
    return 0


def _overview(games: list[Game]) -> str:
    rows = [("game", "title", "players", "options")]
    for game in games:
        counts = sorted({game.variant(**chosen).players for chosen in game.variants})
        rows.append((game.name, game.title, ", ".join(map(str, counts)), ", ".join(game.options)))
    advice = "`monsterzoo games GAME` tells what they mean, with --rules also how it is played."
    return "\n".join([*("{:17}{:14}{:9}{}".format(*row) for row in rows), "", advice])


def _page(game: Game) -> str:
    lines = [f"{game.title}: {game.name}, in Gymnasium {gymnasium_id(game.name)}", "", "options (--option KEY=VALUE):"]
    for key, option in {**game.options, "reward": REWARD}.items():
        facts = (write_option(key, option.default), f"    {option.meaning}", f"    allowed: {option.allowed}")
        lines += [f"  {fact}" for fact in facts]
    lines += ["", "variants:"]
    for chosen in game.variants:
        variant = game.variant(**chosen)
        sides = f"{variant.sides} sides" if variant.sides != variant.players else "everybody alone"
        sizes = f"{variant.num_actions} actions, observations of {variant.layout.size} columns"
        lines.append(f"  {label(chosen)}: {sides}, {sizes}")
    players = ["random", "search:BUDGET", *(["heuristic"] if has_heuristic(game.variant()) else [])]
    players += [f"pretrained ({label(one['options'])})" for one in pretrained() if one["game"] == game.name]
    return "\n".join([*lines, "", f"players: {', '.join(players)}"])
