"""Stable-Baselines3: MaskablePPO on the compiled one-seat batch, against policies or its own past.

```python
from sb3_contrib import MaskablePPO
from monsterzoo.policies import from_sb3
from monsterzoo.training.sb3 import MaskedPolicy, PastSelf, SelfPlay, make_vec_env

past = PastSelf("pikit_v0", players=2)
env = make_vec_env("pikit_v0", num_envs=512, opponents=past, players=2, seed=0)
model = MaskablePPO(MaskedPolicy, env, n_steps=32, batch_size=2048, n_epochs=3, gamma=1.0)  # or "MlpPolicy"
model.learn(2_000_000, callback=SelfPlay(past))
player = from_sb3(model)  # plays in the arena like any other policy
```

With many games at once nearly all time is MaskablePPO's own. `MaskedPolicy` is its `MlpPolicy` with a cheaper
distribution over actions; networks and learning are the same.
"""

import time
from collections.abc import Sequence
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
from monsterzoo.policies.networks.files import check_shapes
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor

from .algorithms.network import Network, write
from .runs.files import replacing

LARGEST_SEED = (1 << 32) - 1
"""SB3 seeds numpy with it."""
ILLEGAL = -1e8
"""The logit of a masked action, as in SB3: its probability is exactly 0."""


def make_vec_env(
    game: str, num_envs: int, opponents: Any = "random", seed: int | None = None, threads: int = 1, **options: Any
) -> "SeatVecEnv":
    """`num_envs` games as an SB3 `VecEnv` for one learner in each, whose seat changes from game to game.

    Args:
        game: name of the game.
        num_envs: number of games, played as one compiled batch.
        opponents: a policy's spec or the policy itself, or one of either for each other seat (clockwise).
        seed: of the first reset; game i is the AEC environment seeded with `env_seed(seed, i)`.
        threads: number of threads that share a step (compiled opponents only).
        options: the game's options, and `seat` to learn one seat only.
    """
    return SeatVecEnv(SeatVectorEnv(game, num_envs, opponents=opponents, threads=threads, copy=False, **options), seed)


class SeatVecEnv(VecEnv):
    """A `SeatVectorEnv` as SB3 wants it.

    Observations are the flat int8 tensor; the masks, bool (N, A), are what `env_method("action_masks")` returns, where
    MaskablePPO looks for them. The infos of a finished game hold `terminal_observation`, `TimeLimit.truncated` and
    `episode` (sum of rewards, decisions, seconds), as those of SB3's Monitor do.
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
        """Begin all games; uses the seeds given to `seed` since the last reset, if any."""
        seed: int | Sequence[int | None] | None = self._first_seed
        if any(one is not None for one in self._seeds):
            seed = self._seeds
        self._first_seed = None
        observed, _ = self.games.reset(seed=seed)
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
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = np.flatnonzero(done)
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
        """Nothing to release."""
        self.games.close()

    def action_masks(self) -> np.ndarray:
        """The learners' legal actions, bool (N, A)."""
        return self.games.action_masks()

    # --- What SB3 asks single environments for: here all of them are one ---

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the batch, once for every game."""
        if attr_name == "action_masks":
            return [self.action_masks] * self._count(indices)
        if attr_name == "render_mode":
            return [None] * self._count(indices)
        return [getattr(self.games, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not possible for single games of a batch."""
        raise NotImplementedError(f"the games are one batch, {attr_name} cannot be set in some of them")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """`action_masks`, one row per game; single games have no other method."""
        if method_name != "action_masks":
            raise AttributeError(f"the games are one batch, the only method of each is action_masks, not {method_name}")
        masks = self.action_masks()
        return list(masks if indices is None else masks[list(self._get_indices(indices))])

    def env_is_wrapped(self, wrapper_class: type[Wrapper], indices: Any = None) -> list[bool]:
        """No game is wrapped, but each has what SB3's Monitor would add."""
        return [wrapper_class.__name__ == "Monitor"] * self._count(indices)

    def _count(self, indices: Any) -> int:
        return len(list(self._get_indices(indices)))


