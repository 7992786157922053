"""MaskablePPO's speed on the compiled batch against a `DummyVecEnv` of environments around the AEC API.

All run in one process, in turns, with the same game, opponents (random), network and PPO settings: decisions between
two updates, minibatch and epochs are the same for every row. The `DummyVecEnv` runs once with the few games it is
customarily used with, and once with as many as the batch. Each runs with SB3's own `MlpPolicy` and with `MaskedPolicy`
of `monsterzoo.training.sb3`, which has the same network. A step is one decision of the learner, learning included.

`monsterzoo bench sb3 --game pikit_v0 --players 2`
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from monsterzoo.cli.options import add_game, game_options
from monsterzoo.envs import make
from monsterzoo.envs.core.options import label
from monsterzoo.training.sb3 import MaskedPolicy, make_vec_env
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from .measuring import grid


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


POLICIES: dict[str, Any] = {"MlpPolicy": "MlpPolicy", "MaskedPolicy": MaskedPolicy}


def measure(env: VecEnv, policy: Any, chosen: argparse.Namespace) -> float:
    """Steps a second of `MaskablePPO.learn`, learning included."""
    steps = chosen.rollout // env.num_envs
    model = MaskablePPO(
        policy, env, n_steps=steps, batch_size=chosen.batch_size, n_epochs=chosen.epochs, gamma=1.0, seed=0,
        device="cpu", policy_kwargs={"net_arch": [64, 64]},
    )  # fmt: skip
    model.learn(1)  # everything compiled and allocated
    clock = time.process_time if chosen.cpu else time.perf_counter
    began, done = clock(), 0
    while clock() - began < chosen.seconds:
        model.learn(1, reset_num_timesteps=False)
        done += steps * env.num_envs
    return done / (clock() - began)


def main(argv: list[str]) -> int:
    """Measure all and print their ratios."""
    parser = argparse.ArgumentParser(
        "monsterzoo bench sb3", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_game(parser, "pikit_v0", players=2)
    parser.add_argument("--num-envs", type=int, default=1024, help="games of the batch")
    parser.add_argument("--few", type=int, default=8, help="games of the customary DummyVecEnv")
    parser.add_argument("--rollout", type=int, default=8192, help="decisions of all games between two updates")
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0, help="of every measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu", action="store_true", help="by processor time, for busy machines")
    chosen = parser.parse_intermixed_args(argv)
    torch.set_num_threads(1)
    print(report(chosen, measure_all(chosen)))
    return 0


def measure_all(chosen: argparse.Namespace) -> dict[tuple[str, str], list[float]]:
    """Steps a second of all rounds, by environments and policy; the batch comes first."""
    game, many, options = chosen.game, chosen.num_envs, game_options(chosen)
    environments: dict[str, VecEnv] = {
        f"make_vec_env, {many:,} games": make_vec_env(game, many, "random", seed=0, seat=0, **options)
    }
    for count in (chosen.few, many):
        makers: list[Callable[[], gymnasium.Env]] = [partial(AECSeat, game, seed, **options) for seed in range(count)]
        environments[f"DummyVecEnv of AEC environments, {count:,} games"] = DummyVecEnv(makers)
    rates: dict[tuple[str, str], list[float]] = {(env, policy): [] for env in environments for policy in POLICIES}
    for _ in range(chosen.rounds):
        for env, policy in rates:
            rates[env, policy].append(measure(environments[env], POLICIES[policy], chosen))
    return rates


def report(chosen: argparse.Namespace, rates: dict[tuple[str, str], list[float]]) -> str:
    """A table of rates, and how much faster the batch is: medians, of the ratios within a round."""
    labels = list(dict.fromkeys(env for env, _ in rates))
    rows = [[env, *(f"{statistics.median(rates[env, policy]):,.0f}" for policy in POLICIES)] for env in labels]

    def faster(policy: str, other: str, other_policy: str) -> str:
        pairs = zip(rates[labels[0], policy], rates[other, other_policy])
        return f"{statistics.median(one / two for one, two in pairs):.1f}"

    ratios = []
    for env, meaning in zip(labels[1:], ("as customary", "as many games")):
        stock = faster("MlpPolicy", env, "MlpPolicy")
        ratios.append([f"{meaning}: {env}", stock, faster("MaskedPolicy", env, "MlpPolicy")])
        ratios[-1].append(faster("MaskedPolicy", env, "MaskedPolicy"))
    return (
        f"MaskablePPO on {chosen.game} {label(game_options(chosen))}, learning included: {chosen.rollout:,} decisions "
        f"per update,\nminibatches of {chosen.batch_size:,}, epochs: {chosen.epochs}, one thread; medians of "
        f"{chosen.rounds} rounds by {'processor' if chosen.cpu else 'wall-clock'} time\n\n"
        + grid(("steps/s", *POLICIES), rows)
        + "\n\n"
        + grid(
            (
                "make_vec_env is faster by",
                "MlpPolicy\non both",
                "MaskedPolicy,\nthere MlpPolicy",
                "MaskedPolicy\non both",
            ),
            ratios,
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
