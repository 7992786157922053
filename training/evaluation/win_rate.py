"""Win rate of a policy: one side against the same opponent on all others."""

from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.core.rng import env_seed, generator
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.match import play_listed
from monsterzoo.policies import Policy

from .ratings import NORMAL_95


class WinRate(NamedTuple):
    """An estimated win rate."""

    games: int
    rate: float
    error: float
    """Standard error."""

    @property
    def interval(self) -> list[float]:
        """The 95 % interval."""
        return [self.rate - NORMAL_95 * self.error, self.rate + NORMAL_95 * self.error]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"games": self.games, "win_rate": self.rate, "interval": self.interval}


def win_rate(variant: Variant, policy: Policy, opponent: Policy, games: int, seed: int) -> WinRate:
    """The win rate of a policy that plays one side against an opponent on all others.

    Every side is played equally often, so `games` is rounded down to a multiple of the sides. A shared win counts by
    its share, a game that nobody wins as shared by all. Game i has the deal of `env_seed(seed, i)`.
    """
    games = games // variant.sides * variant.sides
    side = np.arange(games) % variant.sides
    own = np.arange(variant.players) % variant.sides == side[:, None]
    luck = [np.array([generator(env_seed(seed, i), purpose) for i in range(games)]) for purpose in ("game", "policies")]
    queue = play_listed(variant, [policy, opponent], np.where(own, 0, 1), *luck, batch=games)
    shares = queue.shares[np.arange(games), side]
    return WinRate(games, float(shares.mean()), float(shares.std()) / games**0.5)
