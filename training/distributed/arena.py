"""Tournaments on Ray: `monsterzoo arena --ray ADDRESS --workers N`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from monsterzoo.envs.core.registry import find_game
from monsterzoo.policies import Policy

from ..arena import Tournament, enter
from ..evaluation.tournament import Spread
from .cluster import count_workers, map_tasks

MAX_GAMES, PARTS = 2048, 8
"""Each worker gets its games in at least so many parts, of at most so many games: all workers end at about the same
time, and finished games are soon saved."""


def play_on_ray(players: Sequence[str | Policy], batch: int = 64, workers: int | None = None) -> Spread:
    """For `Tournament.play(spread=…)`, within `joined`; players are specs, or policies that can be pickled."""

    def play(tournament: Tournament, games: np.ndarray, tick: Callable[[], None]) -> None:
        game, options = tournament.variant.game.name, tournament.variant.options
        about = {key: getattr(tournament, key) for key in ("names", "seed", "against", "purpose", "lineups")}
        size = min(MAX_GAMES, -(-len(games) // (PARTS * count_workers(workers))))
        parts = [games[start : start + size] for start in range(0, len(games), size)]
        tasks = [(game, options, tuple(players), about, batch, part) for part in parts]
        for number, (shares, scores) in map_tasks(play_part, tasks, workers, tick):
            tournament.take(parts[number], shares, scores)

    return play


def play_part(
    game: str, options: dict[str, Any], players: Sequence[str | Policy], about: dict[str, Any], batch: int, games: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Shares and scores (G, sides) of the listed games (G, 2)."""
    variant = find_game(game).variant(**options)
    _, policies = enter(variant, players, about["seed"])
    tournament = Tournament(variant, **about)
    tournament.play_listed(policies, games, batch)
    deals, seatings = games.T
    return tournament.shares[deals, seatings], tournament.scores[deals, seatings]
