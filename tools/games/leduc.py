"""Leduc poker, assembled from the code blocks of `docs/add_a_game.md`."""

import atexit
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from monsterzoo.envs import Game

PAGE = Path(__file__).resolve().parents[2] / "docs" / "add_a_game.md"
BLOCK = re.compile(
    r"(?:^\*\*`(?P<file>[^`\n]+)`\*\*[^\n]*\n\n)?^```(?P<kind>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


def files(page: str) -> dict[str, str]:
    """The files of the page: all code blocks headed by a file name, joined in order."""
    found: dict[str, list[str]] = {}
    for block in BLOCK.finditer(page):
        if block["file"]:
            found.setdefault(block["file"], []).append(block["code"])
    return {name: "\n\n".join(parts) for name, parts in found.items()}


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write files into a folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@cache
def leduc() -> Game:
    """The game."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)  # until then tracebacks and the compiler may want to read the sources
    write(Path(folder.name), files(PAGE.read_text(encoding="utf-8")))
    sys.path.insert(0, folder.name)
    try:
        return import_module("leduc_poker").GAME
    finally:
        sys.path.remove(folder.name)
