"""`monsterzoo compile`: compile games ahead of their first use, for containers and clusters.

Every way to use a game is used once, on the smallest scale; what that compiles is cached for later processes.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from monsterzoo.envs import make_vec
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.compiling.cache import cache_root
from monsterzoo.envs.compiling.jit import JIT_OFF
from monsterzoo.envs.compiling.notice import turn_off
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.registry import find_game
from monsterzoo.policies import from_function
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.policies.search import SearchPolicy, parse
from monsterzoo.training.arena import Tournament, enter

from .options import Parser


def one_game(game: Game) -> None:
    """An AEC environment, which the parallel one is made of."""
    env = GameEnv(game)
    env.reset(seed=0)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    env.text_observation(env.agent_selection)


def batch(game: Game) -> None:
    """A batch of games, and random choices for it."""
    games = make_vec(game.name, 2, seed=0)
    games.step(games.sample_actions())


def one_seat(game: Game) -> None:
    """One seat against players of every kind."""
    for opponents in _players(game):
        games = SeatVectorEnv(game, 2, opponents=opponents)
        _, infos = games.reset(seed=0)
        games.step(infos["action_mask"].argmax(axis=1))


def search(game: Game) -> None:
    """Search, with each kind of rollout."""
    games = make_vec(game.name, 1, seed=0)
    for rollout in [one for one in _players(game) if isinstance(one, str)]:
        player = SearchPolicy(games.variant, parse(f"2,rollout={rollout}"))
        player.act(games.decisions())


def arena(game: Game) -> None:
    """A tournament of compiled players, and one with a player in Python."""
    *compiled, python = _players(game)
    for players in ([compiled[0], compiled[-1]], ["random", python]):
        entered, policies = enter(game.variant(), players)
        Tournament(game.variant(), entered).play(policies, 2)


def _players(game: Game) -> list[Any]:
    """One player of every kind: random, the heuristic, and one in Python."""
    heuristic = ["heuristic"] if has_heuristic(game.variant()) else []
    return ["random", *heuristic, from_function(lambda rows, masks: np.argmax(masks, axis=1), "first")]


STAGES: dict[str, Callable[[Game], None]] = {
    "one game": one_game,
    "batches": batch,
    "one seat": one_seat,
    "search": search,
    "arena": arena,
}


def main(words: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    chosen = Parser("compile", "Compile games ahead of their first use.", game="several").read(words)
    if JIT_OFF:
        raise ValueError("NUMBA_DISABLE_JIT is set: nothing is compiled")
    turn_off()
    begun = time.perf_counter()
    for game in map(find_game, chosen.games):
        for stage, use in STAGES.items():
            print(f"{game.name:18} {stage:10}", end=" ", flush=True)
            start = time.perf_counter()
            use(game)
            print(f"{time.perf_counter() - start:6.1f} s", flush=True)
    print(f"{time.perf_counter() - begun:.0f} s in all; kept in {cache_root()}")
    return 0
