"""`monsterzoo compile`: compile games ahead of their first use, for containers and clusters.

Every way to use a game is used once, on the smallest scale; what that compiles is cached for later processes.
"""

import time
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations
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
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies import from_function
from monsterzoo.training.arena import Tournament, enter
from monsterzoo.training.runs.config import PPOConfig, RolloutConfig

from .arena import can_play
from .options import Parser


def one_game(game: Game) -> None:
    """An AEC environment, which the parallel one is made of."""
    env = GameEnv(game)
    env.reset(seed=0)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    env.text_observation(env.agent_selection)


def batches(game: Game) -> None:
    """A batch of games, and random choices for it."""
    games = make_vec(game.name, 2, seed=0)
    games.step(games.sample_actions())


def one_seat(game: Game) -> None:
    """One seat against players of every kind."""
    for opponents in [*_compiled(game), FIRST]:
        games = SeatVectorEnv(game, 2, opponents=opponents)
        _, infos = games.reset(seed=0)
        games.step(infos["action_mask"].argmax(axis=1))


def search(game: Game) -> None:
    """Search, with each kind of rollout and guided by a network."""
    games = make_vec(game.name, 1, seed=0)
    for spec in _compiled(game):
        setting = "net" if spec == "pretrained" else "rollout"
        make_player(games.variant, f"search:2,{setting}={spec}").act(games.decisions())


def arena(game: Game) -> None:
    """Tournaments of every mixture of compiled players, and with a player in Python."""
    compiled = _compiled(game)
    mixtures = [players for size in (2, 3) for players in combinations(compiled, size)]
    for players in [*mixtures, *((one, FIRST) for one in compiled)]:
        entered, policies = enter(game.variant(), players)
        Tournament(game.variant(), entered).play(policies, len(players))


def training(game: Game) -> None:
    """One update of each method and an evaluation, where torch is installed."""
    if find_spec("torch") is None:
        return
    from monsterzoo.training.runs.run import trainer_of

    little: dict[str, Any] = {"num_envs": 4, "width": 8, "minibatch": 64, "evaluate_games": game.variant().sides}
    for config in (PPOConfig(game.name, steps=8, **little), RolloutConfig(game.name, threads=1, **little)):
        learner = trainer_of(config.method)(config, game)
        learner.update()
        learner.evaluate()


FIRST = from_function(lambda rows, masks: np.argmax(masks, axis=1), "first")


def _compiled(game: Game) -> list[str]:
    """Specs of one player of every compiled kind that the game has."""
    return [spec for spec in ("random", "heuristic", "pretrained") if can_play(game.variant(), spec)]


STAGES = (one_game, batches, one_seat, search, arena, training)


def main(words: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    chosen = Parser("compile", "Compile games ahead of their first use.", game="several").read(words)
    if JIT_OFF:
        raise ValueError("NUMBA_DISABLE_JIT is set: nothing is compiled")
    turn_off()
    begun = time.perf_counter()
    for game in map(find_game, chosen.games):
        for stage in STAGES:
            print(f"{game.name:18} {stage.__name__.replace('_', ' '):10}", end=" ", flush=True)
            start = time.perf_counter()
            stage(game)
            print(f"{time.perf_counter() - start:6.1f} s", flush=True)
    print(f"{time.perf_counter() - begun:.0f} s in all; kept in {cache_root()}")
    return 0
