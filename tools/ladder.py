"""Ratings of players in every game and variant, published as the ladder: `python -m tools.ladder`.

A rung is a tournament (`monsterzoo.training.arena`) of one player on one side against another on all others; every deal
is played once with each side. Its step is the difference in Elo points. A rating adds up the steps from the random
player at 0. Each rung replaces the same player's previous one in benchmarks/results, and all others are
kept. Finished games are kept in runs/ladder: run again with more games to continue.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from math import hypot, inf
from pathlib import Path
from typing import Any

from monsterzoo.benchmarks.measuring import machine
from monsterzoo.envs.core.options import label
from monsterzoo.envs.match.players import compiled_form
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.training.arena import Tournament, enter
from monsterzoo.training.evaluation.report import markdown, percent
from monsterzoo.training.runs.exits import exit_code
from monsterzoo.training.runs.files import read_json, write_json

from .variants import NamedVariant, all_variants, chosen_variants, variant_name
from .zoo import fingerprint, shipped_networks

Ladder = dict[str, Any]  # of a variant: "game", "options", "chance_level" and "rungs", a list of `Rung`
Rung = dict[str, Any]
"""Of a player: "player", "against", "games", "win_rate", "interval", "step" (Elo points from the other player to this
one), "half_width" (of the step's interval, None if unknown), "network" (fingerprint, None without one) and "made"
(index of the command)."""
RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"
RUNS = Path("runs/ladder")
FAST_GAMES = 20_000  # of a rung between compiled policies
BOTTOM = "random"
RUNGS = {
    "heuristic": BOTTOM,
    "pretrained": "heuristic",
    "search:100": "heuristic",
    "search:1000": "heuristic",
    "search:50ms,net=pretrained": "search:1000",
}
"""Whom each player is measured against; others against the heuristic, or the random player if there is none."""


def main(arguments: Sequence[str]) -> int:
    """Play the rungs; write ladder.json and ladder.png after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=400, help="games of a rung with a player that searches")
    rungs = f"players to measure (default: {' '.join(RUNGS)}); none: only draw the picture"
    parser.add_argument("--rungs", nargs="*", default=list(RUNGS), metavar="POLICY", help=rungs)
    parser.add_argument("--against", metavar="POLICY", help="whom to measure them against (default: a rung below)")
    parser.add_argument("--variant", nargs="+", default=[], metavar="NAME", help="such as pikit_v0-2p (default: all)")
    parsed = parser.parse_args(arguments)
    made = {"command": shlex.join(["python", "-m", "tools.ladder", *arguments]), "machine": machine()}
    result = read()
    for one in chosen_variants(parsed.variant):
        for player in parsed.rungs:
            rung = play(one, player, parsed)
            if rung is not None:
                merge(result, one, rung, made)
                write(result)
    write(result)
    print(table_of(result["ladders"]))
    return 0


def play(of: NamedVariant, player: str, parsed: argparse.Namespace) -> Rung | None:
    """Measure a player; None if it, or the player it is measured against, cannot play the variant."""
    against = parsed.against or RUNGS.get(player, "heuristic")
    if against == "heuristic" and not has_heuristic(of.variant):
        against = BOTTOM
    try:
        entrants, policies = enter(of.variant, [against, player])
    except ValueError as error:
        print(f"{of.name}, {player}: skipped, {error}", file=sys.stderr)
        return None
    network = fingerprint(policies[1]) or fingerprint(policies[0])
    tournament = Tournament(of.variant, entrants, against=entrants[:1], purpose="publishing")
    parts = [of.name, f"{player}-against-{against}".replace(":", "-").replace("/", "-"), network]
    record = RUNS / f"{'.'.join(filter(None, parts))}.npz"
    if record.exists():
        tournament.load(record)
    fast = all(compiled_form(policy) is not None for policy in policies)
    tournament.play(policies, FAST_GAMES if fast else parsed.games, batch=16, save=record)
    result = tournament.result()
    above = result["players"][1]  # rated from the player it is measured against
    low, high = above["rating_interval"]
    return {
        "player": player,
        "against": against,
        "games": result["games"],
        "win_rate": above["win_rate"],
        "interval": above["win_rate_interval"],
        "step": above["rating"],
        "half_width": None if low is None or high is None else (high - low) / 2,
        "network": network,
    }


# --- Ratings ---


def rating(ladder: Ladder, player: str) -> tuple[float, float]:
    """Elo points above the random player, infinite if a rung on the way down was not measured, and half the interval.

    Above the first rung its step is left out of the interval, since all others share it.
    """
    rungs = {rung["player"]: rung for rung in ladder["rungs"]}
    way: list[Rung] = []
    while player != BOTTOM:
        if player not in rungs or rungs[player] in way:
            return inf, inf
        way.append(rungs[player])
        player = way[-1]["against"]
    halves = [rung["half_width"] for rung in way if rung is way[0] or rung["against"] != BOTTOM]
    return sum(rung["step"] for rung in way), hypot(*(inf if half is None else half for half in halves))


