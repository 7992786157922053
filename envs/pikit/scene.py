"""Pikit as a picture: the table from what somebody knows, and what they hear of the others' moves."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..render.parts import (
    DARK,
    EDGE,
    GOLD,
    INK,
    PALE,
    PAPER,
    SEATS,
    SIDE,
    ask,
    back,
    begin,
    heading,
    name_tag,
    own_panel,
    seat_boxes,
    seat_panel,
    side_panel,
    turn_of,
)
from ..render.scene import Box, Scene, Shape, Sight, Told, circle, polygon, rect, text
from .rules import (
    ACCEPT,
    CANCEL,
    CARD_OF,
    DISCARD,
    DRAW,
    EFFECTS,
    END_DISCARDS,
    NONE,
    REACT,
    REROLL,
    STEAL,
    STEAL_MECHA,
    TAKE,
    TAKE_BOTH,
    TAKE_DIFFERENCE,
    TAKE_HIGH,
    TAKE_LOW,
    TAKE_MECHA,
    TAKE_NOTHING,
    TAKE_SUM,
    TURN,
)
from .text import cards_of, mechas_of

COLOURS = (
    "", "#7a8a2e", "#2f7fc1", "#b03a3a", "#7b4bb3", "#1f8f78", "#4b5563", "#c06b14", "#2f8a3c", "#a8327e", "#c2410c",
    "#8a1c1c",
)  # fmt: skip
"""Of the kaiju, by value."""
DOES = (
    "", "most 1s", "reroll", "wounds", "steal", "draw", "cancel", "turn die", "all 8s", "wild", "wild", "wild",
)  # fmt: skip
INKS = {r"\b\d+-\d+\b": 247, r"\b(?:9|10|11)\b": 203, r"\b[78]\b": 215, r"\b[456]\b": 78, r"\b[123]\b": 75}
CARD = (84.0, 116.0)


# --- Words ---


def spoken(view: Any, action: int, called: tuple[str, ...]) -> str:
    """What choosing an action does, in words."""
    low, high = int(view.low), int(view.high)
    if action < END_DISCARDS:
        return f"Discard the {CARD_OF[action]}: {effect_words(view, action % EFFECTS, called)}"
    return {
        END_DISCARDS: "End the discards and take from the centre",
        ACCEPT: "Accept the discard",
        TAKE_SUM: f"Take the {low + high}, the sum of the dice",
        TAKE_DIFFERENCE: f"Take the {high - low}, the difference of the dice",
        TAKE_LOW: f"Take the {low}, the low die",
        TAKE_HIGH: f"Take the {high}, the high die",
        TAKE_BOTH: f"Take both, the {low} and the {high}",
        TAKE_MECHA: f"Take the mecha {low}-{low}",
        STEAL_MECHA: f"Steal a random card from who holds the mecha {low}-{low}",
        TAKE_NOTHING: "Take nothing",
    }[action]


def effect_words(view: Any, effect: int, called: tuple[str, ...]) -> str:
    """An effect of a discard, in words; the victim counts from the turn player."""
    low, high = int(view.low), int(view.high)
    if effect < STEAL:
        return ("reroll the low die", "reroll the high die", "reroll both dice")[effect - REROLL]
    if effect < DRAW:
        return f"steal a card from {called[(int(view.turn_player) + 1 + effect - STEAL) % len(called)]}"
    if effect == DRAW:
        return "draw a card from the deck"
    if effect == CANCEL:
        return "cancel"
    die, face = divmod(effect - TURN, 6)
    return f"turn the {(low, high)[die]} into a {face + 1}"


# --- What is heard ---


def tell(before: Any, after: Any, mover: int, action: int | None) -> list[Told]:
    """What a seat hears of a decision: everything but who was asked to cancel and did not."""
    return list(_telling(before, after, mover, action))


def _telling(before: Any, after: Any, mover: int, action: int | None) -> Iterator[Told]:
    names = tuple(f"{{{k}}}" for k in range(int(before.players)))
    cancelling = action is not None and action < END_DISCARDS and action % EFFECTS == CANCEL
    if action is None:
        yield from _gains(before, after, names)
    elif cancelling:
        yield Told(f"{{{mover}}}: {int(CARD_OF[action])} to cancel", mover, action)
    elif action < END_DISCARDS:
        words = effect_words(before, action % EFFECTS, names)
        yield Told(f"{{{mover}}}: {int(CARD_OF[action])} to {words}", mover, action)
    elif int(before.phase) == TAKE:
        yield Told(f"{{{mover}}}: {_lower(spoken(before, action, names))}", mover, action)
        if action == STEAL_MECHA:
            yield from _stolen(before, after, mover)
    if (before.phase != TAKE and action is not None and action < END_DISCARDS) or before.phase == REACT:
        yield from _settled(before, after, action, cancelling)
    if news_turn(before, after):
        player = int(after.turn_player)
        yield Told(f"{{{player}}}: dice {int(after.low)} and {int(after.high)}", player)


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def news_turn(before: Any, after: Any) -> bool:
    """Whether another turn has begun."""
    return int(before.turn_player) != int(after.turn_player)


def _settled(before: Any, after: Any, action: int | None, cancelling: bool) -> Iterator[Told]:
    """What a discard did, once nobody cancels any more."""
    if after.pending_effect != NONE or action is None:
        return
    effect = int(before.pending_effect) if before.phase == REACT else action % EFFECTS
    if (int(before.cancels.sum()) + cancelling) % 2:
        yield Told("… is cancelled")
    elif effect < STEAL or effect >= TURN:
        yield Told(f"dice: {int(after.low)} and {int(after.high)}")
    elif effect < DRAW:
        yield from _stolen(before, after, int(before.turn_player))
    elif effect == DRAW and before.turn_player == 0:
        drawn = Counter(cards_of(after.hand)) - Counter(cards_of(before.hand))
        yield Told("".join(f"… the card is a {value}" for value in drawn))


def _stolen(before: Any, after: Any, thief: int) -> Iterator[Told]:
    """What a thief got, before all eyes."""
    if after.wounds[thief] > before.wounds[thief]:
        yield Told("… it is a 3, which wounds")
    for value in Counter(cards_of(after.known[thief])) - Counter(cards_of(before.known[thief])):
        yield Told(f"… it is a {value}")
    for number in mechas_of(int(after.mechas[thief]) & ~int(before.mechas[thief])):
        yield Told(f"… it is the mecha {number}-{number}")


def _gains(before: Any, after: Any, names: tuple[str, ...]) -> Iterator[Told]:
    """What others have gained meanwhile."""
    for k, name in enumerate(names):
        gained = Counter(cards_of(after.known[k])) - Counter(cards_of(before.known[k]))
        mechas = mechas_of(int(after.mechas[k]) & ~int(before.mechas[k]))
        cards = [*map(str, sorted(gained.elements())), *(f"{number}-{number}" for number in mechas)]
        if cards:
            yield Told(f"{name}: now also has {', '.join(cards)}", k)


# --- The table ---


def scene(sight: Sight) -> Scene:
    """The table from what somebody knows."""
    view = sight.view
    if view.phase != REACT and sight.winners is None:
        sight = replace(sight, deciding=frozenset([int(view.turn_player)]))  # as everybody can see
    phase = ("discards", "a discard waits for reactions", "taking from the centre")[int(view.phase)]
    status = f"{turn_of(sight.called[view.turn_player])}: {phase}"
    if view.last_turns:
        status += f", last turns: {int(view.last_turns)}"
    table = begin(sight, "Pikit", status)
    actions = {action: spoken(view, action, sight.called) for action, _ in sight.legal}
    for k, box in enumerate(seat_boxes(len(sight.called)), 1):
        _draw_other(table, sight, k, box, actions)
    _draw_dice(table, sight)
    _draw_centre(table, view, actions)
    _draw_supply(table, view, actions)
    _draw_pending(table, sight)
    _draw_own(table, sight, actions)
    _draw_scores(table, sight)
    captions = {END_DISCARDS: "End discards", ACCEPT: "Accept", TAKE_BOTH: "Take both", TAKE_NOTHING: "Take nothing"}
    buttons = [(action, caption, actions[action]) for action, caption in captions.items() if action in actions]
    ask(table, sight, _prompt(sight), buttons)
    table.fleeting = view.phase == REACT and not sight.legal  # who can cancel is nobody else's business
    return table


def _prompt(sight: Sight) -> str:
    view = sight.view
    if not sight.legal:
        return f"Waiting for {sight.called[view.turn_player]}" if view.phase != REACT else "Waiting for reactions"
    if view.phase == DISCARD:
        return "Discard cards for their effects, or end"
    return "Cancel this discard with a 6 or a wild card?" if view.phase == REACT else "Take one thing the dice allow"


@lru_cache(4096)
def card_face(value: int, box: Box) -> tuple[Shape, ...]:
    """A kaiju."""
    x, y, w, h = box
    colour = COLOURS[value]
    cx, cy, r = x + w / 2, y + h * 0.56, w * 0.27
    horns = [
        [(cx + s * r * 0.9, cy - r * 0.4), (cx + s * r * 0.95, cy - r * 1.45), (cx + s * r * 0.3, cy - r * 0.9)]
        for s in (-1, 1)
    ]
    eyes = [cx] if value <= 3 else [cx - r * 0.4, cx + r * 0.4]
    teeth = [(cx - r * 0.5, cy + r * 0.35), (cx + r * 0.5, cy + r * 0.35), (cx, cy + r * 0.8)]
    return (
        rect(box, PAPER, colour, 4, 9),
        *(polygon(points, colour) for points in horns),
        circle(cx, cy, r, colour),
        *(circle(eye, cy - r * 0.2, r * 0.28, "#ffffff") for eye in eyes),
        *(circle(eye, cy - r * 0.2, r * 0.12, INK) for eye in eyes),
        polygon(teeth, "#ffffff"),
        text(x + 9, y + 25, str(value), 34, colour, "start"),
        text(cx, y + h - 14, DOES[value], 21, INK, room=w - 10),
    )


def mecha_face(number: int, box: Box) -> list[Shape]:
    """A mecha."""
    x, y, w, h = box
    cx, top = x + w / 2, y + h * 0.34
    head = (cx - w * 0.27, top, w * 0.54, h * 0.36)
    return [
        rect(box, "#46525c", "#dfe7ec", 3, 9),
        text(cx, y + h * 0.17, f"{number}-{number}", 28, GOLD, room=w - 10),
        rect(head, "#b9c6cf", DARK, 2, 4),
        *(rect((cx + s * w * 0.13 - 5, top + h * 0.09, 10, 10), "#d43d3d", None, corner=2) for s in (-1, 1)),
        rect((cx - w * 0.15, top + h * 0.24, w * 0.3, 5), DARK, None, corner=1),
        text(cx, y + h - 15, "15", 24, "#ffffff"),
    ]


def chip(words: str, colour: str, x: float, y: float, width: float = 38) -> list[Shape]:
    """A card in a small space."""
    return [
        rect((x, y, width, 38), colour, "#ffffff", 2, 7),
        text(x + width / 2, y + 20, words, 25, room=width - 6),
    ]


def _draw_other(table: Scene, sight: Sight, k: int, box: Box, actions: dict[int, str]) -> None:
    """Another seat: the kaiju it is known to hold, its secret ones, mechas, wounds."""
    view, (x, y, w, _) = sight.view, box
    seat_panel(table, sight, k, box, f"{_points(sight, k)} points")
    wounds = int(view.wounds[k])
    if wounds:
        at = (x + w - 24, y + 62)
        table.add(
            [circle(*at, 17, "#c22f2f", "#ffffff"), text(*at, str(wounds), 22)], f"{wounds} wounds of {sight.called[k]}"
        )
    shown = sight.views[k]
    held = Counter(cards_of(view.known[k] if shown is None else shown.hand))
    unknown = int(view.unknown[k]) if shown is None else 0
    left, top = x + 12, y + 44
    for value, count in held.items():
        width = 38 if count == 1 else 62
        if left + width > x + w - (48 if wounds and top < y + 60 else 8):
            left, top = x + 12, top + 44
        face = chip(f"{value}" if count == 1 else f"{value} ×{count}", COLOURS[value], left, top, width)
        table.add(face, f"{sight.called[k]} holds {count} × {value}")
        left += width + 6
    if unknown:
        if left + 70 > x + w:
            left, top = x + 12, top + 44
        face = [*back((left, top, 30, 38)), text(left + 36, top + 20, f"×{unknown}", 24, PALE, "start")]
        table.add(face, f"{sight.called[k]} holds {unknown} unknown cards")
    for i, number in enumerate(mechas_of(view.mechas[k])):
        place = (x + 12 + i * 48, y + 144, 44.0, 38.0)
        _add_mecha(table, chip(f"{number}-{number}", "#46525c", *place[:2], 44), number, place, view, actions)


def _add_mecha(
    table: Scene, face: list[Shape], number: int, box: Box, view: Any, actions: dict[int, str]
) -> None:  # fmt: skip
    """A mecha, with taking or stealing where the dice show its double."""
    taken = [a for a in (TAKE_MECHA, STEAL_MECHA) if a in actions and number == int(view.low)]
    table.add(face, f"mecha {number}-{number}", [(a, actions[a]) for a in taken], box)


def _points(sight: Sight, k: int) -> int:
    shown = sight.views[k]
    return int(sight.view.scores[k]) if shown is None else int(shown.scores[0])


def _standing(sight: Sight, k: int) -> str:
    """Points and wounds of a seat, in words."""
    wounds = int(sight.view.wounds[k])
    hurt = f", {wounds} wound{'s' if wounds > 1 else ''}" if wounds else ""
    return f"{_points(sight, k)} points{hurt}"


def _draw_dice(table: Scene, sight: Sight) -> None:
    view = sight.view
    for x, face in ((24, int(view.low)), (122, int(view.high))):
        table.add(_die(face, (x, 292, 90, 90)), f"die: {face}")
    table.add([heading(24, 275, turn_of(sight.called[view.turn_player]), 200)])


def _die(face: int, box: Box) -> list[Shape]:
    x, y, w, h = box
    spots = {
        1: [(0, 0)], 2: [(-1, -1), (1, 1)], 3: [(-1, -1), (0, 0), (1, 1)], 4: [(-1, -1), (1, 1), (-1, 1), (1, -1)],
        5: [(-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)], 6: [(s, t) for s in (-1, 1) for t in (-1, 0, 1)],
    }[face]  # fmt: skip
    pips = [circle(x + w / 2 + s * w * 0.27, y + h / 2 + t * h * 0.27, w * 0.1, INK) for s, t in spots]
    return [rect(box, "#ffffff", INK, 3, 16), *pips]


def _draw_centre(table: Scene, view: Any, actions: dict[int, str]) -> None:
    """The cards in the centre; copies of a value are one thing to take."""
    low, high = int(view.low), int(view.high)
    taken = {TAKE_SUM: low + high, TAKE_DIFFERENCE: high - low, TAKE_LOW: low, TAKE_HIGH: high}
    table.add([heading(236, 275, "Centre")])
    left = 236.0
    for value, count in Counter(cards_of(view.centre)).items():
        box = (left, 292.0, 88 * count - 4.0, CARD[1])
        face = [shape for i in range(count) for shape in card_face(value, (left + 88 * i, 292, *CARD))]
        choices = [(a, actions[a]) for a, wanted in taken.items() if a in actions and wanted == value]
        table.add(face, f"centre: {count} × {value}", choices, box)
        left += 88 * count


def _draw_supply(table: Scene, view: Any, actions: dict[int, str]) -> None:
    """Mechas on the table, the deck, the discards."""
    table.add([heading(236, 432, "Mechas to take")])
    for i, number in enumerate(mechas_of(view.mechas_on_table)):
        box = (236 + 80.0 * i, 448.0, 72.0, 96.0)
        _add_mecha(table, mecha_face(number, box), number, box, view, actions)
    deck = int(view.deck)
    table.add(
        [heading(740, 432, "Deck"), *(back((740, 448, 72, 96)) if deck else [rect((740, 448, 72, 96), None, EDGE)])]
    )
    table.add([rect((750, 478, 52, 36), DARK), text(776, 497, str(deck), 28)], f"deck: {deck} cards")
    pile = cards_of(view.discard_pile)
    table.add([heading(836, 432, "Discards"), rect((844, 448, 72, 96), None, EDGE, 3)])
    table.add([text(880, 496, str(len(pile)), 32, PALE)], f"discards: {' '.join(map(str, pile)) or 'none'}")


def _draw_pending(table: Scene, sight: Sight) -> None:
    """The discard that waits for reactions, with the cancels on it; else what was discarded so far."""
    view, box = sight.view, (24.0, 558.0, 912.0, 76.0)
    if view.pending_effect == NONE:
        counts = Counter(cards_of(view.discard_pile))
        words = "  ".join(f"{value}×{count}" for value, count in counts.items()) or "nothing yet"
        table.add([rect(box, DARK, EDGE, 2, 10), heading(40, 578, "Discarded so far")])
        table.add([text(40, 612, words, 25, "#ffffff", "start", 880)])
        return
    who, card = int(view.turn_player), int(view.pending_card)
    words = f"{sight.called[who]}: {card} to {effect_words(view, int(view.pending_effect), sight.called)}"
    laid = [f"{int(count)} by {sight.called[k]}" for k, count in enumerate(view.cancels[: len(sight.called)]) if count]
    note = f"cancels: {', '.join(laid)}" if laid else "no cancel yet"
    shapes = [
        rect(box, "#4a2323", GOLD, 3, 10),
        *chip(str(card), COLOURS[card], 40, 577),
        circle(96, 596, 8, SEATS[sight.number(who)]),
        text(116, 584, words, 26, "#ffffff", "start", 800),
        text(116, 614, note, 22, PALE, "start", 800),
    ]
    table.add(shapes, f"pending: {words}; {note}")


def _draw_own(table: Scene, sight: Sight, actions: dict[int, str]) -> None:
    """The observer's own hand; copies of a value are one thing to discard."""
    view = sight.view
    own_panel(table, sight, 646, _standing(sight, 0))
    held = Counter(cards_of(view.hand))
    mechas = mechas_of(view.mechas[0])
    width, height = 96.0, 132.0
    copies = sum(held.values()) - len(held)
    step = min(40.0, (900 - (width + 8) * (len(held) + len(mechas))) / max(copies, 1))
    if step < 18:  # many different cards: smaller ones
        width, height = 66.0, 100.0
        step = min(18.0, max(900 - (width + 8) * (len(held) + len(mechas)), 0) / max(copies, 1))
    left = 26.0
    secret = Counter(cards_of(view.hand)) - Counter(cards_of(view.known[0]))
    for value, count in held.items():
        face = [s for i in range(count) for s in card_face(value, (left + i * step, 706, width, height))]
        if secret[value]:
            face.append(text(left + width / 2, 706 + height + 18, "secret", 20, PALE, room=width))
        wide = width + step * (count - 1)
        choices = [(a, words) for a, words in actions.items() if a < END_DISCARDS and int(CARD_OF[a]) == value]
        table.add(
            face, f"your {value}" + (f", {count} copies" if count > 1 else ""), choices, (left, 706, wide, height)
        )
        left += wide + 8
    for number in mechas:
        box = (left, 706.0, width - 14, height)
        _add_mecha(table, mecha_face(number, box), number, box, view, {})
        left += width - 6


def _draw_scores(table: Scene, sight: Sight) -> None:
    players = len(sight.called)
    x, y, w, _ = side_panel(table, sight, 100 + 36 * players)
    shapes: list[Shape] = [text(x + 14, y + 26, "Points now", 24, GOLD, "start")]
    if not sight.spectator:
        shapes.append(text(x + 14, y + 58 + 36 * players, "of the cards you know", 21, PALE, "start", SIDE[2] - 28))
    for k in range(players):
        height = y + 62 + 36 * k
        shapes += name_tag(sight, k, x + 14, height)
        shapes.append(text(x + w - 16, height, str(_points(sight, k)), 28, GOLD, "end"))
    words = ", ".join(f"{name} {_points(sight, k)}" for k, name in enumerate(sight.called))
    table.add(shapes, f"Points now: {words}")
