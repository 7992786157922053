"""SIGINT and SIGTERM: work that is to be saved ends at a safe point, everything else at once."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 1.0
"""Seconds until a deferred signal interrupts at once."""


class Interrupted(KeyboardInterrupt):
    """Raised by SIGINT and SIGTERM; `code` is the customary exit code (130, 143)."""

    def __init__(self, number: int, message: str = "interrupted") -> None:
        super().__init__(message)
        self.number, self.code = number, 128 + number


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Context with another signal handler, in the main thread; ignored signals stay ignored (nohup)."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _wake(number: int) -> None:
    """Signal to the main thread, which may be asleep."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)


@contextmanager
def ending() -> Iterator[None]:
    """Context in which both signals raise `Interrupted`."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    with _handled(end):
        yield


class DeferredInterrupt:
    """Defers the first signal to a safe point (`check`) within `PATIENCE`; then, and at a second one, interrupts."""

    def __init__(self) -> None:
        self.number = 0  # the signal that has come, or 0
        self._handling, self._timer = _handled(self._note), threading.Timer(0, id)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            self._timer.cancel()  # or it would interrupt, on a busy machine, what tells where the work is saved
            raise Interrupted(number)
        self.number = number
        with suppress(OSError):  # there may be nobody to tell
            # Not print: the signal may have come in the middle of one.
            os.write(2, b"\nstopping as soon as everything is saved (once more: at once)\n")
        self._timer = threading.Timer(PATIENCE, _wake, [number])
        self._timer.daemon = True
        self._timer.start()

    def __enter__(self) -> "DeferredInterrupt":
        self._handling.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._timer.cancel()
        self._handling.__exit__(*error)

    def came(self) -> bool:
        """Whether a signal has come, at a safe point: there is time to save."""
        self._timer.cancel()
        return bool(self.number)

    def check(self) -> None:
        """Raise `Interrupted` if a signal has come."""
        if self.came():
            raise Interrupted(self.number)
