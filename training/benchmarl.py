"""BenchMARL: tasks on the compiled batch, and trained experiments as policies.

```python
from monsterzoo.training.benchmarl import GameTask, from_experiment

task = GameTask("pikit_v0", {"players": 2})  # for Experiment(task=…)
policy = from_experiment(experiment)  # for tournaments and win rates
```

Groups are the teams; where everybody plays alone each seat is one. Entries are those of `AllSeatsEnv`: observations,
masks, and every seat's observation as the state for the centralised critics of MAPPO, MASAC and QMIX.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from benchmarl.environments.common import TaskClass
from benchmarl.experiment import Experiment
from monsterzoo.envs.api.vector import VectorGame
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.players import FunctionPolicy
from monsterzoo.policies import from_function
from tensordict import TensorDict
from torchrl.data import Composite
from torchrl.envs import EnvBase
from torchrl.envs.transforms import ActionMask, Transform
from torchrl.envs.utils import ExplorationType, set_exploration_type

from .torchrl import AllSeatsEnv


class GameTask(TaskClass):
    """A game as a BenchMARL task; `config` has the game's options and `threads`. Bad ones raise `ValueError`."""

    def __init__(self, name: str, config: dict[str, Any] | None = None) -> None:
        super().__init__(name, config)
        self._games(1)

    def _games(self, num_envs: int) -> VectorGame:
        return VectorGame(find_game(self.name), num_envs, **self.config)

    def get_env_fun(self, num_envs: int, continuous_actions: bool, seed: int | None, device: Any) -> Callable:
        """A function that makes `num_envs` games."""

        def make() -> EnvBase:
            games = self._games(num_envs)
            env = AllSeatsEnv(games, games.variant.teams, state=True)
            if seed is not None:
                env.set_seed(seed)
            return env.to(device)

        return make

    def get_env_transforms(self, env: EnvBase) -> list[Transform]:
        """Masks for random actions, too."""
        return [ActionMask(action_key=(group, "action"), mask_key=(group, "action_mask")) for group in env.group_map]

    def supports_continuous_actions(self) -> bool:
        """No."""
        return False

    def supports_discrete_actions(self) -> bool:
        """Yes."""
        return True

    def has_render(self, env: EnvBase) -> bool:
        """No: there is a batch of games."""
        return False

    def max_steps(self, env: EnvBase) -> int:
        """Steps of an evaluation, enough for several games."""
        return 1000

    def group_map(self, env: EnvBase) -> dict[str, list[str]]:
        """The agents of each team."""
        return env.group_map

    def observation_spec(self, env: EnvBase) -> Composite:
        """Observations by team."""
        return _entry(env, "observation")

    def action_mask_spec(self, env: EnvBase) -> Composite:
        """Masks by team."""
        return _entry(env, "action_mask")

    def action_spec(self, env: EnvBase) -> Composite:
        """Actions by team."""
        return env.full_action_spec_unbatched

    def state_spec(self, env: EnvBase) -> Composite:
        """The global state."""
        return Composite(state=env.full_observation_spec_unbatched["state"])

    def info_spec(self, env: EnvBase) -> None:
        """There are none."""

    @staticmethod
    def env_name() -> str:
        """The name in logs."""
        return "monsterzoo"


def _entry(env: EnvBase, key: str) -> Composite:
    specs = env.full_observation_spec_unbatched
    return Composite({group: Composite({key: specs[group, key]}, shape=specs[group].shape) for group in env.group_map})


def from_experiment(experiment: Experiment, name: str | None = None) -> FunctionPolicy:
    """A policy from a trained experiment: each seat takes the best legal action of its team's network."""
    places = {agent: (group, at) for group, agents in experiment.group_map.items() for at, agent in enumerate(agents)}

    def act(decisions: Decisions) -> np.ndarray:
        actions = np.zeros(len(decisions), np.int64)
        for seat, agent in enumerate(decisions.variant.agents):
            rows = np.flatnonzero(decisions.seats == seat)
            if not len(rows):
                continue
            group, place = places[agent]
            shape = len(rows), len(experiment.group_map[group])
            parts = {
                "observation": decisions.observations.astype(np.float32),
                "action_mask": decisions.action_masks != 0,
            }
            # Networks take the whole team; what a seat chooses depends on its own row alone.
            seen = {key: torch.as_tensor(part[rows, None]).expand(*shape, -1) for key, part in parts.items()}
            batch = TensorDict({group: TensorDict(seen, shape)}, shape[:1])
            with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
                actions[rows] = experiment.group_policies[group](batch)[group, "action"][:, place].numpy()
        return actions

    return from_function(act, name or experiment.algorithm_name)
