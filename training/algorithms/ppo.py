"""Self-play PPO with masked actions: `monsterzoo train --game pikit_v0 --players 2 --minutes 10 --out runs/pikit2`.

One network plays every seat. An update plays all games on for a number of steps (`collect`), estimates advantages over
each seat's own decisions (`ppo_buffer`), and improves the network on minibatches (`learn`, `loss`). In most games the
network plays all sides; in the rest one side, against earlier networks or built-in policies, and only its own decisions
are learned from. A forced move (one legal action) is no decision: nobody is asked, and nothing is learned from it.

A run may begin by imitating a teacher, who then decides in the network's place.

Naive self-play cycles and ends in exploitable, near-deterministic policies. Remedies are much entropy (Rudolph et al.,
2026) and a magnet: a KL penalty towards an earlier network, replaced now and then (Sokota et al., 2023).
"""

import time
from collections import defaultdict
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from monsterzoo.envs import VectorGame
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import env_seed
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies import Policy
from torch import Tensor

from ..runs.config import PAST, PPOConfig
from ..runs.run import EVALUATION, Learner, check_numbers, check_weights, to_arrays, to_tensors
from .network import NetworkPolicy
from .rollout_buffer import RolloutBuffer

ALL_SIDES = -1
MAX_LOG_RATIO = 20.0
"""Larger ratios of probabilities are cut off: a teacher's choice may have been nearly impossible; e^100 is infinite."""


