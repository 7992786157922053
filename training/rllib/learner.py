"""PPO's learner with one connector instead of RLlib's nine, each of which loops over all episodes.

PPO's loss gets the same, without the rows that RLlib's pipeline adds to each episode and masks out again.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.evaluation.postprocessing import Postprocessing

from ..algorithms.rollout_buffer import NONE, gae


class BatchLearner(PPOTorchLearner):
    """PPO's learner for the episodes of `BatchRunner`.

    Connectors of your own (`learner_connector=…`) come before its own. With
    `add_default_connectors_to_learner_pipeline=True` it has RLlib's instead.
    """

    def build(self) -> None:
        """Append the connector, unless RLlib's are there."""
        super().build()
        if not self.config.add_default_connectors_to_learner_pipeline:
            settings = {"gamma": self.config.gamma, "lambda_": self.config.lambda_, "device": self.device}
            self._learner_connector.append(EpisodesToBatch(**settings))


class EpisodesToBatch(ConnectorV2):
    """Joins numpy episodes to a batch of tensors for each module, with advantages and value targets."""

    def __init__(self, *args: Any, gamma: float, lambda_: float, device: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gamma, self.lambda_, self.device = gamma, lambda_, device

    def __call__(
        self, *, rl_module: Any, batch: dict[str, Any], episodes: list[SingleAgentEpisode], **kwargs: Any
    ) -> dict[str, Any]:
        """The columns of all decisions, by module."""
        by_module = defaultdict(list)
        for episode in episodes:
            by_module[episode.module_id or DEFAULT_MODULE_ID].append(episode)
        return batch | {name: self._columns(rl_module[name], own) for name, own in by_module.items()}

    def _columns(self, module: Any, episodes: list[SingleAgentEpisode]) -> dict[str, Any]:
        columns: dict[str, Any] = {
            Columns.OBS: self._observations(episodes, slice(-1)),
            Columns.ACTIONS: self._joined(episode.actions.data for episode in episodes),
        }
        for key in episodes[0].extra_model_outputs:
            columns[key] = self._joined(episode.extra_model_outputs[key].data for episode in episodes)
        predicted = columns.pop(Columns.VF_PREDS, None)  # while playing, by modules such as ours
        values = (self._values(module, columns[Columns.OBS]) if predicted is None else predicted).cpu().numpy()
        advantages = self._advantages(module, episodes, values)
        columns[Postprocessing.VALUE_TARGETS] = self._joined([advantages + values])
        normal = (advantages - advantages.mean()) / max(1e-4, advantages.std())
        columns[Postprocessing.ADVANTAGES] = self._joined([normal])
        return columns

    def _advantages(self, module: Any, episodes: list[SingleAgentEpisode], values: np.ndarray) -> np.ndarray:
        """Generalised advantage estimates, float32 (rows,); episodes that are cut end with the module's value."""
        rewards = np.concatenate([episode.rewards.data for episode in episodes])
        last = np.cumsum([len(episode) for episode in episodes]) - 1
        following = np.arange(1, len(rewards) + 1)
        following[last] = NONE
        last_values = np.zeros(len(rewards), np.float32)
        cut = np.array([not episode.is_terminated for episode in episodes])
        if cut.any():
            unfinished = [episode for episode in episodes if not episode.is_terminated]
            last_values[last[cut]] = self._values(module, self._observations(unfinished, slice(-1, None))).cpu()
        advantages = np.zeros(len(rewards))  # float64: nothing is rounded from row to row
        gae(rewards, values, following, last_values, self.gamma, self.lambda_, advantages)
        return advantages.astype(np.float32)

    def _joined(self, parts: Iterable[np.ndarray]) -> torch.Tensor:
        """A column of all episodes."""
        return torch.from_numpy(np.concatenate(list(parts))).to(self.device)

    def _observations(self, episodes: list[SingleAgentEpisode], which: slice) -> dict[str, torch.Tensor]:
        """A slice of each episode's observations; the last one is where the episode stops."""
        keys = episodes[0].observations.data
        return {key: self._joined(episode.observations.data[key][which] for episode in episodes) for key in keys}

    @torch.no_grad()
    def _values(self, module: Any, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        return module.compute_values({Columns.OBS: observations})
