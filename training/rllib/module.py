"""The network of `monsterzoo train` as an RLModule, and `save_policy`, which writes it as a file of weights."""

from pathlib import Path
from typing import Any

from monsterzoo.envs.core.registry import find_game
from monsterzoo.policies.adapters import rl_module
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from ..algorithms.network import LogProbs, Network, write


class MaskedCategorical(TorchCategorical):
    """Categorical distribution by the log-probabilities of `MaskedModule`; other logits are not normalised."""

    def _get_torch_distribution(self, logits: Tensor, probs: None = None) -> LogProbs:
        return LogProbs(logits)


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """The network as an RLModule with masked actions; `model_config` may have `width` (128) and `blocks` (1)."""

    def setup(self) -> None:
        """Build the network for the spaces."""
        observation, config = self.observation_space["observation"], self.model_config
        sizes = observation.shape[0], int(self.action_space.n), config.get("width", 128), config.get("blocks", 1)
        self.network = Network(*sizes, observation.high)
        self.action_dist_cls = MaskedCategorical

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Tensor]:
        log_probs, values = self.network(batch[Columns.OBS]["observation"], batch[Columns.OBS]["action_mask"])
        # The runner keeps VF_PREDS for the learner; in the loss, EMBEDDINGS spare `compute_values` a second pass.
        return {Columns.ACTION_DIST_INPUTS: log_probs, Columns.VF_PREDS: values, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """Values (B,); `embeddings` are those of the forward pass, if there was one."""
        return self._forward(batch)[Columns.EMBEDDINGS] if embeddings is None else embeddings


def save_policy(trained: Any, path: str | Path, game: str, *, module_id: str | None = None, **options: Any) -> None:
    """Write a trained `MaskedModule` as a file of weights: 'net:PATH' then plays like it, without Ray and torch.

    `trained` is an algorithm, the folder of a checkpoint, or the module; `module_id` says which, where there are
    several. Raises `ValueError` if it is another kind of module, or was trained on other observations or actions.
    """
    module, variant = rl_module(trained, module_id), find_game(game).variant(**options)
    if not isinstance(module, MaskedModule):
        raise ValueError(f"only the network of a MaskedModule can be written, not {type(module).__name__}")
    write(Path(path), module.network.cpu(), variant)
