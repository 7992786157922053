"""A short run of the fuzzer, the same inputs every time; `make fuzz` goes on from there."""

import pytest
from needs import needs
from run import hunt

pytestmark = pytest.mark.slow

# Every input draws its variant, so a few of them see all. Other entrances than snapshots are shared code.
RUNS = [
    ("snapshots", "bite_night_v0", 70),
    ("snapshots", "pikit_v0", 70),
    ("snapshots", "yokai_septet_v0", 100),
    ("saved", "pikit_v0", 150),
    ("actions", "pikit_v0", 200),
    ("players", "bite_night_v0", 100),
    ("contents", "bite_night_v0", 60),
    ("contents", "yokai_septet_v0", 60),
    ("commands", "pikit_v0", 40),
    ("networks", "pikit_v0", 40),
    ("batches", "bite_night_v0", 40),
    ("checkpoints", "pikit_v0", 15),
    ("results", "pikit_v0", 30),
    ("records", "pikit_v0", 60),
    ("specs", "pikit_v0", 40),
]
WITH_TORCH = ("networks", "checkpoints")
"""Entrances for files that only a training library writes."""


@pytest.mark.parametrize(("entrance", "game", "inputs"), RUNS)
def test_no_input_crashes_hangs_or_slips_through(entrance: str, game: str, inputs: int) -> None:
    if entrance in WITH_TORCH:
        needs("torch")
    result = hunt(entrance, game, 0, "--inputs", str(inputs))
    assert not result.finding, result.finding
    assert result.counts.total() == inputs
    assert result.counts["refused"]
    assert entrance in ("saved", "commands") or result.counts["accepted"]
