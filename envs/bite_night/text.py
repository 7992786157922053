"""Bite Night in words: names of cards, tiles and actions, what a seat knows, the whole table."""

from collections.abc import Iterable
from typing import Any

from .rules import (
    BASIC_DESIGNS,
    BURY,
    CARD_NAMES,
    CARD_TILES,
    COLOURS,
    DESIGN_OF,
    DESIGNS,
    GRAB,
    LAY,
    NONE,
    PICTURES,
    RAISE,
    TILES,
    TILES_A_ROUND,
)

TILE_NAMES = tuple(
    f"{colour} {picture}{heart}" for colour in COLOURS for picture in PICTURES for heart in ("", " heart")
)
CARD_NUMBERS = {name: card for card, name in enumerate(CARD_NAMES)}
TILE_NUMBERS = {name: tile for tile, name in enumerate(TILE_NAMES)}
PHASES = ("lay", "grab", "bury", "resurrect")


def actions(options: dict[str, Any]) -> tuple[str, ...]:
    """Names of all actions but the no-op."""
    cards = CARD_NAMES if options["advanced"] else CARD_NAMES[:BASIC_DESIGNS]
    verbs = ("grab", "bury", "raise") if options["advanced"] else ("grab", "bury")
    return (*(f"lay {card}" for card in cards), *(f"{verb} {tile}" for verb in verbs for tile in TILE_NAMES))


# --- Sets of cards and tiles, and what follows from a position ---


def members(bits: Any) -> list[int]:
    """The members of a bit set, in order."""
    value = int(bits)
    return [index for index in range(value.bit_length()) if value >> index & 1]


def card_names(cards: Any) -> list[str]:
    """The names of a set of cards; a design that is there twice stands there twice."""
    return [CARD_NAMES[card] for card in sorted(int(DESIGN_OF[card]) for card in members(cards))]


def tile_names(tiles: Any) -> list[str]:
    """The names of a set of tiles."""
    return [TILE_NAMES[tile] for tile in members(tiles)]


def rounds_of(state: Any) -> int:
    """Rounds of a lap."""
    return 5 if int(state.players) == 3 else 4


