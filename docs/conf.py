"""The documentation site: `make docs`.

The source folder is the repository itself, so that links between pages work here as they do on GitHub. `README.md` is
the front page. Pages and their order are in `NAVIGATION`; `docs/api` holds the reference, made from docstrings.
"""

import re
import shutil
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from monsterzoo.envs.version import VERSION
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring

project, author, copyright = "MonsterZoo", "the MonsterZoo contributors", "the MonsterZoo contributors, MIT license"
version = release = VERSION
language, root_doc = "en", "README"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]

NAVIGATION = {
    "Games": "docs/games envs/yokai_septet/README envs/pikit/README envs/bite_night/README docs/credits",
    "Guides": "docs/install docs/train docs/evaluation docs/players docs/positions docs/data docs/libraries docs/rllib "
    "docs/language_models examples/verifiers/README examples/openenv/README examples/trl/README "
    "docs/search docs/add_a_game",
    "Interfaces": "docs/interfaces docs/table docs/commands docs/api/index docs/glossary",
    "Results": "docs/results benchmarks/results/ladder docs/exploiters policies/pretrained/README training/README "
    "docs/datasheet docs/soak",
    "Project": "CONTRIBUTING CHANGELOG SECURITY CODE_OF_CONDUCT",
}
"""Sections of the sidebar."""
include_patterns = [f"{page}.md" for pages in NAVIGATION.values() for page in pages.split()]
include_patterns += ["README.md", "docs/api/*.md", "policies/pretrained/cards/*.md"]
exclude_patterns = [".*", "build", "dist", "runs", "tests", "**/__pycache__", "*.egg-info"]

# --- Pages ---

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown"}
highlight_language = "none"

# --- The reference ---

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
maximum_signature_line_length = 88
autodoc_mock_imports = ["ray", "torchrl", "tensordict", "tianshou", "benchmarl", "pyspiel", "open_spiel", "inspect_ai"]
python_use_unqualified_type_names = True
suppress_warnings = ["ref.python"]  # of a name that is public twice, as `monsterzoo.envs.Game`

# --- Looks ---

html_theme, html_title = "furo", f"MonsterZoo {VERSION}"
html_copy_source = html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
copybutton_prompt_text = "$ "


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Hidden lists of pages, which make the sidebar: at the end of the front page, and of the page about networks."""
    lists = {root_doc: NAVIGATION, "policies/pretrained/README": {"Model cards": "policies/pretrained/cards/*"}}
    for caption, pages in lists.get(page, {}).items():
        listed = "\n".join(f"/{one}" for one in pages.split())
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n{listed}\n```\n"


def markdown_to_rst(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are Markdown: code fences, tables and `names` as reStructuredText, which autodoc reads."""

    def code(found: re.Match[str]) -> str:
        return f".. code-block:: {found[1] or 'text'}\n\n" + re.sub("^", "    ", found[2], flags=re.MULTILINE)

    def table(found: re.Match[str]) -> str:
        header, _, *rows = (line.strip("|").split("|") for line in found[0].strip().splitlines())
        cells = (
            "\n".join(f"      - {cell.strip()}" for cell in row).replace("  -", "* -", 1) for row in (header, *rows)
        )
        return "\n".join([".. list-table::", "    :header-rows: 1", "", *cells, "\n"])

    fenced = r"```(\w*)\n(.*?)\n```"
    parts = re.split(f"({fenced})", "\n".join(lines), flags=re.DOTALL)
    for at in range(0, len(parts), 4):  # prose; each is followed by a block, its language and its code
        prose = re.sub(r"(?:^\|.*\n?)+", table, parts[at], flags=re.MULTILINE)
        words = re.split(r"(?<!`)`([^`]+)`(?!`)", prose)
        words[::2] = [re.sub(r"(?<!^  )([*\\])(?! -)", r"\\\1", word) for word in words[::2]]
        words[1::2] = [f"``{word}``" for word in words[1::2]]
        words[2::2] = [re.sub(r"^(?=\w)", r"\\ ", word) for word in words[2::2]]  # a plural, say
        parts[at] = "".join(words)
    blocks = [re.sub(fenced, code, block, flags=re.DOTALL) for block in parts[1::4]]
    text = "".join(prose + block for prose, block in zip(parts[::4], [*blocks, ""]))
    if what in ("function", "method", "class", "module"):  # the colon of an attribute's docstring is a colon
        text = str(GoogleDocstring(text, Config(), app, what, name, thing, options))
    lines[:] = text.split("\n")


def name_fields(app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str, returns: str) -> Any:
    """The signature of a dataclass: its fields, which are described below it."""
    if what == "class" and is_dataclass(thing):
        return f"({', '.join(one.name for one in fields(thing) if one.init)})", returns
    return None


def front_page(app: Sphinx, error: Exception | None) -> None:
    """Servers look for `index.html`."""
    if error is None and app.builder.name == "html":
        shutil.copy(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_navigation)
    app.connect("autodoc-process-docstring", markdown_to_rst)
    app.connect("autodoc-process-signature", name_fields)
    app.connect("build-finished", front_page)
