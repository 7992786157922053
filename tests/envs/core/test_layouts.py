"""Observation layouts: the compiled encoder, the plain one and the way back agree, whatever the layout and the view."""

import os
import platform
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monsterzoo.envs.compiling.encoding import encode, register_layouts
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core.contract import view_of, view_type
from monsterzoo.envs.core.layout import NUMBERS, ONE_HOT, SET, Field, Layout, bitset, coded, numbers, one_hot


@kernel
def encode_all(views, rows):
    """Write every view as a row of uint64."""
    for i in range(len(views)):
        encode(views[i], rows[i])


# --- Random layouts ---


class Source(NamedTuple):
    """A field of a view, the fields of the tensor that can show it, and the values it may have."""

    declared: tuple[Any, ...]
    fields: list[Field]
    low: int
    high: int


@st.composite
def sets(draw: st.DrawFn, name: str, shown: tuple[int, ...], room: tuple[int, ...]) -> Source:
    """A set, shown from some member on; what lies below may be shown too, by another field."""
    kind = draw(st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64]))
    bits = 8 * np.dtype(kind).itemsize
    first = draw(st.integers(0, bits - 1))
    fields = [bitset(name, *shown, draw(st.integers(1, bits - first)), first=first, meaning="")]
    if first:
        fields.append(bitset(f"{name}_low", *shown, first, source=name, meaning=""))
    return Source((name, kind, room), fields, 0, int(np.iinfo(kind).max))


@st.composite
def one_hots(draw: st.DrawFn, name: str, shown: tuple[int, ...], room: tuple[int, ...]) -> Source:
    """A number, with a column for each value from some value on; lower ones have none."""
    first, width = draw(st.integers(0, 9)), draw(st.integers(1, 64))
    low = draw(st.integers(first - 5, first))
    return Source(
        (name, np.int8, room), [one_hot(name, *shown, width, first=first, meaning="")], low, first + width - 1
    )


@st.composite
def codes(draw: st.DrawFn, name: str, shown: tuple[int, ...], room: tuple[int, ...]) -> Source:
    """A number from -1 on, with a pattern for each value."""
    width = draw(st.integers(1, 64))
    patterns = draw(st.lists(st.integers(0, 2**width - 1), min_size=1, max_size=9, unique=True))
    field = coded(name, *shown, width, codes=patterns, meaning="")
    return Source((name, np.int8, room), [field], -1, len(patterns) - 2)


@st.composite
def byte_numbers(draw: st.DrawFn, name: str, shown: tuple[int, ...], room: tuple[int, ...]) -> Source:
    """Numbers in bytes, shown from one of them on; also a single one."""
    first = draw(st.integers(0, room[-1] - shown[-1])) if room else 0
    field = numbers(name, *shown, low=-128, high=127, first=first, meaning="")
    return Source((name, np.int8, room), [field], -128, 127)


@st.composite
def word_numbers(draw: st.DrawFn, name: str, shown: tuple[int, ...], room: tuple[int, ...]) -> Source:
    """Numbers in the bytes of words, shown from one of them on; what lies below may be shown too."""
    words = draw(st.integers(1, 3))
    first = draw(st.integers(0, 8 * words - 1))
    width = draw(st.integers(1, 8 * words - first))
    fields = [numbers(name, *shown, width, low=-128, high=127, first=first, meaning="")]
    if first:
        fields.append(numbers(f"{name}_low", *shown, first, low=-128, high=127, source=name, meaning=""))
    return Source((name, np.uint64, (*room, words)), fields, 0, 2**64 - 1)


class Example(NamedTuple):
    """A type of views with several layouts."""

    sources: list[Source]
    layouts: tuple[Layout, ...]
    view: np.dtype

    def random_views(self, seed: int, count: int = 12) -> np.ndarray:
        """Views with values they may have, every layout in turn."""
        random, views = np.random.default_rng(seed), np.zeros(count, self.view)
        for (name, kind, _), _, low, high in self.sources:
            views[name] = random.integers(low, high, views[name].shape, kind, endpoint=True)
        views["layout"] = np.arange(count) % len(self.layouts)
        return views


