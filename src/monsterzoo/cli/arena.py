"""`monsterzoo arena`: a tournament on the command line, with its tables, files and picture."""

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING
from pathlib import Path
from time import monotonic
from typing import Any

from monsterzoo.envs.core.options import Option, Specs, Switch, Text, label
from monsterzoo.training.arena import ArenaOptions, Tournament, enter
from monsterzoo.training.evaluation.tournament import MOST_GAMES, USUAL_GAMES, Spread
from monsterzoo.training.runs.extras import how_to_get
from monsterzoo.training.runs.files import replacing, write_json

from .options import RAY, Parser, chosen_variant, flags_of, uses_ray

LIVE_SECONDS, PLAIN_SECONDS = 0.5, 10.0


OPTIONS = {
    "policies": Option(MISSING, Specs(), "who plays, see below"),
    "alone": Option(None, Text("POLICY"), "this one has one side at every table, the others the rest"),
    "output": Option(None, Text("PATH"), "PATH.json the result, PATH.png a plot, PATH.npz all games; resumes"),
    "quiet": Option(False, Switch(), "no progress"),
}


def main(words: Sequence[str]) -> int:
    """Play, print, write; 130 or 143 after an interruption, with what was finished printed and written all the same."""
    about = "Let policies play against each other and rank them."
    tournament_flags = flags_of(ArenaOptions, games=f"{USUAL_GAMES}, or at most {MOST_GAMES} with --until-interval")
    parsed = Parser("arena", about, OPTIONS, tournament_flags, RAY, policies=True).read(words)
    options = ArenaOptions(**{name: value for name, value in parsed.given.items() if name in tournament_flags})
    variant = chosen_variant(parsed)
    names, policies = enter(variant, parsed.policies, options.seed)
    alone = names[parsed.policies.index(parsed.alone)] if parsed.alone in parsed.policies else parsed.alone
    tournament = Tournament(variant, names, options.seed, alone)
    stem = Path(parsed.output).with_suffix("") if parsed.output is not None else None
    record = stem.with_name(stem.name + ".npz") if stem is not None else None
    if record is not None and record.exists():
        tournament.load(record)
        print(f"{tournament.games} finished games taken over from {record}", file=sys.stderr)
    interruption: KeyboardInterrupt | None = None
    total = tournament.whole_deals(options.most_games) * len(tournament.seatings)
    with _spread(parsed, options.batch) as spread:
        try:
            tournament.play(
                policies,
                options.most_games,
                until_interval=options.until_interval,
                batch=options.batch,
                threads=options.threads,
                progress=_Progress(total, parsed.quiet),
                save=record,
                spread=spread,
            )
        except KeyboardInterrupt as error:
            interruption = error
    if tournament.games:
        result = tournament.result()
        print(as_text(result))
        if stem is not None:
            write_json(stem.with_name(stem.name + ".json"), result)
            plot(result, stem.with_name(stem.name + ".png"))
    if interruption is None:
        return 0
    kept = "nothing is kept without --output" if record is None else f"saved in {record}, the same command goes on"
    print(f"interrupted after {tournament.games} games; {kept}", file=sys.stderr)
    return int(getattr(interruption, "code", 130))


@contextmanager
def _spread(parsed: Namespace, batch: int) -> Iterator[Spread | None]:
    """What plays the games on Ray, if that is wanted."""
    if not uses_ray(parsed):
        yield None
        return
    from monsterzoo.training.distributed.arena import play_on_ray
    from monsterzoo.training.distributed.cluster import joined

    with joined(parsed.ray, parsed.workers):
        yield play_on_ray(parsed.policies, batch, parsed.workers)


class _Progress:
    """A line about the games so far: rewritten on a terminal, else a new one now and then."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total, self._quiet = total, quiet
        self._live = sys.stderr.isatty()
        self._printed = monotonic()

    def __call__(self, tournament: Tournament) -> None:
        if self._quiet or monotonic() - self._printed < (LIVE_SECONDS if self._live else PLAIN_SECONDS):
            return
        self._printed = monotonic()
        end = "\r" if self._live else "\n"
        print(f"{tournament.games} of {self._total} games", end=end, file=sys.stderr, flush=True)


def as_text(result: dict[str, Any]) -> str:
    """Ranking and cross table."""
    players = sorted(result["players"], key=lambda player: -player["rating"])
    rows = [["", "rating", "win rate", "mean score", "games"]]
    for one in players:
        rating = f"{one['rating']:+.0f} {_ends(one['rating_interval'], '+.0f')}"
        rate = f"{one['win_rate']:.3f} {_ends(one['win_rate_interval'], '.3f')}"
        score = f"{one['mean_score']:.2f} {_ends(one['mean_score_interval'], '.2f')}"
        rows.append([one["name"], rating, rate, score, str(one["games"])])
    width, *widths = (max(len(row[column]) for row in rows) for column in range(len(rows[0])))
    lines = [
        f"{result['game']} {label(result['options'], ' ')}",
        f"{result['games']} games, {result['deals']} deals; 95 % intervals; chance level {result['chance_level']:.3f}",
        "",
        *("  ".join([row[0].ljust(width), *map(str.rjust, row[1:], widths)]) for row in rows),
    ]
    lines += ["", f"win rate of the row at tables with the column (chance level: {result['chance_level']:.3f}):"]
    pairs = {(pair["player"], pair["against"]): pair["win_rate"] for pair in result["pairs"]}
    names = [player["name"] for player in players]
    cell = max(7, *(len(name) for name in names))
    lines.append(" " * width + "".join(f"  {name:>{cell}}" for name in names))
    for row in names:
        cells = (f"{pairs[row, column]:.3f}" if (row, column) in pairs else "–" for column in names)
        lines.append(f"{row:{width}}" + "".join(f"  {text:>{cell}}" for text in cells))
    return "\n".join(lines)


def _ends(interval: list[float | None], form: str) -> str:
    low, high = interval
    if low is None or high is None:
        return "[?]" if low == high else f"[at most {high:{form}}]" if low is None else f"[at least {low:{form}}]"
    return f"[{low:{form}}, {high:{form}}]"


def plot(result: dict[str, Any], path: Path) -> None:
    """Ratings with intervals as a picture; without matplotlib there is none."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no picture: {how_to_get('matplotlib')}", file=sys.stderr)
        return
    players = sorted(result["players"], key=lambda player: player["rating"])
    figure = Figure(figsize=(7, 1.2 + 0.45 * len(players)), layout="constrained")
    axes = figure.add_subplot()
    for height, one in enumerate(players):
        ends = [one["rating"] if end is None else end for end in one["rating_interval"]]
        open_ends = [end is None for end in one["rating_interval"]]
        mark = "o" if not any(open_ends) else "<" if open_ends[0] else ">"  # an arrow where there is no bound
        axes.plot(ends, [height, height], color="tab:blue", linewidth=3, alpha=0.4)
        axes.plot(one["rating"], height, mark, color="tab:blue")
        axes.annotate(
            f"{one['win_rate']:.1%}", (one["rating"], height), (0, 6), textcoords="offset points", ha="center"
        )
    axes.set_yticks(range(len(players)), [player["name"] for player in players])
    axes.set_ylim(-0.5, len(players) - 0.3)
    axes.set_xlabel(f"rating (Elo points), and win rate (chance level: {result['chance_level']:.1%})")
    axes.set_title(f"{result['game']}, {result['games']} games", fontsize=10)
    axes.grid(axis="x", alpha=0.3)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=150)
