"""Bite Night as a picture: the table from one perspective."""

from typing import Any

from ..core.bits import members
from ..render.parts import DARK, EDGE, GOLD, PALE, SIDE, TableScene, back, backs, cross_out, in_row
from ..render.scene import Box, Perspective, Scene, rect, text
from . import rules
from .scene_cards import effect, face, tile, tile_words
from .text import claims_of
from .view import OPEN_CARDS

INKS = {r"\bblue\b": 69, r"\bred\b": 203, r"\byellow\b": 220, r"\bgreen\b": 77, r"\bviolet\b": 135}
PHASES = ("laying cards", "grabbing tiles", "a burial", "a resurrection")
CHOSEN, SPENT = "#7dff9a", "#8b8b8b"
"""Around what was chosen but is still hidden from the others; across what has had its effect."""
MINI = (52.0, 74.0)


def _points(view: Any, k: int) -> int:
    return 10 * int(view.score_tens[k]) + int(view.score_units[k])


def spoken(view: Any, action: int) -> str:
    """What choosing an action does, in words."""
    designs = rules.DESIGNS if view.advanced else rules.BASIC_DESIGNS
    if action < designs:
        return f"Lay {rules.CARD_NAMES[action]}: {effect(action)}"
    verb, number = divmod(action - designs, rules.TILES)
    return f"{('Grab', 'Bury', 'Raise')[verb]} the {tile_words(number, int(view.hearts))}"


# --- The table ---


def scene(seen: Perspective) -> Scene:
    """The table from one perspective."""
    view, players = seen.view, len(seen.names)
    laps, rounds = int(view.lap) + int(view.laps_left), rules.rounds(players)
    status = f"Lap {int(view.lap)} of {laps}, round {int(view.round_number)} of {rounds}: {PHASES[int(view.phase)]}"
    actions = {action: spoken(view, action) for action, _ in seen.legal}
    visible = None if seen.spectator else members(view.asked)  # as everybody can see
    table = TableScene(seen, "Bite Night", status, actions, visible)
    for k, box in enumerate(table.seat_boxes(), 1):
        _draw_other(table, k, box)
    _draw_pile(table)
    if view.phase >= rules.BURY:
        _draw_graveyard(table)
    else:
        _draw_middle(table)
    _draw_own(table)
    below = table.add_points("Points", [_points(view, k) for k in range(players)], 96 + 36 * players)
    first = seen.names[int(view.first_player)]
    table.add([text(SIDE[0] + 14, below + 66, f"first player: {first}", 22, PALE, "start", SIDE[2] - 28)])
    table.ask(_prompt(seen))
    return table


def _prompt(seen: Perspective) -> str:
    view, phase = seen.view, int(seen.view.phase)
    if not seen.legal:
        waited = [seen.names[k] for k in members(view.asked) if k or seen.spectator]
        return f"Waiting for {', '.join(waited)}" if view.asked else ""
    if phase == rules.LAY:
        return "Lay a card face down; it counts at the end of the lap"
    if phase == rules.GRAB:
        return f"Grab a tile; you need {int(view.to_grab[0])} more"
    card = rules.CARD_NAMES[view.pile[view.resolved]]
    if phase == rules.BURY:
        return f"{card}: bury {'a second' if view.chosen_tiles else 'a first'} tile"
    return "Raise a tile: " + ", ".join(f"{count} {colour}" for colour, count in claims_of(view).items())


def _choices(table: TableScene, phase: int, thing: int) -> list[tuple[int, str]]:
    """What can be done with a card (in phase LAY) or a tile, where it is this phase."""
    designs = rules.DESIGNS if table.view.advanced else rules.BASIC_DESIGNS
    first = 0 if phase == rules.LAY else designs + (phase - rules.GRAB) * rules.TILES
    return table.choices(first + thing) if table.view.phase == phase else []


def _add_tile(
    table: TableScene, number: int, box: Box, where: str, phase: int | None = None, chosen: int = 0
) -> None:  # fmt: skip
    """A tile that can be chosen in a phase, with a bright edge if it is one of the set `chosen`."""
    hearts = int(table.view.hearts)
    shapes = tile(number, box, hearts, CHOSEN if chosen >> number & 1 else "#ffffff")
    choices = [] if phase is None else _choices(table, phase, number)
    table.add(shapes, f"{where} {tile_words(number, hearts)}", choices, box)


def _hand(view: Any) -> list[int]:
    """A seat's own cards, in order; a design that is there twice stands there twice."""
    return sorted(int(rules.design_of(view, card)) for card in members(view.hand))


