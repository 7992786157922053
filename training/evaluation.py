"""Win rate of a policy: one side against the same opponent on all others."""

from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs import VectorGame
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.stepping import share_of_win
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
    its share, a game that nobody wins as shared by all. The first game of every environment counts, so that short games
    are not preferred.
    """
    games = games // variant.sides * variant.sides
    batch = VectorGame(variant.game, games, seed=seed, **variant.options)
    side = np.arange(games) % variant.sides
    shares = np.full(games, np.nan)
    while (waiting := np.isnan(shares)).any():
        choices = batch.action_masks.argmax(1)
        own = batch.seats % variant.sides == side
        for who, mine in ((policy, own), (opponent, ~own)):
            asked = np.flatnonzero(mine & waiting)
            if len(asked):
                choices[asked] = who.act(batch.decisions()[asked])
        batch.step(choices)
        for game in np.flatnonzero((batch.terminated | batch.truncated) & waiting):
            shares[game] = share_of_win(batch.final_states[game], side[game])
    return WinRate(games, float(shares.mean()), float(shares.std()) / games**0.5)
