"""What `make demo` shows: one game to watch, move by move, and then how fast such games go."""

import argparse
import sys
from random import Random
from typing import Any

from monsterzoo import envs
from monsterzoo.envs.core.game import NAMES, find_game
from monsterzoo.envs.tables import label

from .measuring import grid, measure
from .throughput import runs_of

SHORT_GAMES: dict[str, dict[str, Any]] = {"yokai_septet_v0": {"episode": "round"}}
"""Options that make a game short enough to watch."""


def watch(name: str, seed: int) -> None:
    """Play one game of random legal moves with the table drawn now and then."""
    env = envs.make(name, render_mode="ansi", **SHORT_GAMES.get(name, {}))
    env.reset(seed=seed)
    random, raw, phase, moves = Random(seed), env.unwrapped, None, 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        now = raw.snapshot()["phase"]
        if now != phase or moves % 12 == 0:
            print(f"\n{env.render()}\n")
            phase = now
        legal = observation["action_mask"].nonzero()[0].tolist()
        action = random.choice(legal)
        choices = f"{len(legal):2} of {len(observation['action_mask'])} actions legal"
        print(f"  {agent}  {choices}  chooses {raw.action_name(action)}")
        env.step(action)
        moves += 1
    print(f"\n{env.render()}\n\nThe game is over after {moves} moves.")
    for agent, reward in env.rewards.items():
        print(f"  {agent}  reward {reward:+.2f}")


def speed(names: list[str]) -> str:
    """A short throughput table: the first variant of every game."""
    rows = []
    for name in names:
        options = find_game(name).variants[0]
        rates = measure(runs_of(name, options, 1024, every=False), seconds=0.2, repeats=3)
        rows.append([f"{name} {label(options)}", *rates.values()])
    head = ("steps/s, random play", "rules only", "batch of 1,024\n1 thread", "batch of 1,024\n2 threads", "AEC env()")
    return grid(head, rows)


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m monsterzoo.benchmarks.demo", description=__doc__)
    parser.add_argument("--game", choices=NAMES, default="yokai_septet_v0", help="the game to watch")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    print(f"{find_game(chosen.game).title}, played at random (the first run compiles the rules, a few seconds)")
    watch(chosen.game, chosen.seed)
    print("\nMeasuring (compiles once more; the machine code is kept for later runs) …\n", flush=True)
    print(speed(list(NAMES)))
    print("\nAll interfaces and variants: python -m monsterzoo.benchmarks.throughput")
    return 0


if __name__ == "__main__":
    sys.exit(main())
