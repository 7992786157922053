"""What every drawn table has: a header, a panel for each seat around the middle, buttons, scores, the last moves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .scene import FRAME, HEIGHT, WIDTH, Box, Perspective, Scene, Shape, circle, rect, star, stroke, text, wrapped

FELT, DARK, PANEL, EDGE = "#123c36", "#0b2522", "#1b4d45", "#3c7a6f"
PAPER, INK, PALE, GOLD, BUTTON = "#fbf7ea", "#1d2426", "#cfe3dc", "#ffd257", "#2f6fb5"
SEATS = ("#f2b84b", "#67bdf0", "#f08fae", "#9bd872")
"""Colours of the seats, by their numbers at the table."""

BOARD: Box = (8, 58, 1264, 694)
BAR: Box = (8, 700, 1264, 50)
STRIP: Box = (8, 758, 1264, 196)
"""Below the board: scores and the last moves."""
MIDDLE: Box = (252, 204, 776, 300)
"""Between the seats."""
SIDEWAYS = 236
"""Width of the seats on the left and on the right of four."""
LINE = 25
"""Height of a line of text in the strip."""


class TableScene(Scene):
    """A table seen from one perspective; `actions` says in words what each legal action does.

    `deciding` are the seats that have to decide, where everybody can see that; else they are as the perspective has it.
    """

    def __init__(
        self,
        seen: Perspective,
        title: str,
        status: str,
        actions: Mapping[int, str],
        deciding: Iterable[int] | None = None,
    ) -> None:
        super().__init__(title, status=status, board=(4, BOARD[1] - 2, WIDTH - 8, BOARD[3] + 4))
        self.seen = seen if deciding is None else replace(seen, deciding=frozenset(deciding))
        self.view, self.names, self.players = seen.view, seen.names, len(seen.names)
        self.actions = actions
        self.add([rect((0, 0, WIDTH, HEIGHT), FELT, corner=0), rect((0, 0, WIDTH, 54), DARK, corner=0)], key=FRAME)
        head = [text(20, 28, title, 32, GOLD, "start"), text(WIDTH - 20, 28, status, 26, PALE, "end", 820)]
        self.add(head, status, key=FRAME)

    def choices(self, *wanted: int) -> list[tuple[int, str]]:
        """Those of some actions that are legal, with what they do."""
        return [(action, self.actions[action]) for action in wanted if action in self.actions]

    def colour(self, k: int) -> str:
        """The colour of a seat."""
        return SEATS[self.seen.number(k)]

    def seat_boxes(self, bottom: float, height: float = 134) -> list[Box]:
        """Where the other seats sit around the table, clockwise from the observer; of four the third one opposite."""
        x, y, w, _ = BOARD
        if self.players == 4:
            sides: Box = (x, y + 4, SIDEWAYS, bottom - y - 12)
            top: Box = (MIDDLE[0], y + 4, MIDDLE[2], height)
            return [sides, top, (x + w - SIDEWAYS, *sides[1:])]
        width = (w - 8 * (self.players - 2)) / (self.players - 1)
        return [(x + k * (width + 8), y + 4, width, height) for k in range(self.players - 1)]

    def add_seat(self, k: int, box: Box, note: str, more: str = "") -> None:
        """The panel of another seat: its name, notes on the right above and below, a bright edge while it decides."""
        x, y, w, h = box
        said = ", ".join(words for words in (note, more) if words)
        decides = ", has to decide" if k in self.seen.deciding else ""
        label = f"{self.names[k]}{decides}{': ' if said else ''}{said}"
        self.add([self._panel(k, box), *self.name_tag(k, x + 14, y + 22)], label, key=f"seat {k}")
        place = (x + 14, y + h - 26, note, 22, PALE, "start") if w < h else (x + w - 14, y + 22, note, 22, PALE, "end")
        self.add([text(*place)])
        if more:
            self.add([text(x + w - 14, y + h - 26, more, 22, GOLD, "end")])

    def add_own_seat(self, top: float, note: str = "") -> None:
        """The observer's own panel, at the bottom of the board, from `top` on."""
        x, _, w, _ = BOARD
        label = f"{self.names[0]}{': ' if note else ''}{note}"
        panel = self._panel(0, (x, top, w, BAR[1] - 8 - top))
        self.add([panel, *self.name_tag(0, x + 16, top + 24)], label, key="seat 0")
        self.add([text(x + w - 16, top + 24, note, 24, PALE, "end")])

    def _panel(self, k: int, box: Box) -> Shape:
        edge, width = (GOLD, 5) if k in self.seen.deciding else (EDGE, 2)
        return rect(box, PANEL, edge, width, 12)

    def name_tag(self, k: int, x: float, y: float) -> list[Shape]:
        """A dot in the seat's colour and its name; a star for who has won."""
        won = self.seen.winners is not None and k in self.seen.winners
        return [
            star(x + 8, y, 14, GOLD) if won else circle(x + 8, y, 9, self.colour(k), DARK),
            text(x + 26, y, self.names[k], 24, GOLD if won else "#ffffff", "start", 174),
        ]

    def add_heading(self, x: float, y: float, words: str, room: float = 0, label: str = "") -> None:
        """A small heading on the felt."""
        self.add([text(x, y, words, 22, PALE, "start", room)], label)

    def ask(self, prompt: str, captions: Mapping[int, str] | None = None, lesson: str = "") -> None:
        """What the observer is asked, with a button for each legal action of `captions`."""
        x, y, w, h = BAR
        winners = self.seen.winners
        if winners is not None:
            prompt = f"The game is over: {' and '.join(self.names[k] for k in winners) or 'nobody'} won."
        self.prompt, self.lesson = prompt, lesson if self.seen.legal else ""
        captions = {action: words for action, words in (captions or {}).items() if action in self.actions}
        widths = [max(120, len(words) * 13.5 + 36) for words in captions.values()]
        left = x + w - sum(widths) - 12 * len(widths)
        bright = bool(self.seen.legal) or winners is not None
        self.add([text(x + 8, y + h / 2, prompt, 26, GOLD if bright else PALE, "start", left - x - 20)], prompt)
        for (action, caption), width in zip(captions.items(), widths):
            box = (left + 12, y + 4, width, h - 8)
            self.add(_button(box, caption, 24, 10, width - 20), self.actions[action], self.choices(action), box)
            left += width + 12

    def add_strip(self, head: Sequence[str] = (), rows: Iterable[Sequence[str]] = ()) -> None:
        """Below the board: the scores as a table, and the last moves."""
        x, y, w, h = STRIP
        self.scores = (tuple(head), *map(tuple, rows)) if head else ()
        left = x
        if columns := list(zip(*self.scores)):
            widths = [max(12.0 * len(cell) + 22 for cell in column) for column in columns]
            widths[widths.index(max(widths))] -= max(sum(widths) - 0.7 * w, 0)  # the widest has to make room
            left = x + sum(widths) + 28
            shapes = [rect((x, y, left - x - 8, h), PANEL, EDGE, 2, 12)]
            edge = x + 14.0
            for column, width in zip(columns, widths):
                shapes += [
                    text(edge, y + 24 + 34 * row, cell, 22, "#ffffff" if row else GOLD, "start", width - 12)
                    for row, cell in enumerate(column)
                ]
                edge += width
            said = (", ".join(f"{k} {v}" for k, v in zip(head, row) if v) for row in self.scores[1:])
            self.add(shapes, "; ".join(said), key=FRAME)
        w -= left - x
        shapes = [rect((left, y, w, h), DARK, EDGE, 2, 12)]
        for i, (line, first, colour) in enumerate(self._event_lines(w - 40, int((h - 12) // LINE))):
            middle = y + 22 + i * LINE
            if first:
                shapes.append(circle(left + 18, middle, 5, colour))
            shapes.append(text(left + 32, middle, line, 21, "#ffffff" if first else PALE, "start", w - 44))
        self.add(shapes, "Last moves: " + "; ".join(event.text for event in self.seen.events[-8:]), key=FRAME)

    def _event_lines(self, room: float, most: int) -> list[tuple[str, bool, str]]:
        """The last moves as lines: text, whether it begins a move, and the colour of who made it."""
        lines: list[tuple[str, bool, str]] = []
        for event in reversed(self.seen.events):
            colour = self.colour(event.seat) if event.seat >= 0 else PALE
            block = [(line, i == 0, colour) for i, line in enumerate(wrapped(event.text, 21, room))]
            if len(lines) + len(block) > most:
                break
            lines = block + lines
        return lines


def turn_of(name: str) -> str:
    """Whose turn it is, in words."""
    return "Your turn" if name == "you" else f"Turn of {name}"


def back(box: Box) -> list[Shape]:
    """The back of a card."""
    x, y, w, h = box
    return [rect(box, "#3b3566", PAPER, 2, 6), rect((x + 4, y + 4, w - 8, h - 8), None, "#8f86d6", 2, 4)]


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


def cross_out(box: Box, line: str, width: float = 4) -> list[Shape]:
    """Two strokes across a box."""
    x, y, w, h = box
    return [stroke([(x, y), (x + w, y + h)], line, width), stroke([(x + w, y), (x, y + h)], line, width)]


def _button(box: Box, caption: str, size: float, corner: float, room: float) -> list[Shape]:
    x, y, w, h = box
    return [rect(box, BUTTON, "#ffffff", 2, corner), text(x + w / 2, y + h / 2, caption, size, room=room)]


def text_table(seen: Perspective, title: str, lines: Iterable[str]) -> Scene:
    """The table of a game that draws none: what is known in words, and a button for every action."""
    scene = TableScene(seen, title, seen.names[0], dict(seen.legal))
    scene.add_strip()
    x, y, w, _ = BOARD
    room = 300 if seen.legal else 620
    broken = [part for line in lines for part in wrapped(line, 22, w - 40)]
    size = min(22.0, 22 * room / (28 * max(len(broken), 1)))
    step = size * 28 / 22
    scene.add([rect((x, y, w, room), PANEL, EDGE, 2, 12)])
    for i, line in enumerate(broken):
        scene.add([text(x + 16, y + 24 + i * step, line, size, "#ffffff", "start", w - 32)], line)
    columns = 2 if len(seen.legal) <= 16 else 4
    rows = max(-(-len(seen.legal) // columns), 1)
    height = min(48.0, (BAR[1] - room - y - 20) / rows)
    for i, (action, name) in enumerate(seen.legal):
        box = (x + i % columns * (w / columns), y + room + 12 + i // columns * height, w / columns - 8, height - 6)
        scene.add(_button(box, name, min(24, height * 0.6), 8, box[2] - 12), name, [(action, name)], box)
    scene.ask("Choose an action" if seen.legal else "")
    return scene
