"""What every table has: the felt, a header, a panel for each other seat, buttons, scores and the last moves."""

from collections.abc import Iterable, Sequence

from .scene import HEIGHT, WIDTH, Box, Scene, Shape, Sight, circle, polygon, rect, stroke, text, wrapped

FELT, DARK, PANEL, EDGE = "#123c36", "#0b2522", "#1b4d45", "#3c7a6f"
PAPER, INK, PALE, GOLD = "#fbf7ea", "#1d2426", "#cfe3dc", "#ffd257"
SEATS = ("#f2b84b", "#67bdf0", "#f08fae", "#9bd872")
"""Colours of the seats, by their numbers at the table."""

BOARD: Box = (12, 64, 936, 884)
SIDE: Box = (960, 64, 308, 884)
BAR: Box = (12, 892, 936, 56)
TOP = 190
"""Height of the panels of the other seats."""
LINE = 26
"""Height of a line of text in the side panel."""


def begin(sight: Sight, title: str, status: str) -> Scene:
    """An empty table with its header."""
    scene = Scene(title)
    scene.add([rect((0, 0, WIDTH, HEIGHT), FELT, corner=0), rect((0, 0, WIDTH, 54), DARK, corner=0)])
    scene.add([text(20, 28, title, 32, GOLD, "start"), text(WIDTH - 20, 28, status, 26, PALE, "end", 820)], status)
    return scene


def seat_boxes(players: int, height: float = TOP) -> list[Box]:
    """Where the other seats sit, clockwise from the observer: side by side along the top of the board."""
    x, y, w, _ = BOARD
    width = (w - 10 * (players - 2)) / (players - 1)
    return [(x + k * (width + 10), y, width, height) for k in range(players - 1)]


def seat_panel(scene: Scene, sight: Sight, k: int, box: Box, note: str, more: str = "") -> None:
    """The place of a seat: its name, notes on the right above and below, a bright edge where it has to decide."""
    x, y, w, h = box
    deciding = k in sight.deciding
    edge, width = (GOLD, 5) if deciding else (EDGE, 2)
    said = ", ".join(words for words in (note, more) if words)
    label = f"{sight.called[k]}{', has to decide' if deciding else ''}{': ' if said else ''}{said}"
    scene.add([rect(box, PANEL, edge, width, 12), *name_tag(sight, k, x + 14, y + 22, w * 0.44)], label)
    scene.add([text(x + w - 14, y + 22, note, 24, PALE, "end", w * 0.56 - 30)])
    if more:
        scene.add([text(x + w - 14, y + h - 28, more, 22, GOLD, "end")])


def own_panel(scene: Scene, sight: Sight, top: float, note: str = "") -> None:
    """The observer's own place, at the bottom of the board."""
    x, _, w, _ = BOARD
    edge, width = (GOLD, 5) if 0 in sight.deciding else (EDGE, 2)
    box = (x, top, w, BAR[1] - 8 - top)
    label = f"{sight.called[0]}{': ' if note else ''}{note}"
    scene.add([rect(box, PANEL, edge, width, 12), *name_tag(sight, 0, x + 16, top + 26)], label)
    scene.add([text(x + w - 16, top + 26, note, 26, PALE, "end")])


def name_tag(sight: Sight, k: int, x: float, y: float, room: float = 200) -> list[Shape]:
    """A dot in the seat's colour and its name; a star for who has won."""
    won = sight.winners is not None and k in sight.winners
    colour = SEATS[sight.number(k)]
    return [
        star(x + 8, y, 14, GOLD) if won else circle(x + 8, y, 9, colour, DARK),
        text(x + 26, y, sight.called[k], 24, GOLD if won else "#ffffff", "start", room - 26),
    ]


def heading(x: float, y: float, words: str, room: float = 0) -> Shape:
    """A small heading on the felt."""
    return text(x, y, words, 22, PALE, "start", room)


def turn_of(name: str) -> str:
    """Whose turn it is, in words."""
    return "Your turn" if name == "you" else f"Turn of {name}"


def back(box: Box) -> list[Shape]:
    """The back of a card."""
    x, y, w, h = box
    inner = (x + 4, y + 4, w - 8, h - 8)
    return [rect(box, "#3b3566", PAPER, 2, 6), rect(inner, None, "#8f86d6", 2, 4)]


def backs(count: int, box: Box, size: tuple[float, float] = (34, 46), step: float = 22) -> list[Shape]:
    """Some cards face down in a row that fits into a box, with their number behind them."""
    x, y, w, _ = box
    if not count:
        return []
    step = min(step, (w - 70 - size[0]) / max(count - 1, 1))
    shapes = [shape for i in range(count) for shape in back((round(x + i * step, 1), y, *size))]
    end = x + (count - 1) * step + size[0]
    return [*shapes, text(end + 8, y + size[1] / 2, f"× {count}", 24, PALE, "start")]


def in_row(count: int, left: float, room: float, size: float, gap: float = 8) -> list[float]:
    """The left edges of things in a row, closer together where they would not fit."""
    step = min(size + gap, (room - size) / max(count - 1, 1))
    return [round(left + i * step, 1) for i in range(count)]


