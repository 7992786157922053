"""Compiled observation encoder: LLVM code generated from a layout.

Every word of an observation is a sum of shifted fields of the view. 64 columns of 0/1 are then written with one vector
store, eight numbers with one of a word. Only which of the game's layouts a view has is decided at run time.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

from ..core.layout import CODED, NUMBERS, ONE_HOT, Field, Layout
from .dispatch import TypeTable
from .jit import compiled_as, inlined

WORD = ir.IntType(64)
_layouts: TypeTable[Callable[[], tuple[Layout, ...]]] = TypeTable("encode")


def register_layouts(view: np.dtype, layouts: Callable[[], tuple[Layout, ...]]) -> None:
    """Make the layouts of a game's views known; `view.layout` is an index into them."""
    _layouts[view] = layouts


@intrinsic
def _gather(typing_context, view, row):
    layouts = _layouts[view]()

    def generate(context, builder, signature, args):
        start = builder.bitcast(args[0], cgutils.voidptr_t)
        target = context.make_array(signature.args[1])(context, builder, args[1]).data
        record = as_dtype(view)
        chosen = builder.load(builder.gep(start, [_constant(_place(record, "layout"))]))
        done = builder.append_basic_block("encoded")
        blocks = [builder.append_basic_block(f"layout_{k}") for k in range(len(layouts))]
        switch = builder.switch(chosen, blocks[-1])
        for k, (layout, block) in enumerate(zip(layouts, blocks, strict=True)):
            if k < len(layouts) - 1:
                switch.add_case(ir.Constant(ir.IntType(8), k), block)
            builder.position_at_end(block)
            _write(builder, layout, record, start, target)
            builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(view, row), generate


@compiled_as(lambda view, row: _gather(view, row))
def encode(view: Any, row: Any) -> None:
    """Write a view as an observation; `row` is the int8 tensor seen as uint64 (observation / 8,)."""
    _layouts[view]()[view.layout].encode(view, row.view(np.int8))


