"""Random play and search in MonsterZoo and in other libraries' games, side by side in one run.

The games differ, so this compares orders of magnitude: the cost of a step (observation, legal actions, a random choice,
the step itself), and simulations per second of search. Ratios are against the median of MonsterZoo's games. Libraries
that are not installed are skipped with a note; `make peers` installs all of them.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from monsterzoo.cli.options import Parser
from monsterzoo.envs.core.options import label
from monsterzoo.envs.core.registry import find_game, names
from monsterzoo.training.evaluation.report import grid
from monsterzoo.training.runs.extras import installed

from . import measuring
from .measuring import Run, aec_loop, timed, with_spread
from .throughput import SIMULATIONS, search, vector

Runs = Iterator[tuple[str, str, Run]]  # game, what is measured, and the run
ONE, MANY, SEARCH = "one game, steps/s", "1,024 games, steps/s", "search, simulations/s"

CLASSIC = ("connect_four_v3", "tictactoe_v3", "leduc_holdem_v4", "texas_holdem_v4")
OPEN_SPIEL = ("leduc_poker", "gin_rummy", "hearts", "euchre")
OPEN_SPIEL_SEARCH = ("euchre", "oh_hell")
RLCARD = ("leduc-holdem", "gin-rummy", "doudizhu")
PGX = ("leduc_holdem", "connect_four", "sparrow_mahjong")
ENVPOOL = ("LeducHoldem-v1", "ConnectFour-v1", "SparrowMahjong-v1")


def monsterzoo() -> Runs:
    """The first variant of every game."""
    for name in names():
        options = find_game(name).variants[0]
        module, game = import_module(f"monsterzoo.envs.{name}"), f"{name} {label(options)}"
        yield game, ONE, aec_loop(module.env(**options))
        yield game, MANY, vector(name, options, 1024, sampling=True)
        yield game, SEARCH, search(name, options, games=1, simulations=True)


def pettingzoo() -> Runs:
    """PettingZoo Classic; its card games need RLCard."""
    for name in CLASSIC:
        try:
            module = import_module(f"pettingzoo.classic.{name}")
        except ImportError as error:
            print(f"PettingZoo's {name} is left out: {str(error).splitlines()[0]}")
            continue
        yield name, ONE, aec_loop(module.env())


def open_spiel() -> Runs:
    """OpenSpiel's C++ games from Python."""
    pyspiel = import_module("pyspiel")
    for name in OPEN_SPIEL:
        yield name, ONE, partial(timed, partial(_open_spiel_game, pyspiel.load_game(name), Random(0)))
    for name in OPEN_SPIEL_SEARCH:
        yield name, SEARCH, _open_spiel_search(pyspiel, pyspiel.load_game(name))


def _open_spiel_search(pyspiel: Any, game: Any) -> Run:
    """Its IS-MCTS in C++, with one random playout per simulation, some moves after the deal."""
    state, random, moves = game.new_initial_state(), Random(0), 0
    while state.is_chance_node() or moves < 10 or len(state.legal_actions()) < 3:
        chance = state.is_chance_node()
        choices = [action for action, _ in state.chance_outcomes()] if chance else state.legal_actions()
        state.apply_action(random.choice(choices))
        moves += not chance
        if state.is_terminal():
            state, moves = game.new_initial_state(), 0
    bot = pyspiel.ISMCTSBot(0, pyspiel.RandomRolloutEvaluator(1, 0), 2.0, SIMULATIONS)

    def decide() -> int:
        bot.step(state)
        return SIMULATIONS

    return partial(timed, decide)


def _open_spiel_game(game: Any, random: Random) -> int:
    """Play a random game, reading every observation; returns its steps."""
    tensor = "information_state_tensor" if game.get_type().provides_information_state_tensor else "observation_tensor"
    state, steps = game.new_initial_state(), 0
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes())
            state.apply_action(random.choices(outcomes, weights)[0])
            continue
        getattr(state, tensor)(state.current_player())
        state.apply_action(random.choice(state.legal_actions()))
        steps += 1
    return steps


def rlcard() -> Runs:
    """RLCard's Python games."""
    make = import_module("rlcard").make
    for name in RLCARD:
        yield name, ONE, partial(timed, partial(_rlcard_game, make(name, config={"seed": 0}), Random(0)))


