"""Pikit, see README.md in this folder."""

from collections.abc import Mapping
from typing import Any

from ..core.game import Game, Looks, Positions, Rules, View
from ..core.options import Custom, Option, choice, integer, refusal
from . import position, rules, scene, text
from .determinize import determinize
from .events import EVENT_NAMES, events
from .rules import CENTRE, DECK, FACES, MAX_DECK, START, TWO_PLAYER_DECK
from .view import VIEW, layout, look

SCORE_SCALE = 50
"""What reward="score" divides by, whatever the options: about what a hand is worth at the end."""


def _parse_deck(value: Any) -> dict[str, int]:
    """Copies by value, kept with the values as text like JSON does; both are taken."""
    if not isinstance(value, Mapping):
        raise TypeError("not a dict")
    copies = dict.fromkeys(range(1, 12), 0)
    for key, count in value.items():
        number = int(key) if isinstance(key, str) and key.isdecimal() else key
        if isinstance(number, bool) or number not in copies:
            raise ValueError(f"there is no card {key!r}")
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 0:
            raise ValueError(f"{count!r} copies of card {key}")
        copies[number] += int(count)
    if sum(copies.values()) > MAX_DECK:
        raise ValueError(f"{sum(copies.values())} cards")
    return {str(number): count for number, count in copies.items() if count}


OPTIONS = {
    "players": choice(2, 3, 4, default=4, meaning="number of players"),
    "deck": Option(
        None,
        Custom(
            _parse_deck,
            f"a dict {{value: copies}} of values 1 to 11, enough for the set-up and at most {MAX_DECK} cards",
        ),
        "copies of each card; None is the deck of the game (with two players 16 cards fewer)",
    ),
    "centre": integer(1, CENTRE, default=CENTRE, meaning="cards face up in the centre"),
    "start": integer(1, START, default=START, meaning="what a starting hand is worth at least"),
    "faces": integer(2, FACES, default=FACES, meaning="faces of each die, from 1 on"),
    "max_turns": integer(1, 10_000, default=400, meaning="finished turns after which a game is truncated"),
}


def _cards_for_setup(deck: dict[int, int], players: int, centre: int = CENTRE, start: int = START) -> int:
    """The largest number of cards that the set-up can take, whatever the order of the deck.

    A hand ends with the card that lifts it to `start`; before it, all hands together hold the most cards when they are
    filled with the smallest ones. So try all ways to pack these into hands worth less than `start`.
    """
    packings, packed = {(start - 1,) * players}, 0
    for value in sorted(card for card, copies in deck.items() for _ in range(copies)):
        packings = {
            tuple(sorted((*room[:k], room[k] - value, *room[k + 1 :])))
            for room in packings
            for k in range(players)
            if room[k] >= value
        }
        if not packings:
            break
        packed += 1
    return centre + packed + players


def _configure(options: dict[str, Any], state: Any) -> None:
    players = options["players"]
    if options["deck"] is None:
        deck = TWO_PLAYER_DECK if players == 2 else DECK
    else:
        deck = {int(value): copies for value, copies in options["deck"].items()}
    cards, needed = sum(deck.values()), _cards_for_setup(deck, players, options["centre"], options["start"])
    if cards < needed:
        enough = f"enough cards for the set-up, which can take {needed} of these with {players} players"
        raise refusal(f"pikit_v0: deck={options['deck']!r}", enough, f"there are {cards}")
    state.players = players
    state.sides = players
    state.scale = SCORE_SCALE
    state.max_turns = options["max_turns"]
    state.copies[:] = text.bag_of([value for value, copies in deck.items() for _ in range(copies)])
    state.deck_cards = cards
    state.centre_cards, state.start, state.faces = options["centre"], options["start"], options["faces"]


GAME = Game(
    name="pikit_v0",
    title="Pikit",
    options=OPTIONS,
    variants=({"players": 4}, {"players": 3}, {"players": 2}),
    rules=Rules.of(rules, _configure, text.actions, determinize, truncating={"max_turns": 3}),
    view=View(VIEW, look, layout, events, lambda options: EVENT_NAMES, options=("faces",)),
    positions=Positions(position.snapshot, position.load),
    looks=Looks(
        describe=text.describe,
        scene=scene.scene,
        refusal=text.refusal,
        cards=scene.sample_cards,
    ),
)
