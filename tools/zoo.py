"""The shipped networks: measure and publish them, their index, tables and model cards.

`python -m tools.zoo VARIANT RUN…`: the runs are finished ones of `monsterzoo train`, each of which started from the one
before. The last one's network is measured, copied to `policies/pretrained` at half precision, and entered into its
index with the commands of all runs. Without runs a network that is shipped is measured again, without a name all.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo.envs.core.options import label
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies import Policy
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.policies.networks import files
from monsterzoo.policies.networks.files import PRETRAINED, WEIGHTS
from monsterzoo.policies.networks.policy import NeuralPolicy
from monsterzoo.training.evaluation.report import markdown, percent
from monsterzoo.training.evaluation.win_rate import win_rate
from monsterzoo.training.runs.config import RUN
from monsterzoo.training.runs.exits import exit_code
from monsterzoo.training.runs.files import read_json, replacing, write_json

from .variants import NamedVariant, all_variants, chosen_variants

INDEX, CARDS = "index.json", "cards"
MAX_BYTES = 300_000
"""Size limit of a shipped network's file."""
OPPONENTS = ("random", "heuristic")


# --- Publishing ---


def publish(of: NamedVariant, runs: Sequence[Path], games: int, folder: Path = PRETRAINED) -> None:
    """Measure and ship the network of the last of several finished runs, each of which started from the one before.

    Raises `ValueError` if a run is not finished, or the network is too large.
    """
    summaries = [read_json(run / RUN, "the description of a run") for run in runs]
    for run, summary in zip(runs, summaries):
        if "result" not in summary:
            raise ValueError(f"the run in {run} is not finished")
    arrays, about = files.read(runs[-1] / WEIGHTS)
    file = f"{of.name}.npz"
    with replacing(folder / file) as part:  # the old network stays until the new one is measured
        files.write(part, {name: values.astype(np.float16) for name, values in arrays.items()}, about)
        size = part.stat().st_size
        if size > MAX_BYTES:
            raise ValueError(f"the network of {runs[-1]} has {size} bytes; at most {MAX_BYTES} are shipped")
        measured = measure(of.variant, part, games)
    model = {
        "file": file,
        "game": of.game,
        "options": of.options,
        "commands": [summary["commands"][0] for summary in summaries],
        "seed": summaries[-1]["config"]["seed"],
        "minutes": round(sum(summary["result"]["seconds"] for summary in summaries) / 60, 1),
        "steps": sum(summary["result"]["steps"] for summary in summaries),
        "versions": summaries[-1]["versions"],
        "weights": int(sum(values.size for values in arrays.values())),
        "chance_level": 1 / of.variant.sides,
        "arena": measured,
    }
    enter(model, folder)


def measure(variant: Variant, file: Path, games: int, seed: int = 1) -> dict[str, Any]:
    """Win rates of a network that plays one side against each opponent on all others."""
    policy, results = NeuralPolicy(variant, *files.read(file), name="pretrained"), {}
    for spec in OPPONENTS:
        if spec != "heuristic" or has_heuristic(variant):
            found = win_rate(variant, policy, make_player(variant, spec, seed), games, seed, "publishing")
            results[spec] = {"seed": seed, **found._asdict()}
    return results


def read_index(folder: Path = PRETRAINED) -> dict[str, Any]:
    """The index; its only key is "models", a list."""
    path = folder / INDEX
    return read_json(path, "an index of networks") if path.exists() else {"models": []}


def enter(model: dict[str, Any], folder: Path = PRETRAINED) -> None:
    """Add a network to the index, in the place of one with the same name."""
    others = [one for one in read_index(folder)["models"] if one["file"] != model["file"]]
    models = sorted([*others, model], key=lambda one: str(one["file"]))
    write_json(folder / INDEX, {"models": models})


# --- The page ---


def commands_of(models: Sequence[dict[str, Any]]) -> str:
    """The commands that made all networks, as a block in Markdown."""
    return "\n".join(["```sh", *(command for model in models for command in model["commands"]), "```"])


