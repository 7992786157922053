"""Fuzz every entrance, each in a process of its own, so that a crash or an endless loop is a finding like any other.

`python tests/fuzz/run.py --minutes 30` (or `make fuzz MINUTES=30`) prints how many inputs every entrance got, and for
each finding the command that repeats it; the exit code is 1 if there was one.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom

ENTRANCES = Path(__file__).with_name("entrances.py")
ROOT = Path(__file__).parents[2]
GAMES = ("bite_night_v0", "pikit_v0", "yokai_septet_v0")
SHARES = {
    "snapshots": 8, "saved": 1, "batches": 1, "records": 1, "actions": 2, "players": 1, "contents": 2, "specs": 1,
    "networks": 1, "checkpoints": 1, "results": 1, "commands": 2,
}  # fmt: skip
"""How much of the time each entrance gets."""
CHECKED = {"snapshots", "actions", "players", "contents"}
"""Entrances whose inputs reach compiled rules and players, and are tried with bounds checks; others are parsers."""
LEAST = 40
"""Inputs that every entrance of every game gets first, however long they take."""
ENOUGH = 5
"""Findings after which an entrance of a game is left alone."""
HANGS, COMPILES = 120, 900
"""Seconds after which one input counts as endless, and within which the first must have begun."""


@dataclass
class Hunt:
    """What came of one process."""

    counts: Counter[str] = field(default_factory=Counter)
    finding: str = ""
    """What went wrong, with the command that repeats it; empty if nothing did."""
    last: int = 0
    """Number of the last input."""


def hunt(entrance: str, game: str, first: int, *limits: str) -> Hunt:
    """Try inputs from number `first` on, within limits such as ("--seconds", "20")."""
    with tempfile.TemporaryDirectory() as folder:
        progress, told = Path(folder, "progress"), Path(folder, "told")
        command = [sys.executable, str(ENTRANCES), entrance, game]
        checks = {"MONSTERZOO_CHECKS": str(int(entrance in CHECKED))}
        with told.open("wb") as output:
            process = subprocess.Popen(
                [*command, "--first", str(first), *limits, "--progress", str(progress)],
                cwd=ROOT,
                env={**os.environ, **checks},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            endless = _watch(process, progress)
        text = told.read_text(errors="replace")
        reached = progress.read_text() if progress.exists() else ""
    result = Hunt(last=int(reached or first))
    *_, line = text.strip().splitlines() or [""]
    if line.startswith("{"):
        result.counts.update({key: count for key, count in json.loads(line).items() if key != "finding"})
    if process.returncode != 0:
        problem = "did not end" if endless else f"ended with code {process.returncode}"
        again = f"MONSTERZOO_CHECKS={checks['MONSTERZOO_CHECKS']} {' '.join(command)} --first {result.last} --inputs 1"
        result.finding = f"{entrance} of {game}, input {result.last}: {problem}\n{text}\nagain: {again}"
    return result


@dataclass
class Row:
    """An entrance of a game, and what came of its inputs so far."""

    entrance: str
    game: str
    next: int
    """Number of the next input."""
    counts: Counter[str] = field(default_factory=Counter)
    found: int = 0

    def try_inputs(self, inputs: int) -> None:
        """Try so many of them."""
        stop = self.next + inputs
        while self.next < stop and self.found < ENOUGH:
            self._hunt("--inputs", str(stop - self.next))

    def try_for(self, seconds: float) -> None:
        """Try inputs for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.found < ENOUGH and self._hunt("--seconds", str(left)):
            pass

    def _hunt(self, *limits: str) -> bool:
        """Whether there was a finding, so that limits may not have been reached."""
        result = hunt(self.entrance, self.game, self.next, *limits)
        self.counts += result.counts
        self.next = result.last + 1
        if result.finding:
            self.found += 1
            print(f"\n{result.finding}\n", flush=True)
        return bool(result.finding)

    def tell(self) -> None:
        """Print the counts."""
        refused, accepted = self.counts["refused"], self.counts["accepted"]
        print(
            f"{self.entrance:<12} {self.game:<16} {refused:>8} {accepted:>8}  {self.found or ''}".rstrip(), flush=True
        )


def _watch(process: "subprocess.Popen[bytes]", progress: Path) -> bool:
    """Wait for a process; whether it had to be ended because one input took too long."""
    seen, since = "", time.monotonic()
    while True:
        try:
            process.wait(1)
            return False
        except subprocess.TimeoutExpired:
            now = progress.read_text() if progress.exists() else ""
        if now != seen:
            seen, since = now, time.monotonic()
        if time.monotonic() - since > (HANGS if seen else COMPILES):
            process.kill()
            process.wait()
            return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--least", type=int, default=LEAST, help="inputs of each kind that come first")
    parser.add_argument("--seed", type=int, help="number of the first input (default: a random one)")
    parser.add_argument("--entrances", nargs="+", choices=SHARES, default=list(SHARES))
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    options = parser.parse_args()
    seed = SystemRandom().randrange(10**9) if options.seed is None else options.seed
    rows = [Row(entrance, game, seed) for entrance in options.entrances for game in options.games]
    print(f"inputs from number {seed} on\n{'entrance':<12} {'game':<16} {'refused':>8} {'accepted':>8}  findings")
    end = time.monotonic() + 60 * options.minutes
    for row in rows:  # first a few of every kind, so that none is left out if time is short
        row.try_inputs(options.least)
        row.tell()
    print(f"all of them had {options.least} inputs; now for the time that is left, in all:")
    for index, row in enumerate(rows):
        # A share of what is left: what a row takes to begin, or to end, is at the cost of all the others alike.
        shares = sum(SHARES[other.entrance] for other in rows[index:])
        row.try_for((end - time.monotonic()) * SHARES[row.entrance] / shares)
        row.tell()
    inputs, findings = sum(row.counts.total() for row in rows), sum(row.found for row in rows)
    print(f"{inputs} inputs, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