class MaskedCategorical(MaskableDistribution):
    """MaskablePPO's distribution over actions, computed once after masking and without checks.

    Probabilities, entropies and gradients are those of SB3's own, which normalises three times and checks the result.
    """

    def __init__(self, action_dim: int) -> None:
        super().__init__()
        self.action_dim = action_dim

    def proba_distribution_net(self, latent_dim: int) -> torch.nn.Module:
        """The layer that makes logits."""
        return torch.nn.Linear(latent_dim, self.action_dim)

    def proba_distribution(self, action_logits: Tensor) -> "MaskedCategorical":
        """Take over logits (B, A)."""
        self._logits = action_logits
        self.apply_masking(None)
        return self

    def apply_masking(self, masks: Any) -> None:
        """Forbid all actions outside the masks, bool (B, A); None allows all."""
        logits = self._logits
        self._log_probs: Tensor | None = None
        if masks is not None:
            allowed = torch.as_tensor(masks, dtype=torch.bool, device=logits.device).reshape(logits.shape)
            self._log_probs = logits.masked_fill(~allowed, ILLEGAL).log_softmax(1)

    @property
    def log_probs(self) -> Tensor:
        """Of all actions, (B, A)."""
        if self._log_probs is None:
            self._log_probs = self._logits.log_softmax(1)
        return self._log_probs

    def log_prob(self, actions: Tensor) -> Tensor:
        """Of the given actions, (B,)."""
        return self.log_probs.gather(1, actions.long()[:, None])[:, 0]

    def entropy(self) -> Tensor:
        """In nats, (B,)."""
        # Not exp: it takes ten times as long where it underflows.
        return -(self.log_probs.softmax(1) * self.log_probs).sum(1)

    def sample(self) -> Tensor:
        """Actions drawn from the probabilities, (B,)."""
        sums = self.log_probs.softmax(1).cumsum(1)
        # A little less than the last sum, so that some sum is larger; the first such belongs to a legal action.
        drawn = torch.rand_like(sums[:, :1]) * (1 - 1e-6) * sums[:, -1:]
        return (sums > drawn).byte().argmax(1)

    def mode(self) -> Tensor:
        """The likeliest actions, (B,)."""
        return self.log_probs.argmax(1)

    def actions_from_params(self, action_logits: Tensor, deterministic: bool = False) -> Tensor:
        """Actions by logits."""
        return self.proba_distribution(action_logits).get_actions(deterministic)

    def log_prob_from_params(self, action_logits: Tensor) -> tuple[Tensor, Tensor]:
        """Drawn actions by logits, and their log-probabilities."""
        actions = self.actions_from_params(action_logits)
        return actions, self.log_prob(actions)


class MaskedPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's `MlpPolicy` with `MaskedCategorical`; takes the same `policy_kwargs`."""

    def _build(self, lr_schedule: Any) -> None:
        if not isinstance(self.action_space, Discrete):
            raise ValueError(f"MaskedPolicy chooses one of several actions, it cannot choose from {self.action_space}")
        self.action_dist = MaskedCategorical(int(self.action_space.n))
        super()._build(lr_schedule)


class PastSelf:
    """An opponent that plays like an earlier version of the learner, and at random before there is one.

    `SelfPlay` keeps it supplied.
    """

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
        """Keep the learner's policy network as it is now; when full, a random earlier one makes room."""
        if self._network is None:
            # A new network of the same kind: a copy of this one would copy its optimiser, too.
            self._network = type(network)(**network._get_constructor_parameters())
            self._player = from_sb3(self._network, "past", deterministic=False)
        if len(self._weights) >= self.keep:
            del self._weights[self._random.integers(len(self._weights))]
        self._weights.append({name: values.clone() for name, values in network.state_dict().items()})

    def choose(self) -> None:
        """Play like a random one of the kept versions from now on."""
        if self._network is not None:
            self._network.load_state_dict(self._weights[self._random.integers(len(self._weights))])


class SelfPlay(BaseCallback):
    """Lets a learner play against its own past: a new version is kept every few rollouts, one is drawn for each."""

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
    """The network of `monsterzoo train` below its heads, so that `save_policy` can write what SB3 has trained."""

    def __init__(self, observation_space: Any, width: int = 128, blocks: int = 1) -> None:
        super().__init__(observation_space, width)
        self.network = Network(observation_space.shape[0], 1, width, blocks, observation_space.high)
        del self.network.policy, self.network.value  # SB3 adds heads of its own

    def forward(self, observations: Tensor) -> Tensor:
        """Shapes (B, n) to (B, width)."""
        return self.network.trunk(observations)


def learn(
    game: str, steps: int, num_envs: int = 512, opponents: str = "past", seed: int = 0, **options: Any
) -> MaskablePPO:
    """Train MaskablePPO with settings that suit these games, against a policy's spec, or "past" for self-play.

    Raises `ValueError` for what is not allowed.
    """
    checked("steps", steps, Integer(1))
    checked("num_envs", num_envs, Integer(1))
    checked("seed", seed, Integer(0, LARGEST_SEED))
    past = PastSelf(game, seed=seed, **options)
    env = make_vec_env(game, num_envs, past if opponents == "past" else opponents, seed=seed, **options)
    settings: dict[str, Any] = {"n_steps": 32, "batch_size": 2048, "n_epochs": 3, "learning_rate": 7e-4, "gamma": 1.0}
    network = {"features_extractor_class": Trunk, "net_arch": []}
    model = MaskablePPO(
        MaskedPolicy, env, ent_coef=0.01, seed=seed, device="cpu", policy_kwargs=network, verbose=1, **settings
    )
    return model.learn(steps, callback=SelfPlay(past) if opponents == "past" else None)


def save_policy(model: MaskablePPO, path: str | Path, game: str, **options: Any) -> None:
    """Write the network of `learn` as a file of weights: 'net:PATH' then plays like it, without SB3 and torch.

    Raises `ValueError` for a model with another network, or of other observations or actions.
    """
    policy, variant = model.policy, find_game(game).variant(**options)
    trunk = policy.features_extractor
    if not isinstance(trunk, Trunk) or len(policy.mlp_extractor.policy_net):
        raise ValueError("only a network with Trunk as its features extractor and net_arch=[] can be written")
    network: Any = trunk.network
    network.policy, network.value = policy.action_net, policy.value_net
    try:
        check_shapes(network.arrays(), variant, "the model")
        with replacing(Path(path)) as part:
            write(part, network, variant)
    finally:
        del network.policy, network.value
