"""What the documentation says is what the code does."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from monsterzoo.envs import names
from monsterzoo.envs.tables import END, START, files, main, with_tables
from monsterzoo.training import cli

ROOT = Path(__file__).resolve().parents[1]
TABLES = {str(path.relative_to(ROOT)): (path, tables) for path, tables in files()}
PAGES = sorted({ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("envs/*/README.md")})


def page_ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("file", TABLES)
def test_tables_are_those_of_the_code(file: str) -> None:
    path, tables = TABLES[file]
    text = path.read_text(encoding="utf-8")
    assert with_tables(text, tables, file) == text, "run python -m monsterzoo.envs.tables --write"


def test_every_game_has_a_readme_and_stands_in_the_first_table() -> None:
    assert set(TABLES) == {"README.md", *(f"envs/{name.rsplit('_', 1)[0]}/README.md" for name in names())}
    for name in names():
        assert name in TABLES["README.md"][1]


def test_stale_tables_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"before\n{START}\nold\n{END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr("monsterzoo.envs.tables.files", lambda: iter([(page, "| new |")]))
    assert main([]) == 1
    assert "old" in page.read_text(encoding="utf-8")
    assert main(["--write"]) == 0
    assert page.read_text(encoding="utf-8") == f"before\n{START}\n\n| new |\n\n{END}\nafter\n"
    assert main([]) == 0


def test_a_page_without_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"page\.md has no <!-- table:start -->"):
        with_tables("no markers", "| table |", "page.md")


@pytest.mark.parametrize("path", [page for page in PAGES if "```python" in page.read_text("utf-8")], ids=page_ids)
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
    for module in re.findall(r"python -m (monsterzoo[\w.]*\w)", text):
        assert find_spec(module), f"there is no module {module}"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"there is no make {target}"


@pytest.mark.parametrize("path", PAGES, ids=page_ids)
def test_subcommands_and_their_flags_exist(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, flags in re.findall(r"^monsterzoo (\w+) (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        with pytest.raises(SystemExit, match="0"):
            cli.main([command, "--help"])
        offered = capsys.readouterr().out
        for flag in re.findall(r"--[\w-]+", flags):
            assert flag in offered, f"monsterzoo {command} has no {flag}"


def test_every_option_of_a_game_stands_in_its_readme(name: str, options: dict[str, object]) -> None:
    page = (ROOT / "envs" / name.rsplit("_", 1)[0] / "README.md").read_text(encoding="utf-8")
    for option in options:
        assert f"| `{option}` |" in page
