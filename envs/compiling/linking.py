"""How kernels are put together: inner functions become parts of a kernel, which is optimized once, as a whole.

numba by itself optimizes every function with all it calls, makes machine code of it, and does so again at each level of
nesting. Only kernels are ever called from Python, so here the code of an inner function waits until a kernel is linked.
Measured for the first step of an AEC environment: 8.9 s of compiling become 5.5 s, and since the optimizer sees the
whole kernel at once, batches step a fifth faster (Pikit with four players, one core, old and new in turn).

Of numba's inside it uses libraries of code, the lowering pass and `insert_user_function`; beside it, `jit` overrides a
dispatcher's `compile` and `cache` numba's cache of functions.
"""

from typing import Any

from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


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
        """Link every part once, however many others use it, and optimize all of it together."""
        libraries = _with_parts(self._linking_libraries)
        for library in libraries:
            if isinstance(library, _Part):
                self._final_module.link_in(library.own_module(), preserve=True)
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


class _Compiler(CompilerBase):
    """numba's passes with another way of lowering."""

    lowering: type

    def define_pipelines(self) -> list[Any]:
        passes = PassManager("monsterzoo")
        for one, description in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            passes.add_pass(self.lowering if one is NativeLowering else one, description)
        passes.finalize()
        return [passes]


class PartCompiler(_Compiler):
    """Compiles inner functions; to be given to numba as `pipeline_class`."""

    lowering = _LowerPart


class WholeCompiler(_Compiler):
    """Compiles kernels; to be given to numba as `pipeline_class`."""

    lowering = _LowerWhole


class InnerFunction(CPUDispatcher):
    """A function that compiled code calls; called from Python it runs its Python source."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the Python source."""
        return self.py_func(*args, **kwargs)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Let numba, while it compiles a caller, see whole numbers and not a new type for every constant."""
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(types.unliteral(kind) for kind in args), plain)
