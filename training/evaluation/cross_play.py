"""Cross-play: how well partners who never trained together do, as papers on zero-shot coordination report it.

Every pair of players, in either order of their two seats, plays one side against the same opponents on the other; the
score is the win rate. *Self-play* is a player beside its own copy, *cross-play* beside another player, and the *gap*
between them what a player's conventions are worth to nobody else.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from monsterzoo.envs.core.variant import Variant

from . import ratings
from .tournament import Tournament, ends


def cross_play(variant: Variant, names: Sequence[str], opponents: str, seed: int = 0) -> Tournament:
    """The tournament of all pairs of K players against opponents, who are policy K of those it is played with.

    Raises `ValueError` for a game without partners, and for fewer than two players.
    """
    if variant.players != 2 * variant.sides:
        raise ValueError(f"cross-play needs sides of two partners, which {variant} does not have")
    if len(names) < 2:
        raise ValueError("cross-play needs at least two players")
    count = len(names)
    pairs = [f"{one} + {other}" for one in names for other in names]
    lineups = np.array([*np.ndindex(count, count), (count, count)])
    against = f"{opponents} (opponents)"
    return Tournament(variant, [*pairs, against], seed, [against], lineups=lineups)


def cross_play_result(tournament: Tournament, names: Sequence[str]) -> dict[str, Any]:
    """Matrix of partners, self-play, cross-play and gap with intervals, as a JSON-able dict; of all complete deals."""
    count, whole = len(names), tournament.done.all(axis=1)
    won, played = tournament.by_player(tournament.shares[whole], tournament.done[whole])
    wins, games = (sums[:, :-1].reshape(-1, count, count) for sums in (won, played))
    wins, games = (sums + sums.swapaxes(1, 2) * (1 - np.eye(count)) for sums in (wins, games))  # in either order
    rates, intervals = ratings.win_rates(wins.reshape(-1, count**2), games.reshape(-1, count**2))
    both = np.stack([wins, games])
    own = both.diagonal(axis1=2, axis2=3)
    alike, mixed = (np.concatenate([one.sum(-1, keepdims=True), one], -1) for one in (own, both.sum(axis=3) - own))
    columns = {
        "self_play": ratings.win_rates(*alike),
        "cross_play": ratings.win_rates(*mixed),
        "gap": ratings.means(alike[0] / alike[1] - mixed[0] / mixed[1], np.ones(alike.shape[1:])),
    }
    scores: list[dict[str, Any]] = []
    for k, name in enumerate(["all", *names]):
        scores.append({"name": name})
        for key, (values, bounds) in columns.items():
            scores[k] |= {key: float(values[k]), f"{key}_interval": ends(bounds[k])}
    return {
        "game": tournament.variant.game.name,
        "options": tournament.variant.options,
        "seed": tournament.seed,
        "purpose": tournament.purpose,
        "opponents": tournament.against[0].removesuffix(" (opponents)"),
        "deals": int(whole.sum()),
        "games": int(tournament.done[whole].sum()),
        "players": list(names),
        "matrix": rates.reshape(count, count).tolist(),
        "intervals": [[ends(cell) for cell in row] for row in intervals.reshape(count, count, 2)],
        "scores": scores,
    }
