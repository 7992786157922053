"""Arrays without reference counting in compiled code."""

from numba.core import cgutils
from numba.extending import intrinsic, overload


def unowned(array):
    """The same array, which compiled code then does not count references to; its owner must outlive it.

    numba counts references on every slice and call, atomically: many times the cost of a game step.
    """
    return array


@intrinsic
def _unowned(typing_context, array):
    def generate(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), generate


@overload(unowned)
def _unowned_compiled(array):
    return lambda array: _unowned(array)
