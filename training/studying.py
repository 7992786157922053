"""Learning from lessons: what runs have in common whose games are played by compiled code (see `lessons`).

In every update all games are played to their next horizon, on all threads, and leave lessons to learn from. The network
has a value for each side: its chance to win where search stops looking ahead. The first part of a run imitates the
game's heuristic, which costs neither search nor playouts, unless it starts from another network.
"""

import time
from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from monsterzoo.envs.core import kernels
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Game, Variant
from monsterzoo.envs.core.rng import env_seed, generator, streams
from monsterzoo.envs.core.seat_kernels import Uniform, fresh_token
from monsterzoo.envs.core.threads import Team
from monsterzoo.envs.players import make_player
from monsterzoo.policies import heuristics, horizons
from monsterzoo.policies.base import compiled_form
from monsterzoo.policies.networks import make_net
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from .config import LessonConfig
from .lessons import IMITATED, Plan, new_lessons, new_space, play_lessons
from .lessons import Lessons as Written
from .runs import EVALUATION, Learner

NET = "net"
"""As the policy of playouts: the network itself plays on for its sides."""
Lessons = dict[str, np.ndarray]
"""Lessons of an update: `observations` (n, columns) and `action_masks` (n, A) int8, `visits` (n, A), `totals` (n, A),
`outcomes` (n, sides)."""


class LessonLearner(Learner):
    """A run in memory: beside what every learner has, games under way."""

    config: LessonConfig

    def __init__(self, config: LessonConfig, game: Game | None = None) -> None:
        variant = (game or find_game(config.game)).variant(**config.game_options())
        super().__init__(config, variant, variant.sides)
        torch.set_num_threads(1)  # learning is the smaller part, and threads that wait for each other slow down playing
        horizons.load(variant)
        self.has_heuristic = heuristics.has_heuristic(variant)
        self.playout = playout_of(variant, self.config)
        self.states = variant.new_states(config.num_envs)
        seed = env_seed(config.seed, EVALUATION)
        self.states["rng"] = [generator(env_seed(seed, i)) for i in range(config.num_envs)]
        for i in range(config.num_envs):
            kernels.begin(self.states, i)
        self.lessons = new_lessons(variant, config.num_envs, config.lessons)

    @property
    def imitating(self) -> bool:
        """Whether the heuristic still teaches."""
        return self.has_heuristic and self.config.start is None and self.progress < self.config.imitate_share

    @abstractmethod
    def plan(self) -> Plan:
        """How lessons are made once nothing is imitated any more."""

    @abstractmethod
    def learn(self, fresh: Lessons) -> dict[str, float]:
        """Learn from the lessons of an update, and return what there is to report."""

    def update(self) -> dict[str, float]:
        """Play all games to their next horizon, learn, and return what there is to report."""
        began = time.perf_counter()
        self._play()
        middle = time.perf_counter()
        fresh = self._read_lessons()
        report = self.learn(fresh)
        played = int(self.lessons.lengths.sum())
        self.updates += 1
        self.steps += played
        self.decided += len(fresh["visits"])
        wall = time.perf_counter() - began
        self.seconds += wall
        return report | {
            "decisions": len(fresh["visits"]),
            "games": int(self.lessons.finished.sum()),
            "length": float(self.lessons.lengths.mean()),
            "share_learning": (began + wall - middle) / wall,
            "steps_per_second": played / wall,
        }

    def _play(self) -> None:
        """Play all games on; afterwards their lessons are in `self.lessons`."""
        config = self.config
        plan = Plan(IMITATED, config.searched, 1.0) if self.imitating else self.plan()
        luck = streams(env_seed(config.seed, self.updates), config.num_envs, "lessons")
        self.play(plan, luck)

    def play(self, plan: Plan, luck: np.ndarray) -> None:
        """Play all games on by a plan, on this machine's threads; each has a generator in `luck`."""
        threads = min(self.config.threads, len(self.states))
        network = self.network.arrays()
        play_games(self.variant, plan, self.playout, network, self.states, luck, self.lessons, threads)

    def _read_lessons(self) -> Lessons:
        """What the games of an update wrote down."""
        lessons = self.lessons
        used = np.arange(lessons.seats.shape[1]) < lessons.counts[:, None]
        bits = lessons.sets[used].astype("<u8").view(np.uint8)
        return {
            "observations": lessons.rows[used].view(np.int8),
            "action_masks": np.unpackbits(bits, axis=1, count=self.variant.num_actions, bitorder="little").view(
                np.int8
            ),
            "visits": lessons.visits[used],
            "totals": lessons.totals[used],
            "outcomes": lessons.outcomes[used],
        }

    def descend(self, loss: Tensor) -> None:
        """One step of the optimiser."""
        self.optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(self.network.parameters(), self.config.max_grad_norm)
        self.optimizer.step()

    # --- Files ---

    def content(self) -> dict[str, Any]:
        """What a checkpoint holds beside network, optimiser and progress."""
        states = torch.from_numpy(self.states.view(np.uint8).reshape(len(self.states), -1).copy())
        return {"games": {"states": states}}

    def take(self, content: dict[str, Any], folder: Path) -> None:
        """Take over the content of a checkpoint, once all of it is known to fit."""
        states = content["games"]["states"].numpy()
        if states.dtype != np.uint8 or states.shape != (len(self.states), self.variant.game.rules.record.itemsize):
            raise ValueError(f"games are {states.dtype} {states.shape}")
        states = np.ascontiguousarray(states).view(self.variant.game.rules.record)[:, 0]
        self.variant.check_positions(states)
        self.states[:] = states


