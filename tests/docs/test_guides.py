"""The guides in docs: everything on a page is run, from top to bottom, as a reader would do it.

`add_a_game.md` has tests of its own.
"""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from needs import beside, needs

NEEDS = {
    "train.md": ("torch", "sb3_contrib"),
    "players.md": ("torch", "sb3_contrib"),
    "positions.md": (),
    "data.md": ("torch", "pyarrow"),
    "evaluation.md": (),
    "language_models.md": (),
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
    script.write_text(program(shortened(text), tmp_path), encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # What the page says it prints: a win rate above chance level, near the one that was measured.
    for who, wins, chance in re.findall(r"`(\w+) wins (\d+)%, chance level (\d+)%`", text):
        found = re.search(rf"^{who} wins (\d+)%, chance level {chance}%$", done.stdout, re.MULTILINE)
        assert found, f"{who} is not in {done.stdout}"
        assert abs(int(found[1]) - int(wins)) <= 8
        assert int(found[1]) > int(chance) + 10


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("torch", "pygame", "PIL"):
        needs(package)
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(beside("docs/first_steps.ipynb").read_text(encoding="utf-8"))
    assert not any(cell.get("outputs") for cell in notebook["cells"])
    names: dict[str, Any] = {}
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "cell", "exec"), names)
            if isinstance(last, ast.Expr):
                shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    assert any(hasattr(one, "_repr_svg_") and one._repr_svg_() for one in shown)
    rates = {Path(one["name"]).name: one["win_rate"] for one in names["result"]["players"]}
    assert rates["first"] > rates["random"] + 0.2


def test_every_guide_is_tested_and_in_the_navigation_of_the_site() -> None:
    guides = {path.stem for path in beside("docs").glob("*.md")}
    assert {f"{guide}.md" for guide in guides} >= {*NEEDS, "add_a_game.md"}
    navigation = beside("docs/conf.py").read_text(encoding="utf-8").split("NAVIGATION = ")[1].split("}")[0]
    assert guides <= set(re.findall(r"docs/(\w+)", navigation))


# --- The README ---

README = beside("README.md").read_text(encoding="utf-8")
BLOCKS = [block["code"] for block in BLOCK.finditer(README) if block["kind"] == "python"]
QUICKLY = {
    "updates=30": "updates=1, num_envs=16, steps=16, evaluate_games=8", "games=6000": "games=12",
    "steps=200_000, num_envs=128": "steps=100_000, num_envs=128",
}  # fmt: skip
"""What keeps code of the README and the guides short when it is tested."""
INTERFACES = re.findall(r"^\| ([^|]+) \| `([^`]+)`", README.split("## Interfaces")[1].split("\n## ")[0], re.MULTILINE)


def shortened(text: str) -> str:
    for long, short in QUICKLY.items():
        text = text.replace(long, short)
    return text


def run_code(code: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_block_of_the_readme_runs_alone(number: int, tmp_path: Path) -> None:
    if "monsterzoo.training" in BLOCKS[number]:
        needs("torch")
    assert run_code(shortened(BLOCKS[number]), tmp_path)


@pytest.mark.parametrize(("user", "code"), INTERFACES, ids=[user for user, _ in INTERFACES])
def test_every_interface_of_the_readme_works(
    user: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, as importing everything anew takes longer; what Ray starts ends with a process of its own."""
    monkeypatch.chdir(tmp_path)
    if code.startswith("monsterzoo "):
        words = code.replace("mymodule:MyPlayer", "random").replace("search:200", "search:2").split()[1:]
        code = f"from monsterzoo.cli import main; assert main({words} + ['--games', '24']) == 0"
    for library, module in {"RLlib": "ray", "Stable-Baselines3": "sb3_contrib"}.items():
        if user == library:
            needs(module)
    if user in ("TorchRL", "Tianshou", "OpenSpiel"):
        needs({"OpenSpiel": "pyspiel"}.get(user, user.lower()))
    imports = "".join(f"import {name}\n" for name in re.findall(r"(monsterzoo\.training\.\w+)\.", code))
    code = code.replace("steps=200_000", "steps=64, num_envs=2").replace("ask,", "lambda prompt: '1',")
    code = f"import gymnasium, monsterzoo as mz, monsterzoo.envs\n{imports}{code}"
    if user == "RLlib":
        run_code(code, tmp_path)
    else:
        exec(code, {})


def test_the_readme_is_short_and_installs_in_one_line_without_cuda() -> None:
    assert len(README.splitlines()) < 120
    assert re.findall(r"`(pip install .*?)`", README) == ['pip install -c constraints.txt ".[all]"']
    commands = re.search(r"```sh\n(.*?)```", README, re.DOTALL)[1].splitlines()  # type: ignore[index]
    assert [command.split("  #")[0].strip() for command in commands] == ["make demo", "make test"]
    assert "not on PyPI" in README


def test_the_readme_tells_the_networks_range_of_win_rates() -> None:
    from monsterzoo.policies.networks import pretrained

    rates = [model["arena"]["heuristic"]["win_rate"] for model in pretrained()]
    assert f"Networks win {100 * min(rates):.0f} to {100 * max(rates):.0f} %" in README


def test_the_page_about_installing_lists_the_extras_there_are() -> None:
    project = tomllib.loads(beside("pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = re.findall(r"^\| `([\w-]+)` \|", beside("docs/install.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == list(project["optional-dependencies"])
    assert project["optional-dependencies"]["all"] == ["monsterzoo[train,render,play]"]


def test_nothing_claims_to_be_on_pypi() -> None:
    root = beside("pyproject.toml").parent
    for folder in ("docs", "envs", "policies", "training", "benchmarks", "src"):
        for path in [*(root / folder).rglob("*.md"), *(root / folder).rglob("*.py")]:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"pip install ['\"`]?monsterzoo\b", text), path


def test_the_front_package_is_installed() -> None:
    """Tests run on an installation, usually an editable one: `pip install -e .` (see the Makefile)."""
    found = find_spec("monsterzoo")
    assert found is not None
    assert found.origin is not None, "install again: pip install -e . (the packages have changed)"
