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

from monsterzoo.training.extras import installed, missing, requirements

from . import COMMANDS

NEEDS = {
    "train": ("train", ""),
    "sb3": ("train", ""),
    "rllib": ("rllib", ""),
    "exploit": ("train", ""),
    "play": ("play", "needed at the table in the browser, not with --text"),
    "watch": ("play", ""),
    "arena": ("train", "needed for the picture of --output and for the progress bar only"),
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

        cache = _cache(cache_root())
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
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "folder": str(Path(__file__).resolve().parents[1]),
        "packages": {package: installed(package) for package in requirements()[""]},
        "cache": cache,
        "threads": _threads(),
        "extras": extras,
        "commands": commands,
        "problems": problems,
    }


def _cache(folder: Path) -> dict[str, Any]:
    """Whether compiled code can be kept, and how much of it there is."""
    sizes, builds = 0, 0
    if folder.is_dir():
        builds = sum(one.is_dir() for one in folder.iterdir())
        for file in folder.rglob("*"):
            try:
                sizes += file.stat().st_size if file.is_file() else 0
            except OSError:  # somebody else is tidying up
                continue
    return {"folder": str(folder), "writable": _writable(folder), "bytes": sizes, "builds": builds}


def _writable(folder: Path) -> bool:
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return True
    except OSError:
        return False


def _threads() -> dict[str, Any]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_DISABLE_JIT", "MONSTERZOO_CHECKS")
    return {"processors": usable, "settings": {name: os.environ[name] for name in names if name in os.environ}}


def as_text(found: dict[str, Any]) -> str:
    """The findings for people."""
    packages = ", ".join(f"{name} {number or 'missing'}" for name, number in found["packages"].items())
    lines = [
        f"monsterzoo {found['monsterzoo']} in {found['folder']}",
        f"Python {found['python']} ({sys.executable}) on {found['system']}",
        packages,
        "",
    ]
    if found["cache"]:
        cache = found["cache"]
        kept = f"{cache['bytes'] / 1e6:.0f} MB in {cache['builds']} builds"
        lines.append(f"compiled code: {cache['folder']}, {'writable' if cache['writable'] else 'NOT writable'}, {kept}")
    threads = found["threads"]
    more = "".join(f", {name}={value}" for name, value in threads["settings"].items())
    lines += [f"processors for this process: {threads['processors']}{more}", "", "extras:"]
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
    lines += ["", *(f"PROBLEM: {problem}" for problem in found["problems"])] if found["problems"] else []
    return "\n".join(lines)
