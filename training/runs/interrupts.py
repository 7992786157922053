"""SIGINT and SIGTERM: work that is to be saved ends at a safe point, everything else at once."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """The program is to end; `code` is the customary exit code (130, 143)."""

    def __init__(self, number: int, message: str = "interrupted") -> None:
        super().__init__(message)
        self.number, self.code = number, 128 + number


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Use a handler for a while, in the main thread; signals that are ignored stay so (nohup)."""
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


@contextmanager
def ending() -> Iterator[None]:
    """Both signals raise `Interrupted`."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    with _handled(end):
        yield


@contextmanager
def goes_on_from(folder: Path) -> Iterator[None]:
    """An interruption says that the same command goes on from this folder."""
    try:
        yield
    except Interrupted as interruption:
        raise Interrupted(interruption.number, f"interrupted; the same command goes on from {folder}") from None


class DeferredInterrupt:
    """Defers the first signal to the next safe point (`check`); a second one interrupts at once."""

    def __init__(self) -> None:
        self.number = 0  # the signal that has come, or 0
        self._handling = _handled(self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            raise Interrupted(number)
        self.number = number
        with suppress(OSError):  # there may be nobody to tell
            # Not print: the signal may have come in the middle of one.
            os.write(2, b"\nstopping as soon as everything is saved (once more: at once)\n")

    def __enter__(self) -> "DeferredInterrupt":
        self._handling.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._handling.__exit__(*error)

    def check(self) -> None:
        """Raise `Interrupted` if a signal has come."""
        if self.number:
            raise Interrupted(self.number)
