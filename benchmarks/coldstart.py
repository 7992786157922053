"""Cold start: CPU time from nothing to the first step, with an empty cache of compiled code.

Each measurement is a process of its own. In turn with them a fixed numba program, the yardstick, is compiled: seconds
depend on the machine, multiples of the yardstick mostly on our code.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from monsterzoo.cli.options import Parser
from monsterzoo.envs.core.registry import find_game
from monsterzoo.policies.heuristics import has_heuristic

from . import measuring

_TIMED = """
import time
start = time.process_time()
{body}
print(time.process_time() - start)
"""
_YARDSTICK = """
import numba, numpy as np
source = '''
def rank{k}(values, out):
    total, best = 0.0, -1.0
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            if values[i] * {k} > values[j]:
                out[i], out[j] = out[j], out[i]
            elif values[j] - values[i] > best:
                best = values[j] - values[i]
                total += best % ({k} + 1)
    for word in range(len(out)):
        bits = np.uint64(out[word])
        while bits != np.uint64(0):
            total += np.float64(bits & np.uint64({k} + 3))
            bits >>= np.uint64(1)
    return total
'''
for k in range(1, 23):
    scope = {"np": np}
    exec(source.format(k=k), scope)
    numba.njit(scope[f"rank{k}"])(np.ones(4), np.ones(4, np.int64))
"""
_STARTS = {
    "aec": """
import monsterzoo.envs as mz
env = mz.make("{game}")
env.reset(seed=0)
env.step(int(env.last()[0]["action_mask"].argmax()))
env.last()
""",
    "batch": """
import monsterzoo.envs as mz
games = mz.make_vec("{game}", 4, seed=0)
games.step(games.sample_actions())
""",
    "heuristic opponents": """
import gymnasium
import monsterzoo.envs
from monsterzoo.envs.core.registry import gymnasium_id
games = gymnasium.make_vec(gymnasium_id("{game}"), num_envs=4, opponents="heuristic")
_, infos = games.reset(seed=0)
games.step(infos["action_mask"].argmax(axis=1))
""",
    "search": """
import monsterzoo.envs as mz
from monsterzoo import policies
env = mz.make("{game}")
env.reset(seed=0)
policies.act_in(policies.make("search:10", "{game}"), env)
""",
}


def processor_seconds(body: str) -> float:
    """CPU time of a program in a fresh process with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MONSTERZOO_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-c", _TIMED.format(body=body)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout.split()[-1])


def measure(games: Sequence[str], repeats: int) -> dict[str, Any]:
    """Medians of seconds and of multiples of the yardstick, which is measured before each run."""
    results: dict[str, Any] = {}
    for game in games:
        for start, body in _STARTS.items():
            if start == "heuristic opponents" and not has_heuristic(find_game(game).variant()):
                continue
            yardsticks, seconds = [], []
            for _ in range(repeats):
                yardsticks.append(processor_seconds(_YARDSTICK))
                seconds.append(processor_seconds(body.format(game=game)))
            ratios = [one / yardstick for one, yardstick in zip(seconds, yardsticks)]
            found = {"seconds": seconds, "yardstick": yardsticks, "ratio": ratios}
            medians = {key: statistics.median(values) for key, values in found.items()}
            results.setdefault(game, {})[start] = medians
            print(f"{game:16} {start:20} {medians['seconds']:6.1f} s {medians['ratio']:6.2f}", flush=True)
    return results


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit status."""
    chosen = Parser("bench coldstart", __doc__, measuring.options(repeats=3), game="several").read(arguments)
    print(f"{'game':16} {'first':20} {'time':>8} {'× yardstick':>6}")
    return measuring.publish(measure(chosen.games, chosen.repeats), chosen)
