"""`kernel`, `compiled`, `inlined`: functions compiled by numba, with machine code that is kept between processes.

Kernels are called from Python; `compiled` and `inlined` functions are parts of kernels, and run their Python source when
Python calls them. A kernel's machine code is kept in a folder named after a digest of all sources it was built from:
those of this folder, of the kernel's own, and of whatever its arguments belong to (a game's folder, a player's), see
`belongs_to`. numba itself would only notice changes in the kernel's own file.
"""

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import sigutils
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from numba.extending import overload as numba_overload
from numba.np.numpy_support import from_dtype

from .linking import InnerFunction, PartCompiler, WholeCompiler

JIT_OFF = bool(numba.config.DISABLE_JIT)
"""True under `NUMBA_DISABLE_JIT=1`: every kernel is then the plain Python function."""

_UNUSED_DAYS = 14
# What all our compiled code has in common. numba would count references to arrays, with a call for every slice and
# argument: a fifth of the time of a game step. Code without that (`_nrt`) can make no arrays, and ours never does.
_COMMON = {"nogil": True, "error_model": "numpy", "_nrt": False}
# Inner functions have no way in from Python, which would cost compile time for each of hundreds.
_PART = {**_COMMON, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def inlined(function: _Function) -> _Function:
    """Compile a small `function` into each of its callers."""
    return _inner(function, forceinline=True)


def compiled(function: _Function) -> _Function:
    """Compile a `function` as a part of the kernels that need it."""
    return _inner(function)


def _inner(function: _Function, **options: Any) -> _Function:
    if JIT_OFF:
        return function
    dispatcher = numba.njit(**_PART, **options)(function)
    dispatcher.__class__ = InnerFunction
    return dispatcher


def overload(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """numba's `overload`: what compiled code runs instead of a Python `function`, found by the arguments' types."""
    return numba_overload(function, strict=False, jit_options=_PART)


def kernel(function: _Function) -> _Function:
    """Compile `function` on first use: cached on disk, releasing the GIL, without bounds checks.

    Like all code it calls, it works on the arrays it is given and makes none.
    """
    if JIT_OFF:
        return function
    dispatcher = numba.njit(pipeline_class=WholeCompiler, **_COMMON)(function)
    dispatcher.__class__ = _Kernel
    return dispatcher


class _Kernel(CPUDispatcher):
    """A function that Python calls, with a cache for each set of sources that its arguments bring along."""

    def compile(self, sig: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(sig)
        homes = {_home(compiled), _home(self.py_func), *_homes(arguments)}
        self._cache = _cache_in(_cache_folder(frozenset(homes)), self.py_func)
        return super().compile(sig)


@cache
def type_of(record: np.dtype) -> Any:
    """What compiled code is dispatched on: numba's type of a record, or just its dtype where nothing is compiled."""
    return record if JIT_OFF else from_dtype(record)


# --- Which sources a kernel is built from ---

_belongings: dict[Any, Path] = {}


def belongs_to(function: Callable[..., Any], kind: Any) -> None:
    """Kernels with arguments of a `kind` (a numba record type or the class of a NamedTuple) build on a function's home."""
    _belongings[kind] = _home(function)


def _home(function: Callable[..., Any]) -> Path:
    """The package folder, or just the script, in which a function is defined."""
    file = Path(getattr(function, "py_func", function).__code__.co_filename).resolve()
    return file.parent if (file.parent / "__init__.py").exists() else file


def _homes(arguments: Any) -> Iterator[Path]:
    """The homes of whatever some numba types are made of."""
    for one in arguments:
        kind = getattr(one, "instance_class", one)
        if kind in _belongings:
            yield _belongings[kind]
        if isinstance(one, types.Array):
            yield from _homes([one.dtype])
        elif isinstance(one, types.BaseTuple):
            yield from _homes(one)


@cache
def _cache_in(folder: Path, function: Callable[..., Any]) -> FunctionCache:
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        return FunctionCache(function)
    finally:
        numba.config.CACHE_DIR = configured


@cache
def _cache_folder(homes: frozenset[Path]) -> Path:
    digest = hashlib.sha256()
    for home in sorted(homes):
        for source in [home] if home.is_file() else sorted(home.rglob("*.py")):
            digest.update(f"{home.name}/{source.relative_to(home)}".encode() + b"\0" + source.read_bytes() + b"\0")
    folder = cache_root() / digest.hexdigest()[:20]
    if not folder.exists():
        _forget_unused(folder.parent)
    else:
        os.utime(folder)
    return folder


def cache_root() -> Path:
    """The folder of all compiled code; `MONSTERZOO_CACHE_DIR` overrides the user's cache folder."""
    given = os.environ.get("MONSTERZOO_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "monsterzoo"


def _forget_unused(root: Path) -> None:
    """Drop compiled code of sources that nobody has run for a while."""
    oldest = time.time() - _UNUSED_DAYS * 86_400
    for folder in root.glob("*"):
        try:
            if folder.is_dir() and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # another process may be cleaning up too
            continue
