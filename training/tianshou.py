"""Tianshou: one seat of a game with its mask where Tianshou looks for it.

```python
from monsterzoo.training.tianshou import make_envs

envs = make_envs("pikit_v0", 16, players=2, opponents="heuristic")  # a DummyVectorEnv
```

Observations are `{"obs": int8 (n,), "mask": int8 (A,)}`. The DQN family masks with that by itself. Actors for PPO do
not read masks: write one that fills the logits of masked actions.

Advice: learn one seat against policies, as here, and copy the network to the other seats now and then. Tianshou's
`MultiAgentPolicy` on `PettingZooEnv` stores for each seat what the next seat observes, and a seat gets no result when
another one makes the last move; its DQN copes (with `n_step` as long as a game), its PPO unlearns.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from monsterzoo.envs.api.gym import SeatEnv
from tianshou.env import DummyVectorEnv


class MaskedSeat(SeatEnv):
    """A one-seat environment with the names that Tianshou uses.

    Not a wrapper: Tianshou asks the environment inside all wrappers for its spaces.
    """

    def __init__(self, game: str, **options: Any) -> None:
        super().__init__(game, **options)
        inside = self.observation_space
        if not isinstance(inside, spaces.Dict):
            raise ValueError("there is no mask where Tianshou looks for it with observation='box'")
        self.observation_space = spaces.Dict({"obs": inside["observation"], "mask": inside["action_mask"]})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin a game, see `SeatEnv.reset`."""
        observation, info = super().reset(seed=seed, options=options)
        return _renamed(observation), info

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action, see `SeatEnv.step`."""
        observation, reward, terminated, truncated, info = super().step(action)
        return _renamed(observation), reward, terminated, truncated, info


def _renamed(observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"obs": observation["observation"], "mask": observation["action_mask"]}


def make_envs(game: str, num_envs: int, **options: Any) -> DummyVectorEnv:
    """`num_envs` games for one learner each; options are the game's and those of `SeatEnv` (`opponents`, `seat`)."""
    return DummyVectorEnv([lambda: MaskedSeat(game, **options) for _ in range(num_envs)])
