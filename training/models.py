"""Ship trained networks: `python -m monsterzoo.training.models runs/pikit2 runs/yokai4`.

Takes the networks of finished runs into `policies/pretrained` at half precision, measures each in the arena as it is
shipped, and writes the index that `monsterzoo.policies` reads and the table that people read.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.players import make_player
from monsterzoo.policies import Policy, neural
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.policies.neural import PRETRAINED, WEIGHTS, NeuralPolicy

from .arena import Tournament
from .config import RUN, RunConfig
from .evaluation import play_games
from .exits import exit_code
from .ratings import NORMAL_95
from .settings import Checked, Whole, add_flags, given

INDEX, README = "index.json", "README.md"
OPPONENTS = ("random", "heuristic")
REWARD = "reward"  # the option that matters in training only
TITLE = """# Trained networks

Loaded with `monsterzoo.policies.make("pretrained", game, **options)`; numpy is all they need. A network plays its most
likely action, and refuses observations other than those it was trained on. Written by
`python -m monsterzoo.training.models` from `index.json`.

Win rates come with 95 % intervals; equal players would have the rate in the column "even". "Alone": the network plays
one side, the opponent all others. "Arena": all mixtures of both at a table, every deal replayed until each has had
every side (with more than two sides a network shares the wins with its own copies, so the rate stays well below 100 %).

Where more than two sides play, it matters whom a network has learned to play with. Bite Night's learned as one seat
among heuristic players (`--self-play 0`). Trained by self-play instead, networks agreed among themselves on another way
to share the tiles: among them a single heuristic player loses, among heuristic players a single one of them does.
"""


@dataclass
class Measuring(Checked):
    """How well networks are measured."""

    games: Annotated[int, "games against each opponent", Whole(4, 1_000_000_000)] = 4000


def publish(run: Path, games: int, folder: Path = PRETRAINED) -> dict[str, Any]:
    """Ship a run's network; returns its entry in the index."""
    config = RunConfig.read(run / RUN)
    summary = json.loads((run / RUN).read_text())
    if "result" not in summary:
        raise ValueError(f"the run in {run} is not finished")
    arrays, about = neural.read(run / WEIGHTS)
    played = {key: value for key, value in config.game_options().items() if key != REWARD}
    others = (re.sub(r"[^\w.]+", "_", str(value)).strip("_") for value in list(played.values())[1:])
    file = "-".join([config.game, f"{config.players}p", *others]) + ".npz"
    folder.mkdir(exist_ok=True)
    neural.write(folder / file, {name: values.astype(np.float16) for name, values in arrays.items()}, about)
    variant = find_game(config.game).variant(**played)
    policy = NeuralPolicy(variant, *neural.read(folder / file), name="pretrained")
    opponents = [spec for spec in OPPONENTS if spec != "heuristic" or has_heuristic(variant)]
    result = summary["result"]
    return {
        "file": file,
        "game": config.game,
        "options": played,
        "commands": summary["commands"],
        "seed": config.seed,
        "minutes": round(result["seconds"] / 60, 1),
        "steps": result["steps"],
        "versions": summary["versions"],
        "weights": int(sum(values.size for values in arrays.values())),
        "even": 1 / variant.sides,
        "arena": {spec: measure(variant, policy, spec, games) for spec in opponents},
    }


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


def read_index(folder: Path = PRETRAINED) -> list[dict[str, Any]]:
    """The shipped networks."""
    path = folder / INDEX
    return json.loads(path.read_text())["models"] if path.exists() else []


def write_index(models: list[dict[str, Any]], folder: Path = PRETRAINED) -> None:
    """Write the index and the table."""
    models = sorted(models, key=lambda model: model["file"])
    (folder / INDEX).write_text(json.dumps({"models": models}, indent=2) + "\n")
    (folder / README).write_text(document(models))


def document(models: list[dict[str, Any]]) -> str:
    """The table for people."""
    head = ["network", "weights", "seed", "minutes", "steps", "even"]
    head += [f"{spec}, {kind}" for spec in OPPONENTS for kind in ("alone", "arena")]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for model in models:
        size, steps = f"{model['weights'] / 1000:.0f} k", f"{model['steps'] / 1e6:.1f} M"
        cells = [f"`{model['file']}`", size, str(model["seed"]), str(model["minutes"]), steps, f"{model['even']:.0%}"]
        rates = ((model["arena"].get(spec), kind) for spec in OPPONENTS for kind in ("alone", "mixed"))
        cells += [_rate(measured[kind]) if measured else "–" for measured, kind in rates]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "The commands:", "", "```sh"]
    lines += [command for model in models for command in model["commands"]]
    lines += ["```"]
    return TITLE + "\n" + "\n".join(lines) + "\n"


def _rate(result: dict[str, Any]) -> str:
    low, high = result["interval"]
    return f"{100 * result['win_rate']:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def main(argv: Sequence[str]) -> int:
    """Publish runs, or with none of them measure what is shipped anew."""
    parser = argparse.ArgumentParser("python -m monsterzoo.training.models", description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path, help="folders of finished runs")
    add_flags(parser, Measuring)
    chosen = parser.parse_args(argv)
    games = Measuring(**given(chosen, Measuring)).games
    models = {model["file"]: model for model in read_index()}
    for run in chosen.runs:
        model = publish(run, games)
        models[model["file"]] = model
    if not chosen.runs:
        for model in models.values():
            variant = find_game(model["game"]).variant(**model["options"])
            policy = NeuralPolicy(variant, *neural.read(PRETRAINED / model["file"]), name="pretrained")
            model["arena"] = {spec: measure(variant, policy, spec, games) for spec in model["arena"]}
    write_index(list(models.values()))
    print(document(sorted(models.values(), key=lambda model: str(model["file"]))))
    return 0


if __name__ == "__main__":
    sys.exit(exit_code("models", main, sys.argv[1:]))
