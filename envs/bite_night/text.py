"""Bite Night in words: names of cards, tiles and actions, what a seat knows, the whole table."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from ..core.bits import bits_of, members
from . import rules
from .view import MOST_POINTS, OPEN_CARDS

KINDS = tuple(f"{colour} {picture}" for colour in rules.COLOURS for picture in rules.PICTURES)
"""Tiles 2 k and 2 k + 1 are of kind k."""
CARD_NUMBERS = {name: card for card, name in enumerate(rules.CARD_NAMES)}
PHASES = ("lay", "grab", "bury", "resurrect")


@cache
def names_of_tiles(hearts: int) -> tuple[str, ...]:
    """All tiles by number, with hearts on those of a set; where a kind has none, its second copy is called "… 2"."""
    named = []
    for number, kind in enumerate(KINDS):
        named += [kind, f"{kind} heart" if hearts >> (2 * number + 1) & 1 else f"{kind} 2"]
    return tuple(named)


def heart_tiles(kinds: Iterable[str] | None) -> int:
    """The set of tiles with a heart if one tile of each of these kinds has one; None is all kinds."""
    return int(rules.HEARTS) if kinds is None else bits_of(2 * KINDS.index(kind) + 1 for kind in kinds)


def actions(options: dict[str, Any]) -> tuple[str, ...]:
    """Names of all actions but the no-op."""
    cards = rules.CARD_NAMES if options["advanced"] else rules.CARD_NAMES[: rules.BASIC_DESIGNS]
    tiles = names_of_tiles(heart_tiles(options["hearts"]))
    verbs = ("grab", "bury", "raise") if options["advanced"] else ("grab", "bury")
    return (*(f"lay {card}" for card in cards), *(f"{verb} {tile}" for verb in verbs for tile in tiles))


# --- Sets of cards and tiles, and what follows from a position ---


def card_names(record: Any, cards: Any) -> list[str]:
    """The names of a set of cards of a state or view; a design that is there twice stands there twice."""
    return [rules.CARD_NAMES[card] for card in sorted(int(rules.design_of(record, card)) for card in members(cards))]


def tile_name(record: Any, tile: int) -> str:
    """The name of a tile of a state or view."""
    return names_of_tiles(int(record.hearts))[tile]


def tile_names(record: Any, tiles: Any) -> list[str]:
    """The names of a set of tiles of a state or view."""
    return [tile_name(record, tile) for tile in members(tiles)]


def pile_of(state: Any) -> list[tuple[int, int]]:
    """The pile as (seat, card), the first card laid first."""
    size = int(state.pile_size)
    return list(zip(rules.LAID_BY[state.players, state.lap_leader, :size].tolist(), state.pile[:size].tolist()))


def open_names(state: Any) -> list[str]:
    """The protective cards that lie open."""
    return [rules.CARD_NAMES[card] for card in state.open_cards if card != rules.NONE]


def claims_of(record: Any) -> dict[str, int]:
    """How many tiles of each colour the resurrecting seat may still raise, from a state or a view."""
    return {colour: int(claims) for colour, claims in zip(rules.COLOURS, record.claims) if claims}


# --- In words ---


def describe(view: Any, seat: int) -> str:
    """What a seat knows, in words; seats are called by their numbers at the table."""
    players, phase = int(view.players), int(view.phase)
    called = ["you", *(f"player_{(seat + k) % players}" for k in range(1, players))]
    lines = [
        f"You are player_{seat}. Lap {int(view.lap)} of {int(view.lap) + int(view.laps_left)}, "
        f"round {int(view.round_number)} of {rules.rounds(players)}, phase {PHASES[phase]}.",
        f"First player: {called[view.first_player]}. Leader of the lap: {called[view.lap_leader]}.",
        "Points: " + ", ".join(f"{name} {_points(points_of(view, k))}" for k, name in enumerate(called)) + ".",
        f"{'Your cards set aside' if phase >= rules.BURY else 'Your hand'}: {_listed(card_names(view, view.hand))}.",
        *_describe_pile(view, called),
    ]
    if phase == rules.GRAB:
        needs = ", ".join(f"{called[k]} {int(view.to_grab[k])}" for k in range(players))
        lines.append(f"In the middle: {_listed(tile_names(view, view.middle))}.")
        lines.append(f"Tiles still to grab: {needs}.")
    for k in range(players):
        whose = "Your tiles" if k == 0 else f"Tiles of {called[k]}"
        lines.append(f"{whose}: {_listed(tile_names(view, view.tiles[k]))}.")
    if phase >= rules.BURY:
        lines += _describe_rendezvous(view, called)
    chosen = (
        tile_names(view, view.chosen_tiles) if view.chosen_card == rules.NONE else [rules.CARD_NAMES[view.chosen_card]]
    )
    if chosen:
        lines.append(f"You chose to {PHASES[phase]}: {_listed(chosen)}.")
    if view.asked:
        lines.append(f"Deciding now: {_listed(called[k] for k in members(view.asked))}.")
    return "\n".join(lines)


def points_of(view: Any, k: int) -> int:
    """The points of a seat, as far as they are known."""
    return 10 * int(view.score_tens[k]) + int(view.score_units[k])


def _points(points: int) -> str:
    return f"{points} or more" if points == MOST_POINTS else str(points)


def _describe_pile(view: Any, called: list[str]) -> Iterator[str]:
    places = int(view.players) * rules.rounds(int(view.players))
    laid = [
        f"{place} {called[seat]}: {'?' if card == rules.NONE else rules.CARD_NAMES[card]}"
        for place, (seat, card) in enumerate(zip(view.pile_seats[:places], view.pile), 1)
        if seat != rules.NONE
    ]
    if laid:
        yield f"Pile, the first card laid comes first: {_listed(laid)}."


def _describe_rendezvous(view: Any, called: list[str]) -> Iterator[str]:
    if view.asked:
        yield f"Being applied: {rules.CARD_NAMES[view.pile[view.resolved]]}."
    yield f"Graveyard: {_listed(tile_names(view, view.graveyard))}."
    yield f"Open cards: {_listed(rules.CARD_NAMES[OPEN_CARDS[k]] for k in members(view.open_cards))}."
    if view.phase == rules.RAISE and view.asked:
        who = called[members(view.asked)[0]]
        claims = [f"{count} {colour}" for colour, count in claims_of(view).items()]
        yield f"Tiles that {who} may still raise: {_listed(claims)}."


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts) or "none"


def refusal(state: Any, seat: int, action: int) -> str:
    """Why an action that is not legal is not."""
    phase = int(state.phase)
    designs = rules.DESIGNS if int(state.advanced) else rules.BASIC_DESIGNS
    belongs = rules.LAY if action < designs else rules.GRAB + (action - designs) // rules.TILES
    if belongs != phase:
        return f"it belongs to phase {PHASES[belongs]}, this is phase {PHASES[phase]}"
    if phase == rules.LAY:
        return "the seat does not hold this card"
    tile = (action - designs) % rules.TILES
    if phase == rules.GRAB:
        return "this tile is not in the middle"
    if phase == rules.RAISE:
        if int(state.graveyard) >> tile & 1:
            return f"the seat has no claim left on a {rules.COLOURS[tile // 10]} tile"
        return "this tile is not in the graveyard"
    if tile in state.choices[seat]:
        return "the seat has chosen this tile already"
    if not int(state.tiles[seat]) >> tile & 1:
        return "the seat does not have this tile"
    card = int(state.pile[int(state.resolved)])
    assert not int(rules.CARD_TILES[card]) >> tile & 1
    return f"{rules.CARD_NAMES[card]!r} does not take this tile"
