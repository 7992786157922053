"""RLlib's PPO on the compiled batch beside RLlib's own `PettingZooEnv`, and Ray with one and two workers.

All rows of the first table run in one process, in turns, with the same game and module: self-play with one network,
learning included. A step is one decision of one seat; "learned from" counts those that the learner got (our runner can
leave out forced moves). The second table has Ray's actors: env runners of RLlib, actors of `monsterzoo train`, and
games of `monsterzoo arena`. Needs `monsterzoo[rllib]`.

`python -m monsterzoo.benchmarks.rllib --game pikit_v0 --players 2 --json rllib.json`
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from monsterzoo.cli.options import add_game, game_options
from monsterzoo.envs import make
from monsterzoo.envs import variant as variant_of
from monsterzoo.envs.core.options import label
from monsterzoo.training.arena import Tournament, enter
from monsterzoo.training.distributed.arena import play_on_ray
from monsterzoo.training.distributed.cluster import joined
from monsterzoo.training.rllib import ppo_config
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

from .measuring import grid, machine, short, version

PETTINGZOO = "PettingZooEnv, games: {}"
WORKERS = (1, 2)


class Speed(NamedTuple):
    """What was done in a time."""

    steps: float
    learned: float
    wall: float
    processor: float

    def __add__(self, other: Any) -> "Speed":
        return Speed(*(one + two for one, two in zip(self, other)))


def pettingzoo_route(config: AlgorithmConfig, game: str, options: dict[str, Any], envs: int) -> AlgorithmConfig:
    """The same config, but RLlib plays the AEC environment by itself."""
    register_env("aec", lambda _: PettingZooEnv(make(game, **options)))
    config.environment("aec", observation_space=None, action_space=None, env_config={}, disable_env_checking=True)
    config.learners(learner_class=None, add_default_connectors_to_learner_pipeline=True)
    return config.env_runners(env_runner_cls=None, num_envs_per_env_runner=envs)


def iterate(algorithm: Any, seconds: float, clock: str = "wall") -> Speed:
    """Iterations of an algorithm for a while by one of the clocks, at least one."""
    done = Speed(0, 0, 0, 0)
    while not done.steps or getattr(done, clock) < seconds:
        wall, processor = time.perf_counter(), time.process_time()
        played = algorithm.train()["env_runners"]
        spent = time.perf_counter() - wall, time.process_time() - processor
        learned = sum(played["num_agent_steps_sampled"].values())
        done += Speed(float(played["num_env_steps_sampled"]), float(learned), *spent)
    return done


def compare_routes(chosen: argparse.Namespace, options: dict[str, Any]) -> dict[str, Speed]:
    """Both routes in turns, in this process."""

    def config(steps: int, **more: Any) -> AlgorithmConfig:
        one = ppo_config(chosen.game, multi_agent=True, envs_per_runner=chosen.envs, seed=0, **more, **options)
        return one.training(train_batch_size_per_learner=steps, minibatch_size=min(steps, 2048))

    algorithms = {}
    for games in chosen.few:
        slow = config(chosen.few_steps, skip_forced=False)
        slow = pettingzoo_route(slow, chosen.game, options, games)
        algorithms[PETTINGZOO.format(games)] = slow.build_algo()
    algorithms |= {
        "our runner, every decision": config(chosen.steps, skip_forced=False).build_algo(),
        "our runner, forced moves left out": config(chosen.steps).build_algo(),
    }
    speeds = dict.fromkeys(algorithms, Speed(0, 0, 0, 0))
    for algorithm in algorithms.values():
        algorithm.train()  # compiled and allocated
    for _ in range(chosen.rounds):
        for name, algorithm in algorithms.items():
            speeds[name] += iterate(algorithm, chosen.seconds, "processor")
    for algorithm in algorithms.values():
        algorithm.stop()
    return speeds


def compare_workers(chosen: argparse.Namespace, options: dict[str, Any]) -> dict[str, dict[int, float]]:
    """Steps or games a second by number of workers."""
    rates: dict[str, dict[int, float]] = {}
    measured: dict[str, Callable[[int], float]] = {
        "RLlib, steps/s": lambda workers: rllib_steps(chosen, options, workers),
        f"monsterzoo arena {' '.join(chosen.policies)}, games/s": lambda workers: arena_games(chosen, options, workers),
    }
    for name, measure in measured.items():
        rates[name] = {workers: measure(workers) for workers in WORKERS}
    return rates


def rllib_steps(chosen: argparse.Namespace, options: dict[str, Any], workers: int) -> float:
    """Env runners that are actors; one learner."""
    config = ppo_config(chosen.game, multi_agent=True, env_runners=workers, envs_per_runner=chosen.envs, **options)
    algorithm = config.training(train_batch_size_per_learner=chosen.steps).build_algo()
    algorithm.train()
    speed = iterate(algorithm, chosen.seconds)
    algorithm.stop()
    return speed.steps / speed.wall


def arena_games(chosen: argparse.Namespace, options: dict[str, Any], workers: int) -> float:
    """Games of a tournament."""
    one = variant_of(chosen.game, **options)
    names, players = enter(one, chosen.policies)
    tournament = Tournament(one, names)
    spread = play_on_ray(chosen.policies, workers=workers)
    tournament.play(players, 4 * workers, spread=spread)  # every worker has compiled
    before, began = tournament.games, time.perf_counter()
    tournament.play(players, chosen.games, spread=spread)
    return (tournament.games - before) / (time.perf_counter() - began)


def routes_table(chosen: argparse.Namespace, speeds: dict[str, Speed]) -> str:
    """The first table, with ratios by processor time to every number of games of the slow route."""
    slow, rows = [speeds[PETTINGZOO.format(games)] for games in chosen.few], []
    for name, one in speeds.items():
        wall, processor = one.steps / one.wall, one.steps / one.processor
        ratios = [f"{processor / (other.steps / other.processor):.1f}" for other in slow]
        rows.append([name, short(wall), short(processor), short(one.learned / one.processor), *ratios])
    columns = ["steps/s", "steps per\nprocessor s", "learned from per\nprocessor s"]
    columns += [f"times as fast as\nwith {games} (processor)" for games in chosen.few]
    about = f"{chosen.game} {label(game_options(chosen))}, one thread, rounds: {chosen.rounds}"
    return f"{about}\n\n{grid(('PPO, self-play', *columns), rows)}"


def workers_table(rates: dict[str, dict[int, float]]) -> str:
    """The second table."""
    rows = [[name, *(short(rate[workers]) for workers in WORKERS)] for name, rate in rates.items()]
    return grid(("on Ray, wall-clock", *(f"workers: {workers}" for workers in WORKERS)), rows)


def main(argv: list[str]) -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        "monsterzoo bench rllib", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_game(parser, "pikit_v0", players=2)
    parser.add_argument("--envs", type=int, default=256, help="games at once of our runner")
    parser.add_argument(
        "--few", type=int, nargs="+", default=[1, 8], help="games at once of PettingZooEnv; RLlib's is 1"
    )
    parser.add_argument("--steps", type=int, default=16384, help="steps of an update of ours")
    parser.add_argument("--few-steps", type=int, default=2048, help="steps of an update through PettingZooEnv")
    parser.add_argument("--policies", nargs="+", default=["heuristic", "search:100"], help="of the arena")
    parser.add_argument("--games", type=int, default=200, help="of the arena")
    parser.add_argument("--seconds", type=float, default=5.0, help="of every measurement, at least")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("routes", "workers"), help="one of the two tables")
    parser.add_argument("--json", type=Path, help="where to write everything")
    chosen = parser.parse_intermixed_args(argv)
    torch.set_num_threads(1)
    options = game_options(chosen)
    content: dict[str, Any] = {"machine": {**machine(), "ray": version("ray"), "torch": torch.__version__}}
    content["settings"] = {key: value for key, value in vars(chosen).items() if key != "json"}
    with joined("local", max(WORKERS)):
        if chosen.only != "workers":
            speeds = compare_routes(chosen, options)
            print(routes_table(chosen, speeds), flush=True)
            content["routes"] = {name: speed._asdict() for name, speed in speeds.items()}
        if chosen.only != "routes":
            content["workers"] = compare_workers(chosen, options)
            print("\n" + workers_table(content["workers"]))
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
