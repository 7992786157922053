"""PPO whose games are played by actors on Ray: `monsterzoo train --ray ADDRESS --workers N`.

All games stay with the learner, as without Ray; for every update each actor gets a part of them, with the network as it
is, plays it on and sends back games and decisions. So nothing is lost with an actor: its part is played again, exactly
alike. A run can be resumed with another number of actors, or without Ray. What is learned follows from the seed and the
number of actors.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.rng import env_seed

from .config import Config
from .credit import NONE
from .ppo import Trainer, axis_of_games
from .ray_pool import Pool
from .runs import to_arrays, to_tensors

Part = dict[str, dict[str, np.ndarray]]
"""Some of a trainer's games, with their open decisions and seating, as in its checkpoint."""


class PlayWorker:
    """Plays parts of the games; made anew in every actor."""

    def __init__(self, config: Config, game: Game | None) -> None:
        self._config, self._game = config, game
        self._trainers: dict[int, Trainer] = {}  # by number of games

    def __call__(self, task: dict[str, Any], shared: dict[str, Any]) -> tuple[Part, dict[str, float]]:
        """Play a part on; returns it with all its decisions, and what there is to report."""
        part, seeds = task["part"], task["seeds"]
        count = len(part["seating"]["sides"])
        if count not in self._trainers:
            self._trainers[count] = Trainer(replace(self._config, num_envs=count), self._game)
        trainer = self._trainers[count]
        trainer.take({"pool": shared["pool"], **{name: to_tensors(one) for name, one in part.items()}}, Path())
        trainer.network.load_state_dict(shared["network"])
        generator = torch.Generator().manual_seed(env_seed(env_seed(*seeds[:2]), seeds[2]))
        report = trainer.play(np.random.default_rng(seeds), generator, shared["imitating"])
        after = trainer.content()
        return {name: to_arrays(after[name]) for name in part}, report


class RayTrainer(Trainer):
    """A run of PPO whose games are played on Ray; within `ray_pool.joined`."""

    def __init__(self, config: Config, game: Game | None = None, workers: int | None = None) -> None:
        super().__init__(config, game)
        self.workers = Pool(partial(PlayWorker, self.config, game), workers)

    def play(self, random: np.random.Generator, generator: torch.Generator, imitating: bool) -> dict[str, float]:
        """Play every game on, in parts."""
        began, config = time.perf_counter(), self.config
        edges = np.linspace(0, config.num_envs, min(self.workers.workers, config.num_envs) + 1).astype(int)
        tasks = [
            {"part": take_part(self, begin, stop), "seeds": [config.seed, self.updates, number]}
            for number, (begin, stop) in enumerate(pairwise(edges))
        ]
        shared = {"network": self.network.state_dict(), "pool": self.pool, "imitating": imitating}
        parts, reports = zip(*self.workers.map(tasks, shared))
        put_together(self, parts)
        games = sum(report["games"] for report in reports)
        lengths = sum(report["length"] * report["games"] for report in reports)
        return {"environment_seconds": time.perf_counter() - began, "games": games, "length": lengths / max(games, 1)}


def take_part(trainer: Trainer, begin: int, stop: int) -> Part:
    """Games begin … stop - 1 of a trainer between two updates."""
    decisions, own = trainer.decisions, slice(begin, stop)
    open_rows = decisions.open[own]
    rows = np.sort(open_rows[open_rows != NONE])
    columns = {name: getattr(decisions, name)[rows] for name in decisions.NAMES}
    columns["open"] = np.where(open_rows == NONE, NONE, np.searchsorted(rows, open_rows))
    saved = trainer.games.save()
    return {
        "games": {name: values[:, own] if axis_of_games(name) else values[own] for name, values in saved.items()},
        "decisions": columns,
        "seating": {"sides": trainer.sides[own].copy(), "rivals": trainer.rivals[own].copy()},
    }


def put_together(trainer: Trainer, parts: Sequence[Part]) -> None:
    """Make the parts, in their order, all of a trainer's games again, with their decisions."""
    games = [part["games"] for part in parts]
    trainer.games.restore(
        {name: np.concatenate([one[name] for one in games], axis_of_games(name)) for name in games[0]}
    )
    for name, values in (("sides", trainer.sides), ("rivals", trainer.rivals)):
        values[:] = np.concatenate([part["seating"][name] for part in parts])
    decisions = [part["decisions"] for part in parts]
    first = 0
    for one in decisions:
        for name in ("following", "open"):  # numbers of rows, which now come after those of the parts before
            one[name] = np.where(one[name] == NONE, NONE, one[name] + first)
        first += len(one["actions"])
    trainer.decisions.restore({name: np.concatenate([one[name] for one in decisions]) for name in decisions[0]})
