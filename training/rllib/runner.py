"""Env runner on the compiled batch: plays many games at once and returns numpy episodes, one for each learning seat."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from monsterzoo.envs.api.spaces import action_space, fresh_seed, observation_space
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import env_seed, streams
from monsterzoo.envs.core.stepping import share_of_win
from monsterzoo.envs.match.loop import OUTSIDE, Endless
from monsterzoo.envs.match.match import Match
from monsterzoo.envs.match.seating import seat_opponents
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.core import DEFAULT_AGENT_ID, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModule
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.utils import metrics as names

from .episodes import EpisodeBuffer

WIN_RATE = "win_rate"  # metric: the learner's share of wins, where one seat learns


class Games(Match):
    """A `Match` with what RLlib asks an environment for."""

    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]

    def close(self) -> None:
        """Nothing to do."""


class BatchRunner(SingleAgentEnvRunner):
    """Plays `num_envs_per_env_runner` games as one compiled batch; `ppo_config` puts it into a config.

    `env_config` has `game`, `options`, `skip_forced`, and for one seat `opponents` and `seat`. In a multi-agent config
    every seat is an agent, and `policy_mapping_fn(agent)` is asked once for its module. Modules choose by their
    exploration or inference distribution; connectors between batch and module are not used. Of RLlib's callbacks only
    `on_sample_end` is called. Games under way are not kept in checkpoints.
    """

    env: Any  # a `Games`
    module: Any

    def __init__(self, *, config: AlgorithmConfig, **kwargs: Any) -> None:
        self.variant = find_game(config.env_config["game"]).variant(**config.env_config["options"])
        self._agents: tuple[str, ...] = (DEFAULT_AGENT_ID,)
        self._modules = [DEFAULT_MODULE_ID]  # of each agent
        if config.is_multi_agent:
            self._agents = self.variant.agents
            self._modules = [config.policy_mapping_fn(agent, None) for agent in self._agents]
        of_seats = self._modules if config.is_multi_agent else self._modules * self.variant.players
        self._seats_of = {name: np.array([one == name for one in of_seats]) for name in of_seats}
        self._finished: list[tuple[int, np.ndarray, float]] = []  # length, agents' returns, learner's win share
        self._steps = 0
        super().__init__(config=config, **kwargs)  # makes batch and module

    # --- RLlib's interface ---

    def make_env(self) -> None:
        """Make the batch; `sample` starts its games."""
        variant, count, seats = self.variant, self.config.num_envs_per_env_runner, np.arange(self.variant.players)
        if self.config.is_multi_agent:
            self._seating: np.ndarray = np.full(len(seats), OUTSIDE)
            self.env = Games(variant, count)
            ids = [{"agent_id": agent, "module_id": module} for agent, module in zip(self._agents, self._modules)]
        else:
            opponents, seat = self.config.env_config["opponents"], self.config.env_config["seat"]
            turn = int(seat == "rotate")
            learners = np.arange(count) if turn else np.full(count, seat)
            self._seating = (seats - learners[:, None]) % len(seats) - 1  # clockwise from the learner, who is OUTSIDE
            players = seat_opponents(variant, opponents)
            self.env = Games(variant, count, players, self._seating, source=Endless(turn), forfeit=True)
            ids = [{} for _ in seats]
        self.env.observation_space, self.env.action_space = self.get_spaces()[INPUT_ENV_SPACES]
        self.num_envs, self._fragment = count, self.config.get_rollout_fragment_length(self.worker_index)
        self._buffer = EpisodeBuffer(variant, count, self._fragment, ids)
        self._first_seed = fresh_seed() if self._seed is None else self._seed
        self._resets, self._needs_initial_reset = 0, True

    def make_module(self) -> None:
        """Build the module or modules."""
        known = {"spaces": self.get_spaces(), "inference_only": True}
        if not self.config.is_multi_agent:
            self.module = self.config.get_rl_module_spec(**known).build()
            self.module.to(self._device)
        else:
            self.module = self.config.get_multi_rl_module_spec(**known).build()
            self.module.foreach_module(lambda _, module: module.to(self._device))

    def get_spaces(self) -> dict[str, tuple[Any, Any]]:
        """Observation and action spaces of the environment and of each module."""
        each = observation_space(self.variant), action_space(self.variant)
        own: Any = each
        if self.config.is_multi_agent:
            own = tuple(spaces.Dict(dict.fromkeys(self._agents, space)) for space in each)
        return {INPUT_ENV_SPACES: own, INPUT_ENV_SINGLE_SPACES: own, **dict.fromkeys(self._modules, each)}

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        """Play on for a number of steps, or play a number of whole games.

        Whole games are started anew, and the first ones of every env count, so that short games are not preferred.
        """
        if self._needs_initial_reset or force_reset or num_episodes is not None:
            self._reset()
        episodes: list[SingleAgentEpisode] = []
        with _one_thread():
            if num_episodes is not None:
                wanted = np.bincount(np.arange(num_episodes) % self.num_envs, minlength=self.num_envs)
                while (self._games < wanted).any():
                    episodes += self._play(self._fragment, explore, wanted)
                self._needs_initial_reset = True
            else:
                steps = -(-int(num_timesteps or 0) // self.num_envs)
                for done in range(0, steps, self._fragment):
                    episodes += self._play(min(self._fragment, steps - done), explore)
        self._log(episodes)
        return episodes

    # --- Playing ---

    def _reset(self) -> None:
        """Start all games anew, with a different seed each time."""
        env, seed = self.env, env_seed(self._first_seed, self._resets)
        env.arrays["states"]["rng"] = streams(seed, self.num_envs, "game")["rng"]
        env.arrays["streams"][:] = streams(seed, self.num_envs, "opponents")
        env.seat(slice(None), self._seating)
        env.begin(np.ones(self.num_envs, np.bool_))
        self._buffer.clear()
        self._resets, self._needs_initial_reset = self._resets + 1, False
        self._games, self._lengths = (np.zeros(self.num_envs, np.int64) for _ in range(2))  # finished games, and steps

    def _play(self, steps: int, explore: bool, wanted: np.ndarray | None = None) -> list[SingleAgentEpisode]:
        """Play every game on for a number of steps; with `wanted` (N,) only so many games of each env count."""
        env, buffer = self.env, self._buffer
        skip_forced = self.config.env_config["skip_forced"]
        for _ in range(steps):
            actions = env.action_masks.argmax(1)  # right for forced moves, the others are overwritten
            asked = np.flatnonzero(np.count_nonzero(env.action_masks, axis=1) > skip_forced)
            seats = env.arrays["seats"].copy()
            rows, masks = env.observations[asked], env.action_masks[asked]
            chosen = self._choose(rows, masks, seats[asked], explore)
            actions[asked] = chosen["actions"]
            place = {"envs": asked, "seats": seats[asked], "numbers": self._games[asked]}
            buffer.add(asked, seats[asked], observations=rows, action_masks=masks, **chosen, **place)
            env.act(actions)
            self._lengths += 1
            over = env.arrays["terminated"] | env.arrays["truncated"]
            if over.any():
                self._finish(over, seats, wanted)
            buffer.pay(env.arrays["rewards"], over)
        self._steps += steps * self.num_envs
        return buffer.take(wanted)

    def _choose(self, rows: np.ndarray, masks: np.ndarray, seats: np.ndarray, explore: bool) -> dict[str, np.ndarray]:
        """Actions, their log-probabilities, logits and values, by the module of each seat."""
        chosen: dict[str, np.ndarray] = {
            "actions": np.zeros(len(masks), np.int64),
            "log_probs": np.zeros(len(masks), np.float32),
            "values": np.full(len(masks), np.nan, np.float32),
            "logits": np.zeros(masks.shape, np.float32),
        }
        for name, own in self._seats_of.items():
            asked = np.flatnonzero(own[seats])
            if not len(asked):
                continue
            module = self.module[name] if isinstance(self.module, MultiRLModule) else self.module
            seen = {"observation": rows[asked], "action_mask": masks[asked]}
            batch = {Columns.OBS: {key: torch.from_numpy(one).to(self._device) for key, one in seen.items()}}
            output = module.forward_exploration(batch) if explore else module.forward_inference(batch)
            kind = module.get_exploration_action_dist_cls() if explore else module.get_inference_action_dist_cls()
            logits = output[Columns.ACTION_DIST_INPUTS]
            distribution = kind.from_logits(logits)
            actions = (distribution if explore else distribution.to_deterministic()).sample()
            found = {"actions": actions, "log_probs": distribution.logp(actions), "logits": logits}
            if Columns.VF_PREDS in output:
                found["values"] = output[Columns.VF_PREDS]
            for key, values in found.items():
                chosen[key][asked] = values.cpu().numpy()
        return chosen

    def _finish(self, over: np.ndarray, seats: np.ndarray, wanted: np.ndarray | None) -> None:
        """Keep last observations and results of games that have ended, bool (N,); `seats` (N,) decided last."""
        env, sides = self.env, self.variant.sides
        self._buffer.end(env, over)
        counted = over if wanted is None else over & (self._games < wanted)
        for i in np.flatnonzero(counted).tolist():
            learners = slice(None) if self.config.is_multi_agent else slice(seats[i], seats[i] + 1)
            win_share = float(share_of_win(env.arrays["finals"][i], int(seats[i]) % sides))
            returns = env.arrays["totals"][1, i, learners].copy()
            self._finished.append((int(self._lengths[i]), returns, win_share))
        self._games[over] += 1
        self._lengths[over] = 0

    # --- Metrics ---

    def _log(self, episodes: list[SingleAgentEpisode]) -> None:
        """Log what was played since the last call."""
        finished, steps, self._finished, self._steps = self._finished, self._steps, [], 0
        self.num_env_steps_sampled_lifetime += steps
        self._log_env_steps(self._metrics_num_env_steps_sampled, steps)
        learned = dict.fromkeys(self._agents, 0)
        for episode in episodes:
            learned[episode.agent_id or DEFAULT_AGENT_ID] += len(episode)
        sums: dict[Any, int] = defaultdict(int, {names.NUM_ENV_STEPS_SAMPLED: steps, names.NUM_EPISODES: len(finished)})
        for agent, module in zip(self._agents, self._modules):
            sums[names.NUM_AGENT_STEPS_SAMPLED, agent] = learned[agent]
            sums[names.NUM_MODULE_STEPS_SAMPLED, module] += learned[agent]
        for key, number in sums.items():
            first, *rest = key if isinstance(key, tuple) else (key,)
            self.metrics.log_value(key, number, reduce="sum")
            lifetime = (f"{first}_lifetime", *rest)
            self.metrics.log_value(lifetime, number, reduce="lifetime_sum", with_throughput=not rest)
        if finished:
            self._log_games(*(np.array(column) for column in zip(*finished)))

    def _log_games(self, lengths: np.ndarray, returns: np.ndarray, win_shares: np.ndarray) -> None:
        """Log means and extremes of finished games: (games,), (games, agents) and (games,)."""
        totals, means = returns.sum(axis=1), defaultdict[Any, Any](float)
        for agent, module, mean in zip(self._agents, self._modules, returns.mean(axis=0)):
            means[names.EPISODE_AGENT_RETURN_MEAN, agent] = mean
            means[names.EPISODE_MODULE_RETURN_MEAN, module] += mean
        if not self.config.is_multi_agent:
            means[WIN_RATE] = win_shares.mean()
        for key, mean in means.items():
            self.metrics.log_value(key, float(mean), window=1)
        for values, mean, low, high in (
            (lengths, names.EPISODE_LEN_MEAN, names.EPISODE_LEN_MIN, names.EPISODE_LEN_MAX),
            (totals, names.EPISODE_RETURN_MEAN, names.EPISODE_RETURN_MIN, names.EPISODE_RETURN_MAX),
        ):
            self.metrics.log_value(mean, float(values.mean()), window=1)
            self.metrics.log_value(low, float(values.min()), reduce="min", window=1)
            self.metrics.log_value(high, float(values.max()), reduce="max", window=1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Context in which torch uses one thread: for so few rows several are slower, above all on busy machines."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
