"""Stable-Baselines3: MaskablePPO on the compiled one-seat batch, against policies or in self-play.

```python
from sb3_contrib import MaskablePPO
from monsterzoo.policies import from_sb3
from monsterzoo.training.sb3 import MaskedPolicy, PastSelf, SelfPlay, make_vec_env

past = PastSelf("pikit_v0", players=2)  # earlier versions of the learner
env = make_vec_env("pikit_v0", num_envs=512, opponents=past, players=2, seed=0)
model = MaskablePPO(MaskedPolicy, env, n_steps=32, batch_size=2048, n_epochs=3, gamma=1.0)  # or "MlpPolicy"
model.learn(2_000_000, callback=SelfPlay(past))
player = from_sb3(model)  # plays in the arena like any other policy
```
"""

import time
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import Wrapper
from gymnasium.spaces import Discrete
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.core.options import Integer, checked
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.policies import Policy, from_sb3, make
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor

from .algorithms.network import ILLEGAL, LogProbs, Network, write
from .runs.config import LARGEST_NUMPY_SEED


def make_vec_env(
    game: str, num_envs: int, opponents: Any = "random", seed: int | None = None, threads: int = 1, **options: Any
) -> "SeatVecEnv":
    """A batch of games as an SB3 `VecEnv`; the learner has one seat in each, the next one in every new game.

    Args:
        game: name of the game.
        num_envs: number of games, played as one compiled batch.
        opponents: a policy's spec or the policy itself, or one of either for each other seat (clockwise).
        seed: of the first reset; game i is the AEC environment seeded with `env_seed(seed, i)`.
        threads: number of threads that share a step (compiled opponents only).
        options: the game's options, and `seat` to learn one seat only.
    """
    settings: dict[str, Any] = {"opponents": opponents, "threads": threads, "copy": False}
    return SeatVecEnv(SeatVectorEnv(game, num_envs, autoreset_mode="same_step", **settings, **options), seed)


