"""How fast a library learns here and on its own demo game, as `docs/libraries.md` has it: `make speeds`, or
`python speeds.py LIBRARY…`.

Steps are decisions at the gate of the environment, learning included (OpenSpiel: moves of random play); seconds are
those of the processor, in one thread, and do not depend much on what else the machine does. The demo is what the
library's first page plays, with the settings of our guide. The rates are kept in `benchmarks/results`, and drawn.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from guide import code_of, run_guide
from monsterzoo.benchmarks.measuring import COLOURS, GREY, draw_bars
from monsterzoo.envs.match.loop import ACT
from monsterzoo.envs.match.match import Match

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "libraries.json"
PICTURE = RESULTS.with_suffix(".png")
DEMO = {"ours": "Pikit", "demo": "its demo"}


Preparation = Callable[[], Callable[[], int]]
"""Gets everything ready; what it returns learns or plays, and returns the steps."""


def guided(library: str, start: str) -> Preparation:
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


def demo(library: str, start: str, steps: int, changes: dict[str, str]) -> Preparation:
    """The code of the guide with another game, which is these changes; it takes so many steps."""

    def prepare() -> Callable[[], int]:
        code = code_of(library)
        for old, new in changes.items():
            assert code.count(old) == 1, f"{library}: {old!r} is not in the guide, or not once"
            code = code.replace(old, new)
        before, line, after = code.partition(start)
        names: dict = {}
        exec(before, names)

        def learn() -> int:
            exec(line + after, names)
            return steps

        return learn

    return prepare


def rllib(ours: bool) -> Preparation:
    """Self-play with the defaults of `ppo_config`, three updates; or CartPole with the same batches."""

    def prepare() -> Callable[[], int]:
        from monsterzoo.training.distributed.cluster import joined
        from monsterzoo.training.rllib import ppo_config
        from ray.rllib.algorithms.ppo import PPOConfig

        joined("local", 1).__enter__()
        config = ppo_config("pikit_v0", players=2, multi_agent=True, seed=0)
        if not ours:
            same = ("train_batch_size_per_learner", "minibatch_size", "num_epochs", "lr", "gamma", "grad_clip")
            settings = {name: getattr(config, name) for name in same}
            runners = {"num_env_runners": 0, "num_envs_per_env_runner": config.num_envs_per_env_runner}
            config = PPOConfig().environment("CartPole-v1").env_runners(**runners).training(**settings)
        algorithm = config.build_algo()
        algorithm.train()
        return lambda: sum(int(algorithm.train()["env_runners"]["num_env_steps_sampled"]) for _ in range(3))

    return prepare


def openspiel(load: Callable[[], Any]) -> Preparation:
    """Random play."""

    def prepare() -> Callable[[], int]:
        random.seed(0)
        game = load()

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

    return prepare


def ours_in_openspiel() -> Any:
    """Pikit with sampled chance."""
    from monsterzoo.training.openspiel import load_game

    return load_game("pikit_v0", players=2, chance="sampled")


def leduc() -> Any:
    """OpenSpiel's own, in C++."""
    import pyspiel

    return pyspiel.load_game("leduc_poker")


