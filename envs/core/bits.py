"""Bit sets in one `uint64`: cards of a hand, seats that must act, legal actions."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from .jit import inlined

ZERO = np.uint64(0)
ONE = np.uint64(1)


@inlined
def bit(index):
    """The set that holds just `index`."""
    return np.uint64(1) << np.uint64(index)


@inlined
def has(bits, index):
    """Whether `index` is in the set."""
    return (bits >> np.uint64(index)) & np.uint64(1) != np.uint64(0)


@inlined
def first(count):
    """The set {0, …, count - 1}; `count` is at most 63."""
    return (np.uint64(1) << np.uint64(count)) - np.uint64(1)


@inlined
def wrap(value, count):
    """Value % count for values below 2 * count, without a division."""
    return value - count if value >= count else value


def popcount(bits):
    """How many members the set has."""
    return int(bits).bit_count()


def lowest(bits):
    """The smallest member of a set that is not empty."""
    value = int(bits)
    return (value & -value).bit_length() - 1


def highest(bits):
    """The largest member of a set that is not empty."""
    return int(bits).bit_length() - 1


@inlined
def drop_lowest(bits):
    """The set without its smallest member."""
    return bits & (bits - np.uint64(1))


@inlined
def nth(bits, n):
    """The n-th smallest member, counting from 0."""
    start = 0
    for width in (32, 16, 8):  # halve the word three times, then walk
        count = popcount(bits & first(width))
        if n >= count:
            n -= count
            start += width
            bits >>= np.uint64(width)
    for _ in range(n):
        bits = drop_lowest(bits)
    return start + lowest(bits)


# The three functions above as single machine instructions in compiled code.


def _unary(name: str, *flags: bool) -> Any:
    @intrinsic
    def instruction(typing_context, bits):
        def generate(context, builder, signature, args):
            i64 = ir.IntType(64)
            function_type = ir.FunctionType(i64, [i64] + [ir.IntType(1)] * len(flags))
            function = builder.module.declare_intrinsic(name, [i64], function_type)
            return builder.call(function, [args[0], *(ir.Constant(ir.IntType(1), flag) for flag in flags)])

        return types.int64(types.uint64), generate

    return instruction


_ctpop = _unary("llvm.ctpop")
_cttz = _unary("llvm.cttz", True)
_ctlz = _unary("llvm.ctlz", True)


@overload(popcount)
def _popcount(bits):
    return lambda bits: _ctpop(np.uint64(bits))


@overload(lowest)
def _lowest(bits):
    return lambda bits: _cttz(np.uint64(bits))


@overload(highest)
def _highest(bits):
    return lambda bits: 63 - _ctlz(np.uint64(bits))
