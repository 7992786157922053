"""`kernel`, `compiled`, `inlined`: functions compiled by numba, with machine code that is kept between processes.

Kernels are called from Python; `compiled` and `inlined` functions are parts of kernels, and run their Python source
when Python calls them.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import sigutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import overload as numba_overload

from .cache import SHARED, belongs_to, kept_for, note_sources, sources_of
from .linking import InnerFunction, PartCompiler, WholeCompiler
from .notice import compile_notice

JIT_OFF = bool(numba.config.DISABLE_JIT)
"""True under `NUMBA_DISABLE_JIT=1`: every kernel is then the plain Python function."""

SECONDS = 3
"""What compiling takes, roughly, for each package that a kernel is built from."""
# What all our compiled code has in common. numba would count references to arrays, with a call for every slice and
# argument: a fifth of the time of a game step. Code without that (`_nrt`) can make no arrays, and ours never does.
CHECKS = os.environ.get("MONSTERZOO_CHECKS", "") not in ("", "0")
"""True under `MONSTERZOO_CHECKS=1`: compiled code checks the bounds of arrays, and is slower for it."""
_COMMON = {"nogil": True, "error_model": "numpy", "_nrt": False, "boundscheck": CHECKS}
# Inner functions have no way in from Python, which would cost compile time for each of hundreds.
_PART = {**_COMMON, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
__all__ = ["JIT_OFF", "belongs_to", "compiled", "direct", "inlined", "kernel", "numeric", "overload"]
_Function = TypeVar("_Function", bound=Callable[..., Any])


def inlined(function: _Function) -> _Function:
    """Compile a small `function` into each of its callers."""
    return _inner(function, forceinline=True)


def compiled(function: _Function) -> _Function:
    """Compile a `function` as a part of the kernels that need it."""
    return _inner(function)


def numeric(function: _Function) -> _Function:
    """Compile a `function` whose sums may be added up in any order, and so by vectors: layers of a network."""
    return _inner(function, fastmath={"reassoc", "contract", "nsz"})


def _inner(function: _Function, **options: Any) -> _Function:
    if JIT_OFF:
        return function
    note_sources(function)
    dispatcher = numba.njit(**_PART, **options)(function)
    dispatcher.__class__ = InnerFunction
    return dispatcher


def overload(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Numba's `overload`: what compiled code runs instead of a Python `function`, found by the arguments' types."""
    return numba_overload(function, strict=False, jit_options=_PART)


def kernel(function: _Function) -> _Function:
    """Compile `function` on first use: cached on disk, releasing the GIL, without bounds checks.

    Like all code it calls, it works on the arrays it is given and makes none.
    """
    if JIT_OFF:
        return function
    note_sources(function)
    dispatcher = numba.njit(pipeline_class=WholeCompiler, no_cfunc_wrapper=True, **_COMMON)(function)
    dispatcher.__class__ = _Kernel
    return dispatcher


class _Kernel(CPUDispatcher):
    """A function that Python calls, with a cache for each set of sources that its arguments bring along."""

    def compile(self, sig: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(sig)
        sources = sources_of(self.py_func, arguments)
        own = sources - SHARED
        what = ", ".join(sorted(home.stem for home in own)) or "MonsterZoo"
        with global_compiler_lock, compile_notice(what, SECONDS * (1 + len(own))):
            self._cache = kept_for(self.py_func, sources, "-checked" if CHECKS else "")
            return super().compile(sig)


def direct(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The compiled form of a kernel for arguments of these types: calling it skips numba's look at their types.

    That look takes microseconds for tuples of arrays, as long as stepping a small batch.
    """
    if JIT_OFF:
        return function
    entry: Callable[..., Any] = function.compile(tuple(map(numba.typeof, arguments)))  # type: ignore[attr-defined]
    return entry
