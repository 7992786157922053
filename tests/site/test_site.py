"""The documentation site as `make docs` has built it: nothing missing, no dead ends, searchable."""

import re
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

import pytest
from needs import ROOT, needs

inventory = needs("sphinx.util.inventory")
SITE = ROOT / "build" / "docs" / "html"
if not (SITE / "index.html").exists():
    pytest.skip("needs the site: make docs", allow_module_level=True)
PAGES = sorted(SITE.rglob("*.html"))


class Page(HTMLParser):
    """Addresses that a page leads to, and names in it that can be led to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.targets, self.names = set[str](), set[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.names.add(value)
            elif key in ("href", "src") and value:
                self.targets.add(value)


READ = {path: Page(path) for path in PAGES}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(SITE)))
def test_links_pictures_and_anchors_exist(path: Path) -> None:
    for target in READ[path].targets:
        if re.match(r"(https?|data|mailto):", target):
            continue
        file, _, name = unquote(target).partition("#")
        found = (path.parent / file.partition("?")[0]).resolve() if file else path
        assert found.exists(), target
        if name and found in READ:
            assert name in READ[found].names, target


def test_every_public_name_is_in_the_reference() -> None:
    with (SITE / "objects.inv").open("rb") as file:
        listed = inventory.InventoryFile.load(file, "", lambda base, path: path)
    found = {name for kind, names in listed.items() if kind.startswith("py:") for name in names}
    for module in ("monsterzoo.envs", "monsterzoo.policies", "monsterzoo.training.arena", "monsterzoo.training.rllib"):
        public = {name for name in re.findall(r'"([A-Za-z]\w+)"', _all_of(module)) if not name.isupper()}
        assert public
        assert {f"{module}.{name}" for name in public} <= found
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("envs/*/README.md"), ROOT / "README.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    imported = re.findall(r"^from (monsterzoo\.[\w.]+) import ([\w, ]+)$", text, re.MULTILINE)
    used = {f"{module}.{name.strip()}" for module, names in imported for name in names.split(",")}
    assert len(used) > 20
    assert {
        name for name in used if name not in found and not name.rpartition(".")[2].isupper() and not _is_module(name)
    } == set()


def _all_of(module: str) -> str:
    path = ROOT.joinpath(*module.split(".")[1:])
    source = (path / "__init__.py") if path.is_dir() else path.with_suffix(".py")
    return re.search(r"^__all__ = (\[.*?\])", source.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[1]  # type: ignore[index]


def _is_module(name: str) -> bool:
    try:
        import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def test_the_front_page_is_the_readme_and_all_pages_can_be_searched() -> None:
    assert (SITE / "index.html").read_text("utf-8") == (SITE / "README.html").read_text("utf-8")
    index = (SITE / "searchindex.js").read_text(encoding="utf-8")
    for page in ("docs/train", "envs/pikit/README", "docs/api/envs", "policies/pretrained/cards/pikit_v0-2p"):
        assert f'"{page}"' in index


def test_a_game_has_picture_rules_tables_and_baselines() -> None:
    for game in ("yokai_septet", "pikit", "bite_night"):
        text = (SITE / "envs" / game / "README.html").read_text(encoding="utf-8")
        assert re.search(rf'<img [^>]*src="[^"]*{game}\.(gif|png)"', text)
        for heading in ("The game in short", "Rulings", "Baselines", "Actions and observation", "not affiliated"):
            assert heading in text
