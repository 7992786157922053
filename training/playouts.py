"""Learning from playouts: `monsterzoo train --method playouts --game yokai_septet_v0 --players 2 --out runs/yokai2`.

At a decision a few actions are played on to the horizon, each in the same world: the game as it is, hidden cards and
luck to come included. The heuristic plays on, for all. So what an action is worth beyond another is measured with most
of a deal's luck taken out, at some microseconds a playout; the network learns these differences as its logits, times
`--scale`. They are noisy (in Yokai Septet for four ten times as large as what they tell), but right on average, so that
millions of them make a player who chooses what is best if everybody plays on like the heuristic. The luck and the
hidden cards that a lesson was played with are nowhere in what the network is shown.

Another policy may play on (`--playout`): with a network's own play the differences tell how to beat that network, which
is how `monsterzoo exploit` finds enemies.

This is policy improvement by rollouts (Tesauro and Galperin, 1996) with common random numbers, and the network in the
place of the table.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .config import PlayoutConfig
from .lessons import COMPARED, Plan
from .studying import NET, LessonLearner, Lessons, entropy_of, value_loss

REPORTED = ("policy_loss", "value_loss", "entropy", "explained")


class Trainer(LessonLearner):
    """A run in memory; it learns from fresh lessons only, so a checkpoint holds none."""

    config: PlayoutConfig

    def plan(self) -> Plan:
        """A few actions are compared."""
        config = self.config
        deep = config.playout == NET if config.playout else not self.has_heuristic
        return Plan(COMPARED, config.searched, config.self_play, candidates=config.candidates, deep=deep)

    def learn(self, fresh: Lessons) -> dict[str, float]:
        """Learn from every lesson once."""
        config, count = self.config, len(fresh["visits"])
        if not count:
            raise ValueError(f"nobody had a choice; more games (--num-envs {config.num_envs}) are needed to learn")
        random = np.random.default_rng([config.seed, self.updates])
        rate = self.set_learning_rate()
        parts = np.array_split(random.permutation(count), max(1, round(count / config.minibatch)))
        sums: Any = np.zeros(len(REPORTED))
        for part in parts:
            loss, numbers = self._loss({name: torch.from_numpy(values[part]) for name, values in fresh.items()})
            self.descend(loss)
            sums += torch.stack(numbers).numpy()
        return {**dict(zip(REPORTED, (sums / len(parts)).tolist())), "learning_rate": rate}

    def _loss(self, lessons: dict[str, Tensor]) -> tuple[Tensor, list[Tensor]]:
        """The loss of some lessons; beside it what `REPORTED` names."""
        masks, tried = lessons["action_masks"], lessons["visits"] > 0
        log_probs, values = self.network.evaluate(lessons["observations"], masks)
        if self.imitating:
            policy = -log_probs[tried].mean()
        else:
            found = centred(lessons["totals"].float(), tried)
            policy = (self.config.scale * centred(log_probs, tried) - found).square().sum(1).mean() / self.config.scale
        value, explained = value_loss(values, lessons["outcomes"])
        numbers = [policy, value, entropy_of(log_probs, masks), explained]
        return policy + self.config.value_coef * value, [number.detach() for number in numbers]


def centred(numbers: Tensor, tried: Tensor) -> Tensor:
    """What was tried less its average, else 0; shapes (B, A)."""
    kept = numbers.masked_fill(~tried, 0)
    return (kept - kept.sum(1, keepdim=True) / tried.sum(1, keepdim=True)).masked_fill(~tried, 0)
