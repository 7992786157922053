"""What only Linux has: without it everything still works. Its absence is simulated."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MISSING = {
    "os": ("sched_getaffinity", "sched_yield", "fork", "register_at_fork", "geteuid", "getuid", "getloadavg", "killpg"),
    "signal": ("SIGKILL", "SIGHUP", "SIGALRM"),
}
"""Names that Windows lacks; macOS lacks the first."""
PROGRAM = f"""
import os, signal, sys
sys.modules["fcntl"] = sys.modules["resource"] = sys.modules["pwd"] = None
for module, names in {MISSING!r}.items():
    for name in names:
        delattr(sys.modules[module], name)

import numpy as np
import monsterzoo as mz
from monsterzoo.benchmarks.measuring import machine
from monsterzoo.training.arena import arena
from monsterzoo.training.runs.config import processors
from nim import NIM

assert processors() == os.cpu_count()
assert machine()["cores"] == os.cpu_count()
mz.register_game(NIM)
games = mz.make_vec("nim_v0", num_envs=8, threads=2, seed=0)
for _ in range(20):
    games.step(games.sample_actions())
player = mz.policies.make("search:8,rollout=random,threads=2", "nim_v0")
player.act(games.decisions())
print(arena("nim_v0", ["random", "random"], 8, threads=2)["games"], games.states.tobytes().hex()[:200])
"""


def run(program: str, folder: Path) -> str:
    settings = {**os.environ, "MONSTERZOO_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_games_are_the_same_without_what_only_linux_has(tmp_path: Path) -> None:
    usual = PROGRAM.replace("delattr(", "getattr(").replace("assert ", "assert 1 or ").replace('"] = None', '"] = os')
    assert run(PROGRAM, tmp_path) == run(usual, tmp_path), "the second one plays with what the first one has compiled"
