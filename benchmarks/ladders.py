"""The published ladder: which rungs were measured, the ratings that follow, a table and a picture.

A rung is one player's result against another one, whose own rung leads further down, to the random player. A rating
adds up the steps on that way. What is known of two players is compared from where their ways part: what both have in
common is no reason for doubt.
"""

from math import hypot
from pathlib import Path
from typing import Any

from monsterzoo.envs.core.options import label
from monsterzoo.training.files import read_json, replacing, write_json
from monsterzoo.training.fingerprints import shipped_networks
from monsterzoo.training.models_page import rate, table
from monsterzoo.training.variants import NamedVariant, all_variants, variant_name

Ladder = dict[str, Any]
"""Of a variant: "game", "options", "label", "even" and "rungs", a list of `Rung`."""
Rung = dict[str, Any]
"""Of a player: "player", "against", "games", "win_rate", "win_rate_interval", "step" (Elo points from the other player
to this one), "half_width" (of the step's interval, None if not known), "network" (fingerprint, None without one) and
"made" (index of the command)."""
BOTTOM = "random"
RUNGS = {
    "heuristic": BOTTOM,
    "pretrained": "heuristic",
    "search:100": "heuristic",
    "search:1000": "heuristic",
    "search:50ms,net=pretrained": "search:1000",
}
"""Whom each player is measured against; others against the heuristic, and against the random player without one."""
NAME = "ladder"
TITLE = """# The ladder

Each player on one side, the one named beside it on all others; every deal is played once with each side. Win rates are
to be compared with even play. A rating adds up the steps (Elo points) from the random player at 0; rungs are in its
order. "Overlaps": the 95 % intervals of its rating and of the one below it, both counted from where the ways of the two
part, have numbers in common.
"""


def new_ladder(of: NamedVariant) -> Ladder:
    """A ladder without rungs."""
    return {
        "game": of.game,
        "options": of.options,
        "label": f"{of.game} {label(of.options)}",
        "even": 1 / of.variant.sides,
        "rungs": [],
    }


def read(folder: Path) -> dict[str, Any]:
    """The published ladders: "made", the commands with the machines they ran on, and "ladders"."""
    path = folder / f"{NAME}.json"
    if not path.exists():
        return {"made": [], "ladders": []}
    return renewed(read_json(path, "a file of ladders"))


def renewed(result: dict[str, Any]) -> dict[str, Any]:
    """Ladders as they are written now, also if they were all made by one command, with ratings instead of steps."""
    if "made" in result:
        return result
    for ladder in result["ladders"]:
        ratings = {BOTTOM: 0.0, **{rung["player"]: rung["rating"] for rung in ladder["rungs"]}}
        for rung in ladder["rungs"]:
            rung["step"] = rung.pop("rating") - ratings[rung["against"]]
            rung["half_width"] = rung.pop("rating_half_width")
            rung["network"], rung["made"] = None, 0
    return {"made": [{"command": result["command"], "machine": result["machine"]}], "ladders": result["ladders"]}


def merge(result: dict[str, Any], of: NamedVariant, rung: Rung, made: dict[str, Any]) -> None:
    """Put a rung in the place of the same player's rung of before; commands that made nothing of what is left go."""
    ladder = next((one for one in result["ladders"] if _name(one) == of.name), None)
    if ladder is None:
        ladder = new_ladder(of)
        result["ladders"].append(ladder)
    if made not in result["made"]:
        result["made"].append(made)
    rung = {**rung, "made": result["made"].index(made)}
    others = [one for one in ladder["rungs"] if one["player"] != rung["player"]]
    ladder["rungs"] = [*others, rung]
    order = list(all_variants())
    result["ladders"].sort(key=lambda one: order.index(_name(one)) if _name(one) in order else len(order))
    used = sorted({one["made"] for each in result["ladders"] for one in each["rungs"]})
    result["made"] = [result["made"][index] for index in used]
    for each in result["ladders"]:
        for one in each["rungs"]:
            one["made"] = used.index(one["made"])


def _name(ladder: Ladder) -> str:
    return variant_name(ladder["game"], ladder["options"])


# --- Ratings ---


def way_down(ladder: Ladder, player: str) -> list[Rung] | None:
    """The rungs from a player to the random player, the highest first; None if one of them was not measured."""
    rungs = {rung["player"]: rung for rung in ladder["rungs"]}
    way: list[Rung] = []
    while player != BOTTOM:
        if player not in rungs or rungs[player] in way:
            return None
        way.append(rungs[player])
        player = way[-1]["against"]
    return way


def rating(ladder: Ladder, player: str) -> float | None:
    """Elo points above the random player, None if the way down is not known."""
    way = way_down(ladder, player)
    return None if way is None else sum(rung["step"] for rung in way)


def doubt(ladder: Ladder, player: str, sure: list[Rung]) -> float:
    """Half of the interval of a player's rating, if some rungs on its way down are taken for `sure`."""
    steps = [rung["half_width"] for rung in way_down(ladder, player) or [] if rung not in sure]
    return hypot(*(float("inf") if half is None else half for half in steps))


