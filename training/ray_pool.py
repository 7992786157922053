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

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

LOCAL = "local"
"""The address that stands for a Ray of our own, on this machine, as long as it is needed."""
MOST_LOSSES = 3
"""How often a task may lose its actor; a task that kills each of them would never end."""

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

    def do(self, task: Any, shared: Any) -> Any:
        return self._worker(task, shared)


class Pool:
    """Actors with a worker each; within `joined`.

    Args:
        make: makes a worker.
        workers: number of actors, one processor each; None for as many as there are processors.
    """

    def __init__(self, make: Callable[[], Worker], workers: int | None = None) -> None:
        self.workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._make = ray.put(make)
        self._kind = ray.remote(num_cpus=1)(_Actor)
        self.actors = [self._start() for _ in range(self.workers)]
        self.lost = 0
        """Actors lost so far."""

    def _start(self) -> Any:
        return self._kind.remote(self._make)

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
        losses: dict[int, int] = {}
        idle, busy = list(range(len(self.actors))), dict[Any, tuple[int, int, Any]]()
        while waiting or busy:
            while waiting and idle:
                actor = idle.pop()
                number, task = waiting.popleft()
                busy[self.actors[actor].do.remote(task, known)] = (actor, number, task)
            ready, _ = ray.wait(list(busy), num_returns=1, timeout=0.5)
            for reference in ready:
                actor, number, task = busy.pop(reference)
                idle.append(actor)
                try:
                    answer = ray.get(reference)
                except RayActorError as error:
                    if getattr(error, "actor_init_failed", False):
                        raise  # it was never there: the worker cannot be made
                    self.lost += 1
                    losses[number] = losses.get(number, 0) + 1
                    if losses[number] > MOST_LOSSES:
                        raise WorkerLostError(f"task {number} has lost {losses[number]} workers") from error
                    self.actors[actor] = self._start()
                    waiting.appendleft((number, task))
                except RayTaskError as error:
                    raise error.cause from error
                else:
                    yield number, answer
            tick()
