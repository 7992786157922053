"""Train, measure and publish the shipped networks: `python -m tools.zoo [VARIANT…]`.

Without names, every variant without a network gets one. Each stage of a recipe (`tools.recipes`) is a training run in
`runs/zoo/VARIANT/STAGE`: finished stages are not trained again, and an interrupted one is resumed by the same command.
The last stage's network is measured, copied to `policies/pretrained`, and entered into its index and page.
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from monsterzoo.benchmarks.measuring import parser_of
from monsterzoo.cli import train as train_command
from monsterzoo.envs.core.options import write_option
from monsterzoo.policies.networks.files import PRETRAINED
from monsterzoo.training.runs.config import RUN
from monsterzoo.training.runs.exits import exit_code
from monsterzoo.training.runs.files import read_json
from monsterzoo.training.runs.run import CHECKPOINT

from .networks import enter, measure, networks_table, publish, read_index
from .recipes import RECIPES
from .variants import NamedVariant, chosen_variants

RUNS = Path("runs/zoo")
COMMAND = "command.txt"  # the file of a stage's folder that holds the command line of its training
DEFAULTS = ["--evaluate-every", "60", "--log", "none"]


def main(arguments: Sequence[str]) -> int:
    """The command; raises `ValueError` for bad options, `Interrupted` when it is to end early."""
    parser = parser_of("python -m tools.zoo", __doc__)
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help="such as pikit_v0-2p")
    parser.add_argument("--measure", action="store_true", help="measure shipped networks again, train nothing")
    parser.add_argument("--seed", type=int, default=0, help="of all stages (default: %(default)s)")
    parser.add_argument("--games", type=int, default=4000, help="games against each opponent (default: %(default)s)")
    parser.add_argument("--runs", type=Path, default=RUNS, metavar="FOLDER", help="of the runs (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=PRETRAINED, metavar="FOLDER", help="of the networks")
    chosen = parser.parse_intermixed_args(arguments)
    if chosen.games < 4:
        raise ValueError(f"--games {chosen.games} is not allowed; allowed: an integer from 4")
    there = {model["file"].removesuffix(".npz"): model for model in read_index(chosen.out)["models"]}
    usual = list(there) if chosen.measure else [name for name in RECIPES if name not in there]
    wanted = chosen.variants or usual
    for one in chosen_variants(wanted) if wanted else ():
        runs = [] if chosen.measure else train(one, chosen.seed, chosen.runs)
        print(f"{one.name}: measuring, {chosen.games} games against each opponent", flush=True)
        if chosen.measure:
            measured = measure(one.variant, chosen.out / f"{one.name}.npz", chosen.games)
            enter({**there[one.name], "arena": measured}, chosen.out)
        else:
            publish(one, runs, chosen.games, chosen.out)
    print(networks_table(read_index(chosen.out)["models"]))
    return 0


def train(of: NamedVariant, seed: int, runs: Path) -> list[Path]:
    """Train all stages of a variant's recipe that are not finished; returns their folders.

    Raises `ValueError` for a folder that holds a run with another command.
    """
    home = runs / of.name if seed == 0 else runs / of.name / f"seed-{seed}"
    stages = commands(of, seed, home, runs)
    for number, (folder, command) in enumerate(stages.items(), 1):
        title = f"{of.name}, seed {seed}, stage {number} of {len(stages)} ({folder.name})"
        path, text = folder / COMMAND, shlex.join(command)
        if (folder / RUN).exists():
            if path.read_text() != text:
                raise ValueError(f"{folder} was trained with another command ({path}); move it away to train it again")
            if "result" in read_json(folder / RUN, "the description of a run"):
                print(f"{title}: already finished")
                continue
        if later := [other for other in list(stages)[number:] if (other / RUN).exists()]:
            raise ValueError(f"{later[0]} started from an earlier {folder}; move it away to train it again")
        print(f"{title}: monsterzoo train {text}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        train_command.main([*command, "--resume"] if (folder / CHECKPOINT).exists() else command)
    return list(stages)


def commands(of: NamedVariant, seed: int, home: Path, runs: Path) -> dict[Path, list[str]]:
    """Options of `monsterzoo train` for every stage of a variant's recipe, by the folder of its run."""
    options = [f"--option={write_option(key, value)}" for key, value in of.options.items() if key != "players"]
    stages: dict[Path, list[str]] = {}
    for name, text in RECIPES[of.name].items():
        folders = {"runs": str(runs), **{folder.name: str(folder) for folder in stages}}
        command = [word.format(**folders) for word in shlex.split(text)]
        start = [] if not stages or "--start" in command else ["--start", f"net:{list(stages)[-1]}"]
        own = ["--game", of.game, "--players", str(of.options["players"]), *options, "--seed", str(seed)]
        stages[home / name] = [*own, "--out", str(home / name), *DEFAULTS, *start, *command]
    return stages


if __name__ == "__main__":
    sys.exit(exit_code("zoo", main, sys.argv[1:]))
