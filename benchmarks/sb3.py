"""MaskablePPO's steps a second: the compiled batch against a `DummyVecEnv` of environments around the AEC API.

All run in one process, in turns, with the same game, network, PPO settings and decisions between two updates; the
`DummyVecEnv` once with as many games as the batch and once with the few games it is customarily used with. A step is
one decision of the learner, learning included. `python -m monsterzoo.benchmarks.sb3 --game pikit_v0 --players 2`
"""

import argparse
import statistics
import sys
import time
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from monsterzoo.envs import make
from monsterzoo.training.sb3 import make_vec_env
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv


class AECSeat(gymnasium.Env):
    """What users write around an AEC environment: one seat learns, the others play at random."""

    def __init__(self, game: str, seed: int, **options: Any) -> None:
        self.env = make(game, **options)
        agent = self.env.possible_agents[0]
        self.observation_space = self.env.observation_space(agent)["observation"]
        self.action_space = self.env.action_space(agent)
        self.learner, self._seed = agent, seed
        self._random = np.random.default_rng(seed)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game and play to the learner's first decision."""
        self.env.reset(seed=self._seed if self._seed is not None else seed)
        self._seed = None  # type: ignore[assignment]
        observation, *_ = self._play_others()
        return observation, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play to its next decision."""
        self.env.step(int(action))
        observation, reward, terminated, truncated = self._play_others()
        return observation, reward, terminated, truncated, {}

    def _play_others(self) -> tuple[Any, float, bool, bool]:
        env = self.env
        while env.agents and env.agent_selection != self.learner:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(int(self._random.choice(np.flatnonzero(observation["action_mask"]))))
        observation, reward, terminated, truncated, _ = env.last()
        self._mask = observation["action_mask"].astype(bool)
        return observation["observation"], float(reward), terminated, truncated

    def action_masks(self) -> np.ndarray:
        """What MaskablePPO asks for."""
        return self._mask


def measure(env: VecEnv, steps: int, seconds: float) -> float:
    """Steps a second of `MaskablePPO.learn`, learning included."""
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=steps, batch_size=1024, n_epochs=1, gamma=1.0, seed=0, device="cpu",
        policy_kwargs={"net_arch": [64, 64]},
    )  # fmt: skip
    model.learn(1)  # everything compiled and allocated
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        model.learn(1, reset_num_timesteps=False)
        done += steps * env.num_envs
    return done / (time.perf_counter() - began)


def main(argv: list[str]) -> int:
    """Measure both and print their ratio."""
    parser = argparse.ArgumentParser("python -m monsterzoo.benchmarks.sb3", description=__doc__)
    parser.add_argument("--game", default="pikit_v0")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--few", type=int, default=8, help="games of the customary DummyVecEnv")
    parser.add_argument("--steps", type=int, default=8, help="decisions of each game of the batch between two updates")
    parser.add_argument("--seconds", type=float, default=5.0, help="of every measurement")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(argv)
    torch.set_num_threads(1)
    game, many, few, options = chosen.game, chosen.num_envs, chosen.few, {"players": chosen.players}
    batch = make_vec_env(game, many, "random", seed=0, seat=0, **options)
    dummies = {n: DummyVecEnv([partial(AECSeat, game, i, **options) for i in range(n)]) for n in (many, few)}
    rows: dict[str, VecEnv] = {f"make_vec_env, {many} games": batch}
    rows |= {f"DummyVecEnv of AEC environments, {n} games": dummy for n, dummy in dummies.items()}
    rates: dict[str, list[float]] = {label: [] for label in rows}
    for _ in range(chosen.rounds):
        for label, env in rows.items():
            rates[label].append(measure(env, chosen.steps * many // env.num_envs, chosen.seconds))
    print(f"MaskablePPO on {game}, {chosen.players} players, learning included, median of {chosen.rounds}\n")
    print("| environments | steps/s | the batch is faster by |\n|---|---|---|")
    fast = next(iter(rates.values()))
    for label, slow in rates.items():
        ratio = statistics.median(one / other for one, other in zip(fast, slow))
        print(f"| {label} | {statistics.median(slow):,.0f} | {ratio:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
