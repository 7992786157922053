"""Bite Night as a picture: the table from what somebody knows, and what they hear of the others' moves."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..render.parts import (
    BOARD,
    DARK,
    EDGE,
    GOLD,
    PALE,
    SEATS,
    ask,
    back,
    backs,
    begin,
    cross_out,
    heading,
    in_row,
    name_tag,
    own_panel,
    seat_boxes,
    seat_panel,
    side_panel,
)
from ..render.scene import Box, Scene, Shape, Sight, Told, rect, text
from .rules import (
    BASIC_DESIGNS,
    BURY,
    CARD_NAMES,
    DESIGNS,
    GRAB,
    HAND_CARDS,
    LAY,
    NONE,
    RAISE,
    TILES,
    design_of,
    rounds,
)
from .scene_cards import effect, face, tile, tile_words
from .text import claims_of, members, tile_names
from .view import OPEN_CARDS

INKS = {r"\bblue\b": 69, r"\bred\b": 203, r"\byellow\b": 220, r"\bgreen\b": 77, r"\bviolet\b": 135}
PHASES = ("laying cards", "grabbing tiles", "a burial", "a resurrection")
CHOSEN = "#7dff9a"
"""Around what was chosen but is still hidden from the others."""
MINI = (52.0, 74.0)


# --- What is heard ---


def tell(before: Any, after: Any, mover: int, action: int | None) -> list[Told]:
    """What a seat hears: its own choices, and what everybody sees once all have chosen."""
    return list(_telling(before, after, mover, action))


def _telling(before: Any, after: Any, mover: int, action: int | None) -> Iterator[Told]:
    players = int(before.players)
    if mover == 0 and action is not None and before.phase == LAY:
        yield Told(f"{{0}}: lay {CARD_NAMES[action]}", 0)
    same_lap = before.lap == after.lap
    if same_lap:
        for k in range(players):
            gained = int(after.tiles[k]) & ~int(before.tiles[k])
            buried = int(before.tiles[k]) & ~int(after.tiles[k]) & int(after.graveyard)
            if gained:
                yield Told(f"{{{k}}}: gets {', '.join(tile_names(after, gained))}", k)
            if buried:
                yield Told(f"{{{k}}}: buries {', '.join(tile_names(before, buried))}", k)
        done = [int(after.pile[place]) for place in range(int(before.resolved), int(after.resolved))]
        if done:
            yield Told(f"revealed: {', '.join(CARD_NAMES[card] for card in done if card != NONE)}")
    points = [(k, _points(after, k) - _points(before, k)) for k in range(players)]
    if any(gain for _, gain in points):
        yield Told("points: " + ", ".join(f"{{{k}}} +{gain}" for k, gain in points))
    if not same_lap:
        yield Told(f"lap {int(after.lap)} begins")


def _points(view: Any, k: int) -> int:
    return 10 * int(view.score_tens[k]) + int(view.score_units[k])


def spoken(view: Any, action: int) -> str:
    """What choosing an action does, in words."""
    designs = DESIGNS if view.advanced else BASIC_DESIGNS
    if action < designs:
        return f"Lay {CARD_NAMES[action]}: {effect(action)}"
    verb, number = divmod(action - designs, TILES)
    return f"{('Grab', 'Bury', 'Raise')[verb]} the {tile_words(number, int(view.hearts))}"


# --- The table ---


def scene(sight: Sight) -> Scene:
    """The table from what somebody knows."""
    view, players = sight.view, len(sight.called)
    if not sight.spectator:
        sight = replace(sight, deciding=frozenset(members(view.asked)))  # as everybody can see
    lap, laps = int(view.lap), int(view.lap) + int(view.laps_left)
    status = f"Lap {lap} of {laps}, round {int(view.round_number)} of {rounds(players)}: {PHASES[int(view.phase)]}"
    table = begin(sight, "Bite Night", status)
    designs = DESIGNS if view.advanced else BASIC_DESIGNS
    actions = {action: spoken(view, action) for action, _ in sight.legal}
    first = {LAY: 0, GRAB: designs, BURY: designs + TILES, RAISE: designs + 2 * TILES}[int(view.phase)]
    by_thing = {action - first: [(action, words)] for action, words in actions.items()}
    for k, box in enumerate(seat_boxes(players), 1):
        _draw_other(table, sight, k, box)
    _draw_pile(table, sight)
    if view.phase >= BURY:
        _draw_graveyard(table, sight, by_thing if view.phase == RAISE else {})
    else:
        _draw_middle(table, view, by_thing if view.phase == GRAB else {})
    _draw_own(table, sight, by_thing)
    _draw_scores(table, sight)
    ask(table, sight, _prompt(sight), ())
    return table


def _prompt(sight: Sight) -> str:
    view, phase = sight.view, int(sight.view.phase)
    if not sight.legal:
        return (
            f"Waiting for {', '.join(sight.called[k] for k in members(view.asked) if k or sight.spectator)}"
            if view.asked
            else ""
        )
    if phase == LAY:
        return "Lay a card face down; it counts at the end of the lap"
    if phase == GRAB:
        return f"Grab a tile; you need {int(view.to_grab[0])} more"
    card = CARD_NAMES[view.pile[view.resolved]]
    if phase == BURY:
        return f"{card}: bury {'a second' if view.chosen_tiles else 'a first'} tile"
    return "Raise a tile: " + ", ".join(f"{count} {colour}" for colour, count in claims_of(view).items())


def _hand(view: Any) -> list[int]:
    """A seat's own cards, in order; a design that is there twice stands there twice."""
    return sorted(int(design_of(view, card)) for card in members(view.hand))


