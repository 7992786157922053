"""What a test needs beyond the library and its extra `test`; without it the test is skipped by name."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import monsterzoo.envs
import pytest
from monsterzoo.training.runs.extras import how_to_get

ROOT = Path(__file__).resolve().parents[1]
HOME = Path(monsterzoo.envs.__file__).resolve().parents[1]
"""Where the installed packages are: the checkout itself, if the install is editable."""
IN_CHECKOUT = HOME == ROOT
WHY = "needs an editable install of the checkout around it: pip install --editable '.[test]'"

needs_checkout = pytest.mark.skipif(not IN_CHECKOUT, reason=WHY)
"""Marks a test, or as `pytestmark` a file of them, that reads sources and pages beside what it imports."""


def beside(path: str) -> Path:
    """A file or folder of the checkout; if the tests were copied without it, those that need it are skipped.

    An editable install is not needed, unlike above: pages and tools tell of whatever is installed.
    """
    found = ROOT / path
    if not found.exists():
        pytest.skip(f"needs {path} of the checkout beside the folder tests", allow_module_level=True)
    return found


def marked(module: str) -> pytest.MarkDecorator:
    """Marks single tests of a file that need a module of an extra."""
    return pytest.mark.skipif(find_spec(module) is None, reason=how_to_get(module))


def needs(module: str) -> Any:
    """A module of an extra; without it the test, or at the top of a file all of its tests, is skipped."""
    return pytest.importorskip(module, reason=how_to_get(module))
