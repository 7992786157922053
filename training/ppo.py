"""Self-play PPO on the batch engine: `monsterzoo train --game pikit_v0 --players 2 --minutes 10 --out runs/pikit2`.

One network plays every seat. An update plays all games on for a number of steps, estimates each seat's advantages over
its own decisions (`credit`), and improves the network by PPO with masked actions. In most games the network plays all
sides; in the rest one side, against earlier networks or built-in policies, and only its own decisions are learned from.
A forced move (one legal action) is no decision: nobody is asked, and nothing is learned from it.

Learning from nothing takes long where good play is rare. So a run may begin with a short imitation: a teacher decides
in the network's place, the network learns to choose likewise and what to expect, and PPO goes on from there.

Everything random in an update follows from the seed and the update's number, so a run that goes on from a checkpoint
makes the same next update as one that was never interrupted.
"""

import platform
import shlex
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from monsterzoo.envs import VectorGame, __version__
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Game, Variant
from monsterzoo.envs.core.rng import env_seed
from monsterzoo.envs.players import make_player
from monsterzoo.policies import Policy
from monsterzoo.policies.neural import WEIGHTS
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from . import network as networks
from .config import PAST, RUN, Config
from .credit import Decisions
from .evaluation import play_games
from .files import check_archive, damaged, read_json, replacing, write_json
from .interrupts import Interrupted, Patient
from .journal import Journal
from .network import Network, NetworkPolicy

CHECKPOINT = "checkpoint.pt"
PROGRESS: dict[str, Any] = {"updates": int, "steps": int, "decided": int, "seconds": int | float}
"""What a trainer counts, and checkpoint and journal tell."""
ALL_SIDES = -1
EVALUATION = 1 << 40  # evaluations are seeded like an update far beyond any other


