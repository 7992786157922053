"""Steps per second of every game and variant, through every interface, in one run.

All numbers are of uniformly random legal play: the median of several runs and half their range. Choosing the action is
part of the loops (`last`, masked choice, `step`) and not of the batches.
"""

from collections.abc import Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from monsterzoo import envs, policies
from monsterzoo.cli.options import Parser
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core.bits import lowest
from monsterzoo.envs.core.contract import PLAYING, legal, setup, step
from monsterzoo.envs.core.options import Integer, Option, Switch, label
from monsterzoo.envs.core.registry import find_game, gymnasium_id
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match import sampling
from monsterzoo.envs.match.compiled_policies import choose
from monsterzoo.policies.heuristics import Heuristic, has_heuristic
from monsterzoo.policies.networks.inference import make_net
from monsterzoo.training.evaluation.report import grid

from . import measuring
from .measuring import Run, aec_loop, measure, parallel_loop, timed, with_spread

# --- What is measured ---

SIMULATIONS = 1000
MEANINGS = {
    "engine": "rules only, no observations",
    "vector": "make_vec: observation, mask, rewards, autoreset",
    "vector, 2 threads": "make_vec with threads=2",
    "vector + sampling": "make_vec and sample_actions()",
    "one seat, random": "gymnasium.make_vec against random opponents",
    "one seat, heuristic": "gymnasium.make_vec against the heuristic",
    "heuristic": "decisions of the compiled heuristic",
    "network": "decisions of a compiled network, 128 wide",
    "search": f"simulated steps of search:{SIMULATIONS},rollout=random",
    "parallel": "parallel_env loop",
    "raw_env": "raw_env loop: last, masked choice, step",
    "env": "env loop: with PettingZoo's wrappers",
}


@kernel
def play_randomly(states, streams, steps, words):
    """Play `steps` random steps in every game, with a new one whenever it is over; returns the steps taken."""
    for i in range(len(states)):
        state, stream = states[i], streams[i]
        for _ in range(steps):
            seat = lowest(np.uint64(state.acting))
            legal(state, seat, words)
            step(state, seat, sampling.pick(words, stream))
            if state.outcome != PLAYING:
                setup(state)
    return len(states) * steps


def engine(variant: Variant, count: int) -> Run:
    """Random play without observations, one core."""
    states = envs.VectorGame(variant.game, count, seed=0, **variant.options).states
    luck, words = streams(0, count, "sample"), np.zeros(variant.words, np.uint64)
    return partial(timed, lambda: play_randomly(states, luck, 100, words))


def vector(name: str, options: dict[str, Any], count: int, threads: int = 1, sampling: bool = False) -> Run:
    """Steps of a batch with observation and mask; with `sampling` the random choice counts too."""
    games = envs.make_vec(name, count, threads=threads, seed=0, **options)
    chosen = games.sample_actions()

    def step() -> int:
        games.step(games.sample_actions() if sampling else chosen)
        return count

    return partial(timed, step, prepare=(lambda: None) if sampling else games.sample_actions)


def one_seat(name: str, options: dict[str, Any], count: int, opponents: str) -> Run:
    """Decisions of the learner in a single-agent batch; the other seats are played inside the step."""
    settings: dict[str, Any] = {"opponents": opponents, "copy": False, "autoreset_mode": "same_step"}
    games: Any = gymnasium.make_vec(gymnasium_id(name), num_envs=count, **settings, **options)
    observation, _ = games.reset(seed=0)
    luck, chosen = streams(0, 1, "sample"), np.zeros(count, np.int64)
    masks = [observation["action_mask"]]

    def step() -> int:
        masks[0] = games.step(chosen)[0]["action_mask"]
        return count

    return partial(timed, step, prepare=lambda: sampling.sample_rows(masks[0], luck, chosen))


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


def search(name: str, options: dict[str, Any], games: int = 4, simulations: bool = False) -> Run:
    """Simulated steps of search, or its simulations, one core."""
    batch = envs.make_vec(name, games, seed=0, **options)
    for _ in range(20):
        batch.step(batch.sample_actions())
    policy: Any = policies.make(f"search:{SIMULATIONS},rollout=random", name, **options)

    def decide() -> int:
        before = policy.steps
        policy.act(batch.decisions())
        return games * SIMULATIONS if simulations else policy.steps - before

    return partial(timed, decide)


def runs_of(name: str, options: dict[str, Any], count: int) -> dict[str, Run]:
    """All runs of one variant."""
    game = find_game(name)
    variant = game.variant(**options)
    runs: dict[str, Run] = {
        "engine": engine(variant, count),
        "vector": vector(name, options, count),
        "vector, 2 threads": vector(name, options, count, threads=2),
        "vector + sampling": vector(name, options, count, sampling=True),
        "one seat, random": one_seat(name, options, count, "random"),
        "network": decisions(variant, some_network(variant)),
        "search": search(name, options),
        "parallel": parallel_loop(envs.make_parallel(name, **options)),
        "raw_env": aec_loop(GameEnv(game, **options)),
        "env": aec_loop(envs.make(name, **options)),
    }
    if has_heuristic(variant):
        runs["one seat, heuristic"] = one_seat(name, options, count, "heuristic")
        runs["heuristic"] = decisions(variant, Heuristic())
    return {meaning: runs[meaning] for meaning in MEANINGS if meaning in runs}


# --- Report ---


def benchmark(games: list[str], count: int, seconds: float, repeats: int) -> dict[str, Any]:
    """All results as a JSON-able dict; prints a table for each game as soon as it is measured."""
    report: dict[str, Any] = {
        "machine": measuring.machine(),
        "settings": {"num_envs": count, "seconds": seconds, "repeats": repeats},
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
        head = ["steps/s", *(label(variant["options"], "\n") for variant in variants)]
        cells = [[key, *(with_spread(one["rates"][key]) for one in variants)] for key in variants[0]["rates"]]
        print(f"\n{name}\n{grid(head, cells)}")
        report["games"][name] = {"variants": variants}
    return report


def picture(report: dict[str, Any], file: Path) -> None:
    """A group of bars for each interface, a bar for each game (its first variant)."""
    first = {name: game["variants"][0]["rates"] for name, game in report["games"].items()}
    colours = dict(zip(first, cycle(measuring.COLOURS)))
    groups = {
        meaning: [(name, rates[key]["median"], colours[name], "") for name, rates in first.items() if key in rates]
        for key, meaning in MEANINGS.items()
    }
    machine, batch = report["machine"], report["settings"]["num_envs"]
    note = f"random steps per second; {machine['cores']} cores of {machine['processor']}, batches of {batch:,}"
    measuring.draw_bars(groups, note, file)


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit status."""
    more = {
        "num_envs": Option(1024, Integer(1), "games of a batch"),
        "quick": Option(False, Switch(), "three short runs of each"),
    }
    parser = Parser("bench throughput", __doc__, measuring.options(repeats=7, seconds=0.4), more, game="several")
    parser.epilog = "\n".join(f"{key}: {meaning}" for key, meaning in MEANINGS.items())
    chosen = measuring.read(parser, arguments)
    if chosen.quick:
        chosen.repeats, chosen.seconds = 3, 0.1
    report = benchmark(chosen.games, chosen.num_envs, chosen.seconds, chosen.repeats)
    return measuring.publish(report, chosen, picture)
