"""Processes that fork, are spawned, or end while threads are still at work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GAMES = """
import os, signal, sys, threading, time, warnings
from monsterzoo import policies
from monsterzoo.envs import make_vec

def play(games, player, steps=20):
    for _ in range(steps):
        games.step(games.sample_actions())
    chosen = player.act(games.decisions())
    return chosen.tobytes() + games.states.tobytes()

def begin():
    games = make_vec("pikit_v0", 64, threads=2, seed=5)
    return games, policies.make("search:8,trees=2,threads=2", "pikit_v0")
"""
FORK = """
games, player = begin()
play(games, player)
saved = games.save()
ours = play(games, player)
warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)  # of Python 3.12 and later
child = os.fork()
if not child:
    signal.alarm(120)  # ends it if it waits for threads that are not there
    games.restore(saved)
    os._exit(0 if play(games, player) == ours else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
SPAWN = """
def work(number):
    return play(*begin())

if __name__ == "__main__":
    from multiprocessing import get_context
    with get_context("spawn").Pool(2) as pool:
        ours = work(0)
        sys.exit(not all(theirs == ours for theirs in pool.map(work, range(2))))
"""
EXIT = """
games, player = begin()
play(games, player, 1)
long = policies.make("search:1000000000,trees=2,threads=2", "pikit_v0")

def endless():
    long.act(games.decisions())

threading.Thread(target=endless, daemon=True).start()
more = make_vec("pikit_v0", 4096, threads=2, seed=6)
more.step(more.sample_actions())  # its thread looks for more
time.sleep(0.1)
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(FORK, marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"), id="fork"),
        pytest.param(SPAWN, id="spawn"),
        pytest.param(EXIT, id="exit"),
    ],
)
def test_threads_neither_hang_nor_complain(code: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(GAMES + code)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.splitlines() if "compiling" not in line]