def _rlcard_game(env: Any, random: Random) -> int:
    """Play a random game; returns its steps."""
    (state, _), steps = env.reset(), 0
    while not env.is_over():
        state, _ = env.step(random.choice(list(state["legal_actions"])))
        steps += 1
    return steps


def pgx() -> Runs:
    """Pgx's batched games; JAX uses every core it finds."""
    make = import_module("pgx").make
    for name in PGX:
        yield name, MANY, _pgx_run(make(name))


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


def envpool() -> Runs:
    """EnvPool's batched games in C++, on one thread; random legal actions are drawn by numpy."""
    make = import_module("envpool").make
    for name in ENVPOOL:
        yield name, MANY, _envpool_run(make(name, env_type="gymnasium", num_envs=1024, num_threads=1, seed=0))


def _envpool_run(env: Any) -> Run:
    random = np.random.default_rng(0)
    infos = [env.reset()[1]]

    def run() -> int:
        masks = infos[0]["legal_action_mask"]
        actions = (random.random(masks.shape, np.float32) * masks).argmax(1)
        infos[0] = env.step(actions.astype(np.int32))[-1]
        return len(masks)

    return partial(timed, run)


LIBRARIES: dict[str, tuple[str, Callable[[], Runs]]] = {
    "MonsterZoo": ("", monsterzoo),
    "PettingZoo": ("pettingzoo", pettingzoo),
    "OpenSpiel": ("open_spiel", open_spiel),
    "RLCard": ("rlcard", rlcard),
    "Pgx": ("pgx", pgx),
    "EnvPool": ("envpool", envpool),
}


def compare(seconds: float, repeats: int) -> list[dict[str, Any]]:
    """Rates of every installed library by kind, with how many times as fast MonsterZoo is."""
    rows: list[dict[str, Any]] = []
    for library, (package, games) in LIBRARIES.items():
        name = f"{library} {installed(package) or ''}".strip() if package else library
        try:
            for game, what, run in games():
                found = measuring.measure({"": run}, seconds, repeats)[""]
                rows.append({"what": what, "library": name, "game": game, **found, "ratio": None})
        except Exception as error:  # whatever is wrong with one library, the others are still compared
            print(f"{library} is skipped from here on: {str(error).splitlines()[0]}")
    for row in rows:
        own = [one["median"] for one in rows if one["what"] == row["what"] and one["library"] == "MonsterZoo"]
        if own and row["library"] != "MonsterZoo":
            row["ratio"] = f"{statistics.median(own) / row['median']:.3g} x"
    return sorted(rows, key=lambda row: (ONE, MANY, SEARCH).index(row["what"]))


def picture(report: dict[str, Any], file: Path) -> None:
    """A bar for every game of ours and for the fastest of each other library, the fastest first."""
    groups: dict[str, list[tuple[str, float, str, str]]] = {}
    shown = set()
    for row in sorted(report["results"], key=lambda row: -row["median"]):
        library, ours = row["library"].split()[0], row["library"] == "MonsterZoo"
        if ours:
            bar = (find_game(row["game"].split()[0]).title, row["median"], measuring.COLOURS[0], "")
        elif (row["what"], library) not in shown:
            shown.add((row["what"], library))
            bar = (f"{library}: {row['game']}", row["median"], measuring.GREY, f"   ours: {row['ratio']}")
        else:
            continue
        groups.setdefault(row["what"], []).append(bar)
    groups = {what: groups[what] for what in (ONE, MANY, SEARCH) if what in groups}
    measuring.draw_bars(groups, report["machine"]["processor"], file)


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit status."""
    parser = Parser("bench peers", __doc__, measuring.options(repeats=5, seconds=0.5), game=False)
    chosen = measuring.read(parser, arguments)
    rows = compare(chosen.seconds, chosen.repeats)
    cells = [[row["what"], row["library"], row["game"], with_spread(row), row["ratio"] or ""] for row in rows]
    print("\n" + grid(("what", "library", "game", "rate", "MonsterZoo is"), cells))
    return measuring.publish({"machine": measuring.machine(), "results": rows}, chosen, picture)
