"""The page about the shipped networks, `policies/pretrained/README.md`, made from their index."""

from collections.abc import Iterable, Sequence
from typing import Any

from .recipes import RECIPES

OPPONENTS = ("random", "heuristic")
KINDS = {"alone": "alone", "mixed": "arena"}
"""How a network is measured against an opponent: the index's word, and the page's."""
TITLE = """# Trained networks

Loaded with `monsterzoo.policies.make("pretrained", game, **options)`; numpy is all they need. A network plays its most
likely action, and refuses observations other than those it was trained on. The commands that made them are at the end.
`python -m monsterzoo.training.zoo` makes networks by the recipes in `training/recipes.py`, measures them, and writes
this page from `index.json`.

Win rates come with 95 % intervals; equal players would have the rate in the column "even". "Alone": the network plays
one side, the opponent all others. "Arena": all mixtures of both at a table, every deal replayed until each has had
every side (with more than two sides a network shares the wins with its own copies, so the rate stays well below 100 %).
"""
REMARKS = """
Where more than two sides play, it matters whom a network has learned to play with. Bite Night's learned by playouts of
heuristic players, half of the games among its own copies and half alone among heuristics, and share what they know of
all colours, in the basic game of all pictures too: files are small for the number of their weights. Yokai Septet's
learned by playouts as well, without such symmetries. Pikit's are by PPO: there playouts by the heuristic teach less.

The second stages of Seven Suitors and of Yokai Septet for three started from the first ones' networks as they had been
shipped before, at half precision: who trains them again gets networks that differ by more than the machine's rounding.
"""
"""What numbers do not tell; true of the networks that are shipped now, to be changed with them."""


def page(index: dict[str, Any]) -> str:
    """The whole page."""
    models, seeds = index["models"], index.get("seeds", [])
    parts = [TITLE + REMARKS, networks_table(models), claims(models), *missing(models)]
    if seeds:
        about = "The same recipes with other seeds; win rates alone among heuristic players:"
        parts += ["## Other seeds", about, seeds_table(seeds)]
    commands = [command for model in models for command in model["commands"]]
    parts += ["## The commands", "\n".join(["```sh", *commands, "```"])]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def networks_table(models: Sequence[dict[str, Any]]) -> str:
    """A row for every network."""
    head = ["network", "weights", "seed", "minutes", "steps", "even"]
    head += [f"{spec}, {word}" for spec in OPPONENTS for word in KINDS.values()]
    rows = []
    for model in models:
        size, steps = f"{model['weights'] / 1000:.0f} k", f"{model['steps'] / 1e6:.1f} M"
        row = [f"`{model['file']}`", size, str(model["seed"]), str(model["minutes"]), steps, f"{model['even']:.0%}"]
        found = ((model["arena"].get(spec), kind) for spec in OPPONENTS for kind in KINDS)
        rows.append(row + [rate(measured[kind]) if measured else "–" for measured, kind in found])
    return table(head, rows)


def claims(models: Sequence[dict[str, Any]]) -> str:
    """One sentence on whom the networks beat."""
    doubtful = [
        f"`{model['file']}` ({word})"
        for model in models
        for kind, word in KINDS.items()
        if "heuristic" in model["arena"] and model["arena"]["heuristic"][kind]["interval"][0] <= model["even"]
    ]
    who = f"All but {', '.join(doubtful)}" if doubtful else "All"
    return f"{who} beat their heuristic players, alone and in the arena: the intervals exclude even play."


def missing(models: Sequence[dict[str, Any]]) -> list[str]:
    """A sentence on the variants that have a recipe and no network yet, if there are any."""
    there = {model["file"].removesuffix(".npz") for model in models}
    absent = [f"`{name}`" for name in RECIPES if name not in there]
    return [f"There is no network yet for {', '.join(absent)}."] if absent else []


def seeds_table(seeds: Sequence[dict[str, Any]]) -> str:
    """A row for every variant that was trained with several seeds."""
    columns = sorted({run["seed"] for entry in seeds for run in entry["runs"]})
    rows = []
    for entry in seeds:
        by_seed = {run["seed"]: run for run in entry["runs"]}
        rates = [run["win_rate"] for run in entry["runs"]]
        cells = [rate(by_seed[seed]) if seed in by_seed else "–" for seed in columns]
        spread = f"{100 * (max(rates) - min(rates)):.1f} points"
        rows.append([f"`{entry['name']}`", f"{entry['even']:.0%}", *cells, spread])
    return table(["recipe", "even", *(f"seed {seed}" for seed in columns), "highest less lowest"], rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def rate(result: dict[str, Any]) -> str:
    """A win rate with its interval, in per cent."""
    low, high = result["interval"]
    return f"{100 * result['win_rate']:.1f} % ({100 * low:.1f}–{100 * high:.1f})"
