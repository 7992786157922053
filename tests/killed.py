"""Kills commands at random moments and lets them go on: `make kills` (50 times each), or `python killed.py --kills 5`.

Every command is carried out once as a whole, then killed again and again and given again, until it ends by itself. Its
folder must then hold the same as the whole one, but for what depends on the clock. A process of its own: it imports
everything once and forks, which must happen before torch has started any threads.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from monsterzoo import cli
from monsterzoo.envs.core import registry
from monsterzoo.training import arena
from monsterzoo.training.algorithms import ppo, rollout_learning
from monsterzoo.training.runs.config import PPOConfig, RolloutConfig
from monsterzoo.training.runs.run import CHECKPOINT
from nim import NIM

# --- The commands: what is typed to begin in a folder, and again to go on. ---

LITTLE = ["--num-envs", "16", "--width", "8", "--checkpoint-every", "0"]
WATCHED = ["--minibatch", "64", "--evaluate-games", "8", "--evaluate-every", "0.5", "--log", "none"]


def train(out: Path) -> list[str]:
    """Self-play."""
    own = ["--updates", "12", "--steps", "16", "--snapshot-every", "2"]
    return ["train", *_beginning(out), *LITTLE, *WATCHED, *own, "--out", str(out)]


def train_by_rollouts(out: Path) -> list[str]:
    """Learning from rollouts."""
    own = ["--updates", "8", "--threads", "2"]
    return ["train", "--method", "rollouts", *_beginning(out), *LITTLE, *WATCHED, *own, "--out", str(out)]


def exploit(out: Path) -> list[str]:
    """An exploiter, which is trained and then measured."""
    own = ["--policy", "random", "--updates", "4", "--games", "200"]
    return ["exploit", NIM.name, *LITTLE, *own, "--out", str(out)]


def play(out: Path) -> list[str]:
    """A tournament."""
    words = ["--policies", "random", "random", "--games", "30000", "--quiet"]
    return ["arena", NIM.name, *words, "--output", str(out / "arena")]


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    command.__name__: command for command in (train, train_by_rollouts, exploit, play)
}


def _beginning(out: Path) -> list[str]:
    """A run is begun with the game's name and goes on with --resume."""
    return ["--resume"] if (out / CHECKPOINT).exists() else [NIM.name]


# --- What they leave behind ---

CLOCK = ("seconds", "minutes", "processor_", "steps_per_second", "share_", "win_", "error_", "commands", "out", "start")
"""What depends on the clock (evaluations are made by it) or says where a run was; a key may go on after these."""


def content(folder: Path) -> dict[str, Any]:
    """All that the files of a folder tell, by their paths, but for the clock."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): _timeless(_read(path)) for path in files if "tfevents" not in path.name}


def _read(path: Path) -> Any:
    if path.suffix == ".npz":
        with np.load(path) as file:
            return {key: _array(file[key]) for key in file.files}
    if path.suffix == ".pt":
        return torch.load(path, weights_only=True)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return json.loads(path.read_text()) if path.suffix == ".json" else path.suffix


def _array(values: np.ndarray) -> Any:
    """An array, or the JSON in one."""
    return json.loads(str(values)) if values.dtype.kind == "U" else values


def _timeless(value: Any) -> Any:
    """Dicts, lists and bytes that are equal if the values are, bit by bit."""
    if isinstance(value, torch.Tensor):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: _timeless(part) for key, part in value.items() if not str(key).startswith(CLOCK)}
    return [_timeless(part) for part in value] if isinstance(value, list | tuple) else value


def check_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Raise `AssertionError` naming the first file in which two folders differ."""
    assert one.keys() == other.keys(), f"there are {sorted(other)}, not {sorted(one)}"
    for path, told in one.items():
        assert other[path] == told, f"{path} tells something else after the kills"


# --- Killing ---


def run(words: list[str], moment: float | None = None) -> int:
    """Carry out a command in a fork, killed after some seconds; returns the exit code, or minus the signal."""
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(cli.main(words))
    if moment is not None:
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_often(command: Callable[[Path], list[str]], kills: int, folder: Path, chance: random.Random) -> int:
    """Kill a command so many times; returns how often it came to its end meanwhile, and was begun anew."""
    parts, ends, began = folder / "parts", 0, time.monotonic()
    assert run(command(folder / "whole")) == 0
    whole, lasted = content(folder / "whole"), time.monotonic() - began  # longer, if it had to compile
    while kills:
        began = time.monotonic()
        code = run(command(parts), chance.uniform(0, lasted))
        if code == -signal.SIGKILL:
            kills -= 1
            continue
        assert code == 0, f"exit code {code}"
        check_same(whole, content(parts))
        shutil.rmtree(parts)
        ends, lasted = ends + 1, time.monotonic() - began
    assert run(command(parts)) == 0
    check_same(whole, content(parts))
    return ends + 1


def main() -> None:
    """Kill every command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--kills", type=int, default=50, help="times that each command is killed")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    chosen = parser.parse_args()
    registry._loaders[NIM.name], registry._games[NIM.name] = lambda: NIM, NIM
    arena.SAVE_SECONDS = 0.0
    arena.arena(NIM.name, ["random", "random"], 4)  # compiles, as the next two do
    ppo.PPOTrainer(PPOConfig(NIM.name, num_envs=2))
    rollout_learning.RolloutTrainer(RolloutConfig(NIM.name, num_envs=2, threads=1))
    for name in chosen.commands:
        with tempfile.TemporaryDirectory() as folder:
            ends = kill_often(COMMANDS[name], chosen.kills, Path(folder), random.Random(f"{name} {chosen.seed}"))
        print(f"{name}: killed {chosen.kills} times, came to the same end {ends} times", flush=True)


FORKS_NEED = ("monsterzoo.cli.arena", "monsterzoo.cli.exploit", "monsterzoo.cli.train", "torch.utils.tensorboard",
              "matplotlib.backends.backend_agg")  # fmt: skip

if __name__ == "__main__":
    for module in FORKS_NEED:  # imported once
        import_module(module)
    sys.exit(main())
