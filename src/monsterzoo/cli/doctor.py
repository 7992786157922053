"""`monsterzoo doctor`: what is installed, where compiled code is kept, and what is missing for which command."""

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from monsterzoo.training.runs.extras import installed, missing, requirements

from . import COMMANDS

NEEDS = {
    "train": ("train", ""),
    "sb3": ("train", ""),
    "rllib": ("rllib", ""),
    "exploit": ("train", ""),
    "play": ("play", "needed at the table in the browser, not with --text"),
    "watch": ("play", ""),
    "arena": ("train", "needed for the picture of --output only"),
    "bench": ("train", "needed for pictures and by benchmarks that train only"),
}
"""The extra a command uses; with a remark it can do without. Commands that are not here need none."""


def main(words: Sequence[str]) -> int:
    """Look around; returns 1 if something is wrong with what every command needs."""
    parser = argparse.ArgumentParser("monsterzoo doctor", description="What is installed, and what is missing.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parsed = parser.parse_args(words)
    found = findings()
    print(json.dumps(found, indent=2) if parsed.json else as_text(found))
    return 1 if found["problems"] else 0


def findings() -> dict[str, Any]:
    """Everything as JSON."""
    problems = [f"{package} is not installed: pip install monsterzoo" for package in missing("")]
    cache: dict[str, Any] | None = None
    if not problems:
        from monsterzoo.envs.compiling.cache import cache_root  # imports numba

        files = [file for file in cache_root().rglob("*") if file.is_file()]
        sizes = sum(file.stat().st_size for file in files if file.exists())  # others may tidy up meanwhile
        cache = {"folder": str(cache_root()), "writable": _writable(cache_root()), "bytes": sizes}
        if not cache["writable"]:
            problems.append(
                f"{cache['folder']} cannot be written: everything is compiled again in every process; "
                "MONSTERZOO_CACHE_DIR names another folder"
            )
    extras = {
        extra: {"missing": missing(extra), "installed": {one: installed(one) for one in packages if installed(one)}}
        for extra, packages in requirements().items()
        if extra
    }
    commands = {}
    for command in COMMANDS:
        extra, remark = NEEDS.get(command, ("", ""))
        lacking = missing(extra) if extra else []
        commands[command] = {"extra": extra, "missing": lacking, "ready": not lacking or bool(remark), "remark": remark}
    return {
        "monsterzoo": version("monsterzoo"),
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} processors",
        "folder": str(Path(__file__).resolve().parents[1]),
        "packages": {package: installed(package) for package in requirements()[""]},
        "cache": cache,
        "extras": extras,
        "commands": commands,
        "problems": problems,
    }


def _writable(folder: Path) -> bool:
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return True
    except OSError:
        return False


def as_text(found: dict[str, Any]) -> str:
    """The findings for people."""
    lines = [
        f"monsterzoo {found['monsterzoo']} in {found['folder']}",
        f"Python {found['python']} on {found['system']}",
        ", ".join(f"{name} {number or 'missing'}" for name, number in found["packages"].items()),
    ]
    if cache := found["cache"]:
        writable = "writable" if cache["writable"] else "NOT writable"
        lines.append(f"compiled code: {cache['folder']}, {writable}, {cache['bytes'] / 1e6:.0f} MB")
    lines += ["", "extras:"]
    for extra, one in found["extras"].items():
        have = ", ".join(f"{name} {number}" for name, number in one["installed"].items())
        lack = f"missing: {', '.join(one['missing'])}" if one["missing"] else ""
        lines.append(f"  {extra:10} {'; '.join(part for part in (have, lack) if part)}")
    lines += ["", "commands:"]
    for command, one in found["commands"].items():
        state = "ready"
        if one["missing"]:
            get = f"pip install 'monsterzoo[{one['extra']}]'"
            state = f"ready; {one['extra']} {one['remark']}" if one["ready"] else f"needs {get}"
        lines.append(f"  {command:10} {state}")
    return "\n".join([*lines, *(f"PROBLEM: {problem}" for problem in found["problems"])])
