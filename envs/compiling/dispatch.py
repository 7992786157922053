"""Functions with one implementation per type of their first argument, called alike from Python and compiled code.

A type is a game's record (its dtype) or a compiled policy (its NamedTuple class). Only `key_of` knows how numba sees
them, so whatever compiled code finds is found from Python too, with compilation on or off.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar

from numba.core.errors import TypingError

from .cache import belongs_to, key_of
from .jit import overload

_Entry = TypeVar("_Entry")
_Function = TypeVar("_Function", bound=Callable[..., Any])


class TypeTable(Generic[_Entry]):
    """Entries by type; a type is given as `key_of` takes it."""

    def __init__(self, name: str, default: _Entry | None = None) -> None:
        self._name, self._default = name, default
        self._entries: dict[Any, _Entry] = {}

    def __setitem__(self, kind: Any, entry: _Entry) -> None:
        self._entries[key_of(kind)] = entry

    def __contains__(self, kind: Any) -> bool:
        return key_of(kind) in self._entries

    def __getitem__(self, kind: Any) -> _Entry:
        """The entry of a type, or the default; raises `TypeError` if there is neither."""
        entry = self._entries.get(key_of(kind), self._default)
        if entry is None:
            raise TypeError(f"{self._name}: nothing is registered for {key_of(kind)}")
        return entry


_tables: dict[Callable[..., Any], TypeTable[Callable[..., Any]]] = {}


def dispatched(default: Callable[..., Any] | None = None) -> Callable[[_Function], _Function]:
    """Decorate a stub, whose body is never run; `implement` adds implementations.

    Compiled code keeps what it finds, so implementations are added before a kernel that needs them is compiled.
    """

    def declare(stub: _Function) -> _Function:
        table = TypeTable(stub.__name__, default)

        @wraps(stub)
        def call(first: Any, *rest: Any) -> Any:
            return table[first](first, *rest)

        @overload(call)
        def find(first, *rest):
            try:
                function = table[first]
            except TypeError as error:
                raise TypingError(str(error)) from None
            return getattr(function, "py_func", function)

        _tables[call] = table
        return call  # type: ignore[return-value]

    return declare


def implement(stub: Callable[..., Any], kind: Any, function: Callable[..., Any]) -> None:
    """Let `function`, compiled code with the stub's arguments, be called for first arguments of a type.

    Kernels with such an argument are compiled again when the function's file changes.
    """
    _tables[stub][kind] = function
    if isinstance(kind, type):
        belongs_to(function, kind, first=True)


def is_implemented(stub: Callable[..., Any], kind: Any) -> bool:
    """Whether a type has an implementation of its own."""
    return kind in _tables[stub]
