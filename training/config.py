"""Every option of training in one place, and the command line made from it."""

import argparse
import json
import shlex
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_type_hints

from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.players import make_player
from monsterzoo.policies.heuristics import has_heuristic

from .game_options import add_option_argument, read_options, write_option

Texts = tuple[str, ...]

RUN = "run.json"
"""The file of a run's folder that holds its options."""
PAST = "past"
"""The opponent that plays like an earlier version of the network."""
BUDGET = ("minutes", "updates", "out")
"""What may change when a run goes on."""
USUAL: dict[str, Any] = {
    "opponents": (PAST, "heuristic", "random"),
    "imitate": "heuristic",
    "evaluate": ("random", "heuristic"),
}
"""Whom the options that are None stand for; a game without a heuristic does without it."""
FORMER_NAMES = {
    "trace": "gae_lambda",
    "clip": "clip_range",
    "entropy": "entropy_coef",
    "value": "value_coef",
    "max_gradient": "max_grad_norm",
}
"""What the options of older runs were called."""


@dataclass
class Config:
    """Options of self-play PPO; each is also a flag of `monsterzoo train`."""

    # what is learned
    game: Annotated[str, "name of the game"] = "pikit_v0"
    players: Annotated[int, "number of players"] = 2
    options: Annotated[dict[str, Any], "other options of the game; as a flag: --option KEY=VALUE, repeatable"] = field(
        default_factory=dict
    )
    out: Annotated[str, "folder of the run; afterwards 'ppo:<folder>' is a policy"] = "runs/latest"

    # how long
    minutes: Annotated[float, "wall-clock budget, evaluation included; the learning rate falls towards its end"] = 10.0
    updates: Annotated[int, "stop after this many updates instead (0: by the clock)"] = 0

    # the batch
    seed: Annotated[int, "of everything random"] = 0
    num_envs: Annotated[int, "games played at once"] = 1024
    steps: Annotated[int, "steps of every game between two updates"] = 64
    threads: Annotated[int, "torch's threads; more than one helps on idle machines only"] = 1

    # the network
    width: Annotated[int, "width of the hidden layers"] = 128
    blocks: Annotated[int, "number of residual blocks of two layers"] = 1

    # opponents
    self_play: Annotated[float, "share of games in which the network plays all sides"] = 0.7
    opponents: Annotated[
        Texts | None, "who else plays in the rest, equally often: 'past' (own earlier networks) or policies"
    ] = None
    snapshot_every: Annotated[int, "updates between two earlier networks kept for 'past'"] = 10
    snapshots: Annotated[int, "number of earlier networks kept; when full, a random one makes room"] = 16

    # the first part of the run
    imitate: Annotated[str | None, "policy to imitate before learning from own play ('' for none)"] = None
    imitate_share: Annotated[float, "share of the budget for that"] = 0.2

    # PPO
    learning_rate: Annotated[float, "of Adam, at the start"] = 1e-3
    final_learning_rate: Annotated[float, "of Adam at the end, as a share of the first"] = 0.05
    epochs: Annotated[int, "passes over the decisions of an update"] = 2
    minibatch: Annotated[int, "decisions per gradient step"] = 2048
    gamma: Annotated[float, "discount from one own decision to the next"] = 1.0
    gae_lambda: Annotated[float, "lambda of the advantage estimate (GAE), over a seat's own decisions"] = 0.95
    clip_range: Annotated[float, "how far an action's probability may move in an update, as a ratio"] = 0.2
    entropy_coef: Annotated[float, "weight of the entropy bonus"] = 0.01
    value_coef: Annotated[float, "weight of the value loss"] = 0.5
    max_grad_norm: Annotated[float, "largest norm of a gradient"] = 0.5

    # watching
    evaluate: Annotated[Texts | None, "policies whose win rates are measured while training"] = None
    evaluate_every: Annotated[float, "seconds between evaluations"] = 30.0
    evaluate_games: Annotated[int, "games of an evaluation against each policy, every side equally often"] = 512
    checkpoint_every: Annotated[float, "seconds between checkpoints"] = 60.0
    tensorboard: Annotated[bool, "write TensorBoard events into the folder"] = True

    def __post_init__(self) -> None:
        for name in ("opponents", "evaluate"):  # JSON has lists
            if getattr(self, name) is not None:
                setattr(self, name, tuple(getattr(self, name)))

    @classmethod
    def read(cls, path: Path) -> "Config":
        """The options a run was started with, from its file `RUN`; older names are understood."""
        config = json.loads(path.read_text())["config"]
        return cls(**{FORMER_NAMES.get(name, name): value for name, value in config.items()})

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def game_options(self) -> dict[str, Any]:
        """Options of the game, `players` included."""
        return {"players": self.players, **self.options}

    def settled(self, variant: Variant) -> tuple["Config", list[str]]:
        """The options with the usual policies where none were chosen, and lines about what had to be left out.

        Raises `ValueError` for a policy that was chosen and that the game does not have.
        """
        chosen: dict[str, Any] = {}
        notes = []
        for name, usual in USUAL.items():
            wanted = getattr(self, name)
            if wanted is not None:
                _check(variant, name, wanted)
                continue
            chosen[name] = usual
            if not has_heuristic(variant):
                chosen[name] = "" if name == "imitate" else tuple(one for one in usual if one != "heuristic")
                kept = " ".join(_texts(chosen[name])) or "none"
                notes.append(f"{variant.game.name} has no heuristic; --{name} is without it: {kept}")
        return replace(self, **chosen), notes

    def command(self) -> str:
        """The command line of these options."""
        words, defaults = ["monsterzoo", "train"], Config()
        for one in fields(self):
            value = getattr(self, one.name)
            if value == getattr(defaults, one.name) and one.name not in ("game", "players", "minutes", "seed", "out"):
                continue
            flag = "--" + one.name.replace("_", "-")
            if isinstance(value, bool):
                words.append(flag if value else "--no-" + flag[2:])
            elif isinstance(value, dict):
                for key, chosen in value.items():
                    words += ["--option", write_option(key, chosen)]
            elif isinstance(value, tuple):
                words += [flag, *value]
            else:
                words += [flag, str(value)]
        return shlex.join(words)


