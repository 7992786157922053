"""Kills commands at random moments and lets them go on: `python killed.py FOLDER KILLS`.

A process of its own: it imports everything once and forks, which must happen before torch has started any threads.
Leaves the folders `whole` and `parts`, the latter by a run and a tournament that were killed again and again.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from monsterzoo.envs.core import catalogue
from monsterzoo.training import arena, arena_cli, cli, ppo, runs
from monsterzoo.training.config import Config
from nim import NIM

UPDATES, GAMES = 25, 40_000
TRAIN = ["--updates", str(UPDATES), "--num-envs", "16", "--steps", "16", "--width", "8", "--minibatch", "64",
         "--evaluate-games", "8", "--evaluate-every", "0.5", "--checkpoint-every", "0", "--snapshot-every", "2",
         "--no-tensorboard"]  # fmt: skip


def run(words: list[str], moment: float | None = None) -> int:
    """Carry out a command in a fork, killed after some seconds; returns the exit code, or minus the signal."""
    child = os.fork()
    if not child:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os._exit(cli.main(words))
    if moment is not None:
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def train(out: Path, moment: float | None = None) -> int:
    """Begin a run, or go on with it."""
    begun = (out / runs.CHECKPOINT).exists()
    return run(["train", *(["--resume"] if begun else ["--game", NIM.name]), *TRAIN, "--out", str(out)], moment)


def play(out: Path, moment: float | None = None) -> int:
    """Begin a tournament, or go on with it."""
    words = ["--game", NIM.name, "--policies", "random", "random", "--games", str(GAMES), "--quiet"]
    return run(["arena", *words, "--output", str(out / "arena")], moment)


def main(folder: Path, kills: int) -> None:
    """Every command once as a whole, and once in parts."""
    catalogue._loaders[NIM.name], catalogue._games[NIM.name] = lambda: NIM, NIM
    arena.SAVE_SECONDS = 0.0
    arena.arena(NIM.name, ["random", "random"], 4)  # compiles
    ppo.Trainer(Config(NIM.name, num_envs=2))
    chance = random.Random(1)
    for command in (train, play):
        began = time.monotonic()
        assert command(folder / "whole") == 0
        lasted = time.monotonic() - began
        killed = [command(folder / "parts", chance.uniform(0.1, 0.9) * lasted) for _ in range(kills)]
        assert killed.count(-signal.SIGKILL) >= kills // 2, killed
        assert command(folder / "parts") == 0


if __name__ == "__main__":
    assert arena_cli.as_text, "imported here and not in every fork"
    main(Path(sys.argv[1]), int(sys.argv[2]))
