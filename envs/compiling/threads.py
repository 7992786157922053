"""Thread pool for compiled functions, which release the GIL."""

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

from .jit import JIT_OFF, direct
from .work_queue import LEADER, new_queue


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
        running = [self.submit(function, given) for given in others]
        try:
            function(*first)
        finally:
            wait(running)
        for one in running:
            one.result()

    def submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
        """Have a worker call a function."""
        if self._process != os.getpid():
            self._process, self._jobs = os.getpid(), SimpleQueue[Any]()
            for _ in range(self.size - 1):
                threading.Thread(target=_work, args=(self._jobs,), daemon=True).start()
                weakref.finalize(self, self._jobs.put, None)
        future = Future[Any]()
        self._jobs.put((future, function, arguments))
        return future


def _work(jobs: "SimpleQueue[Any]") -> None:
    while (job := jobs.get()) is not None:
        future, function, arguments = job
        try:
            future.set_result(function(*arguments))
        except BaseException as error:  # for the caller
            future.set_exception(error)
        del job, future, function, arguments  # not to be kept alive while waiting


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
        self._running: dict[tuple[int, int], Future[Any]] = {}
        self._kernel = self._entry = kernel
        self._rounds = 0

    def run(self) -> Any:
        """Run one round; returns what the kernel returns in the caller's thread, when all parts are done."""
        self._rounds += 1
        if self._rounds == 2:  # finding it takes 3 ms: tournaments, which run once, go through numba's dispatch
            self._entry = direct(self._kernel, self._calls[LEADER])
        for worker, call in enumerate(self._calls[LEADER + 1 :]):
            inside = self._running.get(key := (os.getpid(), worker))
            if inside is None or inside.done():
                self._running[key] = self._pool.submit(self._entry, call)
        return self._entry(*self._calls[LEADER])
