"""A few threads that wait for work, cheaper to hand it to than an executor."""

import threading
import weakref
from collections.abc import Callable
from typing import Any


class Team:
    """Runs one function on slices of a range, the first slice in the calling thread.

    The functions are compiled and release the GIL. Worker threads are daemons and end with the team.
    """

    def __init__(self, threads: int) -> None:
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