CARTPOLE = 'gymnasium.make_vec("CartPole-v1", num_envs=64)'
STARTS = {
    "sb3": "model.learn(",
    "torchrl": "for _ in range(",
    "tianshou": "learner.run_training(",
    "benchmarl": "experiment.run(",
    "skrl": "trainer.train(",
    "agilerl": "for _ in range(",
}
DEMOS: dict[str, tuple[int, dict[str, str]]] = {
    "sb3": (
        65_536,
        {
            "from monsterzoo.training.sb3 import MaskedPolicy, make_vec_env": "from stable_baselines3 import PPO",
            "from sb3_contrib import MaskablePPO": "from stable_baselines3.common.env_util import make_vec_env",
            '"pikit_v0", num_envs=128, opponents="random", players=2, seed=0': '"CartPole-v1", 128',
            "MaskablePPO(MaskedPolicy": 'PPO("MlpPolicy"',
        },
    ),
    "torchrl": (
        32_768,
        {
            "from monsterzoo.training.torchrl import make_env": "import gymnasium\nfrom torchrl.envs import GymWrapper",
            'make_env("pikit_v0", num_envs=64, players=2, opponents="random", seed=0)': (
                f"GymWrapper({CARTPOLE[:-1]}, "
                'vectorization_mode="sync", vector_kwargs={"autoreset_mode": "Disabled"}), '
                "categorical_action_encoding=True)"
            ),
            '{"logits": "logits", "mask": "action_mask"}': '["logits"]',
            "distribution_class=MaskedCategorical": "distribution_class=torch.distributions.Categorical",
        },
    ),
    "tianshou": (
        24_000,
        {
            "from monsterzoo.training.tianshou import make_envs": (
                "import gymnasium\nfrom tianshou.env import DummyVectorEnv"
            ),
            'make_envs("pikit_v0", 16, players=2, opponents="random")': (
                'DummyVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 16)'
            ),
            'envs.observation_space[0]["obs"].shape': "envs.observation_space[0].shape",
        },
    ),
    "benchmarl": (
        65_536,
        {
            "from monsterzoo.training.benchmarl import GameTask, from_experiment": (
                "from benchmarl.environments import VmasTask"
            ),
            'GameTask("pikit_v0", {"players": 2})': "VmasTask.BALANCE.get_from_yaml()",
            "policy = from_experiment(experiment)  # for tournaments and win rates": "",
        },
    ),
    "skrl": (
        65_536,
        {
            'gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=64, **options)': CARTPOLE,
            'env.observation_space["observation"].shape[0]': "env.observation_space.shape[0]",
            "torch.nn.Linear(actions + columns, 128)": "torch.nn.Linear(columns, 128)",
            ".masked_fill(seen[:, :actions] == 0, -1e9)": "",
        },
    ),
    "agilerl": (
        65_536,
        {
            'gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=64, **settings)': (
                f'{CARTPOLE[:-1]}, vectorization_mode="sync", '
                'vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP})'
            )
        },
    ),
}
LIBRARIES = {name: (guided(name, start), demo(name, start, *DEMOS[name])) for name, start in STARTS.items()}
LIBRARIES |= {"rllib": (rllib(True), rllib(False)), "openspiel": (openspiel(ours_in_openspiel), openspiel(leduc))}

TITLES = {"sb3": "Stable-Baselines3", "torchrl": "TorchRL", "tianshou": "Tianshou", "benchmarl": "BenchMARL"} | {
    "skrl": "skrl", "agilerl": "AgileRL", "rllib": "RLlib", "openspiel": "OpenSpiel, random play"
}  # fmt: skip


def draw(rates: dict[str, dict[str, int]]) -> None:
    """Draw `PICTURE`: for each library a bar for ours and one for its demo."""
    best_first = sorted(rates.items(), key=lambda row: -row[1]["ours"])
    bars = [
        (TITLES[name] if kind == "ours" else "", found[kind], COLOURS[0] if kind == "ours" else GREY, f" {DEMO[kind]}")
        for name, found in best_first
        for kind in DEMO
    ]
    note = "decisions per second of processor time in one thread, learning included"
    draw_bars({"": bars}, note, PICTURE)


def rate_of(preparation: Preparation) -> int:
    """Steps per second of processor time."""
    work = preparation()
    began = time.process_time()
    steps = work()
    return round(steps / (time.process_time() - began))


def main(names: list[str]) -> None:
    """Measure libraries, and write what was found into the results."""
    torch.set_num_threads(1)
    rates = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in names:
        rates[name] = dict(zip(DEMO, map(rate_of, LIBRARIES[name])))
        print(f"{name}: {rates[name]}", flush=True)
    RESULTS.write_text(json.dumps(rates, indent=1) + "\n", encoding="utf-8")
    draw(rates)


if __name__ == "__main__":
    main(sys.argv[1:])
