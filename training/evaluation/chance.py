"""Exact enumeration of chance outcomes.

Every draw of the rules goes through `rng.draw`. In plain Python the outcome of a draw can be given (`rng.CHANCE`), so
the rules are run once for every way in which their draws can come out.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from monsterzoo.envs.core.rng import CHANCE


class ChanceNode(Exception):  # noqa: N818 (not an error)
    """The rules draw one of `count` equally likely outcomes, and the script does not say which."""

    def __init__(self, count: int) -> None:
        self.count = count


@contextmanager
def scripted(script: tuple[int, ...]) -> Iterator[None]:
    """Draws in plain Python have these outcomes, one after the other; beyond them they raise `ChanceNode`.

    A draw with one outcome needs none. The state's generator is not used and stays as it is.
    """
    outcomes_left = iter(script)

    def outcome(count: int) -> int:
        found = 0 if count == 1 else next(outcomes_left, None)
        if found is None:
            raise ChanceNode(count)
        return found

    token = CHANCE.set(outcome)
    try:
        yield
    finally:
        CHANCE.reset(token)


def outcomes(states: np.ndarray, move: Callable[[Any], Any]) -> Iterator[tuple[float, np.ndarray]]:
    """Every way in which a move can come out, one at a time: its probability and the state afterwards, shape (1,).

    Args:
        states: one state, shape (1,), which stays as it is; so does the generator of those afterwards.
        move: changes a state by the rules, inner functions that run as plain Python here.
    """
    waiting: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
    while waiting:
        probability, script = waiting.pop()
        after = states.copy()
        try:
            with scripted(script):
                move(after[0])
        except ChanceNode as node:
            waiting += [(probability / node.count, (*script, outcome)) for outcome in range(node.count)]
        else:
            yield probability, after
