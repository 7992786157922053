"""Observation fields: how the named fields of a view become the columns of a flat int8 tensor.

A layout is a list of fields, declared once per game and number of players; spaces, documentation, the compiled encoder
and the plain `encode` and `decode` all follow from it. A field takes its values from the view's field of the same name:

- `bitset`: a set, one 0/1 column per member;
- `one_hot`: a small number, one 0/1 column for each value it can have;
- `coded`: a small number, as a pattern of 0/1 columns;
- `numbers`: small numbers, a column each.

0/1 columns come first, then the numbers; both parts are padded to eight columns. A field with several axes takes as
many entries of the view's field as it has: a view has room for the largest game.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from math import prod
from typing import Any

import numpy as np

SET, ONE_HOT, CODED, NUMBERS = "set", "one hot", "coded", "numbers"


@dataclass(frozen=True)
class Field:
    """One named part of an observation."""

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str
    kind: str
    source: str
    """The view's field it shows."""
    first: int = 0
    """The member, value, or byte of the view's field that the first column of the last axis stands for."""
    codes: tuple[int, ...] = ()
    """Patterns of a coded field: of NONE (-1), 0, 1, …"""
    always: bool = False
    """Whether a one-hot field is never empty."""
    start: int = 0
    """Its first column."""

    @property
    def size(self) -> int:
        """Number of columns."""
        return prod(self.shape)

    @property
    def slice(self) -> slice:
        """Columns of the flat tensor; `observation[field.slice].reshape(field.shape)` is the field."""
        return slice(self.start, self.start + self.size)


def bitset(name: str, *shape: int, meaning: str, source: str = "", first: int = 0) -> Field:
    """Sets of `shape[-1]` possible members, the first of them `first`; the view holds them as unsigned integers."""
    return Field(name, shape, 0, 1, meaning, SET, source or name, first)


def one_hot(name: str, *shape: int, meaning: str, source: str = "", first: int = 0, always: bool = False) -> Field:
    """Numbers from `first` to `first + shape[-1] - 1`.

    No column for `first - 1`, which is NONE where `first` is 0; `always` says that this never happens.
    """
    return Field(name, shape, 0, 1, meaning, ONE_HOT, source or name, first, always=always)


def coded(name: str, *shape: int, codes: Sequence[int], meaning: str, source: str = "") -> Field:
    """Numbers from -1 on, each as a pattern of `shape[-1]` bits: `codes[0]` for -1, `codes[1]` for 0, and so on."""
    if len(set(codes)) != len(codes):
        raise ValueError(f"{name}: two numbers have the same code")
    return Field(name, shape, 0, 1, meaning, CODED, source or name, codes=tuple(map(int, codes)))


def numbers(name: str, *shape: int, low: int = 0, high: int, meaning: str, source: str = "", first: int = 0) -> Field:
    """Small integers, an empty shape for a single one; the view holds each in a byte (a word is eight of them)."""
    return Field(name, shape, low, high, meaning, NUMBERS, source or name, first)


class Layout:
    """The fields of one variant's observation, in order: those of 0/1 columns, then the numbers."""

    def __init__(self, *fields: Field) -> None:
        self.bits = sum(field.size for field in fields if field.kind != NUMBERS)
        """Number of 0/1 columns, without padding."""
        self.number_start = _round_up(self.bits)
        self.fields = (
            *_placed([field for field in fields if field.kind != NUMBERS], 0),
            *_placed([field for field in fields if field.kind == NUMBERS], self.number_start),
        )
        self.size = _round_up(max((field.slice.stop for field in self.fields), default=0))
        """Number of columns, a multiple of 8."""
        self._by_name = {field.name: field for field in self.fields}
        if len(self._by_name) != len(self.fields):
            raise ValueError("two observation fields share a name")

    def __getitem__(self, name: str) -> Field:
        return self._by_name[name]

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.fields == other.fields

    def __hash__(self) -> int:
        return hash(self.fields)

    def read(self, observation: Any, name: str) -> np.ndarray:
        """One field of an observation (…, size), reshaped to (…, *field.shape)."""
        field = self[name]
        values = np.asarray(observation)[..., field.slice]
        return values.reshape(values.shape[:-1] + field.shape)

    def _repr_html_(self) -> str:
        rows = ((f.name, f"{f.start}:{f.start + f.size}", f.shape, f"{f.low} to {f.high}", f.meaning) for f in self)
        return html_table(("field", "columns", "shape", "range", "meaning"), rows)

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

    # --- In plain Python: what `encoding` compiles, and the way back ---

    def encode(self, view: Any, columns: np.ndarray) -> None:
        """Write a view as an observation; `columns` is int8 (size,)."""
        columns[:] = 0
        for field in self.fields:
            columns[field.slice] = _columns(field, _entries(field, view)).reshape(-1)

    def decode(self, observations: np.ndarray, views: np.ndarray) -> None:
        """Write the fields of views (B,) from observations, int8 (B, size); raises `ValueError` for impossible ones."""
        for field in self.fields:
            if field.kind == SET:
                views[field.source] = 0
        for field in self.fields:
            entries, values = _entries(field, views), _values(field, self.read(observations, field.name))
            # Several fields may show parts of one set.
            entries[...] = entries | values.astype(entries.dtype) if field.kind == SET else values


def html_table(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A table as notebooks show it."""
    lines = [("th", head), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in line) for tag, line in lines)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _round_up(count: int) -> int:
    return (count + 7) // 8 * 8


def _placed(fields: list[Field], start: int) -> Iterator[Field]:
    for field in fields:
        yield replace(field, start=start)
        start += field.size


def _entries(field: Field, views: Any) -> np.ndarray:
    """What a field shows of one view or of several: a set or number each, or a byte each for numbers. No copy."""
    values = np.asarray(views[field.source])
    shape = field.shape if field.kind == NUMBERS else field.shape[:-1]
    if field.kind == NUMBERS and shape:
        values = values.view(np.int8)[..., field.first :]
    places: tuple[Any, ...] = (..., *map(slice, shape))
    return values[places]


def _columns(field: Field, entries: np.ndarray) -> np.ndarray:
    if field.kind == NUMBERS:
        return entries
    places = np.arange(field.shape[-1])
    if field.kind == ONE_HOT:
        return entries.astype(np.int64)[..., None] - field.first == places
    words = entries if field.kind == SET else np.array(field.codes, np.uint64)[entries.astype(np.int64) + 1]
    return (words.astype(np.uint64)[..., None] >> (places + field.first).astype(np.uint64)) & np.uint64(1)


def _values(field: Field, columns: np.ndarray) -> Any:
    if field.kind == NUMBERS:
        return columns
    if field.kind == ONE_HOT:
        chosen = columns.sum(axis=-1)
        if chosen.max(initial=0) > 1 or (field.always and not chosen.all()):
            few, many = ("exactly one", "none or several") if field.always else ("at most one", "several")
            raise ValueError(f"{field.name}: {few} of the columns is 1, not {many}")
        return np.where(chosen, columns.argmax(axis=-1), -1) + field.first
    places = (np.arange(field.shape[-1]) + field.first).astype(np.uint64)
    words = (columns.astype(np.uint64) << places).sum(axis=-1, dtype=np.uint64)
    if field.kind == SET:
        return words
    numbers_of = {code: number for number, code in enumerate(field.codes, -1)}
    unknown = set(words.ravel().tolist()) - numbers_of.keys()
    if unknown:
        raise ValueError(f"{field.name}: no number has the pattern {min(unknown):#b}")
    return np.vectorize(lambda word: numbers_of[int(word)], otypes=[np.int64])(words)
