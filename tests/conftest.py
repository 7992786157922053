"""What all tests share."""

import os
from collections.abc import Iterator

# Before numpy and torch: pytest's workers, and the processes they start, have all processors busy as it is.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from monsterzoo.envs import names
from monsterzoo.envs.core.registry import find_game

settings.register_profile(
    "repo", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("repo")


def variants() -> Iterator[object]:
    """Every game and variant, as (name, options)."""
    for name in names():
        for options in find_game(name).variants:
            label = "-".join([name, *(f"{key}={value}" for key, value in options.items())])
            yield pytest.param(name, options, id=label)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if {"name", "options"} <= set(metafunc.fixturenames):
        metafunc.parametrize(("name", "options"), list(variants()))
