"""Yokai Septet, see README.md in this folder."""

from typing import Any

from ..core.game import Game, Looks, Positions, Rules, View
from ..core.options import choice, integer
from . import position, rules, scene, scene_cards, text
from .determinize import determinize
from .events import DEALT, EVENT_NAMES, events
from .view import VIEW, layout, look

OPTIONS = {
    "players": choice(2, 3, 4, default=4, meaning="number of players; four play in teams"),
    "variant": choice(
        "base", "seven_suitors", "seven_suitors_short", default="base", meaning="Seven Suitors is for four players"
    ),
    "scoring": choice("stars", "basic", default="stars", meaning="stars of the captured bosses, or 1 point a round"),
    "target": integer(1, 100, default=None, meaning="tokens that win the match; None is 7, with basic scoring 2"),
    "first_lead": choice(
        "dealt", "held", default="dealt", meaning="who leads first: who was dealt the A, or who holds it after passing"
    ),
    "straw_reveal": choice(
        "immediate", "trick_end", default="immediate", meaning="two players: when a bared straw card is turned up"
    ),
    "episode": choice("match", "round", default="match", meaning="an episode is a whole match or one round"),
    "max_rounds": integer(1, 10_000, default=50, meaning="rounds after which a match without a winner is truncated"),
}


def _configure(options: dict[str, Any], state: Any) -> None:
    players, variant = options["players"], options["variant"]
    if variant != "base":
        if players != 4:
            raise ValueError(f"yokai_septet_v0: variant={variant!r} needs players=4, not {players}")
        for option in ("scoring", "target"):
            if options[option] != OPTIONS[option].default:
                raise ValueError(f"yokai_septet_v0: {option} has no meaning with variant={variant!r}; leave it out")
    if players != 2 and options["straw_reveal"] != "immediate":
        raise ValueError("yokai_septet_v0: straw_reveal is for players=2; allowed here: 'immediate'")
    state.basic = options["scoring"] == "basic"
    state.players = players
    state.sides = 3 if players == 3 else 2
    state.hand_cards = {2: 11, 3: 16, 4: 12 if variant == "base" else 14}[players]
    state.variant, seals = {
        "base": (rules.BASE, None),
        "seven_suitors": (rules.SUITORS, 7),
        "seven_suitors_short": (rules.SUITORS_SHORT, 4),
    }[variant]
    state.target = seals or options["target"] or (2 if state.basic else 7)
    state.lead_held = options["first_lead"] == "held"
    state.late_reveal = options["straw_reveal"] == "trick_end"
    state.one_round = options["episode"] == "round"
    state.max_rounds = options["max_rounds"]
    state.scale = state.target


GAME = Game(
    name="yokai_septet_v0",
    title="Yokai Septet",
    options=OPTIONS,
    variants=(
        {"players": 4},
        {"players": 3},
        {"players": 2},
        {"players": 4, "variant": "seven_suitors"},
        {"players": 4, "variant": "seven_suitors_short"},
    ),
    rules=Rules.of(
        rules,
        _configure,
        text.actions,
        determinize,
        limit="max_rounds",
        truncating={"max_rounds": 1, "episode": "match"},
    ),
    view=View(VIEW, look, layout, events, lambda options: EVENT_NAMES, options=("variant", "target")),
    positions=Positions(position.snapshot, position.load),
    looks=Looks(
        describe=text.describe,
        draw_table=text.draw_table,
        scene=scene.scene,
        ansi_colours=scene.INKS,
        refusal=text.refusal,
        cards=scene_cards.sample_cards,
        words={
            "variant=base": "",
            "variant=seven_suitors": "Seven Suitors",
            "variant=seven_suitors_short": "Seven Suitors, short form",
            "episode=round": "one round",
        },
        chapters=(DEALT,),
    ),
)
