"""Work spread over Ray: join a cluster, keep actors that each hold a worker, hand out tasks to them.

```python
class Square:
    def __call__(self, task: int, shared: int) -> int:
        return task * task + shared

with joined("local"), Pool(Square, workers=2) as pool:
    squares = pool.map([1, 2, 3], shared=10)  # [11, 14, 19]
```

A worker is made once in every actor, by a function or class that can be pickled, and answers `worker(task, shared)`. A
task whose actor is lost (its process killed, its node gone) is given to another one; an error inside of a worker is
raised here.
"""

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

LOCAL = "local"
"""The address that stands for a Ray of our own, on this machine, as long as it is needed."""
MOST_LOSSES = 3
"""How often a task may lose its actor; a task that kills each of them would never end."""

PATIENCE = 30.0
"""Seconds without any worker after which we say what we are waiting for."""

Worker = Callable[[Any, Any], Any]


class WorkerLostError(RuntimeError):
    """A task lost its actor again and again."""


@contextmanager
def joined(address: str = LOCAL, workers: int | None = None) -> Iterator[None]:
    """Join the Ray at an address ("auto", "host:6379", "ray://host:10001"), or start one for "local".

    Where this process has already joined one, that is used, whatever the address. What was begun here is left again.
    Raises `ValueError` if there is no Ray at the address.

    Args:
        address: where Ray is.
        workers: processors that a Ray of our own is to have; None for those of the machine.
    """
    if ray.is_initialized():
        yield
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == LOCAL:
            ray.init("local", num_cpus=workers, include_dashboard=False, **quiet)
        else:
            ray.init(address, **quiet)
    except (ConnectionError, RayError, ValueError) as error:
        raise ValueError(f"there is no Ray at {address!r}: {str(error).splitlines()[0]}") from error
    try:
        yield
    finally:
        ray.shutdown()


class _Actor:
    """Holds a worker."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._worker = make()

    def ready(self) -> None:
        """Answers as soon as there is a worker."""

    def do(self, task: Any, shared: Any) -> Any:
        return self._worker(task, shared)


class Pool:
    """Actors with a worker each; within `joined`.

    Those for which Ray has no room, at the start or after a node was lost, join in as soon as there is some.

    Args:
        make: makes a worker.
        workers: number of actors, one processor each; None for as many as there are processors.
    """

    def __init__(self, make: Callable[[], Worker], workers: int | None = None) -> None:
        self.workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.lost = 0
        """Actors lost so far."""
        self._make = ray.put(make)
        self._kind = ray.remote(num_cpus=1)(_Actor)
        self.actors: list[Any] = [None] * self.workers
        self._idle: list[int] = []
        self._starting: dict[Any, int] = {}
        for index in range(self.workers):
            self._start(index)

    def _start(self, index: int) -> None:
        self.actors[index] = self._kind.remote(self._make)
        self._starting[self.actors[index].ready.remote()] = index

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the actors."""
        for actor in self.actors:
            ray.kill(actor)
        self.actors = []

    def map(self, tasks: Iterable[Any], shared: Any = None) -> list[Any]:
        """The workers' answers, in the order of the tasks; `shared` is sent to each node once."""
        answers = dict(self.stream(tasks, shared))
        return [answers[number] for number in range(len(answers))]

    def stream(
        self, tasks: Iterable[Any], shared: Any = None, tick: Callable[[], None] = lambda: None
    ) -> Iterator[tuple[int, Any]]:
        """The number of each task and its answer, as they come; `tick` is called at least twice a second.

        Raises whatever a worker raises, and `WorkerLostError` when a task has lost its actor too often.
        """
        known = ray.put(shared)
        waiting = deque(enumerate(tasks))
        busy: dict[Any, tuple[int, int, Any]] = {}
        losses: Counter[Any] = Counter()
        patient_until = monotonic() + PATIENCE
        try:
            while waiting or busy:
                while waiting and self._idle:
                    index = self._idle.pop()
                    number, task = waiting.popleft()
                    busy[self.actors[index].do.remote(task, known)] = (index, number, task)
                ready, _ = ray.wait([*busy, *self._starting], num_returns=1, timeout=0.5)
                for reference in ready:
                    if reference in self._starting:
                        index = self._starting.pop(reference)
                        if self._answered(reference, index, losses, f"worker {index}"):
                            self._idle.append(index)
                        continue
                    index, number, task = busy.pop(reference)
                    answer = self._answered(reference, index, losses, f"task {number}")
                    if answer is None:
                        waiting.appendleft((number, task))
                        continue
                    self._idle.append(index)
                    yield number, answer[0]
                if not busy and not self._idle and monotonic() > patient_until:
                    patient_until = float("inf")
                    print("waiting for Ray to have room for a worker (one processor each)", file=sys.stderr)
                tick()
        finally:
            self._idle += [index for index, *_ in busy.values()]  # for later tasks, if these are given up

    def _answered(self, reference: Any, index: int, losses: Counter[Any], what: str) -> tuple[Any] | None:
        """An actor's answer; None if the actor was lost, and is being replaced."""
        try:
            return (ray.get(reference),)
        except RayTaskError as error:
            self._idle.append(index)
            raise error.cause from error
        except RayActorError as error:
            if getattr(error, "actor_init_failed", False):
                raise ValueError(f"a worker cannot be made: {_last_line(error)}") from error
            self.lost += 1
            losses[what] += 1
            if losses[what] > MOST_LOSSES:
                raise WorkerLostError(f"{what} has lost {losses[what]} actors") from error
            self._start(index)
            return None


def _last_line(error: BaseException) -> str:
    """What an error says in the end, after all its traceback."""
    return str(error).strip().splitlines()[-1].strip()
