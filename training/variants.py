"""Short names of all variants: "pikit_v0-2p", "yokai_septet_v0-4p-seven_suitors".

They name the files of shipped networks, the recipes that make them, and rows of tables.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monsterzoo.envs.core.catalogue import find_game, names
from monsterzoo.envs.core.game import Variant

REWARD = "reward"
"""The option that matters in training only: networks that differ in nothing else play the same variant."""


@dataclass(frozen=True)
class NamedVariant:
    """A game and the options by which the catalogue lists a variant of it."""

    game: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """Its short name."""
        return variant_name(self.game, self.options)

    @property
    def variant(self) -> Variant:
        """The game with its options."""
        return find_game(self.game).variant(**self.options)


def variant_name(game: str, options: Mapping[str, Any]) -> str:
    """The game, the number of players, and the other options by their values, or by their names where that is all."""
    parts = [game, f"{options['players']}p"]
    for key, value in options.items():
        if key not in ("players", REWARD):
            text = key if value is True else f"no_{key}" if value is False else str(value)
            parts.append(re.sub(r"[^\w.]+", "_", text).strip("_"))
    return "-".join(parts)


def all_variants() -> dict[str, NamedVariant]:
    """Every variant of every game, by name."""
    listed = [NamedVariant(game, dict(options)) for game in names() for options in find_game(game).variants]
    return {one.name: one for one in listed}


def chosen_variants(chosen: Sequence[str]) -> list[NamedVariant]:
    """The variants of given names, all for none; raises `ValueError` for a name that is none."""
    known = all_variants()
    for name in chosen:
        if name not in known:
            raise ValueError(f"there is no variant {name!r}; there are {', '.join(known)}")
    return [known[name] for name in chosen or known]
