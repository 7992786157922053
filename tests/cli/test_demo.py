"""What `make demo` runs, with one update and a few games."""

import json
import re
import shlex
from pathlib import Path

from monsterzoo.cli import main
from monsterzoo.policies import make

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"
SMALLER = {"--updates": "1", "--num-envs": "16", "--games": "24"}


def test_the_demo_trains_and_plays(tmp_path: Path) -> None:
    out = tmp_path / "a folder" / "demo"
    text = MAKEFILE.read_text(encoding="utf-8").replace("\\\n", "")
    commands = re.search(r"^demo:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1].splitlines()  # type: ignore[index]
    for command in commands[:2]:
        program, *words = shlex.split(command)
        assert program == "$(VENV)/bin/monsterzoo"
        words = [SMALLER.get(before, word) for before, word in zip(["", *words], words)]
        assert main([word.replace("$(DEMO)", str(out)) for word in words]) == 0

    result = json.loads((out / "arena.json").read_text())
    assert [player["name"] for player in result["players"]] == ["random", "heuristic", f"net:{out}"]
    assert result["games"] == 24
    for picture in ("curve.png", "arena.png"):
        assert f"$(DEMO)/{picture}" in commands[2]
        assert (out / picture).read_bytes().startswith(b"\x89PNG")
    trained = json.loads((out / "run.json").read_text())["result"]
    assert {"win_random", "win_heuristic"} <= trained.keys()
    assert make(f"net:{out}", "pikit_v0", players=2).name == f"net:{out}"
