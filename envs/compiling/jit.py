"""Decorators for functions compiled by numba, with machine code that is cached between processes.

A `kernel` is called from Python. `compiled`, `inlined` and `numeric` functions are parts of kernels; called from Python
they run their Python source.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import sigutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target
from numba.extending import overload as numba_overload

from .cache import SHARED, belongs_to, kept_for, note_sources, sources_of
from .notice import compile_notice, warn_of_slow_compiling

_part: dict[str, Any] = {}
_whole: dict[str, Any] = {}
_inlined: set[Any] = set()
try:
    from . import linking

    _part["pipeline_class"], _whole["pipeline_class"] = linking.PartCompiler, linking.WholeCompiler
    _inlined = linking.INLINED
except (ImportError, AttributeError) as error:  # another release of numba
    warn_of_slow_compiling(error)

__all__ = ["JIT_OFF", "belongs_to", "compiled", "compiled_as", "direct", "inlined", "kernel", "numeric", "overload"]
_Function = TypeVar("_Function", bound=Callable[..., Any])
JIT_OFF = bool(numba.config.DISABLE_JIT)
"""True under `NUMBA_DISABLE_JIT=1`: every kernel is then the plain Python function."""
CHECKS = os.environ.get("MONSTERZOO_CHECKS", "") not in ("", "0")
"""True under `MONSTERZOO_CHECKS=1`: compiled code checks the bounds of arrays, and is slower for it."""
SECONDS = 3
"""Rough compile time for each package that a kernel is built from."""


def _known(**options: Any) -> dict[str, Any]:
    """Those of some options that this release of numba has; none of them changes what code does."""
    return {name: value for name, value in options.items() if hasattr(cpu_target.options, name)}


# numba would count references to arrays, with a call for every slice and argument: a fifth of the time of a game step.
# Code without that (`_nrt`) can make no arrays, and ours never does.
_COMMON = {"nogil": True, "error_model": "numpy", "boundscheck": CHECKS, **_known(_nrt=False)}
# Inner functions have no way in from Python, which would cost compile time for each of hundreds.
_PART = {**_COMMON, **_known(no_cpython_wrapper=True, no_cfunc_wrapper=True), **_part}
_WHOLE = {**_COMMON, **_known(no_cfunc_wrapper=True), **_whole}


def inlined(function: _Function) -> _Function:
    """Compile a small `function` into each of its callers."""
    _inlined.add(function)
    return _inner(function)


def compiled(function: _Function) -> _Function:
    """Compile a `function` as a part of the kernels that call it."""
    return _inner(function)


def numeric(function: _Function) -> _Function:
    """Compile a `function` whose sums may be reordered, and so vectorized: layers of a network."""
    return _inner(function, fastmath={"reassoc", "contract", "nsz"})


def overload(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Numba's `overload` with our compile options: what compiled code runs instead of a Python `function`."""
    return numba_overload(function, strict=False, jit_options=_PART)


def compiled_as(implementation: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Decorate a Python function in place of which compiled code runs another one."""

    def declare(function: _Function) -> _Function:
        overload(function)(lambda *arguments: implementation)
        return function

    return declare


def kernel(function: _Function) -> _Function:
    """Compile `function` on first use: cached on disk, releasing the GIL, without bounds checks.

    Like all code it calls, it works on the arrays it is given and makes none.
    """
    return _decorated(function, _Kernel, _WHOLE)


def direct(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """Returns the compiled entry point for arguments of these types, bypassing numba's type dispatch.

    That takes microseconds for tuples of arrays, as long as stepping a small batch.
    """
    if JIT_OFF:
        return function
    entry: Callable[..., Any] = function.compile(tuple(map(numba.typeof, arguments)))  # type: ignore[attr-defined]
    return entry


def _inner(function: _Function, **options: Any) -> _Function:
    return _decorated(function, InnerFunction, {**_PART, **options})


def _decorated(function: _Function, kind: type, options: dict[str, Any]) -> _Function:
    if JIT_OFF:
        return function
    note_sources(function)
    dispatcher = numba.njit(**options)(function)
    dispatcher.__class__ = kind
    return dispatcher


def _with_room(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


# CPython keeps frames in chunks of 16 KB and maps and unmaps one whenever calls cross its border, which numba's deep
# recursion does hundreds of thousands of times. Nested calls fit into the rest of the large chunk of this frame.
_with_room.__code__ = _with_room.__code__.replace(co_stacksize=1 << 17)


class InnerFunction(CPUDispatcher):
    """A function that compiled code calls; called from Python it runs its Python source."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the Python source."""
        return self.py_func(*args, **kwargs)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Let numba, while it compiles a caller, see integers and not a new type for every constant."""
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(types.unliteral(kind) for kind in args), plain)


class _Kernel(CPUDispatcher):
    """A function that Python calls, with a cache for each set of sources that its arguments bring along."""

    def compile(self, sig: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(sig)
        sources = sources_of(self.py_func, arguments)
        own = sources - SHARED
        what = ", ".join(sorted(home.stem for home in own)) or "MonsterZoo"
        with global_compiler_lock, compile_notice(what, SECONDS * (1 + len(own))):
            self._cache = kept_for(self.py_func, sources, "-checked" if CHECKS else "")
            return _with_room(super().compile, sig)
