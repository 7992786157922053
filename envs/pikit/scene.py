"""Pikit as a picture: the table from one perspective."""

from collections import Counter
from functools import lru_cache
from typing import Any

from ..core.bits import members
from ..render.parts import DARK, EDGE, GOLD, INK, PALE, PAPER, TableScene, back, turn_of
from ..render.scene import Box, Part, Perspective, Scene, Shape, circle, polygon, rect, text
from . import rules
from .events import EFFECT_WORDS
from .text import cards_of

COLOURS = (
    "", "#7a8a2e", "#2f7fc1", "#b03a3a", "#7b4bb3", "#1f8f78", "#4b5563", "#c06b14", "#2f8a3c", "#a8327e", "#c2410c",
    "#8a1c1c",
)  # fmt: skip
"""Of the kaiju, by value."""
DOES = (
    "", "most 1s", "reroll", "wounds", "steal", "draw", "cancel", "turn die", "all 8s", "wild", "wild", "wild",
)  # fmt: skip
HELP = (
    "",
    "Whoever has the most 1s at the end gets 15 points.",
    "Discard it to reroll one die or both.",
    "Whoever steals it discards it at once and is wounded: -3 points.",
    "Discard it to steal a random card of another player.",
    "Discard it to draw the top card of the deck secretly.",
    "Discard it at any time to cancel another player's discard.",
    "Discard it to turn one die to any face.",
    "Taken from the centre together with all other 8s there.",
    *("Wild: discard it for the effect of a 2, 4, 5, 6 or 7.",) * 3,
)
"""What each kaiju does; every card is also worth its value at the end."""
MECHA_HELP = "15 points at the end. Rolling its double takes it, or steals a card from who holds it."
LESSONS = (
    "You may discard cards for their effects, to change the dice or to get cards, but every card is worth its value at "
    "the end. Then end the discards and take what the dice allow.",
    "Another player's discard is about to take effect. A 6 or a wild card cancels it; that card is then gone.",
    "Take one thing: a card worth the sum, the difference or one of the dice, two cards with both dice, or a mecha "
    "with a double. Most points win when the deck is empty.",
)
"""What to do and what for, by phase."""
CAPTIONS = {
    rules.END_DISCARDS: "End discards", rules.ACCEPT: "Accept", rules.TAKE_BOTH: "Take both",
    rules.TAKE_NOTHING: "Take nothing",
}  # fmt: skip
OWN = 512
"""Where the observer's own panel begins."""
CARD = (84.0, 102.0)


# --- Words ---


def spoken(view: Any, action: int, names: tuple[str, ...]) -> str:
    """What choosing an action does, in words."""
    low, high = int(view.low), int(view.high)
    if action < rules.END_DISCARDS:
        return f"Discard the {rules.CARD_OF[action]}: {effect_words(view, action % rules.EFFECTS, names)}"
    return {
        rules.END_DISCARDS: "End the discards and take from the centre",
        rules.ACCEPT: "Accept the discard",
        rules.TAKE_SUM: f"Take the {low + high}, the sum of the dice",
        rules.TAKE_DIFFERENCE: f"Take the {high - low}, the difference of the dice",
        rules.TAKE_LOW: f"Take the {low}, the low die",
        rules.TAKE_HIGH: f"Take the {high}, the high die",
        rules.TAKE_BOTH: f"Take both, the {low} and the {high}",
        rules.TAKE_MECHA: f"Take the mecha {low}-{low}",
        rules.STEAL_MECHA: f"Steal a random card from who holds the mecha {low}-{low}",
        rules.TAKE_NOTHING: "Take nothing",
    }[action]


def effect_words(view: Any, effect: int, names: tuple[str, ...]) -> str:
    """An effect of the turn player's discard, in words."""
    turn = int(view.turn_player)
    return EFFECT_WORDS[effect].format(*names[turn:], *names[:turn])


# --- The table ---


