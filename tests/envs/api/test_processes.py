"""Processes that fork, are spawned, or end while threads are still at work."""

import copy
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from monsterzoo import policies
from monsterzoo.envs import make_vec
from monsterzoo.training.evaluation.tournament import Tournament

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


def test_a_second_thread_is_refused_by_a_search_and_by_a_tournament() -> None:
    """Both would write into the same trees and tables."""
    vec = make_vec("pikit_v0", 1, seed=1, players=2)
    search = policies.make("search:5", "pikit_v0", players=2)
    twin = pickle.loads(pickle.dumps(copy.deepcopy(search)))
    asked = (vec.observations, vec.seats, vec.states)
    tournament = Tournament(vec.variant, ["a", "b"])
    calls = {
        "SearchPolicy": lambda: search.search(*asked),
        "Tournament": lambda: tournament.play([search, search], 1),
    }
    with search.caller.lock, tournament.caller.lock, ThreadPoolExecutor(1) as pool:
        for name, call in calls.items():
            with pytest.raises(RuntimeError, match=f"another thread is inside this {name}: one call at a time"):
                pool.submit(call).result()
    assert search.search(*asked).visits.sum() == 5
    with search.caller.lock, ThreadPoolExecutor(1) as pool:
        assert pool.submit(twin.search, *asked).result().visits.sum() == 5, "a copy is another one"


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
