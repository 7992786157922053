"""The published ladder: where a win rate against one of its players puts somebody.

`ladder.json` beside this file is made from `benchmarks/results/ladder.json` by `python -m tools.tables`.
"""

import json
from importlib.resources import files
from math import inf, log

from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.variant import Variant

from .ratings import ELO


def published_ratings(variant: Variant) -> dict[str, float]:
    """Elo points of the players on a variant's ladder, the random player at 0; empty if it has none."""
    plain = {key: value for key, value in variant.options.items() if key != "reward"}
    for ladder in json.loads(files(__package__).joinpath("ladder.json").read_text(encoding="utf-8")):
        if ladder["game"] == variant.game.name:
            options = find_game(ladder["game"]).variant(**ladder["options"]).options
            if plain == {key: value for key, value in options.items() if key != "reward"}:
                return dict(ladder["ratings"])
    return {}


def rating_from(win_rate: float, sides: int, opponent: float) -> float:
    """Elo points of who wins this often on one side against players of a rating on all others (Luce's model)."""
    if not 0 < win_rate < 1:
        return inf if win_rate else -inf
    return opponent + ELO * log(win_rate * (sides - 1) / (1 - win_rate))
