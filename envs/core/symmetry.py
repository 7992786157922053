"""Symmetries: permutations of columns and actions that leave a game as it is, such as swapping two colours.

Networks can be equivariant under them, see `monsterzoo.training.algorithms.symmetric`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Symmetry:
    """Generators of a variant's symmetry group.

    Each row is a permutation: entry k is the new place of what was in place k. Raises `ValueError` for other rows.
    """

    columns: np.ndarray
    """(generators, columns of an observation)"""
    actions: np.ndarray
    """(generators, actions), the no-op included"""
    things: np.ndarray
    """(generators, things): the things that are permuted, such as colours or tiles; hidden units can stand for them."""

    def __post_init__(self) -> None:
        for name, rows in vars(self).items():
            if rows.ndim != 2 or len(rows) != len(self.columns):
                raise ValueError(f"a symmetry has as many rows of {name} as of columns, not the shape {rows.shape}")
            if (np.sort(rows, axis=1) != np.arange(rows.shape[1])).any():
                raise ValueError(f"a symmetry's rows of {name} must be permutations of 0 … {rows.shape[1] - 1}")
