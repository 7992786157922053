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

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.api.spaces import fresh_seed
from monsterzoo.envs.api.vector import VectorGame
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core.contract import observe
from monsterzoo.envs.core.options import UnexpectedOptionError
from monsterzoo.envs.core.registry import find_game
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Binary, Categorical, Composite, Unbounded
from torchrl.envs import Compose, EnvBase, GymWrapper, TransformedEnv
from torchrl.envs.transforms import ActionMask, DTypeCastTransform

GROUP = "player"  # group of all seats with `kind="parallel"`


def make_env(game: str, num_envs: int = 1, kind: str = "seat", seed: int | None = None, **options: Any) -> EnvBase:
    """A compiled batch of games as a TorchRL environment; raises `ValueError` for bad options.

    `kind` is "seat" for one learner in each game, "parallel" for all seats; `options` are the game's options and
    `threads`, with "seat" also `opponents` and `seat`, see `SeatVectorEnv`.
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
    """All seats of a batch of games, see `make_env`; raises `IllegalActionError` for an illegal action.

    `group_map` has the agents of each group, such as `Variant.teams`. With `state`, an entry "state" for centralised
    critics has every seat's observation, float32 (num_envs, players * n).
    """

    def __init__(self, games: VectorGame, group_map: dict[str, list[str]] | None = None, state: bool = False) -> None:
        super().__init__(batch_size=[games.num_envs])
        self._games, self._state, self._next_seed = games, state, fresh_seed()
        self.group_map = group_map or {GROUP: list(games.variant.agents)}
        seats = {agent: seat for seat, agent in enumerate(games.variant.agents)}
        self._groups = {name: [seats[agent] for agent in agents] for name, agents in self.group_map.items()}
        count, columns, actions = games.num_envs, games.variant.layout.size, games.variant.num_actions
        self._rows = np.zeros((count, games.players, columns), np.int8)
        self._views = games.variant.new_views()

        def grouped(**entries: Callable[[tuple[int, int]], Any]) -> dict[str, Composite]:
            shapes = {name: (count, len(seats)) for name, seats in self._groups.items()}
            made = {name: {key: spec(shape) for key, spec in entries.items()} for name, shape in shapes.items()}
            return {name: Composite(specs, shape=shapes[name]) for name, specs in made.items()}

        seen = grouped(
            observation=lambda shape: Unbounded((*shape, columns), dtype=torch.float32),
            action_mask=lambda shape: Binary(actions, (*shape, actions), dtype=torch.bool),
        )
        if state:
            seen["state"] = Unbounded((count, games.players * columns), dtype=torch.float32)
        chosen = grouped(action=lambda shape: Categorical(actions, shape, dtype=torch.int64))
        paid = grouped(reward=lambda shape: Unbounded((*shape, 1), dtype=torch.float32))
        self.observation_spec = Composite(seen, shape=(count,))
        self.action_spec = Composite(chosen, shape=(count,))
        self.reward_spec = Composite(paid, shape=(count,))
        flags = {name: Binary(1, (count, 1), dtype=torch.bool) for name in ("done", "terminated", "truncated")}
        self.done_spec = Composite(flags, shape=(count,))

    def _reset(self, tensordict: "TensorDictBase | None" = None, **kwargs: Any) -> TensorDictBase:
        chosen = None if tensordict is None else tensordict.get("_reset", None)
        if chosen is None or chosen.all():
            self._games.reset(self._next_seed)
            self._next_seed = fresh_seed() if self._seed is None else self._next_seed + 1
        # Otherwise the games of the mask have begun already: a finished one is replaced at once.
        return self._observe(np.zeros(self._games.num_envs, np.bool_))

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        games = self._games
        joint = np.zeros((games.num_envs, games.players), np.int64)
        for name, seats in self._groups.items():
            joint[:, seats] = tensordict[name, "action"].numpy()
        games.step(joint[np.arange(games.num_envs), games.seats])
        over = games.terminated | games.truncated
        result = self._observe(over)
        for name, seats in self._groups.items():
            result[name, "reward"] = torch.from_numpy(games.rewards[:, seats])[..., None]
        for name, flag in {"done": over, "terminated": games.terminated, "truncated": games.truncated}.items():
            result[name] = torch.from_numpy(flag.copy())[:, None]
        return result

    def _set_seed(self, seed: int | None) -> None:
        self._seed = seed
        self._next_seed = fresh_seed() if seed is None else seed

    def _observe(self, over: np.ndarray) -> TensorDict:
        """Observations and masks of all seats; of games that are over, bool (N,), how they ended."""
        games, everyone = self._games, np.arange(self._games.num_envs)
        observe_seats(games.states, games.final_states, over, self._views, self._rows.view(np.uint64))
        masks = np.zeros((*self._rows.shape[:2], games.variant.num_actions), np.bool_)
        masks[..., -1] = True
        masks[everyone, games.seats] = np.where(over[:, None], masks[:, 0], games.action_masks != 0)
        result = TensorDict({}, self.batch_size)
        rows = torch.from_numpy(self._rows).float()
        for name, seats in self._groups.items():
            entries = {"observation": rows[:, seats], "action_mask": torch.from_numpy(masks[:, seats])}
            result[name] = TensorDict(entries, (games.num_envs, len(seats)))
        if self._state:
            result["state"] = rows.flatten(1)
        return result


@kernel
def observe_seats(states, finals, over, views, rows):
    """Write every seat's observation of all games, `rows` (N, players, n / 8); where one is over, of its end."""
    for i in range(len(over)):
        for seat in range(np.int64(states[i].players)):
            if over[i]:
                observe(finals[i], seat, views[0], rows[i, seat])
            else:
                observe(states[i], seat, views[0], rows[i, seat])