def _draw_other(table: Scene, sight: Sight, k: int, box: Box) -> None:
    """Another seat: its tiles, and its hand."""
    view, shown, (x, y, w, _) = sight.view, sight.views[k], box
    needs = f"needs {int(view.to_grab[k])}" if view.to_grab[k] and sight.views[k] is None else ""
    seat_panel(table, sight, k, box, f"{_points(view, k)} points", needs)
    _draw_small_tiles(table, view, members(view.tiles[k]), x + 12, y + 42, w - 20, f"{sight.called[k]} has")
    if shown is not None:
        hand = _hand(shown)
        for card, left in zip(hand, in_row(len(hand), x + 12, w - 24, 30, 2)):
            table.add(face(card, (left, y + 132, 30, 50)), f"{sight.called[k]} holds {CARD_NAMES[card]}")
        return
    laid = sum(1 for seat in view.pile_seats if seat == k)
    count = HAND_CARDS - laid
    table.add(backs(count, (x + 12, y + 138, w - 20, 40), (30, 40), 13), f"{sight.called[k]} has {count} cards")


def _draw_small_tiles(table: Scene, view: Any, tiles: list[int], x: float, y: float, room: float, whose: str) -> None:
    a_row = max(int(room // 41), 1)
    for i, number in enumerate(tiles):
        box = (x + i % a_row * 41, y + i // a_row * 42, 38.0, 38.0)
        table.add(tile(number, box, int(view.hearts)), f"{whose} {tile_words(number, int(view.hearts))}")


def _draw_pile(table: Scene, sight: Sight) -> None:
    """The cards laid so far, in order: face up where they are known, and who laid each."""
    view = sight.view
    places = len(sight.called) * rounds(len(sight.called))
    table.add([rect((12, 260, 936, 110), DARK, None, corner=10), heading(22, 275, "Cards laid, first to last")])
    for place, x in enumerate(in_row(places, 22, 916, *MINI[:1])):
        box = (x, 288.0, *MINI)
        seat = int(view.pile_seats[place])
        if seat == NONE:
            table.add([rect(box, None, EDGE, 2, 7)])
            continue
        card = _known_card(sight, place)
        shapes = [*(face(card, box) if card != NONE else back(box))]
        if place < int(view.resolved):
            shapes += cross_out(box, "#8b8b8b", 3)
        elif view.phase >= BURY and place == int(view.resolved) and view.asked:
            shapes.append(rect((x - 3, 285, MINI[0] + 6, MINI[1] + 6), None, GOLD, 5, 9))
        shapes.append(rect((x + 4, 363, MINI[0] - 8, 6), SEATS[sight.number(seat)], None, corner=3))
        what = CARD_NAMES[card] if card != NONE else "a card face down"
        table.add(shapes, f"place {place + 1}, laid by {sight.called[seat]}: {what}")


def _known_card(sight: Sight, place: int) -> int:
    """The card in a place of the pile, if any of the views tells."""
    for view in sight.views:
        if view is not None and view.pile[place] != NONE:
            return int(view.pile[place])
    return NONE


def _draw_middle(table: Scene, view: Any, actions: dict[int, list[tuple[int, str]]]) -> None:
    """The tiles to grab."""
    tiles = members(view.middle)
    if tiles or view.phase == LAY:
        words = "Tiles to grab" if tiles else "The tiles of this round come when all cards are laid"
        table.add([heading(24, 386, words)])
    for i, number in enumerate(tiles):
        box = (24 + i % 8 * 100.0, 402 + i // 8 * 98.0, 90.0, 90.0)
        chosen = int(view.chosen_tiles) >> number & 1
        table.add(
            tile(number, box, int(view.hearts), CHOSEN if chosen else "#ffffff"),
            f"in the middle: {tile_words(number, int(view.hearts))}",
            actions.get(number, []),
            box,
        )


def _draw_graveyard(table: Scene, sight: Sight, actions: dict[int, list[tuple[int, str]]]) -> None:
    """The rendezvous: buried tiles and the cards that lie open."""
    view = sight.view
    table.add([heading(24, 386, "Graveyard" if int(view.graveyard) else "The graveyard is empty")])
    for i, number in enumerate(members(view.graveyard)):
        box = (24 + i % 12 * 56.0, 402 + i // 12 * 56.0, 50.0, 50.0)
        table.add(
            tile(number, box, int(view.hearts)),
            f"buried: {tile_words(number, int(view.hearts))}",
            actions.get(number, []),
            box,
        )
    opened = members(view.open_cards)
    if opened:
        table.add([heading(716, 386, "Open cards")])
    for card, x in zip((OPEN_CARDS[k] for k in opened), in_row(len(opened), 716, 226, 86)):
        table.add(face(card, (x, 402, 86, 120)), f"open: {CARD_NAMES[card]}")


def _draw_own(table: Scene, sight: Sight, actions: dict[int, list[tuple[int, str]]]) -> None:
    """The observer's own tiles and cards."""
    view = sight.view
    needs = f", needs {int(view.to_grab[0])}" if view.to_grab[0] else ""
    own_panel(table, sight, 604, f"{_points(view, 0)} points{needs}")
    tiles = members(view.tiles[0])
    for number, x in zip(tiles, in_row(len(tiles), 26, 908, 58, 6)):
        box = (x, 648.0, 58.0, 58.0)
        chosen = view.phase >= BURY and int(view.chosen_tiles) >> number & 1
        choices = actions.get(number, []) if view.phase == BURY else []
        table.add(
            tile(number, box, int(view.hearts), CHOSEN if chosen else "#ffffff"),
            f"yours: {tile_words(number, int(view.hearts))}",
            choices,
            box,
        )
    if not tiles:
        table.add([heading(28, 678, "No tiles yet")])
    hand = _hand(view)
    for i, (card, x) in enumerate(zip(hand, in_row(len(hand), 26, 908, 96, 6))):
        box = (x, 724.0, 96.0, 146.0)
        shapes = [*face(card, box)]
        if card == view.chosen_card:
            shapes.append(rect(box, None, CHOSEN, 6, 8))
        elif view.phase >= BURY:
            shapes += cross_out((x + 20, 760, 56, 70), "#8b8b8b", 3)
        # The second copy of a design stands for nothing that the first one does not.
        choices = actions.get(card, []) if view.phase == LAY and card not in hand[:i] else []
        table.add(shapes, f"your card {CARD_NAMES[card]}: {effect(card)}", choices, box)


def _draw_scores(table: Scene, sight: Sight) -> None:
    view, players = sight.view, len(sight.called)
    x, y, w, _ = side_panel(table, sight, 96 + 36 * players)
    shapes: list[Shape] = [text(x + 14, y + 26, "Points", 24, GOLD, "start")]
    for k in range(players):
        height = y + 62 + 36 * k
        shapes += name_tag(sight, k, x + 14, height)
        shapes.append(text(x + w - 16, height, str(_points(view, k)), 28, GOLD, "end"))
    first = sight.called[int(view.first_player)]
    shapes.append(text(x + 14, y + 66 + 36 * players, f"first player: {first}", 22, PALE, "start", BOARD[2]))
    table.add(shapes, "Points: " + ", ".join(f"{name} {_points(view, k)}" for k, name in enumerate(sight.called)))
