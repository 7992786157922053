"""Bite Night, see README.md in this folder."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

from ..core.game import Game
from ..core.layout import Layout
from ..core.options import Option, choice, whole_number
from . import position, scene, text
from .determinize import determinize
from .rules import STATE, legal, score, setup, step
from .view import VIEW, layout, look

SCORE_SCALE = 20.0
"""What reward="score" divides by."""


def _parse_reflexes(value: Any) -> list[float] | None:
    if value is None:
        return None
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError
    weights = list(value)
    if any(isinstance(weight, bool | str | bytes) for weight in weights):
        raise TypeError
    numbers = [float(weight) for weight in weights]
    if not all(isfinite(number) and number > 0 for number in numbers):
        raise ValueError
    return numbers


OPTIONS = {
    "players": choice(3, 4, default=4, meaning="number of players"),
    "advanced": choice(False, True, default=False, meaning="with the nine cards of the advanced game"),
    "grab": choice(
        "race", "draft", default="race", meaning="tiles are grabbed by all at once, or one at a time in turn"
    ),
    "reflexes": Option(
        None,
        _parse_reflexes,
        "None or one positive number a seat",
        "weights of the seats where several grab the same tile; None is equal chances",
    ),
    "laps": whole_number(1, 100, default=None, meaning="laps of a game; None is one a player"),
}


def _configure(options: dict[str, Any], state: Any) -> None:
    players, reflexes = options["players"], options["reflexes"]
    if reflexes is not None:
        if options["grab"] != "race":
            raise ValueError("bite_night_v0: reflexes has no meaning with grab='draft'; leave it out")
        if len(reflexes) != players:
            raise ValueError(f"bite_night_v0: reflexes={reflexes} is not allowed with players={players}; allowed: None "
                             "or one positive number a seat")  # fmt: skip
        state.reflexes[:players] = reflexes
    state.players = players
    state.sides = players
    state.uneven = reflexes is not None
    state.advanced = options["advanced"]
    state.draft = options["grab"] == "draft"
    state.laps = options["laps"] or players
    state.scale = SCORE_SCALE


def _layout(options: dict[str, Any]) -> Layout:
    return layout(options["players"], options["advanced"])


GAME = Game(
    name="bite_night_v0",
    title="Bite Night",
    record=STATE,
    view=VIEW,
    options=OPTIONS,
    variants=(
        {"players": 4},
        {"players": 3},
        {"players": 4, "advanced": True},
        {"players": 3, "advanced": True},
        {"players": 4, "grab": "draft"},
    ),
    configure=_configure,
    actions=text.actions,
    layout=_layout,
    setup=setup,
    legal=legal,
    step=step,
    look=look,
    score=score,
    determinize=determinize,
    snapshot=position.snapshot,
    load=position.load,
    describe=text.describe,
    draw_table=text.draw_table,
    scene=scene.scene,
    tell=scene.tell,
    inks=scene.INKS,
    refusal=text.refusal,
    view_options=("advanced",),
    limit="laps",
)
