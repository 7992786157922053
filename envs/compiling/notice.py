"""What is printed to stderr: a progress note while numba compiles, and warnings."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numba

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


_warned: set[str] = set()


def warn_once(topic: str, text: str) -> None:
    """Print the first warning about a topic."""
    if topic not in _warned:
        _warned.add(topic)
        print(f"monsterzoo: {text}", file=sys.stderr, flush=True)


def warn_of_slow_compiling(error: Exception) -> None:
    """Print why kernels are compiled without linking."""
    reason = str(error).partition("\n")[0]
    warn_once("linking", f"compiling is slower with numba {numba.__version__} ({type(error).__name__}: {reason})")
