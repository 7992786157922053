"""Exact enumeration of chance outcomes.

Every draw of the rules goes through `rng.draw`. In plain Python the outcome of a draw can be given (`rng.CHANCE`), so
the rules are run once for every way in which their draws can come out.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from monsterzoo.envs.core.rng import CHANCE

Result = TypeVar("Result")


class ChanceNode(Exception):  # noqa: N818 (not an error)
    """The rules draw one of `count` equally likely outcomes, and the script does not say which."""

    def __init__(self, count: int, alike: int = 0) -> None:
        self.count = count
        self.alike = alike  # so many of the first outcomes are alike, and so are all others; 0 where each matters

    def branches(self) -> list[tuple[int, float]]:
        """Outcomes that differ, one of each kind, and the probabilities of the kinds."""
        if not self.alike:
            return [(outcome, 1 / self.count) for outcome in range(self.count)]
        first = self.alike / self.count
        return [(0, 1.0)] if first == 1 else [(0, first), (self.alike, 1 - first)]


@contextmanager
def scripted(script: tuple[int, ...]) -> Iterator[None]:
    """Draws in plain Python have these outcomes, one after the other; beyond them they raise `ChanceNode`.

    A draw with one outcome needs none. The state's generator is not used and stays as it is.
    """
    outcomes_left = iter(script)

    def outcome(count: int, alike: int) -> int:
        found = 0 if count == 1 else next(outcomes_left, None)
        if found is None:
            raise ChanceNode(count, alike)
        return found

    token = CHANCE.set(outcome)
    try:
        yield
    finally:
        CHANCE.reset(token)


def outcomes(
    states: np.ndarray, move: Callable[[Any], Result], limit: int = 1 << 62
) -> Iterator[tuple[float, np.ndarray, Result]]:
    """Everything a move can lead to: a probability, the state afterwards, shape (1,), and what `move` returned.

    Args:
        states: one state, shape (1,), which stays as it is; so does the generator of those afterwards.
        move: changes a state by the rules, inner functions that run as plain Python here; may return a number.
        limit: of more different results than this only the first `limit` + 1 are given, without their full probability.
    """
    waiting: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
    reached: dict[tuple[bytes, Result], tuple[float, np.ndarray, Result]] = {}
    while waiting and len(reached) <= limit:
        probability, script = waiting.pop()
        after = states.copy()
        try:
            with scripted(script):
                result = move(after[0])
        except ChanceNode as node:
            waiting += [(probability * share, (*script, outcome)) for outcome, share in node.branches()]
        else:
            key = after.tobytes(), result
            reached[key] = (probability + reached[key][0] if key in reached else probability), after, result
    yield from reached.values()
