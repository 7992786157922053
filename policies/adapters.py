"""Adapters for foreign models: functions, Stable-Baselines3 models, RLlib and torch modules as policies."""

from collections.abc import Callable
from copy import deepcopy
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo.envs.core.options import is_whole, whole
from monsterzoo.envs.match.players import FunctionPolicy


def from_function(function: Callable[..., Any], name: str | None = None, *, batched: bool = True) -> FunctionPolicy:
    """A policy from `function(observations, action_masks)`, both with a leading batch dimension.

    A function with a parameter `decisions` is called with the batch itself.

    With `batched=False` it is `function(observation, action_mask)`, one decision at a time.
    """

    def act(observations: np.ndarray, action_masks: np.ndarray) -> Any:
        answers = [function(row, mask) for row, mask in zip(observations, action_masks)]
        # Integers of any type, such as tensors of one; anything else is refused as it is.
        return [whole(answer) for answer in answers] if all(map(is_whole, answers)) else answers

    return FunctionPolicy(function if batched else act, name or str(getattr(function, "__name__", "function")))


def from_sb3(model: Any, name: str | None = None, *, deterministic: bool = True) -> FunctionPolicy:
    """A policy from a Stable-Baselines3 model trained on a one-seat environment.

    MaskablePPO gets the masks; from any other model the best legal action is taken (its action distribution or
    Q-values, masked). The model's observation space may be the environment's dict or its "observation" alone.
    """
    spaces = getattr(model.observation_space, "spaces", None)

    def seen(observations: np.ndarray, action_masks: np.ndarray) -> Any:
        parts = {"observation": observations, "action_mask": action_masks}
        return observations if spaces is None else {key: parts[key] for key in spaces}

    def predict(observations: np.ndarray, action_masks: np.ndarray) -> Any:
        masks = action_masks.astype(np.bool_)
        return model.predict(seen(observations, action_masks), action_masks=masks, deterministic=deterministic)[0]

    def logits(observations: np.ndarray, action_masks: np.ndarray) -> Any:
        tensors, _ = model.policy.obs_to_tensor(seen(observations, action_masks))
        if hasattr(model.policy, "get_distribution"):
            return model.policy.get_distribution(tensors).distribution.logits
        return model.policy.q_net(tensors)

    name = name or type(model).__name__.lower()
    takes_masks = "action_masks" in signature(model.predict).parameters
    return FunctionPolicy(predict, name) if takes_masks else _from_logits(logits, name)


def from_rllib(
    trained: Any, name: str | None = None, *, module_id: str | None = None, deterministic: bool = True, seed: int = 0
) -> FunctionPolicy:
    """A policy from an RLlib algorithm (new API stack), one of its checkpoints, or an RLModule with masked logits.

    The best legal action is taken, or one is sampled. Loading a checkpoint runs code from it: use only your own. Raises
    `ValueError` for a folder without a module, and where there are several modules and `module_id` names none of them.
    """
    import torch

    module = rl_module(trained, module_id)
    draws = None if deterministic else torch.Generator().manual_seed(seed)
    device = _device(module)

    def logits(observations: np.ndarray, action_masks: np.ndarray) -> Any:
        parts = {"observation": observations, "action_mask": action_masks}
        seen = {key: torch.as_tensor(values, device=device) for key, values in parts.items()}
        return module.forward_inference({"obs": seen})["action_dist_inputs"]

    return _from_logits(logits, name or "rllib", draws)


def rl_module(trained: Any, module_id: str | None) -> Any:
    """The RLModule in an algorithm, a checkpoint or a module of modules, see `from_rllib`.

    An algorithm's module is copied: it goes on learning.
    """
    from ray.rllib.algorithms import Algorithm
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModule
    from ray.rllib.core.rl_module.rl_module import RLModule

    if isinstance(trained, str | Path):
        folder = Path(trained).absolute()
        inside = folder / "learner_group" / "learner" / "rl_module"
        if not folder.is_dir():
            raise ValueError(f"there is no RLlib checkpoint in {trained}")
        trained = RLModule.from_checkpoint(inside if inside.is_dir() else folder)
    elif isinstance(trained, Algorithm):
        trained = deepcopy(trained.env_runner.module)
    if not isinstance(trained, MultiRLModule):
        return trained
    known = list(trained.keys())
    if module_id is None and len(known) == 1:
        module_id = known[0]
    if module_id not in known:
        raise ValueError(f"module_id={module_id!r} is not allowed; allowed: {', '.join(map(repr, sorted(known)))}")
    return trained[module_id]


def from_torch(
    module: Any, name: str | None = None, *, sample: bool = False, temperature: float = 1.0, seed: int = 0
) -> FunctionPolicy:
    """A policy from a torch module that maps float32 observations (B, n) to logits (B, A).

    It may also return a tuple whose first part, or a dict whose "logits", are these. The best legal action is taken,
    or one is sampled with the logits divided by `temperature`.
    """
    import torch

    draws = torch.Generator().manual_seed(seed) if sample else None
    device = _device(module)

    def logits(observations: np.ndarray, action_masks: np.ndarray) -> Any:
        output = module(torch.as_tensor(observations, dtype=torch.float32, device=device))
        return output["logits"] if isinstance(output, dict) else output[0] if isinstance(output, tuple) else output

    return _from_logits(logits, name or type(module).__name__.lower(), draws, temperature)


def _device(module: Any) -> Any:
    return next((parameter.device for parameter in module.parameters()), "cpu")


def _from_logits(
    logits_of: Callable[[np.ndarray, np.ndarray], Any], name: str, draws: Any = None, temperature: float = 1.0
) -> FunctionPolicy:
    """A policy that takes the best legal action by logits, or samples one with the generator `draws`."""
    import torch

    def act(observations: np.ndarray, action_masks: np.ndarray) -> Any:
        with torch.no_grad():
            logits = logits_of(observations, action_masks).cpu()
            logits = logits.masked_fill(torch.as_tensor(action_masks == 0), -torch.inf)
            if draws is None:
                return logits.argmax(dim=1).numpy()
            return torch.multinomial(torch.softmax(logits / temperature, dim=1), 1, generator=draws)[:, 0].numpy()

    return FunctionPolicy(act, name)
