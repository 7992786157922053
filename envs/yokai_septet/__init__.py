"""Yokai Septet, see README.md in this folder."""

from collections.abc import Iterable
from typing import Any

from ..core.game import Game, Looks, Positions, Rules, View
from ..core.options import Custom, Option, choice, integer, refusal
from . import position, rules, scene, scene_cards, text
from .determinize import determinize
from .events import DEALT, event_names, events
from .view import VIEW, layout, look


def _parse_deck(value: Any) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError("not a list")
    cards = list(value)
    for name in cards:
        if name not in text.CARD_NAMES[: rules.CARDS]:
            raise ValueError(f"there is no card {name!r}")
        if cards.count(name) > 1:
            raise ValueError(f"{name} is there twice")
    return [name for name in text.CARD_NAMES if name in cards]


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
    "deck": Option(
        None,
        Custom(_parse_deck, "a list of different cards such as 'L6', an odd number and enough for both hands"),
        "two players: the cards of a smaller game; None is all 49",
    ),
    "straw": integer(0, rules.UP, default=rules.UP, meaning="two players: face-up cards of a straw pile; 0: no piles"),
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
    for option in ("straw_reveal", "deck", "straw"):
        if players != 2 and options[option] != (usual := OPTIONS[option].default):
            raise ValueError(f"yokai_septet_v0: {option} is for players=2; allowed here: {usual!r}")
    state.basic = options["scoring"] == "basic"
    state.players = players
    state.sides = 3 if players == 3 else 2
    state.deck = text.deck_of(options)
    state.bosses_to_win = text.bosses_to_win(options)
    state.straw = options["straw"] if players == 2 else 0
    _configure_hands(state, options)
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


def _configure_hands(state: Any, options: dict[str, Any]) -> None:
    """How many cards are dealt, and what follows from that."""
    deck, players = int(state.deck), options["players"]
    straw = int(state.straw) + int(rules.straw_below(state))
    dealt = deck.bit_count() - (options["variant"] == "base")  # without the trump card
    hand, bosses = dealt // players - straw, (deck & int(rules.BOSSES)).bit_count()
    least = max(2, bosses + 1) if players == 2 else 2  # two players discard a card, and a boss cannot be discarded
    if dealt % players or hand < least:
        given = f"yokai_septet_v0: deck={options['deck']!r} with straw={options['straw']}"
        allowed = "an odd number of cards, so many that each hand has two and more than there are bosses"
        raise refusal(given, allowed, f"{dealt + 1} cards, {bosses} of them bosses, make hands of {hand}")
    state.hand_cards = hand
    state.round_tricks = hand - 1 + straw if players == 2 else hand  # two players discard one card
    state.tricks_to_lose = int(state.round_tricks) // 2 + 2 if players == 2 else 7


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
    rules=Rules.of(rules, _configure, text.actions, determinize, truncating={"max_rounds": 1, "episode": "match"}),
    view=View(
        VIEW,
        look,
        layout,
        events,
        event_names,
        options=("variant", "deck", "round_tricks", "bosses_to_win", "tricks_to_lose", "target"),
    ),
    positions=Positions(position.snapshot, position.load),
    looks=Looks(
        describe=text.describe,
        scene=scene.scene,
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
