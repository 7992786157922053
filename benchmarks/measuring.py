"""How the benchmarks measure: rates with their spread, facts about the machine, plain tables."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from monsterzoo.envs.version import VERSION

Run = Callable[[float], float]
"""Runs for about so many seconds and returns a rate, in units a second."""

_Key = TypeVar("_Key")
_clock = time.perf_counter


def count_processor_time() -> None:
    """Measure by the time this thread spends on a processor: for machines that are busy with other things too."""
    global _clock
    _clock = time.thread_time


def clock_name() -> str:
    """What is measured by: "perf_counter" or "thread_time"."""
    return _clock.__name__


@dataclass(frozen=True)
class Rate:
    """What several runs gave, in units a second."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.runs)

    @property
    def spread(self) -> float:
        """Half the distance between the fastest and the slowest, as a share of the median."""
        return (max(self.runs) - min(self.runs)) / 2 / self.median

    def __str__(self) -> str:
        return f"{short(self.median)} ±{100 * self.spread:.0f}%"

    def as_json(self) -> dict[str, Any]:
        """Median, extremes and all runs."""
        return {"median": self.median, "low": min(self.runs), "high": max(self.runs), "runs": list(self.runs)}


def measure(runs: dict[_Key, Run], seconds: float, repeats: int) -> dict[_Key, Rate]:
    """Every run `repeats` times. They take turns, so that a slow minute of the machine hits all of them."""
    for run in runs.values():
        run(seconds / 10)  # compiles and warms up
    rates: dict[_Key, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            rates[name].append(run(seconds))
    return {name: Rate(tuple(values)) for name, values in rates.items()}


def timed(action: Callable[[], int], seconds: float, prepare: Callable[[], Any] = lambda: None) -> float:
    """Call `prepare` and `action` for a while; the rate of what `action` returns over the time spent in it alone."""
    clock = _clock
    count, spent, stop = 0, 0.0, clock() + seconds
    while not count or clock() < stop:
        prepare()
        start = clock()
        count += action()
        spent += clock() - start
    return count / spent


def aec_loop(env: Any, seconds: float) -> float:
    """Steps a second of the loop every PettingZoo user writes: `last`, a masked random choice, `step`."""
    clock, random = _clock, Random(0).random
    env.reset(seed=0)
    steps, start = 0, clock()
    while steps % 64 or not steps or clock() - start < seconds:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
            continue
        legal = observation["action_mask"].nonzero()[0]
        env.step(int(legal[int(random() * len(legal))]))
        steps += 1
    return steps / (clock() - start)


def parallel_loop(env: Any, seconds: float) -> float:
    """Steps a second of a parallel environment, every agent with a masked random choice."""
    clock, random = _clock, Random(0).random
    observations, _ = env.reset(seed=0)
    steps, start = 0, clock()
    while steps % 64 or not steps or clock() - start < seconds:
        if not env.agents:
            observations, _ = env.reset()
        actions = {}
        for agent in env.agents:
            legal = observations[agent]["action_mask"].nonzero()[0]
            actions[agent] = int(legal[int(random() * len(legal))])
        observations, *_ = env.step(actions)
        steps += 1
    return steps / (clock() - start)


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    packages = ("numpy", "numba", "gymnasium", "pettingzoo")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "monsterzoo": VERSION,
        **{package: version(package) for package in packages},
    }


def version(package: str) -> str | None:
    """The installed version of a package, None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def short(value: float) -> str:
    """A number with three digits and a unit: 26.1 M, 92.4 k."""
    for limit, divisor, unit in ((1e6, 1e6, " M"), (1e3, 1e3, " k")):
        if value >= limit:
            return f"{value / divisor:#.3g}".rstrip(".") + unit
    return f"{value:.3g}"


def grid(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in plain text: first column to the left, the others to the right; heads may have several lines."""
    heads = list(zip_longest(*(cell.split("\n") for cell in head), fillvalue=""))
    cells = [[str(cell) for cell in row] for row in (*heads, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells]
    lines.insert(len(heads), "  ".join("-" * width for width in widths))
    return "\n".join(lines)
