"""Bit sets in one `uint64`: cards of a hand, seats that must act, legal actions."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import config, types
from numba.extending import intrinsic

from ..compiling.jit import compiled_as, inlined

ZERO = np.uint64(0)
ONE = np.uint64(1)


# --- Machine instructions ---


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


# Whether code is compiled for this very machine, and that has the instruction PDEP (x86-64 with BMI2).
_DEPOSIT = not (config.CPU_NAME or config.CPU_FEATURES) and get_host_cpu_features().get("bmi2", False)


@intrinsic
def _deposit(typing_context, value, mask):
    def generate(context, builder, signature, args):
        i64 = ir.IntType(64)
        name = "llvm.x86.bmi.pdep.64"
        return builder.call(builder.module.declare_intrinsic(name, (), ir.FunctionType(i64, [i64, i64])), args)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def _eight_bytes(typing_context, array):
    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        word = builder.load(builder.bitcast(data, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return types.uint64(array), generate


_LOW = np.uint64(0x0101010101010101)
_SEVEN = np.uint64(0x7F7F7F7F7F7F7F7F)
_GATHER = np.uint64(0x0102040810204080)  # moves bit 8 k to bit 56 + k


# --- Sets ---


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


@inlined
def set_of(index):
    """The set of one index; empty for a negative one, which stands for none."""
    return np.uint64(0) if index < 0 else bit(index)


@inlined
def seen_by(seat, who, players):
    """A seat as the number of places it is clockwise from another; -1, which stands for nobody, stays."""
    return -1 if who < 0 else wrap(np.int64(who) - seat + players, players)


@inlined
def seen_from(seat, seats, players):
    """A set of seats with each as the number of places it is clockwise from one of the `players`."""
    return (seats >> np.uint64(seat) | seats << np.uint64(players - seat)) & first(players)


@compiled_as(lambda bits: _ctpop(np.uint64(bits)))
def popcount(bits):
    """How many members the set has."""
    return int(bits).bit_count()


@compiled_as(lambda bits: _cttz(np.uint64(bits)))
def lowest(bits):
    """The smallest member of a set that is not empty."""
    value = int(bits)
    return (value & -value).bit_length() - 1


@inlined
def drop_lowest(bits):
    """The set without its smallest member."""
    return bits & (bits - np.uint64(1))


@inlined
def nth_by_halves(bits, n):
    """`nth` for other processors: is it in the lower or the upper half?"""
    n, start = np.int64(n), 0
    for width in (32, 16, 8, 4, 2, 1):
        below = popcount(bits & first(width))
        above = n >= below
        n -= below if above else 0
        start += width if above else 0
        bits >>= np.uint64(width if above else 0)
    return start


def _nth_by_deposit(bits, n):
    return _cttz(_deposit(ONE << np.uint64(n), bits))


@compiled_as(_nth_by_deposit if _DEPOSIT else lambda bits, n: nth_by_halves(bits, n))
def nth(bits, n):
    """The n-th smallest member, counting from 0; there are more than n."""
    for _ in range(int(n)):
        bits = drop_lowest(bits)
    return lowest(bits)


def _where(places, value):
    # All places at once: a byte becomes zero where the value is, and its highest bit a flag of that.
    word = _eight_bytes(places) ^ (np.uint64(value) & np.uint64(0xFF)) * _LOW
    flags = ~(((word & _SEVEN) + _SEVEN) | word | _SEVEN)
    return ((flags >> np.uint64(7)) * _GATHER >> np.uint64(56)) & ((ONE << np.uint64(len(places))) - ONE)


@compiled_as(_where)
def where(places, value):
    """The set of places that hold a value; `places` is int8 (at most 8,) inside of a record that goes on behind it."""
    return np.uint64(sum(1 << k for k, held in enumerate(places) if held == value))


def members(bits: Any) -> list[int]:
    """The members of a set, in order; for plain Python."""
    value = int(bits)
    return [index for index in range(value.bit_length()) if value >> index & 1]


def bits_of(indices: Iterable[int]) -> int:
    """The set of some indices; for plain Python."""
    return sum(1 << index for index in indices)
