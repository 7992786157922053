"""Ship trained networks: `python -m monsterzoo.training.models runs/pikit2 runs/yokai4`.

Takes the networks of finished runs into `policies/pretrained` at half precision, measures each in the arena as it is
shipped, and writes the index that `monsterzoo.policies` reads and the table that people read.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from monsterzoo.cli.options import add_flags, given
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.options import Checked, Integer, options_of
from monsterzoo.envs.players import make_player
from monsterzoo.policies import Policy, neural
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.policies.neural import PRETRAINED, WEIGHTS, NeuralPolicy

from .arena import Tournament
from .config import RUN, RunConfig
from .evaluation import play_games
from .exits import exit_code
from .files import read_json, replacing, write_json
from .models_page import OPPONENTS, networks_table, page
from .ratings import NORMAL_95
from .variants import REWARD, variant_name

INDEX, README = "index.json", "README.md"
LARGEST = 300_000
"""Bytes that a shipped network may have."""


@dataclass
class Measuring(Checked):
    """How well networks are measured."""

    games: Annotated[int, "games against each opponent", Integer(4, 1_000_000_000)] = 4000


def publish(run: Path, games: int, folder: Path = PRETRAINED, earlier: Sequence[Path] = ()) -> dict[str, Any]:
    """Ship a run's network; returns its entry in the index.

    Raises `ValueError` if the run is not finished, or its network is too large to be shipped.

    Args:
        run: folder of the run.
        games: to measure it by, against each opponent.
        folder: where it goes.
        earlier: folders of the runs it started from, whose work counts too.
    """
    config = RunConfig.read(run / RUN)
    summaries = [finished_summary(one) for one in (*earlier, run)]
    arrays, about = neural.read(run / WEIGHTS)
    played = {key: value for key, value in config.game_options().items() if key != REWARD}
    file = variant_name(config.game, played) + ".npz"
    variant = find_game(config.game).variant(**played)
    with replacing(folder / file) as part:  # its predecessor stays until it is measured
        neural.write(part, {name: values.astype(np.float16) for name, values in arrays.items()}, about)
        if part.stat().st_size > LARGEST:
            size = f"{part.stat().st_size / 1000:.0f} KB"
            raise ValueError(f"the network of {run} has {size}, at most {LARGEST // 1000} KB are shipped")
        measured = measure_all(variant, part, games)
    return {
        "file": file,
        "game": config.game,
        "options": played,
        "commands": [command for summary in summaries for command in summary["commands"]],
        "seed": config.seed,
        "minutes": round(sum(summary["result"]["seconds"] for summary in summaries) / 60, 1),
        "steps": sum(summary["result"]["steps"] for summary in summaries),
        "versions": summaries[-1]["versions"],
        "weights": int(sum(values.size for values in arrays.values())),
        "even": 1 / variant.sides,
        "arena": measured,
    }


def finished_summary(run: Path) -> dict[str, Any]:
    """What a finished run says about itself; raises `ValueError` for one that is not."""
    summary = read_json(run / RUN, "the description of a run")
    if "result" not in summary:
        raise ValueError(f"the run in {run} is not finished")
    return summary


def measure_all(variant: Variant, file: Path, games: int) -> dict[str, Any]:
    """How a shipped network does against each opponent that the game has."""
    policy = NeuralPolicy(variant, *neural.read(file), name="pretrained")
    opponents = [spec for spec in OPPONENTS if spec != "heuristic" or has_heuristic(variant)]
    return {spec: measure(variant, policy, spec, games) for spec in opponents}


def measure(variant: Variant, policy: Policy, spec: str, games: int, seed: int = 1) -> dict[str, Any]:
    """The policy's win rate against a spec: in the arena's mixed company, and alone among players of that spec."""
    tournament = Tournament(variant, [policy.name, spec], seed)
    tournament.play([policy, make_player(variant, spec, seed)], games, batch=512)
    result = tournament.result()
    own = result["players"][0]
    alone = win_rate_alone(variant, policy, make_player(variant, spec, seed), games, seed)
    mixed = {"games": result["games"], "win_rate": own["win_rate"], "interval": own["win_rate_interval"]}
    return {"seed": seed, "mixed": mixed, "alone": alone}


def win_rate_alone(variant: Variant, policy: Policy, rival: Policy, games: int, seed: int) -> dict[str, Any]:
    """How often a policy wins that plays one side while a rival plays all others, with its interval."""
    shares = play_games(variant, policy, rival, games // variant.sides * variant.sides, seed)
    rate, half = float(shares.mean()), NORMAL_95 * float(shares.std()) / len(shares) ** 0.5
    return {"games": len(shares), "win_rate": rate, "interval": [rate - half, rate + half]}


def read_index(folder: Path = PRETRAINED) -> dict[str, Any]:
    """The index: "models", the shipped networks, and "seeds", what recipes gave with several seeds."""
    path = folder / INDEX
    return read_json(path, "an index of networks") if path.exists() else {"models": []}


def write_index(index: dict[str, Any], folder: Path = PRETRAINED) -> None:
    """Write the index and the page about it."""
    write_json(folder / INDEX, index)
    with replacing(folder / README) as part:
        part.write_text(page(index))
    neural.pretrained.cache_clear()


def enter_model(model: dict[str, Any], folder: Path = PRETRAINED) -> None:
    """Put a network's entry into the index, in the place of its predecessor, and write index and page."""
    index = read_index(folder)
    others = [one for one in index["models"] if one["file"] != model["file"]]
    index["models"] = sorted([*others, model], key=lambda one: str(one["file"]))
    write_index(index, folder)


def measure_again(files: Sequence[str], games: int, folder: Path = PRETRAINED) -> None:
    """Measure shipped networks, and write down what they do now."""
    for model in read_index(folder)["models"]:
        if model["file"] in files:
            print(f"{model['file']}: measuring, {games} games against each opponent", flush=True)
            variant = find_game(model["game"]).variant(**model["options"])
            enter_model({**model, "arena": measure_all(variant, folder / model["file"], games)}, folder)


def main(argv: Sequence[str]) -> int:
    """Publish runs, or with none of them measure what is shipped anew."""
    parser = argparse.ArgumentParser("python -m monsterzoo.training.models", description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path, help="folders of finished runs")
    add_flags(parser, options_of(Measuring))
    chosen = parser.parse_args(argv)
    games = Measuring(**given(chosen, options_of(Measuring))).games
    for run in chosen.runs:
        enter_model(publish(run, games))
    if not chosen.runs:
        measure_again([model["file"] for model in read_index()["models"]], games)
    print(networks_table(read_index()["models"]))
    return 0


if __name__ == "__main__":
    sys.exit(exit_code("models", main, sys.argv[1:]))
