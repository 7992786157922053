"""What all tests share."""

import os
from collections.abc import Iterator
from typing import Any

# Before numpy and torch: pytest's workers, and the processes they start, have all processors busy as it is.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from monsterzoo.envs import names
from monsterzoo.envs.compiling import notice
from monsterzoo.envs.core.registry import find_game
from xdist.scheduler import LoadScopeScheduling

settings.register_profile(
    "repo", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("repo")
notice.turn_off()  # which test compiles something first depends on how many workers there are


def variants() -> Iterator[object]:
    """Every game and variant, as (name, options)."""
    for name in names():
        for options in find_game(name).variants:
            label = "-".join([name, *(f"{key}={value}" for key, value in options.items())])
            yield pytest.param(name, options, id=label)


# --- Several workers: what the tests of a game, or of a file, compile is compiled in one of them ---


class ByGame(LoadScopeScheduling):
    """Gives a worker all tests of a game's variants, or all others of a file."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    file, _, test = nodeid.partition("::")
    game = next((game for game in names() if game in test), None)
    # Fuzzing compiles with bounds checks, code of its own.
    return file if game is None else f"{game}, checked" if file.startswith("tests/fuzz/") else game


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByGame:
    config.option.loadscopereorder = False
    return ByGame(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a worker begin with what takes long: games, then files of slow tests; the others fill up the end."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        groups = {item: group_of(item.nodeid) for item in items}
        slow = {groups[item] for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: (groups[item] not in names(), groups[item] not in slow))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if {"name", "options"} <= set(metafunc.fixturenames):
        metafunc.parametrize(("name", "options"), list(variants()))
