"""Learning from lessons whose games are played by actors on Ray: `monsterzoo train --method search --ray ADDRESS`.

All games stay with the learner. For every update each actor gets a part of them, with the network as it is, plays it on
and sends back games and lessons. A game depends on nothing but its own state and luck, so a run learns the same with
any number of actors, without Ray, and after an actor was lost: its part is played again.
"""

from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Game

from .config import LessonConfig
from .lessons import Lessons, Plan, new_lessons
from .ray_pool import Pool
from .runs import LEARNERS
from .studying import LessonLearner, play_games, playout_of


class LessonWorker:
    """Plays parts of the games; made anew in every actor."""

    def __init__(self, config: LessonConfig, game: Game | None) -> None:
        self._variant = (game or find_game(config.game)).variant(**config.game_options())
        self._playout = playout_of(self._variant, config)
        self._room = config.lessons

    def __call__(self, task: tuple[np.ndarray, np.ndarray], shared: dict[str, Any]) -> tuple[np.ndarray, Lessons]:
        """Play a part on; returns it, and its lessons without empty rows that no game has filled."""
        states, luck = (given.copy() for given in task)  # Ray's arrays cannot be written to
        lessons = new_lessons(self._variant, len(states), self._room)
        play_games(self._variant, shared["plan"], self._playout, shared["network"], states, luck, lessons, threads=1)
        most = int(lessons.counts.max(initial=0))
        return states, Lessons(*(one[:, :most] if by_lesson(one) else one for one in lessons))


def by_lesson(array: np.ndarray) -> bool:
    """Whether an array of `Lessons` has a row for every lesson of a game, and not just one for the game."""
    return array.ndim > 1


class OnRay(LessonLearner):
    """A learner whose games are played on Ray; within `ray_pool.joined`. Mixed with the learner of a method."""

    def __init__(self, config: LessonConfig, game: Game | None = None, workers: int | None = None) -> None:
        super().__init__(config, game)
        self.workers = Pool(partial(LessonWorker, self.config, game), workers)

    def play(self, plan: Plan, luck: np.ndarray) -> None:
        """Play all games on, in parts."""
        states, lessons = self.states, self.lessons
        parts = list(pairwise(np.linspace(0, len(states), min(self.workers.workers, len(states)) + 1).astype(int)))
        tasks = [(states[begin:stop], luck[begin:stop]) for begin, stop in parts]
        shared = {"plan": plan, "network": self.network.arrays()}
        for (begin, stop), (after, written) in zip(parts, self.workers.map(tasks, shared), strict=True):
            states[begin:stop] = after
            for own, found in zip(lessons, written):
                if by_lesson(own):
                    own[begin:stop, : found.shape[1]] = found
                else:
                    own[begin:stop] = found


def kind_on_ray(method: str) -> type[OnRay]:
    """The learner of a method that learns from lessons, with its games on Ray."""
    usual = import_module(f"monsterzoo.training.{LEARNERS[method]}").Trainer
    return type("Trainer", (OnRay, usual), {"__doc__": usual.__doc__})
