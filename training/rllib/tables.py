"""What a runner plays: many games at once, in each of them one learning seat has to decide."""

from typing import Any, Protocol

import numpy as np
from monsterzoo.envs import VectorGame
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.core import stepping
from monsterzoo.envs.core.stepping import share_of_win
from monsterzoo.envs.core.variant import Variant


class Tables(Protocol):
    """Games at once. A *lane* is one learning seat of one game."""

    variant: Variant
    lanes: int
    """Learning seats of a game."""

    def reset(self, seed: int | None) -> None:
        """Begin all games anew."""

    def observed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observations (N, n), masks (N, A), and the lanes that decide (N,)."""

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Play on; rewards (N, players) with a column per lane, terminated and truncated (N,)."""

    def last_observation(self, game: int, lane: int) -> np.ndarray:
        """What a seat knew at the end of the game that the last step has ended, (n,)."""

    def share(self, game: int) -> float | None:
        """The learner's share of the win of that game; None where all seats learn."""


class AllSeats:
    """Self-play: every seat learns."""

    def __init__(self, variant: Variant, num_envs: int) -> None:
        self.variant, self.lanes = variant, variant.players
        self._games = VectorGame(variant.game, num_envs, **variant.options)
        self._views = variant.new_views()

    def reset(self, seed: int | None) -> None:
        """Begin all games anew."""
        self._games.reset(seed)

    def observed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A lane is a seat."""
        return self._games.observations, self._games.action_masks, self._games.seats

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Raises `IllegalActionError` if a module chooses what it may not."""
        games = self._games
        games.step(actions)
        return games.rewards, games.terminated, games.truncated

    def last_observation(self, game: int, lane: int) -> np.ndarray:
        """Of any seat, also of those that were not asked last."""
        row = np.zeros(self.variant.layout.size, np.int8)
        stepping.observe_one(self._games.final_states, game, lane, self._views, row.view(np.uint64))
        return row

    def share(self, game: int) -> float | None:
        """All seats learn: nothing to report."""
        return None


class OneSeat:
    """One seat of each game learns, policies play the others."""

    lanes = 1

    def __init__(self, variant: Variant, num_envs: int, opponents: Any, seat: int | str) -> None:
        self.variant = variant
        self._games = SeatVectorEnv(
            variant.game, num_envs, opponents=opponents, seat=seat, copy=False, **variant.options
        )
        self._lanes = np.zeros(num_envs, np.int64)
        self._rewards = np.zeros((num_envs, variant.players), np.float32)
        self._played = np.zeros(num_envs, np.int64)  # the learner's seat before the last step

    def reset(self, seed: int | None) -> None:
        """Begin all games anew."""
        self._observed, _ = self._games.reset(seed=seed)

    def observed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The only lane is the learner, whatever its seat."""
        return self._observed["observation"], self._observed["action_mask"], self._lanes

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """An illegal action ends its game with reward -1."""
        self._played[:] = self._games.learners
        self._observed, self._rewards[:, 0], terminated, truncated, self._infos = self._games.step(actions)
        return self._rewards, terminated, truncated

    def last_observation(self, game: int, lane: int) -> np.ndarray:
        """As the environment tells it; a copy, for the table's next game to end overwrites it."""
        row: np.ndarray = self._infos["final_obs"][game]["observation"].copy()
        return row

    def share(self, game: int) -> float | None:
        """From the finished game itself, whatever is rewarded."""
        side = int(self._played[game]) % self.variant.sides
        return float(share_of_win(self._games.final_states[game], side))
