"""Players by name: "heuristic", "search:1000". What kinds there are, installed packages say.

A kind is an entry point of the group `monsterzoo.policies`: a function `(variant, argument, seed)` that makes the
player of a spec "kind" or "kind:argument". Our own are in `monsterzoo.policies`; environments know of none of them.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .core.game import Variant


@cache
def kinds() -> dict[str, EntryPoint]:
    """The entry points of all kinds of players."""
    return {point.name: point for point in entry_points(group="monsterzoo.policies")}


def make_player(variant: Variant, spec: str, seed: int = 0) -> Any:
    """The player of a spec for a game with its options; raises `ValueError` for an unknown kind or a bad argument."""
    kind, _, argument = spec.partition(":")
    if kind not in kinds():
        raise ValueError(f"there is no policy {spec!r}; kinds are {', '.join(kinds())}")
    return kinds()[kind].load()(variant, argument or None, seed)
