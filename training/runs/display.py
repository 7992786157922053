"""Progress of a training run: a few lines kept up to date on a terminal, one line per report elsewhere."""

from collections.abc import Mapping
from time import monotonic
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

SILENCE = 60.0
"""Seconds after which a log has a line, though nothing was evaluated."""


class Display:
    """Progress, speed, losses and win rates of a run, each rate beside chance level.

    On a terminal three lines are kept up to date, cut off where it is too narrow. Anywhere else every evaluation is one
    line, however long.
    """

    def __init__(self, title: str, chance_level: float, console: Console | None = None) -> None:
        self.chance_level, self.console = chance_level, console or Console()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(None),
            TextColumn("{task.percentage:3.0f} %"),
            TimeElapsedColumn(),
            console=self.console,
        )
        self._task = self._bar.add_task(title, total=1.0)
        self._live = Live(self._bar, console=self.console) if self.console.is_terminal else None
        self._told = monotonic()

    def start(self) -> None:
        """Begin to show."""
        if self._live is not None:
            self._live.start()

    def stop(self) -> None:
        """The last state stays on the screen."""
        if self._live is not None:
            self._live.stop()

    def show(self, report: Mapping[str, float], last: Mapping[str, float], progress: float) -> None:
        """Show an update's numbers, and win rates as they were last measured."""
        speed, wins = _speed(report["steps_per_second"]), win_rates(last, self.chance_level)
        if self._live is not None:
            self._bar.update(self._task, completed=progress)
            losses = f"policy loss {report['policy_loss']:+.3f}, value loss {report['value_loss']:.3f}"
            lines = (f"{speed}, entropy {report['entropy']:.2f}, {losses}", wins)
            self._live.update(Group(self._bar, *(Text(line, no_wrap=True, overflow="ellipsis") for line in lines)))
        elif any(name.startswith("win_") for name in report) or monotonic() - self._told > SILENCE:
            self._told = monotonic()
            # Not the console's print, which breaks lines where it thinks a page ends.
            line = f"{report['seconds']:6.0f} s  {report['steps'] / 1e6:7.2f} M steps  {speed}  {wins}"
            print(line, file=self.console.file, flush=True)


def _speed(steps: float) -> str:
    return f"{steps / 1000:.0f}k steps/s" if steps >= 10_000 else f"{steps:.0f} steps/s"


def win_rates(numbers: Mapping[str, Any], chance_level: float) -> str:
    """Win rates of a report in words, with chance level."""
    rates = [f"{name[4:]} {100 * value:.1f} %" for name, value in numbers.items() if name.startswith("win_")]
    return f"wins (chance level {100 * chance_level:.0f} %): {', '.join(rates) or '–'}"
