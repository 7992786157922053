"""`monsterzoo bench`: every benchmark by its name, with options of its own.

A benchmark is a module of this package with a function `main(words) -> exit code`. It prints its tables, and writes
files only where it is told (`--json`, `--output`).
"""

import argparse
import ast
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

NO_BENCHMARKS = ("bench", "pictures")
"""Modules with a `main` that measure nothing."""


def benchmarks() -> dict[str, str]:
    """Name and first sentence of every benchmark; nothing is imported, since some need extras."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        runs = any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
        if runs and path.stem not in NO_BENCHMARKS:
            found[path.stem] = (ast.get_docstring(tree) or "").split("\n\n")[0]
    return found


def main(words: Sequence[str]) -> int:
    """Run a benchmark; raises `ValueError` for an unknown one, `ModuleNotFoundError` if it needs what is missing."""
    known = benchmarks()
    parser = argparse.ArgumentParser(
        "monsterzoo bench",
        description="Measure speed and strength. `monsterzoo bench NAME --help` lists the options of one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="benchmarks:\n" + "\n".join(f"  {name:12} {' '.join(text.split())}" for name, text in known.items()),
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="what to measure, see below")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="…", help="its options")
    if not words:
        parser.print_help()
        return 0
    chosen = parser.parse_args(list(words))
    if chosen.name not in known:
        raise ValueError(f"there is no benchmark {chosen.name!r}; there are {', '.join(known)}")
    try:
        module = import_module(f"{__package__}.{chosen.name}")
    except ModuleNotFoundError as error:
        if not {"-h", "--help"} & set(chosen.options) or str(error.name).startswith("monsterzoo"):
            raise
        print(f"usage: monsterzoo bench {chosen.name} …\n\n{known[chosen.name]}\n")
        print(f"It needs {error.name}, which is not installed; its options can be shown then.")
        return 0
    return int(module.main(chosen.options))
