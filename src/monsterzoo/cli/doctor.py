"""`monsterzoo doctor`: what is installed, where compiled code is kept, and what is missing for which command."""

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from monsterzoo.training.runs.extras import installed, missing, requirements

from . import COMMANDS

NEEDS = {
    "train": ("train", ""),
    "sb3": ("train", ""),
    "rllib": ("rllib", ""),
    "exploit": ("train", ""),
    "play": ("play", "needed at the table in the browser, not with --text"),
    "watch": ("play", ""),
    "mcp": ("mcp", ""),
    "arena": ("train", "needed for the picture of --output only"),
    "bench": ("train", "needed for pictures and by benchmarks that train only"),
}
"""The extra a command uses; with a remark it can do without. Commands that are not here need none."""


def main(words: Sequence[str]) -> int:
    """Look around; returns 1 if something is wrong with what every command needs."""
    argparse.ArgumentParser("monsterzoo doctor", description="What is installed, what is missing.").parse_args(words)
    system = f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} processors"
    print(f"monsterzoo {version('monsterzoo')} in {Path(__file__).resolve().parents[1]}")
    print(f"Python {platform.python_version()} ({sys.executable}) on {system}")
    problems = [f"{package} is not installed: pip install . in the checkout" for package in missing("")]
    packages = dict(requirements())
    print(_versions(packages.pop("")))
    if not problems:
        problems += _look_at_cache()
    print("\nextras:")
    for extra, names in packages.items():
        print(f"  {extra:10} {_versions(names)}")
    print("\ncommands:")
    for command in COMMANDS:
        (extra, remark), state = NEEDS.get(command, ("", "")), "ready"
        if extra and missing(extra):
            state = f"ready; {extra} {remark}" if remark else f"needs pip install '.[{extra}]' in the checkout"
        print(f"  {command:10} {state}")
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems else 0


def _versions(packages: Sequence[str]) -> str:
    return ", ".join(f"{package} {installed(package) or 'missing'}" for package in packages)


def _look_at_cache() -> list[str]:
    """Tell about the folder of compiled code; returns what is wrong with it."""
    from monsterzoo.envs.compiling.cache import cache_root  # imports numba

    folder = cache_root()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    place = next(place for place in (folder, *folder.parents) if place.exists())
    writable = place.is_dir() and os.access(place, os.W_OK)
    print(f"compiled code: {folder}, {'writable' if writable else 'NOT writable'}, {size / 1e6:.0f} MB")
    advice = "everything is compiled again in every process; MONSTERZOO_CACHE_DIR names another folder"
    return [] if writable else [f"{folder} cannot be written: {advice}"]
