"""Every option of training in one place, and the command line made from it."""

import argparse
import json
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any


def _option(default: Any, meaning: str) -> Any:
    if isinstance(default, list | dict):
        return field(default_factory=lambda: type(default)(default), metadata={"meaning": meaning})
    return field(default=default, metadata={"meaning": meaning})


@dataclass
class Config:
    """Options of self-play PPO; each is also a flag of `monsterzoo train`."""

    # what is learned
    game: str = _option("pikit_v0", "name of the game")
    players: int = _option(2, "number of players")
    options: dict[str, Any] = _option({}, "other options of the game; as a flag: --options reward=score episode=round")
    out: str = _option("runs/latest", "folder of the run; afterwards 'ppo:<folder>' is a policy")

    # how long
    minutes: float = _option(10.0, "wall-clock budget, evaluation included; the learning rate falls to its end")
    updates: int = _option(0, "stop after this many updates instead (0: by the clock)")

    # the batch
    seed: int = _option(0, "of everything random")
    num_envs: int = _option(1024, "games played at once")
    steps: int = _option(64, "steps of every game between two updates")
    threads: int = _option(1, "torch's threads; more help on idle machines only")

    # the network
    width: int = _option(256, "width of the hidden layers")
    blocks: int = _option(1, "number of residual blocks of two layers")

    # opponents
    self_play: float = _option(0.7, "share of games in which the network plays all sides")
    opponents: list[str] = _option(
        ["past", "heuristic", "random"],
        "who plays the other sides in the rest of the games: 'past' (earlier networks) or any policy, equally often",
    )
    snapshot_every: int = _option(10, "updates between two earlier networks kept for 'past'")
    snapshots: int = _option(16, "number of earlier networks kept; when full, a random one makes room")

    # PPO
    learning_rate: float = _option(1e-3, "of Adam, at the start")
    final_learning_rate: float = _option(0.05, "of Adam at the end, as a share of the first")
    epochs: int = _option(2, "passes over the decisions of an update")
    minibatch: int = _option(8192, "decisions a gradient step")
    gamma: float = _option(1.0, "discount from one own decision to the next")
    trace: float = _option(0.95, "lambda of the advantage estimate (GAE), over a seat's own decisions")
    clip: float = _option(0.2, "how far an action's probability may move in an update, as a ratio")
    entropy: float = _option(0.01, "weight of the entropy bonus")
    value: float = _option(0.5, "weight of the value loss")
    max_gradient: float = _option(0.5, "largest norm of a gradient")

    # watching
    evaluate: list[str] = _option(["random", "heuristic"], "policies whose win rates are measured while training")
    evaluate_every: float = _option(30.0, "seconds between evaluations")
    evaluate_games: int = _option(512, "games of an evaluation against each policy, every side equally often")
    checkpoint_every: float = _option(60.0, "seconds between checkpoints")
    tensorboard: bool = _option(True, "write TensorBoard events into the folder")

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A flag for every option of `Config`."""
    for one in fields(Config):
        default = one.default if one.default is not MISSING else one.default_factory()  # type: ignore[misc]
        flag, meaning = "--" + one.name.replace("_", "-"), one.metadata["meaning"]
        more: dict[str, Any]
        if isinstance(default, bool):
            more = {"action": argparse.BooleanOptionalAction}
        elif isinstance(default, dict):
            more = {"nargs": "*", "type": _pair, "metavar": "NAME=VALUE"}
        elif isinstance(default, list):
            more = {"nargs": "*"}
        else:
            more = {"type": type(default), "metavar": type(default).__name__.upper()}
        shown = " ".join(default) if isinstance(default, list) else default
        parser.add_argument(flag, default=None, help=f"{meaning} (default: {shown or 'none'})", **more)


def given(namespace: argparse.Namespace) -> dict[str, Any]:
    """The options that were on the command line."""
    values = {one.name: getattr(namespace, one.name) for one in fields(Config)}
    if values["options"] is not None:
        values["options"] = dict(values["options"])
    return {name: value for name, value in values.items() if value is not None}


def _pair(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, {"True": True, "False": False, "None": None}.get(value, value)
