"""What all tests share."""

from collections.abc import Iterator

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