@st.composite
def examples(draw: st.DrawFn) -> Example:
    drawn = []
    for k in range(draw(st.integers(1, 6))):
        room = draw(st.sampled_from([(), (), (1,), (3,), (2, 3)]))  # entries of the view, of which some are shown
        shown = tuple(draw(st.integers(1, size)) for size in room)
        kind = draw(st.sampled_from([sets, one_hots, codes, byte_numbers, word_numbers]))
        drawn.append(draw(kind(f"field_{k}", shown, room)))
    fields = [field for source in drawn for field in source.fields]
    parts = st.lists(st.sampled_from(fields), min_size=1, unique_by=lambda field: field.name)
    orders = [draw(st.permutations(fields)), *draw(st.lists(parts, max_size=2))]
    layouts = tuple(dict.fromkeys(Layout(*order) for order in orders))
    # Machine code is found by the view's type, in later processes too: no two examples share one.
    identity = blake2b(repr([layout.fields for layout in layouts]).encode(), digest_size=8).hexdigest()
    view = view_type([*(source.declared for source in drawn), (f"example_{identity}", np.uint8)])
    return Example(drawn, layouts, view)


# --- What a layout means ---


def column(field: Field, view: Any, place: tuple[int, ...]) -> int:
    """What one column of a field shows of a view, read slowly."""
    values = view[field.source]
    if field.kind == NUMBERS:
        return int(values[place[:-1]].view(np.int8)[field.first + place[-1]] if place else values)
    value, k = int(values[place[:-1]]), place[-1]
    if field.kind == SET:
        return value >> (field.first + k) & 1
    if field.kind == ONE_HOT:
        return int(value == field.first + k)
    return field.codes[value + 1] >> k & 1


def columns(layout: Layout, view: Any) -> list[int]:
    """A view as an observation; columns of no field are 0."""
    row = [0] * layout.size
    for field in layout:
        row[field.slice] = [column(field, view, place) for place in np.ndindex(field.shape)]
    return row


@settings(max_examples=60)
@given(example=examples(), seed=st.integers(0, 2**32))
def test_the_compiled_encoder_writes_what_the_layout_says_and_nothing_beyond(example: Example, seed: int) -> None:
    register_layouts(example.view, lambda: example.layouts)
    views = example.random_views(seed)
    rows = np.full((len(views), 8 + max(layout.size for layout in example.layouts)), 99, np.int8)
    encode_all(views, rows.view(np.uint64))
    for view, row in zip(views, rows):
        layout = example.layouts[view["layout"]]
        assert row.tolist() == columns(layout, view) + [99] * (rows.shape[1] - layout.size)


@given(example=examples(), seed=st.integers(0, 2**32))
def test_the_plain_encoder_writes_what_the_layout_says(example: Example, seed: int) -> None:
    for view in example.random_views(seed):
        layout = example.layouts[view["layout"]]
        row = np.full(layout.size, 99, np.int8)
        layout.encode(view, row)
        assert row.tolist() == columns(layout, view)


@given(example=examples(), seed=st.integers(0, 2**32))
def test_views_come_back_from_observations(example: Example, seed: int) -> None:
    """What the tensor shows is in the decoded views again, and sets hold nothing that it does not show."""
    layout, truth = example.layouts[0], example.random_views(seed)
    rows = np.array([columns(layout, view) for view in truth], np.int8)
    views = np.zeros(len(truth), example.view)
    layout.decode(rows, views)
    for view, row in zip(views, rows):
        assert columns(layout, view) == row.tolist()
    for (name, *_), fields, *_ in example.sources:
        if fields[0].kind == SET:
            shown = sum((1 << field.shape[-1]) - 1 << field.first for field in layout if field.source == name)
            assert not any(int(value) & ~shown for value in views[name].flat)


