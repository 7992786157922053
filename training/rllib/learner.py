"""PPO's learner with one connector of its own: all episodes become a batch at once.

RLlib's default pipeline goes through every episode a dozen times. Here columns are joined, and the advantages come from
one compiled loop over the values that the module has already told while playing. What PPO's loss gets is the same, but
for the row that the default adds to each episode and masks out again.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from monsterzoo.envs.compiling.jit import kernel
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.evaluation.postprocessing import Postprocessing


class BatchLearner(PPOTorchLearner):
    """PPO's learner for the episodes of `BatchRunner`.

    Connectors of one's own (`learner_connector=…`) come before its own. With
    `add_default_connectors_to_learner_pipeline=True` it has RLlib's instead.
    """

    def build(self) -> None:
        """Append the connector, where there are none of RLlib's."""
        super().build()
        if not self.config.add_default_connectors_to_learner_pipeline:
            settings = {"gamma": self.config.gamma, "lambda_": self.config.lambda_, "device": self.device}
            self._learner_connector.append(EpisodesToBatch(**settings))


class EpisodesToBatch(ConnectorV2):
    """Makes a list of numpy episodes what PPO's loss wants: a batch of tensors for each module."""

    def __init__(self, *args: Any, gamma: float, lambda_: float, device: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gamma, self.lambda_, self.device = gamma, lambda_, device

    def __call__(
        self, *, rl_module: Any, batch: dict[str, Any], episodes: list[SingleAgentEpisode], **kwargs: Any
    ) -> dict[str, Any]:
        """By module, the columns of all its decisions."""
        by_module = defaultdict(list)
        for episode in episodes:
            by_module[episode.module_id or DEFAULT_MODULE_ID].append(episode)
        return batch | {name: self._columns(rl_module[name], own) for name, own in by_module.items()}

    def _columns(self, module: Any, episodes: list[SingleAgentEpisode]) -> dict[str, Any]:
        columns: dict[str, Any] = {
            Columns.OBS: self._seen(episodes, slice(-1)),
            Columns.ACTIONS: self._joined(episode.actions.data for episode in episodes),
        }
        for key in episodes[0].extra_model_outputs:
            columns[key] = self._joined(episode.extra_model_outputs[key].data for episode in episodes)
        told = columns.pop(Columns.VF_PREDS, None)  # by a module that tells while playing, as ours
        values = (self._values(module, columns[Columns.OBS]) if told is None else told).cpu().numpy()
        cut = np.array([not episode.is_terminated for episode in episodes])
        ends = np.zeros(len(episodes), np.float32)
        if cut.any():
            unfinished = [episode for episode in episodes if not episode.is_terminated]
            ends[cut] = self._values(module, self._seen(unfinished, slice(-1, None))).cpu()
        advantages = np.concatenate([episode.rewards.data for episode in episodes])
        estimate(np.array([len(episode) for episode in episodes]), values, ends, self.gamma, self.lambda_, advantages)
        columns[Postprocessing.VALUE_TARGETS] = self._joined([advantages + values])
        columns[Postprocessing.ADVANTAGES] = self._joined(
            [(advantages - advantages.mean()) / max(1e-4, advantages.std())]
        )
        return columns

    def _joined(self, parts: Iterable[np.ndarray]) -> torch.Tensor:
        """A column of all episodes."""
        return torch.from_numpy(np.concatenate(list(parts))).to(self.device)

    def _seen(self, episodes: list[SingleAgentEpisode], which: slice) -> dict[str, torch.Tensor]:
        """All observations of certain places in the episodes, of which the last is where they stop."""
        keys = episodes[0].observations.data
        return {key: self._joined(episode.observations.data[key][which] for episode in episodes) for key in keys}

    @torch.no_grad()
    def _values(self, module: Any, seen: dict[str, torch.Tensor]) -> torch.Tensor:
        return module.compute_values({Columns.OBS: seen})


@kernel
def estimate(lengths, values, ends, gamma, gae_lambda, advantages):
    """Make rewards (rows,) of episodes one after another advantages; `ends` (episodes,) are worth what comes after."""
    stop = 0
    for episode in range(len(lengths)):
        start, stop = stop, stop + lengths[episode]
        after, estimated = ends[episode], np.float32(0)
        for row in range(stop - 1, start - 1, -1):
            error = advantages[row] + gamma * after - values[row]
            estimated = error + gamma * gae_lambda * estimated
            after = values[row]
            advantages[row] = estimated
