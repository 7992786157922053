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

from pathlib import Path
from typing import Any

import numpy as np
import torch
from monsterzoo.envs.core.game import Game
from monsterzoo.policies.networks import check_size
from torch import Tensor

from .config import SearchConfig
from .files import damaged, read_arrays, replacing
from .lessons import SEARCHED, Plan
from .studying import LessonLearner, Lessons, entropy_of, value_loss

FOLDER = "lessons"
"""Where a run keeps its lessons: one file an update."""
Chunk = dict[str, np.ndarray]
"""Lessons of an update: `observations` (n, columns), `action_masks` (n, A), `targets` (n, A), `outcomes` (n, sides)."""
NAMES = ("observations", "action_masks", "targets", "outcomes")
DOUBT = 8.0
"""An action that was tried so often counts with half of what it was found worth beyond the average."""


class Trainer(LessonLearner):
    """A run in memory: beside games under way, the lessons of the last updates."""

    config: SearchConfig

    def __init__(self, config: SearchConfig, game: Game | None = None) -> None:
        super().__init__(config, game)
        self.chunks: dict[int, Chunk] = {}
        """The lessons by update."""
        self._written: set[Path] = set()
        """Files that hold lessons of this run; another one that was given up may have left some of the same names."""

    def plan(self) -> Plan:
        """Some decisions are searched."""
        config = self.config
        return Plan(
            SEARCHED,
            config.searched,
            config.self_play,
            config.simulations,
            float(config.exploration),
            float(config.mix),
            not self.has_heuristic,  # as search does by default
            float(config.noise),
            float(config.temperature),
        )

    def learn(self, fresh: Lessons) -> dict[str, float]:
        """Learn from lessons old and new, as often as the fresh ones are worth."""
        config = self.config
        self.chunks[self.updates] = self._to_chunk(fresh)
        self.chunks.pop(self.updates - config.buffer, None)
        random = np.random.default_rng([config.seed, self.updates])
        rate = self.set_learning_rate()
        kept = {name: np.concatenate([chunk[name] for chunk in self.chunks.values()]) for name in NAMES}
        if not len(kept["targets"]):
            raise ValueError(f"no decision was searched; more games (--num-envs {config.num_envs}) are needed to learn")
        steps, sums = max(1, round(config.passes * len(fresh["visits"]) / config.minibatch)), np.zeros(4)
        for _ in range(steps):
            rows = random.integers(len(kept["targets"]), size=config.minibatch)
            loss, numbers = self._loss({name: torch.from_numpy(values[rows]) for name, values in kept.items()})
            self.descend(loss)
            sums += torch.stack(numbers).numpy()
        names = ("policy_loss", "value_loss", "entropy", "explained")
        return {**dict(zip(names, (sums / steps).tolist())), "learning_rate": rate, "kept": len(kept["targets"])}

    def _to_chunk(self, fresh: Lessons) -> Chunk:
        """What is to be learned from lessons."""
        rows, masks = fresh["observations"], fresh["action_masks"]
        targets = fresh["visits"].astype(np.float32)
        if not self.imitating:
            with torch.no_grad():
                log_probs, _ = self.network.evaluate(torch.from_numpy(rows), torch.from_numpy(masks))
            gains = advantages(fresh["visits"], fresh["totals"])
            targets = (log_probs + self.config.eagerness * torch.from_numpy(gains)).softmax(1).numpy()
        return {"observations": rows, "action_masks": masks, "targets": targets, "outcomes": fresh["outcomes"]}

    def _loss(self, lessons: dict[str, Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Cross-entropies of policy and values; beside it policy loss, value loss, entropy, and explained variance."""
        log_probs, values = self.network.evaluate(lessons["observations"], lessons["action_masks"])
        policy = -(lessons["targets"] * log_probs.masked_fill(lessons["action_masks"] == 0, 0)).sum(1).mean()
        value, explained = value_loss(values, lessons["outcomes"])
        numbers = [policy, value, entropy_of(log_probs, lessons["action_masks"]), explained]
        return policy + self.config.value_coef * value, [number.detach() for number in numbers]

    # --- Files ---

    def content(self) -> dict[str, Any]:
        """What a checkpoint holds beside network, optimiser and progress."""
        return {**super().content(), "lessons": list(self.chunks)}

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
        chunks = {}
        for update in content["lessons"]:
            if type(update) is not int or update < 0:
                raise ValueError(f"there are no lessons of update {update!r}")
            chunks[update] = self._read_chunk(lessons_file(folder, update))
        super().take(content, folder)
        # Lessons of updates after the checkpoint, if there are any, are made again.
        self.chunks = chunks
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
            if values.shape != (count, width) or values.dtype != kind:
                raise damaged(path, "a file of lessons", f"{name} is {values.dtype} {values.shape}")
            try:
                check_size(values, name)
            except ValueError as error:
                raise damaged(path, "a file of lessons", error) from error
        if ((chunk["action_masks"] & ~1) != 0).any() or not (
            (chunk["targets"] * chunk["action_masks"]).sum(1) > 0
        ).all():
            raise damaged(path, "a file of lessons", "masks or targets are impossible")
        return chunk


def lessons_file(folder: Path, update: int) -> Path:
    """The file with the lessons of an update."""
    return folder / FOLDER / f"{update:08d}.npz"


def advantages(visits: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """What each action is worth beyond the average of a search, (n, A) float32; little where it was hardly tried."""
    means = totals.sum(axis=1, keepdims=True) / np.maximum(visits.sum(axis=1, keepdims=True), 1)
    return ((totals - visits * means) / (visits + DOUBT)).astype(np.float32)
