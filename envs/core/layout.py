"""Named observation fields and the flat int8 tensor they make.

One table per game and variant gives spaces, documentation and tests; the encoder pushes the same fields in the same
order. Sets of cards come first, one 0/1 column a member: the encoder packs them into a stream of bits and expands it
through a table, eight columns a store. Small numbers follow, one column each. Both parts are padded to eight columns.

A packed observation is the same before it is expanded, for compiled players that read sets: the stream of bits, padded
to 64, then the numbers, a byte each. It is kept at the front of a row of the usual size. Fields that no compiled player
reads are left out of it: their columns then mean nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from .bits import first
from .jit import compiled, inlined


@dataclass(frozen=True)
class Field:
    """One named part of an observation."""

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str
    start: int = 0

    @property
    def size(self) -> int:
        """Number of columns."""
        return prod(self.shape)

    @property
    def slice(self) -> slice:
        """Columns of the flat tensor; `observation[field.slice].reshape(field.shape)` is the field."""
        return slice(self.start, self.start + self.size)


def bitset(name: str, *shape: int, meaning: str) -> Field:
    """A field of 0/1 columns."""
    return Field(name, shape, 0, 1, meaning)


def numbers(name: str, *shape: int, low: int = 0, high: int, meaning: str) -> Field:
    """A field of small whole numbers; an empty shape is a single number."""
    return Field(name, shape, low, high, meaning)


class Layout:
    """The fields of one variant's observation, in order."""

    def __init__(self, bits: list[Field], integers: list[Field]) -> None:
        self.bits = sum(field.size for field in bits)
        """Number of 0/1 columns, without padding."""
        self.number_start = _round_up(self.bits)
        self.size = self.number_start + _round_up(sum(field.size for field in integers))
        """Number of columns, a multiple of 8."""
        self.fields = (*_placed(bits, 0), *_placed(integers, self.number_start))
        self._by_name = {field.name: field for field in self.fields}
        if len(self._by_name) != len(self.fields):
            raise ValueError("two observation fields share a name")

    def __getitem__(self, name: str) -> Field:
        return self._by_name[name]

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def read(self, observation: Any, name: str) -> np.ndarray:
        """One field of an observation (…, size), reshaped to (…, *field.shape)."""
        field = self[name]
        values = np.asarray(observation)[..., field.slice]
        return values.reshape(values.shape[:-1] + field.shape)

    def packed_start(self, name: str) -> int:
        """Where a field begins in a packed observation: the bit of a set, the byte of a number."""
        start = self[name].start
        return start if start < self.number_start else start - self.number_start + 8 * _stream_words(self.bits)

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and highest value of every column, two int8 arrays of shape (size,)."""
        low, high = np.zeros(self.size, np.int8), np.ones(self.size, np.int8)
        for field in self.fields:
            low[field.slice], high[field.slice] = field.low, field.high
        return low, high

    @property
    def signature(self) -> str:
        """The layout as text; two observations mean the same exactly when their signatures agree."""
        parts = (f"{f.name}:{f.start}:{'x'.join(map(str, f.shape))}:{f.low}:{f.high}" for f in self.fields)
        return f"{self.size};" + ";".join(parts)


def _round_up(count: int) -> int:
    return (count + 7) // 8 * 8


def _stream_words(bits: int) -> int:
    return (bits + 63) // 64


def _placed(fields: list[Field], start: int) -> Iterator[Field]:
    for field in fields:
        yield replace(field, start=start)
        start += field.size


# The encoder's side. A stream is (word being filled, bits used in it, index of that word in the row).

_EXPAND = np.array([sum(((byte >> k) & 1) << (8 * k) for k in range(8)) for byte in range(256)], dtype=np.uint64)


def in_both_forms(write: Callable[..., None]) -> tuple[Callable[..., None], Callable[..., None]]:
    """A game's `observe` and `observe_packed`, compiled, of its `write(state, seat, row, packed)`."""

    @compiled
    def observe(state, seat, row):
        write(state, seat, row, False)

    @compiled
    def observe_packed(state, seat, row):
        write(state, seat, row, True)

    return observe, observe_packed


@inlined
def stream_start(row, bits, packed):
    """The word at which the stream begins. Where `packed` it stays there, else the row's tail holds it for a while."""
    return 0 if packed else len(row) - (bits + 63) // 64


