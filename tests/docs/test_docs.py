"""What the documentation says is what the code does."""

import json
import re
import subprocess
import sys
from ast import literal_eval
from importlib.util import find_spec
from pathlib import Path

import pytest
from monsterzoo.envs import names
from monsterzoo.envs.core.options import REWARD, Option
from monsterzoo.envs.core.registry import find_game
from needs import ROOT, beside, needs, needs_checkout
from shell import exit_code

beside("tools")

from tools.tables import END, START, files, with_tables

pytestmark = needs_checkout
TABLES = {str(path.relative_to(ROOT)): (path, tables) for path, tables in files()}
FOLDERS = ("envs", "policies", "training", "benchmarks", "docs")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
RUNNING = [*sorted(ROOT.glob("envs/*/README.md")), ROOT / "docs" / "interfaces.md"]
"""Pages whose code is run here, from top to bottom; others have tests in `test_guides`, or show what needs time."""


def page_ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("file", TABLES)
def test_tables_are_those_of_the_code(file: str) -> None:
    path, tables = TABLES[file]
    text = path.read_text(encoding="utf-8")
    assert with_tables(text, tables, file) == text, "run make generated"


def test_every_game_has_a_readme_and_stands_in_the_first_table() -> None:
    assert set(TABLES) == {
        "docs/games.md",
        "docs/language_models.md",
        "docs/exploiters.md",
        "benchmarks/results/ladder.md",
        "policies/pretrained/README.md",
        *(f"envs/{name.rsplit('_', 1)[0]}/README.md" for name in names()),
    }
    for name in names():
        assert name in TABLES["docs/games.md"][1][0]


def test_only_what_is_between_the_markers_is_replaced() -> None:
    text = f"before\n{START}\nold\n{END}\nafter\n{START}\n\n\n{END}\n"
    filled = f"before\n{START}\n\n| new |\n\n{END}\nafter\n{START}\n\n| other |\n\n{END}\n"
    assert with_tables(text, ["| new |", "| other |"], "page.md") == filled


def test_a_page_without_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"page\.md has 0 parts between <!-- table:start -->"):
        with_tables("no markers", ["| table |"], "page.md")


@pytest.mark.parametrize("path", [page for page in RUNNING if "```python" in page.read_text("utf-8")], ids=page_ids)
def test_code_on_the_page_runs(path: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    result = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("path", PAGES, ids=page_ids)
def test_links_and_pictures_exist(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), f"{target} does not exist"


@pytest.mark.parametrize("path", PAGES, ids=page_ids)
def test_commands_on_the_page_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for module in re.findall(r"python -m ((?:monsterzoo|tools)[\w.]*\w)", text):
        assert find_spec(module), f"there is no module {module}"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"there is no make {target}"


@pytest.mark.parametrize("path", PAGES, ids=page_ids)
def test_subcommands_and_their_flags_exist(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, lacking = path.read_text(encoding="utf-8"), set[str]()
    for command, words in re.findall(r"(?:^|`|\$ )monsterzoo ([a-z0-9]+)([^`\n#]*)", text, re.MULTILINE):
        # A benchmark has flags of its own, and so has a way to learn.
        part = words.split()[:1] if command == "bench" else re.findall(r"--method [a-z]+", words)
        part = " ".join(part).split()
        assert exit_code([command, *part, "--help"]) == 0, f"there is no {command} {part}"
        shown = capsys.readouterr().out
        assert shown.startswith("usage: ")
        if missing := re.search(r"^It needs (\w+), which is not installed", shown, re.MULTILINE):
            lacking.add(missing[1])
            continue
        offered = set(re.findall(r"--[\w-]+", shown))
        unknown = set(re.findall(r"(?<=\s)--[\w-]+", words)) - offered
        assert not unknown, f"monsterzoo {command} has no {unknown}"
    for module in sorted(lacking):
        needs(module)  # all others have been looked at


# --- Options ---


def options_of(name: str) -> dict[str, Option]:
    return {**find_game(name).options, "reward": REWARD}


def page_of(name: str) -> str:
    return (ROOT / "envs" / name.rsplit("_", 1)[0] / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("game", names())
def test_the_page_of_a_game_lists_its_options_and_no_others(game: str) -> None:
    table = page_of(game).split("### Options")[1].split("###")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    told = [(key, literal_eval(default), allowed, meaning) for key, default, allowed, meaning in rows]
    assert told == [(key, one.default, one.allowed, one.meaning) for key, one in options_of(game).items()]
    assert all(one.allowed and one.meaning for one in options_of(game).values())


@pytest.mark.parametrize("game", names())
def test_options_in_the_text_exist_and_may_have_these_values(game: str) -> None:
    found = re.findall(r"`(\w+)=([^`]+)`", page_of(game))
    assert found, "rulings name the options that change them"
    for key, value in found:
        assert key in options_of(game), f"{game} has no option {key}"
        if not value.startswith("{"):  # a form, not a value
            options_of(game)[key].check(literal_eval(value))


@pytest.mark.parametrize("game", names())
def test_variants_name_options_of_the_game(game: str) -> None:
    for options in find_game(game).variants:
        assert options.keys() <= find_game(game).options.keys()
        assert find_game(game).variant(**options).options.items() >= options.items()


def test_speeds_of_the_libraries_are_those_that_were_measured() -> None:
    text = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
    page = {cells[1].strip(): cells[-2].strip() for line in text.splitlines() if len(cells := line.split("|")) == 8}
    measured = json.loads((ROOT / "benchmarks" / "results" / "libraries.json").read_text(encoding="utf-8"))
    names = {"sb3": "Stable-Baselines3", "agilerl": "AgileRL", "benchmarl": "BenchMARL", "openspiel": "OpenSpiel"}
    names |= {"rllib": "RLlib", "torchrl": "TorchRL", "tianshou": "Tianshou", "skrl": "skrl"}
    assert {names[library]: float(f"{rates['ours']:.2g}") for library, rates in measured.items()} == {
        name: float(f"{int(speed.replace(',', '')):.2g}") for name, speed in page.items() if name in names.values()
    }
