"""All players of every variant against each other, published as the ladder: `python -m tools.ladder`.

A tournament (`monsterzoo.training.arena`) for each variant: in every pairing one player has one side and copies of the
other have all others; every deal is played once with each side. Ratings and payoffs are of these games. Finished games
are kept in runs/ladder: run again with more games to continue.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo import __version__
from monsterzoo.benchmarks.measuring import machine
from monsterzoo.envs.core.options import label
from monsterzoo.envs.match.players import compiled_form
from monsterzoo.training.arena import Tournament, enter
from monsterzoo.training.evaluation.report import markdown, percent, with_ends
from monsterzoo.training.runs.exits import exit_code
from monsterzoo.training.runs.files import read_json, write_json

from .variants import NamedVariant, all_variants, chosen_variants, variant_name
from .zoo import fingerprint, shipped_networks

Ladder = dict[str, Any]
"""`Tournament.result()` of a variant, with "network" (its weights' hash), "version", "command" and "machine"."""
RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"
RUNS = Path("runs/ladder")
PLAYERS = ("random", "heuristic", "search:100", "pretrained", "search:100,net=pretrained")
FAST = 10  # times as many games between compiled players


def main(arguments: Sequence[str]) -> int:
    """Play the tournaments; write ladder.json and ladder.png after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=400, help="of every two players; of compiled ones ten times")
    parser.add_argument("--players", nargs="+", default=PLAYERS, metavar="POLICY", help="(default: all published)")
    parser.add_argument("--variant", nargs="+", default=[], metavar="NAME", help="such as pikit_v0-2p (default: all)")
    parsed = parser.parse_args(arguments)
    made = {"version": __version__, "command": shlex.join(["python", "-m", "tools.ladder", *arguments])}
    for one in chosen_variants(parsed.variant):
        ladder = {**play(one, parsed.players, parsed.games), **made, "machine": machine()}
        ladders = {variant_name(other["game"], other["options"]): other for other in read()} | {one.name: ladder}
        write([ladders[name] for name in all_variants() if name in ladders])
        print(f"{one.name}\n\n{table(ladder)}\n", flush=True)
    return 0


def play(of: NamedVariant, players: Sequence[str], games: int) -> Ladder:
    """The tournament of a variant; players that it does not have are left out."""
    entrants = []
    for player in players:
        try:
            enter(of.variant, [player])
            entrants.append(player)
        except ValueError as error:
            print(f"{of.name}, {player}: left out, {error}", file=sys.stderr)
    names, policies = enter(of.variant, entrants)
    network = next(filter(None, map(fingerprint, policies)), None)
    tournament = Tournament(of.variant, names, against=names, purpose="publishing")
    record = RUNS / f"{'.'.join(filter(None, [of.name, network]))}.npz"
    if record.exists():
        tournament.load(record)
    every = games * comb(len(names), 2)
    tournament.play(policies, every, batch=16, save=record)
    deals = tournament.whole_deals(every)
    compiled = [k for k, policy in enumerate(policies) if compiled_form(policy) is not None]
    fast = np.flatnonzero(np.isin(tournament.seatings, compiled).all(axis=1))
    more = np.stack(np.meshgrid(np.arange(deals, FAST * deals), fast, indexing="ij"), axis=-1).reshape(-1, 2)
    tournament.play_listed(policies, more)
    return {**tournament.result(), "options": of.options, "network": network}


# --- What is published ---


def read() -> list[Ladder]:
    """The published ladders, in the order of the variants."""
    path = RESULTS / "ladder.json"
    return list(read_json(path, "a file of ladders")["ladders"]) if path.exists() else []


def write(ladders: list[Ladder]) -> None:
    """Write ladder.json and ladder.png."""
    write_json(RESULTS / "ladder.json", {"ladders": ladders})
    draw(ladders, RESULTS / "ladder.png")


def ratings(ladder: Ladder) -> dict[str, float]:
    """Elo points of every player, the lowest first; the random player has 0."""
    found = {one["name"]: one["rating"] for one in ladder["players"]}
    return {name: found[name] - found["random"] for name in sorted(found, key=lambda name: found[name])}


def rates(ladder: Ladder) -> dict[tuple[str, str], str]:
    """Win rates, with intervals, of a player on one side against another on all others."""
    return {
        (one["player"], one["against"]): percent(one["win_rate"], one["interval"]).replace(" %", "", 1)
        for one in ladder["pairs"]
    }


def tables(ladders: list[Ladder]) -> str:
    """All ladders in Markdown, each below its variant's name."""
    shipped, parts = shipped_networks(), []
    for ladder in ladders:
        name = variant_name(ladder["game"], ladder["options"])
        earlier = [] if ladder["network"] == shipped.get(name) else ["`pretrained` is an earlier network."]
        games = f"{ladder['games']:,} games, chance level {ladder['chance_level']:.0%}."
        title = f"## {ladder['game']} {label(ladder['options'])}"
        parts += [title, " ".join([games, *earlier, *map(cycle, ladder["payoffs"]["cycles"])]), table(ladder)]
    return "\n\n".join(parts)


def cycle(names: list[str]) -> str:
    """Players who beat each other in a circle, beyond their intervals."""
    return f"A cycle: {' beats '.join(f'`{name}`' for name in [*names, names[0]])}."


def table(ladder: Ladder) -> str:
    """Ratings, Nash averages, and the win rates of the row's player on one side against the column's on all others."""
    found, payoffs, order = rates(ladder), ladder["payoffs"], list(ratings(ladder))
    players = {one["name"]: k for k, one in enumerate(ladder["players"])}
    rows = []
    for name in reversed(order):
        one, k = ladder["players"][players[name]], players[name]
        nash = [f"{payoffs['nash'][k]:.0%}", f"{payoffs['nash_averages'][k]:+.3f}"]
        cells = [found.get((name, other), "–") for other in order]
        rows.append([f"`{name}`", with_ends(one["rating"], one["rating_interval"], "+.0f"), *nash, *cells])
    return markdown(["", "rating", "Nash", "average", *(f"`{name}`" for name in order)], rows)


def draw(ladders: list[Ladder], path: Path) -> None:
    """Ratings with their intervals: a row for each variant, a colour for each player."""
    from matplotlib.figure import Figure

    players = list(dict.fromkeys(one["name"] for ladder in ladders for one in ladder["players"]))
    figure = Figure(figsize=(10, 1.5 + 0.6 * len(ladders)), layout="constrained")
    axes = figure.subplots()
    for row, ladder in enumerate(ladders):
        rated = {one["name"]: one for one in ladder["players"]}
        for place, name in enumerate(ratings(ladder)):
            points, (low, high) = rated[name]["rating"], rated[name]["rating_interval"]
            bars = [[points - low if low is not None else 0], [high - points if high is not None else 0]]
            height = row + 0.5 * (0.5 - place / max(len(rated) - 1, 1))
            colour = f"C{players.index(name)}"
            axes.errorbar(points, height, xerr=bars, color=colour, label=name, fmt="o", ms=5, capsize=3)
        axes.axhline(row + 0.5, color="tab:gray", alpha=0.3, linewidth=0.8)
    axes.set_yticks(range(len(ladders)), [f"{one['game']}\n{label(one['options'])}" for one in ladders], fontsize=8)
    axes.set_ylim(len(ladders) - 0.5, -0.5)
    axes.grid(alpha=0.3, axis="x")
    axes.set_xlabel("rating (Elo points, random = 0; bars: 95 %)")
    marks = dict(zip(*reversed(axes.get_legend_handles_labels())))
    figure.legend(marks.values(), marks, loc="outside upper center", ncols=3)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    sys.exit(exit_code("ladder", main, sys.argv[1:]))
