"""The first minute: what users are told while something compiles, compiling ahead, and the modes of compilation."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from monsterzoo.benchmarks import coldstart
from monsterzoo.envs.core import patience
from toys import write_game


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody to whom a moment is long."""
    monkeypatch.setattr(patience, "SILENCE", 0.05)
    monkeypatch.setattr(patience, "_told", set())


def test_long_compiling_is_announced_once(impatient: None, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        with patience.patience("whist", 5):
            time.sleep(0.2)
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "compiling whist, once on this machine: about 5 s" in told


def test_short_compiling_is_not_mentioned(impatient: None, capsys: pytest.CaptureFixture[str]) -> None:
    with patience.patience("whist", 5):
        pass
    time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_a_kernel_within_a_kernel_is_part_of_it(impatient: None, capsys: pytest.CaptureFixture[str]) -> None:
    with patience.patience("whist", 5), patience.patience("bridge", 5):
        time.sleep(0.2)
    assert "bridge" not in capsys.readouterr().err


_MAIN = """
import sys
from {name} import GAME
from monsterzoo.envs import register_game
from monsterzoo.training.cli import main
register_game(GAME)
sys.exit(main(["compile", GAME.name]))
"""


def _compile(folder: Path, name: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "MONSTERZOO_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder), **environment}
    command = [sys.executable, "-c", _MAIN.format(name=name)]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False)


def _kept(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (folder / "cache").rglob("*.nbc")}


def test_compiling_ahead_leaves_nothing_to_compile(tmp_path: Path) -> None:
    write_game(tmp_path, "race_ahead")
    first = _compile(tmp_path, "race_ahead")
    assert first.returncode == 0, first.stderr
    for stage in ("one game", "batches", "one seat", "search", "arena", "s in all; kept in"):
        assert stage in first.stdout
    assert "compiling" not in first.stderr  # the command shows its own progress
    kept = _kept(tmp_path)
    assert kept
    again = _compile(tmp_path, "race_ahead")
    assert again.returncode == 0, again.stderr
    assert _kept(tmp_path) == kept


def test_nothing_is_compiled_ahead_where_nothing_is_compiled(tmp_path: Path) -> None:
    write_game(tmp_path, "race_plain")
    refused = _compile(tmp_path, "race_plain", NUMBA_DISABLE_JIT="1")
    assert refused.returncode == 2
    assert "NUMBA_DISABLE_JIT is set" in refused.stderr


_BEYOND = """
import numpy as np
from monsterzoo.envs.core.jit import compiled, kernel

@compiled
def inner(values, place):
    return values[place]

@kernel
def outer(values, place):
    return inner(values, place)

print(outer(np.arange(3), 1))
outer(np.arange(3), 7)
"""


def test_bounds_are_checked_on_request(tmp_path: Path) -> None:
    script = tmp_path / "beyond.py"
    script.write_text(_BEYOND)
    settings = {**os.environ, "MONSTERZOO_CACHE_DIR": str(tmp_path / "cache")}
    for checks, error in (("0", ""), ("1", "IndexError: index is out of bounds")):
        environment = {**settings, "MONSTERZOO_CHECKS": checks}
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
        assert done.stdout == "1\n"
        assert done.stderr.strip().endswith(error)
        assert bool(done.returncode) == bool(error)


def test_a_cold_start_is_measured_in_a_process_of_its_own() -> None:
    busy = coldstart.processor_seconds("sum(range(20_000_000))")
    assert busy > 0.05
    assert coldstart.processor_seconds("time.sleep(0.2)") < 0.15
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        coldstart.processor_seconds("1 / 0")
