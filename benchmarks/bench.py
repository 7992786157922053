"""`monsterzoo bench`: benchmarks by name, each with options of its own.

A benchmark is a module with a function `main(arguments) -> exit code`. It prints its tables, and writes files only
where it is told to (`--json`, `--picture`).
"""

import argparse
from collections.abc import Sequence
from importlib import import_module

BENCHMARKS = {
    "throughput": "steps per second of every game, variant and interface",
    "coldstart": "CPU time to the first step, with nothing compiled yet",
    "peers": "random play and search beside other libraries",
    "learning": "training time to 90 % wins against random players: our PPO, SB3 and RLlib (needs monsterzoo[train])",
}


def main(arguments: Sequence[str]) -> int:
    """Run a benchmark; raises `ValueError` for an unknown one, `ModuleNotFoundError` for a missing extra."""
    parser = argparse.ArgumentParser(
        "monsterzoo bench",
        description="Measure speed. `monsterzoo bench NAME --help` lists the options of one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="benchmarks:\n" + "\n".join(f"  {name:12} {text}" for name, text in BENCHMARKS.items()),
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="what to measure, see below")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="…", help="its options")
    if not arguments:
        parser.print_help()
        return 0
    chosen = parser.parse_args(list(arguments))
    if chosen.name not in BENCHMARKS:
        raise ValueError(f"unknown benchmark {chosen.name!r}; there are {', '.join(BENCHMARKS)}")
    return int(import_module(f"{__package__}.{chosen.name}").main(chosen.options))
