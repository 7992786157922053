"""Thread pool for compiled functions, which release the GIL."""

import os
import threading
import weakref
from collections.abc import Callable
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

from ..core.options import is_whole, whole
from .jit import JIT_OFF, direct
from .work_queue import LEADER, new_queue


def check_counts(game: str, **counts: Any) -> tuple[int, ...]:
    """Numbers of games or threads as Python's integers; raises `ValueError` for those that are none."""
    for name, value in counts.items():
        if not is_whole(value) or value < 1:
            raise ValueError(f"{game}: {name}={value!r} is not allowed; allowed: an integer from 1")
    return tuple(whole(value) for value in counts.values())


class ThreadPool:
    """Persistent pool of daemon threads; the caller's thread is one of its `size`.

    Workers start when they are first needed. A forked process has none of its parent's threads and starts its own.
    """

    def __init__(self, threads: int) -> None:
        self.size = threads
        self._process = 0

    def run(self, function: Callable[..., None], count: int, arguments: Callable[[int, int], tuple[Any, ...]]) -> None:
        """Call `function(*arguments(start, stop))` for slices that cover range(count), the first in this thread.

        Raises what a call raises, after all have ended.
        """
        parts = min(self.size, count)
        edges = [count * part // parts for part in range(parts + 1)]
        first, *others = [arguments(start, stop) for start, stop in pairwise(edges)]
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for worker, given in enumerate(others):
            self.start(worker, function, given, done)
        try:
            function(*first)
        finally:
            errors = [done.get() for _ in others]
        for error in errors:
            if error is not None:
                raise error

    def start(self, worker: int, function: Callable[..., Any], arguments: tuple[Any, ...], done: Any = None) -> None:
        """Queue a call for a worker, or let it be if it is busy and nobody waits for the error to be put in `done`."""
        if self._process != os.getpid():
            self._start_workers()
        if done is not None or self._idle[worker]:
            self._idle[worker] = False
            self._jobs[worker].put((function, arguments, done))

    def _start_workers(self) -> None:
        self._process = os.getpid()
        self._jobs: list[SimpleQueue[Any]] = [SimpleQueue() for _ in range(self.size - 1)]
        self._idle = [True] * (self.size - 1)
        for worker, jobs in enumerate(self._jobs):
            threading.Thread(target=_work, args=(jobs, self._idle, worker), daemon=True).start()
        weakref.finalize(self, _end, self._jobs)


def _work(jobs: "SimpleQueue[Any]", idle: list[bool], worker: int) -> None:
    while (job := jobs.get()) is not None:
        function, arguments, done = job
        error = None
        try:
            function(*arguments)
        except BaseException as raised:  # for the caller
            error = raised
        idle[worker] = True
        if done is not None:
            done.put(error)
        del job, function, arguments, done, error  # not to be kept alive while waiting


def _end(jobs: "list[SimpleQueue[Any]]") -> None:
    for queue in jobs:
        queue.put(None)


class ParallelKernel:
    """A kernel that a pool runs again and again on the same arrays; workers spin on a shared counter between rounds.

    The kernel is called with `(queue, member, *arguments, *scratch[member])` and takes parts of the batch as in
    `work_queue`. Waking a thread takes as long as stepping hundreds of games, so workers stay inside the kernel for a
    while and look for the next round. The caller does the parts that they do not take: it never waits for one to wake.
    """

    def __init__(
        self, threads: int, kernel: Callable[..., Any], arguments: tuple[Any, ...], scratch: list[tuple[Any, ...]]
    ) -> None:
        self.size = 1 if JIT_OFF else threads
        queue = new_queue(self.size)
        self._calls = [(queue, member, *arguments, *scratch[member]) for member in range(self.size)]
        self._pool = ThreadPool(self.size)
        self._kernel = kernel
        self._entry: Callable[..., Any] | None = None

    def run(self) -> Any:
        """Run one round; returns what the kernel returns in the caller's thread, when all parts are done."""
        if self._entry is None:  # compiled when it is first needed
            self._entry = direct(self._kernel, self._calls[LEADER])
        for worker, call in enumerate(self._calls[LEADER + 1 :]):
            self._pool.start(worker, self._entry, call)
        return self._entry(*self._calls[LEADER])
