"""The first minute: processor time from nothing to the first step, with nothing compiled before.

Each measurement is a process of its own with an empty cache. Beside them, in turn, a fixed program in plain numba is
compiled, and times are also given as multiples of it: seconds tell about the machine, multiples about the code.

    monsterzoo bench coldstart [--game pikit_v0 …] [--repeats 3] [--json FILE]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.envs import names
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.policies.heuristics import has_heuristic

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
from monsterzoo.envs.core.catalogue import gymnasium_id
games = gymnasium.make_vec(gymnasium_id("{game}"), num_envs=4, opponents="heuristic")
_, infos = games.reset(seed=0)
games.step(infos["action_mask"].argmax(axis=1))
""",
    "search": """
import monsterzoo.envs as mz
from monsterzoo import policies
games = mz.make_vec("{game}", 1, seed=0)
player = policies.make("search:10", "{game}")
player.act(games.decisions())
""",
}


def processor_seconds(body: str) -> float:
    """What a program needs in a fresh process, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MONSTERZOO_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-c", _TIMED.format(body=body)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout.split()[-1])


def measure(games: Sequence[str], repeats: int) -> dict[str, Any]:
    """Medians of seconds and of multiples of the yardstick, which is measured before each of them."""
    results: dict[str, Any] = {}
    for game in games:
        for start, body in _STARTS.items():
            if start == "heuristic opponents" and not has_heuristic(find_game(game).variant()):
                continue
            yardsticks, seconds = [], []
            for _ in range(repeats):
                yardsticks.append(processor_seconds(_YARDSTICK))
                seconds.append(processor_seconds(body.format(game=game)))
            ratios = [one / yardstick for one, yardstick in zip(seconds, yardsticks, strict=True)]
            results.setdefault(game, {})[start] = {
                "seconds": statistics.median(seconds),
                "yardstick": statistics.median(yardsticks),
                "ratio": statistics.median(ratios),
            }
            print(
                f"{game:16} {start:20} {statistics.median(seconds):6.1f} s {statistics.median(ratios):6.2f}", flush=True
            )
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; `--json` keeps it."""
    parser = argparse.ArgumentParser(
        prog="monsterzoo bench coldstart", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--game", nargs="+", choices=names(), default=names(), metavar="GAME", help="games to measure (default: all)"
    )
    parser.add_argument("--repeats", type=int, default=3, help="runs of each measurement (default 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here")
    chosen = parser.parse_args(arguments)
    print(f"{'game':16} {'first':20} {'time':>8} {'× yardstick':>6}")
    results = measure(chosen.game, chosen.repeats)
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
