"""Symmetries: renamings that leave a game unchanged, such as swapping two colours; networks can be made equivariant."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Symmetry:
    """Generators of a variant's group of renamings.

    Each row is a permutation: entry k is the new place of what was in place k. Raises `ValueError` for other rows.
    """

    columns: np.ndarray
    """(renamings, columns of an observation)"""
    actions: np.ndarray
    """(renamings, actions), the no-op included"""
    things: np.ndarray
    """(renamings, things): what has such a name, a colour or a kind of tiles; units of a network can stand for them."""

    def __post_init__(self) -> None:
        for name, rows in vars(self).items():
            if rows.ndim != 2 or len(rows) != len(self.columns):
                raise ValueError(f"a symmetry has as many rows of {name} as of columns, not the shape {rows.shape}")
            if (np.sort(rows, axis=1) != np.arange(rows.shape[1])).any():
                raise ValueError(f"a symmetry's rows of {name} must be permutations of 0 … {rows.shape[1] - 1}")
