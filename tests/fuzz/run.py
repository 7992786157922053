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
    "networks": 1, "checkpoints": 1, "lessons": 1, "results": 1, "commands": 2,
}  # fmt: skip
"""How much of the time each entrance gets."""
LEAST = 100
"""Inputs that every entrance of every game gets, however long they take."""
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
        with told.open("wb") as output:
            process = subprocess.Popen(
                [*command, "--first", str(first), *limits, "--progress", str(progress)],
                cwd=ROOT,
                env={**os.environ, "MONSTERZOO_CHECKS": "1"},
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
        again = f"MONSTERZOO_CHECKS=1 {' '.join(command)} --first {result.last} --inputs 1"
        result.finding = f"{entrance} of {game}, input {result.last}: {problem}\n{text}\nagain: {again}"
    return result


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
    parser.add_argument("--least", type=int, default=LEAST, help="inputs of each kind, also if that takes longer")
    parser.add_argument("--seed", type=int, help="number of the first input (default: a random one)")
    parser.add_argument("--entrances", nargs="+", choices=SHARES, default=list(SHARES))
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    options = parser.parse_args()
    seed = SystemRandom().randrange(10**9) if options.seed is None else options.seed
    total = sum(SHARES[entrance] for entrance in options.entrances) * len(options.games)
    findings, inputs = [], 0
    print(f"inputs from number {seed} on\n{'entrance':<12} {'game':<16} {'refused':>8} {'accepted':>8}  findings")
    for entrance in options.entrances:
        for game in options.games:
            end = time.monotonic() + 60 * options.minutes * SHARES[entrance] / total
            counts: Counter[str] = Counter()
            first, found = seed, 0
            while (left := end - time.monotonic()) > 0 and found < 5:
                least = str(max(0, options.least - counts.total()))
                result = hunt(entrance, game, first, "--seconds", str(left), "--least", least)
                counts += result.counts
                first = result.last + 1
                if not result.finding:
                    break
                found += 1
                findings.append(result.finding)
                print(f"\n{result.finding}\n", flush=True)
            row = f"{entrance:<12} {game:<16} {counts['refused']:>8} {counts['accepted']:>8}  {found or ''}"
            print(row.rstrip(), flush=True)
            inputs += counts.total()
    print(f"{inputs} inputs, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
