"""Bite Night as a picture: the table from one perspective."""

from typing import Any

from ..core.bits import members
from ..render.parts import DARK, EDGE, GOLD, TableScene, back, backs, cross_out, in_row
from ..render.scene import Box, Perspective, Scene, rect
from . import rules
from .scene_cards import effect, face, tile, tile_words
from .text import claims_of, points_of
from .view import OPEN_CARDS

PHASES = ("laying cards", "grabbing tiles", "a burial", "a resurrection")
CHOSEN, SPENT = "#7dff9a", "#8b8b8b"
"""Around what was chosen but is still hidden from the others; across what has had its effect."""
LESSONS = (
    "The card goes face down onto the common pile. It counts for everybody when the pile is revealed at the end of the "
    "lap, so lay what fits your tiles better than those of the others.",
    "Everybody takes three tiles of each round, and who is quickest gets a tile that several want. Take what your own "
    "cards in the pile count, or what others would need.",
    "This card takes two fitting tiles from everybody. Bury those that the cards still to come count least.",
    "For each of your hearts you may take a buried tile of its colour. Take what the cards still to come count most.",
)
"""What to do and what for, by phase."""
OWN = 500
"""Where the observer's own panel begins."""
MINI = (46.0, 68.0)


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
    for k, box in enumerate(table.seat_boxes(OWN), 1):
        _draw_other(table, k, box)
    _draw_pile(table)
    if view.phase >= rules.BURY:
        _draw_graveyard(table)
    else:
        _draw_middle(table)
    _draw_own(table)
    first = int(view.first_player)
    head = ["player", "points", "first player"]
    table.add_strip(head, [[name, str(points_of(view, k)), "yes" * (k == first)] for k, name in enumerate(seen.names)])
    table.ask(_prompt(seen), lesson=LESSONS[int(view.phase)])
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
    table.add(shapes, f"{where} {tile_words(number, hearts)}", choices, box, key=f"tile {number}")


def _hand(view: Any) -> list[int]:
    """A seat's own cards, in order; a design that is there twice stands there twice."""
    return sorted(int(rules.design_of(view, card)) for card in members(view.hand))


def _draw_other(table: TableScene, k: int, box: Box) -> None:
    """Another seat: its tiles, and its hand."""
    view, shown, name, (x, y, w, h) = table.view, table.seen.views[k], table.names[k], box
    needs = f"needs {int(view.to_grab[k])}" if view.to_grab[k] and shown is None else ""
    table.add_seat(k, box, f"{points_of(view, k)} points", needs)
    a_row, low = max(int((w - 20) // 41), 1), y + (250 if w < h else 84)
    for i, number in enumerate(members(view.tiles[k])):
        _add_tile(table, number, (x + 12 + i % a_row * 41, y + 40 + i // a_row * 42, 38.0, 38.0), f"{name} has")
    if shown is None:
        count = rules.HAND_CARDS - sum(1 for seat in view.pile_seats if seat == k)
        table.add(backs(count, (x + 12, low, w - 20, 40), (30, 40), 13), f"{name} has {count} cards")
        return
    hand = _hand(shown)
    for card, left in zip(hand, in_row(len(hand), x + 12, w - 24, 30, 2)):
        table.add(face(card, (left, low, 30, 44)), f"{name} holds {rules.CARD_NAMES[card]}", help=effect(card))


def _draw_pile(table: TableScene) -> None:
    """The cards laid so far, in order: face up where they are known, and who laid each."""
    view = table.view
    table.add([rect((252, 202, 776, 106), DARK, None, corner=10)])
    table.add_heading(262, 215, "Cards laid, first to last")
    for place, x in enumerate(in_row(table.players * rules.rounds(table.players), 260, 760, MINI[0], 6)):
        box = (x, 228.0, *MINI)
        seat = int(view.pile_seats[place])
        if seat == rules.NONE:
            table.add([rect(box, None, EDGE, 2, 7)])
            continue
        card = max(int(shown.pile[place]) for shown in table.seen.views if shown is not None)  # NONE is -1
        shapes = [*(face(card, box) if card != rules.NONE else back(box))]
        if place < int(view.resolved):
            shapes += cross_out(box, SPENT, 3)
        elif view.phase >= rules.BURY and place == int(view.resolved) and view.asked:
            shapes.append(rect((x - 3, 225, MINI[0] + 6, MINI[1] + 6), None, GOLD, 5, 9))
        shapes.append(rect((x + 4, 299, MINI[0] - 8, 6), table.colour(seat), None, corner=3))
        said = f"place {place + 1}, laid by {table.names[seat]}: "
        words, help = ("a card face down", "") if card == rules.NONE else (rules.CARD_NAMES[card], effect(card))
        table.add(shapes, said + words, (), None, help=help, key=f"pile {place}", origin=f"seat {seat}")


def _draw_middle(table: TableScene) -> None:
    """The tiles to grab."""
    view = table.view
    tiles = members(view.middle)
    if tiles or view.phase == rules.LAY:
        words = "Tiles to grab" if tiles else "The tiles of this round come when all cards are laid"
        table.add_heading(262, 324, words)
    for i, number in enumerate(tiles):
        box = (288 + i % 6 * 120.0, 338 + i // 6 * 80.0, 74.0, 74.0)
        _add_tile(table, number, box, "in the middle:", rules.GRAB, int(view.chosen_tiles))


def _draw_graveyard(table: TableScene) -> None:
    """The rendezvous: buried tiles and the cards that lie open."""
    view = table.view
    buried, opened = members(view.graveyard), members(view.open_cards)
    table.add_heading(262, 324, "Graveyard" if buried else "The graveyard is empty")
    size, a_row = (48.0, 10) if len(buried) <= 30 else (36.0, 13)
    for i, number in enumerate(buried):
        box = (262 + i % a_row * (size + 5), 338 + i // a_row * (size + 5), size, size)
        _add_tile(table, number, box, "buried:", rules.RAISE)
    if opened:
        table.add_heading(810, 324, "Open cards")
    for card, x in zip((OPEN_CARDS[k] for k in opened), in_row(len(opened), 810, 214, 70)):
        table.add(face(card, (x, 338, 70, 100)), f"open: {rules.CARD_NAMES[card]}", help=effect(card))


def _draw_own(table: TableScene) -> None:
    """The observer's own tiles and cards."""
    view = table.view
    needs = f", needs {int(view.to_grab[0])}" if view.to_grab[0] else ""
    table.add_own_seat(OWN, f"{points_of(view, 0)} points{needs}")
    tiles = members(view.tiles[0])
    chosen = int(view.chosen_tiles) if view.phase >= rules.BURY else 0
    for number, x in zip(tiles, in_row(len(tiles), 170, 860, 50, 5)):
        _add_tile(table, number, (x, OWN + 6.0, 50.0, 50.0), "yours:", rules.BURY, chosen)
    if not tiles:
        table.add_heading(180, OWN + 24, "No tiles yet")
    hand = _hand(view)
    for i, (card, x) in enumerate(zip(hand, in_row(len(hand), 22, 1236, 132, 6))):
        box = (x, OWN + 62.0, 132.0, 120.0)
        shapes = [*face(card, box)]
        if card == view.chosen_card:
            shapes.append(rect(box, None, CHOSEN, 6, 8))
        elif view.phase >= rules.BURY:
            shapes += cross_out((x + 36, OWN + 92, 60, 60), SPENT, 3)
        # The second copy of a design stands for nothing that the first one does not.
        choices = _choices(table, rules.LAY, card) if card not in hand[:i] else []
        table.add(shapes, f"your card {rules.CARD_NAMES[card]}", choices, box, help=effect(card))
