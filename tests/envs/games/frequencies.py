"""Counts of random outcomes against the chances they should have."""

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any


def assert_as_expected(counts: Counter[Any], expected: Mapping[Any, float]) -> None:
    """Pearson's chi-square below its mean by four standard deviations; streams are seeded, so this cannot flicker.

    `expected` holds the weights of all outcomes that can be.
    """
    assert set(counts) <= set(expected), "an outcome that cannot be"
    total, weight = sum(counts.values()), sum(expected.values())
    degrees = len(expected) - 1
    chi = sum((counts[one] - total * w / weight) ** 2 / (total * w / weight) for one, w in expected.items())
    assert chi < degrees + 4 * sqrt(2 * degrees) + 4, f"chi-square {chi:.1f} of {degrees} degrees of freedom"
