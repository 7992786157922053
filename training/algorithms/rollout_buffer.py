"""Rollout buffer with per-seat GAE.

In a game of several seats a reward often comes while another seat moves. Here a decision earns everything its seat is
paid until the same seat decides again or the game is over, whoever moves last. Advantages (generalised advantage
estimation) are computed along that chain, never across seats.

Decisions still without a follow-up when a rollout ends are carried over to the next one, so that nothing is cut off and
no value has to be bootstrapped for a seat that is not asked.
"""

import numpy as np
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core.variant import Variant

NONE = -1


class RolloutBuffer:
    """Decisions of `num_envs` games, at most `steps` each in a rollout, in flat arrays with `count` rows in use.

    | name | shape and dtype | meaning |
    |---|---|---|
    | `observations`, `action_masks` | (rows, n), (rows, A) int8 | what the seat knew and was allowed |
    | `actions`, `log_probs`, `values` | (rows,) | what it chose, how likely, and the return it expected |
    | `rewards` | (rows,) float32 | paid to the seat until its next decision or the game's end |
    | `following` | (rows,) int64 | row of the seat's next decision, or `NONE` |
    | `finished` | (rows,) bool | the game ended before the seat decided again |
    | `open` | (num_envs, players) int64 | row of each seat's latest decision in the running game, or `NONE` |
    """

    NAMES: tuple[str, ...] = (
        "observations", "action_masks", "actions", "log_probs", "values", "rewards", "following", "finished",
    )  # fmt: skip
    """The columns with a row per decision."""

    def __init__(self, variant: Variant, num_envs: int, steps: int) -> None:
        rows = num_envs * (steps + variant.players)
        self.observations = np.zeros((rows, variant.layout.size), np.int8)
        self.action_masks = np.zeros((rows, variant.num_actions), np.int8)
        self.actions = np.zeros(rows, np.int64)
        self.log_probs, self.values, self.rewards = (np.zeros(rows, np.float32) for _ in range(3))
        self.following = np.full(rows, NONE)
        self.finished = np.zeros(rows, np.bool_)
        self.open = np.full((num_envs, variant.players), NONE)
        self.count = 0

    def add(self, games: np.ndarray, seats: np.ndarray, /, **columns: np.ndarray) -> None:
        """Append a decision for each of the given games and its seat; `columns` are the first two rows of the table."""
        new = slice(self.count, self.count + len(games))
        for name, values in columns.items():
            getattr(self, name)[new] = values
        self.rewards[new], self.following[new], self.finished[new] = 0, NONE, False
        _link(games, seats, self.count, self.open, self.following)
        self.count = new.stop

    def pay(self, rewards: np.ndarray, over: np.ndarray) -> None:
        """Book what every seat was paid by the last step, (num_envs, players), and which games it ended."""
        _pay(rewards, over, self.open, self.rewards, self.finished)

    def advantages(self, gamma: float, gae_lambda: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose follow-up is known, with their advantages and returns (targets of the value)."""
        advantages = np.zeros(self.count, np.float32)
        last_values = np.where(self.finished[: self.count], np.float32(0), np.float32(np.nan))
        gae(self.rewards, self.values, self.following, last_values, gamma, gae_lambda, advantages)
        known = self.finished[: self.count] | (self.following[: self.count] != NONE)
        rows = np.flatnonzero(known)
        return rows, advantages[rows], advantages[rows] + self.values[rows]

    def carry_over(self) -> None:
        """Forget all decisions but the open ones, which become the first rows."""
        kept = self.open != NONE
        rows = np.sort(self.open[kept])
        for name in self.NAMES:
            values = getattr(self, name)
            values[: len(rows)] = values[rows]
        self.open[kept] = np.searchsorted(rows, self.open[kept])
        self.count = len(rows)

    def rows(self, count: int) -> dict[str, np.ndarray]:
        """The first rows of all columns, and `open`; views."""
        return {name: getattr(self, name)[:count] for name in self.NAMES} | {"open": self.open}


@kernel
def _link(games, seats, row, open_rows, following):
    for k in range(len(games)):
        previous = open_rows[games[k], seats[k]]
        if previous != NONE:
            following[previous] = row + k
        open_rows[games[k], seats[k]] = row + k


@kernel
def _pay(rewards, over, open_rows, paid, finished):
    for game in range(open_rows.shape[0]):
        for seat in range(open_rows.shape[1]):
            row = open_rows[game, seat]
            if row == NONE:
                continue
            paid[row] += rewards[game, seat]
            if over[game]:
                finished[row] = True
                open_rows[game, seat] = NONE


@kernel
def gae(rewards, values, following, last_values, gamma, gae_lambda, advantages):
    """Write generalised advantage estimates of decisions; all arrays are (rows,).

    `following` is the row of the seat's next decision, a later one, or `NONE`; `last_values` is what comes then: 0 at
    the end of a game, a bootstrap value where an episode is cut, NaN where nothing is known (the row stays as it is).
    """
    for row in range(len(advantages) - 1, -1, -1):
        after = following[row]
        if after != NONE:
            error = rewards[row] + gamma * values[after] - values[row]
            advantages[row] = error + gamma * gae_lambda * advantages[after]
        elif not np.isnan(last_values[row]):
            advantages[row] = rewards[row] + gamma * last_values[row] - values[row]
