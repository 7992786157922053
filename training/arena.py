"""Tournaments between policies: `arena("pikit_v0", ["heuristic", "search:200"], players=2)`."""

from collections.abc import Sequence
from typing import Any

from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.seating import distinct_names, make_players
from monsterzoo.policies import Policy

from .evaluation.tournament import ArenaOptions, Tournament

__all__ = ["ArenaOptions", "Tournament", "arena", "enter"]


def enter(variant: Variant, specs: Sequence[str | Policy], seed: int = 0) -> tuple[list[str], list[Policy]]:
    """Names (all different) and policies of the entrants, given as specs or policies."""
    policies = make_players(variant, specs, seed, shared=False)
    return distinct_names(specs, policies), policies


def arena(
    game: str,
    policies: Sequence[str | Policy],
    games: int = 1000,
    *,
    seed: int = 0,
    until_interval: float | None = None,
    batch: int = 64,
    threads: int = 1,
    **options: Any,
) -> dict[str, Any]:
    """Play a tournament and return its result, see `Tournament.result`."""
    ArenaOptions(games, until_interval, seed, batch, threads)  # raises ValueError for what is not allowed
    variant = find_game(game).variant(**options)
    names, players = enter(variant, policies, seed)
    tournament = Tournament(variant, names, seed)
    tournament.play(players, games, until_interval=until_interval, batch=batch, threads=threads)
    return tournament.result()
