"""Seating: one policy for each seat of a table, from specs or policies."""

from collections.abc import Sequence
from typing import Any

from ..core.variant import Variant
from .players import check_act, check_player, make_player, name_of


def default_spec(variant: Variant) -> str:
    """Who plays where nobody is named: "heuristic" where the game has one, else "random"."""
    try:
        make_player(variant, "heuristic")
    except ValueError:
        return "random"
    return "heuristic"


def one_each(given: Any, seats: int, what: str) -> list[Any]:
    """What was given for each of several seats: one for all of them, or a list with one each.

    Raises `ValueError` for another number.
    """
    several = list(given) if isinstance(given, list | tuple) else [given]
    if len(several) not in (1, seats):
        raise ValueError(f"{what}: expected one for all seats or one for each of the {seats}, got {len(several)}")
    return several if len(several) == seats else several * seats


def make_players(variant: Variant, given: Sequence[Any], seed: int = 0, *, shared: bool = True) -> list[Any]:
    """A policy for each spec or policy; `shared` makes one of equal specs.

    Raises `ValueError` for what is neither, and for a policy that was made for another game.
    """
    made: dict[str, Any] = {}
    players = []
    for one in given:
        player = one
        if isinstance(one, str):
            player = made[one] if shared and one in made else make_player(variant, one, seed)
            made[one] = player
        elif isinstance(one, type) or not callable(getattr(one, "act", None)):
            raise ValueError(f"{one!r:.80} is neither the name of a policy nor a policy")
        else:
            check_act(one, name_of(one))
        check_player(player, variant)
        players.append(player)
    return players


def seat_players(variant: Variant, given: Any = None, seed: int = 0) -> list[Any]:
    """A policy for every seat: one spec or policy for all or one each, without any the default."""
    given = default_spec(variant) if given is None else given
    return make_players(variant, one_each(given, variant.players, "policies"), seed)


def seat_opponents(variant: Variant, given: Any = None, seed: int = 0) -> list[Any]:
    """A policy for every seat but one, clockwise from it: one for all or one each, without any the default."""
    given = default_spec(variant) if given is None else given
    return make_players(variant, one_each(given, variant.players - 1, "opponents"), seed)


def seat_around(variant: Variant, seat: int, given: Any = None, seed: int = 0) -> list[Any]:
    """`seat_opponents` by seat, with None for the seat of whoever plays against them."""
    if not 0 <= seat < variant.players:
        raise ValueError(f"there is no seat {seat}; seats are 0 to {variant.players - 1}")
    others = [None, *seat_opponents(variant, given, seed)]
    return [others[(place - seat) % variant.players] for place in range(variant.players)]


def distinct_names(given: Sequence[Any], players: Sequence[Any]) -> list[str]:
    """The players' names for tables of results, all different: "random", "random#2".

    One without a name is called like its spec.
    """
    names: list[str] = []
    for spec, player in zip(given, players, strict=True):
        own = str(getattr(player, "name", spec if isinstance(spec, str) else name_of(player)))
        copies = sum(name.partition("#")[0] == own for name in names)
        names.append(own if not copies else f"{own}#{copies + 1}")
    return names