class SeatVecEnv(VecEnv):
    """A `SeatVectorEnv` with `autoreset_mode="same_step"` as an SB3 `VecEnv`.

    Observations are int8 (N, n). Masks, bool (N, A), are what `env_method("action_masks")` returns, where MaskablePPO
    looks for them. Infos of a finished game have `terminal_observation`, `TimeLimit.truncated` and Monitor's `episode`.
    """

    def __init__(self, games: SeatVectorEnv, seed: int | None = None) -> None:
        self.games = games
        observation = games.single_observation_space["observation"]  # type: ignore[index]
        super().__init__(games.num_envs, observation, games.single_action_space)
        self._first_seed = seed
        self._actions = np.zeros(games.num_envs, np.int64)
        self._totals, self._lengths = np.zeros(games.num_envs), np.zeros(games.num_envs, np.int64)
        self._began = time.perf_counter()

    def reset(self) -> np.ndarray:
        """Start all games, with the seeds given to `seed` since the last reset, if any."""
        given = any(one is not None for one in self._seeds)
        observed, _ = self.games.reset(seed=self._seeds if given else self._first_seed)
        self._first_seed = None
        self._reset_seeds()
        self._reset_options()
        self._totals[:] = self._lengths[:] = 0
        return observed["observation"].copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Carry out the actions; finished games are replaced at once."""
        observed, rewards, terminated, truncated, more = self.games.step(self._actions)
        self._totals += rewards
        self._lengths += 1
        done = terminated | truncated
        finished = np.flatnonzero(done)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        seconds = round(time.perf_counter() - self._began, 6)
        for i in finished.tolist():
            infos[i] = {
                "terminal_observation": more["final_obs"][i]["observation"].copy(),
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "episode": {"r": float(self._totals[i]), "l": int(self._lengths[i]), "t": seconds},
            }
        self._totals[finished] = self._lengths[finished] = 0
        return observed["observation"].copy(), rewards.copy(), done, infos

    def close(self) -> None:
        """Close the batch."""
        self.games.close()

    # --- What SB3 asks single environments for: here they are one batch ---

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the batch, once for every game."""
        return [getattr(self.games, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not possible for single games of a batch."""
        raise NotImplementedError(f"{attr_name} cannot be set: the games are one batch")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """`action_masks`, one row per game; single games have no other method."""
        if method_name != "action_masks":
            raise AttributeError(f"the games are one batch, the only method of each is action_masks, not {method_name}")
        return list(self.games.action_masks()[list(self._get_indices(indices))])

    def env_is_wrapped(self, wrapper_class: type[Wrapper], indices: Any = None) -> list[bool]:
        """No game is wrapped, but infos have what SB3's Monitor would add."""
        return [wrapper_class.__name__ == "Monitor" for _ in self._get_indices(indices)]


class MaskedCategorical(MaskableCategoricalDistribution):
    """Masked categorical distribution, as MaskablePPO's own but computed once and without checks."""

    distribution: Any

    def proba_distribution(self, action_logits: Tensor) -> "MaskedCategorical":
        """Set logits (B, A); all actions are allowed."""
        self._logits = action_logits
        self.apply_masking(None)
        return self

    def apply_masking(self, masks: Any) -> None:
        """Allow the actions of the masks, bool (B, A); None allows all."""
        logits = self._logits
        if masks is not None:
            allowed = torch.as_tensor(masks, dtype=torch.bool, device=logits.device).reshape(logits.shape)
            logits = logits.masked_fill(~allowed, ILLEGAL)
        self.distribution = LogProbs(logits.log_softmax(1))


class MaskedPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's `MlpPolicy` with `MaskedCategorical`; takes the same `policy_kwargs`."""

    def _build(self, lr_schedule: Any) -> None:
        if not isinstance(self.action_space, Discrete):
            raise ValueError(f"MaskedPolicy needs a Discrete action space, got {self.action_space}")
        self.action_dist = MaskedCategorical(int(self.action_space.n))
        super()._build(lr_schedule)


class PastSelf:
    """An opponent that plays like an earlier version of the learner, at random before `SelfPlay` has added one."""

    name = "past"

    def __init__(self, game: str, keep: int = 10, seed: int = 0, **options: Any) -> None:
        self.keep = checked("keep", keep, Integer(1))
        self._random = np.random.default_rng(seed)
        self._network: Any = None
        self._player: Policy = make("random", game, seed=seed, **options)
        self._weights: list[dict[str, Any]] = []

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, integers (B,)."""
        return self._player.act(decisions)

    def remember(self, network: Any) -> None:
        """Add the learner's policy network as it is now; beyond `keep`, a random earlier version goes."""
        if self._network is None:  # made anew, as a copy would have the optimiser, too
            self._network = type(network)(**network._get_constructor_parameters())
            self._player = from_sb3(self._network, "past", deterministic=False)
        if len(self._weights) >= self.keep:
            del self._weights[self._random.integers(len(self._weights))]
        self._weights.append({name: values.clone() for name, values in network.state_dict().items()})

    def choose(self) -> None:
        """Play like a random version from now on."""
        if self._network is not None:
            self._network.load_state_dict(self._weights[self._random.integers(len(self._weights))])


class SelfPlay(BaseCallback):
    """Callback that adds the learner to a `PastSelf` every few rollouts and draws a version for each rollout."""

    def __init__(self, opponent: PastSelf, every: int = 5) -> None:
        super().__init__()
        self.opponent, self.every, self._rollouts = opponent, checked("every", every, Integer(1)), 0

    def _on_rollout_start(self) -> None:
        if self._rollouts and self._rollouts % self.every == 0:
            self.opponent.remember(self.model.policy)
        self.opponent.choose()
        self._rollouts += 1

    def _on_step(self) -> bool:
        return True


class Trunk(BaseFeaturesExtractor):
    """Features extractor: the network of `monsterzoo train` without its heads, so that `save_policy` can write it."""

    def __init__(self, observation_space: Any, width: int = 128, blocks: int = 1) -> None:
        super().__init__(observation_space, width)
        self.network = Network(observation_space.shape[0], 1, width, blocks, observation_space.high)
        del self.network.policy, self.network.value

    def forward(self, observations: Tensor) -> Tensor:
        """Shapes (B, n) to (B, width)."""
        return self.network.trunk(observations)


def learn(
    game: str, steps: int, num_envs: int = 512, opponents: str = "past", seed: int = 0, **options: Any
) -> MaskablePPO:
    """Train MaskablePPO against a policy's spec, or "past" for self-play; raises `ValueError` for bad arguments."""
    checked("steps", steps, Integer(1))
    checked("num_envs", num_envs, Integer(1))
    checked("seed", seed, Integer(0, LARGEST_NUMPY_SEED))
    past = PastSelf(game, seed=seed, **options)
    env = make_vec_env(game, num_envs, past if opponents == "past" else opponents, seed=seed, **options)
    settings: dict[str, Any] = {"n_steps": 32, "batch_size": 2048, "n_epochs": 3, "learning_rate": 7e-4, "gamma": 1.0}
    settings |= {"ent_coef": 0.01, "policy_kwargs": {"features_extractor_class": Trunk, "net_arch": []}}
    model = MaskablePPO(MaskedPolicy, env, seed=seed, device="cpu", verbose=1, **settings)
    return model.learn(steps, callback=SelfPlay(past) if opponents == "past" else None)


def save_policy(model: MaskablePPO, path: str | Path, game: str, **options: Any) -> None:
    """Write a model of `learn` as a file of weights: 'net:PATH' then plays like it, without SB3 and torch.

    Raises `ValueError` for a model with another network, observations or actions.
    """
    policy, variant = model.policy, find_game(game).variant(**options)
    trunk = policy.features_extractor
    if not isinstance(trunk, Trunk) or len(policy.mlp_extractor.policy_net):
        raise ValueError("only a network with Trunk as its features extractor and net_arch=[] can be written")
    network: Any = deepcopy(trunk.network)
    network.policy, network.value = policy.action_net, policy.value_net
    write(Path(path), network, variant)
