"""Steps per second of every game and variant, through every interface, in one run.

All numbers are of uniformly random legal play: the median of several runs and half their range. Choosing the action is
part of the loops (`last`, masked choice, `step`) and not of the batches.
"""

import multiprocessing
from collections.abc import Sequence
from functools import cache, partial
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from monsterzoo import envs, policies
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core import stepping
from monsterzoo.envs.core.options import label
from monsterzoo.envs.core.registry import find_game, gymnasium_id, names
from monsterzoo.envs.core.rng import generator, streams
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match import kernels
from monsterzoo.envs.match.compiled_policies import choose
from monsterzoo.policies.heuristics import Heuristic, has_heuristic
from monsterzoo.policies.networks.inference import make_net
from monsterzoo.training.runs.extras import require

from . import measuring
from .measuring import Run, aec_loop, grid, measure, parallel_loop, timed

# --- What is measured ---

MEANINGS = {
    "engine": "rules only, no observations",
    "vector": "make_vec: observation, mask, rewards, autoreset",
    "vector, 2 threads": "make_vec with threads=2",
    "vector, 2 processes": "half of the games in each of two processes",
    "vector + sampling": "make_vec and sample_actions()",
    "one seat, random": "gymnasium.make_vec against random opponents",
    "one seat, heuristic": "gymnasium.make_vec against the heuristic",
    "heuristic": "decisions of the compiled heuristic",
    "network": "decisions of a compiled network, 128 wide",
    "search": "simulated steps of search:1000,rollout=random",
    "parallel": "parallel_env loop",
    "raw_env": "raw_env loop: last, masked choice, step",
    "env": "env loop: with PettingZoo's wrappers",
    "connect_four_v3": "PettingZoo's connect_four_v3 in the same loop",
}
YARDSTICK = "connect_four_v3"

RATIOS = {"vector, 2 threads": "vector", "vector, 2 processes": "vector", "raw_env": YARDSTICK, "env": YARDSTICK}


