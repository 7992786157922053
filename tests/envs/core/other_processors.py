"""Run by `test_layouts`, compiled for another processor: layouts with 8, 16, … 72 columns of 0/1, each bit by bit."""

import numpy as np
from monsterzoo.envs.compiling.encoding import encode, register_layouts
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core.contract import view_type
from monsterzoo.envs.core.layout import Layout, bitset, numbers


@kernel
def encode_all(views, rows):
    """Write every view as a row of uint64."""
    for i in range(len(views)):
        encode(views[i], rows[i])


def main() -> None:
    """Print the number of layouts that were right; an `AssertionError` names one that was not."""
    counts = range(8, 73, 8)
    layouts = tuple(
        Layout(
            bitset("cards", min(count, 64), meaning=""),
            *([bitset("more", count - 64, meaning="")] if count > 64 else []),
            numbers("score", high=9, meaning=""),
        )
        for count in counts
    )
    view = view_type([("cards", np.uint64), ("more", np.uint8), ("score", np.int8)])
    register_layouts(view, lambda: layouts)
    for place, (count, layout) in enumerate(zip(counts, layouts, strict=True)):
        views = np.zeros(count + 1, view)
        views["layout"], views["score"] = place, 7
        for bit in range(count):
            views["cards" if bit < 64 else "more"][bit] = 1 << bit % 64
        rows = np.zeros((count + 1, layout.size), np.int8)
        encode_all(views, rows.view(np.uint64))
        wanted = np.zeros_like(rows)
        wanted[np.arange(count), np.arange(count)] = 1
        wanted[:, layout["score"].slice] = 7
        assert (rows == wanted).all(), f"{count} columns"
    print(len(layouts))


if __name__ == "__main__":
    main()
