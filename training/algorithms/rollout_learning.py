"""Learning from rollouts: `monsterzoo train --method rollouts --game yokai_septet_v0 --players 2 --out runs/yokai2`.

In every update all games are played to their next horizon, on all threads, and leave samples (see `rollouts`): for some
decisions, what a few actions came to when each was played on in the same world. The network learns the differences of
these values as differences of its logits, `--target-temperature` apart, and beside them each side's chance to win. The
values are noisy (in Yokai Septet for four ten times as large as what they tell), but right on average, so that millions
of them make a player who chooses what is best if everybody plays on like the rollout policy. The luck and the hidden
cards of a sample are nowhere in what the network is shown.

Rollouts are played by the heuristic, or by another policy (`--rollout-policy`): with a network's own play the
differences tell how to beat that network, which is how `exploit_cli` trains exploiters.

This is policy improvement by rollouts (Tesauro and Galperin, 1996) with common random numbers and a network in the
place of the table. The first part of a run imitates the game's heuristic, unless it starts from another network.
"""

from typing import Any

import numpy as np
import torch
from monsterzoo.envs import VectorGame
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import env_seed, streams
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.compiled_policies import Uniform
from monsterzoo.envs.match.players import compiled_form, make_player
from monsterzoo.policies import heuristics
from torch import Tensor

from ..runs.config import RolloutConfig
from ..runs.run import EVALUATION, Learner, states_to_tensor, to_states, to_tensors
from .rollouts import Samples, Sampling, play_samples

NET = "net"  # as the rollout policy: the network itself plays its own sides
STREAM = "lessons"  # names the games' random streams; another name would change what every seed gives


class RolloutTrainer(Learner):
    """A run of rollout learning in memory: beside what every learner has, games under way.

    It learns from fresh samples only, so a checkpoint holds none.
    """

    config: RolloutConfig

    def __init__(self, config: RolloutConfig, game: Game | None = None) -> None:
        variant = (game or find_game(config.game)).variant(**config.game_options())
        super().__init__(config, variant, variant.sides)
        torch.set_num_threads(1)  # learning is the smaller part, and threads that wait for each other slow down playing
        self.has_heuristic = heuristics.has_heuristic(variant)
        self.rollout_policy = rollout_policy(variant, self.config)
        seed = env_seed(config.seed, EVALUATION)
        self.states = VectorGame(variant.game, config.num_envs, seed=seed, **variant.options).states
        self.samples = Samples.empty(variant, config.num_envs, config.samples)

    @property
    def sampling(self) -> Sampling:
        """How the samples of the next update are made."""
        config = self.config
        if self.has_heuristic and config.start is None and self.progress < config.imitate_share:
            return Sampling(imitate=True, share=config.sample_share)
        by_network = config.rollout_policy == NET if config.rollout_policy else not self.has_heuristic
        return Sampling(False, config.sample_share, config.self_play, config.candidates, by_network)

    def play(self) -> dict[str, float]:
        """Play all games to their next horizon; afterwards `self.samples` holds their samples."""
        luck = streams(env_seed(self.config.seed, self.updates), self.config.num_envs, STREAM)
        self.imitating = self.sampling.imitate
        self.play_on(self.sampling, luck)
        lengths, finished = self.samples.lengths, self.samples.finished
        return {"games": int(finished.sum()), "length": float(lengths.mean()), "steps": int(lengths.sum())}

    def play_on(self, sampling: Sampling, luck: np.ndarray) -> None:
        """Play all games on, each with its generator in `luck`, and write `self.samples`."""
        threads, network = min(self.config.threads, len(self.states)), self.network.arrays()
        play_samples(self.variant, sampling, self.rollout_policy, network, self.states, luck, self.samples, threads)

    def learn(self) -> dict[str, float]:
        """Learn from every sample once."""
        config, batch = self.config, self.samples.to_batch(self.variant.num_actions)
        count = len(batch["values"])
        if not count:
            raise ValueError(f"nobody had a choice; more games (--num-envs {config.num_envs}) are needed to learn")
        random = np.random.default_rng([config.seed, self.updates])
        tensors = to_tensors(batch)
        return self.improve(lambda part: self._loss({k: rows[part] for k, rows in tensors.items()}), count, random)

    def _loss(self, batch: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of some samples; beside it what is reported."""
        masks, tried, outcomes = batch["action_masks"], batch["tried"], batch["outcomes"]
        log_probs, entropies, values = self.network.evaluate(batch["observations"], masks)
        if self.imitating:
            policy = -log_probs[tried].mean()
        else:
            scale = self.config.target_temperature
            errors = scale * centred(log_probs, tried) - centred(batch["values"], tried)
            policy = errors.square().sum(1).mean() / scale
        chances, own = values.log_softmax(1), outcomes[:, 0]
        value = -(outcomes * chances).sum(1).mean()  # cross-entropy
        explained = 1 - (own - chances[:, 0].exp()).var() / own.var().clamp_min(1e-8)
        numbers = {"policy_loss": policy, "value_loss": value, "entropy": entropies.mean(), "explained": explained}
        return policy + self.config.value_coef * value, numbers

    # --- Files ---

    def content(self) -> dict[str, Any]:
        """What a checkpoint holds beside network, optimiser and progress."""
        return {"games": {"states": states_to_tensor(self.states)}}

    def take(self, content: dict[str, Any]) -> None:
        """Take over the content of a checkpoint, once all of it is known to fit."""
        self.states[:] = to_states(content["games"]["states"], self.variant, len(self.states))


def rollout_policy(variant: Variant, config: RolloutConfig) -> Any:
    """Who plays rollouts and the sides that the network does not play, as a compiled policy.

    Raises `ValueError` for a policy that cannot play the game, or is not compiled.
    """
    spec = config.rollout_policy
    if spec in (None, NET):
        return heuristics.Heuristic() if heuristics.has_heuristic(variant) else Uniform()
    policy = compiled_form(make_player(variant, str(spec), config.seed))
    if policy is None:
        raise ValueError(f"--rollout-policy {spec} does not play inside compiled loops; heuristics and networks do")
    return policy


def centred(numbers: Tensor, tried: Tensor) -> Tensor:
    """What was tried less its average, else 0; shapes (B, A)."""
    kept = numbers.masked_fill(~tried, 0)
    return (kept - kept.sum(1, keepdim=True) / tried.sum(1, keepdim=True)).masked_fill(~tried, 0)