def engine(variant: Variant, count: int) -> Run:
    """Random play without observations, one core."""
    states = variant.new_states(count)
    states["rng"] = [generator(seed) for seed in range(count)]
    for i in range(count):
        stepping.begin(states, i)
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
    """Steps of two half-size batches, in this process and another one at the same time."""
    half = max(count // 2, 1)
    here, pool = vector(name, options, half), multiprocessing.get_context("spawn").Pool(1)

    def run(seconds: float) -> float:
        there = pool.apply_async(_run_there, (name, tuple(options.items()), half, seconds))
        return here(seconds) + there.get()

    return run


@cache
def _vector_there(name: str, options: tuple[tuple[str, Any], ...], count: int) -> Run:
    return vector(name, dict(options), count)


def _run_there(name: str, options: tuple[tuple[str, Any], ...], count: int, seconds: float) -> float:
    return _vector_there(name, options, count)(seconds)


def one_seat(name: str, options: dict[str, Any], count: int, opponents: str) -> Run:
    """Decisions of the learner in a single-agent batch; the other seats are played inside the step."""
    games: Any = gymnasium.make_vec(gymnasium_id(name), num_envs=count, opponents=opponents, copy=False, **options)
    observation, _ = games.reset(seed=0)
    luck, chosen = streams(0, 1, "sample"), np.zeros(count, np.int64)
    masks = [observation["action_mask"]]

    def step() -> int:
        masks[0] = games.step(chosen)[0]["action_mask"]
        return count

    return partial(timed, step, prepare=lambda: kernels.sample_rows(masks[0], luck, chosen))


@kernel
def choose_all(policy, states, seats, streams, choices, words, views):
    """Let a compiled policy decide in every game."""
    for i in range(len(states)):
        choices[i] = choose(policy, states[i], seats[i], words, views, streams[i])


def decisions(variant: Variant, token: Any, count: int = 512) -> Run:
    """Decisions of a compiled policy in the middle of games, observations included."""
    games = envs.VectorGame(variant.game, count, seed=0, **variant.options)
    for _ in range(20):
        games.step(games.sample_actions())
    seats = games.seats.astype(np.int64)
    luck, choices = streams(0, count, "sample"), np.zeros(count, np.int64)
    scratch = np.zeros(variant.words, np.uint64), variant.new_views()

    def decide() -> int:
        choose_all(token, games.states, seats, luck, choices, *scratch)
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
    """Simulated steps of search, one core."""
    batch = envs.make_vec(name, games, seed=0, **options)
    for _ in range(20):
        batch.step(batch.sample_actions())
    policy: Any = policies.make("search:1000,rollout=random", name, **options)

    def decide() -> int:
        before = policy.steps
        policy.act(batch.decisions())
        return policy.steps - before

    return partial(timed, decide)


def runs_of(name: str, options: dict[str, Any], count: int) -> dict[str, Run]:
    """All runs of one variant."""
    game = find_game(name)
    variant = game.variant(**options)
    runs: dict[str, Run] = {
        "engine": engine(variant, count),
        "vector": vector(name, options, count),
        "vector, 2 threads": vector(name, options, count, threads=2),
        "vector, 2 processes": two_processes(name, options, count),
        "vector + sampling": vector(name, options, count, sampling=True),
        "one seat, random": one_seat(name, options, count, "random"),
        "network": decisions(variant, some_network(variant)),
        "search": search(name, options),
        "parallel": partial(parallel_loop, envs.make_parallel(name, **options)),
        "raw_env": partial(aec_loop, GameEnv(game, **options)),
        "env": partial(aec_loop, envs.make(name, **options)),
    }
    if has_heuristic(variant):
        runs["one seat, heuristic"] = one_seat(name, options, count, "heuristic")
        runs["heuristic"] = decisions(variant, Heuristic())
    yardstick = connect_four()
    if yardstick is not None:
        runs[YARDSTICK] = partial(aec_loop, yardstick)
    return {meaning: runs[meaning] for meaning in MEANINGS if meaning in runs}


def connect_four() -> Any:
    """PettingZoo's connect_four_v3, or None without pygame."""
    try:
        module = import_module("pettingzoo.classic.connect_four_v3")
    except ImportError:
        return None
    return module.env()


# --- Report ---


def benchmark(games: list[str], count: int, seconds: float, repeats: int) -> dict[str, Any]:
    """All results as a JSON-able dict; prints a table for each game as soon as it is measured."""
    report: dict[str, Any] = {
        "machine": measuring.machine(),
        "settings": {"num_envs": count, "seconds": seconds, "repeats": repeats, "clock": measuring.clock_name()},
        "games": {},
    }
    print("\n".join(f"{key:<12}{value}" for key, value in report["machine"].items()))
    for name in games:
        game = find_game(name)
        # All variants take turns, so that their costs can be compared.
        runs = {
            (k, meaning): run
            for k, options in enumerate(game.variants)
            for meaning, run in runs_of(name, options, count).items()
        }
        rates = measure(runs, seconds, repeats)
        variants: list[dict[str, Any]] = [
            {"options": options, "rates": {m: rate for (j, m), rate in rates.items() if j == k}}
            for k, options in enumerate(game.variants)
        ]
        print(f"\n{name}\n{game_table(variants)}")
        for variant in variants:
            variant["rates"] = {key: rate.as_json() for key, rate in variant["rates"].items()}
        report["games"][name] = {"variants": variants}
    return report


def game_table(variants: list[dict[str, Any]]) -> str:
    """Rates as rows, variants as columns."""
    measured = variants[0]["rates"]
    rows = [[key, *(variant["rates"][key] for variant in variants)] for key in measured]
    for key, base in RATIOS.items():
        if key in measured and base in measured:
            ratios = (one["rates"][key].median / one["rates"][base].median for one in variants)
            rows.append([f"{key} / {base}", *(f"{ratio:.2f}×" for ratio in ratios)])
    return grid(["steps/s", *(label(variant["options"], "\n") for variant in variants)], rows)


def picture(report: dict[str, Any], file: Path) -> None:
    """A group of bars for each interface, a bar for each game (its first variant)."""
    first = {name: game["variants"][0]["rates"] for name, game in report["games"].items()}
    colours = dict(zip(first, cycle(measuring.COLOURS)))
    groups = {
        meaning: [(name, rates[key]["median"], colours[name], "") for name, rates in first.items() if key in rates]
        for key, meaning in MEANINGS.items()
        if key != YARDSTICK
    }
    if rates := [rates[YARDSTICK]["median"] for rates in first.values() if YARDSTICK in rates]:
        groups[MEANINGS[YARDSTICK]] = [("PettingZoo", rates[0], measuring.GREY, "")]
    machine, batch = report["machine"], report["settings"]["num_envs"]
    note = f"random steps per second; {machine['cores']} cores of {machine['processor']}, batches of {batch:,}"
    measuring.draw_bars(groups, note, file)


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit status."""
    rows = "\n".join(f"{key}: {meaning}" for key, meaning in MEANINGS.items())
    parser = measuring.parser_of("monsterzoo bench throughput", __doc__, rows)
    parser.add_argument(
        "--game", nargs="+", choices=names(), default=names(), metavar="GAME", help="games to measure (default: all)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw them here")
    parser.add_argument("--num-envs", type=int, default=1024, help="games of a batch (default 1024)")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each measurement (default 7)")
    parser.add_argument("--seconds", type=float, default=0.4, help="length of a run (default 0.4)")
    parser.add_argument("--quick", action="store_true", help="three short runs of each")
    parser.add_argument("--cpu", action="store_true", help="measure CPU time of one thread, for a busy machine")
    chosen = parser.parse_args(arguments)
    if chosen.picture:
        require("matplotlib")
    if chosen.cpu:
        measuring.count_processor_time()
    if chosen.quick:
        chosen.repeats, chosen.seconds = 3, 0.1
    report = benchmark(chosen.game, chosen.num_envs, chosen.seconds, chosen.repeats)
    if connect_four() is None:
        print(f"\n{YARDSTICK} was skipped: it needs pygame (pip install 'monsterzoo[render]')")
    measuring.write_results(report, chosen.json)
    if chosen.picture:
        picture(report, chosen.picture)
    return 0
