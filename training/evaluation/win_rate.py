"""Win rate of a policy: one side against the same opponent on all others."""

from typing import NamedTuple

import numpy as np
from monsterzoo.envs.core.variant import Variant
from monsterzoo.policies import Policy

from .ratings import NORMAL_95
from .tournament import Tournament


class WinRate(NamedTuple):
    """An estimated win rate; `_asdict()` is its JSON."""

    games: int
    win_rate: float
    interval: list[float]  # the 95 % interval (Wilson's, clustered by deal)

    @property
    def error(self) -> float:
        """Standard error, from the width of the interval."""
        return (self.interval[1] - self.interval[0]) / (2 * NORMAL_95)


def win_rate(
    variant: Variant, policy: Policy, opponent: Policy, games: int, seed: int, purpose: str = "choosing"
) -> WinRate:
    """The win rate of a policy that plays one side against an opponent on all others.

    Every deal is played with each side, so `games` is rounded up to a multiple of the sides. A shared win counts by its
    share, a game that nobody wins as shared by all. `purpose` says whose deals are played, see `seeds`.
    """
    tournament = Tournament(variant, ["policy", "opponent"], seed, ["opponent"], purpose)
    listed = np.argwhere(np.ones((tournament.whole_deals(games), variant.sides), np.bool_))
    tournament.play_listed([policy, opponent], listed, batch=len(listed))
    found = tournament.result()["players"][0]
    return WinRate(len(listed), found["win_rate"], found["win_rate_interval"])