def _draw_other(table: TableScene, k: int, box: Box) -> None:
    """Another seat: its tiles, and its hand."""
    view, shown, name, (x, y, w, _) = table.view, table.seen.views[k], table.names[k], box
    needs = f"needs {int(view.to_grab[k])}" if view.to_grab[k] and shown is None else ""
    table.add_seat(k, box, f"{_points(view, k)} points", needs)
    a_row = max(int((w - 20) // 41), 1)
    for i, number in enumerate(members(view.tiles[k])):
        _add_tile(table, number, (x + 12 + i % a_row * 41, y + 42 + i // a_row * 42, 38.0, 38.0), f"{name} has")
    if shown is None:
        count = rules.HAND_CARDS - sum(1 for seat in view.pile_seats if seat == k)
        table.add(backs(count, (x + 12, y + 138, w - 20, 40), (30, 40), 13), f"{name} has {count} cards")
        return
    hand = _hand(shown)
    for card, left in zip(hand, in_row(len(hand), x + 12, w - 24, 30, 2)):
        table.add(face(card, (left, y + 132, 30, 50)), f"{name} holds {rules.CARD_NAMES[card]}")


def _draw_pile(table: TableScene) -> None:
    """The cards laid so far, in order: face up where they are known, and who laid each."""
    view = table.view
    table.add([rect((12, 260, 936, 110), DARK, None, corner=10)])
    table.add_heading(22, 275, "Cards laid, first to last")
    for place, x in enumerate(in_row(table.players * rules.rounds(table.players), 22, 916, MINI[0])):
        box = (x, 288.0, *MINI)
        seat = int(view.pile_seats[place])
        if seat == rules.NONE:
            table.add([rect(box, None, EDGE, 2, 7)])
            continue
        card = _known_card(table.seen, place)
        shapes = [*(face(card, box) if card != rules.NONE else back(box))]
        if place < int(view.resolved):
            shapes += cross_out(box, SPENT, 3)
        elif view.phase >= rules.BURY and place == int(view.resolved) and view.asked:
            shapes.append(rect((x - 3, 285, MINI[0] + 6, MINI[1] + 6), None, GOLD, 5, 9))
        shapes.append(rect((x + 4, 363, MINI[0] - 8, 6), table.colour(seat), None, corner=3))
        what = rules.CARD_NAMES[card] if card != rules.NONE else "a card face down"
        table.add(shapes, f"place {place + 1}, laid by {table.names[seat]}: {what}")


def _known_card(seen: Perspective, place: int) -> int:
    """The card in a place of the pile, if any of the views tells."""
    known = (int(view.pile[place]) for view in seen.views if view is not None)
    return next((card for card in known if card != rules.NONE), rules.NONE)


def _draw_middle(table: TableScene) -> None:
    """The tiles to grab."""
    view = table.view
    tiles = members(view.middle)
    if tiles or view.phase == rules.LAY:
        words = "Tiles to grab" if tiles else "The tiles of this round come when all cards are laid"
        table.add_heading(24, 386, words)
    for i, number in enumerate(tiles):
        box = (24 + i % 8 * 100.0, 402 + i // 8 * 98.0, 90.0, 90.0)
        _add_tile(table, number, box, "in the middle:", rules.GRAB, int(view.chosen_tiles))


def _draw_graveyard(table: TableScene) -> None:
    """The rendezvous: buried tiles and the cards that lie open."""
    view = table.view
    table.add_heading(24, 386, "Graveyard" if int(view.graveyard) else "The graveyard is empty")
    for i, number in enumerate(members(view.graveyard)):
        _add_tile(table, number, (24 + i % 12 * 56.0, 402 + i // 12 * 56.0, 50.0, 50.0), "buried:", rules.RAISE)
    opened = members(view.open_cards)
    if opened:
        table.add_heading(716, 386, "Open cards")
    for card, x in zip((OPEN_CARDS[k] for k in opened), in_row(len(opened), 716, 226, 86)):
        table.add(face(card, (x, 402, 86, 120)), f"open: {rules.CARD_NAMES[card]}")


def _draw_own(table: TableScene) -> None:
    """The observer's own tiles and cards."""
    view = table.view
    needs = f", needs {int(view.to_grab[0])}" if view.to_grab[0] else ""
    table.add_own_seat(604, f"{_points(view, 0)} points{needs}")
    tiles = members(view.tiles[0])
    chosen = int(view.chosen_tiles) if view.phase >= rules.BURY else 0
    for number, x in zip(tiles, in_row(len(tiles), 26, 908, 58, 6)):
        _add_tile(table, number, (x, 648.0, 58.0, 58.0), "yours:", rules.BURY, chosen)
    if not tiles:
        table.add_heading(28, 678, "No tiles yet")
    hand = _hand(view)
    for i, (card, x) in enumerate(zip(hand, in_row(len(hand), 26, 908, 96, 6))):
        box = (x, 724.0, 96.0, 146.0)
        shapes = [*face(card, box)]
        if card == view.chosen_card:
            shapes.append(rect(box, None, CHOSEN, 6, 8))
        elif view.phase >= rules.BURY:
            shapes += cross_out((x + 20, 760, 56, 70), SPENT, 3)
        # The second copy of a design stands for nothing that the first one does not.
        choices = _choices(table, rules.LAY, card) if card not in hand[:i] else []
        table.add(shapes, f"your card {rules.CARD_NAMES[card]}: {effect(card)}", choices, box)
