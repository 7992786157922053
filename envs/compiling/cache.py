"""On-disk cache of compiled code: one folder for each set of sources it was built from.

A kernel is built from what all games share (`SHARED`), its own package, and those its arguments belong to: a game's, a
policy's (`belongs_to`). Outside of `envs`, it may also call compiled code of `policies`. The folder is named after a
digest of all these sources: numba would only notice changes in the kernel's own file. They are read when they are
imported (`note_sources`), since that is what will be compiled: a process that goes on while its sources are edited must
not keep old code under the name of the new.

Entries are pickles and machine code, run with the user's rights: only folders that belong to the user and that nobody
else may write are used.
"""

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.caching import FunctionCache, NullCache
from numba.np.numpy_support import from_dtype

from .notice import warn_once

_UNUSED_DAYS = 14
_ENVS = Path(__file__).resolve().parent.parent
SHARED = frozenset(_ENVS / name for name in ("compiling", "core", "match"))
_belongings: dict[Any, Path] = {}
_record_key = cache(from_dtype)


def key_of(kind: Any) -> Any:
    """The same key for a record's dtype, numba's type of it and a record; likewise for a NamedTuple class."""
    if isinstance(kind, types.Type):
        return getattr(kind, "instance_class", kind)
    if isinstance(kind, type):
        return kind
    dtype = kind if isinstance(kind, np.dtype) else getattr(kind, "dtype", None)
    return type(kind) if dtype is None else _record_key(dtype)


def belongs_to(function: Callable[..., Any], kind: Any, first: bool = False) -> None:
    """Kernels with arguments of a type (a record's dtype or a NamedTuple class) build on a function's home.

    With `first` only if the type has no home yet.
    """
    if not first or key_of(kind) not in _belongings:
        _belongings[key_of(kind)] = _home(function)


def sources_of(function: Callable[..., Any], arguments: Any) -> frozenset[Path]:
    """Folders (or scripts) that a kernel is built from, given its arguments' numba types."""
    home = _home(function)
    outside = set() if _ENVS in home.parents else {_ENVS.parent / "policies"}
    return SHARED | {home, *_homes(arguments)} | outside


def kept_for(function: Callable[..., Any], sources: frozenset[Path], mode: str = "") -> FunctionCache | NullCache:
    """Numba's cache of a function, in the folder of its sources and compile mode."""
    return _cache_in(_folder(sources, mode), function)


def cache_root() -> Path:
    """The folder of all compiled code: `MONSTERZOO_CACHE_DIR`, or one in the user's cache folder."""
    given = os.environ.get("MONSTERZOO_CACHE_DIR")
    root = Path(given or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "monsterzoo")
    return root.resolve()  # what a link leads to later is another folder


def note_sources(function: Callable[..., Any]) -> None:
    """Read what a function that was just imported may be compiled with."""
    _digest(_home(function))


def _home(function: Callable[..., Any]) -> Path:
    """The top-level package folder (in `envs`: the folder directly below it) or just the script of a function."""
    return _home_of(getattr(function, "py_func", function).__code__.co_filename)


@cache
def _home_of(filename: str) -> Path:
    home = Path(filename).resolve()
    while home.parent not in (_ENVS, _ENVS.parent) and (home.parent / "__init__.py").exists():
        home = home.parent
    return home


@cache
def _digest(home: Path) -> bytes:
    """A digest of a package or a script, as it is when first asked for."""
    digest = hashlib.sha256()
    for source in [home] if home.is_file() else sorted(home.rglob("*.py")):
        if source.stem.startswith("scene"):  # drawings are never compiled
            continue
        with suppress(OSError):  # such as a notebook's cell, which is no file
            digest.update(f"{home.name}/{source.relative_to(home)}".encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.digest()


def _homes(arguments: Any) -> Iterator[Path]:
    """The homes of whatever some numba types are made of."""
    for one in arguments:
        if key_of(one) in _belongings:
            yield _belongings[key_of(one)]
        if isinstance(one, types.Array):
            yield from _homes([one.dtype])
        elif isinstance(one, types.BaseTuple):
            yield from _homes(one)


class _KeptCode(FunctionCache):
    """numba's cache; a file that cannot be read or written only means compiling again."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for some types, or None; what cannot be read is forgotten."""
        if _danger(Path(self.cache_path).parent):  # since it was opened
            return None
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # unpickling damaged bytes can raise anything
            warn_once("cache", f"compiled code in {self.cache_path} cannot be read ({_reason(error)}): compiling again")
            with suppress(Exception):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for some types, if there is room."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # a full disk, a folder that has become read-only, a damaged index
            warn_once("cache", f"compiled code cannot be kept in {self.cache_path} ({_reason(error)})")


@cache
def _cache_in(folder: Path, function: Callable[..., Any]) -> FunctionCache | NullCache:
    problem = _danger(folder)
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        kept = None if problem else _KeptCode(function)
    except RuntimeError:  # there is no folder that can be written
        kept = None
    finally:
        numba.config.CACHE_DIR = configured
    # Where ours cannot be written numba takes another folder, and would find code of other sources there.
    if kept is not None and folder in Path(kept.cache_path).parents:
        return kept
    why = f"compiled code cannot be kept in {folder} ({problem or 'it cannot be written'})"
    warn_once("cache", f"{why}; MONSTERZOO_CACHE_DIR names another folder")
    return NullCache()


def _danger(folder: Path) -> str:
    """Why code in a folder, which is made where it is missing, may not be the user's own; empty if it is."""
    if not hasattr(os, "geteuid"):  # Windows: users' folders are their own
        return ""
    root = folder.parent
    try:
        root.mkdir(0o700, parents=True, exist_ok=True)
        folder.mkdir(0o700, exist_ok=True)
        for one in (root, folder):
            found = one.stat()
            if found.st_uid != os.geteuid():
                return f"{one} belongs to somebody else"
            if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return f"others may write to {one}: chmod go-w"
        for one in root.resolve().parents:
            found = one.stat()
            free = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
            if free or found.st_uid not in (0, os.geteuid()):
                return f"others may replace what is in {one}"
    except OSError as error:
        return _reason(error)
    return ""


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


@cache
def _folder(sources: frozenset[Path], mode: str) -> Path:
    digest = hashlib.sha256(b"".join(_digest(home) for home in sorted(sources)))
    folder = cache_root() / (digest.hexdigest()[:20] + mode)
    with suppress(OSError):  # a cache that cannot be written is no reason to fail
        if folder.exists():
            os.utime(folder)
        else:
            _forget_unused(folder.parent)
    return folder


def _forget_unused(root: Path) -> None:
    """Drop compiled code of sources that nobody has run for a while."""
    oldest = time.time() - _UNUSED_DAYS * 86_400
    for folder in root.glob("*"):
        with suppress(OSError):  # another process may be cleaning up too
            if folder.is_dir() and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
