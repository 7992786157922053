"""TorchRL: environments on the compiled batch, for one seat or for all.

```python
from monsterzoo.training.torchrl import make_env

env = make_env("pikit_v0", num_envs=64, players=2, opponents="heuristic")  # one seat, others are policies
env.rollout(100, break_when_any_done=False)  # random legal actions
```

Entries of `kind="seat"`, batch size (num_envs,): `observation` float32 (n,), `action_mask` bool (A,) and `action`, an
integer. `kind="parallel"` has the same for all seats in the group "player", as in `("player", "observation")`. There
one seat of a game decides at a time, also where the rules let several choose at once; the others' masks allow nothing
but the no-op.
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

GROUP = "player"  # group of all seats with `kind="parallel"`


def make_env(game: str, num_envs: int = 1, kind: str = "seat", seed: int | None = None, **options: Any) -> EnvBase:
    """A batch of games as a TorchRL environment; raises `ValueError` for bad options.

    Args:
        game: name of the game.
        num_envs: number of games, played as one compiled batch.
        kind: "seat" for one learner in each game, "parallel" for all seats.
        seed: of all games.
        options: the game's options and `threads`; with "seat" also `opponents` and `seat`, see `SeatVectorEnv`.
    """
    for fixed in ("autoreset_mode", "observation", "copy"):
        if fixed in options:
            raise UnexpectedOptionError(f"{fixed} cannot be chosen here (unexpected keyword argument {fixed!r})")
    if kind == "seat":
        games = SeatVectorEnv(game, num_envs, autoreset_mode="disabled", **options)
        casts = ("action_mask", torch.bool), ("observation", torch.float32)
        transforms = [DTypeCastTransform(torch.int8, dtype, in_keys=[key]) for key, dtype in casts]
        env = TransformedEnv(GymWrapper(games, categorical_action_encoding=True), Compose(*transforms, ActionMask()))
    elif kind == "parallel":
        all_seats = AllSeatsEnv(VectorGame(find_game(game), num_envs, **options))
        env = TransformedEnv(all_seats, ActionMask(action_key=(GROUP, "action"), mask_key=(GROUP, "action_mask")))
    else:
        raise ValueError(f"kind={kind!r} is not allowed; allowed: 'seat', 'parallel'")
    if seed is not None:
        env.set_seed(seed)
    return env


class AllSeatsEnv(EnvBase):
    """All seats of a batch of games, see `make_env`; raises `IllegalActionError` for an illegal action."""

    def __init__(self, games: VectorGame) -> None:
        super().__init__(batch_size=[games.num_envs])
        self._games, self._next_seed = games, fresh_seed()
        count, columns, actions = games.num_envs, games.variant.layout.size, games.variant.num_actions
        shape = (count, games.players)

        def grouped(**specs: Any) -> Composite:
            return Composite({GROUP: Composite(specs, shape=shape)}, shape=(count,))

        self.observation_spec = grouped(
            observation=Unbounded((*shape, columns), dtype=torch.float32),
            action_mask=Binary(actions, (*shape, actions), dtype=torch.bool),
        )
        self.action_spec = grouped(action=Categorical(actions, shape, dtype=torch.int64))
        self.reward_spec = grouped(reward=Unbounded((*shape, 1), dtype=torch.float32))
        flags = {name: Binary(1, (count, 1), dtype=torch.bool) for name in ("done", "terminated", "truncated")}
        self.done_spec = Composite(flags, shape=(count,))

    def _reset(self, tensordict: "TensorDictBase | None" = None, **kwargs: Any) -> TensorDictBase:
        chosen = None if tensordict is None else tensordict.get("_reset", None)
        if chosen is None or chosen.all():
            self._games.reset(self._next_seed)
            self._next_seed = fresh_seed() if self._seed is None else self._next_seed + 1
        # Otherwise the games of the mask have begun already: a finished one is replaced at once.
        return TensorDict({GROUP: self._observe(np.zeros(self._games.num_envs, np.bool_))}, self.batch_size)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        games, everyone = self._games, np.arange(self._games.num_envs)
        games.step(tensordict[GROUP, "action"].numpy()[everyone, games.seats])
        over = games.terminated | games.truncated
        group = self._observe(over)
        group["reward"] = torch.from_numpy(games.rewards.copy())[..., None]
        flags = {"done": over, "terminated": games.terminated, "truncated": games.truncated}
        ends = {name: torch.from_numpy(flag.copy())[:, None] for name, flag in flags.items()}
        return TensorDict({GROUP: group, **ends}, self.batch_size)

    def _set_seed(self, seed: int | None) -> None:
        self._seed = seed
        self._next_seed = fresh_seed() if seed is None else seed

    def _observe(self, over: np.ndarray) -> TensorDict:
        """Observations and masks of all seats; of games that are over, bool (N,), how they ended."""
        games, views = self._games, self._games.variant.new_views()
        shape = (games.num_envs, games.players)
        rows = np.zeros((*shape, games.variant.layout.size), np.int8)
        masks = np.zeros((*shape, games.variant.num_actions), np.bool_)
        masks[..., -1] = True
        for i in range(games.num_envs):
            states = games.final_states if over[i] else games.states
            for seat in range(games.players):
                stepping.observe_one(states, i, seat, views, rows[i, seat].view(np.uint64))
            if not over[i]:
                masks[i, games.seats[i]] = games.action_masks[i] != 0
        entries = {"observation": torch.from_numpy(rows.astype(np.float32)), "action_mask": torch.from_numpy(masks)}
        return TensorDict(entries, shape)
