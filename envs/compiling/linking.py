"""Whole-kernel linking: inner functions become parts of a kernel, which is optimized and compiled once, as a whole.

numba by itself optimizes every function with all it calls, makes machine code of it, and does so again at each level of
nesting. Only kernels are called from Python, so here the code of an inner function waits until a kernel is linked. That
saves a third to a half of the compile time (AEC 8.5 s to 4.6 s, one seat 20.5 to 10.2, search 24.0 to 12.4).

This builds on numba's internals and is optional: where it does not work, kernels are compiled as numba does by itself.
"""

from functools import cache
from typing import Any

import numba
from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering

from .notice import warn_of_slow_compiling

TESTED = (0, 68)
"""The last release of numba on which this is known to work; later ones are probed."""

INLINED: set[Any] = set()
"""Inner functions that are compiled into each of their callers.

Not by numba's option: whatever is called from functions with different options, it compiles once for each of these.
"""


class _Part(JITCodeLibrary):
    """The code of an inner function, as it was written: neither optimized nor executable."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Nothing more will be added."""
        self._finalized = True

    def own_module(self) -> Any:
        """The code of this function alone."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """For functions that are not ours (compiled by a user's plain `njit`): this one with all it calls."""
        module = self.own_module().clone()
        for library in _with_parts(self._linking_libraries):
            code = library.own_module() if isinstance(library, _Part) else library._get_module_for_linking()
            module.link_in(code, preserve=True)
        return module


class _Whole(JITCodeLibrary):
    """The code of a kernel."""

    def finalize(self) -> None:
        """Link every part once, however many others use it, and optimize all of it together.

        Parts become internal functions: those with one caller are inlined into it, which makes batches 4 to 9 % faster.
        """
        libraries = _with_parts(self._linking_libraries)
        for library in libraries:
            if isinstance(library, _Part):
                self._final_module.link_in(library.own_module(), preserve=True)
        for function in self._final_module.functions:
            if function.linkage is Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        self._linking_libraries: list[Any] = [library for library in libraries if not isinstance(library, _Part)]
        super().finalize()


def _with_parts(libraries: list[Any]) -> list[Any]:
    """Some libraries and all that the parts among them are made of, each once."""
    found: dict[Any, None] = {}  # keeps the order
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if library not in found:
            found[library] = None
            waiting += library._linking_libraries if isinstance(library, _Part) else []
    return list(found)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    """Lowers an inner function and makes it known to its callers, without machine code."""

    _name = "monsterzoo_lower_part"

    def run_pass(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        state.flags.forceinline |= state.func_id.func in INLINED
        super().run_pass(state)
        lowered = state["cr"]
        key: Any = [].append  # numba tells functions apart by their entry points, which must be builtins
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerWhole(NativeLowering):
    """Lowers a kernel."""

    _name = "monsterzoo_lower_whole"

    def run_pass(self, state: Any) -> bool:
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class _Linking(CompilerBase):
    """numba's passes with another way of lowering."""

    lowering: type

    def define_pipelines(self) -> list[Any]:
        passes = PassManager("monsterzoo")
        lowering = self.lowering if _probing or linking_works() else NativeLowering
        for one, description in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            passes.add_pass(lowering if one is NativeLowering else one, description)
        passes.finalize()
        return [passes]


class PartCompiler(_Linking):
    """Compiles inner functions; to be given to numba as `pipeline_class`."""

    lowering = _LowerPart


class WholeCompiler(_Linking):
    """Compiles kernels; to be given to numba as `pipeline_class`."""

    lowering = _LowerWhole


_probing: list[bool] = []


@cache
def linking_works() -> bool:
    """Whether this release of numba has all that is needed; prints a warning, once, if not."""
    if numba.version_info.short <= TESTED:
        return True
    _probing.append(True)
    try:
        _probe()
    except Exception as error:  # whatever has changed
        warn_of_slow_compiling(error)
        return False
    finally:
        _probing.clear()
    return True


def _probe() -> None:
    """Compile a small kernel with linking; raises what goes wrong."""

    @numba.njit(pipeline_class=PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    def inner(number):
        return number + 1

    @numba.njit(pipeline_class=WholeCompiler, no_cfunc_wrapper=True)
    def outer(number):
        return inner(inner(number))

    if outer(1) != 3:
        raise RuntimeError("a linked kernel is wrong")
