"""The guides in docs: everything on a page is run, from top to bottom, as a reader would do it.

`add_a_game.md` has tests of its own.
"""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from needs import beside, needs

NEEDS = {
    "train.md": ("torch", "sb3_contrib"),
    "players.md": ("torch", "sb3_contrib"),
    "positions.md": (),
    "evaluation.md": (),
    "search.md": (),
}
"""The guides, and the packages of the extra train that each needs."""
BLOCK = re.compile(
    r"(?:^\*\*`(?P<file>[^`\n]+)`\*\*[^\n]*\n\n)?^```(?P<kind>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
SMALL = {
    "train": "--updates 2 --num-envs 16 --steps 64 --width 8 --minibatch 64 --evaluate-games 8 --evaluate-every 0",
    "arena": "--games 4",
}
"""What keeps the commands of the guides short when they are tested: later flags win."""


def program(text: str, folder: Path) -> str:
    """A page as one program: its files are written, its commands become calls, its code stays as it is."""
    parts = ["from monsterzoo.cli import main as _main"]
    for block in BLOCK.finditer(text):
        if block["file"]:
            (folder / block["file"]).write_text(block["code"], encoding="utf-8")
        elif block["kind"] == "python":
            parts.append(block["code"])
        elif block["kind"] == "sh":
            for line in block["code"].splitlines():
                words = shlex.split(line, comments=True)
                assert words[0] == "monsterzoo", f"what is {line}?"
                more = [] if "--resume" in words else shlex.split(SMALL.get(words[1], ""))
                if "--resume" in words:
                    more = ["--updates", "3"]
                parts.append(f"assert _main({[*words[1:], *more]!r}) == 0")
    return "\n".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("page", NEEDS)
def test_everything_on_the_page_runs(page: str, tmp_path: Path) -> None:
    for package in NEEDS[page]:
        needs(package)
    text = beside(f"docs/{page}").read_text(encoding="utf-8")
    script = tmp_path / "page.py"
    script.write_text(program(text, tmp_path), encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_guide_is_tested_and_linked_from_the_readme() -> None:
    guides = {path.name for path in beside("docs").glob("*.md")}
    assert guides >= {*NEEDS, "add_a_game.md"}
    for guide in guides:
        assert f"(docs/{guide})" in README


# --- The README ---

README = beside("README.md").read_text(encoding="utf-8")
BLOCKS = [block["code"] for block in BLOCK.finditer(README) if block["kind"] == "python"]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_block_of_the_readme_runs_alone(number: int, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKS[number]], cwd=tmp_path, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_readme_lists_the_extras_there_are() -> None:
    project = tomllib.loads(beside("pyproject.toml").read_text(encoding="utf-8"))["project"]
    section = README.split("## Installation")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)
    assert listed == list(project["optional-dependencies"])


def test_the_readme_is_short_and_says_first_how_to_do_without_cuda() -> None:
    assert len(README.splitlines()) < 300
    section = README.split("## Installation")[1]
    commands = re.findall(r"^pip install .*$", section, re.MULTILINE)
    assert "constraints.txt" in commands[0]
    assert "[train]" in commands[0]


def test_the_front_package_is_installed() -> None:
    """Tests run on an installation, usually an editable one: `pip install -e .` (see the Makefile)."""
    found = find_spec("monsterzoo")
    assert found is not None
    assert found.origin is not None, "install again: pip install -e . (the packages have changed)"
