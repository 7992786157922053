"""Rollout learning on Ray: `monsterzoo train --method rollouts --ray ADDRESS --workers N`."""

from itertools import pairwise
from typing import Any

import numpy as np
import ray
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.registry import find_game

from ..algorithms.rollout_learning import RolloutTrainer, rollout_policy
from ..algorithms.rollouts import Samples, Sampling, play_samples
from ..runs.config import RolloutConfig
from .cluster import count_workers, map_tasks


class RayRolloutTrainer(RolloutTrainer):
    """Sends the games out in parts in every update, with the network as it is; within `joined`."""

    def __init__(self, config: RolloutConfig, game: Game | None = None, workers: int | None = None) -> None:
        super().__init__(config, game)
        self.workers = count_workers(workers)

    def play_on(self, sampling: Sampling, luck: np.ndarray) -> None:
        """See `RolloutTrainer.play_on`."""
        games, network = len(self.states), ray.put(self.network.arrays())
        parts = list(pairwise(np.linspace(0, games, min(self.workers, games) + 1).astype(int)))
        tasks = [(self.config, sampling, network, self.states[a:b], luck[a:b]) for a, b in parts]
        for number, (states, samples) in map_tasks(play_part, tasks, self.workers):
            own = slice(*parts[number])
            self.states[own] = states
            for ours, theirs in zip(self.samples, samples):
                rows = (own, slice(theirs.shape[1])) if theirs.ndim > 1 else own
                ours[rows] = theirs


def play_part(
    config: RolloutConfig, sampling: Sampling, network: dict[str, np.ndarray], states: np.ndarray, luck: np.ndarray
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Play some games on; returns them and their samples, without the columns that no game has filled."""
    variant = find_game(config.game).variant(**config.game_options())
    states, luck = states.copy(), luck.copy()  # Ray's arrays cannot be written to
    samples = Samples.empty(variant, len(states), config.samples)
    play_samples(variant, sampling, rollout_policy(variant, config), network, states, luck, samples, threads=1)
    most = int(samples.counts.max(initial=0))
    return states, tuple(array[:, :most] if array.ndim > 1 else array for array in samples)
