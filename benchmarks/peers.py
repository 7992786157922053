"""Random play in MonsterZoo and in other libraries' games, side by side in one run.

The games differ, so this compares orders of magnitude: what one step costs a user who reads an observation, picks a
legal action at random and carries it out. Libraries that are not installed are left out with a note.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from monsterzoo.envs.core.catalogue import find_game, names
from monsterzoo.training.game_options import label

from .measuring import Rate, Run, aec_loop, grid, machine, measure, timed, version
from .throughput import vector

Runs = Iterator[tuple[str, str, Run]]
"""Game, what the loop is, and the run."""

CLASSIC = ("connect_four_v3", "tictactoe_v3", "leduc_holdem_v4", "texas_holdem_v4")
OPEN_SPIEL = ("leduc_poker", "gin_rummy", "hearts")
RLCARD = ("leduc-holdem", "gin-rummy", "doudizhu")
PGX = ("leduc_holdem", "connect_four", "sparrow_mahjong")


def monsterzoo() -> Runs:
    """The first variant of every game."""
    for name in names():
        options = find_game(name).variants[0]
        module, game = import_module(f"monsterzoo.envs.{name}"), f"{name} {label(options)}"
        yield game, "AEC loop", partial(aec_loop, module.env(**options))
        yield game, "1,024 games, 1 thread", vector(name, options, 1024, sampling=True)


def pettingzoo() -> Runs:
    """PettingZoo Classic; its card games need RLCard."""
    for name in CLASSIC:
        try:
            module = import_module(f"pettingzoo.classic.{name}")
        except ImportError as error:
            print(f"PettingZoo's {name} is left out: {str(error).splitlines()[0]}")
            continue
        yield name, "AEC loop", partial(aec_loop, module.env())


def open_spiel() -> Runs:
    """OpenSpiel's C++ games from Python."""
    pyspiel = import_module("pyspiel")
    for name in OPEN_SPIEL:
        yield name, "state loop", partial(_open_spiel_loop, pyspiel.load_game(name))


def _open_spiel_loop(game: Any, seconds: float) -> float:
    clock, random = time.perf_counter, Random(0)
    tensor = "information_state_tensor" if game.get_type().provides_information_state_tensor else "observation_tensor"
    steps, start = 0, clock()
    while clock() - start < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes())
                state.apply_action(random.choices(outcomes, weights)[0])
                continue
            getattr(state, tensor)(state.current_player())
            state.apply_action(random.choice(state.legal_actions()))
            steps += 1
    return steps / (clock() - start)


def rlcard() -> Runs:
    """RLCard's Python games."""
    make = import_module("rlcard").make
    for name in RLCARD:
        yield name, "env loop", partial(_rlcard_loop, make(name, config={"seed": 0}))


def _rlcard_loop(env: Any, seconds: float) -> float:
    clock, random = time.perf_counter, Random(0)
    steps, start = 0, clock()
    while clock() - start < seconds:
        state, _ = env.reset()
        while not env.is_over():
            state, _ = env.step(random.choice(list(state["legal_actions"])))
            steps += 1
    return steps / (clock() - start)


def pgx() -> Runs:
    """Pgx's batched games; JAX uses every core it finds."""
    make = import_module("pgx").make
    for name in PGX:
        yield name, "1,024 games, jit", _pgx_run(make(name))


def _pgx_run(env: Any, count: int = 1024) -> Run:
    jax = import_module("jax")
    auto_reset = import_module("pgx.experimental.wrappers").auto_reset

    def step(state: Any, key: Any) -> Any:
        keys = jax.random.split(key, 2 * count)
        actions = jax.vmap(jax.random.categorical)(keys[:count], jax.numpy.log(state.legal_action_mask))
        return jax.vmap(auto_reset(env.step, env.init))(state, actions, keys[count:])

    def steps(state: Any, key: Any) -> Any:
        return jax.lax.fori_loop(0, 50, lambda i, state: step(state, jax.random.fold_in(key, i)), state)

    played, keys = jax.jit(steps), iter(jax.random.split(jax.random.PRNGKey(0), 100_000))
    states = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), count))]

    def run() -> int:
        states[0] = jax.block_until_ready(played(states[0], next(keys)))
        return 50 * count

    run()  # compiles
    return partial(timed, run)


LIBRARIES: dict[str, tuple[str, Callable[[], Runs]]] = {
    "MonsterZoo": ("", monsterzoo),
    "PettingZoo": ("pettingzoo", pettingzoo),
    "OpenSpiel": ("open_spiel", open_spiel),
    "RLCard": ("rlcard", rlcard),
    "Pgx": ("pgx", pgx),
}


def compare(seconds: float, repeats: int) -> list[tuple[str, str, str, Rate]]:
    """Library, game, loop and rate of everything that is installed."""
    results = []
    for library, (package, games) in LIBRARIES.items():
        name = f"{library} {version(package) or ''}".strip() if package else library
        try:
            for game, loop, run in games():
                results.append((name, game, loop, measure({"": run}, seconds, repeats)[""]))
        except Exception as error:  # whatever is wrong with another library, the others are still compared
            print(f"{library} is left out from here on: {str(error).splitlines()[0]}")
    return results


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="monsterzoo bench peers", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each measurement (default 5)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a run (default 0.5)")
    chosen = parser.parse_args(arguments)
    results = compare(chosen.seconds, chosen.repeats)
    print("\n" + grid(("library", "game", "loop", "steps/s"), results))
    if chosen.json:
        rows = [{"library": a, "game": b, "loop": c, **rate.as_json()} for a, b, c, rate in results]
        report = {"machine": machine(), "results": rows}
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        print(f"\nwrote {chosen.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
