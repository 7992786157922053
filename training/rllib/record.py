"""The decisions of a sample, and how they become episodes of RLlib."""

import uuid
from typing import Any

import numpy as np
from monsterzoo.envs.core.variant import Variant
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer

from ..algorithms.rollout_buffer import NONE, RolloutBuffer


class Record(RolloutBuffer):
    """Decisions since the last `take`, of the games that were begun together.

    Beside the columns of `RolloutBuffer` there are `tables`, `lanes` and `numbers` (rows,): at which table, for which
    learning seat, in which of the table's games; and `logits` (rows, A): what the distribution was made of. `values` of
    modules that do not tell them are NaN.
    """

    PLACE = ("tables", "lanes", "numbers")
    NAMES = (*RolloutBuffer.NAMES, *PLACE, "logits")

    def __init__(self, variant: Variant, num_envs: int, steps: int, who: list[dict[str, Any]]) -> None:
        """`who` has the names of every lane: `agent_id` and `module_id`, or nothing where only one seat learns."""
        super().__init__(variant, num_envs, steps)
        rows = len(self.actions)
        self.tables, self.lanes, self.numbers = (np.zeros(rows, np.int64) for _ in self.PLACE)
        self.logits = np.zeros((rows, variant.num_actions), np.float32)
        self._who = who
        self.begin()

    def begin(self) -> None:
        """Forget everything: new games have begun."""
        self.open[:], self.count = NONE, 0
        self._ends: dict[int, tuple[np.ndarray, bool]] = {}
        self._name = uuid.uuid4().hex
        self._earlier = np.zeros(self.open.shape, np.int64)  # decisions in earlier pieces

    def end(self, table: int, lane: int, observation: np.ndarray, truncated: bool) -> None:
        """Keep what a seat knew at the end of a game, if it has decided anything since the last `take`'s cut."""
        row = int(self.open[table, lane])
        if row != NONE:
            self._ends[row] = (observation, truncated)

    def take(self, wanted: np.ndarray | None = None) -> list[SingleAgentEpisode]:
        """All decisions of which the rewards are known; the latest ones of running games stay.

        An episode that goes on is cut, and comes in several pieces. With `wanted` (N,) only the first so many games of
        each table are taken.
        """
        lanes = self.tables[: self.count] * self.open.shape[1] + self.lanes[: self.count]
        order = np.argsort(lanes, kind="stable")
        columns = {name: getattr(self, name)[order] for name in ("observations", "action_masks", "logits")}
        columns |= {name: getattr(self, name)[order] for name in ("actions", "rewards", "log_probs", "values")}
        last = self.finished[order]
        last[:-1] |= np.diff(lanes[order]) != 0
        last[-1:] = True
        episodes, start = [], 0
        for stop in (np.flatnonzero(last) + 1).tolist():
            row = int(order[stop - 1])
            counts = wanted is None or self.numbers[row] < wanted[self.tables[row]]
            if counts and (self.finished[row] or stop - start > 1):
                episodes.append(self._episode(row, {name: values[start:stop] for name, values in columns.items()}))
            start = stop
        self._ends.clear()
        self.carry_over()
        return episodes

    def _episode(self, row: int, columns: dict[str, np.ndarray]) -> SingleAgentEpisode:
        """The decisions of a seat up to `row`: the last of its game, or the one that the piece is cut at."""
        table, lane = int(self.tables[row]), int(self.lanes[row])
        game, started = f"{self._name}_{table}_{self.numbers[row]}", int(self._earlier[table, lane])
        seen = {"observation": columns["observations"], "action_mask": columns["action_masks"]}
        over, truncated, length = bool(self.finished[row]), False, len(columns["actions"])
        if over:
            observation, truncated = self._ends[row]
            nothing = np.zeros_like(seen["action_mask"][0])
            nothing[-1] = 1  # the no-op, as everywhere where there is nothing to decide
            seen = {
                "observation": np.concatenate([seen["observation"], observation[None]]),
                "action_mask": np.concatenate([seen["action_mask"], nothing[None]]),
            }
        else:
            length -= 1
        self._earlier[table, lane] = 0 if over else started + length
        done = {name: InfiniteLookbackBuffer(columns[name][:length]) for name in ("actions", "rewards")}
        outputs = {Columns.ACTION_LOGP: columns["log_probs"], Columns.ACTION_DIST_INPUTS: columns["logits"]}
        if not np.isnan(columns["values"][0]):
            outputs[Columns.VF_PREDS] = columns["values"]
        who = self._who[lane]
        return SingleAgentEpisode(
            f"{game}_{lane}",
            observations=InfiniteLookbackBuffer(seen),
            infos=InfiniteLookbackBuffer([{}] * (length + 1)),
            **done,
            extra_model_outputs={key: InfiniteLookbackBuffer(values[:length]) for key, values in outputs.items()},
            terminated=over and not truncated,
            truncated=truncated,
            t_started=started,
            len_lookback_buffer=0,
            multi_agent_episode_id=game if who else None,
            **who,
        )
