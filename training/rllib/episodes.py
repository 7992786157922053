"""Rollout buffer of the env runner: decisions become RLlib episodes, one for each learning seat of a game."""

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.match import Match
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer

from ..algorithms.rollout_buffer import NONE, RolloutBuffer


class EpisodeBuffer(RolloutBuffer):
    """A `RolloutBuffer` whose rows are taken out as episodes.

    An episode has the decisions of one seat in one game, and ends with what that seat knew at the end of the game. One
    that goes on when it is taken is cut at the seat's latest decision, whose observation is the one to bootstrap from;
    the decision itself stays and belongs to the next piece.

    Further columns: `envs`, `seats` and `numbers` (rows,) are the place in the batch, the learning seat, and which
    game it is there; `logits` (rows, A) are the inputs of the action distribution. `values` are NaN where a module has
    none. `ids` are the `agent_id` and `module_id` of every seat, empty where one seat learns.
    """

    PLACE = ("envs", "seats", "numbers")
    NAMES = (*RolloutBuffer.NAMES, *PLACE, "logits")

    def __init__(self, variant: Variant, num_envs: int, steps: int, ids: Sequence[dict[str, str]]) -> None:
        super().__init__(variant, num_envs, steps)
        rows = len(self.actions)
        self.envs, self.seats, self.numbers = (np.zeros(rows, np.int64) for _ in self.PLACE)
        self.logits = np.zeros((rows, variant.num_actions), np.float32)
        self._ids = ids
        self.clear()

    def clear(self) -> None:
        """Forget everything: new games have begun."""
        self.open[:], self.count = NONE, 0
        self._ends: dict[int, tuple[np.ndarray, bool]] = {}
        self._name = uuid.uuid4().hex
        self._earlier = np.zeros(self.open.shape, np.int64)  # decisions in earlier pieces

    def end(self, match: Match, over: np.ndarray) -> None:
        """Keep the last observations of games that have ended, bool (N,), for all seats with a decision here."""
        games, seats = np.nonzero((self.open != NONE) & over[:, None])
        truncated = match.arrays["truncated"][games].tolist()
        rows = self.open[games, seats].tolist()
        self._ends |= zip(rows, zip(match.final_observations(games, seats), truncated))

    def take(self, wanted: np.ndarray | None = None) -> list[SingleAgentEpisode]:
        """Take out all decisions with known rewards; with `wanted` (N,) only of each env's first so many games."""
        place = self.envs[: self.count] * self.open.shape[1]
        if self._ids[0]:  # several seats learn in a game
            place = place + self.seats[: self.count]
        order = np.argsort(place, kind="stable")
        names = ("observations", "action_masks", "actions", "rewards", "log_probs", "values", "logits")
        columns = {name: getattr(self, name)[order] for name in names}
        last = self.finished[order]
        last[:-1] |= np.diff(place[order]) != 0
        last[-1:] = True
        episodes, start = [], 0
        for stop in (np.flatnonzero(last) + 1).tolist():
            row = int(order[stop - 1])
            counts = wanted is None or self.numbers[row] < wanted[self.envs[row]]
            if counts and (self.finished[row] or stop - start > 1):
                episodes.append(self._episode(row, {name: values[start:stop] for name, values in columns.items()}))
            start = stop
        self._ends.clear()
        self.carry_over()
        return episodes

    def _episode(self, row: int, columns: dict[str, np.ndarray]) -> SingleAgentEpisode:
        """The decisions of a seat up to `row`: the last of its game, or the one that the piece is cut at."""
        env, seat = int(self.envs[row]), int(self.seats[row])
        game, started = f"{self._name}_{env}_{self.numbers[row]}", int(self._earlier[env, seat])
        observations, masks = columns["observations"], columns["action_masks"]
        over, truncated, length = bool(self.finished[row]), False, len(masks) - 1
        if over:
            observation, truncated = self._ends[row]
            no_op = np.zeros_like(masks[:1])
            no_op[0, -1] = 1
            observations, masks = np.concatenate([observations, observation[None]]), np.concatenate([masks, no_op])
            length += 1
        self._earlier[env, seat] = 0 if over else started + length
        outputs = {Columns.ACTION_LOGP: columns["log_probs"], Columns.ACTION_DIST_INPUTS: columns["logits"]}
        if not np.isnan(columns["values"][0]):
            outputs[Columns.VF_PREDS] = columns["values"]
        ids: dict[str, Any] = self._ids[seat]
        return SingleAgentEpisode(
            f"{game}_{seat}",
            observations=InfiniteLookbackBuffer({"observation": observations, "action_mask": masks}),
            infos=InfiniteLookbackBuffer([{}] * (length + 1)),
            actions=InfiniteLookbackBuffer(columns["actions"][:length]),
            rewards=InfiniteLookbackBuffer(columns["rewards"][:length]),
            extra_model_outputs={key: InfiniteLookbackBuffer(values[:length]) for key, values in outputs.items()},
            terminated=over and not truncated,
            truncated=truncated,
            t_started=started,
            len_lookback_buffer=0,
            multi_agent_episode_id=game if ids else None,
            **ids,
        )