class Trainer:
    """A training run in memory: network, optimiser, games under way, opponents, and how far it is."""

    def __init__(self, config: Config, game: Game | None = None) -> None:
        torch.set_num_threads(config.threads)
        game = game or find_game(config.game)
        self.games = VectorGame(game, config.num_envs, seed=config.seed, **config.game_options())
        self.variant: Variant = self.games.variant
        config, self.notes = config.settled(self.variant)  # the notes are for whoever watches
        self.config = config
        self.decisions = Decisions(self.variant, config.num_envs, config.steps)
        torch.manual_seed(config.seed)
        self.network = Network.for_variant(self.variant, config.width, config.blocks)
        self.optimizer = torch.optim.Adam(self.network.parameters(), config.learning_rate, eps=1e-5)
        self.pool: list[dict[str, Tensor]] = []
        """Weights of earlier networks."""
        self.opponents = config.opponents or ()
        self.sides = np.full(config.num_envs, ALL_SIDES)
        """The side the network plays in each game, or `ALL_SIDES`."""
        self.rivals = np.zeros(config.num_envs, np.int64)
        """Who plays the other sides, an index of `opponents`."""
        self.updates, self.steps, self.decided, self.seconds = 0, 0, 0, 0.0  # see `PROGRESS`
        stagger(self.games, np.random.default_rng([config.seed, EVALUATION, 1]))
        self._seat_games(np.ones(config.num_envs, np.bool_), np.random.default_rng([config.seed, EVALUATION]))

    @property
    def progress(self) -> float:
        """How much of the budget is used, from 0 to 1."""
        config = self.config
        share = self.updates / config.updates if config.updates else self.seconds / (60 * config.minutes)
        return min(share, 1.0)

    # --- One update ---

    def update(self) -> dict[str, float]:
        """Play, learn, and return what there is to report."""
        config, began = self.config, time.perf_counter()
        if self.updates % config.snapshot_every == 0:
            self._keep_snapshot()
        random = np.random.default_rng([config.seed, self.updates])
        generator = torch.Generator().manual_seed(env_seed(config.seed, self.updates))
        imitating = bool(config.imitate) and self.progress < config.imitate_share
        report = self._play(random, generator, imitating)
        played = time.perf_counter()
        report |= self._learn(random, imitating)
        self.decisions.carry_over()
        self.updates += 1
        self.steps += config.num_envs * config.steps
        self.decided += int(report["decisions"])
        wall = time.perf_counter() - began
        report["share_learning"] = (time.perf_counter() - played) / wall
        report["share_environment"] = report.pop("environment_seconds") / wall
        report["steps_per_second"] = config.num_envs * config.steps / wall
        self.seconds += wall
        return report

    def _play(self, random: np.random.Generator, generator: torch.Generator, imitating: bool) -> dict[str, float]:
        """Play every game on for `config.steps` steps and write down the network's (or its teacher's) decisions."""
        games, variant, decisions = self.games, self.variant, self.decisions
        opponents = self._make_opponents(random)
        teacher: Policy | None = None
        if imitating:
            teacher = make_player(variant, str(self.config.imitate), int(random.integers(1 << 62)))
        in_environment, finished, lengths = 0.0, 0, 0
        for _ in range(self.config.steps):
            masks, seats = games.action_masks, games.seats
            choices = masks.argmax(1)  # right for forced moves, the others are overwritten
            free = np.count_nonzero(masks, axis=1) > 1
            own = (self.sides == ALL_SIDES) | (self.sides == seats % variant.sides)
            asked = np.flatnonzero(own & free)
            rows, allowed = games.observations[asked], masks[asked]
            actions, log_probs, values = self.network.play(rows, allowed, generator)
            if teacher is not None and len(asked):
                actions = teacher.act(rows, allowed, seats[asked], games.states[asked])
            choices[asked] = actions
            decisions.add(
                asked,
                seats[asked],
                observations=rows,
                action_masks=allowed,
                actions=actions,
                log_probs=log_probs,
                values=values,
            )
            for index, opponent in enumerate(opponents):
                theirs = np.flatnonzero(~own & free & (self.rivals == index))
                if len(theirs):
                    state = games.states[theirs]
                    choices[theirs] = opponent.act(games.observations[theirs], masks[theirs], seats[theirs], state)
            before = time.perf_counter()
            games.step(choices)
            over = games.terminated | games.truncated
            decisions.pay(games.rewards, over)
            in_environment += time.perf_counter() - before
            finished += int(over.sum())
            lengths += int(games.final_lengths[over].sum())
            self._seat_games(over, random)
        return {"environment_seconds": in_environment, "games": finished, "length": lengths / max(finished, 1)}

    def _learn(self, random: np.random.Generator, imitating: bool) -> dict[str, float]:
        """Improve policy and value on the decisions whose consequences are known."""
        config, decisions = self.config, self.decisions
        rows, advantages, returns = decisions.advantages(config.gamma, config.gae_lambda)
        if not len(rows):
            raise ValueError(f"no seat decided twice within steps={config.steps}; more steps are needed to learn")
        explained = 1 - np.var(returns - decisions.values[rows]) / max(np.var(returns), 1e-8)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        rate = config.learning_rate * (1 - self.progress * (1 - config.final_learning_rate))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        sums, count = np.zeros(5), 0
        for _ in range(config.epochs):
            order = random.permutation(len(rows))
            for part in np.array_split(order, max(1, round(len(rows) / config.minibatch))):
                loss, numbers = self._loss(rows[part], advantages[part], returns[part], imitating)
                self.optimizer.zero_grad()
                loss.backward()
                clip_grad_norm_(self.network.parameters(), config.max_grad_norm)
                self.optimizer.step()
                sums, count = sums + torch.stack(numbers).numpy(), count + 1
        names = ("policy_loss", "value_loss", "entropy", "kl", "clipped")
        report = dict(zip(names, (sums / count).tolist()))
        return report | {"explained": float(explained), "decisions": len(rows), "learning_rate": rate}

    def _loss(
        self, rows: np.ndarray, advantages: np.ndarray, returns: np.ndarray, imitating: bool
    ) -> tuple[Tensor, list[Tensor]]:
        """PPO's loss of some decisions; beside it policy loss, value loss, entropy, KL and share of clipped ratios."""
        config, decisions = self.config, self.decisions
        observations = torch.from_numpy(decisions.observations[rows])
        masks = torch.from_numpy(decisions.action_masks[rows])
        log_probs, values = self.network(observations, masks)
        chosen = log_probs.gather(1, torch.from_numpy(decisions.actions[rows])[:, None])[:, 0]
        change = chosen - torch.from_numpy(decisions.log_probs[rows])
        ratio, gain = change.exp(), torch.from_numpy(advantages)
        policy = -torch.minimum(ratio * gain, ratio.clamp(1 - config.clip_range, 1 + config.clip_range) * gain).mean()
        if imitating:
            policy = -chosen.mean()
        value = (values - torch.from_numpy(returns)).square().mean()
        possible = log_probs.masked_fill(masks == 0, 0)  # e^0 * 0: nothing, and far quicker than e^-1000000000
        entropy = -(possible.exp() * possible).sum(1).mean()
        kl = (ratio - 1 - change).mean()
        clipped = ((ratio - 1).abs() > config.clip_range).float().mean()
        loss = policy + config.value_coef * value - config.entropy_coef * entropy
        return loss, [number.detach() for number in (policy, value, entropy, kl, clipped)]

    # --- Opponents ---

    def _seat_games(self, fresh: np.ndarray, random: np.random.Generator) -> None:
        """Decide who plays the games that have just begun."""
        count = int(fresh.sum())
        if not count:
            return
        alone = random.random(count) < self.config.self_play
        sides = random.integers(self.variant.sides, size=count)
        rivals = random.integers(max(len(self.opponents), 1), size=count)
        self.sides[fresh] = np.where(alone, ALL_SIDES, sides) if self.opponents else ALL_SIDES
        self.rivals[fresh] = rivals

    def _make_opponents(self, random: np.random.Generator) -> list[Policy]:
        """The opponents of one update; made anew with fresh seeds, so that they have no past to keep."""
        policies: list[Policy] = []
        for spec in self.opponents:
            seed = int(random.integers(1 << 62))
            if spec == PAST:
                earlier = Network.for_variant(self.variant, self.config.width, self.config.blocks)
                earlier.load_state_dict(self.pool[random.integers(len(self.pool))])
                policies.append(NetworkPolicy(earlier, seed))
            else:
                policies.append(make_player(self.variant, spec, seed))
        return policies

    def _keep_snapshot(self) -> None:
        if len(self.pool) >= self.config.snapshots:
            random = np.random.default_rng([self.config.seed, self.updates, 1])
            del self.pool[random.integers(len(self.pool))]
        self.pool.append({name: values.clone() for name, values in self.network.state_dict().items()})

    def evaluate(self) -> dict[str, float]:
        """Win rates of the network's most likely actions, and their standard errors."""
        report: dict[str, float] = {}
        games = self.config.evaluate_games // self.variant.sides * self.variant.sides
        for spec in self.config.evaluate or ():
            seed = env_seed(self.config.seed, EVALUATION)
            policy = NetworkPolicy(self.network, seed, greedy=True)
            shares = play_games(self.variant, policy, make_player(self.variant, spec, seed), games, seed)
            report[f"win_{spec}"] = float(shares.mean())
            report[f"error_{spec}"] = float(shares.std() / np.sqrt(len(shares)))
        return report

    # --- Files ---

    def save(self, folder: Path) -> None:
        """Write the policy and the checkpoint; each file appears complete or not at all."""
        content = {
            "progress": {name: getattr(self, name) for name in PROGRESS},
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "pool": self.pool,
            "games": _tensors(self.games.save()),
            "decisions": _tensors(self.decisions.state()),
            "seating": _tensors({"sides": self.sides, "rivals": self.rivals}),
        }
        # In this order: a run whose last checkpoint is written has its last policy too, and nothing left to do.
        with replacing(folder / WEIGHTS) as path:
            networks.write(path, self.network, self.variant, width=self.config.width, seconds=round(self.seconds))
        with replacing(folder / CHECKPOINT) as path:
            torch.save(content, path)

    def restore(self, folder: Path) -> None:
        """Go on from a checkpoint of a run with the same options; raises `ValueError` naming the file if it is not."""
        path = folder / CHECKPOINT
        try:
            check_archive(path)
            content = torch.load(path, weights_only=True)  # plain data, no code is run
            self._take(content)
        except Exception as error:  # whatever torch stumbles over in a file that may hold anything
            wrong = f"it lacks {error}" if isinstance(error, KeyError) else error
            raise damaged(path, "a checkpoint of this run", wrong) from error

    def _take(self, content: dict[str, Any]) -> None:
        """Take over the content of a checkpoint, once all of it is known to fit."""
        progress, optimizer, pool = content["progress"], content["optimizer"], content["pool"]
        for name, kind in PROGRESS.items():
            if not isinstance(progress[name], kind) or not 0 <= progress[name] < float("inf"):
                raise ValueError(f"{name} is {progress[name]!r}")
        own = self.network.state_dict()
        for weights in (content["network"], *pool):
            _check_tensors(weights, own, "network")
        parameters = dict(enumerate(self.network.parameters()))
        for index, moments in optimizer["state"].items():
            like = {"step": torch.zeros(()), "exp_avg": parameters[index], "exp_avg_sq": parameters[index]}
            _check_tensors(moments, like, "optimizer")
        for group, like in zip(optimizer["param_groups"], self.optimizer.state_dict()["param_groups"], strict=True):
            for name in group.keys() & like.keys() - {"lr"}:  # the learning rate is set before every update
                if group[name] != like[name]:
                    raise ValueError(f"{name} of the optimizer is {group[name]!r}, not {like[name]!r}")
        games, decisions, seating = (
            {name: values.numpy() for name, values in content[part].items()}
            for part in ("games", "decisions", "seating")
        )
        _check_numbers("seats", games["seats"], self.games.seats, 0, self.variant.players)
        _check_numbers("sides", seating["sides"], self.sides, ALL_SIDES, self.variant.sides)
        _check_numbers("rivals", seating["rivals"], self.rivals, 0, max(len(self.opponents), 1))
        self.decisions.check(decisions)
        self.games.restore(games)
        self.decisions.restore(decisions)
        self.network.load_state_dict(content["network"])
        self.optimizer.load_state_dict(optimizer)
        self.pool = pool
        self.sides[:], self.rivals[:] = seating["sides"], seating["rivals"]
        for name in PROGRESS:
            setattr(self, name, progress[name])


