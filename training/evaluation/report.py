"""Results of tournaments as tables (plain text, Markdown, LaTeX) and pictures."""

import re
import sys
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo.envs.core.options import label

from ..runs.extras import how_to_get
from ..runs.files import replacing

Interval = Sequence[float | None]


# --- Writing tables ---


def grid(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A plain-text table; the first column is left-aligned, headings may have several lines."""
    heads = list(zip_longest(*(cell.split("\n") for cell in head), fillvalue=""))
    cells = [[str(cell) for cell in row] for row in (*heads, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells]
    lines.insert(len(heads), "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def markdown(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    cells.insert(1, ["---"] * len(cells[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def latex(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table in LaTeX; needs the package booktabs."""
    cells = [[re.sub(r"([%_&#])", r"\\\1", str(cell)).replace("–", "--") for cell in row] for row in (head, *rows)]
    first, *others = (" & ".join(row) + r" \\" for row in cells)
    columns = "l" + "r" * (len(cells[0]) - 1)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", first, r"\midrule", *others, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}"])


def percent(rate: float, interval: Interval) -> str:
    """A win rate with its interval, in per cent."""
    low, high = interval
    return f"{100 * rate:.1f} % ({100 * (low or 0):.1f}–{100 * (1 if high is None else high):.1f})"


def with_ends(value: float, interval: Interval, form: str) -> str:
    """A value with its interval; "at least" or "at most" where one end is not bounded."""
    low, high = interval
    if low == high:  # unknown, or the anchor of ratings
        return f"{value:{form}}"
    if low is None or high is None:
        return f"at most {high:{form}}" if low is None else f"at least {low:{form}}"
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def _cells(one: dict[str, Any], forms: dict[str, str]) -> list[str]:
    """Numbers of a player with their intervals, each in its form."""
    return [with_ends(one[key], one[f"{key}_interval"], form) for key, form in forms.items()]


# --- A tournament ---


def about(result: dict[str, Any]) -> str:
    """What was played, in two lines."""
    played = f"{result['games']} games, {result['deals']} deals for {result['purpose']}, seed {result['seed']}"
    return f"{result['game']} {label(result['options'], ' ')}\n{played}; 95 % intervals"


def as_text(result: dict[str, Any]) -> str:
    """Ranking and cross table of a tournament."""
    players = sorted(result["players"], key=lambda player: -player["rating"])
    forms = {"rating": "+.0f", "win_rate": ".3f", "mean_score": ".2f"}
    rows = [[one["name"], *_cells(one, forms), one["games"]] for one in players]
    ranking = grid(["", "rating", "win rate", "mean score", "games"], rows)
    pairs = {(pair["player"], pair["against"]): f"{pair['win_rate']:.3f}" for pair in result["pairs"]}
    order = [player["name"] for player in players]
    head, cross = ["", *order], [[row, *(pairs.get((row, column), "–") for column in order)] for row in order]
    payoffs, cycles = result["payoffs"], []
    if payoffs is not None and len(order) > 2:
        head += ["Nash", "average"]
        for row in cross:
            k = [player["name"] for player in result["players"]].index(row[0])
            row += [f"{payoffs['nash'][k]:.0%}", f"{payoffs['nash_averages'][k]:+.3f}"]
        cycles = [f"a cycle: {' beats '.join([*cycle, cycle[0]])}" for cycle in payoffs["cycles"]]
    chance = f"win rate of the row at tables with the column (chance level: {result['chance_level']:.3f}):"
    return "\n".join([about(result), "", ranking, "", chance, grid(head, cross), *cycles])


def protocol_text(result: dict[str, Any], write: Any) -> str:
    """Every player's win rate alone against each opponent, and its rating; `write` is `markdown` or `latex`."""
    pairs = {(pair["player"], pair["against"]): pair for pair in result["pairs"]}
    rows = []
    for one in sorted(result["players"], key=lambda player: -player["rating"]):
        found = [pairs.get((one["name"], opponent)) for opponent in result["against"]]
        cells = ["–" if pair is None else percent(pair["win_rate"], pair["interval"]) for pair in found]
        rows.append([one["name"], *cells, *_cells(one, {"rating": "+.0f"})])
    table = write(["player", *(f"against {name}" for name in result["against"]), "rating"], rows)
    note = f"{about(result)}; chance level {result['chance_level']:.1%}; MonsterZoo {result['version']}."
    mark = "% " if write is latex else ""
    return "\n".join([*(mark + line for line in note.split("\n")), "", table]) + "\n"


def plot(result: dict[str, Any], path: Path) -> None:
    """Ratings with intervals as a picture; without matplotlib there is none."""
    players = sorted(result["players"], key=lambda player: player["rating"])
    axes = _axes(7, 1.2 + 0.45 * len(players))
    if axes is None:
        return
    for height, one in enumerate(players):
        ends = [one["rating"] if end is None else end for end in one["rating_interval"]]
        low, high = one["rating_interval"]
        mark = "o" if (low is None) == (high is None) else "<" if low is None else ">"  # an arrow where nothing bounds
        axes.plot(ends, [height, height], color="tab:blue", linewidth=3, alpha=0.4)
        axes.plot(one["rating"], height, mark, color="tab:blue")
        place = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
        axes.annotate(f"{one['win_rate']:.1%}", (one["rating"], height), **place)
    axes.set_yticks(range(len(players)), [player["name"] for player in players])
    axes.set_ylim(-0.5, len(players) - 0.3)
    axes.set_xlabel(f"rating (Elo points), and win rate (chance level: {result['chance_level']:.1%})")
    axes.set_title(f"{result['game']}, {result['games']} games", fontsize=10)
    axes.grid(axis="x", alpha=0.3)
    _save(axes, path)


# --- Cross-play ---


def partners_text(result: dict[str, Any]) -> str:
    """Matrix of partners, and self-play, cross-play and gap of every player."""
    names = result["players"]
    cells = [[percent(*cell) for cell in zip(*row)] for row in zip(result["matrix"], result["intervals"])]
    forms = {"self_play": ".3f", "cross_play": ".3f", "gap": ".3f"}
    scores = [[one["name"], *_cells(one, forms)] for one in result["scores"]]
    title = f"win rate of the row and the column as partners, against {result['opponents']}:"
    matrix = grid(["", *names], [[name, *row] for name, row in zip(names, cells)])
    return "\n".join([about(result), "", title, matrix, "", grid(["", "self-play", "cross-play", "gap"], scores)])


def heat_map(result: dict[str, Any], path: Path) -> None:
    """The matrix of partners as a picture; without matplotlib there is none."""
    names, rates = result["players"], np.array(result["matrix"])
    axes = _axes(2.2 + 1.1 * len(names), 1.4 + 0.8 * len(names))
    if axes is None:
        return
    image = axes.imshow(rates, cmap="viridis", aspect="auto")
    half = np.ptp(np.array(result["intervals"], float), axis=2) / 2
    dark = rates < (rates.min() + rates.max()) / 2
    for row, column in np.ndindex(rates.shape):
        text, colour = f"{rates[row, column]:.1%}\n± {half[row, column]:.1%}", "white" if dark[row, column] else "black"
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title(f"{result['game']}: wins of two partners against {result['opponents']}", fontsize=10)
    axes.figure.colorbar(image, ax=axes, label="win rate")
    _save(axes, path)


def _axes(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no picture: {how_to_get('matplotlib')}", file=sys.stderr)
        return None
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def _save(axes: Any, path: Path) -> None:
    with replacing(path) as part:
        axes.figure.savefig(part, format="png", dpi=150)
