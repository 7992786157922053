"""Shared by the benchmarks: rates with their spread, loops, facts about the machine, pictures."""

import argparse
import json
import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from monsterzoo.cli.options import Parser
from monsterzoo.envs.core.options import Integer, Number, Option, Text
from monsterzoo.envs.version import VERSION
from monsterzoo.training.runs.config import processors
from monsterzoo.training.runs.extras import installed, require

Run = Callable[[float], float]  # runs for about so many seconds and returns a rate, in units per second
Rate = dict[str, Any]  # "median", "low", "high" and all "runs", in units per second

COLOURS, GREY = ("#4c6ef5", "#12b886", "#f76707", "#ae3ec9"), "#868e96"
"""Of the pictures."""


def measure(runs: dict[Any, Run], seconds: float, repeats: int) -> dict[Any, Rate]:
    """Every run `repeats` times, interleaved, so that a slow minute of the machine affects all of them."""
    for run in runs.values():
        run(seconds / 10)  # compiles and warms up
    found: dict[Any, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            found[name].append(run(seconds))
    return {
        name: {"median": statistics.median(one), "low": min(one), "high": max(one), "runs": one}
        for name, one in found.items()
    }


def with_spread(rate: Rate) -> str:
    """The median of a rate and half its range."""
    return f"{short(rate['median'])} ±{50 * (rate['high'] - rate['low']) / rate['median']:.0f}%"


def timed(action: Callable[[], int], seconds: float, prepare: Callable[[], Any] = lambda: None) -> float:
    """Rate of what `action` returns per second spent in it; `prepare` is called before each and not timed."""
    count, spent, stop = 0, 0.0, time.perf_counter() + seconds
    while not count or time.perf_counter() < stop:
        prepare()
        start = time.perf_counter()
        count += action()
        spent += time.perf_counter() - start
    return count / spent


def aec_loop(env: Any) -> Run:
    """Steps per second of the usual PettingZoo loop: `last`, a masked random choice, `step`."""
    random = Random(0).random

    def play() -> int:
        for _ in range(64):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                observation = env.last()[0]
            legal = observation["action_mask"].nonzero()[0]
            env.step(int(legal[int(random() * len(legal))]))
        return 64

    env.reset(seed=0)
    return partial(timed, play)


def parallel_loop(env: Any) -> Run:
    """Steps per second of a parallel environment with masked random actions."""
    random, seen = Random(0).random, [env.reset(seed=0)[0]]

    def play() -> int:
        for _ in range(64):
            observations = seen[0] if env.agents else env.reset()[0]
            actions = {}
            for agent in env.agents:
                legal = observations[agent]["action_mask"].nonzero()[0]
                actions[agent] = int(legal[int(random() * len(legal))])
            seen[0] = env.step(actions)[0]
        return 64

    return partial(timed, play)


def options(repeats: int, seconds: float | None = None) -> dict[str, Option]:
    """The flags that benchmarks share."""
    found = {
        "json": Option(None, Text("FILE"), "write all numbers here"),
        "repeats": Option(repeats, Integer(1), "runs of each measurement"),
    }
    if seconds is not None:  # rates
        found["seconds"] = Option(seconds, Number(0, above=True), "length of a run")
        found["picture"] = Option(None, Text("FILE"), "draw them here")
    return found


def read(parser: Parser, arguments: Sequence[str]) -> argparse.Namespace:
    """The flags of a command line; raises `ModuleNotFoundError`, before measuring, if a picture cannot be drawn."""
    chosen = parser.read(arguments)
    if chosen.picture is not None:
        require("matplotlib")
    return chosen


def publish(report: Any, chosen: argparse.Namespace, picture: Callable[[Any, Path], None] | None = None) -> int:
    """Write a report as JSON and draw it, where that is wanted; returns 0, the exit code."""
    if chosen.json is not None:
        Path(chosen.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        print(f"\nwrote {chosen.json}")
    if picture is not None and chosen.picture is not None:
        picture(report, Path(chosen.picture))
    return 0


def draw_bars(groups: dict[str, list[tuple[str, float, str, str]]], note: str, file: Path) -> None:
    """Groups of bars (label, value, colour, text behind it) on a logarithmic scale."""
    pyplot = import_module("matplotlib.pyplot")
    count = sum(map(len, groups.values())) + len(groups)
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.2 * count))
    values = [value for bars in groups.values() for _, value, _, _ in bars]
    ticks: dict[int, str] = {}
    for title, bars in groups.items():
        axes.text(min(values) / 2.7, len(ticks), title, va="center", fontsize=8, fontweight="bold")
        ticks[len(ticks)] = ""
        for label, value, colour, text in bars:
            axes.barh(len(ticks), value, 0.85, color=colour)
            axes.text(value * 1.08, len(ticks), f"{short(value)}{text}", va="center", fontsize=7)
            ticks[len(ticks)] = label
    axes.set_yticks(list(ticks), list(ticks.values()), fontsize=7)
    axes.tick_params(axis="y", length=0)
    axes.set_xscale("log")
    axes.set_xlim(min(values) / 3, 6 * max(values))
    axes.set_ylim(count - 0.3, -0.7)
    axes.set_xlabel(note, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    print(f"wrote {file}")


def machine() -> dict[str, Any]:
    """Processor, load and versions."""
    packages = ("numpy", "numba", "gymnasium", "pettingzoo")
    return {
        "processor": _processor(),
        "cores": processors(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "monsterzoo": VERSION,
        **{package: installed(package) for package in packages},
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", path.read_text(encoding="utf-8")) if path.exists() else None
    return named[1] if named else platform.processor() or platform.machine()


def short(value: float) -> str:
    """A number with three digits and a suffix: 26.1 M, 92.4 k."""
    for limit, divisor, unit in ((1e6, 1e6, " M"), (1e3, 1e3, " k")):
        if value >= limit:
            return f"{value / divisor:#.3g}".rstrip(".") + unit
    return f"{value:.3g}"
