"""Tianshou: one-seat environments with the mask where Tianshou looks for it.

```python
from monsterzoo.training.tianshou import make_envs

envs = make_envs("pikit_v0", 16, players=2, opponents="heuristic")  # a DummyVectorEnv
```

Observations are `{"obs": int8 (n,), "mask": int8 (A,)}`. The DQN family uses the mask; actors for PPO do not, so write
one that masks its logits. On multi-agent training see docs/libraries.md.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from monsterzoo.envs.api.gym import SeatEnv
from tianshou.env import DummyVectorEnv


class MaskedSeat(SeatEnv):
    """A `SeatEnv` with Tianshou's names. No wrapper: Tianshou asks the unwrapped environment for its spaces."""

    def __init__(self, game: str, **options: Any) -> None:
        super().__init__(game, **options)
        inside = self.observation_space
        if not isinstance(inside, spaces.Dict):
            raise ValueError("Tianshou needs the mask, which observations have not with observation='box'")
        self.observation_space = spaces.Dict(_renamed(inside.spaces))

    def reset(self, **settings: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """See `SeatEnv.reset`."""
        observation, info = super().reset(**settings)
        return _renamed(observation), info

    def step(self, action: Any) -> tuple[Any, ...]:
        """See `SeatEnv.step`."""
        observation, *rest = super().step(action)
        return _renamed(observation), *rest


def _renamed(observation: dict[str, Any]) -> dict[str, Any]:
    return {"obs": observation["observation"], "mask": observation["action_mask"]}


def make_envs(game: str, num_envs: int, **options: Any) -> DummyVectorEnv:
    """`num_envs` games for one learner each; options are the game's and those of `SeatEnv` (`opponents`, `seat`)."""
    return DummyVectorEnv([lambda: MaskedSeat(game, **options) for _ in range(num_envs)])