def scene(seen: Perspective) -> Scene:
    """The table from one perspective."""
    view, turn = seen.view, int(seen.view.turn_player)
    reacting = view.phase == rules.REACT
    phase = ("discards", "a discard waits for reactions", "taking from the centre")[int(view.phase)]
    status = f"{turn_of(seen.names[turn])}: {phase}"
    if view.last_turns:
        status += f", last turns: {int(view.last_turns)}"
    actions = {action: spoken(view, action, seen.names) for action, _ in seen.legal}
    visible = None if reacting or seen.winners is not None else [turn]  # whose turn it is everybody can see
    table = TableScene(seen, "Pikit", status, actions, visible)
    for k, box in enumerate(table.seat_boxes(OWN), 1):
        _draw_other(table, k, box)
    _draw_dice(table)
    _draw_centre(table)
    _draw_supply(table)
    _draw_pending(table)
    _draw_own(table)
    table.add_strip(*_scores(seen))
    table.ask(_prompt(seen), CAPTIONS, LESSONS[int(view.phase)])
    table.skip = reacting and not seen.legal  # who can cancel is nobody else's business
    return table


def _prompt(seen: Perspective) -> str:
    phase = int(seen.view.phase)
    if not seen.legal:
        return "Waiting for reactions" if phase == rules.REACT else f"Waiting for {seen.names[seen.view.turn_player]}"
    return (
        "Discard cards for their effects, or end",
        "Cancel this discard with a 6 or a wild card?",
        "Take one thing the dice allow",
    )[phase]


@lru_cache(4096)
def card_face(value: int, box: Box) -> tuple[Shape, ...]:
    """A kaiju."""
    x, y, w, h = box
    colour = COLOURS[value]
    cx, cy, r = x + w * 0.56, y + h * 0.58, w * 0.25
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
        text(x + 9, y + 22, str(value), 32, colour, "start"),
        text(x + w / 2, y + h - 14, DOES[value], 21, INK, room=w - 8),
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


def sample_cards(options: dict[str, Any]) -> list[Part]:
    """Every kaiju and a mecha, with what they do."""
    box = (0.0, 0.0, *CARD)
    kaiju = [Part(card_face(value, box), f"kaiju {value}", box=box, help=HELP[value]) for value in range(1, 12)]
    return [*kaiju, Part(tuple(mecha_face(1, box)), "mecha", box=box, help=MECHA_HELP)]


def chip(words: str, colour: str, x: float, y: float, width: float = 38) -> list[Shape]:
    """A card in a small space."""
    return [rect((x, y, width, 38), colour, "#ffffff", 2, 7), text(x + width / 2, y + 20, words, 25, room=width - 6)]


