"""All that luck can do: every outcome of a move, with its probability.

A game's luck is a generator inside its state, and every draw of the rules goes through `rng.draw`. In plain Python a
generator can be anything that takes the operations of `draw`, so the rules are run with one that answers by a script,
once for every way in which their draws can come out.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class Asked(Exception):  # noqa: N818 (not an error)
    """The rules draw one of `count` and the script does not say which."""

    def __init__(self, count: int) -> None:
        self.count = count


class Luck:
    """A generator that answers by a script.

    The operations of `draw` that mix a generator's bits change nothing here; the last one, the product with the number
    of outcomes, is where the answer comes in.
    """

    __array_ufunc__ = None  # numpy's numbers leave all operations to this class

    def __init__(self, script: tuple[int, ...]) -> None:
        self._answers = iter(script)

    def _mixed(self, other: Any) -> "Luck":
        return self

    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __rsub__ = _mixed

    def __int__(self) -> int:
        return 0

    def __mul__(self, bound: Any) -> int:
        count = int(bound)
        answer = 0 if count == 1 else next(self._answers, None)
        if answer is None:
            raise Asked(count)
        return answer << 32 | 0xFFFFFFFF  # as large a remainder as can be is never drawn again


class Scripted:
    """A state with such a generator; all other fields are the record's."""

    def __init__(self, record: Any, script: tuple[int, ...]) -> None:
        self.__dict__.update(_record=record, rng=Luck(script))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "rng":
            setattr(self._record, name, value)


def outcomes(states: np.ndarray, move: Callable[[Any], Any]) -> Iterator[tuple[float, np.ndarray]]:
    """Every way in which a move can come out, one at a time: its probability and the state afterwards, shape (1,).

    Args:
        states: one state, shape (1,), which stays as it is; so does the generator of those afterwards.
        move: changes a state by the rules, which are compiled or plain functions on it.
    """
    waiting: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
    while waiting:
        probability, script = waiting.pop()
        after = states.copy()
        try:
            move(Scripted(after[0], script))
        except Asked as asked:
            waiting += [(probability / asked.count, (*script, answer)) for answer in range(asked.count)]
        else:
            yield probability, after
