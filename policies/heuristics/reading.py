"""How compiled players read a packed observation (see `envs.core.layout`): sets as bit sets, numbers as integers.

`row` is uint64; the bit a set begins at and the byte a number begins at are the layout's `packed_start`.
"""

import numpy as np
from monsterzoo.envs.core.bits import ONE, first
from monsterzoo.envs.core.jit import inlined


@inlined
def columns_64(row, start):
    """The 64 bits from `start` on; the row goes on for a word behind them."""
    word, shift = start >> 6, np.uint64(start & 63)
    return row[word] >> shift | (row[word + 1] << ONE) << (np.uint64(63) - shift)


@inlined
def columns(row, start, width):
    """The `width` (below 64) 0/1 columns from `start` on, as a bit set."""
    return columns_64(row, start) & first(width)


@inlined
def number(row, start):
    """One number."""
    byte = (row[start >> 3] >> np.uint64((start & 7) << 3)) & np.uint64(0xFF)
    return np.int64(byte) - 256 if byte >= np.uint64(128) else np.int64(byte)


@inlined
def eight(row, start):
    """The eight numbers from `start` on as the bytes of one word."""
    return columns_64(row, start << 3)
