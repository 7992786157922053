"""The training loop that all methods share: budget, evaluation, journal and checkpoints.

A `Learner` makes one update after the other; `train` does the rest. Everything random in an update follows from the
seed and the update's number, so a resumed run makes the same next update as one that was never interrupted.
"""

import platform
import shlex
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from monsterzoo.envs import __version__
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.rng import env_seed
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies.networks import WEIGHTS, NeuralPolicy, check_size
from monsterzoo.policies.networks.files import LARGEST
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from ..algorithms import network as networks
from ..algorithms.network import Network, NetworkPolicy
from ..evaluation.win_rate import win_rate
from .config import RUN, RunConfig
from .extras import require
from .files import check_archive, damaged, read_json, replacing, write_json
from .interrupts import DeferredInterrupt, Interrupted
from .journal import Journal

CHECKPOINT = "checkpoint.pt"
PROGRESS: dict[str, Any] = {"updates": int, "steps": int, "decided": int, "seconds": int | float}
"""What a learner counts, and checkpoint and journal tell."""
EVALUATION = 1 << 40  # evaluations are seeded like an update far beyond any other


class Learner(ABC):
    """A training run in memory: network, optimiser, and how far it is."""

    def __init__(self, config: RunConfig, variant: Variant, values: int = 1) -> None:
        torch.set_num_threads(config.threads)
        self.variant = variant
        self.config, self.notes = config.settled(variant)
        torch.manual_seed(config.seed)
        self.network = Network.for_variant(variant, config.width, config.blocks, values, config.symmetric)
        if config.start is not None:
            policy = make_player(variant, config.start)
            if not isinstance(policy, NeuralPolicy):
                raise ValueError(f"--start {config.start} is no network; 'pretrained' and 'net:FOLDER' are")
            self.network.start_from(policy.arrays, f"--start {config.start}")
            for name, weights in self.network.named_parameters():  # a run's own checkpoint must not be refused later
                check_size(weights.detach().numpy(), f"--start {config.start}: {name}")
        # Fused: 0.09 ms a step instead of 0.39.
        self.optimizer = torch.optim.Adam(self.network.parameters(), config.learning_rate, eps=1e-5, fused=True)
        self.updates, self.steps, self.decided, self.seconds = 0, 0, 0, 0.0  # see `PROGRESS`

    @property
    def progress(self) -> float:
        """How much of the budget is used, from 0 to 1."""
        config = self.config
        share = self.updates / config.updates if config.updates else self.seconds / (60 * config.minutes)
        return min(share, 1.0)

    @abstractmethod
    def play(self) -> dict[str, float]:
        """Play for the next update; returns numbers to report, and the "steps"."""

    @abstractmethod
    def learn(self) -> dict[str, float]:
        """Learn from what was played; returns numbers to report, among them the "decisions"."""

    def update(self) -> dict[str, float]:
        """Play, learn, and return what there is to report."""
        began = time.perf_counter()
        report = self.play()
        played = time.perf_counter()
        report |= self.learn()
        steps, wall = int(report.pop("steps")), time.perf_counter() - began
        self.updates += 1
        self.steps += steps
        self.decided += int(report["decisions"])
        self.seconds += wall
        return report | {"share_learning": (began + wall - played) / wall, "steps_per_second": steps / wall}

    def annealed(self, first: float, share: float) -> float:
        """The present value of a number that falls linearly to a share of itself in the course of the run."""
        return first * (1 - self.progress * (1 - share))

    def improve(
        self,
        loss: Callable[[np.ndarray], tuple[Tensor, dict[str, Tensor]]],
        count: int,
        random: np.random.Generator,
        epochs: int = 1,
    ) -> dict[str, float]:
        """Learn from `count` rows in random minibatches, `loss(rows)`; returns the means of its numbers."""
        rate = self.annealed(self.config.learning_rate, self.config.final_learning_rate)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        sums: dict[str, float] = defaultdict(float)
        parts = max(1, round(count / self.config.minibatch))
        for _ in range(epochs):
            for rows in np.array_split(random.permutation(count), parts):
                total, numbers = loss(rows)
                self.descend(total)
                for name, number in numbers.items():
                    sums[name] += number.item()
        means = {name: total / (epochs * parts) for name, total in sums.items()}
        return {**means, "decisions": count, "learning_rate": rate}

    def descend(self, loss: Tensor) -> None:
        """One gradient step."""
        self.optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(self.network.parameters(), self.config.max_grad_norm)
        self.optimizer.step()

    def evaluate(self) -> dict[str, float]:
        """Win rates of the network's most likely actions, and their standard errors."""
        report: dict[str, float] = {}
        seed = env_seed(self.config.seed, EVALUATION)
        for spec in self.config.evaluate or ():
            policy = NetworkPolicy(self.network)
            opponent = make_player(self.variant, spec, seed)
            found = win_rate(self.variant, policy, opponent, self.config.evaluate_games, seed, "curve")
            report |= {f"win_{spec}": found.win_rate, f"error_{spec}": found.error}
        return report

    # --- Files ---

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """What a checkpoint holds beside network, optimiser and progress: dicts and lists of tensors."""

    @abstractmethod
    def take(self, content: dict[str, Any]) -> None:
        """Check all of the method's own content, then take it over; raises an error that says what does not fit."""

    def checkpoint(self) -> dict[str, Any]:
        """All that a run goes on from; the next update overwrites it, so copy what must last."""
        return {
            "progress": {name: getattr(self, name) for name in PROGRESS},
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict()["state"],  # its settings follow from the options
            **self.content(),
        }

    def save(self, folder: Path, checkpoint: dict[str, Any] | None = None) -> None:
        """Write the policy and the checkpoint, also an earlier one; each file appears complete or not at all."""
        content = self.checkpoint() if checkpoint is None else checkpoint
        if checkpoint is not None:
            self.network.load_state_dict(content["network"])
        # In this order: a run whose last checkpoint is written has its last policy too, and nothing left to do.
        about: dict[str, Any] = {"width": self.config.width, "seconds": round(self.seconds)}
        networks.write(folder / WEIGHTS, self.network, self.variant, **about)
        with replacing(folder / CHECKPOINT) as path, path.open("wb") as file:  # torch's own files hide a full disk
            torch.save(content, file)

    def restore(self, folder: Path) -> None:
        """Go on from a checkpoint of a run with the same options; raises `ValueError` naming the file if it is not."""
        path = folder / CHECKPOINT
        try:
            check_archive(path)
            content = torch.load(path, weights_only=True)  # plain data, no code is run
            self._check(content)
            self.take(content)
        except Exception as error:  # whatever torch stumbles over in a file that may hold anything
            wrong = f"it lacks {error}" if isinstance(error, KeyError) else error
            raise damaged(path, "a checkpoint of this run", wrong) from error
        self.network.load_state_dict(content["network"])
        settings = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": content["optimizer"], "param_groups": settings})
        for name in PROGRESS:
            setattr(self, name, content["progress"][name])

    def _check(self, content: dict[str, Any]) -> None:
        """Raise `ValueError` unless progress, network and optimiser of a checkpoint fit."""
        for name, kind in PROGRESS.items():
            number = content["progress"][name]
            if isinstance(number, bool) or not isinstance(number, kind) or not 0 <= number < float("inf"):
                raise ValueError(f"{name} is {number!r}")
        check_tensors("network", content["network"], self.network.state_dict())
        parameters, most = dict(enumerate(self.network.parameters())), torch.finfo(torch.float32).max
        for index, moments in content["optimizer"].items():
            like = {"step": torch.zeros(()), "exp_avg": parameters[index], "exp_avg_sq": parameters[index]}
            limits = {"step": (0, most), "exp_avg": (-most, most), "exp_avg_sq": (0, most)}
            check_tensors("optimizer", moments, like, limits)