def _check_tensors(found: dict[str, Tensor], like: dict[str, Tensor], what: str) -> None:
    """Raise `ValueError` unless the same tensors are there, with the same shapes and types and only finite numbers."""
    if found.keys() != like.keys():
        raise ValueError(f"the {what} has other parts: {', '.join(sorted(found.keys() ^ like.keys()))}")
    for name, values in found.items():
        wanted = like[name]
        if values.shape != wanted.shape or values.dtype != wanted.dtype:
            shapes = f"{values.dtype} {tuple(values.shape)}, not {wanted.dtype} {tuple(wanted.shape)}"
            raise ValueError(f"{name} of the {what} is {shapes}")
        if not torch.isfinite(values).all():
            raise ValueError(f"{name} of the {what} has numbers that are not finite")


def _check_numbers(name: str, found: np.ndarray, like: np.ndarray, low: int, stop: int) -> None:
    """Raise `ValueError` unless an array is like another one and has numbers from low to stop - 1 only."""
    if found.shape != like.shape or found.dtype != like.dtype:
        raise ValueError(f"{name} is {found.dtype} {found.shape}, not {like.dtype} {like.shape}")
    if ((found < low) | (found >= stop)).any():
        raise ValueError(f"{name} has numbers beyond {low} to {stop - 1}")


