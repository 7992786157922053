"""`make demo`: train a network for a minute, then let it play against the built-in players.

Both are commands, shown as they would be typed.
"""

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo import cli
from monsterzoo.training.algorithms.ppo import PPOTrainer
from monsterzoo.training.arena import ArenaOptions
from monsterzoo.training.runs.config import PPOConfig
from monsterzoo.training.runs.exits import exit_code

GAME, PLAYERS = "pikit_v0", 2


def main(words: Sequence[str]) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m monsterzoo.cli.demo", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="time to learn")
    parser.add_argument("--num-envs", type=int, default=256, help="games to learn from at once")
    parser.add_argument("--games", type=int, default=3000, help="games of the tournament")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), help="what is learned goes here, or beside it")
    chosen = parser.parse_args(words)
    ArenaOptions(games=chosen.games, seed=chosen.seed)  # fails now rather than after a minute of training
    PPOConfig(GAME, minutes=chosen.minutes, num_envs=chosen.num_envs)
    run = unused(chosen.out)
    game = [GAME, "--players", str(PLAYERS), "--seed", str(chosen.seed)]
    learning = ["--minutes", f"{chosen.minutes:g}", "--num-envs", str(chosen.num_envs), "--minibatch", "1024"]
    watching = ["--evaluate-every", f"{12 * chosen.minutes:g}", "--no-tensorboard", "--out", str(run)]
    playing = ["--policies", "random", "heuristic", f"net:{run}", "--games", str(chosen.games), "--batch", "512"]

    print(f"Pikit, {PLAYERS} players: a network learns for {60 * chosen.minutes:.0f} seconds\n")
    warm_up(PPOConfig(GAME, PLAYERS, num_envs=16, evaluate_games=16))
    code = command("train", *game, *learning, *watching)
    code = code or command("arena", *game, *playing, "--quiet", "--output", str(run / "arena"))
    if code:
        return code
    print(f"\n{verdict(json.loads((run / 'arena.json').read_text()))}")
    print(f"\n  {run}/curve.png   the training curve\n  {run}/arena.png   the ratings, as a picture")
    print(f"  {run}/arena.json  all numbers of the tournament\n\nTo learn on for ten minutes:")
    program = os.path.relpath(Path(sys.executable).with_name("monsterzoo"))  # nobody has activated the environment
    print(f"  {program} train --resume --minutes {chosen.minutes + 10:g} --out {shlex.quote(str(run))}")
    return 0


def unused(folder: Path) -> Path:
    """The folder, or the first of folder-2, folder-3, … that is not there yet: runs are not overwritten."""
    found, number = folder, 1
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found


def warm_up(config: PPOConfig) -> None:
    """Compile what training calls, so that its time is spent on learning."""
    began = time.perf_counter()
    trainer = PPOTrainer(config)
    trainer.update()
    trainer.evaluate()
    print(f"Compiled in {time.perf_counter() - began:.0f} s; the machine code is kept for later runs.")


def command(*words: str) -> int:
    """Show a command and carry it out."""
    print(f"\n$ {shlex.join(['monsterzoo', *words])}", flush=True)
    return cli.main(words)


def verdict(result: dict[str, Any]) -> str:
    """What the tournament says about the network."""
    learned = result["players"][-1]["name"]
    pairs = [(pair, *pair["interval"]) for pair in result["pairs"] if pair["player"] == learned]
    return "\n".join(
        f"It wins {pair['win_rate']:.1%} against {pair['against']} (95 %: {low:.1%} to {high:.1%})."
        for pair, low, high in pairs
    )


if __name__ == "__main__":
    sys.exit(exit_code("demo", main, sys.argv[1:]))
