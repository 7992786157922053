"""Recipes as training runs: each stage a run in a folder of its own, which goes on where it was stopped.

A stage that is finished is not trained again. One that was trained by another recipe, or from a network that is no
longer there, is never used: it is refused, or moved aside if that is wanted.
"""

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NoReturn

from monsterzoo.cli.options import add_flags, add_game, flags_of, game_options, given
from monsterzoo.envs.core.options import flag

from .config import MAY_CHANGE, METHODS, RUN, Config, RunConfig
from .files import read_json
from .variants import REWARD, NamedVariant

WATCHING: dict[str, Any] = {"evaluate_every": 60.0, "tensorboard": False}
"""How stages are watched, unless their recipe says otherwise."""
SHAPE = ("width", "blocks", "symmetric")
"""What a stage has in common with the one it starts from."""
NOT_IN_RECIPES = ("game", "players", "out", "minutes", "seed")
"""What follows from the variant and from the command, or would make the network depend on the clock."""


@dataclass(frozen=True)
class Stage:
    """One run of a recipe."""

    name: str
    of: NamedVariant
    config: RunConfig

    @property
    def folder(self) -> Path:
        """Where the run is, or will be."""
        return Path(self.config.out)

    @property
    def begun(self) -> bool:
        """Whether there is a run."""
        return (self.folder / RUN).exists()

    @property
    def finished(self) -> bool:
        """Whether its budget is used up."""
        return self.begun and "result" in read_json(self.folder / RUN, "the description of a run")

    def differences(self) -> list[str]:
        """How the run differs from the recipe, in words; watching it in another way is no difference."""
        found, wanted = RunConfig.read(self.folder / RUN), self.config.settled(self.of.variant)[0]
        if found.method != wanted.method:
            return [f"--method {found.method} instead of {wanted.method}"]
        learned = [one.name for one in fields(wanted) if one.name == "updates" or one.name not in MAY_CHANGE]
        if self.of.variant.symmetry is None:
            learned.remove("symmetric")  # which says nothing then, and older runs do not have it
        pairs = ((name, getattr(found, name), getattr(wanted, name)) for name in learned)
        return [f"{flag(name)} {there!r} instead of {here!r}" for name, there, here in pairs if there != here]


def read_recipe(of: NamedVariant, recipe: Mapping[str, str], seed: int, runs: Path) -> list[Stage]:
    """The stages of a recipe, in order; raises `ValueError` naming the stage for words that do not fit.

    Args:
        of: whose recipe it is.
        recipe: the words of every stage, see `recipes`.
        seed: of all stages.
        runs: folder of all runs.
    """
    home = runs / of.name if seed == 0 else runs / of.name / f"seed-{seed}"
    stages: list[Stage] = []
    for name, words in recipe.items():
        try:
            config = _read_stage(of, words, stages, runs)
        except ValueError as error:
            raise ValueError(f"the recipe of {of.name}, stage {name!r}: {error}") from error
        stages.append(Stage(name, of, replace(config, seed=seed, out=str(home / name))))
    if not stages:
        raise ValueError(f"the recipe of {of.name} has no stages")
    return stages


def _read_stage(of: NamedVariant, text: str, before: list[Stage], runs: Path) -> RunConfig:
    """The options of a stage, with what follows from the stage it starts from."""
    folders = {"runs": str(runs), **{stage.name: stage.config.out for stage in before}}
    try:
        words = [word.format(**folders) for word in shlex.split(text)]
    except (KeyError, IndexError) as error:
        raise ValueError(f"there is no earlier stage {error}") from error
    kind, chosen = _parse(words)
    for name in NOT_IN_RECIPES:
        if name in chosen:
            raise ValueError(f"{flag(name)} is not for a recipe to say")
    if not chosen.get("updates"):
        raise ValueError("its budget must be counted in --updates")
    options = chosen.pop("options", {})
    if options.keys() - {REWARD}:
        raise ValueError(f"--option {REWARD}=… is all that a recipe may choose of the game")
    if before:
        chosen.setdefault("start", f"ppo:{before[-1].config.out}")
    parents = [stage for stage in before if chosen.get("start") == f"ppo:{stage.config.out}"]
    for parent in parents:
        chosen = {**{name: getattr(parent.config, name) for name in SHAPE}, **chosen}
    if "start" in chosen and kind is Config:
        chosen.setdefault("imitate", "")
    others = {key: value for key, value in of.options.items() if key != "players"}
    return kind(
        **{**WATCHING, **chosen, "game": of.game, "players": of.options["players"], "options": {**others, **options}}
    )


class _Parser(argparse.ArgumentParser):
    """Raises `ValueError` where a command line would end the program."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _parse(words: list[str]) -> tuple[type[RunConfig], dict[str, Any]]:
    """The method and the options in the words of a stage."""
    first = _Parser(add_help=False, allow_abbrev=False)
    first.add_argument("--method", choices=sorted(METHODS), default=Config.method)
    method, rest = first.parse_known_args(words)
    kind = METHODS[method.method]
    parser = _Parser(add_help=False, allow_abbrev=False)
    add_game(parser)
    add_flags(parser, flags_of(kind))
    parsed = parser.parse_intermixed_args(rest)
    options = game_options(parsed)
    named = {"game": parsed.game, "players": options.pop("players", None), "options": options}
    return kind, {**given(parsed, flags_of(kind)), **{name: value for name, value in named.items() if value}}


def check_runs(stages: list[Stage], anew: bool = False) -> None:
    """Make sure that what was trained of these stages is what the recipe wants.

    Raises `ValueError` for a run that differs, or moves it aside if they are to begin `anew`.
    """
    ready = True  # whether all stages so far are finished, and by this recipe
    for stage in stages:
        if stage.begun:
            differences = stage.differences() if ready else []
            if not ready or differences:
                _put_away(stage, "; ".join(differences) or "a stage before it is not finished", anew)
        ready = ready and stage.finished


def _put_away(stage: Stage, why: str, anew: bool) -> None:
    if not anew:
        raise ValueError(
            f"the run in {stage.folder} is not by the present recipe ({why}); with --anew it is moved aside, "
            "and trained again"
        )
    number = 1
    while (aside := stage.folder.with_name(f"{stage.name}.before-{number}")).exists():
        number += 1
    stage.folder.rename(aside)
    print(f"{stage.folder} is now {aside}: {why}")


def carry_out(stages: list[Stage]) -> None:
    """Train what is not finished; call `check_runs` first. Raises `Interrupted` when it is to end early."""
    from .runs import CHECKPOINT, train  # imports torch, which reading recipes can do without

    for number, stage in enumerate(stages, 1):
        of, config = stage.of, stage.config
        title = f"{of.name}, seed {config.seed}, stage {number} of {len(stages)} ({stage.name})"
        if stage.finished:
            print(f"{title}: finished before")
            continue
        print(f"{title}: {config.updates} updates by --method {config.method}, into {stage.folder}", flush=True)
        train(config, resume=(stage.folder / CHECKPOINT).exists())
