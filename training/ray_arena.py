"""Tournaments on Ray: the games of `monsterzoo arena` spread over actors, with the same results.

A game's luck is a function of the tournament's seed and the deal alone, so it does not matter who plays it, nor whether
it is played again because an actor was lost.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.policies import Policy

from .arena import Tournament, enter
from .ray_pool import Pool

MOST_GAMES, PARTS = 2048, 8
"""Each actor gets its games in so many parts, or in more of so many games: all end at about the same time, and finished
games are soon known and saved."""


class TableWorker:
    """Plays listed games of a tournament; made anew in every actor."""

    def __init__(
        self, game: str, options: dict[str, Any], players: Sequence[str | Policy], about: dict[str, Any], batch: int
    ) -> None:
        variant = find_game(game).variant(**options)
        names, self._policies = enter(variant, players, about["seed"])
        self._tournament, self._batch = Tournament(variant, names, **about), batch

    def __call__(self, games: np.ndarray, _: None) -> tuple[np.ndarray, np.ndarray]:
        """Shares and scores (G, sides) of the listed games (G, 2)."""
        self._tournament.play_listed(self._policies, games, self._batch)
        deals, seatings = games.T
        return self._tournament.shares[deals, seatings], self._tournament.scores[deals, seatings]


class RayTables:
    """Plays the games of a tournament on Ray, for `Tournament.play(spread=…)`; within `ray_pool.joined`.

    Args:
        tournament: only what it is about matters here, not its results.
        players: specs, or policies that can be pickled.
        batch: games at once in an actor, where some policy is not compiled.
        workers: number of actors; None for as many as there are processors.
    """

    def __init__(
        self, tournament: Tournament, players: Sequence[str | Policy], batch: int = 64, workers: int | None = None
    ) -> None:
        variant, about = tournament.variant, {"seed": tournament.seed, "alone": tournament.alone}
        self.pool = Pool(
            partial(TableWorker, variant.game.name, variant.options, tuple(players), about, batch), workers
        )

    def __enter__(self) -> "RayTables":
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.close()

    def __call__(self, tournament: Tournament, games: np.ndarray, tick: Callable[[], None]) -> None:
        """Play the listed games and hand them to the tournament as they come."""
        size = min(MOST_GAMES, -(-len(games) // (PARTS * self.pool.workers)))
        parts = [games[start : start + size] for start in range(0, len(games), size)]
        for number, (shares, scores) in self.pool.stream(parts, tick=tick):
            tournament.take(parts[number], shares, scores)
