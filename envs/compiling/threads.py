"""Threads that share compiled work: a `Team` for long jobs of any kind, a `Crew` for one short job again and again."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.options import is_whole, whole
from .jit import JIT_OFF, direct
from .work_queue import CLOSED, LEADER, new_shares


def check_counts(game: str, **counts: Any) -> tuple[int, ...]:
    """Numbers of games or threads as Python's integers; raises `ValueError` for those that are none."""
    for name, value in counts.items():
        if not is_whole(value) or value < 1:
            raise ValueError(f"{game}: {name}={value!r} is not allowed; allowed: a whole number from 1")
    return tuple(whole(value) for value in counts.values())


class Crew:
    """Runs the same kernel on the same arrays, over and over, in about the time it takes to notice a changed number.

    The kernel is called with `(shares, member, *arguments, *scratch[member])` and takes parts of the batch as in
    `shares`. Waking a thread through Python costs as much as stepping hundreds of games, so workers stay inside
    the kernel between rounds and look for the next one; after a while without any they sleep until it comes. The
    caller does what they do not get to, so nothing ever waits for a sleeping worker.
    """

    def __init__(
        self, threads: int, kernel: Callable[..., Any], arguments: tuple[Any, ...],
        scratch: list[tuple[Any, ...]] | None = None,
    ) -> None:  # fmt: skip
        self.size = 1 if JIT_OFF else threads
        shares = new_shares(self.size)
        self._kernel = kernel
        own = scratch or [()] * self.size
        self._calls = [(shares, member, *arguments, *own[member]) for member in range(self.size)]
        self._workers: list[_Worker] = []
        self._ready = False
        weakref.finalize(self, _dismiss, shares, self._workers)

    def run(self) -> Any:
        """One round: everything is done when this returns what the kernel returns to the caller's thread."""
        if not self._ready:  # compiled when it is first needed
            self._kernel = direct(self._kernel, self._calls[LEADER])
            self._workers += [_Worker(self._kernel, call) for call in self._calls[LEADER + 1 :]]
            self._ready = True
        for worker in self._workers:
            worker.wake()
        return self._kernel(*self._calls[LEADER])


class _Worker:
    """A thread that runs the kernel whenever it is woken, until that finds nothing to do for a while."""

    def __init__(self, kernel: Callable[..., Any], call: tuple[Any, ...]) -> None:
        self._kernel, self._call = kernel, call
        self._asleep = True
        self._alarm = threading.Lock()
        self._alarm.acquire()
        threading.Thread(target=self._work, daemon=True).start()

    def wake(self) -> None:
        """Look for work, if not doing so already."""
        if self._asleep:
            self._asleep = False
            self._alarm.release()

    def _work(self) -> None:
        shares = self._call[0]
        while not shares[CLOSED]:
            self._alarm.acquire()
            self._kernel(*self._call)
            self._asleep = True


def _dismiss(shares: np.ndarray, workers: list[_Worker]) -> None:
    shares[CLOSED] = 1
    for worker in workers:
        worker.wake()


class Team:
    """Runs one function on slices of a range, the first slice in the calling thread.

    The functions are compiled and release the GIL. Worker threads are daemons and end with the team. A process that is
    forked has none of its parent's threads, so the team is gathered again there.
    """

    def __init__(self, threads: int) -> None:
        self._gather(threads)

    def _gather(self, threads: int) -> None:
        self._process = os.getpid()
        self._jobs: list[Any] = [None] * (threads - 1)
        self._errors: list[BaseException] = []
        self._start = [threading.Lock() for _ in range(threads - 1)]
        self._done = [threading.Lock() for _ in range(threads - 1)]
        for worker in range(threads - 1):
            self._start[worker].acquire()
            self._done[worker].acquire()
            args = (weakref.ref(self), self._start[worker], self._done[worker], worker)
            threading.Thread(target=_work, args=args, daemon=True).start()
        weakref.finalize(self, _release, self._start)

    @property
    def size(self) -> int:
        """Number of threads, the caller included."""
        return len(self._jobs) + 1

    def run(self, function: Callable[..., None], count: int, arguments: Callable[[int, int], tuple[Any, ...]]) -> None:
        """Call `function(*arguments(start, stop))` for slices that cover range(count)."""
        if self._process != os.getpid():
            self._gather(self.size)
        parts = min(self.size, count)
        edges = [count * k // parts for k in range(parts + 1)]
        for worker in range(parts - 1):
            self._jobs[worker] = (function, arguments(edges[worker + 1], edges[worker + 2]))
            self._start[worker].release()
        try:
            function(*arguments(0, edges[1]))
        finally:
            for worker in range(parts - 1):
                self._done[worker].acquire()
        if self._errors:
            raise self._errors.pop()


def _work(team_ref: "weakref.ref[Team]", start: threading.Lock, done: threading.Lock, worker: int) -> None:
    while True:
        start.acquire()
        team = team_ref()
        if team is None or team._jobs[worker] is None:
            return
        function, arguments = team._jobs[worker]
        team._jobs[worker] = None
        try:
            function(*arguments)
        except BaseException as error:  # handed to the caller
            team._errors.append(error)
        del team, function, arguments
        done.release()


def _release(locks: list[threading.Lock]) -> None:
    for lock in locks:
        lock.release()
