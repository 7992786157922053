"""Progress note while numba compiles."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

DELAY = 1.0
"""Seconds of compiling before the note."""
_noted: set[str] = set()
_off = threading.Event()
_compiling = threading.local()


def turn_off() -> None:
    """Print no notes from now on, for programs that show their own progress."""
    _off.set()


@contextmanager
def compile_notice(what: str, seconds: int) -> Iterator[None]:
    """Print to stderr what is being compiled and about how long it takes, once for each `what`, if it takes long."""
    if _off.is_set() or what in _noted or getattr(_compiling, "here", False):  # one kernel may compile another
        yield
        return

    def note() -> None:
        _noted.add(what)
        print(f"monsterzoo: compiling {what}, about {seconds} s; later runs use the cache", file=sys.stderr, flush=True)

    timer = threading.Timer(DELAY, note)
    timer.daemon = True
    timer.start()
    _compiling.here = True
    try:
        yield
    finally:
        _compiling.here = False
        timer.cancel()
