"""What a run tells while it learns: a progress bar, lines of JSON, TensorBoard, and a picture."""

import json
import os
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from . import curves
from .config import RunConfig
from .files import replacing

METRICS, PICTURE = "metrics.jsonl", "curve.png"
ALWAYS = ("updates", "steps", "entropy", "explained")
"""What every line tells and pictures are made of."""


class Journal:
    """Writes a run's numbers, one line per update, which is on the disk when `write` returns.

    Lines after `updates` are dropped: an interrupted run had gone on after the checkpoint it is resumed from.
    """

    def __init__(self, folder: Path, updates: int, config: RunConfig) -> None:
        self.folder, self.config = folder, config
        self.last: dict[str, float] = {}
        path = folder / METRICS
        found = {int(line["updates"]): line for line in read(path)} if updates else {}
        kept = [found[update] for update in sorted(found) if 1 <= update <= updates]
        if len(kept) < updates:
            print(f"{path} lacks {updates - len(kept)} of {updates} updates")
        with replacing(path) as part:
            part.write_text("".join(json.dumps(line) + "\n" for line in kept))
        for line in kept:
            self.last |= line
        self._file = path.open("a")
        self._events = self._open_events(updates) if config.tensorboard else None
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(None),
            TextColumn("{task.percentage:3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[numbers]}"),
        )

    def _open_events(self, updates: int) -> Any:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:  # TensorBoard is not installed
            return None
        return SummaryWriter(str(self.folder), purge_step=updates)

    def __enter__(self) -> "Journal":
        self._bar.start()
        name = f"{self.config.game} {self.config.players}p"
        self._task = self._bar.add_task(name, total=1.0, numbers="")
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.stop()
        self._file.close()
        if self._events is not None:
            self._events.close()
        curves.draw(read(self.folder / METRICS), self.folder / PICTURE, self.config.game)

    def write(self, report: dict[str, float], progress: float) -> None:
        """Write one update's numbers."""
        self.last |= report
        self._file.write(json.dumps(report) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        if self._events is not None:
            for name, value in report.items():
                self._events.add_scalar(name, value, int(report["updates"]))
        rates = [f"{name[4:]} {100 * self.last[name]:.1f} %" for name in self.last if name.startswith("win_")]
        losses = f"policy {report['policy_loss']:+.3f} value {report['value_loss']:.3f} entropy {report['entropy']:.2f}"
        numbers = f"{report['steps_per_second'] / 1000:.0f}k steps/s · {losses} · wins: {' '.join(rates) or '–'}"
        self._bar.update(self._task, completed=progress, numbers=numbers)
        if any(name.startswith("win_") for name in report) and not self._bar.console.is_terminal:
            self._bar.console.print(f"{report['seconds']:6.0f} s  {report['steps'] / 1e6:7.2f} M steps  {numbers}")


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
