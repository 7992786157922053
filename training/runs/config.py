"""Options of training; the flags of `monsterzoo train` are made from them."""

import os
import shlex
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from monsterzoo.envs.core.options import (
    LARGEST_SEED,
    MOST_THREADS,
    Checked,
    Choice,
    GameOptions,
    Integer,
    Number,
    Specs,
    Switch,
    Text,
    as_flag,
    flag,
    options_of,
    refusal,
    write_option,
)
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies.heuristics import has_heuristic

from .files import damaged, read_json

Texts = tuple[str, ...]

MOST_AT_ONCE = 1 << 20  # games, or steps of one, that are kept in memory
LARGEST_NUMPY_SEED = (1 << 32) - 1  # of numpy's global generator, which RLlib and SB3 seed
RUN = "run.json"  # the file of a run's folder that holds its options
LOGS = ("tensorboard", "wandb", "trackio", "none")
PAST = "past"  # the opponent that plays like an earlier version of the network
MAY_CHANGE = (
    "out", "minutes", "updates", "threads", "evaluate", "evaluate_every", "evaluate_games", "checkpoint_every",
    "log",
)  # fmt: skip
"""Options that may change when a run is resumed: how long it takes and how it is watched, not what is learned."""
GROUPS = {
    "minutes": "how long",
    "width": "the network",
    "learning_rate": "Adam",
    "evaluate": "watching",
    "num_envs": "the games",
    "imitate": "imitation",
    "self_play": "opponents",
    "epochs": "PPO",
    "target_temperature": "learning from rollouts",
}
"""Headings of the help, each by the first option below it."""
USUAL: dict[str, Any] = {
    "opponents": (PAST, "heuristic", "random"),
    "imitate": "heuristic",
    "evaluate": ("random", "heuristic"),
}
"""Whom the options that are None stand for; a game without a heuristic does without it."""


