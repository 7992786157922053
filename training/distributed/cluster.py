"""Join a Ray cluster, and map a function over tasks."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

MAX_RETRIES = 3  # how often Ray runs a task again whose worker or node was lost


@contextmanager
def joined(address: str = "local", workers: int | None = None) -> Iterator[None]:
    """Join the Ray at an address ("auto", "host:6379", "ray://host:10001"), or start one for "local".

    A Ray of our own has `workers` processors, or those of the machine. Where this process has already joined one, that
    is used, whatever the address. Raises `ValueError` if there is no Ray at the address.
    """
    if ray.is_initialized():
        yield
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == "local":
            ray.init("local", num_cpus=workers, include_dashboard=False, **quiet)
        else:
            ray.init(address, **quiet)
    except (ConnectionError, RayError, ValueError) as error:
        raise ValueError(f"there is no Ray at {address!r}: {str(error).splitlines()[0]}") from error
    try:
        yield
    finally:
        ray.shutdown()


def count_workers(workers: int | None) -> int:
    """A number of workers; None is one for each of the cluster's processors."""
    return workers or max(1, int(ray.cluster_resources().get("CPU", 1)))


def map_tasks(
    function: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    workers: int | None = None,
    tick: Callable[[], None] = lambda: None,
) -> Iterator[tuple[int, Any]]:
    """Call `function(*task)` on Ray; yields each task's number and result as they come.

    At most `workers` run at once, one processor each; `tick` is called at least twice a second. Raises whatever the
    function raises, and Ray's own error for a task that has lost its worker more than `MAX_RETRIES` times.
    """
    remote, workers = ray.remote(max_retries=MAX_RETRIES)(function), count_workers(workers)
    waiting = enumerate(tasks)
    running: dict[Any, int] = {}
    try:
        while True:
            for number, task in islice(waiting, workers - len(running)):
                running[remote.remote(*task)] = number
            if not running:
                return
            for reference in ray.wait(list(running), timeout=0.5)[0]:
                number = running.pop(reference)  # now: Ray may abort where a task is cancelled that is just completed
                try:
                    result = ray.get(reference)
                except RayTaskError as error:
                    raise error.cause from error
                yield number, result
            tick()
    finally:
        for reference in running:  # given up by the caller, or after an error
            ray.cancel(reference, force=True)
