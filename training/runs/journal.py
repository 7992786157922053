"""Metrics of a training run: printed, logged as JSON lines, to TensorBoard, W&B or Trackio, and drawn."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

from . import curves
from .config import RunConfig
from .extras import require
from .files import name_file, replacing

METRICS, PICTURE = "metrics.jsonl", "curve.png"
SILENCE = 30.0  # seconds after which a line is printed, though nothing was evaluated
ALWAYS = ("updates", "steps", "entropy", "explained")  # what every line tells and pictures are made of


class Journal:
    """Writes a run's metrics, one line per update, which is on the disk when `write` returns.

    Lines after `updates` are dropped: an interrupted run had gone on after the checkpoint it is resumed from.
    """

    def __init__(self, folder: Path, updates: int, config: RunConfig, sides: int) -> None:
        self.folder, self.config = folder, config
        self.last: dict[str, float] = {}
        path = folder / METRICS
        kept = [line for line in read(path) if line["updates"] <= updates]
        with replacing(path) as part:
            part.write_text("".join(json.dumps(line) + "\n" for line in kept))
        for line in kept:
            self.last |= line
        self._file = path.open("a")
        self._log, self._finish = open_log(folder, updates, config)
        self.chance_level, self._printed = 1 / sides, monotonic()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        with suppress(OSError):  # of a line that could not be written: `write` has told
            self._file.close()
        self._finish()
        if kind is None or not issubclass(kind, OSError):  # else there is no room for a picture either
            curves.draw(read(self.folder / METRICS), self.folder / PICTURE, self.config.game, self.chance_level)

    def write(self, report: dict[str, float], progress: float) -> None:
        """Write one update's numbers."""
        self.last |= report
        try:
            self._file.write(json.dumps(report) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            name_file(error, self.folder / METRICS)
            raise
        evaluated = any(name.startswith("win_") for name in report)
        more = {"win_chance_level": self.chance_level} if evaluated else {}
        self._log({tag(name): value for name, value in {**report, **more}.items()}, step=int(report["updates"]))
        if evaluated or monotonic() - self._printed > SILENCE:
            self._printed = monotonic()
            print(summary(self.last, progress, self.chance_level), flush=True)


def open_log(folder: Path, updates: int, config: RunConfig) -> tuple[Callable[..., None], Callable[[], None]]:
    """Functions that send numbers where `config.log` says, `log(values, step=…)`, and that close it.

    Raises `ModuleNotFoundError` if W&B or Trackio is asked for and not installed.
    """
    if config.log == "none" or (config.log == "tensorboard" and find_spec("tensorboard") is None):
        return lambda values, step: None, lambda: None
    if config.log == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(str(folder), purge_step=updates)

        def log(values: Mapping[str, float], step: int) -> None:
            for name, value in values.items():
                writer.add_scalar(name, value, step)

        return log, writer.close
    require(config.log)
    tracker = import_module(config.log)  # Trackio has W&B's functions
    tracker.init(project="monsterzoo", name=folder.name, config=config.to_dict())
    return tracker.log, tracker.finish


def summary(numbers: Mapping[str, float], progress: float, chance_level: float) -> str:
    """One line about a run: progress, speed, and win rates as they were last measured, beside the chance level."""
    steps, speed = f"{numbers['steps'] / 1e6:.2f} M steps", numbers["steps_per_second"]
    fast = f"{speed / 1000:.0f}k steps/s" if speed >= 10_000 else f"{speed:.0f} steps/s"
    rates = [f"{name[4:]} {value:.1%}" for name, value in numbers.items() if name.startswith("win_")]
    wins = f"wins (chance level {chance_level:.0%}): {', '.join(rates) or '–'}"
    return f"{progress:4.0%} {numbers['seconds']:6.0f} s  {steps}, {fast}  {wins}"


def tag(name: str) -> str:
    """A metric's tag in the log, its group and name: "win_rate/heuristic"."""
    start, _, rest = name.partition("_")
    groups = {"win": "win_rate", "error": "win_rate_error"}
    return f"{groups[start]}/{rest}" if start in groups else f"run/{name}"


def read(path: Path) -> list[dict[str, float]]:
    """The lines of a run's metrics; one that was cut off by a crash, or is damaged, is left out."""
    lines = []
    for text in path.read_text(errors="replace").splitlines() if path.exists() else []:
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and all(isinstance(line.get(name), int | float) for name in ALWAYS):
            lines.append(line)
    return lines
