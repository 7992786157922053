"""Steps a second of every game and variant, through every interface, in one run.

All numbers are of uniformly random legal play; the median of several runs and half the distance between the fastest
and the slowest. Choosing the action is part of the loops (`last`, masked choice, `step`) and not of the batches.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from monsterzoo import envs, policies
from monsterzoo.envs.aec import GameEnv
from monsterzoo.envs.core import kernels
from monsterzoo.envs.core.catalogue import find_game, gymnasium_id, names
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.rng import generator, streams
from monsterzoo.policies.heuristics import Heuristic, has_heuristic
from monsterzoo.policies.networks import make_net
from monsterzoo.training.arena import choose_listed
from monsterzoo.training.game_options import label

from .measuring import (
    Rate,
    Run,
    aec_loop,
    clock_name,
    count_processor_time,
    grid,
    machine,
    measure,
    parallel_loop,
    timed,
)

# --- What is measured ---

MEANINGS = {
    "engine": "rules only, no observations",
    "vector": "step of make_vec: observation, mask, rewards, autoreset",
    "vector, 2 threads": "the same with threads=2",
    "vector, 2 processes": "half of the games in each of two processes: what the machine's cores give",
    "vector + sampling": "the same with sample_actions(), one thread",
    "one seat, random": "decisions of gymnasium.make_vec (copy=False) against random opponents",
    "one seat, heuristic": "the same against the heuristic",
    "heuristic": "decisions of the compiled heuristic by itself",
    "network": "decisions of a compiled network by itself (128 wide, one block)",
    "search": "steps of imagined games in search:1000,playout=random",
    "parallel": "parallel_env loop",
    "raw_env": "AEC loop of last, masked choice and step",
    "env": "the same with PettingZoo's wrappers",
    "connect_four_v3": "PettingZoo's own env() in the same AEC loop, the yardstick",
}

RATIOS = (
    ("vector, 2 threads", "vector"),
    ("vector, 2 processes", "vector"),
    ("raw_env", "connect_four_v3"),
    ("env", "connect_four_v3"),
)


def engine(variant: Variant, count: int) -> Run:
    """Random play without observations, one core."""
    states = variant.new_states(count)
    states["rng"] = [generator(seed) for seed in range(count)]
    for i in range(count):
        kernels.begin(states, i)
    luck, words = streams(0, count, "sample"), np.zeros(variant.words, np.uint64)
    return partial(timed, lambda: kernels.play_randomly(states, luck, 100, words))


def vector(name: str, options: dict[str, Any], count: int, threads: int = 1, sampling: bool = False) -> Run:
    """Steps of a batch with observation and mask; with `sampling` the random choice counts too."""
    games = envs.make_vec(name, count, threads=threads, seed=0, **options)
    chosen = games.sample_actions()

    def step() -> int:
        games.step(games.sample_actions() if sampling else chosen)
        return count

    return partial(timed, step, prepare=(lambda: None) if sampling else games.sample_actions)


def two_processes(name: str, options: dict[str, Any], count: int) -> Run:
    """Steps of two batches of half the size, in this process and in another one at the same time."""
    half = max(count // 2, 1)
    here = vector(name, options, half)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    context.Process(target=_other_process, args=(theirs, name, options, half), daemon=True).start()

    def run(seconds: float) -> float:
        ours.send(seconds)
        own = here(seconds)
        return own + float(ours.recv())

    return run


def _other_process(connection: Connection, name: str, options: dict[str, Any], count: int) -> None:
    run = vector(name, options, count)
    with suppress(EOFError):  # the benchmark is over
        while True:
            connection.send(run(connection.recv()))


def one_seat(name: str, options: dict[str, Any], count: int, opponents: str) -> Run:
    """Decisions of the learner in a batch whose other seats are played inside the step."""
    games: Any = gymnasium.make_vec(gymnasium_id(name), num_envs=count, opponents=opponents, copy=False, **options)
    observation, _ = games.reset(seed=0)
    luck, chosen = streams(0, 1, "sample"), np.zeros(count, np.int64)
    masks = [observation["action_mask"]]

    def step() -> int:
        masks[0] = games.step(chosen)[0]["action_mask"]
        return count

    return partial(timed, step, prepare=lambda: kernels.sample_rows(masks[0], luck, chosen))


def decisions(variant: Variant, token: Any, count: int = 512) -> Run:
    """Decisions of a compiled policy in the middle of games, with all that it takes to see the table."""
    games = envs.VectorGame(variant.game, count, seed=0, **variant.options)
    for _ in range(20):
        games.step(games.sample_actions())
    listed, seats = np.arange(count), games.seats.astype(np.int64)
    luck, choices = streams(0, count, "sample"), np.zeros(count, np.int64)
    scratch = np.zeros(variant.words, np.uint64), variant.new_views()

    def decide() -> int:
        choose_listed(token, games.states, listed, seats, luck, choices, *scratch)
        return count

    return partial(timed, decide)


def some_network(variant: Variant, width: int = 128) -> Any:
    """A compiled network of the usual size with random weights."""
    random = np.random.default_rng(0)
    layers = {"stem": (width, variant.layout.size), "policy": (variant.num_actions, width), "value": (1, width)}
    layers |= {f"blocks.0.{layer}": (width, width) for layer in ("first", "second")}
    arrays = {f"{layer}.weight": random.normal(size=shape) for layer, shape in layers.items()}
    return make_net(arrays | {f"{layer}.bias": np.zeros(shape[0]) for layer, shape in layers.items()})


def search(name: str, options: dict[str, Any], games: int = 4) -> Run:
    """Steps of the games that search imagines before it decides, one core."""
    batch = envs.make_vec(name, games, seed=0, **options)
    for _ in range(20):
        batch.step(batch.sample_actions())
    policy: Any = policies.make("search:1000,playout=random", name, **options)

    def decide() -> int:
        before = policy.steps
        policy.act(batch.observations, batch.action_masks, batch.seats, batch.states)
        return policy.steps - before

    return partial(timed, decide)


def runs_of(name: str, options: dict[str, Any], count: int, every: bool = True) -> dict[str, Run]:
    """All runs of one variant; `every=False` leaves out all but the main ones."""
    game = find_game(name)
    variant = game.variant(**options)
    runs: dict[str, Run] = {
        "engine": engine(variant, count),
        "vector": vector(name, options, count),
        "vector, 2 threads": vector(name, options, count, threads=2),
        "env": partial(aec_loop, envs.make(name, **options)),
    }
    if not every:
        return runs
    runs["vector, 2 processes"] = two_processes(name, options, count)
    runs["vector + sampling"] = vector(name, options, count, sampling=True)
    runs["one seat, random"] = one_seat(name, options, count, "random")
    if has_heuristic(variant):
        runs["one seat, heuristic"] = one_seat(name, options, count, "heuristic")
        runs["heuristic"] = decisions(variant, Heuristic())
    runs["network"] = decisions(variant, some_network(variant))
    runs["search"] = search(name, options)
    runs["parallel"] = partial(parallel_loop, envs.make_parallel(name, **options))
    runs["raw_env"] = partial(aec_loop, GameEnv(game, **options))
    yardstick = connect_four()
    if yardstick is not None:
        runs["connect_four_v3"] = partial(aec_loop, yardstick)
    return {meaning: runs[meaning] for meaning in MEANINGS if meaning in runs}


def connect_four() -> Any:
    """PettingZoo's connect_four_v3, or None without pygame."""
    try:
        module = import_module("pettingzoo.classic.connect_four_v3")
    except ImportError:
        return None
    return module.env()


