"""TorchRL: games as its environments, one seat or all of them, in a compiled batch.

```python
from monsterzoo.training.torchrl import make_env

env = make_env("pikit_v0", num_envs=64, players=2, opponents="heuristic")  # one seat, others are policies
env.rollout(100, break_when_any_done=False)  # random legal actions
```

Entries of `kind="seat"`, batch size (num_envs,): `observation` float32 (n,), `action_mask` bool (A,), and `action`, a
number. Entries of `kind="parallel"`: the same in one group, `("player", "observation")` and so on, with a dimension of
seats. One seat of a game decides at a time, also where several choose at once; the others have the no-op alone in their
masks. Policies need `torchrl.modules.MaskedCategorical` with `in_keys={"logits": "logits", "mask": "action_mask"}`.

What TorchRL does by itself works as well: `GymEnv("monsterzoo/Pikit-v0")`, `PettingZooWrapper(parallel_env)`, and
`GymWrapper` of a batch from `gymnasium.make_vec` with `autoreset_mode="disabled"`, which TorchRL prefers; with
"same_step" it needs `observation="box"`, since it cannot read final observations that are dicts.
"""

from typing import Any

import numpy as np
import torch
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.api.spaces import fresh_seed
from monsterzoo.envs.api.vector import VectorGame
from monsterzoo.envs.core import stepping
from monsterzoo.envs.core.options import UnexpectedOptionError
from monsterzoo.envs.core.registry import find_game
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Binary, Categorical, Composite, Unbounded
from torchrl.envs import Compose, EnvBase, GymWrapper, TransformedEnv
from torchrl.envs.transforms import ActionMask, DTypeCastTransform

GROUP = "player"
"""The group of all seats, in `kind="parallel"`."""


def make_env(game: str, num_envs: int = 1, kind: str = "seat", seed: int | None = None, **options: Any) -> EnvBase:
    """A game for TorchRL; raises `ValueError` for bad options.

    Args:
        game: name of the game.
        num_envs: number of games, played as one compiled batch.
        kind: "seat" for one learner in each game, "parallel" for all seats.
        seed: of all games.
        options: the game's options and `threads`; with "seat" also `opponents` and `seat`, see `SeatVectorEnv`.
    """
    for fixed in ("autoreset_mode", "observation", "copy"):
        if fixed in options:
            raise UnexpectedOptionError(f"{fixed} is chosen here already (unexpected keyword argument {fixed!r})")
    if kind == "seat":
        env = _one_seat(SeatVectorEnv(game, num_envs, autoreset_mode="disabled", **options))
    elif kind == "parallel":
        tables = TablesEnv(VectorGame(find_game(game), num_envs, **options))
        env = TransformedEnv(tables, ActionMask(action_key=(GROUP, "action"), mask_key=(GROUP, "action_mask")))
    else:
        raise ValueError(f"kind={kind!r} is not allowed; allowed: 'seat', 'parallel'")
    if seed is not None:
        env.set_seed(seed)
    return env


def _one_seat(games: SeatVectorEnv) -> EnvBase:
    return TransformedEnv(
        GymWrapper(games, categorical_action_encoding=True),
        Compose(
            DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]),
            DTypeCastTransform(torch.int8, torch.float32, in_keys=["observation"]),
            ActionMask(),
        ),
    )


class TablesEnv(EnvBase):
    """All seats of a batch of games, see `make_env`; an illegal action raises `IllegalActionError`."""

    def __init__(self, games: VectorGame) -> None:
        super().__init__(batch_size=[games.num_envs])
        self._games, self._next_seed = games, fresh_seed()
        variant, count, players = games.variant, games.num_envs, games.players
        self._rows = np.zeros((count, players, variant.layout.size), np.int8)
        self._masks = np.zeros((count, players, variant.num_actions), np.bool_)
        shape = (count, players)
        seen = Composite(
            observation=Unbounded((*shape, variant.layout.size), dtype=torch.float32),
            action_mask=Binary(variant.num_actions, (*shape, variant.num_actions), dtype=torch.bool),
            shape=shape,
        )
        self.observation_spec = Composite({GROUP: seen}, shape=(count,))
        action = Categorical(variant.num_actions, shape, dtype=torch.int64)
        self.action_spec = Composite({GROUP: Composite(action=action, shape=shape)}, shape=(count,))
        reward = Composite(reward=Unbounded((*shape, 1), dtype=torch.float32), shape=shape)
        self.reward_spec = Composite({GROUP: reward}, shape=(count,))
        flag = Binary(1, (count, 1), dtype=torch.bool)
        self.done_spec = Composite(done=flag.clone(), terminated=flag.clone(), truncated=flag.clone(), shape=(count,))

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDictBase:
        chosen = None if tensordict is None else tensordict.get("_reset", None)
        if chosen is None or chosen.all():
            self._games.reset(self._next_seed)
            self._next_seed = fresh_seed() if self._seed is None else self._next_seed + 1
        # Otherwise the games of the mask have begun already: a finished one is replaced at once.
        self._look(np.zeros(self._games.num_envs, np.bool_))
        return TensorDict({GROUP: self._seen()}, self.batch_size)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        games, everyone = self._games, np.arange(self._games.num_envs)
        games.step(tensordict[GROUP, "action"].numpy()[everyone, games.seats])
        over = games.terminated | games.truncated
        self._look(over)
        seen = self._seen()
        seen["reward"] = torch.from_numpy(games.rewards.copy())[..., None]
        flags = {"done": over, "terminated": games.terminated, "truncated": games.truncated}
        ends = {name: torch.from_numpy(flag.copy())[:, None] for name, flag in flags.items()}
        return TensorDict({GROUP: seen, **ends}, self.batch_size)

    def _set_seed(self, seed: int | None) -> None:
        self._seed = seed
        self._next_seed = fresh_seed() if seed is None else seed

    def _look(self, over: np.ndarray) -> None:
        """Write what every seat knows and may do; of games that are over, how they ended."""
        games, views = self._games, self._games.variant.new_views()
        self._masks[:] = False
        self._masks[..., -1] = True
        for i in range(games.num_envs):
            states = games.final_states if over[i] else games.states
            for seat in range(games.players):
                stepping.observe_one(states, i, seat, views, self._rows[i, seat].view(np.uint64))
            if not over[i]:
                self._masks[i, games.seats[i]] = games.action_masks[i] != 0

    def _seen(self) -> TensorDict:
        entries = {
            "observation": torch.from_numpy(self._rows.astype(np.float32)),
            "action_mask": torch.from_numpy(self._masks.copy()),
        }
        return TensorDict(entries, (*self.batch_size, self._games.players))
