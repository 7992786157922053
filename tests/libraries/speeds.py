"""How fast a library learns here, as `docs/libraries.md` has it: `make speeds`, or `python speeds.py LIBRARY…`.

Steps are decisions at the gate of the environment, learning included (OpenSpiel: moves of random play); seconds are
those of the processor, in one thread, and do not depend much on what else the machine does.
"""

import sys
import time
from collections.abc import Callable

import torch
from guide import run_guide
from monsterzoo.envs.api.gym import SeatVectorEnv


def guided(library: str, start: str) -> Callable[[], Callable[[], int]]:
    """The code of the guide from a line on; what comes before is preparation."""

    def prepare() -> Callable[[], int]:
        names, steps, step = run_guide(library, start), 0, SeatVectorEnv.step

        def counted(games, actions):
            nonlocal steps
            steps += games.num_envs
            return step(games, actions)

        def learn() -> int:
            SeatVectorEnv.step = counted
            run_guide(library, start, names)
            SeatVectorEnv.step = step
            return steps

        return learn

    return prepare


def rllib() -> Callable[[], int]:
    """Self-play with the defaults of `ppo_config`, three updates."""
    from monsterzoo.training.distributed.cluster import joined
    from monsterzoo.training.rllib import ppo_config

    joined("local", 1).__enter__()
    algorithm = ppo_config("pikit_v0", players=2, multi_agent=True, seed=0).build_algo()
    algorithm.train()
    return lambda: sum(int(algorithm.train()["env_runners"]["num_env_steps_sampled"]) for _ in range(3))


def openspiel() -> Callable[[], int]:
    """Random play with sampled chance."""
    import random

    from monsterzoo.training.openspiel import load_game

    game = load_game("pikit_v0", players=2, chance="sampled")
    random.seed(0)

    def play() -> int:
        moves = 0
        for _ in range(20):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(random.choice(state.legal_actions()))
                moves += 1
        return moves

    play()
    return play


LIBRARIES = {
    "sb3": guided("sb3", "model.learn("),
    "torchrl": guided("torchrl", "for _ in range("),
    "tianshou": guided("tianshou", "learner.run_training("),
    "rllib": rllib,
    "openspiel": openspiel,
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        work = LIBRARIES[name]()
        began = time.process_time()
        steps = work()
        spent = time.process_time() - began
        print(f"{name}: {steps:,} steps in {spent:.1f} s of processor time, {steps / spent:,.0f} a second", flush=True)
