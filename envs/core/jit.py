"""`kernel`: compile a function with numba and keep the machine code between processes.

numba only notices changes in a function's own file, while our kernels inline functions from many files. So the code is
kept in a folder named after a digest of every source file the function could have been built from.
"""

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.registry import CPUDispatcher

JIT_OFF = bool(numba.config.DISABLE_JIT)
"""True under `NUMBA_DISABLE_JIT=1`: every kernel is then the plain Python function."""

_ENVS = Path(__file__).resolve().parents[1]
_POLICIES = _ENVS.parent / "policies"  # their compiled players are built into our loops
_UNUSED_DAYS = 14
# What all our compiled code has in common. numba would count references to arrays, with a call for every slice and
# argument: a fifth of the time of a game step. Code without that (`_nrt`) can make no arrays, and ours never does.
_COMMON = {"nogil": True, "error_model": "numpy", "_nrt": False}
_Function = TypeVar("_Function", bound=Callable[..., Any])


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


class _Inner(CPUDispatcher):
    """A compiled function without a way in from Python, which would cost compile time for each of hundreds."""

    effort = numba.config.OPT

    def compile(self, sig: Any) -> Any:
        """Compile it for some types, with its own effort; numba compiles one kernel at a time, with all its parts."""
        asked = numba.config.OPT
        numba.config.OPT = self.effort
        try:
            return super().compile(sig)
        finally:
            numba.config.OPT = asked

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.py_func.__name__
        raise TypeError(f"{name} is called by compiled code only; call it from a kernel, or call {name}.py_func")


class _Plain(_Inner):
    """The same, compiled as cheaply as possible: what counts is how the kernel is optimized that it becomes part of."""

    effort = type(numba.config.OPT)(1)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Let numba, while it compiles a caller, see whole numbers and not a new type for every constant."""
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(types.unliteral(kind) for kind in args), plain)


def _inner(function: _Function, kind: type[_Inner], **options: Any) -> _Function:
    if JIT_OFF:
        return function
    dispatcher = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_COMMON, **options)(function)
    dispatcher.__class__ = kind
    return dispatcher


def inlined(function: _Function) -> _Function:
    """Compile a small `function` into each of its callers."""
    return _inner(function, _Plain, forceinline=True)


def specialized(function: _Function) -> _Function:
    """Like `inlined`, with full effort and anew for every constant among the arguments; slow to compile."""
    return _inner(function, _Inner, forceinline=True)


def compiled(function: _Function) -> _Function:
    """Compile a `function` that only compiled code calls."""
    return _inner(function, _Plain)


def kernel(function: _Function) -> _Function:
    """Compile `function` on first use: cached on disk, releasing the GIL, without bounds checks.

    Like all code it calls, it works on the arrays it is given and makes none.
    """
    if JIT_OFF:
        return function
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_cache_folder(_package_folder(function)))
    try:
        return numba.njit(cache=True, **_COMMON)(function)
    finally:
        numba.config.CACHE_DIR = configured


def _package_folder(function: Callable[..., Any]) -> Path:
    """The folder of the `monsterzoo.<part>` (or foreign package) that defines the function."""
    file = Path(function.__code__.co_filename).resolve()
    module = function.__module__.split(".")
    depth = len(module) - (2 if module[0] == "monsterzoo" else 1)
    if file.name == "__init__.py":
        depth += 1
    return file.parents[max(depth - 1, 0)]


@cache
def _cache_folder(package: Path) -> Path:
    digest = hashlib.sha256()
    for folder in sorted({_ENVS, _POLICIES, package}):
        for source in sorted(folder.rglob("*.py")):
            digest.update(str(source.relative_to(folder)).encode() + b"\0" + source.read_bytes() + b"\0")
    folder = cache_root() / digest.hexdigest()[:20]
    if not folder.exists():
        _forget_unused(folder.parent)
    else:
        os.utime(folder)
    return folder


def _forget_unused(root: Path) -> None:
    """Drop compiled code of sources that nobody has run for a while."""
    oldest = time.time() - _UNUSED_DAYS * 86_400
    for folder in root.glob("*"):
        try:
            if folder.is_dir() and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # another process may be cleaning up too
            continue