def playout_of(variant: Variant, config: LessonConfig) -> Any:
    """Who plays on in playouts and has the sides that the network has not, as it plays inside compiled loops.

    Raises `ValueError` for a policy that cannot play the game, or not there.
    """
    spec = getattr(config, "playout", None)
    if spec in (None, NET):
        return heuristics.Heuristic() if heuristics.has_heuristic(variant) else Uniform()
    policy = compiled_form(make_player(variant, spec, config.seed))
    if policy is None:
        raise ValueError(f"--playout {spec} does not play inside compiled loops; heuristics and networks do")
    return policy


def play_games(
    variant: Variant,
    plan: Plan,
    playout: Any,
    network: dict[str, np.ndarray],
    states: np.ndarray,
    luck: np.ndarray,
    lessons: Written,
    threads: int,
) -> None:
    """Play games, `states` (N,), to their next horizons with generators `luck` (N,), and write their lessons down.

    `playout` is the policy of playouts, see `playout_of`, and `network` what `NeuralPolicy` has as `arrays`.
    What becomes of a game depends on nothing but its own state and generator, the plan and the network's weights.
    """
    horizons.load(variant)
    guide = make_net(network, temperature=1.0)

    def arguments(start: int, stop: int) -> tuple[Any, ...]:
        space = new_space(variant, plan.simulations)
        players = (fresh_token(playout), guide.fresh())
        return (start, stop, states, luck, players, plan, lessons, *space)

    Team(threads).run(play_lessons, len(states), arguments)


def entropy_of(log_probs: Tensor, masks: Tensor) -> Tensor:
    """The mean entropy of the network's probabilities, (B, A) each."""
    possible = log_probs.masked_fill(masks == 0, 0)  # e^0 * 0: nothing
    return -(possible.exp() * possible).sum(1).mean()


def value_loss(values: Tensor, outcomes: Tensor) -> tuple[Tensor, Tensor]:
    """Cross-entropy of the sides' chances, logits (B, sides), and the share of the own outcomes' variance explained."""
    chances, own = values.log_softmax(1), outcomes[:, 0]
    explained = 1 - (own - chances[:, 0].exp()).var() / own.var().clamp_min(1e-8)
    return -(outcomes * chances).sum(1).mean(), explained