class PPOTrainer(Learner):
    """A run of PPO in memory: beside what every learner has, games under way, their buffer, and opponents."""

    config: PPOConfig

    def __init__(self, config: PPOConfig, game: Game | None = None) -> None:
        game = game or find_game(config.game)
        self.games = VectorGame(game, config.num_envs, seed=config.seed, **config.game_options())
        super().__init__(config, self.games.variant)
        config = self.config
        self.buffer = RolloutBuffer(self.variant, config.num_envs, config.steps)
        self.pool: list[dict[str, Tensor]] = []
        """Weights of earlier networks."""
        stagger(self.games, np.random.default_rng([config.seed, EVALUATION, 1]))
        if config.start is not None and config.start_entropy:
            choices = self.games.action_masks.sum(1) > 1
            self.network.sharpen(
                self.games.observations[choices], self.games.action_masks[choices], config.start_entropy
            )
        self.magnet = deepcopy(self.network).requires_grad_(False) if config.magnet_coef else None
        self.opponents = config.opponents or ()
        self.sides = np.full(config.num_envs, ALL_SIDES)
        """The side the network plays in each game, or `ALL_SIDES`."""
        self.rivals = np.zeros(config.num_envs, np.int64)
        """Who plays the other sides, an index of `opponents`."""
        self._seat_games(np.ones(config.num_envs, np.bool_), np.random.default_rng([config.seed, EVALUATION]))

    # --- One update ---

    def update(self) -> dict[str, float]:
        """Play, learn, and return what there is to report."""
        config, began = self.config, time.perf_counter()
        if self.updates % config.snapshot_every == 0:
            self._keep_snapshot()
        random = np.random.default_rng([config.seed, self.updates])
        generator = torch.Generator().manual_seed(env_seed(config.seed, self.updates))
        imitating = bool(config.imitate) and self.progress < config.imitate_share
        if self.magnet is not None and (imitating or self.updates % config.magnet_every == 0):
            self.magnet.load_state_dict(self.network.state_dict())
        report = self.collect(random, generator, imitating)
        played = time.perf_counter()
        report |= self.learn(random, imitating)
        self.buffer.carry_over()
        self.updates += 1
        self.steps += config.num_envs * config.steps
        self.decided += int(report["decisions"])
        wall = time.perf_counter() - began
        report["share_learning"] = (time.perf_counter() - played) / wall
        report["share_environment"] = report.pop("environment_seconds") / wall
        report["steps_per_second"] = config.num_envs * config.steps / wall
        self.seconds += wall
        return report

    def collect(self, random: np.random.Generator, generator: torch.Generator, imitating: bool) -> dict[str, float]:
        """Play every game on for `config.steps` steps; decisions of the network (or its teacher) go into the buffer."""
        games, variant, buffer = self.games, self.variant, self.buffer
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
                actions = teacher.act(games.decisions()[asked])
            choices[asked] = actions
            columns = {"observations": rows, "action_masks": allowed, "actions": actions}
            buffer.add(asked, seats[asked], **columns, log_probs=log_probs, values=values)
            for index, opponent in enumerate(opponents):
                theirs = np.flatnonzero(~own & free & (self.rivals == index))
                if len(theirs):
                    choices[theirs] = opponent.act(games.decisions()[theirs])
            before = time.perf_counter()
            games.step(choices)
            over = games.terminated | games.truncated
            buffer.pay(games.rewards, over)
            in_environment += time.perf_counter() - before
            finished += int(over.sum())
            lengths += int(games.final_lengths[over].sum())
            self._seat_games(over, random)
        return {"environment_seconds": in_environment, "games": finished, "length": lengths / max(finished, 1)}

    def learn(self, random: np.random.Generator, imitating: bool) -> dict[str, float]:
        """Improve policy and value on the decisions whose consequences are known."""
        config, buffer = self.config, self.buffer
        rows, advantages, returns = buffer.advantages(config.gamma, config.gae_lambda)
        if not len(rows):
            raise ValueError(f"no seat decided twice within steps={config.steps}; more steps are needed to learn")
        explained = 1 - np.var(returns - buffer.values[rows]) / max(np.var(returns), 1e-8)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        rate = self.set_learning_rate()
        entropy_coef = self.annealed(config.entropy_coef, config.final_entropy_coef)
        sums: dict[str, float] = defaultdict(float)
        count = 0
        for _ in range(config.epochs):
            order = random.permutation(len(rows))
            for part in np.array_split(order, max(1, round(len(rows) / config.minibatch))):
                loss, numbers = self.loss(rows[part], advantages[part], returns[part], entropy_coef, imitating)
                self.descend(loss)
                for name, number in numbers.items():
                    sums[name] += number.item()
                count += 1
        report = {name: total / count for name, total in sums.items()}
        report |= {"explained": float(explained), "decisions": len(rows)}
        return report | {"learning_rate": rate, "entropy_coef": entropy_coef}

    def loss(
        self, rows: np.ndarray, advantages: np.ndarray, returns: np.ndarray, entropy_coef: float, imitating: bool
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """PPO's loss on rows of the buffer; beside it its parts, the KL divergence and the share of clipped ratios."""
        config, buffer = self.config, self.buffer
        observations = torch.from_numpy(buffer.observations[rows])
        masks = torch.from_numpy(buffer.action_masks[rows])
        log_probs, values = self.network(observations, masks)
        chosen = log_probs.gather(1, torch.from_numpy(buffer.actions[rows])[:, None])[:, 0]
        log_ratio = (chosen - torch.from_numpy(buffer.log_probs[rows])).clamp_max(MAX_LOG_RATIO)
        ratio, gain = log_ratio.exp(), torch.from_numpy(advantages)
        policy = -torch.minimum(ratio * gain, ratio.clamp(1 - config.clip_range, 1 + config.clip_range) * gain).mean()
        if imitating:
            policy = -chosen.mean()
        value = (values - torch.from_numpy(returns)).square().mean()
        possible = log_probs.masked_fill(masks == 0, 0)  # e^0 * 0: nothing, and far quicker than e^-1000000000
        entropy = -(possible.exp() * possible).sum(1).mean()
        kl = (ratio - 1 - log_ratio).mean()
        clipped = ((ratio - 1).abs() > config.clip_range).float().mean()
        loss = policy + config.value_coef * value - entropy_coef * entropy
        numbers = {"policy_loss": policy, "value_loss": value, "entropy": entropy, "kl": kl, "clipped": clipped}
        if self.magnet is not None:
            earlier = self.magnet(observations, masks)[0].masked_fill(masks == 0, 0)
            numbers["magnet_kl"] = (possible.exp() * (possible - earlier)).sum(1).mean()
            loss = loss + config.magnet_coef * numbers["magnet_kl"]
        return loss, numbers

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
                earlier = deepcopy(self.network)
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

    # --- Files ---

    def content(self) -> dict[str, Any]:
        """What a checkpoint holds beside network, optimiser and progress."""
        magnet = {} if self.magnet is None else {"magnet": self.magnet.state_dict()}
        return {
            **magnet,
            "pool": self.pool,
            "games": to_tensors(self.games.save()),
            "buffer": to_tensors(self.buffer.state()),
            "seating": to_tensors({"sides": self.sides, "rivals": self.rivals}),
        }

    def take(self, content: dict[str, Any]) -> None:
        """Take over the content of a checkpoint, once all of it is known to fit."""
        pool = content["pool"]
        if not isinstance(pool, list) or not 1 <= len(pool) <= self.config.snapshots:
            raise ValueError(f"there are 1 to {self.config.snapshots} earlier networks in a checkpoint")
        for weights in pool:
            check_weights(weights, self.network.state_dict(), "network")
        games, buffer, seating = (to_arrays(content[part]) for part in ("games", "buffer", "seating"))
        check_numbers("seats", games["seats"], self.games.seats, 0, self.variant.players)
        check_numbers("sides", seating["sides"], self.sides, ALL_SIDES, self.variant.sides)
        check_numbers("rivals", seating["rivals"], self.rivals, 0, max(len(self.opponents), 1))
        self.buffer.check(buffer)
        if self.magnet is not None:
            check_weights(content["magnet"], self.magnet.state_dict(), "magnet")
        self.games.restore(games, validate=True)
        if self.magnet is not None:
            self.magnet.load_state_dict(content["magnet"])
        self.buffer.restore(buffer)
        self.pool = pool
        self.sides[:], self.rivals[:] = seating["sides"], seating["rivals"]


def stagger(games: VectorGame, random: np.random.Generator, longest: int = 2000) -> None:
    """Bring each game to a random moment of a random game, so that every update sees all phases of the game."""
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
                axis = 1 if name in ("totals", "lengths", "starts", "moves") else 0  # of the games
                kept[name].swapaxes(0, axis)[now] = values.swapaxes(0, axis)[now]
        games.step(games.sample_actions())
    games.restore(kept)