def sizes(name: str, options: dict[str, Any]) -> dict[str, int]:
    """Bytes of a state, and bytes that one step of a batch writes beside it."""
    games = envs.make_vec(name, 1, seed=0, **options)
    return {"state_bytes": games.states.itemsize, "bytes_written_per_step": games.bytes_per_step}


# --- Start-up ---

_FIRST_STEP = """
import json, sys, time
import monsterzoo.envs as mz
name, options, kind = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
if kind == "env":
    env = mz.make(name, **options)
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))
else:
    games = mz.make_vec(name, 1024, seed=0, **options)
    games.step(games.sample_actions())
print(time.time())
"""


def first_step(name: str, options: dict[str, Any], kind: str, warm_runs: int = 3) -> dict[str, float]:
    """Seconds from starting Python to the first step done: cold (nothing compiled yet) and warm."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "MONSTERZOO_CACHE_DIR": cache}
        command = [sys.executable, "-c", _FIRST_STEP, name, json.dumps(options), kind]
        seconds = []
        for _ in range(1 + warm_runs):
            start = time.time()
            result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            seconds.append(float(result.stdout) - start)
    return {"cold": seconds[0], "warm": statistics.median(seconds[1:])}


# --- Report ---


def benchmark(
    names: list[str], count: int, seconds: float, repeats: int, starts: bool = True, every: bool = True
) -> dict[str, Any]:
    """Everything as one JSON-able dict; a table a game is printed as soon as it is measured."""
    report: dict[str, Any] = {
        "machine": machine(),
        "settings": {"num_envs": count, "seconds": seconds, "repeats": repeats, "clock": clock_name()},
        "games": {},
    }
    print("\n".join(f"{key:<12}{value}" for key, value in report["machine"].items()))
    for name in names:
        game = find_game(name)
        # All variants take turns, so that their costs can be compared.
        runs = {
            (k, meaning): run
            for k, options in enumerate(game.variants)
            for meaning, run in runs_of(name, options, count, every).items()
        }
        rates = measure(runs, seconds, repeats)
        variants: list[dict[str, Any]] = [
            {"options": options, **sizes(name, options), "rates": {m: rate for (j, m), rate in rates.items() if j == k}}
            for k, options in enumerate(game.variants)
        ]
        first = game.variants[0]
        kinds = ("env", "vector") if starts else ()
        start = {kind: first_step(name, first, kind) for kind in kinds}
        print(f"\n{name}\n{game_table(variants)}")
        for kind, timing in start.items():
            print(f"import and first step, {kind}: {timing['cold']:.1f} s cold, {timing['warm']:.2f} s warm")
        for variant in variants:
            variant["rates"] = {key: rate.as_json() for key, rate in variant["rates"].items()}
        report["games"][name] = {"variants": variants, "first_step_seconds": start}
    return report


def game_table(variants: list[dict[str, Any]]) -> str:
    """Rates as rows, variants as columns."""
    measured = variants[0]["rates"]
    rows = [[key, *(variant["rates"][key] for variant in variants)] for key in measured]
    for key, base in RATIOS:
        if key in measured and base in measured:
            rows.append([f"{key} / {base}", *(_ratio(variant["rates"], key, base) for variant in variants)])
    for key in ("engine", "vector"):
        first = variants[0]["rates"]
        rows.append(
            [f"cost of a step, {key}", *(f"{first[key].median / v['rates'][key].median:.2f}×" for v in variants)]
        )
    rows.append(["bytes of a state", *(variant["state_bytes"] for variant in variants)])
    rows.append(["bytes written a step", *(variant["bytes_written_per_step"] for variant in variants)])
    return grid(["steps/s", *(label(variant["options"], "\n") for variant in variants)], rows)


def _ratio(rates: dict[str, Rate], key: str, base: str) -> str:
    return f"{rates[key].median / rates[base].median:.2f}×"


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="monsterzoo bench throughput",
        description=__doc__,
        epilog="\n".join(f"{key}: {meaning}" for key, meaning in MEANINGS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--game", nargs="+", choices=names(), default=names(), metavar="GAME", help="games to measure (default: all)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here")
    parser.add_argument("--num-envs", type=int, default=1024, help="games of a batch (default 1024)")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each measurement (default 7)")
    parser.add_argument("--seconds", type=float, default=0.4, help="length of a run (default 0.4)")
    parser.add_argument("--no-start", action="store_true", help="leave out the cold and warm start")
    parser.add_argument("--quick", action="store_true", help="three short runs each, and no cold start")
    parser.add_argument(
        "--cpu", action="store_true", help="count processor time, for a busy machine; says nothing about two threads"
    )
    chosen = parser.parse_args(arguments)
    if chosen.cpu:
        count_processor_time()
    if chosen.quick:
        chosen.repeats, chosen.seconds, chosen.no_start = 3, 0.1, True
    report = benchmark(chosen.game, chosen.num_envs, chosen.seconds, chosen.repeats, not chosen.no_start)
    if connect_four() is None:
        print("\nconnect_four_v3 was left out: it needs pygame (pip install 'monsterzoo[render]')")
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        print(f"\nwrote {chosen.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