def _texts(value: Any) -> Texts:
    """The specs of an option that is one or several."""
    return tuple(value) if isinstance(value, tuple) else (value,) if value else ()


def _check(variant: Variant, name: str, value: Any) -> None:
    """Raise `ValueError` for a policy that cannot play the game."""
    for spec in _texts(value):
        if name == "opponents" and spec == PAST:
            continue
        try:
            make_player(variant, spec)
        except ValueError as error:
            raise ValueError(f"--{name} {spec}: {error}") from error


def add_options(parser: argparse.ArgumentParser) -> None:
    """A flag for every option of `Config`."""
    defaults = Config()
    for name, hint in get_type_hints(Config, include_extras=True).items():
        if name == "options":
            add_option_argument(parser)
            continue
        (meaning,), kinds = hint.__metadata__, _kinds(hint)
        default = getattr(defaults, name)
        default = USUAL[name] if default is None else default
        more: dict[str, Any] = {"type": kinds[0], "metavar": kinds[0].__name__.upper()}
        if kinds[0] is bool:
            more = {"action": argparse.BooleanOptionalAction}
        elif isinstance(default, tuple):
            more, default = {"nargs": "*", "metavar": "POLICY"}, " ".join(default)
        flag = "--" + name.replace("_", "-")
        shown = f"{default}; no heuristic where the game has none" if name in USUAL else default
        parser.add_argument(flag, dest=name, default=None, help=f"{meaning} (default: {shown})", **more)


def given(namespace: argparse.Namespace) -> dict[str, Any]:
    """The options that were on the command line; raises `ValueError` for a bad `--option`."""
    options = read_options(namespace.players, namespace.option)
    values = {one.name: getattr(namespace, one.name) for one in fields(Config) if one.name != "options"}
    values["players"] = options.pop("players", None)
    values["options"] = options or None
    return {name: value for name, value in values.items() if value is not None}


def _kinds(hint: Any) -> list[Any]:
    """The types an option may have, without None."""
    kind = hint.__origin__
    return [one for one in get_args(kind) if one is not NoneType] if NoneType in get_args(kind) else [kind]
