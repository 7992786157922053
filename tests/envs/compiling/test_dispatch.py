"""Implementations are found by type, the same ones from Python and from compiled code."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from monsterzoo.envs.compiling.dispatch import dispatched, implement, is_implemented
from monsterzoo.envs.compiling.jit import JIT_OFF, compiled, kernel
from monsterzoo.envs.core.contract import record_type
from numba.core.errors import TypingError

FIRST, SECOND, OTHER = (record_type([(name, np.int64)]) for name in ("first", "second", "other"))


class Doubling(NamedTuple):
    """A compiled policy by type only."""

    factor: int = 2


@compiled
def _nothing(holder, number):
    return 0


@dispatched()
def value(holder: Any, number: Any) -> Any:
    """A number made from another."""


@dispatched(default=_nothing)
def value_or_nothing(holder: Any, number: Any) -> Any:
    """The same, for every type."""


@compiled
def _of_first(holder, number):
    return holder.first + number


@compiled
def _of_second(holder, number):
    return holder.second - number


@compiled
def _of_doubling(holder, number):
    return holder.factor * number


for stub in (value, value_or_nothing):
    implement(stub, FIRST, _of_first)
    implement(stub, SECOND, _of_second)
    implement(stub, Doubling, _of_doubling)


@kernel
def _value_of_record(holders, number):
    return value(holders[0], number)


@kernel
def _value_or_nothing_of_record(holders, number):
    return value_or_nothing(holders[0], number)


@kernel
def _value_of_token(token, number):
    return value(token, number)


@pytest.mark.parametrize(("record", "wanted"), [(FIRST, 17), (SECOND, 3)])
def test_records(record: np.dtype, wanted: int) -> None:
    holders = np.zeros(1, record)
    holders[record.names[-1]] = 10  # type: ignore[index]
    assert value(holders[0], 7) == _value_of_record(holders, 7) == wanted
    assert value_or_nothing(holders[0], 7) == _value_or_nothing_of_record(holders, 7) == wanted


def test_named_tuples() -> None:
    assert value(Doubling(), 7) == _value_of_token(Doubling(), 7) == 14
    assert is_implemented(value, Doubling)


def test_the_default_is_for_all_other_types() -> None:
    others = np.zeros(1, OTHER)
    assert value_or_nothing(others[0], 7) == _value_or_nothing_of_record(others, 7) == 0
    assert not is_implemented(value_or_nothing, OTHER)


def test_an_unknown_type_without_a_default_is_refused_by_name() -> None:
    others = np.zeros(1, OTHER)
    with pytest.raises(TypeError, match=r"value: nothing is registered for .*other"):
        value(others[0], 7)
    with pytest.raises(TypeError if JIT_OFF else TypingError, match=r"value: nothing is registered for .*other"):
        _value_of_record(others, 7)