def ask(scene: Scene, sight: Sight, prompt: str, buttons: Sequence[tuple[int, str, str]]) -> None:
    """What the observer is asked, and a button (action, caption, words) for what no part of the table stands for."""
    x, y, w, h = BAR
    if sight.winners is not None:
        names = " and ".join(sight.called[k] for k in sight.winners)
        prompt = f"The game is over: {names or 'nobody'} won." if sight.winners else "The game is over: nobody won."
    scene.prompt = prompt
    right, shapes = x + w, []
    for action, caption, words in reversed(buttons):
        width = max(120, len(caption) * 13.5 + 36)
        box = (right - width, y + 4, width, h - 8)
        face = [
            rect(box, "#2f6fb5", "#ffffff", 2, 10),
            text(box[0] + width / 2, y + h / 2, caption, 24, room=width - 20),
        ]
        shapes.append((face, words, [(action, words)], box))
        right -= width + 12
    mine = bool(sight.legal) or sight.winners is not None
    scene.add([text(x + 8, y + h / 2, prompt, 26, GOLD if mine else PALE, "start", right - x - 20)], prompt)
    for shapes_, label, actions, box in reversed(shapes):
        scene.add(shapes_, label, actions, box)


def side_panel(scene: Scene, sight: Sight, height: float) -> Box:
    """The panel on the right: room for scores above, the last moves below; returns the room above."""
    x, y, w, h = SIDE
    scene.add([rect((x, y, w, height), PANEL, EDGE, 2, 12)])
    top = y + height + 10
    room = h - height - 10
    scene.add([rect((x, top, w, room), DARK, EDGE, 2, 12), text(x + 14, top + 22, "Last moves", 22, GOLD, "start")])
    lines = told_lines(sight, w - 40, int((room - 50) // LINE))
    shapes: list[Shape] = []
    for i, (line, first, colour) in enumerate(lines):
        height_ = top + 56 + i * LINE
        if first:
            shapes.append(circle(x + 18, height_, 5, colour))
        shapes.append(text(x + 32, height_, line, 21, "#ffffff" if first else PALE, "start", w - 44))
    scene.add(shapes, "Last moves: " + "; ".join(one.text for one in sight.told[-8:]))
    return (x, y, w, height)


def told_lines(sight: Sight, room: float, most: int) -> list[tuple[str, bool, str]]:
    """The last moves as lines: text, whether it begins a move, and the colour of who made it."""
    lines: list[tuple[str, bool, str]] = []
    for one in reversed(sight.told):
        colour = SEATS[sight.number(one.seat)] if one.seat >= 0 else PALE
        block = [(line, i == 0, colour) for i, line in enumerate(wrapped(one.text, 21, room))]
        if len(lines) + len(block) > most:
            break
        lines = block + lines
    return lines


def star(x: float, y: float, size: float, fill: str) -> Shape:
    """A star of five points."""
    points = [
        (0, -1), (0.24, -0.32), (0.95, -0.31), (0.38, 0.12), (0.59, 0.81),
        (0, 0.4), (-0.59, 0.81), (-0.38, 0.12), (-0.95, -0.31), (-0.24, -0.32),
    ]  # fmt: skip
    return polygon([(x + size * px, y + size * py) for px, py in points], fill)


def heart(x: float, y: float, size: float, fill: str) -> Shape:
    """A heart."""
    points = [
        (0, 0.9), (-0.55, 0.35), (-0.9, -0.1), (-0.92, -0.5), (-0.7, -0.8), (-0.35, -0.82), (-0.08, -0.6), (0, -0.4),
        (0.08, -0.6), (0.35, -0.82), (0.7, -0.8), (0.92, -0.5), (0.9, -0.1), (0.55, 0.35),
    ]  # fmt: skip
    return polygon([(x + size * px, y + size * py) for px, py in points], fill)


def cross_out(box: Box, line: str, width: float = 4) -> list[Shape]:
    """Two strokes across a box."""
    x, y, w, h = box
    return [stroke([(x, y), (x + w, y + h)], line, width), stroke([(x + w, y), (x, y + h)], line, width)]


def fallback(sight: Sight, title: str, lines: Iterable[str]) -> Scene:
    """The table of a game that draws none: what is known in words, and a button for every action."""
    scene = begin(sight, title, f"{sight.called[0]}")
    side_panel(scene, sight, 60)
    x, y, w, _ = BOARD
    room = 420 if sight.legal else 800
    broken = [part for line in lines for part in (wrapped(line, 22, w - 40) if line.strip() else [""])]
    size = min(22.0, 22 * room / (28 * max(len(broken), 1)))
    step = size * 28 / 22
    scene.add([rect((x, y, w, room), PANEL, EDGE, 2, 12)])
    for i, line in enumerate(broken):
        scene.add([text(x + 16, y + 24 + i * step, line, size, "#ffffff", "start", w - 32)], line)
    columns = 2 if len(sight.legal) <= 16 else 4
    rows = max(-(-len(sight.legal) // columns), 1)
    height = min(48.0, (HEIGHT - room - y - 90) / rows)
    for i, (action, name) in enumerate(sight.legal):
        box = (x + i % columns * (w / columns), y + room + 12 + i // columns * height, w / columns - 8, height - 6)
        shown = text(box[0] + box[2] / 2, box[1] + box[3] / 2, name, min(24, height * 0.6), room=box[2] - 12)
        scene.add([rect(box, "#2f6fb5", "#ffffff", 2, 8), shown], name, [(action, name)], box)
    ask(scene, sight, "Choose an action" if sight.legal else "", ())
    return scene