def stagger(games: VectorGame, random: np.random.Generator, longest: int = 2000) -> None:
    """Bring each game to a random moment of a random game, so that a rollout sees all phases of the game at once.

    Games that begin together and are about equally long would otherwise stay in step for a long time.
    """
    finished, length = np.zeros(games.num_envs, np.bool_), 0
    start = games.save()
    while not finished.all() and length < longest:
        games.step(games.sample_actions())
        finished |= games.terminated | games.truncated
        length += 1
    games.restore(start)
    moments, kept = random.integers(length, size=games.num_envs), games.save()
    for moment in range(length):
        now = np.flatnonzero(moments == moment)
        if len(now):
            for name, values in games.save().items():
                axis = 1 if name in ("totals", "lengths") else 0
                kept[name].swapaxes(0, axis)[now] = values.swapaxes(0, axis)[now]
        games.step(games.sample_actions())
    games.restore(kept)


def train(config: Config, resume: bool = False, game: Game | None = None) -> dict[str, Any]:
    """Train until the budget is used up; returns the run's summary, which is also in its folder.

    SIGINT and SIGTERM end it after the update under way: a checkpoint is saved, then `Interrupted` is raised.

    Raises `ValueError` if the folder already holds a run and `resume` is false, or holds none and it is true.
    """
    folder = Path(config.out)
    if (folder / CHECKPOINT).exists() and not resume:
        raise ValueError(f"{folder} already holds a run; go on with --resume, or choose another --out")
    if resume and not (folder / CHECKPOINT).exists():
        raise ValueError(f"there is no checkpoint in {folder} to go on from; start the run again without --resume")
    trainer, commands = Trainer(config, game), [config.command()]
    config = trainer.config
    for note in trainer.notes:
        print(note)
    if resume:
        trainer.restore(folder)
        commands = _commands(folder, config, trainer.updates)
        if trainer.progress >= 1:
            flag = "--updates" if config.updates else "--minutes"
            print(f"the budget of {_budget(config)} is used up; raise {flag} to go on learning")
    folder.mkdir(parents=True, exist_ok=True)
    versions = {"monsterzoo": __version__, "torch": torch.__version__, "numpy": np.__version__}
    about = {
        "config": config.to_dict(),
        "commands": commands,
        "versions": {**versions, "python": platform.python_version()},
    }
    write_json(folder / RUN, about)
    with Patient() as signals, Journal(folder, trainer.updates, config) as journal:
        try:
            _learn_on(trainer, folder, journal, signals)
        except Interrupted as interruption:
            raise Interrupted(interruption.number, _how_to_go_on(folder)) from None
    summary = {**about, "result": journal.last}
    write_json(folder / RUN, summary)
    return summary