def processors() -> int:
    """Number of available processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class RunConfig(Checked):
    """Options of every training run; each is also a flag of `monsterzoo train`.

    Raises `ValueError` for a value that is not allowed.
    """

    method: ClassVar[str]  # what `--method` calls it

    # what is learned
    game: Annotated[str, "name of the game", Text()]
    players: Annotated[int | None, "number of players; None is the game's own", Integer(1)] = None
    options: Annotated[dict[str, Any], "other options of the game", GameOptions()] = field(default_factory=dict)
    out: Annotated[str, "folder of the run; afterwards 'net:<folder>' is a policy", Text()] = "runs/latest"

    # how long
    minutes: Annotated[
        float, "wall-clock budget with evaluation; such a run does not repeat", Number(0, above=True)
    ] = 10.0
    updates: Annotated[
        int, "budget in updates instead: the same command gives the same network; 0: by the clock", Integer(0)
    ] = 0
    seed: Annotated[int, "of everything random", Integer(0, LARGEST_SEED)] = 0
    threads: Annotated[int, "torch's threads; more than one helps on idle machines only", Integer(1, MOST_THREADS)] = 1

    # the network
    width: Annotated[int, "width of the hidden layers", Integer(1, 16384)] = 128
    blocks: Annotated[int, "number of residual blocks of two layers", Integer(0, 256)] = 1
    symmetric: Annotated[bool, "share weights along the game's symmetries, such as colours", Switch()] = True
    start: Annotated[str | None, "network of this shape to start from: 'pretrained' or 'net:FOLDER'", Text()] = None

    # Adam
    learning_rate: Annotated[float, "of Adam, at the start", Number(0, 1, above=True)] = 1e-3
    final_learning_rate: Annotated[float, "of Adam at the end, as a share of the first", Number(0, 1)] = 0.05
    minibatch: Annotated[int, "decisions per gradient step", Integer(1)] = 2048
    max_grad_norm: Annotated[float, "largest norm of a gradient", Number(0, above=True)] = 0.5

    # watching
    evaluate: Annotated[Texts | None, "policies whose win rates are measured while training", Specs()] = None
    evaluate_every: Annotated[float, "seconds between evaluations", Number(0)] = 30.0
    evaluate_games: Annotated[int, "games of an evaluation against each policy", Integer(1, MOST_AT_ONCE)] = 512
    checkpoint_every: Annotated[float, "seconds between checkpoints", Number(0)] = 60.0
    log: Annotated[str, "where numbers go beside the folder; wandb and trackio have to be installed", Choice(*LOGS)] = (
        "tensorboard"
    )

    @staticmethod
    def read(path: Path) -> "RunConfig":
        """The options a run was started with, from its file `RUN`; raises `ValueError` naming a damaged file."""
        what = "the description of a run"
        written = read_json(path, what).get("config")
        if not isinstance(written, dict) or "game" not in written:
            raise damaged(path, what, "'config' or its 'game' is missing")
        config = {str(name): value for name, value in written.items()}
        method = config.pop("method", PPOConfig.method)
        if method not in METHODS:
            raise ValueError(f"{path} is of another method than {' and '.join(METHODS)}: {method!r}")
        if unknown := sorted(config.keys() - options_of(METHODS[method]).keys()):
            raise ValueError(f"{path} has options that this version does not know: {', '.join(unknown)}")
        try:
            return METHODS[method](**config)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"method": self.method, **asdict(self)}

    def going_on(self, chosen: dict[str, Any]) -> Self:
        """The options of a resumed run: its own, with the chosen ones of those that may change.

        Raises `ValueError` if another one differs from what the run was started with.
        """
        own = find_game(self.game).variant(**self.game_options()).options
        pairs = [
            (f"--option {write_option(key, one)}", f"--option {write_option(key, own[key])}" if key in own else "none")
            for key, one in chosen.get("options", {}).items()
        ]
        fixed = [name for name in chosen if name not in (*MAY_CHANGE, "options")]
        pairs += [(_shown(name, chosen[name]), _shown(name, getattr(self, name, None))) for name in fixed]
        for wanted, has in pairs:
            if wanted != has:
                changeable = ", ".join(map(flag, MAY_CHANGE))
                raise ValueError(f"{wanted} contradicts the run, which has {has}; only {changeable} may change")
        return replace(self, **{name: value for name, value in chosen.items() if name in MAY_CHANGE})

    def game_options(self) -> dict[str, Any]:
        """Options of the game, `players` included."""
        return self.options if self.players is None else {"players": self.players, **self.options}

    def settled(self, variant: Variant) -> tuple[Self, list[str]]:
        """The options with default policies where none were chosen, and notes on those that had to be left out.

        Raises `ValueError` for a policy that was chosen and that the game does not have, and for too few games of an
        evaluation.
        """
        if self.evaluate_games < variant.sides:
            shown = as_flag("evaluate_games", self.evaluate_games)
            raise refusal(shown, f"{Integer(variant.sides)}, one for every side")
        chosen: dict[str, Any] = {"players": variant.players}
        notes = []
        for name, usual in USUAL.items():
            if not hasattr(self, name):
                continue
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
        words = ["monsterzoo", "train"] + ([] if self.method == PPOConfig.method else ["--method", self.method])
        for one in fields(self):
            value, name = getattr(self, one.name), flag(one.name)
            always = one.name in ("game", "players", "seed", "out") or (one.name == "minutes" and not self.updates)
            if value is None or (value == options_of(type(self))[one.name].default and not always):
                continue
            if isinstance(value, bool):
                words.append(name if value else "--no-" + name[2:])
            elif isinstance(value, dict):
                for key, chosen in value.items():
                    words += ["--option", write_option(key, chosen)]
            elif isinstance(value, tuple):
                words += [name, *value]
            else:
                words += [name, str(value)]
        return shlex.join(words)


@dataclass
class PPOConfig(RunConfig):
    """Options of self-play PPO."""

    method = "ppo"

    # the batch
    num_envs: Annotated[int, "games played at once", Integer(1, MOST_AT_ONCE)] = 1024
    steps: Annotated[int, "own moves in every game between two updates", Integer(1, MOST_AT_ONCE)] = 64

    # opponents
    self_play: Annotated[float, "share of games in which the network plays all sides", Number(0, 1)] = 0.7
    opponents: Annotated[Texts | None, "who plays the other sides in the rest: 'past' selves, policies", Specs()] = None
    snapshot_every: Annotated[int, "updates between two earlier networks kept for 'past'", Integer(1)] = 10
    snapshots: Annotated[int, "number of earlier networks kept; when full, a random one makes room", Integer(1)] = 16

    # the first part of the run
    imitate: Annotated[str | None, "policy to imitate before learning from own play ('' for none)", Text()] = None
    imitate_share: Annotated[float, "share of the budget for that", Number(0, 1)] = 0.2

    # PPO
    epochs: Annotated[int, "passes over the decisions of an update", Integer(1)] = 2
    gamma: Annotated[float, "discount from one own decision to the next", Number(0, 1)] = 1.0
    gae_lambda: Annotated[float, "lambda of GAE, over a seat's own decisions", Number(0, 1)] = 0.95
    clip_range: Annotated[float, "how far a probability may move in an update, as a ratio", Number(0, above=True)] = 0.2
    entropy_coef: Annotated[float, "weight of the entropy bonus, at the start", Number(0)] = 0.01
    final_entropy_coef: Annotated[float, "the same at the end, as a share of the first", Number(0, 1)] = 1.0
    magnet_coef: Annotated[float, "weight of the KL divergence from the magnet, an earlier self", Number(0)] = 0.0
    magnet_every: Annotated[int, "updates after which the network of that time becomes the magnet", Integer(1)] = 20
    value_coef: Annotated[float, "weight of the value loss", Number(0)] = 0.5


@dataclass
class RolloutConfig(RunConfig):
    """Options of learning from rollouts."""

    method = "rollouts"

    threads: Annotated[int, "threads that play; the games do not depend on it", Integer(1, MOST_THREADS)] = field(
        default_factory=processors
    )

    # the samples
    num_envs: Annotated[int, "games at once, played to a horizon in every update", Integer(1, MOST_AT_ONCE)] = 256
    samples: Annotated[int, "most samples of one game in an update", Integer(1, 1024)] = 128
    sample_share: Annotated[float, "share of decisions that become samples", Number(0, 1, above=True)] = 1.0
    candidates: Annotated[int, "actions of a decision that are compared by rollouts, at most", Integer(2, 1024)] = 3
    rollout_policy: Annotated[
        str | None,
        "who plays rollouts and other sides: 'heuristic' (the default, where there is one), 'pretrained', 'net:FOLDER' "
        "or 'net', the network itself for its own sides",
        Text(),
    ] = None
    self_play: Annotated[float, "share of games in which the network plays all sides", Number(0, 1)] = 0.5
    imitate_share: Annotated[float, "share of the budget to imitate the heuristic first", Number(0, 1)] = 0.1

    # learning
    target_temperature: Annotated[float, "win probability per logit; smaller is sharper", Number(0, 1, True)] = 0.02
    learning_rate: Annotated[float, "of Adam, at the start", Number(0, 1, above=True)] = 2e-3
    final_learning_rate: Annotated[float, "of Adam at the end, as a share of the first", Number(0, 1)] = 0.03
    minibatch: Annotated[int, "samples per gradient step", Integer(1, MOST_AT_ONCE)] = 2048
    max_grad_norm: Annotated[float, "largest norm of a gradient", Number(0, above=True)] = 2.0
    value_coef: Annotated[float, "weight of the value loss", Number(0)] = 0.5


METHODS: dict[str, type[RunConfig]] = {kind.method: kind for kind in (PPOConfig, RolloutConfig)}


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


def _shown(name: str, value: Any) -> str:
    return f"{flag(name)} {' '.join(value) if isinstance(value, tuple) else value}"