def in_order(ladder: Ladder) -> list[Rung]:
    """The rungs by rating, the lowest first; those without a rating come last."""
    return sorted(ladder["rungs"], key=lambda rung: rating(ladder, rung["player"])[0])


# --- Files ---


def read() -> dict[str, Any]:
    """The published ladders: "made", the commands with the machines they ran on, and "ladders"."""
    path = RESULTS / "ladder.json"
    return read_json(path, "a file of ladders") if path.exists() else {"made": [], "ladders": []}


def merge(result: dict[str, Any], of: NamedVariant, rung: Rung, made: dict[str, Any]) -> None:
    """Put a rung in the place of the same player's previous one."""
    ladders = {variant_name(one["game"], one["options"]): one for one in result["ladders"]}
    empty = {"game": of.game, "options": of.options, "chance_level": 1 / of.variant.sides, "rungs": []}
    ladder = ladders.setdefault(of.name, empty)
    if made not in result["made"]:
        result["made"].append(made)
    others = [one for one in ladder["rungs"] if one["player"] != rung["player"]]
    ladder["rungs"] = [*others, {**rung, "made": result["made"].index(made)}]
    result["ladders"] = [ladders[name] for name in all_variants() if name in ladders]


def write(result: dict[str, Any]) -> None:
    """Write ladder.json and ladder.png."""
    write_json(RESULTS / "ladder.json", result)
    draw(result["ladders"], RESULTS / "ladder.png")


def commands_of(result: dict[str, Any]) -> str:
    """The commands that made the rungs, as a list in Markdown."""
    used = sorted({rung["made"] for ladder in result["ladders"] for rung in ladder["rungs"]})
    made = [result["made"][index] for index in used]
    return "\n".join(f"- `{one['command']}` ({one['machine']['processor']})" for one in made)


def table_of(ladders: list[Ladder]) -> str:
    """The ladders as a Markdown table."""
    rows, now = [], shipped_networks()
    for ladder in ladders:
        network = now.get(variant_name(ladder["game"], ladder["options"]))
        for rung in in_order(ladder):
            player, against, (points, half) = rung["player"], rung["against"], rating(ladder, rung["player"])
            earlier = rung["network"] not in (None, network) and "pretrained" in player + against
            remark = "an earlier network" if earlier else ""
            wins = percent(rung["win_rate"], rung["interval"])
            shown = "–" if points == inf else f"{points:+.0f} ± {half:.0f}"
            chance = f"{100 * ladder['chance_level']:.0f} %"
            game = f"{ladder['game']} {label(ladder['options'])}"
            rows.append([game, player, against, f"{rung['games']:,}", wins, chance, shown, remark])
    head = ["game", "player", "against", "games", "win rate (95 %)", "chance level", "rating (95 %)", "remarks"]
    return markdown(head, rows)


def draw(ladders: list[Ladder], path: Path) -> None:
    """Ratings with their intervals: a row for each variant, a colour for each player."""
    from matplotlib.figure import Figure

    measured = [rung["player"] for ladder in ladders for rung in ladder["rungs"]]
    players = [player for player in dict.fromkeys([*RUNGS, *measured]) if player in measured]
    figure = Figure(figsize=(10, 1.5 + 0.6 * len(ladders)), layout="constrained")
    axes = figure.subplots()
    for row, ladder in enumerate(ladders):
        rated = {player: rating(ladder, player) for player in [BOTTOM, *(rung["player"] for rung in in_order(ladder))]}
        known = [(player, *one) for player, one in rated.items() if one[0] < inf]
        for place, (player, points, half) in enumerate(known):
            colour = "tab:gray" if player == BOTTOM else f"C{players.index(player)}"
            height = row + 0.5 * (0.5 - place / max(len(known) - 1, 1))
            axes.errorbar(points, height, xerr=half, color=colour, label=player, fmt="o", ms=5, capsize=3)
        axes.axhline(row + 0.5, color="tab:gray", alpha=0.3, linewidth=0.8)
    axes.set_yticks(range(len(ladders)), [f"{one['game']}\n{label(one['options'])}" for one in ladders], fontsize=8)
    axes.set_ylim(len(ladders) - 0.5, -0.5)
    axes.grid(alpha=0.3, axis="x")
    axes.set_xlabel("rating (Elo points, random = 0; bars: 95 %, from the heuristic player on)")
    marks = dict(zip(*reversed(axes.get_legend_handles_labels())))
    figure.legend(marks.values(), marks, loc="outside upper center", ncols=3)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    sys.exit(exit_code("ladder", main, sys.argv[1:]))