def pile_of(state: Any) -> list[tuple[int, int]]:
    """The pile as (seat, card): the first player moves on by one each round."""
    players, leader = int(state.players), int(state.lap_leader)
    places = range(int(state.pile_size))
    return [((leader + place // players + place % players) % players, int(state.pile[place])) for place in places]


def revealed_of(state: Any) -> int:
    """How many cards of the pile everybody has seen: those done, and the one being applied."""
    return int(state.resolved) + (int(state.phase) >= BURY)


def needs_of(state: Any) -> list[int]:
    """How many tiles every seat still has to grab in this round."""
    if int(state.phase) != GRAB or not int(state.acting):
        return [0] * int(state.players)
    due = TILES_A_ROUND * int(state.round_number)
    return [due - int(state.tiles[seat]).bit_count() for seat in range(int(state.players))]


def open_names(state: Any) -> list[str]:
    """The protective cards that lie open."""
    return [CARD_NAMES[card] for card in state.open_cards if card != NONE]


def chosen_names(state: Any, seat: int) -> list[str]:
    """What a seat has chosen but not shown."""
    table = CARD_NAMES if int(state.phase) == LAY else TILE_NAMES
    return [table[choice] for choice in state.choices[seat] if choice != NONE]


def claims_of(state: Any) -> dict[str, int]:
    """How many tiles of each colour the resurrecting seat may still raise."""
    return {colour: int(claims) for colour, claims in zip(COLOURS, state.claims) if claims}


# --- In words ---


def describe(state: Any, seat: int) -> str:
    """What a seat knows, in words."""
    players, phase = int(state.players), int(state.phase)
    around = [(seat + k) % players for k in range(players)]
    called = {other: "you" if other == seat else f"player_{other}" for other in around}
    lines = [
        f"You are player_{seat}. Lap {int(state.lap)} of {int(state.laps)}, round {int(state.round_number)} of "
        f"{rounds_of(state)}, phase {PHASES[phase]}.",
        f"First player: {called[int(state.first_player)]}. Leader of the lap: {called[int(state.lap_leader)]}.",
        "Points: " + ", ".join(f"{called[other]} {int(state.scores[other])}" for other in around) + ".",
        f"{'Your cards set aside' if phase >= BURY else 'Your hand'}: {_listed(card_names(state.hand[seat]))}.",
    ]
    if int(state.pile_size):
        seen = revealed_of(state)
        pile = [
            f"{place + 1} {called[owner]}: {CARD_NAMES[card] if place < seen or owner == seat else '?'}"
            for place, (owner, card) in enumerate(pile_of(state))
        ]
        lines.append(f"Pile, the first card laid comes first: {_listed(pile)}.")
    if phase == GRAB:
        needs = needs_of(state)
        lines.append(f"In the middle: {_listed(tile_names(state.middle))}.")
        lines.append("Tiles still to grab: " + ", ".join(f"{called[other]} {needs[other]}" for other in around) + ".")
    for other in around:
        whose = "Your tiles" if other == seat else f"Tiles of player_{other}"
        lines.append(f"{whose}: {_listed(tile_names(state.tiles[other]))}.")
    if phase >= BURY:
        lines += _describe_rendezvous(state, called)
    chosen = chosen_names(state, seat)
    if chosen:
        lines.append(f"You chose to {PHASES[phase]}: {_listed(chosen)}.")
    if int(state.acting):
        asked = [called[other] for other in around if int(state.asked) >> other & 1]
        lines.append(f"Deciding now: {_listed(asked)}.")
    return "\n".join(lines)


def _describe_rendezvous(state: Any, called: dict[int, str]) -> list[str]:
    lines = []
    if int(state.resolved) < int(state.pile_size):
        lines.append(f"Being applied: {CARD_NAMES[state.pile[int(state.resolved)]]}.")
    lines.append(f"Graveyard: {_listed(tile_names(state.graveyard))}.")
    lines.append(f"Open cards: {_listed(open_names(state))}.")
    if int(state.phase) == RAISE and int(state.acting):
        who = called[members(state.acting)[0]]
        claims = [f"{count} {colour}" for colour, count in claims_of(state).items()]
        lines.append(f"Tiles that {who} may still raise: {_listed(claims)}.")
    return lines


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts) or "none"


def draw_table(state: Any) -> str:
    """The whole table, everything face up."""
    players, phase = int(state.players), int(state.phase)
    lines = [
        f"Bite Night   lap {int(state.lap)}/{int(state.laps)}   round {int(state.round_number)}/{rounds_of(state)}   "
        f"{PHASES[phase]}   first player_{int(state.first_player)}   leader player_{int(state.lap_leader)}"
    ]
    if int(state.pile_size):
        done = int(state.resolved)
        marks = ["x" if place < done else ">" if place == done and phase >= BURY else " " for place in range(16)]
        cards = [f"{marks[place]}{owner}:{CARD_NAMES[card]}" for place, (owner, card) in enumerate(pile_of(state))]
        rows = ["  ".join(cards[start : start + players]) for start in range(0, len(cards), players)]
        lines.append("  pile  " + "\n        ".join(rows))
    if int(state.middle):
        lines.append(f"  middle     {short_tiles(state.middle)}")
    if phase >= BURY:
        lines.append(f"  graveyard  {short_tiles(state.graveyard)}   open {_listed(open_names(state))}")
    for seat in range(players):
        mark = ">" if int(state.acting) >> seat & 1 else " "
        lines.append(f"{mark} player_{seat}  {int(state.scores[seat])} points   tiles {short_tiles(state.tiles[seat])}")
        chosen = chosen_names(state, seat)
        choice = f"   chose {_listed(chosen)}" if chosen else ""
        lines.append(f"      hand  {_listed(card_names(state.hand[seat]))}{choice}")
    return "\n".join(lines)


def short_tiles(tiles: Any) -> str:
    """Tiles by colour, an asterisk for a heart: "blue vampire* monk, red coffin"."""
    parts = []
    for number, colour in enumerate(COLOURS):
        own = [tile for tile in members(tiles) if tile // 10 == number]
        if own:
            parts.append(f"{colour} " + " ".join(PICTURES[tile % 10 // 2] + "*" * (tile % 2) for tile in own))
    return _listed(parts) if parts else "-"


def refusal(state: Any, seat: int, action: int) -> str:
    """Why an action that is not legal is not."""
    phase = int(state.phase)
    designs = DESIGNS if int(state.advanced) else BASIC_DESIGNS
    belongs = LAY if action < designs else GRAB + (action - designs) // TILES
    if belongs != phase:
        return f"it belongs to phase {PHASES[belongs]}, this is phase {PHASES[phase]}"
    if phase == LAY:
        return "the seat does not hold this card"
    tile = (action - designs) % TILES
    if phase == GRAB:
        return "this tile is not in the middle"
    if phase == RAISE:
        if int(state.graveyard) >> tile & 1:
            return f"the seat has no claim left on a {COLOURS[tile // 10]} tile"
        return "this tile is not in the graveyard"
    if tile in state.choices[seat]:
        return "the seat has chosen this tile already"
    if not int(state.tiles[seat]) >> tile & 1:
        return "the seat does not have this tile"
    card = int(state.pile[int(state.resolved)])
    assert not int(CARD_TILES[card]) >> tile & 1
    return f"{CARD_NAMES[card]!r} does not take this tile"
