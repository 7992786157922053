"""Bags of Pikit's kaiju: how many cards of each value, a byte each, in two words for the values 1 … 7 and 8 … 11."""

import numpy as np

from ..compiling.jit import compiled_as, inlined
from ..core.bits import ONE

_EIGHT = np.uint64(8)
_EVERY_OTHER = np.uint64(0x00FF00FF00FF00FF)


@inlined
def copy_of(value):
    """One card of a value, to be added to or taken from word `value >> 3` of a bag."""
    return ONE << np.uint64((value & 7) << 3)


@inlined
def count(bag, value):
    """How many cards of a value (0 … 15) a bag has."""
    word = bag[1] if value >= 8 else bag[0]
    return np.int64((word >> np.uint64((value & 7) << 3)) & np.uint64(0xFF))


@inlined
def total(bag):
    """How many cards a bag has."""
    pairs = bag[0] + bag[1]  # a bag has at most MAX_DECK cards, so bytes do not overflow
    pairs = (pairs & _EVERY_OTHER) + ((pairs >> _EIGHT) & _EVERY_OTHER)
    pairs += pairs >> np.uint64(32)
    return np.int64((pairs + (pairs >> np.uint64(16))) & np.uint64(0xFF))


@inlined
def weighted(word, weights):
    """Every other byte times its weight, added up; weights have 16 bits each and stand in the opposite order."""
    return ((word & _EVERY_OTHER) * weights) >> np.uint64(48)  # the product's highest part is that sum


def _points(bag):
    few, many = bag[0], bag[1]
    worth = weighted(few, np.uint64(0x0000_0002_0004_0006))
    worth += weighted(few >> _EIGHT, np.uint64(0x0001_0003_0005_0007))
    worth += weighted(many, np.uint64(0x0008_000A_000C_000E))
    return np.int64(worth + weighted(many >> _EIGHT, np.uint64(0x0009_000B_000D_000F)))


@compiled_as(_points)
def points(bag):
    """The sum of the cards' values."""
    return sum(value * count(bag, value) for value in range(1, 12))
