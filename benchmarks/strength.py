"""The ladder of every game and variant: random, heuristic, search with growing budgets, each against the one below.

Every rung is a tournament (`training.arena`) of the upper player on one side against the lower one on all others, every
deal once with each side. The win rate is to be compared with even play: a half where two sides play, a third or a
quarter where more do. Ratings add up the rungs from the random player at 0. With `--games-folder` finished games are
kept: run again with more of them to go on.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path
from time import monotonic
from typing import Any

from monsterzoo.envs.core.catalogue import find_game, names
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.training.arena import Tournament, enter
from monsterzoo.training.game_options import label

from .measuring import machine

BUDGETS = (100, 1000)


def main(arguments: list[str] | None = None) -> int:
    """Play the rungs; with `--output` write ladder.json, ladder.md and ladder.png."""
    parser = argparse.ArgumentParser(prog="monsterzoo bench strength", description=__doc__)
    parser.add_argument("--games", type=int, default=400, help="games of search against the heuristic, for each budget")
    parser.add_argument("--fast-games", type=int, default=20_000, help="games between compiled policies")
    parser.add_argument("--budgets", type=int, nargs="*", default=list(BUDGETS), help="simulations of the searches")
    parser.add_argument(
        "--game", nargs="+", default=names(), choices=names(), metavar="GAME", help="games to measure (default: all)"
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="time for each rung; what is finished counts")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="write ladder.json, .md and .png there")
    parser.add_argument("--games-folder", type=Path, metavar="FOLDER", help="keep finished games there, to go on from")
    parsed = parser.parse_args(arguments)
    command = shlex.join(["monsterzoo", "bench", "strength", *(sys.argv[1:] if arguments is None else arguments)])
    ladders = []
    for name in names():
        if name not in parsed.game:
            continue
        for options in find_game(name).variants:
            ladders.append(climb(name, options, parsed))
            if parsed.output is not None:
                write(parsed.output, ladders, command)
            print(table_of(ladders[-1:]), flush=True)
    return 0


def climb(name: str, options: dict[str, Any], parsed: argparse.Namespace) -> dict[str, Any]:
    """The ladder of one variant."""
    variant = find_game(name).variant(**options)
    rungs, base, below = [], 0.0, "random"
    if has_heuristic(variant):
        rungs = [play(name, options, ["random", "heuristic"], parsed.fast_games, parsed)]
        base, below = rungs[0]["rating"], "heuristic"
    for budget in parsed.budgets:
        rungs.append(play(name, options, [below, f"search:{budget}"], parsed.games, parsed))
        rungs[-1]["rating"] += base
    even = 1 / variant.sides
    return {"game": name, "options": options, "label": f"{name} {label(options)}", "even": even, "rungs": rungs}


def play(
    name: str, options: dict[str, Any], specs: list[str], games: int, parsed: argparse.Namespace
) -> dict[str, Any]:
    """One rung: the second player against the first."""
    variant = find_game(name).variant(**options)
    players, policies = enter(variant, specs)
    tournament = Tournament(variant, players, alone=players[1])
    title = ".".join([name, *(f"{key}={value}" for key, value in options.items()), specs[1].replace(":", "-")])
    record = None if parsed.games_folder is None else parsed.games_folder / f"{title}.npz"
    if record is not None and record.exists():
        tournament.load(record)
    started: list[float] = []  # when the first decisions had been made: compiling does not count

    def stop_in_time(_: Tournament) -> None:
        started.append(monotonic())
        if tournament.games and started[-1] > started[0] + 60 * parsed.minutes:
            raise TimeoutError

    try:
        tournament.play(policies, games, batch=16, progress=stop_in_time, save=record)
    except TimeoutError:
        print(f"{title}: stopped after {tournament.games} games", file=sys.stderr)
    result = tournament.result()
    below, above = result["players"]
    low, high = above["rating_interval"]
    return {
        "player": above["name"],
        "against": below["name"],
        "games": result["games"],
        "win_rate": above["win_rate"],
        "win_rate_interval": above["win_rate_interval"],
        "rating": above["rating"] - below["rating"],
        "rating_half_width": None if low is None else (high - low) / 2 * (1 if specs[0] == "random" else 2),
    }


def table_of(ladders: list[dict[str, Any]]) -> str:
    """The ladders as a Markdown table."""
    lines = [
        "| game | player | against | games | win rate (95 %) | even | rating |",
        "|---|---|---|---|---|---|---|",
    ]
    for ladder in ladders:
        for rung in ladder["rungs"]:
            low, high = rung["win_rate_interval"]
            ends = "" if low is None else f" ({low:.3f} to {high:.3f})"
            lines.append(
                f"| {ladder['label']} | {rung['player']} | {rung['against']} | {rung['games']:,} "
                f"| {rung['win_rate']:.3f}{ends} | {ladder['even']:.3f} | {rung['rating']:+.0f} |"
            )
    return "\n".join(lines)


def write(folder: Path, ladders: list[dict[str, Any]], command: str) -> None:
    """Write the three files."""
    folder.mkdir(parents=True, exist_ok=True)
    result = {"command": command, "machine": machine(), "ladders": ladders}
    (folder / "ladder.json").write_text(json.dumps(result, indent=2) + "\n")
    text = (
        "# The ladder\n\nEach player on one side, the one named beside it on all others; every deal is played once "
        "with each side. A rating adds up the rungs from the random player at 0.\n\n"
        f"{table_of(ladders)}\n\nMade by `{command}`, games of earlier runs included.\n"
    )
    (folder / "ladder.md").write_text(text)
    draw(ladders, folder / "ladder.png")


def draw(ladders: list[dict[str, Any]], path: Path) -> None:
    """Ratings by player, one panel per game, one line per variant: search gets stronger with its budget."""
    from matplotlib.figure import Figure

    games = list(dict.fromkeys(ladder["game"] for ladder in ladders))
    figure = Figure(figsize=(4 * len(games), 4.5), layout="constrained")
    panels = figure.subplots(1, len(games), sharey=True, squeeze=False)[0]
    for axes, game in zip(panels, games):
        for ladder in (ladder for ladder in ladders if ladder["game"] == game):
            names = ["random", *(rung["player"] for rung in ladder["rungs"])]
            ratings = [0.0, *(rung["rating"] for rung in ladder["rungs"])]
            halves = [0.0, *(rung["rating_half_width"] or 0.0 for rung in ladder["rungs"])]
            axes.errorbar(names, ratings, halves, marker="o", capsize=3, label=label(ladder["options"]))
        axes.set_title(game)
        axes.legend(fontsize=7, loc="lower right")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("rating (Elo points, random = 0)")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    sys.exit(main())
