"""Play every variant of a game with bounds checks on: `MONSTERZOO_CHECKS=1 python tests/fuzz/bounds.py GAME`."""

import os
import sys
from typing import Any

os.environ.setdefault("MONSTERZOO_CHECKS", "1")

import numpy as np
from entrances import prepare
from monsterzoo import policies
from monsterzoo.envs import make_vec
from monsterzoo.envs.compiling.jit import CHECKS
from monsterzoo.envs.core.registry import find_game

GAMES = {"random": 300, "heuristic": 200, "pretrained": 64, "search:20": 16}
GUIDED = {"pikit_v0": {"search:20,net=pretrained": 16}}
"""Guided search is the same code for all games, and takes long to compile."""
PREPARED = {"bite_night_v0": ("snapshots",), "pikit_v0": ("snapshots", "actions"), "yokai_septet_v0": ("snapshots",)}
"""What `test_fuzz` tries next takes half as long to compile here, where most functions are compiled already."""
SHORT = {"yokai_septet_v0": {"max_rounds": 2}, "bite_night_v0": {"laps": 1}}


def play(name: str, spec: str, count: int, options: dict[str, Any]) -> int:
    """Play at least `count` games; returns how many."""
    games = make_vec(name, num_envs=min(count, 64), seed=1, **options)
    player = None if spec == "random" else policies.make(spec, name, **options)
    finished = 0
    while finished < count:
        assert games.action_masks.any(axis=1).all(), "a seat has nothing to choose from"
        if player is None:
            actions = games.sample_actions()
        else:
            actions = player.act(games.decisions())
        games.step(actions)
        over = games.terminated | games.truncated
        assert np.abs(games.final_returns[over].sum(axis=1)).max(initial=0) < 1e-4, "returns do not add up to zero"
        finished += int(over.sum())
    return finished


def main(name: str) -> None:
    assert CHECKS, "MONSTERZOO_CHECKS is off"
    kinds = {**GAMES, **GUIDED.get(name, {})}
    for options in find_game(name).variants:
        short = {**options, **SHORT.get(name, {})}
        print(name, options, *(f"{spec}: {play(name, spec, count, short)}" for spec, count in kinds.items()))
    for entrance in PREPARED[name]:
        prepare(entrance, name)


if __name__ == "__main__":
    main(sys.argv[1])
