"""Short names of all variants: "pikit_v0-2p", "yokai_septet_v0-4p-seven_suitors".

They name the files of shipped networks and rows of tables.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from monsterzoo.envs.core.registry import find_game, names
from monsterzoo.envs.core.variant import Variant


class NamedVariant(NamedTuple):
    """A game, and the options by which the catalogue lists a variant of it."""

    game: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """The short name."""
        return variant_name(self.game, self.options)

    @property
    def variant(self) -> Variant:
        """The game with these options."""
        return find_game(self.game).variant(**self.options)


def variant_name(game: str, options: Mapping[str, Any]) -> str:
    """Game, number of players, and the values of all other options; a flag is named instead."""
    parts = [game, f"{options['players']}p"]
    for key, value in options.items():
        if key != "players":
            text = key if value is True else f"no_{key}" if value is False else str(value)
            parts.append(re.sub(r"[^\w.]+", "_", text).strip("_"))
    return "-".join(parts)


def all_variants() -> dict[str, NamedVariant]:
    """Every variant of every game, by name."""
    listed = [NamedVariant(game, dict(options)) for game in names() for options in find_game(game).variants]
    return {one.name: one for one in listed}


def chosen_variants(chosen: Sequence[str]) -> list[NamedVariant]:
    """The variants with these names, all of them if there are none; raises `ValueError` for an unknown name."""
    known = all_variants()
    if unknown := [name for name in chosen if name not in known]:
        raise ValueError(f"unknown variant {unknown[0]!r}; there are {', '.join(known)}")
    return [known[name] for name in chosen or known]