def check_tensors(
    what: str,
    found: Mapping[str, Tensor],
    like: Mapping[str, Tensor],
    limits: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> None:
    """Raise `ValueError` unless the same tensors are there, with the same shapes and types.

    The numbers of each are within its `limits`; without any they are such as a network can compute with.
    """
    if found.keys() != like.keys():
        raise ValueError(f"the {what} has other parts: {', '.join(sorted(found.keys() ^ like.keys()))}")
    for key, wanted in like.items():
        name, values, (low, high) = f"{key} of the {what}", found[key], limits.get(key, (-LARGEST, LARGEST))
        if values.shape != wanted.shape or values.dtype != wanted.dtype:
            shapes = f"{values.dtype} {tuple(values.shape)}, not {wanted.dtype} {tuple(wanted.shape)}"
            raise ValueError(f"{name} is {shapes}")
        if not ((values >= low) & (values <= high)).all():  # also where one is not a number
            raise ValueError(f"{name} has numbers beyond {low:g} to {high:g}")


def to_tensors(arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    """Arrays as a checkpoint holds them."""
    return {name: torch.from_numpy(values) for name, values in arrays.items()}


def states_to_tensor(states: np.ndarray) -> Tensor:
    """Games' records (N,) as a checkpoint holds them, uint8 (N, size)."""
    return torch.from_numpy(states.view(np.uint8).reshape(len(states), -1).copy())


def to_states(tensor: Tensor, variant: Variant, count: int) -> np.ndarray:
    """And back, from uint8 (N, size); raises `ValueError` unless they are positions of `count` games that can be."""
    record, rows = variant.game.rules.record, np.ascontiguousarray(tensor.numpy())
    if rows.dtype != np.uint8 or rows.shape != (count, record.itemsize):
        raise ValueError(f"games are {rows.dtype} {rows.shape}")
    states: np.ndarray = rows.view(record)[:, 0]
    variant.check_positions(states)
    return states


def trainer_of(method: str) -> Callable[..., Learner]:
    """The class that learns by a method, made as `kind(config, game)`."""
    from ..algorithms.ppo import PPOTrainer
    from ..algorithms.rollout_learning import RolloutTrainer

    kinds: dict[str, Callable[..., Learner]] = {"ppo": PPOTrainer, "rollouts": RolloutTrainer}
    return kinds[method]


def train(
    config: RunConfig, resume: bool = False, game: Game | None = None, kind: Callable[..., Learner] | None = None
) -> dict[str, Any]:
    """Train until the budget is used up; returns the run's summary, which is also in its folder.

    SIGINT and SIGTERM end it after the update under way or, where that takes longer than a second, before it: a
    checkpoint is saved, then `Interrupted` is raised. `kind` is a learner other than the method's own.

    Raises `ValueError` if the folder already holds a run and `resume` is false, or holds none and it is true.
    """
    require("matplotlib")  # for the curve, which is drawn at the end
    folder = Path(config.out)
    if (folder / CHECKPOINT).exists() and not resume:
        raise ValueError(f"{folder} already holds a run; go on with --resume, or choose another --out")
    if resume and not (folder / CHECKPOINT).exists():
        raise ValueError(f"there is no checkpoint in {folder} to go on from; start the run again without --resume")
    learner: Learner = (kind or trainer_of(config.method))(config, game)
    config, commands = learner.config, [config.command()]
    for note in learner.notes:
        print(note)
    if resume:
        learner.restore(folder)
        commands = _commands(folder, config, learner.updates)
        if learner.progress >= 1:
            flag = f"--updates {config.updates}" if config.updates else f"--minutes {config.minutes:g}"
            print(f"the budget is used up; raise {flag} to go on learning")
    folder.mkdir(parents=True, exist_ok=True)
    versions = {"monsterzoo": __version__, "torch": torch.__version__, "numpy": np.__version__}
    versions["python"] = platform.python_version()
    about = {"config": config.to_dict(), "commands": commands, "versions": versions}
    write_json(folder / RUN, about)
    with DeferredInterrupt() as signals, Journal(folder, learner.updates, config, learner.variant.sides) as journal:
        try:
            _learn_on(learner, folder, journal, signals)
        except Interrupted as interruption:
            told = f"interrupted before anything was saved in {folder}"
            if (folder / CHECKPOINT).exists():
                command = f"monsterzoo train --resume --out {shlex.quote(str(folder))}"
                told = f"interrupted; saved in {folder / CHECKPOINT}, go on with: {command}"
            raise Interrupted(interruption.number, told) from None
    summary = {**about, "result": journal.last}
    write_json(folder / RUN, summary)
    return summary


def _learn_on(learner: Learner, folder: Path, journal: Journal, signals: DeferredInterrupt) -> None:
    """Update, watch and save until the budget is used up; raises `Interrupted` once a signal has come."""
    config = learner.config
    evaluated = saved = -float("inf")
    saving, kept = 0.0, learner.updates  # counts for the next update, so that the last one is always evaluated
    while learner.progress < 1:
        learner.seconds += saving
        before = deepcopy(learner.checkpoint()) if learner.updates > kept else None
        try:
            report = learner.update()
        except Interrupted:  # what was learned before is kept
            if before is not None:
                learner.save(folder, before)
            raise
        if not signals.came() and (learner.progress >= 1 or learner.seconds - evaluated >= config.evaluate_every):
            began = time.perf_counter()
            with suppress(Interrupted):  # the update is kept, if not evaluated
                report |= learner.evaluate()
            evaluated = learner.seconds
            learner.seconds += time.perf_counter() - began
        # The line comes first: a checkpoint is never ahead of the journal, and lines beyond it are dropped on resuming.
        journal.write({**{name: getattr(learner, name) for name in PROGRESS}, **report}, learner.progress)
        saving = 0.0
        if signals.came() or learner.progress >= 1 or learner.seconds - saved >= config.checkpoint_every:
            began = time.perf_counter()
            learner.save(folder)
            saved, saving, kept = learner.seconds, time.perf_counter() - began, learner.updates
        signals.check()


def _commands(folder: Path, config: RunConfig, updates: int) -> list[str]:
    """Everything a run was told so far, and that it now goes on."""
    path = folder / RUN
    before = read_json(path, "the description of a run").get("commands") if path.exists() else [config.command()]
    if not isinstance(before, list):
        raise damaged(path, "the description of a run", "'commands' is missing")
    budget = f"--updates {config.updates}" if config.updates else f"--minutes {config.minutes}"
    return [*before, f"monsterzoo train --resume {budget} --out {config.out}  # from update {updates}"]