@pytest.mark.parametrize("processor", ["x86-64", "haswell", "skylake-avx512"])
def test_compiled_encoders_are_right_on_other_processors(processor: str, tmp_path: Path) -> None:
    """LLVM made wrong code of 24 columns for processors without AVX-512, which a machine with it would not notice."""
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("needs an x86 processor")
    if processor == "skylake-avx512" and not llvmlite.binding.get_host_cpu_features().get("avx512bw"):
        pytest.skip("needs a processor with AVX-512 to run on")
    if processor == "haswell" and not llvmlite.binding.get_host_cpu_features().get("avx2"):
        pytest.skip("needs a processor with AVX2 to run on")
    names = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    environment = {**os.environ, **names, "MONSTERZOO_CACHE_DIR": str(tmp_path)}
    script = Path(__file__).with_name("other_processors.py")
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "9\n", done.stderr


# --- One by hand ---


def test_a_layout_places_its_fields_and_reads_them_back() -> None:
    layout = Layout(
        numbers("scores", 2, high=9, meaning="m"),
        bitset("hand", 3, meaning="m"),
        numbers("turn", low=-1, high=5, meaning="m"),
        one_hot("trick", 2, 3, meaning="m"),
    )
    assert layout.bits == 9
    assert layout.size == 24, "nine columns of 0/1 take sixteen, three numbers take eight"
    assert [(field.name, field.slice) for field in layout] == [
        ("hand", slice(0, 3)),
        ("trick", slice(3, 9)),
        ("scores", slice(16, 18)),
        ("turn", slice(18, 19)),
    ]
    assert layout.read(np.arange(24), "trick").tolist() == [[3, 4, 5], [6, 7, 8]]
    assert layout.read(np.arange(48).reshape(2, 24), "turn").tolist() == [18, 42]
    low, high = layout.bounds
    assert (low[18], low.min()) == (-1, -1)
    assert high[16:19].tolist() == [9, 9, 5]
    assert high[:16].tolist() == [1] * 16


def test_observations_mean_the_same_exactly_when_signatures_agree() -> None:
    def signature(*fields: Field) -> str:
        return Layout(*fields).signature

    base = signature(bitset("hand", 3, meaning="one text"), numbers("score", high=9, meaning=""))
    assert base == signature(bitset("hand", 3, meaning="another"), numbers("score", high=9, meaning=""))
    for other in (
        signature(bitset("cards", 3, meaning=""), numbers("score", high=9, meaning="")),
        signature(bitset("hand", 4, meaning=""), numbers("score", high=9, meaning="")),
        signature(bitset("hand", 3, meaning=""), numbers("score", high=8, meaning="")),
        signature(bitset("hand", 3, meaning=""), numbers("score", 1, high=9, meaning="")),
    ):
        assert other != base


def test_impossible_layouts_are_refused() -> None:
    with pytest.raises(ValueError, match="share a name"):
        Layout(bitset("a", 1, meaning=""), numbers("a", high=1, meaning=""))
    with pytest.raises(ValueError, match="kinds: two numbers have the same code"):
        coded("kinds", 3, codes=[1, 2, 1], meaning="")


def test_a_view_has_room_for_what_all_its_layouts_show():
    small = Layout(
        bitset("cards", 7, meaning="cards"), one_hot("seat", 2, meaning="a seat"),
        numbers("bag", 11, first=1, high=9, meaning="copies of 1 to 11"),
    )  # fmt: skip
    large = Layout(
        bitset("more", 4, source="cards", first=5, meaning="cards"), numbers("points", 3, high=9, meaning="points")
    )
    view = view_of([small, large], ("points", np.int8, 4))
    shapes = {name: (view[name].base, view[name].shape) for name in ("cards", "seat", "bag", "points")}
    assert shapes == {"cards": ("u2", ()), "seat": ("i1", ()), "bag": ("u8", (2,)), "points": ("i1", (4,))}
