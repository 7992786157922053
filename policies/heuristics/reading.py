"""How compiled players read an observation: fields of 0/1 columns as bit sets, numbers as integers.

`row` is the int8 observation seen as uint64 (size / 8,), as everywhere in compiled code.
"""

import numpy as np
from llvmlite import ir
from monsterzoo.envs.core.bits import first
from monsterzoo.envs.core.jit import inlined
from numba import types
from numba.extending import intrinsic, overload


@inlined
def columns(row, start, width):
    """The `width` (below 64) 0/1 columns from `start` on, as a bit set; the row has at least 64 columns."""
    begin = min(start, 8 * len(row) - 64)  # 64 columns are read at once, never beyond the row
    return (compress_64(row, begin) >> np.uint64(start - begin)) & first(width)


@inlined
def number(row, column):
    """One column as an integer."""
    byte = (row[column >> 3] >> np.uint64((column & 7) << 3)) & np.uint64(0xFF)
    return np.int64(byte) - 256 if byte >= np.uint64(128) else np.int64(byte)


def eight(row, start):
    """The eight columns from `start` on as the bytes of one word."""
    return row.view(np.int8)[start : start + 8].view(np.uint64)[0]


def compress_64(row, start):
    """The 64 columns from `start` on as bits: set where a column is not 0."""
    return np.packbits(row.view(np.int8)[start : start + 64] != 0, bitorder="little").view(np.uint64)[0]


@intrinsic
def _compress_64(typing_context, row, start):
    """`compress_64` as vector instructions."""

    def generate(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        byte = ir.IntType(8)
        pointer = builder.gep(builder.bitcast(array.data, byte.as_pointer()), [args[1]])
        vector = ir.VectorType(byte, 64)
        load = builder.load(builder.bitcast(pointer, vector.as_pointer()))
        load.align = 1
        bits = builder.icmp_unsigned("!=", load, ir.Constant(vector, [0] * 64))
        return builder.bitcast(bits, ir.IntType(64))

    return types.uint64(row, types.intp), generate


@intrinsic
def _eight(typing_context, row, start):
    def generate(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = builder.gep(builder.bitcast(array.data, ir.IntType(8).as_pointer()), [args[1]])
        load = builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()))
        load.align = 1
        return load

    return types.uint64(row, types.intp), generate


@overload(eight)
def _eight_compiled(row, start):
    return lambda row, start: _eight(row, start)


@overload(compress_64)
def _compress_64_compiled(row, start):
    return lambda row, start: _compress_64(row, start)