def _write(builder: Any, layout: Layout, record: np.dtype, start: Any, target: Any) -> None:
    """Code for one layout: first all words, then the stores, so that no store stands between two loads."""
    bits = _words(builder, _pieces(builder, layout, record, start, numbers=False))
    numbers = _words(builder, _pieces(builder, layout, record, start, numbers=True))
    for k, word in enumerate(bits):
        columns = min(layout.number_start - 64 * k, 64)
        _store_columns(builder, word, columns, builder.gep(target, [_constant(8 * k)]))
    for k, word in enumerate(numbers):
        builder.store(word, builder.gep(target, [_constant(layout.number_start // 8 + k)]))


def _store_columns(builder: Any, word: Any, columns: int, place: Any) -> None:
    """Write the lowest bits of a word as 0/1 columns: one vector instruction where the processor has it.

    Columns are written 64, 32, 16 or 8 at a time. Of other numbers, 24 say, LLVM makes wrong code for processors
    without AVX-512: bits were lost there.
    """
    done = 0
    for width in (64, 32, 16, 8):
        if columns - done < width:
            continue
        rest = builder.lshr(word, _constant(done)) if done else word
        narrow = rest if width == 64 else builder.trunc(rest, ir.IntType(width))
        flags = builder.bitcast(narrow, ir.VectorType(ir.IntType(1), width))
        spread = builder.zext(flags, ir.VectorType(ir.IntType(8), width))
        target = builder.gep(place, [_constant(done // 8)])
        builder.store(spread, builder.bitcast(target, spread.type.as_pointer()), align=8)
        done += width


def _words(builder: Any, pieces: Iterator[tuple[Any, int]]) -> list[Any]:
    """Values of so many bits each, one behind the other in words."""
    words: list[Any] = []
    used = 0
    for value, width in pieces:
        shift = used % 64
        if shift == 0:
            words.append(value)
        else:
            words[-1] = builder.or_(words[-1], builder.shl(value, _constant(shift)))
            if shift + width > 64:
                words.append(builder.lshr(value, _constant(64 - shift)))
        used += width
    return words


def _pieces(builder: Any, layout: Layout, record: np.dtype, start: Any, numbers: bool) -> Iterator[tuple[Any, int]]:
    """The entries of the fields as words, each with its width in bits."""
    for field in layout:
        if (field.kind == NUMBERS) != numbers:
            continue
        kind, place, strides = _memory(record, field.source)
        if numbers and kind.itemsize > 1:
            yield from _bytes_of_words(builder, field, kind, place, strides, start)
            continue
        for index in np.ndindex(field.shape if numbers else field.shape[:-1]):
            address = place + sum(i * stride for i, stride in zip(index, strides, strict=True))
            if numbers:
                yield _load(builder, start, address + field.first, np.dtype(np.uint8)), 8
            else:
                yield _entry(builder, field, kind, _load(builder, start, address, kind)), field.shape[-1]


def _bytes_of_words(
    builder: Any, field: Field, kind: np.dtype, place: int, strides: tuple[int, ...], start: Any
) -> Iterator[tuple[Any, int]]:
    """The bytes of a field that the view holds as words, as many at once as a word has."""
    for index in np.ndindex(field.shape[:-1]):
        entry = place + sum(i * stride for i, stride in zip(index, strides))
        first, end = field.first, field.first + field.shape[-1]
        for word in range(first - first % kind.itemsize, end, kind.itemsize):
            low, high = max(first, word) - word, min(end, word + kind.itemsize) - word
            whole, width = _load(builder, start, entry + word, kind), 8 * (high - low)
            yield _masked(builder, whole, 8 * low, width, 8 * kind.itemsize), width


def _entry(builder: Any, field: Field, kind: np.dtype, value: Any) -> Any:
    """An entry of 0/1 columns as a word of bits."""
    if field.kind == ONE_HOT:
        place = builder.sub(value, _constant(field.first))
        absent = builder.icmp_signed("<", place, _constant(0))
        return builder.select(absent, _constant(0), builder.shl(_constant(1), place))
    if field.kind == CODED:
        codes = ir.Constant(ir.ArrayType(WORD, len(field.codes)), field.codes)
        table = cgutils.global_constant(builder.module, f"codes_of_{field.name}", codes)
        return builder.load(builder.gep(table, [_constant(0), builder.add(value, _constant(1))]))
    return _masked(builder, value, field.first, field.shape[-1], 8 * kind.itemsize)


def _masked(builder: Any, value: Any, first: int, width: int, size: int) -> Any:
    """Some bits of a value that has `size` of them."""
    if first:
        value = builder.lshr(value, _constant(first))
    return value if first + width >= size else builder.and_(value, _constant((1 << width) - 1))


def _load(builder: Any, start: Any, address: int, kind: np.dtype) -> Any:
    narrow = ir.IntType(8 * kind.itemsize)
    place = builder.gep(start, [_constant(address)])
    value = builder.load(builder.bitcast(place, narrow.as_pointer()), align=kind.itemsize)
    if kind.itemsize == 8:
        return value
    return builder.sext(value, WORD) if kind.kind == "i" else builder.zext(value, WORD)


def _constant(number: int) -> ir.Constant:
    return ir.Constant(WORD, number)


def _place(record: np.dtype, name: str) -> int:
    fields: Any = record.fields
    return int(fields[name][1])


def _memory(record: np.dtype, name: str) -> tuple[np.dtype, int, tuple[int, ...]]:
    """The type of a field's numbers, where it begins, and how far apart its entries are along each axis."""
    fields: Any = record.fields
    whole = fields[name][0]
    strides = np.zeros(whole.shape, whole.base).strides if whole.shape else ()
    return whole.base, _place(record, name), strides


# --- Sets of actions as masks ---


@inlined
def expand(words, row):
    """Write a bit set as 0/1 columns; `row` is uint64 (8 * len(words),)."""
    for k in range(len(words)):
        expand_64(row, 8 * k, words[k])


_SPREAD = np.array([sum(((byte >> k) & 1) << (8 * k) for k in range(8)) for byte in range(256)], dtype=np.uint64)


@intrinsic
def _store_64(typing_context, row, index, word):
    def generate(context, builder, signature, args):
        target = context.make_array(signature.args[0])(context, builder, args[0]).data
        _store_columns(builder, args[2], 64, builder.gep(target, [args[1]]))
        return context.get_dummy_value()

    return types.void(row, types.intp, types.uint64), generate


@compiled_as(lambda row, index, word: _store_64(row, index, word))
def expand_64(row: Any, index: Any, word: Any) -> None:
    """Write 64 bits as 64 columns, that is row[index] … row[index + 7]."""
    for k in range(8):
        row[index + k] = _SPREAD[(word >> np.uint64(8 * k)) & np.uint64(0xFF)]
