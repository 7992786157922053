"""What a runner tells RLlib about the games of a sample, under RLlib's names."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.utils import metrics as names

WIN_RATE = "win_rate"
"""The metric with the learner's share of wins, where it plays one seat against policies."""


class Ended(NamedTuple):
    """A finished game."""

    length: int
    returns: np.ndarray
    """Of each lane, (lanes,)."""
    share: float | None
    """The learner's share of the win; None where all seats learn."""


def log_steps(
    metrics: Any,
    steps: int,
    games: int,
    episodes: Sequence[SingleAgentEpisode],
    agents: Sequence[str],
    modules: Sequence[str],
) -> None:
    """Log how much was played, now and ever; `agents` and `modules` are the names of all lanes."""
    learned = dict.fromkeys(agents, 0)
    for episode in episodes:
        learned[episode.agent_id or agents[0]] += len(episode)
    sums: dict[Any, int] = defaultdict(int, {names.NUM_ENV_STEPS_SAMPLED: steps, names.NUM_EPISODES: games})
    for agent, module in zip(agents, modules):
        sums[names.NUM_AGENT_STEPS_SAMPLED, agent] += learned[agent]
        sums[names.NUM_MODULE_STEPS_SAMPLED, module] += learned[agent]
    for key, number in sums.items():
        first, *rest = key if isinstance(key, tuple) else (key,)
        metrics.log_value(key, number, reduce="sum")
        metrics.log_value((f"{first}_lifetime", *rest), number, reduce="lifetime_sum", with_throughput=not rest)


def log_games(metrics: Any, ended: Sequence[Ended], agents: Sequence[str], modules: Sequence[str]) -> None:
    """Log means and extremes over the games that have ended, if any."""
    if not ended:
        return
    lengths, returns = [game.length for game in ended], np.stack([game.returns for game in ended])
    totals, by_lane = returns.sum(axis=1), returns.mean(axis=0)
    means: dict[Any, Any] = defaultdict(float)
    means |= {names.EPISODE_LEN_MEAN: np.mean(lengths), names.EPISODE_RETURN_MEAN: totals.mean()}
    for agent, module, mean in zip(agents, modules, by_lane):
        means[names.EPISODE_AGENT_RETURN_MEAN, agent] = mean
        means[names.EPISODE_MODULE_RETURN_MEAN, module] += mean
    shares = [game.share for game in ended if game.share is not None]
    if shares:
        means[WIN_RATE] = np.mean(shares)
    for key, mean in means.items():
        metrics.log_value(key, float(mean), window=1)
    for values, low, high in (
        (lengths, names.EPISODE_LEN_MIN, names.EPISODE_LEN_MAX),
        (totals, names.EPISODE_RETURN_MIN, names.EPISODE_RETURN_MAX),
    ):
        metrics.log_value(low, float(min(values)), reduce="min", window=1)
        metrics.log_value(high, float(max(values)), reduce="max", window=1)
