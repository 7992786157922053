"""Bite Night, see README.md in this folder."""

from collections.abc import Iterable
from typing import Any

from ..core.game import Game, Looks, Positions, Rules, View
from ..core.options import Custom, Number, Option, choice, integer, refusal, whole
from . import position, rules, scene, scene_cards, story, text
from .determinize import determinize
from .events import LAP, event_names, events
from .rules import BASIC_CARDS, BASIC_DESIGNS, CARD_NAMES, DESIGNS, HAND_CARDS, MOST_TWICE, NONE
from .symmetry import symmetry
from .view import VIEW, layout, look

SCORE_SCALE = 20.0
"""What reward="score" divides by."""


def _items(value: Any) -> list[Any]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError
    return list(value)


def _parse_cards(value: Any) -> dict[str, int]:
    copies = {name: whole(number) for name, number in dict(value).items()}
    for name, number in copies.items():
        if name not in CARD_NAMES:
            raise ValueError(f"there is no card {name!r}")
        most = 2 if name in BASIC_CARDS else 1
        if not 0 <= number <= most:
            raise ValueError(f"{name} can be there 0 to {most} times, not {number}")
    return {name: copies[name] for name in CARD_NAMES if name in copies}


def _parse_hearts(value: Any) -> list[str]:
    kinds = _items(value)
    for kind in kinds:
        if kind not in text.KINDS:
            raise ValueError(f"there is no kind of tiles {kind!r}")
    return [kind for kind in text.KINDS if kind in kinds]


_DECKS = (
    "a dict {card: copies} of 0 to 2 copies (advanced cards: 0 or 1), two cards at most twice, and enough for nine each"
)
OPTIONS = {
    "players": choice(3, 4, default=4, meaning="number of players"),
    "advanced": choice(False, True, default=False, meaning="with the nine cards of the advanced game"),
    "grab": choice(
        "race", "draft", default="race", meaning="tiles are grabbed by all at once, or one at a time in turn"
    ),
    "reflexes": Option(
        None,
        Custom(lambda value: [Number(0, above=True).check(one) for one in _items(value)], "one positive number a seat"),
        "weights of the seats where several grab the same tile; None is equal chances",
    ),
    "laps": integer(1, 100, default=None, meaning="laps of a game; None is one a player"),
    "cards": Option(
        None,
        Custom(_parse_cards, _DECKS),
        "copies of cards that differ from the usual ones, which are 1, and 2 of `skip two` and `graveyard closed`",
    ),
    "hearts": Option(
        None,
        Custom(_parse_hearts, "a list of kinds such as 'blue vampire'"),
        "kinds of tiles of which one has a heart; None is all of them",
    ),
}


def _configure(options: dict[str, Any], state: Any) -> None:
    players, reflexes = options["players"], options["reflexes"]
    if reflexes is not None:
        if options["grab"] != "race":
            raise ValueError("bite_night_v0: reflexes has no meaning with grab='draft'; leave it out")
        if len(reflexes) != players:
            given = f"bite_night_v0: reflexes={reflexes} with players={players}"
            raise refusal(given, "None, or one positive number a seat")
        state.reflexes[:players] = reflexes
    state.players = players
    state.sides = players
    state.uneven = reflexes is not None
    state.advanced = options["advanced"]
    state.draft = options["grab"] == "draft"
    state.laps = options["laps"] or players
    state.scale = SCORE_SCALE
    state.hearts = text.heart_tiles(options["hearts"])
    _configure_deck(options, state)


def _configure_deck(options: dict[str, Any], state: Any) -> None:
    designs = DESIGNS if options["advanced"] else BASIC_DESIGNS
    copies = {name: 1 + (name in rules.TWICE) for name in CARD_NAMES[:designs]}
    for name, number in (options["cards"] or {}).items():
        if name not in copies:
            raise ValueError(f"bite_night_v0: cards has {name!r}, which belongs to the advanced game (advanced=True)")
        copies[name] = number
    twice = [name for name, number in copies.items() if number == 2]
    total, needed = sum(copies.values()), HAND_CARDS * options["players"]
    given = f"bite_night_v0: cards={options['cards']}"
    if len(twice) > MOST_TWICE:
        raise refusal(given, f"{MOST_TWICE} cards at most twice, not {', '.join(twice)}")
    if total < needed:
        raise refusal(given, f"at least {needed} cards for players={options['players']}, not {total}")
    deck = sum(1 << text.CARD_NUMBERS[name] for name, number in copies.items() if number)
    state.deck = deck | sum(1 << DESIGNS + k for k in range(len(twice)))
    state.twice[:] = NONE
    state.twice[: len(twice)] = [text.CARD_NUMBERS[name] for name in twice]


GAME = Game(
    name="bite_night_v0",
    title="Bite Night",
    options=OPTIONS,
    variants=(
        {"players": 4},
        {"players": 3},
        {"players": 4, "advanced": True},
        {"players": 3, "advanced": True},
        {"players": 4, "grab": "draft"},
    ),
    rules=Rules.of(rules, _configure, text.actions, determinize),
    view=View(VIEW, look, layout, events, event_names, options=("advanced", "twice", "hearts")),
    positions=Positions(position.snapshot, position.load),
    looks=Looks(
        describe=text.describe,
        scene=scene.scene,
        refusal=text.refusal,
        story=story.story,
        retold=story.TOLD,
        cards=scene_cards.sample_cards,
        words={"advanced=True": "advanced cards", "grab=draft": "tiles taken in turn", "chapter": "lap"},
        chapters=(LAP,),
    ),
    symmetry=symmetry,
)
