"""Self-play PPO with masked actions: `monsterzoo train --game pikit_v0 --players 2 --minutes 10 --out runs/pikit2`.

One network plays every seat. An update plays all games on for a number of steps (`play`), estimates advantages over
each seat's own decisions (`rollout_buffer`), and improves the network on minibatches (`learn`, `loss`). In most games
the network plays all sides; in the rest one side, against earlier networks or built-in policies, whose moves are not
learned from and are no steps of their own. A forced move (one legal action) is no decision: nobody is asked.

A run may begin by imitating a teacher, who then decides in the network's place.

Naive self-play cycles and ends in exploitable, near-deterministic policies. Remedies are much entropy (Rudolph et al.,
2026) and a magnet: a KL penalty towards an earlier network, replaced now and then (Sokota et al., 2023).
"""

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from monsterzoo.envs import VectorGame
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import env_seed, streams
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.loop import CONTINUE, OUTSIDE
from monsterzoo.envs.match.match import Match
from monsterzoo.envs.match.players import ask, make_player
from monsterzoo.policies import Policy
from monsterzoo.policies.networks.files import LARGEST
from torch import Tensor

from ..runs import run as runs
from ..runs.config import PAST, PPOConfig
from ..runs.run import EVALUATION, Learner
from .network import CompiledNetwork
from .rollout_buffer import NONE, RolloutBuffer

MAX_LOG_RATIO = 20.0
"""Larger ratios of probabilities are cut off: a teacher's choice may have been nearly impossible; e^100 is infinite."""


