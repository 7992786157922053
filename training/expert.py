"""Learning from search (expert iteration): `monsterzoo train --method search --game pikit_v0 --out runs/pikit2`.

Search guided by the network makes better decisions than the network alone. So the network learns from what search made
of some decisions, and to expect what came of the games (see `lessons`); search guided by the better network then
decides better, and so on. The first part of a run imitates the game's heuristic, which costs no search.

What is learned is not how often search tried an action: with some hundred simulations that is mostly luck, and the
luck does not average out. It is the network's own probability times e to the power of what search found the action
worth beyond the average, which errs to both sides alike (mirror descent).

Lessons are kept for a number of updates. They are files of the run's folder, written once each, so that a run goes on
from exactly what it had.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from monsterzoo.envs.core import kernels
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.rng import env_seed, generator, streams
from monsterzoo.envs.core.seat_kernels import Uniform
from monsterzoo.envs.core.threads import Team
from monsterzoo.policies import heuristics, horizons
from monsterzoo.policies.networks import make_net
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from .config import SearchConfig
from .files import damaged, read_arrays, replacing
from .lessons import Plan, new_lessons, new_space, play_lessons
from .runs import EVALUATION, Learner

FOLDER = "lessons"
"""Where a run keeps its lessons: one file an update."""
Chunk = dict[str, np.ndarray]
"""Lessons of an update: `observations` (n, columns), `action_masks` (n, A), `targets` (n, A), `outcomes` (n, sides)."""
DOUBT = 8.0
"""An action that was tried so often counts with half of what it was found worth beyond the average."""


class Trainer(Learner):
    """A run in memory: beside what every learner has, games under way and the lessons of the last updates."""

    config: SearchConfig

    def __init__(self, config: SearchConfig, game: Game | None = None) -> None:
        variant = (game or find_game(config.game)).variant(**config.game_options())
        super().__init__(config, variant, variant.sides)
        torch.set_num_threads(1)  # learning is the smaller part, and threads that wait for each other slow down playing
        horizons.load(variant)
        self.has_heuristic = heuristics.has_heuristic(variant)
        self.states = variant.new_states(config.num_envs)
        seed = env_seed(config.seed, EVALUATION)
        self.states["rng"] = [generator(env_seed(seed, i)) for i in range(config.num_envs)]
        for i in range(config.num_envs):
            kernels.begin(self.states, i)
        self.lessons = new_lessons(variant, config.num_envs, config.lessons)
        self.chunks: dict[int, Chunk] = {}
        """The lessons by update."""
        self._written: set[Path] = set()
        """Files that hold lessons of this run; another one that was given up may have left some of the same names."""

    @property
    def imitating(self) -> bool:
        """Whether the heuristic still teaches."""
        return self.has_heuristic and self.config.start is None and self.progress < self.config.imitate_share

    def update(self) -> dict[str, float]:
        """Play all games to their next horizon, learn, and return what there is to report."""
        config, began = self.config, time.perf_counter()
        played = self._play()
        middle = time.perf_counter()
        chunk = self._read_lessons()
        self.chunks[self.updates] = chunk
        self.chunks.pop(self.updates - config.buffer, None)
        report = self._learn(len(chunk["targets"]))
        self.updates += 1
        self.steps += played
        self.decided += len(chunk["targets"])
        wall = time.perf_counter() - began
        self.seconds += wall
        lessons = self.lessons
        return report | {
            "decisions": len(chunk["targets"]),
            "games": int(lessons.finished.sum()),
            "length": float(lessons.lengths.mean()),
            "share_learning": (began + wall - middle) / wall,
            "steps_per_second": played / wall,
        }

    def _play(self) -> int:
        """Play on, on all threads; returns the number of steps."""
        config, variant = self.config, self.variant
        simulations = 0 if self.imitating else config.simulations
        plan = Plan(
            simulations,
            config.searched,
            float(config.exploration),
            float(config.mix),
            not self.has_heuristic,  # as search does by default
            float(config.noise),
            float(config.temperature),
        )
        guide = make_net(self.network.arrays(), temperature=1.0)
        playout: Any = heuristics.Heuristic() if self.has_heuristic else Uniform()
        luck = streams(env_seed(config.seed, self.updates), config.num_envs, "lessons")

        def arguments(start: int, stop: int) -> tuple[Any, ...]:
            space = new_space(variant, simulations)
            return (start, stop, self.states, luck, guide.fresh(), playout, plan, self.lessons, *space)

        Team(min(config.threads, config.num_envs)).run(play_lessons, config.num_envs, arguments)
        return int(self.lessons.lengths.sum())

    def _read_lessons(self) -> Chunk:
        """What the games of an update wrote down, and what is to be learned from it."""
        lessons = self.lessons
        used = np.arange(lessons.seats.shape[1]) < lessons.counts[:, None]
        bits = lessons.sets[used].astype("<u8").view(np.uint8)
        masks = np.unpackbits(bits, axis=1, count=self.variant.num_actions, bitorder="little").view(np.int8)
        rows, visits = lessons.rows[used].view(np.int8), lessons.visits[used]
        targets = visits.astype(np.float32)
        if not self.imitating:
            with torch.no_grad():
                log_probs, _ = self.network.evaluate(torch.from_numpy(rows), torch.from_numpy(masks))
            gains = advantages(visits, lessons.totals[used])
            targets = (log_probs + self.config.eagerness * torch.from_numpy(gains)).softmax(1).numpy()
        return {"observations": rows, "action_masks": masks, "targets": targets, "outcomes": lessons.outcomes[used]}

    def _learn(self, fresh: int) -> dict[str, float]:
        """Learn from lessons old and new, as often as so many `fresh` ones are worth."""
        config = self.config
        random = np.random.default_rng([config.seed, self.updates])
        rate = self.set_learning_rate()
        kept = {name: np.concatenate([chunk[name] for chunk in self.chunks.values()]) for name in NAMES}
        if not len(kept["targets"]):
            raise ValueError(f"no decision was searched; more games (--num-envs {config.num_envs}) are needed to learn")
        steps, sums = max(1, round(config.passes * fresh / config.minibatch)), np.zeros(4)
        for _ in range(steps):
            rows = random.integers(len(kept["targets"]), size=config.minibatch)
            loss, numbers = self._loss({name: torch.from_numpy(values[rows]) for name, values in kept.items()})
            self.optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(self.network.parameters(), config.max_grad_norm)
            self.optimizer.step()
            sums += torch.stack(numbers).numpy()
        names = ("policy_loss", "value_loss", "entropy", "explained")
        return {**dict(zip(names, (sums / steps).tolist())), "learning_rate": rate, "kept": len(kept["targets"])}

    def _loss(self, lessons: dict[str, Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Cross-entropies of policy and values; beside it policy loss, value loss, entropy, and explained variance."""
        log_probs, values = self.network.evaluate(lessons["observations"], lessons["action_masks"])
        possible = log_probs.masked_fill(lessons["action_masks"] == 0, 0)
        policy = -(lessons["targets"] * possible).sum(1).mean()
        outcomes, chances = lessons["outcomes"], values.log_softmax(1)
        value = -(outcomes * chances).sum(1).mean()
        entropy = -(possible.exp() * possible).sum(1).mean()
        own = outcomes[:, 0]
        explained = 1 - (own - chances[:, 0].exp()).var() / own.var().clamp_min(1e-8)
        loss = policy + self.config.value_coef * value
        return loss, [number.detach() for number in (policy, value, entropy, explained)]

    # --- Files ---

    def content(self) -> dict[str, Any]:
        """What a checkpoint holds beside network, optimiser and progress."""
        states = torch.from_numpy(self.states.view(np.uint8).reshape(len(self.states), -1).copy())
        return {"games": {"states": states}, "lessons": list(self.chunks)}

    def save(self, folder: Path) -> None:
        """Write new lessons, policy and checkpoint, in this order; then forget lessons that are no longer needed."""
        for update, chunk in self.chunks.items():
            path = lessons_file(folder, update)
            if path not in self._written:
                with replacing(path) as part, part.open("wb") as file:
                    np.savez_compressed(file, **chunk)  # type: ignore[arg-type]
                self._written.add(path)
        super().save(folder)
        for path in (folder / FOLDER).glob("*.npz"):
            if path not in {lessons_file(folder, update) for update in self.chunks}:
                path.unlink()

    def take(self, content: dict[str, Any], folder: Path) -> None:
        """Take over the content of a checkpoint, once all of it is known to fit."""
        states = content["games"]["states"].numpy()
        if states.dtype != np.uint8 or states.shape != (len(self.states), self.variant.game.record.itemsize):
            raise ValueError(f"games are {states.dtype} {states.shape}")
        states = np.ascontiguousarray(states).view(self.variant.game.record)[:, 0]
        self.variant.check_positions(states)
        chunks = {}
        for update in content["lessons"]:
            if not isinstance(update, int) or update < 0:
                raise ValueError(f"there are no lessons of update {update!r}")
            chunks[update] = self._read_chunk(lessons_file(folder, update))
        # Lessons of updates after the checkpoint, if there are any, are made again.
        self.states[:], self.chunks = states, chunks
        self._written = {lessons_file(folder, update) for update in chunks}
        for path in (folder / FOLDER).glob("*.npz"):
            if path not in self._written:
                path.unlink()

    def _read_chunk(self, path: Path) -> Chunk:
        """The lessons in a file; raises `ValueError` if they do not fit."""
        chunk, count = read_arrays(path, "a file of lessons"), -1
        columns = {
            "observations": (self.variant.layout.size, np.int8),
            "action_masks": (self.variant.num_actions, np.int8),
            "targets": (self.variant.num_actions, np.float32),
            "outcomes": (self.variant.sides, np.float32),
        }
        if chunk.keys() != columns.keys():
            raise damaged(path, "a file of lessons", f"it has {', '.join(chunk)}")
        for name, (width, kind) in columns.items():
            values = chunk[name]
            count = len(values) if count < 0 else count
            if values.shape != (count, width) or values.dtype != kind or not np.isfinite(values).all():
                raise damaged(path, "a file of lessons", f"{name} is {values.dtype} {values.shape}, or not finite")
        if ((chunk["action_masks"] & ~1) != 0).any() or not (
            (chunk["targets"] * chunk["action_masks"]).sum(1) > 0
        ).all():
            raise damaged(path, "a file of lessons", "masks or targets are impossible")
        return chunk


NAMES = ("observations", "action_masks", "targets", "outcomes")


def lessons_file(folder: Path, update: int) -> Path:
    """The file with the lessons of an update."""
    return folder / FOLDER / f"{update:08d}.npz"


def advantages(visits: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """What each action is worth beyond the average of a search, (n, A) float32; little where it was hardly tried."""
    means = totals.sum(axis=1, keepdims=True) / np.maximum(visits.sum(axis=1, keepdims=True), 1)
    return ((totals - visits * means) / (visits + DOUBT)).astype(np.float32)
