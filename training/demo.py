"""What `make demo` shows: how a game goes, how fast, and what a network learns about it in one minute.

Training and tournament are the commands of the same name, and are shown as they would be typed.
"""

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from monsterzoo import envs
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.policies.heuristics import has_heuristic

from . import cli
from .arena import ArenaOptions
from .config import PPOConfig
from .exits import exit_code
from .game_options import add_game_arguments, game_options, label, parse, write_option
from .ppo import PPOTrainer


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m monsterzoo.training.demo", description=__doc__)
    add_game_arguments(parser, "pikit_v0", players=2)
    parser.add_argument("--minutes", type=float, default=1.0, help="time to learn")
    parser.add_argument("--num-envs", type=int, default=256, help="games to learn from at once")
    parser.add_argument("--games", type=int, default=3000, help="games of the tournament")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), help="what is learned goes here, or beside it")
    chosen = parse(parser, arguments)
    # Now rather than after a minute of training.
    ArenaOptions(games=chosen.games, seed=chosen.seed)
    PPOConfig(chosen.game, minutes=chosen.minutes, num_envs=chosen.num_envs)
    options = game_options(chosen)
    variant = find_game(chosen.game).variant(**options)
    opponents = ("random", "heuristic") if has_heuristic(variant) else ("random",)
    run = unused(chosen.out)
    game = ["--game", chosen.game, "--players", str(variant.players), "--seed", str(chosen.seed)]
    rest = {key: value for key, value in options.items() if key != "players"}
    game += [word for key, value in rest.items() for word in ("--option", write_option(key, value))]
    learning = ["--minutes", f"{chosen.minutes:g}", "--num-envs", str(chosen.num_envs), "--minibatch", "1024"]
    watching = ["--evaluate-every", f"{12 * chosen.minutes:g}", "--no-tensorboard", "--out", str(run)]
    playing = ["--policies", *opponents, f"ppo:{run}", "--games", str(chosen.games), "--batch", "512", "--quiet"]

    headline(f"{variant.game.title}, {label(options)}: the first moves of a random game, and its end")
    watch(chosen.game, options, chosen.seed)
    headline("Random steps a second")
    print(speed(chosen.game, options))
    headline(f"A network learns for {60 * chosen.minutes:.0f} seconds")
    warm_up(PPOConfig(game=chosen.game, players=variant.players, options=rest, num_envs=16, evaluate_games=16))
    code = command("train", *game, *learning, *watching)
    if code:
        return code
    headline("It plays against the built-in players")
    code = command("arena", *game, *playing, "--output", str(run / "arena"))
    if code:
        return code
    headline("What was learned")
    print(verdict(json.loads((run / "arena.json").read_text())))
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


def headline(text: str) -> None:
    """A line that starts a part."""
    print(f"\n--- {text} ---\n", flush=True)


def watch(name: str, options: dict[str, Any], seed: int, moves: int = 12) -> None:
    """Play one game of random legal moves; show the table at its start and its end, and the first moves."""
    env = envs.make(name, render_mode="ansi", view="all", **options)
    env.reset(seed=seed)
    random, raw, move = Random(seed), env.unwrapped, 0
    print(f"{env.render()}\n")
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        legal = observation["action_mask"].nonzero()[0].tolist()
        action = random.choice(legal)
        if move < moves:
            choices = f"{len(legal):2} of {len(observation['action_mask'])} actions legal"
            print(f"  {agent}  {choices}  chooses {raw.action_name(action)}")
        env.step(action)
        move += 1
    rewards = ", ".join(f"{agent} {reward:+.2f}" for agent, reward in env.rewards.items())
    print(f"  … {move} moves in all\n\n{env.render()}\n\n  rewards: {rewards}")


def speed(name: str, options: dict[str, Any]) -> str:
    """Random steps a second of an environment and of batches; `benchmarks.throughput` measures with more care."""
    env, random, count = envs.make(name, **options), Random(0), 1024
    env.reset(seed=0)

    def step() -> None:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
        else:
            env.step(random.choice(observation["action_mask"].nonzero()[0].tolist()))

    rates = {"one environment": _rate(step)}
    for threads in (1, 2):
        batch = envs.make_vec(name, count, threads, seed=0, **options)
        kind = f"a batch of {count:,}, {threads} thread{'s' if threads > 1 else ''}"
        rates[kind] = count * _rate(lambda batch=batch: batch.step(batch.sample_actions()))  # type: ignore[misc]
    return "\n".join(f"  {rate:12,.0f}  {kind}" for kind, rate in rates.items())


def _rate(action: Callable[[], Any], seconds: float = 0.4) -> float:
    """Calls a second, after a first one that compiles."""
    action()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        action()
        count += 1
    return count / (time.perf_counter() - began)


def warm_up(config: PPOConfig) -> None:
    """Compile what training calls, so that its time is spent on learning."""
    began = time.perf_counter()
    trainer = PPOTrainer(config)
    trainer.update()
    trainer.evaluate()
    print(f"Compiled in {time.perf_counter() - began:.0f} s; the machine code is kept for later runs.\n")


def command(*words: str) -> int:
    """Show a command and carry it out."""
    print(f"$ {shlex.join(['monsterzoo', *words])}", flush=True)
    return cli.main(words)


def verdict(result: dict[str, Any]) -> str:
    """What the tournament says about the network, in words."""
    learned = result["players"][-1]["name"]
    lines = []
    for pair in result["pairs"]:
        if pair["player"] == learned:
            low, high = pair["interval"]
            lines.append(f"It wins {pair['win_rate']:.1%} against {pair['against']} (95 %: {low:.1%} to {high:.1%}).")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(exit_code("demo", main, sys.argv[1:]))
