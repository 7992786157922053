"""The README's picture: steps a second by interface, drawn from what `throughput --json` wrote."""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from .measuring import short
from .throughput import MEANINGS

COLOURS = ("#4c6ef5", "#12b886", "#f76707", "#ae3ec9")
GREY = "#868e96"
NAMES = {
    "engine": "rules only",
    "vector": "batch: observation and mask",
    "vector, 2 threads": "batch, 2 threads",
    "vector, 2 processes": "batches in 2 processes",
    "vector + sampling": "batch and random actions",
    "one seat, random": "one seat against random players",
    "one seat, heuristic": "one seat against heuristics",
    "search": "games that search imagines",
    "parallel": "parallel_env loop",
    "raw_env": "raw_env loop",
    "env": "env loop",
    "connect_four_v3": "PettingZoo's connect_four_v3 loop",
}


def throughput(report: dict[str, Any], file: Path) -> None:
    """Bars on a logarithmic scale: one group per interface, one bar per game (its first variant)."""
    pyplot = import_module("matplotlib.pyplot")
    first = {name: game["variants"][0]["rates"] for name, game in report["games"].items()}
    shown = [key for key in MEANINGS if any(key in rates for rates in first.values())]
    height = 0.8 / len(first)
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + (0.2 + 0.24 * len(first)) * len(shown)))
    for k, key in enumerate(shown):
        own = key != "connect_four_v3"
        for j, (name, rates) in enumerate(first.items()):
            if key not in rates or (not own and j):
                continue
            value, place = rates[key]["median"], k + (j - (len(first) - 1) / 2) * height if own else k
            label = name if k == 0 else None
            axes.barh(place, value, height * 0.92, color=COLOURS[j] if own else GREY, label=label)
            axes.text(value * 1.06, place, short(value), va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(1e3, 2e8)
    axes.set_yticks(range(len(shown)), [NAMES.get(key, key) for key in shown], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("random steps a second (logarithmic)\n" + _conditions(report), fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def _conditions(report: dict[str, Any]) -> str:
    machine = report["machine"]
    return f"{machine['cores']} cores of {machine['processor']}, batches of {report['settings']['num_envs']:,}"


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m monsterzoo.benchmarks.pictures", description=__doc__)
    parser.add_argument("json", type=Path, help="what `monsterzoo bench throughput --json` wrote")
    parser.add_argument("picture", type=Path, help="the file to write")
    chosen = parser.parse_args(arguments)
    throughput(json.loads(chosen.json.read_text(encoding="utf-8")), chosen.picture)
    print(f"wrote {chosen.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