def networks_table(models: Sequence[dict[str, Any]]) -> str:
    """A row for every network."""
    rivals = [f"against {spec}" for spec in OPPONENTS]
    rows = []
    for model in models:
        size, steps = f"{model['weights'] / 1000:.0f} k", f"{model['steps'] / 1e6:.1f} M"
        found = [model["arena"].get(spec) for spec in OPPONENTS]
        rates = [percent(one["win_rate"], one["interval"]) if one else "–" for one in found]
        name = f"[`{model['file']}`]({CARDS}/{Path(model['file']).stem}.md)"
        rows.append([name, size, model["seed"], model["minutes"], steps, f"{model['chance_level']:.0%}", *rates])
    return markdown(["network", "weights", "seed", "minutes", "steps", "chance level", *rivals], rows)


# --- Model cards ---


def card(model: dict[str, Any]) -> str:
    """The model card of a network, with the YAML header that model hubs read (its values are JSON, which is YAML)."""
    of = NamedVariant(model["game"], model["options"])
    rows, metrics = [], []
    for spec, found in model["arena"].items():
        rows.append([f"`{spec}`", percent(found["win_rate"], found["interval"]), f"{found['games']:,}"])
        metrics.append({"type": "win_rate", "name": f"win rate against {spec}", "value": round(found["win_rate"], 4)})
    task = {"type": "reinforcement-learning", "name": "reinforcement-learning"}
    result = {"task": task, "dataset": {"type": of.game, "name": of.name}, "metrics": metrics}
    rollouts = "--method rollouts" in model["commands"][-1]
    values = {
        **model,
        "index": json.dumps([{"name": of.name, "results": [result]}]),
        "name": of.name,
        "folder": of.game.rsplit("_", 1)[0],
        "options": label(of.options),
        "arguments": ", ".join(f"{key}={value!r}" for key, value in of.options.items()).replace("'", '"'),
        "columns": of.variant.layout.size,
        "actions": of.variant.num_actions,
        "method": ", learning from rollouts by the heuristic player," if rollouts else " with PPO",
        "steps": model["steps"] / 1e6,
        "commands": "\n".join(model["commands"]),
        "results": markdown(["against", "win rate", "games"], rows),
    }
    return (Path(__file__).parent / "card.md").read_text(encoding="utf-8").format(**values)


# --- Fingerprints ---


def fingerprint(policy: Policy) -> str | None:
    """Weight hash that ties results to a network, also to one that guides a search; None without a network."""
    network = policy if isinstance(policy, NeuralPolicy) else getattr(policy, "guide", None)
    if not isinstance(network, NeuralPolicy):
        return None
    digest = sha256()
    for name, values in sorted(network.arrays.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(values, np.float32).tobytes())
    return digest.hexdigest()[:8]


def shipped_networks() -> dict[str, str | None]:
    """Fingerprints of the networks that are shipped now, by variant."""
    found = {}
    for name, one in all_variants().items():
        try:
            found[name] = fingerprint(make_player(one.variant, "pretrained"))
        except ValueError:  # there is none
            continue
    return found


def main(arguments: Sequence[str]) -> int:
    """The command; raises `ValueError` for bad options and for runs that are not finished."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", nargs="?", metavar="VARIANT", help="such as pikit_v0-2p")
    parser.add_argument("trained", nargs="*", type=Path, metavar="RUN", help="folders of its training, in order")
    parser.add_argument("--games", type=int, default=4000, help="games against each opponent (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=PRETRAINED, metavar="FOLDER", help="of the networks")
    chosen = parser.parse_intermixed_args(arguments)
    there = {model["file"].removesuffix(".npz"): model for model in read_index(chosen.out)["models"]}
    for one in chosen_variants([chosen.variant] if chosen.variant else list(there)):
        if not chosen.trained and one.name not in there:
            raise ValueError(f"there is no network of {one.name} in {chosen.out}: which runs made it?")
        print(f"{one.name}: measuring, {chosen.games} games against each opponent", flush=True)
        if chosen.trained:
            publish(one, chosen.trained, chosen.games, chosen.out)
        else:
            measured = measure(one.variant, chosen.out / f"{one.name}.npz", chosen.games)
            enter({**there[one.name], "arena": measured}, chosen.out)
    print(networks_table(read_index(chosen.out)["models"]))
    return 0


if __name__ == "__main__":
    sys.exit(exit_code("zoo", main, sys.argv[1:]))
