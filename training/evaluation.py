"""How often a policy wins: one side against the same opponent on all others."""

from typing import Any

import numpy as np
from monsterzoo.envs import VectorGame
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.kernels import share_of_win
from monsterzoo.policies import Policy

from .ratings import NORMAL_95


def play_games(variant: Variant, policy: Policy, opponent: Policy, games: int, seed: int) -> np.ndarray:
    """Shares of the win (games,) of a policy that plays one side against an opponent on all others, sides in turn.

    The first game of every environment counts, so that short games are not preferred; a game that nobody wins counts
    as shared by all.
    """
    batch = VectorGame(variant.game, games, seed=seed, **variant.options)
    side = np.arange(games) % variant.sides
    shares = np.full(games, np.nan)
    while (waiting := np.isnan(shares)).any():
        choices = batch.action_masks.argmax(1)
        own = batch.seats % variant.sides == side
        for who, mine in ((policy, own), (opponent, ~own)):
            asked = np.flatnonzero(mine & waiting)
            if len(asked):
                masks, seats = batch.action_masks[asked], batch.seats[asked]
                choices[asked] = who.act(batch.observations[asked], masks, seats, batch.states[asked])
        batch.step(choices)
        for game in np.flatnonzero((batch.terminated | batch.truncated) & waiting):
            shares[game] = share_of_win(batch.final_states[game], side[game])
    return shares


def win_rate_alone(variant: Variant, policy: Policy, opponent: Policy, games: int, seed: int) -> dict[str, Any]:
    """Win rate, with its 95 % interval, of a policy that plays one side against an opponent on all others."""
    shares = play_games(variant, policy, opponent, games // variant.sides * variant.sides, seed)
    rate, half = float(shares.mean()), NORMAL_95 * float(shares.std()) / len(shares) ** 0.5
    return {"games": len(shares), "win_rate": rate, "interval": [rate - half, rate + half]}