@inlined
def open_bits(row, bits, packed):
    """A stream for `bits` 0/1 columns."""
    return np.uint64(0), np.uint64(0), stream_start(row, bits, packed)


@inlined
def open_numbers(bits, packed):
    """A stream for the numbers, which lie behind `bits` 0/1 columns."""
    return np.uint64(0), np.uint64(0), (bits + 63) // 64 if packed else (bits + 7) // 8


@inlined
def push(row, stream, value, width):
    """Append a `uint64` value of `width` (below 64) bits."""
    word, used, index = stream
    word |= value << used
    total = used + np.uint64(width)
    if total >= np.uint64(64):
        row[index] = word
        # `used` is above 0 here, so the shift is defined
        return value >> (np.uint64(64) - used), total - np.uint64(64), index + 1
    return word, total, index


@inlined
def push_number(row, stream, value):
    """Append one int8 column."""
    return push(row, stream, np.uint64(value) & np.uint64(0xFF), 8)


@inlined
def push_unpacked(row, stream, value, width, packed):
    """Append a value of `width` bits that no compiled player reads: where `packed`, leave its place as it is."""
    if not packed:
        return push(row, stream, value, width)
    word, used, index = stream
    total = used + np.uint64(width)
    if total >= np.uint64(64):
        row[index] = word
        return np.uint64(0), total & np.uint64(63), index + np.int64(total >> np.uint64(6))
    return word, total, index


@inlined
def push_number_unpacked(row, stream, value, packed):
    """The same for one int8 column."""
    return push_unpacked(row, stream, np.uint64(value) & np.uint64(0xFF), 8, packed)


@inlined
def close_numbers(row, stream):
    """Write what is left of the stream."""
    word, used, index = stream
    if used > np.uint64(0):
        row[index] = word


@inlined
def close_bits(row, stream, bits, packed):
    """Write what is left of the stream and, unless `packed`, expand it to one column a bit, from the row's start."""
    close_numbers(row, stream)
    if packed:
        return
    columns = (bits + 7) // 8
    source = len(row) - (bits + 63) // 64
    target = 0
    # No store reaches a word of the stream before it was read: word k lies at or behind column 64 k + 57.
    while target + 8 <= columns:
        expand_64(row, target, row[source])
        source += 1
        target += 8
    if target < columns:
        word = row[source]
        while target < columns:
            row[target] = _EXPAND[word & np.uint64(0xFF)]
            word >>= np.uint64(8)
            target += 1


@inlined
def pack_row(row, bits, packed):
    """Write the packed form of an observation (of at least 64 columns) to the front of `packed`."""
    stream, last = (bits + 63) // 64, 8 * len(row) - 64  # 64 columns are read at once, never beyond the row
    for k in range(stream):
        packed[k] = compress_64(row, min(64 * k, last)) >> np.uint64(max(64 * k - last, 0))
    if bits % 64 != 0:
        packed[stream - 1] &= first(bits % 64)
    number_start = (bits + 7) // 8
    for k in range(len(row) - number_start):
        packed[stream + k] = row[number_start + k]


@inlined
def expand(words, row):
    """Write a bit set as 0/1 columns; `row` is uint64 (8 * len(words),)."""
    for k in range(len(words)):
        expand_64(row, 8 * k, words[k])


def expand_64(row, index, word):
    """Write 64 bits as 64 columns, that is row[index] … row[index + 7]."""
    for k in range(8):
        row[index + k] = _EXPAND[(word >> np.uint64(8 * k)) & np.uint64(0xFF)]


@intrinsic
def _expand_64(typing_context, row, index, word):
    """`expand_64` as one vector instruction where the processor has it."""

    def generate(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        bits = builder.bitcast(args[2], ir.VectorType(ir.IntType(1), 64))
        columns = builder.zext(bits, ir.VectorType(ir.IntType(8), 64))
        pointer = builder.gep(array.data, [args[1]])
        store = builder.store(columns, builder.bitcast(pointer, columns.type.as_pointer()))
        store.align = 1
        return context.get_dummy_value()

    return types.void(row, types.intp, types.uint64), generate


@overload(expand_64)
def _expand_64_compiled(row, index, word):
    return lambda row, index, word: _expand_64(row, index, word)


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


@overload(compress_64)
def _compress_64_compiled(row, start):
    return lambda row, start: _compress_64(row, start)
