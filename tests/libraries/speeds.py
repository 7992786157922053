"""How fast a library learns here, as `docs/libraries.md` has it: `make speeds`, or `python speeds.py LIBRARY…`.

Steps are decisions at the gate of the environment, learning included (OpenSpiel: moves of random play); seconds are
those of the processor, in one thread, and do not depend much on what else the machine does. The rates are kept in
`benchmarks/results`, and drawn.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from guide import run_guide
from monsterzoo.benchmarks.measuring import COLOURS, draw_bars
from monsterzoo.envs.match.loop import ACT
from monsterzoo.envs.match.match import Match

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "libraries.json"
PICTURE = RESULTS.with_suffix(".png")


def guided(library: str, start: str) -> Callable[[], Callable[[], int]]:
    """The code of the guide from a line on; what comes before is preparation."""

    def prepare() -> Callable[[], int]:
        names, steps, run = run_guide(library, start), 0, Match.run

        def counted(match, *args):
            nonlocal steps
            steps += np.count_nonzero(match.arrays["orders"] == ACT)
            return run(match, *args)

        def learn() -> int:
            Match.run = counted
            run_guide(library, start, names)
            Match.run = run
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
    "benchmarl": guided("benchmarl", "experiment.run("),
    "skrl": guided("skrl", "trainer.train("),
    "agilerl": guided("agilerl", "for _ in range("),
    "rllib": rllib,
    "openspiel": openspiel,
}

TITLES = {"sb3": "Stable-Baselines3", "torchrl": "TorchRL", "tianshou": "Tianshou", "benchmarl": "BenchMARL"} | {
    "skrl": "skrl", "agilerl": "AgileRL", "rllib": "RLlib", "openspiel": "OpenSpiel, random play"
}  # fmt: skip


def draw(rates: dict[str, float]) -> None:
    """Draw `PICTURE`, a bar for each library."""
    best_first = sorted(rates.items(), key=lambda row: -row[1])
    bars = [(TITLES[name], rate, COLOURS[0], "") for name, rate in best_first]
    note = "decisions per second of processor time in one thread, learning included (Pikit, two players)"
    draw_bars({"": bars}, note, PICTURE)


def main(names: list[str]) -> None:
    """Measure libraries, and write what was found into the results."""
    torch.set_num_threads(1)
    rates = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in names:
        work = LIBRARIES[name]()
        began = time.process_time()
        steps = work()
        spent = time.process_time() - began
        rates[name] = round(steps / spent)
        print(f"{name}: {steps:,} steps in {spent:.1f} s of processor time, {rates[name]:,} a second", flush=True)
    RESULTS.write_text(json.dumps(rates, indent=1) + "\n", encoding="utf-8")
    draw(rates)


if __name__ == "__main__":
    main(sys.argv[1:])
