"""Every option of training in one place, and the command line made from it."""

import argparse
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

Texts = tuple[str, ...]


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
        Texts, "who else plays in the rest, equally often: 'past' (own earlier networks) or policies"
    ] = (
        "past",
        "heuristic",
        "random",
    )
    snapshot_every: Annotated[int, "updates between two earlier networks kept for 'past'"] = 10
    snapshots: Annotated[int, "number of earlier networks kept; when full, a random one makes room"] = 16

    # the first part of the run
    imitate: Annotated[str, "policy to imitate before learning from own play ('' for none)"] = "heuristic"
    imitate_share: Annotated[float, "share of the budget for that"] = 0.2

    # PPO
    learning_rate: Annotated[float, "of Adam, at the start"] = 1e-3
    final_learning_rate: Annotated[float, "of Adam at the end, as a share of the first"] = 0.05
    epochs: Annotated[int, "passes over the decisions of an update"] = 2
    minibatch: Annotated[int, "decisions a gradient step"] = 2048
    gamma: Annotated[float, "discount from one own decision to the next"] = 1.0
    trace: Annotated[float, "lambda of the advantage estimate (GAE), over a seat's own decisions"] = 0.95
    clip: Annotated[float, "how far an action's probability may move in an update, as a ratio"] = 0.2
    entropy: Annotated[float, "weight of the entropy bonus"] = 0.01
    value: Annotated[float, "weight of the value loss"] = 0.5
    max_gradient: Annotated[float, "largest norm of a gradient"] = 0.5

    # watching
    evaluate: Annotated[Texts, "policies whose win rates are measured while training"] = ("random", "heuristic")
    evaluate_every: Annotated[float, "seconds between evaluations"] = 30.0
    evaluate_games: Annotated[int, "games of an evaluation against each policy, every side equally often"] = 512
    checkpoint_every: Annotated[float, "seconds between checkpoints"] = 60.0
    tensorboard: Annotated[bool, "write TensorBoard events into the folder"] = True

    def __post_init__(self) -> None:
        self.opponents, self.evaluate = tuple(self.opponents), tuple(self.evaluate)  # JSON has lists

    @classmethod
    def read(cls, path: Path) -> "Config":
        """The options a run was started with."""
        return cls(**json.loads(path.read_text())["config"])

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def game_options(self) -> dict[str, Any]:
        """Options of the game, `players` included."""
        return {"players": self.players, **self.options}

    def command(self) -> str:
        """The command line of these options."""
        words, defaults = ["monsterzoo train"], Config()
        for one in fields(self):
            value = getattr(self, one.name)
            if value == getattr(defaults, one.name) and one.name not in ("game", "players", "minutes", "seed", "out"):
                continue
            flag = "--" + one.name.replace("_", "-")
            if isinstance(value, bool):
                words.append(flag if value else "--no-" + flag[2:])
            elif isinstance(value, dict):
                for key, chosen in value.items():
                    words += ["--option", f"{key}={chosen if isinstance(chosen, str) else json.dumps(chosen)}"]
            elif isinstance(value, tuple | list):
                words += [flag, *value]
            else:
                words += [flag, str(value) if value != "" else "''"]
        return " ".join(words)


def add_options(parser: argparse.ArgumentParser) -> None:
    """A flag for every option of `Config`."""
    defaults = Config()
    for name, hint in get_type_hints(Config, include_extras=True).items():
        kind, (meaning,), default = hint.__origin__, hint.__metadata__, getattr(defaults, name)
        more: dict[str, Any] = {"type": kind, "metavar": kind.__name__.upper()}
        if kind is bool:
            more = {"action": argparse.BooleanOptionalAction}
        elif isinstance(default, dict):
            more = {"action": "append", "type": _pair, "metavar": "KEY=VALUE"}
        elif isinstance(default, tuple):
            more, default = {"nargs": "*", "metavar": "POLICY"}, " ".join(default)
        flag = "--option" if name == "options" else "--" + name.replace("_", "-")
        shown = default or "none"
        parser.add_argument(flag, dest=name, default=None, help=f"{meaning} (default: {shown})", **more)


def given(namespace: argparse.Namespace) -> dict[str, Any]:
    """The options that were on the command line."""
    values = {one.name: getattr(namespace, one.name) for one in fields(Config)}
    if values["options"] is not None:
        values["options"] = dict(values["options"])
    return {name: value for name, value in values.items() if value is not None}


def _pair(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, {"True": True, "False": False, "None": None}.get(value, value)
