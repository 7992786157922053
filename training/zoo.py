"""Make and measure the networks that are shipped: `python -m monsterzoo.training.zoo [VARIANT…]`.

Without names everything is made that has no network yet. Each recipe (`recipes.py`) is a number of training runs,
budgeted in updates; what was trained before is not trained again, and what was interrupted goes on with the same
command. A finished network is measured, taken into `policies/pretrained`, and written into its index and its table.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.cli.options import add_flags, given, read_flag
from monsterzoo.envs.core.options import options_of
from monsterzoo.envs.players import make_player
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.policies.neural import PRETRAINED, NeuralPolicy

from .config import Config
from .exits import exit_code
from .interrupts import goes_on_from
from .models import Measuring, enter_model, measure_again, publish, read_index, win_rate_alone, write_index
from .models_page import networks_table, rate, seeds_table, table
from .recipes import RECIPES, SEEDED
from .stages import Stage, carry_out, check_runs, read_recipe
from .variants import NamedVariant, all_variants, chosen_variants

RUNS = Path("runs/zoo")
LEVEL = "heuristic"
"""Whom recipes are to beat."""


def main(words: Sequence[str]) -> int:
    """The command; raises `ValueError` for what cannot be done, `Interrupted` when it is to end early."""
    parsed = _parser().parse_intermixed_args(words)
    games = Measuring(**given(parsed, options_of(Measuring))).games
    seeds = [read_flag("seed", seed, options_of(Config)["seed"].values) for seed in parsed.seeds or [parsed.seed]]
    if len(set(seeds)) < len(seeds):
        raise ValueError("--seeds must all be different")
    with goes_on_from(parsed.runs):
        if parsed.list:
            print(overview(parsed.runs, parsed.out))
        elif parsed.measure:
            measure_again([f"{one.name}.npz" for one in chosen_variants(parsed.variants)], games, parsed.out)
            print(networks_table(read_index(parsed.out)["models"]))
        elif parsed.seeds is not None:
            recipes = [plan(one, seeds, parsed.runs) for one in chosen_variants(parsed.variants or SEEDED)]
            for recipe in recipes:
                compare_seeds(recipe, games, parsed.anew, parsed.out)
            print(seeds_table(read_index(parsed.out)["seeds"]))
        else:
            wanted = chosen_variants(parsed.variants) if parsed.variants or parsed.all else without_network(parsed.out)
            for recipe in [plan(one, seeds, parsed.runs) for one in wanted]:
                make(recipe[0], games, parsed.anew, parsed.out)
            if not wanted:
                print("every variant has a network; name some to make them again, or say --all")
    return 0


def plan(of: NamedVariant, seeds: list[int], runs: Path) -> list[list[Stage]]:
    """The stages of a variant's recipe for every seed; raises `ValueError` if there is none, or a wrong one."""
    if of.name not in RECIPES:
        raise ValueError(f"there is no recipe for {of.name}; there are {', '.join(RECIPES)}")
    return [read_recipe(of, RECIPES[of.name], seed, runs) for seed in seeds]


def make(stages: list[Stage], games: int, anew: bool, folder: Path) -> None:
    """Train a network as far as it is not, then ship it."""
    check_runs(stages, anew)
    carry_out(stages)
    *earlier, last = stages
    print(f"{last.of.name}: measuring, {games} games against each opponent", flush=True)
    model = publish(last.folder, games, folder, [stage.folder for stage in earlier])
    # As if never interrupted: a run that goes on ends with the same network.
    model["commands"] = [stage.config.command() for stage in stages]
    enter_model(model, folder)
    print(networks_table([model]), flush=True)


def compare_seeds(recipe: list[list[Stage]], games: int, anew: bool, folder: Path) -> None:
    """Train a recipe with several seeds, and write how well each did into the index; none is shipped."""
    of = recipe[0][0].of
    variant = of.variant
    level = LEVEL if has_heuristic(variant) else "random"
    runs = []
    for stages in recipe:
        check_runs(stages, anew)
        carry_out(stages)
        last = stages[-1]
        policy = NeuralPolicy.from_run(variant, last.folder, last.name)
        found = win_rate_alone(variant, policy, make_player(variant, level, 1), games, seed=1)
        runs.append({"seed": last.config.seed, **found})
    entry = {"name": of.name, "against": level, "even": 1 / variant.sides, "runs": runs}
    index = read_index(folder)
    others = [one for one in index.get("seeds", []) if one["name"] != of.name]
    index["seeds"] = sorted([*others, entry], key=lambda one: str(one["name"]))
    write_index(index, folder)


def without_network(folder: Path) -> list[NamedVariant]:
    """The variants that have a recipe and no network."""
    there = {model["file"].removesuffix(".npz") for model in read_index(folder)["models"]}
    return [one for one in chosen_variants(list(RECIPES)) if one.name not in there]


def overview(runs: Path, folder: Path) -> str:
    """All variants, how strong their networks are, and how far the runs of their recipes are."""
    models: dict[str, Any] = {model["file"].removesuffix(".npz"): model for model in read_index(folder)["models"]}
    rows = []
    for one in all_variants().values():
        measured = models[one.name]["arena"].get(LEVEL) if one.name in models else None
        rates = [rate(measured[kind]) for kind in ("alone", "mixed")] if measured else ["–", "–"]
        trained = "no recipe"
        if one.name in RECIPES:
            (stages,) = plan(one, [0], runs)
            trained = f"{sum(stage.finished for stage in stages)} of {len(stages)} stages"
        rows.append([one.name, "yes" if one.name in models else "no", f"{1 / one.variant.sides:.0%}", *rates, trained])
    return table(["variant", "network", "even", f"{LEVEL}, alone", f"{LEVEL}, arena", f"in {runs}"], rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m monsterzoo.training.zoo", description=__doc__.split("\n\n")[1], allow_abbrev=False
    )
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help="such as pikit_v0-2p; see --list")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--all", action="store_true", help="all variants, also those that have a network")
    what.add_argument("--list", action="store_true", help="show what there is, and how strong it is")
    what.add_argument("--measure", action="store_true", help="measure what is shipped anew, and train nothing")
    what.add_argument(
        "--seeds",
        nargs="+",
        metavar="N",
        help=f"train with each of these seeds, ship none, and compare how well they do (default: {', '.join(SEEDED)})",
    )
    parser.add_argument("--seed", default="0", metavar="N", help="seed of the networks that are made (default: 0)")
    parser.add_argument("--anew", action="store_true", help="move runs by other recipes aside, and train again")
    parser.add_argument("--runs", type=Path, default=RUNS, metavar="FOLDER", help="of the runs (default: %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=PRETRAINED, metavar="FOLDER", help="of the networks (default: the package's)"
    )
    add_flags(parser, options_of(Measuring))
    return parser


if __name__ == "__main__":
    sys.exit(exit_code("zoo", main, sys.argv[1:]))
