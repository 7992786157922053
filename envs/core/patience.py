"""A word to whoever waits: compiling takes seconds, and happens once for every version on a machine."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SILENCE = 1.0
"""Seconds of compiling without a word."""
_told: set[str] = set()
_quiet = threading.Event()
_busy = threading.local()


def be_quiet() -> None:
    """Say nothing from now on, as a program does that shows its progress itself."""
    _quiet.set()


@contextmanager
def patience(what: str, seconds: int) -> Iterator[None]:
    """Say on stderr, once for each `what`, that it is being compiled and for about how long, if it takes long."""
    if _quiet.is_set() or what in _told or getattr(_busy, "here", False):  # one kernel may compile another
        yield
        return

    def tell() -> None:
        _told.add(what)
        once = f"once on this machine: about {seconds} s (`monsterzoo compile` does it ahead)"
        print(f"monsterzoo: compiling {what}, {once}", file=sys.stderr, flush=True)

    timer = threading.Timer(SILENCE, tell)
    timer.daemon = True
    timer.start()
    _busy.here = True
    try:
        yield
    finally:
        _busy.here = False
        timer.cancel()