def in_order(ladder: Ladder) -> list[Rung]:
    """The rungs by rating, the lowest first; those without a rating come last."""
    ratings = {rung["player"]: rating(ladder, rung["player"]) for rung in ladder["rungs"]}
    return sorted(ladder["rungs"], key=lambda rung: _or_infinity(ratings[rung["player"]]))


def _or_infinity(value: float | None) -> float:
    return float("inf") if value is None else value


def overlapping(ladder: Ladder) -> dict[str, str]:
    """The players whose interval overlaps that of the next player below them, who is named."""
    found = {}
    ordered = [rung["player"] for rung in in_order(ladder) if rating(ladder, rung["player"]) is not None]
    for below, above in zip([BOTTOM, *ordered], ordered):
        common = [rung for rung in way_down(ladder, below) or [] if rung in (way_down(ladder, above) or [])]
        apart = (rating(ladder, above) or 0.0) - (rating(ladder, below) or 0.0)
        if apart <= doubt(ladder, above, common) + doubt(ladder, below, common):
            found[above] = below
    return found


# --- For people ---


def write(folder: Path, result: dict[str, Any]) -> None:
    """Write ladder.json, ladder.md and ladder.png."""
    write_json(folder / f"{NAME}.json", result)
    with replacing(folder / f"{NAME}.md") as part:
        part.write_text(page(result))
    with replacing(folder / f"{NAME}.png") as part:
        draw(result["ladders"], part)


def page(result: dict[str, Any]) -> str:
    """The table and where it comes from."""
    made = "\n".join(f"- `{one['command']}` ({one['machine']['processor']})" for one in result["made"])
    return f"{TITLE}\n{table_of(result['ladders'])}\n\nMade by, games of earlier runs included:\n\n{made}\n"


def table_of(ladders: list[Ladder]) -> str:
    """The ladders as a Markdown table."""
    rows, now = [], shipped_networks()
    for ladder in ladders:
        overlaps = overlapping(ladder)
        for rung in in_order(ladder):
            points = rating(ladder, rung["player"])
            notes = [f"overlaps {overlaps[rung['player']]}"] if rung["player"] in overlaps else []
            if (
                rung["network"] not in (None, now.get(_name(ladder)))
                and "pretrained" in rung["player"] + rung["against"]
            ):
                notes.append("an earlier network")
            rows.append(
                [
                    ladder["label"],
                    rung["player"],
                    rung["against"],
                    f"{rung['games']:,}",
                    _win_rate(rung),
                    f"{100 * ladder['even']:.0f} %",
                    "–" if points is None else f"{points:+.0f}",
                    ", ".join(notes),
                ]
            )
    return table(["game", "player", "against", "games", "win rate (95 %)", "even", "rating", "remarks"], rows)


def _win_rate(rung: Rung) -> str:
    if rung["win_rate_interval"][0] is None:
        return f"{100 * rung['win_rate']:.1f} %"
    return rate({"win_rate": rung["win_rate"], "interval": rung["win_rate_interval"]})


def draw(ladders: list[Ladder], path: Path) -> None:
    """Ratings with their intervals: a panel for each game, a row for each variant, a colour for each player."""
    from matplotlib.figure import Figure

    measured = [rung["player"] for ladder in ladders for rung in ladder["rungs"]]
    players = [player for player in dict.fromkeys([*RUNGS, *measured]) if player in measured]
    colours = {BOTTOM: "tab:gray"} | {player: f"C{number}" for number, player in enumerate(players)}
    games = list(dict.fromkeys(ladder["game"] for ladder in ladders))
    rows = {game: [ladder for ladder in ladders if ladder["game"] == game] for game in games}
    heights = [len(rows[game]) + 0.5 for game in games]
    figure = Figure(figsize=(10, 1.2 + 0.6 * sum(heights)), layout="constrained")
    panels = figure.subplots(len(games), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, game in zip(panels, games):
        for row, ladder in enumerate(rows[game]):
            ordered = [rung["player"] for rung in in_order(ladder) if rating(ladder, rung["player"]) is not None]
            for place, player in enumerate([BOTTOM, *ordered]):
                # All others share the first step up from the random player: it would only blur how they compare.
                below = (way_down(ladder, player) or [])[1:]
                half = doubt(ladder, player, [rung for rung in below if rung["against"] == BOTTOM])
                height = row + 0.5 * (0.5 - place / max(len(ordered), 1))
                axes.errorbar(
                    rating(ladder, player), height, xerr=half, fmt="o", ms=5, capsize=3, color=colours[player]
                )
        axes.set_yticks(range(len(rows[game])), [label(ladder["options"]) for ladder in rows[game]])
        axes.set_ylim(len(rows[game]) - 0.5, -0.5)
        axes.set_title(game, loc="left", fontsize=10)
        axes.grid(alpha=0.3, axis="x")
        for row in range(1, len(rows[game])):
            axes.axhline(row - 0.5, color="tab:gray", alpha=0.3, linewidth=0.8)
    panels[-1].set_xlabel("rating (Elo points, random = 0; bars: 95 %, from the heuristic player on)")
    marks = [panels[0].errorbar([], [], xerr=[], fmt="o", capsize=3, color=colours[player]) for player in colours]
    figure.legend(marks, list(colours), loc="outside upper center", ncols=3)
    figure.savefig(path, format="png", dpi=130)