class PPOTrainer(Learner):
    """A run of PPO in memory: beside what every learner has, games under way, their buffer, and opponents."""

    config: PPOConfig

    def __init__(self, config: PPOConfig, game: Game | None = None) -> None:
        super().__init__(config, (game or find_game(config.game)).variant(**config.game_options()))
        config, count = self.config, self.config.num_envs
        self.buffer = RolloutBuffer(self.variant, count, config.steps)
        self.pool: list[dict[str, Tensor]] = []  # weights of earlier networks
        self.magnet = deepcopy(self.network).requires_grad_(False) if config.magnet_coef else None
        self.opponents = config.opponents or ()
        self.seating = np.full((count, self.variant.players), OUTSIDE)
        """Who plays each seat: `OUTSIDE` is the network, a number one of `opponents`."""
        random = np.random.default_rng([config.seed, EVALUATION])
        self.past = deepcopy(self.network)  # has the weights of each in turn
        players = [
            CompiledNetwork(self.past, spec) if spec == PAST else make_player(self.variant, spec, config.seed)
            for spec in self.opponents
        ]
        self.games = Match(self.variant, count, players, replace=False)
        self._draw_seating(np.ones(count, np.bool_), random)
        self._continue(*stagger(self.variant, count, config.seed, np.random.default_rng([config.seed, EVALUATION, 1])))

    # --- One update ---

    @property
    def imitating(self) -> bool:
        """Whether a teacher decides in the network's place."""
        return bool(self.config.imitate) and self.progress < self.config.imitate_share

    def play(self) -> dict[str, float]:
        """Play every game on for `config.steps` own moves; the network's (or its teacher's) go into the buffer."""
        config, games, buffer, one = self.config, self.games, self.buffer, self.games.arrays
        if self.updates % config.snapshot_every == 0:
            if len(self.pool) >= config.snapshots:
                del self.pool[np.random.default_rng([config.seed, self.updates, 1]).integers(len(self.pool))]
            self.pool.append({name: values.clone() for name, values in self.network.state_dict().items()})
        if self.magnet is not None and (self.imitating or self.updates % config.magnet_every == 0):
            self.magnet.load_state_dict(self.network.state_dict())
        seed = env_seed(config.seed, self.updates)
        self.random, generator = np.random.default_rng([config.seed, self.updates]), torch.Generator().manual_seed(seed)
        self._renew_opponents(self.random)
        one["streams"][:] = streams(seed, config.num_envs, "opponents")
        teacher: Policy | None = None
        if self.imitating:
            teacher = make_player(self.variant, str(config.imitate), int(self.random.integers(1 << 62)))
        finished, lengths, before = 0, 0, int(one["lengths"][0].sum())
        for _ in range(config.steps):
            masks, seats = games.action_masks, one["seats"]
            choices = masks.argmax(1)  # right for forced moves, the others are overwritten
            asked = np.flatnonzero(np.count_nonzero(masks, axis=1) > 1)
            rows, allowed = games.observations[asked], masks[asked]
            actions, log_probs, values = self.network.play(rows, allowed, generator)
            if teacher is not None and len(asked):
                actions = ask(teacher, games.decisions(asked))
            choices[asked] = actions
            columns = {"observations": rows, "action_masks": allowed, "actions": actions}
            buffer.add(asked, seats[asked], **columns, log_probs=log_probs, values=values)
            games.act(choices)
            over = one["terminated"] | one["truncated"]
            buffer.pay(one["rewards"], over)
            finished += int(over.sum())
            lengths += int(one["lengths"][1, over].sum())
            if over.any():
                self._draw_seating(over, self.random)
                games.begin(over)
        steps = lengths + int(one["lengths"][0].sum()) - before
        return {"games": finished, "length": lengths / max(finished, 1), "steps": steps}

    def learn(self) -> dict[str, float]:
        """Improve policy and value on the decisions whose consequences are known."""
        config, buffer = self.config, self.buffer
        rows, advantages, returns = buffer.advantages(config.gamma, config.gae_lambda)
        if not len(rows):
            raise ValueError(f"no seat decided twice within steps={config.steps}; more steps are needed to learn")
        explained = 1 - np.var(returns - buffer.values[rows]) / max(np.var(returns), 1e-8)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        entropy_coef = self.annealed(config.entropy_coef, config.final_entropy_coef)

        def loss(part: np.ndarray) -> tuple[Tensor, dict[str, Tensor]]:
            return self.loss(rows[part], advantages[part], returns[part], entropy_coef)

        report = self.improve(loss, len(rows), self.random, config.epochs)
        buffer.carry_over()
        return {**report, "explained": float(explained), "entropy_coef": entropy_coef}

    def loss(
        self, rows: np.ndarray, advantages: np.ndarray, returns: np.ndarray, entropy_coef: float
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """PPO's loss on rows of the buffer; beside it its parts, the KL divergence and the share of clipped ratios."""
        config, buffer = self.config, self.buffer
        observations = torch.from_numpy(buffer.observations[rows])
        masks = torch.from_numpy(buffer.action_masks[rows])
        log_probs, entropies, values = self.network.evaluate(observations, masks)
        chosen = log_probs.gather(1, torch.from_numpy(buffer.actions[rows])[:, None])[:, 0]
        log_ratio = (chosen - torch.from_numpy(buffer.log_probs[rows])).clamp_max(MAX_LOG_RATIO)
        ratio, gain = log_ratio.exp(), torch.from_numpy(advantages)
        policy = -torch.minimum(ratio * gain, ratio.clamp(1 - config.clip_range, 1 + config.clip_range) * gain).mean()
        if self.imitating:
            policy = -chosen.mean()
        value = (values[:, 0] - torch.from_numpy(returns)).square().mean()
        entropy = entropies.mean()
        kl = (ratio - 1 - log_ratio).mean()
        clipped = ((ratio - 1).abs() > config.clip_range).float().mean()
        loss = policy + config.value_coef * value - entropy_coef * entropy
        numbers = {"policy_loss": policy, "value_loss": value, "entropy": entropy, "kl": kl, "clipped": clipped}
        if self.magnet is not None:
            apart = log_probs - self.magnet.evaluate(observations, masks)[0]  # 0 where masked
            numbers["magnet_kl"] = (log_probs.exp() * apart).sum(1).mean()
            loss = loss + config.magnet_coef * numbers["magnet_kl"]
        return loss, numbers

    # --- Games and opponents ---

    def _draw_seating(self, fresh: np.ndarray, random: np.random.Generator) -> None:
        """Decide who plays the games that are about to begin, bool (N,)."""
        count, seats = int(fresh.sum()), np.arange(self.variant.players)
        alone = random.random(count) < self.config.self_play
        sides = random.integers(self.variant.sides, size=count)
        rivals = random.integers(max(len(self.opponents), 1), size=count)
        own = alone[:, None] | (seats % self.variant.sides == sides[:, None])
        if self.opponents:
            self.seating[fresh] = np.where(own, OUTSIDE, rivals[:, None])
        self.games.seat(fresh, self.seating[fresh])

    def _continue(self, states: np.ndarray, lengths: np.ndarray) -> None:
        """Go on from positions (N,) after some moves each (N,)."""
        self.games.arrays["states"][:] = states
        self.games.arrays["orders"][:] = CONTINUE
        self.games.run()
        self.games.arrays["lengths"][0] += lengths

    def _renew_opponents(self, random: np.random.Generator) -> None:
        """Make the opponents of one update, with fresh seeds, so that they have no past to keep."""
        for k, spec in enumerate(self.opponents):
            seed = int(random.integers(1 << 62))
            if spec == PAST:
                self.past.load_state_dict(self.pool[random.integers(len(self.pool))])
                self.games.players[k].become(self.past)
            else:
                self.games.players[k] = make_player(self.variant, spec, seed)

    # --- Files ---

    def content(self) -> dict[str, Any]:
        """What a checkpoint holds beside network, optimiser and progress."""
        magnet = {} if self.magnet is None else {"magnet": self.magnet.state_dict()}
        numbers = {"seating": self.seating, "lengths": self.games.arrays["lengths"][0]}
        return {
            **magnet,
            "pool": self.pool,
            "games": {"states": runs.states_to_tensor(self.games.arrays["states"]), **runs.to_tensors(numbers)},
            "buffer": runs.to_tensors(self.buffer.rows(self.buffer.count)),
        }

    def take(self, content: dict[str, Any]) -> None:
        """Take over the content of a checkpoint, once all of it is known to fit."""
        pool, games, buffer = content["pool"], content["games"], content["buffer"]
        if not isinstance(pool, list) or not 1 <= len(pool) <= self.config.snapshots:
            raise ValueError(f"there are 1 to {self.config.snapshots} earlier networks in a checkpoint")
        for weights in pool:
            runs.check_tensors("network", weights, self.network.state_dict())
        states, own = runs.to_states(games["states"], self.variant, len(self.seating)), self.content()["games"]
        seats = OUTSIDE, len(self.opponents) - 1
        runs.check_tensors("games", games, own, {"lengths": (0, 1 << 32), "seating": seats})
        if not (games["seating"] == OUTSIDE).any(1).all():
            raise ValueError("seating has games that the network does not play")
        count = len(buffer["actions"])
        rows, known = runs.to_tensors(self.buffer.rows(count)), (NONE, count - 1)
        limits = {"actions": (0, self.variant.num_actions - 1), "log_probs": (-LARGEST, 0)}
        runs.check_tensors("buffer", buffer, rows, {**limits, "following": known, "open": known})
        if self.magnet is not None:
            runs.check_tensors("magnet", content["magnet"], self.magnet.state_dict())
            self.magnet.load_state_dict(content["magnet"])
        for name, values in buffer.items():
            rows[name][:] = values
        self.buffer.count, self.pool = count, pool
        self.seating[:] = games["seating"]
        self.games.seat(slice(None), self.seating)
        self._continue(states, games["lengths"].numpy())


def stagger(
    variant: Variant, num_envs: int, seed: int, random: np.random.Generator, longest: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (N,) at random moments of random games, so that every update sees all phases, and the moves before."""
    games, moment = VectorGame(variant.game, num_envs, seed=seed, **variant.options), 0
    finished, lengths = np.zeros(num_envs, np.bool_), np.zeros(num_envs, np.int64)
    while not finished.all() and moment < longest:
        games.step(games.sample_actions())
        finished |= games.terminated | games.truncated
        moment += 1
    moments = random.integers(moment, size=num_envs)
    games.reset(seed)
    states = games.states.copy()
    for moment in range(int(moments.max()) + 1):
        states[moments == moment] = games.states[moments == moment]
        games.step(games.sample_actions())
        going = moments > moment
        lengths[going] = np.where(games.terminated | games.truncated, 0, lengths + 1)[going]
    return states, lengths