def _learn_on(trainer: Trainer, folder: Path, journal: Journal, signals: Patient) -> None:
    """Update, watch and save until the budget is used up; raises `Interrupted` once a signal has come."""
    config = trainer.config
    evaluated = saved = -float("inf")
    saving = 0.0  # counts for the next update, so that the last one is always evaluated
    while trainer.progress < 1:
        trainer.seconds += saving
        report = trainer.update()
        if not signals.number and (trainer.progress >= 1 or trainer.seconds - evaluated >= config.evaluate_every):
            began = time.perf_counter()
            report |= trainer.evaluate()
            evaluated = trainer.seconds
            trainer.seconds += time.perf_counter() - began
        # The line comes first: a checkpoint is never ahead of the journal, and lines beyond it are dropped on resuming.
        journal.write({**{name: getattr(trainer, name) for name in PROGRESS}, **report}, trainer.progress)
        saving = 0.0
        if signals.number or trainer.progress >= 1 or trainer.seconds - saved >= config.checkpoint_every:
            began = time.perf_counter()
            trainer.save(folder)
            saved, saving = trainer.seconds, time.perf_counter() - began
        signals.check()


def _how_to_go_on(folder: Path) -> str:
    """What there is of an interrupted run, in words."""
    path = folder / CHECKPOINT
    if not path.exists():
        return f"interrupted before anything was saved in {folder}"
    return f"interrupted; saved in {path}, go on with: monsterzoo train --resume --out {shlex.quote(str(folder))}"


def _budget(config: Config) -> str:
    return f"{config.updates} updates" if config.updates else f"{config.minutes:g} minutes"


def _commands(folder: Path, config: Config, updates: int) -> list[str]:
    """Everything a run was told so far, and that it now goes on."""
    path = folder / RUN
    before = read_json(path, "the description of a run").get("commands") if path.exists() else [config.command()]
    if not isinstance(before, list):
        raise damaged(path, "the description of a run", "'commands' is missing")
    budget = f"--updates {config.updates}" if config.updates else f"--minutes {config.minutes}"
    return [*before, f"monsterzoo train --resume {budget} --out {config.out}  # from update {updates}"]


def _tensors(arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(values) for name, values in arrays.items()}
