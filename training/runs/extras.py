"""Extras: which packages they consist of, and which of these are missing."""

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

_IMPORTED_AS = {"PIL": "pillow", "pygame": "pygame-ce", "pyspiel": "open-spiel", "tree": "dm-tree"}
"""Modules that are called otherwise than the package that brings them."""
_GATHERED = ("peers", "test")
"""Extras with packages that others are meant for."""
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)[^;]*(?:;.*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"])?")


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def requirements() -> dict[str, tuple[str, ...]]:
    """The packages of every extra, as the installed library declares them; those it always needs under ""."""
    found: dict[str, list[str]] = {"": []}
    for text in requires("monsterzoo") or []:
        match = _REQUIREMENT.match(text)
        if match is not None:
            found.setdefault(match["extra"] or "", []).append(_canonical(match["name"]))
    return {extra: tuple(packages) for extra, packages in found.items()}


def installed(package: str) -> str | None:
    """The version of a package, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def missing(extra: str) -> list[str]:
    """The packages of an extra that are not installed."""
    return [package for package in requirements().get(extra, ()) if installed(package) is None]


def require(module: str) -> None:
    """Raise `ModuleNotFoundError` if a module is missing, before long work rather than at its end."""
    if find_spec(module) is None:
        raise ModuleNotFoundError(how_to_get(module), name=module)


def how_to_get(module: str) -> str:
    """How to install a module that could not be imported, in words."""
    top = module.partition(".")[0]
    package = _canonical(_IMPORTED_AS.get(top, top))
    for extra, packages in sorted(requirements().items(), key=lambda one: one[0] in _GATHERED):
        if extra and package in packages:
            return f"{top} is not installed; pip install '.[{extra}]' in the checkout brings it along"
    return f"{top} is not installed"