def _draw_other(table: TableScene, k: int, box: Box) -> None:
    """Another seat: the kaiju it is known to hold, its secret ones, mechas, wounds."""
    view, name, (x, y, w, h) = table.view, table.names[k], box
    wounds = int(view.wounds[k])
    table.add_seat(k, box, f"{_points(table.seen, k)} points", f"{wounds} wound{'s' * (wounds > 1)}" if wounds else "")
    shown = table.seen.views[k]
    held = Counter(cards_of(view.known[k] if shown is None else shown.hand))
    unknown = int(view.unknown[k]) if shown is None else 0
    left, top = x + 12, y + 44
    for value, count in held.items():
        width = 38 if count == 1 else 62
        if left + width > x + w - 8:
            left, top = x + 12, top + 44
        face = chip(f"{value}" if count == 1 else f"{value} ×{count}", COLOURS[value], left, top, width)
        more = {"help": HELP[value], "key": f"kaiju {k} {value}", "origin": f"centre {value}"}
        table.add(face, f"{name} holds {count} × {value}", (), None, **more)
        left += width + 6
    if unknown:
        if left + 70 > x + w:
            left, top = x + 12, top + 44
        face = [*back((left, top, 30, 38)), text(left + 36, top + 20, f"×{unknown}", 24, PALE, "start")]
        table.add(face, f"{name} holds {unknown} unknown cards", help="Only the player knows which.")
    for i, number in enumerate(members(view.mechas[k])):
        left, top = (x + 12 + i % 4 * 48, y + h - 130 + i // 4 * 42) if w < h else (x + w / 2 + i * 48, y + 88)
        _add_mecha(table, chip(f"{number}-{number}", "#46525c", left, top, 44), number, (left, top, 44.0, 38.0))


def _add_mecha(table: TableScene, face: list[Shape], number: int, box: Box) -> None:
    """A mecha, with taking or stealing where the dice show its double."""
    choices = table.choices(rules.TAKE_MECHA, rules.STEAL_MECHA) if number == int(table.view.low) else []
    table.add(face, f"mecha {number}-{number}", choices, box, help=MECHA_HELP, key=f"mecha {number}")


def _points(seen: Perspective, k: int) -> int:
    shown = seen.views[k]
    return int(seen.view.scores[k]) if shown is None else int(shown.scores[0])


def _scores(seen: Perspective) -> tuple[list[str], list[list[str]]]:
    """The points of every seat, as far as its cards are known, with where they come from."""
    view, rows = seen.view, []
    for k, (name, shown) in enumerate(zip(seen.names, seen.views)):
        kaiju = sum(cards_of(view.known[k] if shown is None else shown.hand))
        mechas = rules.MECHA_POINTS * len(members(view.mechas[k]))
        wounds = rules.WOUND_POINTS * int(view.wounds[k])
        ones = _points(seen, k) - kaiju - mechas + wounds
        secret = f" + {int(view.unknown[k])} secret" if shown is None and view.unknown[k] else ""
        cells = [f"{kaiju}{secret}", str(mechas), str(ones), str(-wounds), f"{_points(seen, k)}{' + ?' * bool(secret)}"]
        rows.append([name, *cells])
    return ["player", "kaiju", "mechas", "most 1s", "wounds", "points"], rows


def _draw_dice(table: TableScene) -> None:
    view = table.view
    for x, face, die in ((262, int(view.low), "low"), (354, int(view.high), "high")):
        table.add(_die(face, (x, 354, 84, 84)), f"{die} die: {face}", key=f"die {die} {face}", origin=f"die {die}")
    table.add_heading(262, 340, turn_of(table.names[view.turn_player]), 180)


def _die(face: int, box: Box) -> list[Shape]:
    x, y, w, h = box
    spots = {
        1: [(0, 0)], 2: [(-1, -1), (1, 1)], 3: [(-1, -1), (0, 0), (1, 1)], 4: [(-1, -1), (1, 1), (-1, 1), (1, -1)],
        5: [(-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)], 6: [(s, t) for s in (-1, 1) for t in (-1, 0, 1)],
    }[face]  # fmt: skip
    pips = [circle(x + w / 2 + s * w * 0.27, y + h / 2 + t * h * 0.27, w * 0.1, INK) for s, t in spots]
    return [rect(box, "#ffffff", INK, 3, 16), *pips]


def _draw_centre(table: TableScene) -> None:
    """The cards in the centre; copies of a value are one thing to take."""
    low, high = int(table.view.low), int(table.view.high)
    taken = {rules.TAKE_SUM: low + high, rules.TAKE_DIFFERENCE: high - low, rules.TAKE_LOW: low, rules.TAKE_HIGH: high}
    table.add_heading(262, 212, "Centre")
    left = 262.0
    for value, count in Counter(cards_of(table.view.centre)).items():
        face = [shape for i in range(count) for shape in card_face(value, (left + 92 * i, 225, *CARD))]
        choices = table.choices(*(action for action, wanted in taken.items() if wanted == value))
        box = (left, 225.0, 92 * count - 8.0, CARD[1])
        table.add(face, f"centre: {count} × {value}", choices, box, help=HELP[value], key=f"centre {value}")
        left += 92 * count


def _draw_supply(table: TableScene) -> None:
    """Mechas on the table, the deck, the discards."""
    view = table.view
    table.add_heading(462, 340, "Mechas to take")
    for i, number in enumerate(members(view.mechas_on_table)):
        box = (462 + 65.0 * i, 354.0, 60.0, 84.0)
        _add_mecha(table, mecha_face(number, box), number, box)
    deck = int(view.deck)
    table.add_heading(862, 340, "Deck")
    table.add(back((862, 354, 62, 84)) if deck else [rect((862, 354, 62, 84), None, EDGE)])
    table.add([rect((868, 378, 50, 36), DARK), text(893, 397, str(deck), 28)], f"deck: {deck} cards")
    pile = cards_of(view.discard_pile)
    table.add_heading(936, 340, "Discards")
    table.add([rect((946, 354, 62, 84), None, EDGE, 3)])
    table.add([text(977, 397, str(len(pile)), 32, PALE)], f"discards: {' '.join(map(str, pile)) or 'none'}")


def _draw_pending(table: TableScene) -> None:
    """The discard that waits for reactions, with the cancels on it; else what was discarded so far."""
    view, names, box = table.view, table.names, (262.0, 450.0, 758.0, 52.0)
    if view.pending_effect == rules.NONE:
        counts = Counter(cards_of(view.discard_pile))
        words = "  ".join(f"{value}×{count}" for value, count in counts.items()) or "nothing yet"
        table.add([rect(box, DARK, EDGE, 2, 10), text(276, 477, "Discarded", 22, PALE, "start")])
        table.add([text(392, 477, words, 22, "#ffffff", "start", 620)])
        return
    who, card = int(view.turn_player), int(view.pending_card)
    words = f"{names[who]}: {card} to {effect_words(view, int(view.pending_effect), names)}"
    laid = [f"{int(count)} by {name}" for name, count in zip(names, view.cancels) if count]
    note = f"cancels: {', '.join(laid)}" if laid else "no cancel yet"
    shapes = [
        rect(box, "#4a2323", GOLD, 3, 10),
        *chip(str(card), COLOURS[card], 274, 457),
        text(326, 477, words, 23, "#ffffff", "start", 430),
        text(1006, 477, note, 21, PALE, "end", 240),
    ]
    table.add(shapes, f"pending: {words}; {note}", help=HELP[card])


def _draw_own(table: TableScene) -> None:
    """The observer's own hand; copies of a value are one thing to discard."""
    view = table.view
    wounds = int(view.wounds[0])
    hurt = f", {wounds} wound{'s' if wounds > 1 else ''}" if wounds else ""
    table.add_own_seat(OWN, f"{_points(table.seen, 0)} points{hurt}")
    held = Counter(cards_of(view.hand))
    mechas = members(view.mechas[0])
    width, height, top = 96.0, 112.0, OWN + 42.0
    copies, room = sum(held.values()) - len(held), 1240.0
    step = min(40.0, (room - (width + 8) * (len(held) + len(mechas))) / max(copies, 1))
    if step < 18:  # many different cards: smaller ones
        width = 72.0
        step = min(18.0, max(room - (width + 8) * (len(held) + len(mechas)), 0) / max(copies, 1))
    left = 22.0
    secret = held - Counter(cards_of(view.known[0]))
    for value, count in held.items():
        face = [s for i in range(count) for s in card_face(value, (left + i * step, top, width, height))]
        if secret[value]:
            face.append(text(left + width / 2, top + height + 13, "secret", 20, PALE, room=width))
        wide = width + step * (count - 1)
        choices = table.choices(*(action for action in range(rules.END_DISCARDS) if rules.CARD_OF[action] == value))
        label = f"your {value}" + (f", {count} copies" if count > 1 else "")
        more = {"help": HELP[value], "key": f"kaiju 0 {value}", "origin": f"centre {value}"}
        table.add(face, label, choices, (left, top, wide, height), **more)
        left += wide + 8
    for number in mechas:
        face = mecha_face(number, (left, top, width - 14, height))
        table.add(face, f"mecha {number}-{number}", help=MECHA_HELP, key=f"mecha {number}")
        left += width - 6
