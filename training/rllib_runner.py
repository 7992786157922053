"""RLlib's env runner on the compiled batch: many games at once, out come finished numpy episodes, one for each seat.

A seat's episode has only its own decisions. Each earns what the seat is paid until it decides again, or until the game
is over, whoever moves last (`credit`); the terminal observation is what the seat knew at the end of that same game. An
episode that goes on when a sample ends is cut at the seat's latest decision: its observation is the one to bootstrap
from, and the decision itself belongs to the next sample.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import ray
import torch
from gymnasium import spaces
from monsterzoo.envs import VectorGame
from monsterzoo.envs.core import kernels
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.kernels import share_of_win
from monsterzoo.envs.core.rng import env_seed
from monsterzoo.envs.single import SeatVectorEnv
from monsterzoo.envs.spaces import action_space, fresh_seed, observation_space
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.callbacks.utils import make_callback
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_AGENT_ID, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModule
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer
from ray.rllib.utils import force_list
from ray.rllib.utils import metrics as names
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.framework import get_device

from .credit import NONE, Decisions
from .network import ILLEGAL

WIN_RATE = "win_rate"
"""The metric with the learner's share of wins, where it plays one seat against policies."""

# --- The two kinds of tables ---


class Tables(Protocol):
    """Games at once; in each of them one learning seat has to decide. A *lane* is one learning seat of one game."""

    variant: Variant
    lanes: int
    """Learning seats of a game."""

    def reset(self, seed: int | None) -> None:
        """Begin all games anew."""

    def observed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observations (N, n), masks (N, A), and the lanes that decide (N,)."""

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Play on; rewards (N, players) with a column per lane, terminated and truncated (N,)."""

    def last_observation(self, game: int, lane: int) -> np.ndarray:
        """What a seat knew at the end of the game that the last step has ended, (n,)."""

    def share(self, game: int) -> float | None:
        """The learner's share of the win of that game; None where all seats learn."""


class AllSeats:
    """Self-play: every seat learns."""

    def __init__(self, variant: Variant, num_envs: int) -> None:
        self.variant, self.lanes = variant, variant.players
        self._games = VectorGame(variant.game, num_envs, **variant.options)
        self._views = variant.new_views()

    def reset(self, seed: int | None) -> None:
        """Begin all games anew."""
        self._games.reset(seed)

    def observed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A lane is a seat."""
        return self._games.observations, self._games.action_masks, self._games.seats

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Raises `IllegalActionError` if a module chooses what it may not."""
        _, _, rewards, terminated, truncated = self._games.step(actions)
        return rewards, terminated, truncated

    def last_observation(self, game: int, lane: int) -> np.ndarray:
        """Of any seat, also of those that were not asked last."""
        row = np.zeros(self.variant.layout.size, np.int8)
        kernels.observe_one(self._games.final_states, game, lane, self._views, row.view(np.uint64))
        return row

    def share(self, game: int) -> float | None:
        """All seats learn: nothing to report."""
        return None


class OneSeat:
    """One seat of each game learns, policies play the others."""

    lanes = 1

    def __init__(self, variant: Variant, num_envs: int, opponents: Any, seat: int | str) -> None:
        self.variant = variant
        self._games = SeatVectorEnv(
            variant.game, num_envs, opponents=opponents, seat=seat, copy=False, **variant.options
        )
        self._lanes = np.zeros(num_envs, np.int64)
        self._rewards = np.zeros((num_envs, variant.players), np.float32)
        self._played = np.zeros(num_envs, np.int64)  # the learner's seat before the last step

    def reset(self, seed: int | None) -> None:
        """Begin all games anew."""
        self._observed, _ = self._games.reset(seed=seed)

    def observed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The only lane is the learner, whatever its seat."""
        return self._observed["observation"], self._observed["action_mask"], self._lanes

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """An illegal action ends its game with reward -1."""
        self._played[:] = self._games.learners
        self._observed, self._rewards[:, 0], terminated, truncated, self._infos = self._games.step(actions)
        return self._rewards, terminated, truncated

    def last_observation(self, game: int, lane: int) -> np.ndarray:
        """As the environment tells it; a copy, for the table's next game to end overwrites it."""
        row: np.ndarray = self._infos["final_obs"][game]["observation"].copy()
        return row

    def share(self, game: int) -> float | None:
        """From the finished game itself, whatever is rewarded."""
        side = int(self._played[game]) % self.variant.sides
        return float(share_of_win(self._games.final_states[game], side))


# --- Writing down ---


class Record(Decisions):
    """Decisions of a sample, and how they become episodes.

    Beside the columns of `Decisions` there are `tables`, `lanes` and `numbers` (rows,): at which table, for which
    learning seat, in which of the table's games; and `logits` (rows, A): what the distribution was made of.
    """

    PLACE = ("tables", "lanes", "numbers")
    NAMES = (*Decisions.NAMES, *PLACE, "logits")

    def __init__(self, variant: Variant, num_envs: int, steps: int) -> None:
        super().__init__(variant, num_envs, steps)
        rows = len(self.actions)
        self.tables, self.lanes, self.numbers = (np.zeros(rows, np.int64) for _ in self.PLACE)
        self.logits = np.zeros((rows, variant.num_actions), np.float32)
        self._ends: dict[int, tuple[np.ndarray, bool]] = {}

    def clear(self) -> None:
        """Forget everything."""
        self.open[:], self.count = NONE, 0
        self._ends.clear()

    def end(self, row: int, observation: np.ndarray, truncated: bool) -> None:
        """Keep what a seat knew at the end of the game of its last decision."""
        self._ends[row] = (observation, truncated)

    def take(self) -> list[dict[str, Any]]:
        """All pieces of episodes of which the rewards are known; the latest decisions of running games stay.

        A piece has `tables`, `lanes` and `numbers` as numbers, `observations` and `action_masks` (T + 1, …), `actions`,
        `rewards` and `log_probs` (T,), `logits` (T, A), `terminated` and `truncated`.
        """
        nothing = np.zeros((1, self.action_masks.shape[1]), np.int8)
        nothing[0, -1] = 1  # the no-op, as everywhere where there is nothing to decide
        lanes = self.tables[: self.count] * self.open.shape[1] + self.lanes[: self.count]
        order = np.argsort(lanes, kind="stable")
        seen = [getattr(self, name)[order] for name in ("observations", "action_masks")]
        done = {name: getattr(self, name)[order] for name in ("actions", "rewards", "log_probs", "logits")}
        last = self.finished[order]
        last[:-1] |= np.diff(lanes[order]) != 0
        last[-1:] = True
        pieces, start = [], 0
        for stop in (np.flatnonzero(last) + 1).tolist():
            row, length, truncated = int(order[stop - 1]), stop - start - 1, False
            observations, masks = (values[start:stop] for values in seen)
            if over := bool(self.finished[row]):
                length += 1
                observation, truncated = self._ends[row]
                observations, masks = (
                    np.concatenate([observations, observation[None]]),
                    np.concatenate([masks, nothing]),
                )
            if length:
                piece = {name: int(getattr(self, name)[row]) for name in self.PLACE}
                piece |= {name: values[start : start + length] for name, values in done.items()}
                piece |= {"observations": observations, "action_masks": masks}
                pieces.append(piece | {"terminated": over and not truncated, "truncated": truncated})
            start = stop
        self._ends.clear()
        self.carry_over()
        return pieces


# --- The runner ---


class BatchRunner(EnvRunner, Checkpointable):
    """Plays `num_envs_per_env_runner` games as one compiled batch; `ppo_config` puts it into a config.

    `env_config` has `game`, `options`, `skip_forced`, and for one seat `opponents` and `seat`. In a multi-agent config
    each seat's module is `policy_mapping_fn(agent)`, asked once. Modules choose by the distribution that their
    `get_exploration_action_dist_cls` makes of their outputs; there are no connectors between batch and module. Of
    RLlib's callbacks `on_sample_end` is called.
    """

    env: Any  # the tables, None until they are needed
    module: Any
    num_env_steps_sampled_lifetime: int

    def __init__(self, *, config: AlgorithmConfig, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        settings = self.config.env_config
        self.variant = find_game(settings["game"]).variant(**settings["options"])
        self.num_envs = self.config.num_envs_per_env_runner
        self._callbacks = [kind() for kind in force_list(self.config.callbacks_class)]
        self._device = get_device(self.config, 0 if not self.worker_index else self.config.num_gpus_per_env_runner)
        self._spaces = observation_space(self.variant), action_space(self.variant)
        self._agents: tuple[str, ...] | None = None
        self._module_ids = [DEFAULT_MODULE_ID]
        if self.config.is_multi_agent:
            self._agents = self.variant.agents
            self._module_ids = [self.config.policy_mapping_fn(agent, None) for agent in self._agents]
        self._lanes_of = {name: np.array([one == name for one in self._module_ids]) for name in self._module_ids}
        self._weights_seq_no, self._steps = 0, 0
        self._ended: list[tuple[int, np.ndarray, float | None]] = []  # length, returns and share of finished games
        self._env_runner_state_server = None  # RLlib looks for it
        self.make_env()
        self.make_module()

    # --- What RLlib asks of every runner ---

    def make_env(self) -> None:
        """Forget all games; `sample` makes new ones."""
        self.env, self._fresh = None, True

    def make_module(self) -> None:
        """Build the module, or the modules."""
        known = {"spaces": self.get_spaces(), "inference_only": True}
        if self._agents is None:
            self.module = self.config.get_rl_module_spec(**known).build()
            self.module.to(self._device)
        else:
            self.module = self.config.get_multi_rl_module_spec(**known).build()
            self.module.foreach_module(lambda _, module: module.to(self._device))

    def get_spaces(self) -> dict[str, tuple[Any, Any]]:
        """Spaces by module, and those of the games."""
        agents, own = self._agents, self._spaces
        games: Any = own if agents is None else tuple(spaces.Dict(dict.fromkeys(agents, space)) for space in own)
        return {INPUT_ENV_SPACES: games, INPUT_ENV_SINGLE_SPACES: games, **dict.fromkeys(self._module_ids, own)}

    def assert_healthy(self) -> None:
        """Raise `AssertionError` unless there is a module."""
        assert self.module is not None

    def stop(self) -> None:
        """Nothing to release."""

    def sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool | None = None,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        """Play on for a number of steps (usually as many as the config says), or play a number of whole games.

        Whole games are begun anew, and the first ones of every table count, so that short games are not preferred.
        Beyond the last of them nothing is kept.
        """
        if num_timesteps is not None and num_episodes is not None:
            raise ValueError("sample plays num_timesteps or num_episodes, not both")
        explore = self.config.explore if explore is None else explore
        fragment = self.config.get_rollout_fragment_length(self.worker_index)
        if self.config.batch_mode == "complete_episodes" and num_timesteps is None and num_episodes is None:
            num_episodes = self.num_envs
        with self.metrics.log_time(names.SAMPLE_TIMER), _one_thread():
            if self.env is None:
                self._open_tables(fragment)
            if self._fresh or force_reset or num_episodes is not None:
                self._begin()
            episodes: list[SingleAgentEpisode] = []
            if num_episodes is not None:
                wanted = np.bincount(np.arange(num_episodes) % self.num_envs, minlength=self.num_envs)
                while (self._numbers < wanted).any():
                    episodes += self._play(fragment, explore, random_actions, wanted)
                self._fresh = True
            else:
                steps = fragment if num_timesteps is None else -(-num_timesteps // self.num_envs)
                for done in range(0, steps, fragment):
                    episodes += self._play(min(fragment, steps - done), explore, random_actions)
            self._report(episodes)
            make_callback(
                "on_sample_end",
                callbacks_objects=self._callbacks,
                callbacks_functions=self.config.callbacks_on_sample_end,
                kwargs={"env_runner": self, "metrics_logger": self.metrics, "samples": episodes},
            )
        return episodes

    def get_metrics(self) -> Any:
        """What was logged since the last call."""
        return self.metrics.reduce()

    # --- Playing ---

    def _open_tables(self, fragment: int) -> None:
        settings = self.config.env_config
        if self._agents is not None:
            self.env = AllSeats(self.variant, self.num_envs)
        else:
            self.env = OneSeat(self.variant, self.num_envs, settings["opponents"], settings["seat"])
        self._record = Record(self.variant, self.num_envs, fragment)
        self._first_seed = fresh_seed() if self._seed is None else self._seed
        self._random = np.random.default_rng(self._first_seed)
        self._beginnings = 0

    def _begin(self) -> None:
        """Begin all games anew, each time with others."""
        self.env.reset(env_seed(self._first_seed, self._beginnings))
        self._record.clear()
        self._beginnings, self._fresh = self._beginnings + 1, False
        self._name = uuid.uuid4().hex
        self._numbers = np.zeros(self.num_envs, np.int64)  # games finished at each table
        self._earlier = np.zeros((self.num_envs, self.env.lanes), np.int64)  # decisions in earlier pieces
        self._totals = np.zeros((self.num_envs, self.variant.players))
        self._lengths = np.zeros(self.num_envs, np.int64)

    def _play(
        self, steps: int, explore: bool, at_random: bool, wanted: np.ndarray | None = None
    ) -> list[SingleAgentEpisode]:
        """Play every game on for a number of steps; with `wanted` (N,) only so many games of each table count."""
        env, record = self.env, self._record
        skip_forced = self.config.env_config["skip_forced"]
        for _ in range(steps):
            rows, masks, lanes = env.observed()
            choices = masks.argmax(1)  # right for forced moves, the others are overwritten
            free = np.count_nonzero(masks, axis=1) > skip_forced
            asked = np.flatnonzero(free)
            rows, masks, lanes = rows[asked], masks[asked], lanes[asked]
            chosen = self._choose_at_random(masks) if at_random else self._choose(rows, masks, lanes, explore)
            choices[asked] = chosen["actions"]
            place = {"tables": asked, "lanes": lanes, "numbers": self._numbers[asked]}
            record.add(asked, lanes, observations=rows, action_masks=masks, **chosen, **place)
            rewards, terminated, truncated = env.step(choices)
            self._totals += rewards
            self._lengths += 1
            over = terminated | truncated
            for table in np.flatnonzero(over).tolist():
                self._finish(table, bool(truncated[table]), wanted)
            record.pay(rewards, over)
        self._steps += steps * self.num_envs
        pieces = record.take()
        if wanted is not None:
            pieces = [piece for piece in pieces if piece["numbers"] < wanted[piece["tables"]]]
        return [self._episode(piece) for piece in pieces]

    def _choose(self, rows: np.ndarray, masks: np.ndarray, lanes: np.ndarray, explore: bool) -> dict[str, np.ndarray]:
        """Actions, their log-probabilities and the logits behind them, each seat's by its module."""
        chosen = _nothing_chosen(masks)
        for name, deciding in self._lanes_of.items():
            asked = np.flatnonzero(deciding[lanes])
            if not len(asked):
                continue
            module = self.module[name] if isinstance(self.module, MultiRLModule) else self.module
            seen = {"observation": rows[asked], "action_mask": masks[asked]}
            batch = {Columns.OBS: {key: torch.from_numpy(one).to(self._device) for key, one in seen.items()}}
            if explore:
                logits = module.forward_exploration(batch)[Columns.ACTION_DIST_INPUTS]
                distribution = module.get_exploration_action_dist_cls().from_logits(logits)
                actions = distribution.sample()
            else:
                logits = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
                distribution = module.get_inference_action_dist_cls().from_logits(logits)
                actions = distribution.to_deterministic().sample()
            found = {"actions": actions, "log_probs": distribution.logp(actions), "logits": logits}
            for key, values in found.items():
                chosen[key][asked] = values.cpu().numpy()
        return chosen

    def _choose_at_random(self, masks: np.ndarray) -> dict[str, np.ndarray]:
        """The same for uniformly random legal actions."""
        chosen = _nothing_chosen(masks)
        chosen["logits"][masks == 0] = ILLEGAL
        chosen["log_probs"][:] = -np.log(np.count_nonzero(masks, axis=1))
        chosen["actions"][:] = (self._random.random(masks.shape) * masks).argmax(1)
        return chosen

    def _finish(self, table: int, truncated: bool, wanted: np.ndarray | None) -> None:
        """Write down how the game at a table has ended."""
        for lane in range(self.env.lanes):
            row = int(self._record.open[table, lane])
            if row != NONE:
                self._record.end(row, self.env.last_observation(table, lane), truncated)
        if wanted is None or self._numbers[table] < wanted[table]:
            returns = self._totals[table, : self.env.lanes].copy()
            self._ended.append((int(self._lengths[table]), returns, self.env.share(table)))
        self._numbers[table] += 1
        self._lengths[table] = self._totals[table] = 0

    def _episode(self, piece: dict[str, Any]) -> SingleAgentEpisode:
        """A piece as RLlib wants it."""
        table, lane = piece["tables"], piece["lanes"]
        game = f"{self._name}_{table}_{piece['numbers']}"
        length, earlier = len(piece["actions"]), int(self._earlier[table, lane])
        over = piece["terminated"] or piece["truncated"]
        self._earlier[table, lane] = 0 if over else earlier + length
        outputs = {Columns.ACTION_LOGP: piece["log_probs"], Columns.ACTION_DIST_INPUTS: piece["logits"]}
        observations = {"observation": piece["observations"], "action_mask": piece["action_masks"]}
        who: dict[str, Any] = {}
        if self._agents is not None:
            who = {"agent_id": self._agents[lane], "module_id": self._module_ids[lane], "multi_agent_episode_id": game}
        return SingleAgentEpisode(
            f"{game}_{lane}",
            observations=InfiniteLookbackBuffer(observations),
            observation_space=self._spaces[0],
            actions=InfiniteLookbackBuffer(piece["actions"]),
            action_space=self._spaces[1],
            rewards=InfiniteLookbackBuffer(piece["rewards"]),
            extra_model_outputs={key: InfiniteLookbackBuffer(values) for key, values in outputs.items()},
            terminated=piece["terminated"],
            truncated=piece["truncated"],
            t_started=earlier,
            len_lookback_buffer=0,
            **who,
        )

    # --- Reporting ---

    def _report(self, episodes: list[SingleAgentEpisode]) -> None:
        """Log steps, and means over the games that have ended in this sample."""
        ended, steps, self._ended, self._steps = self._ended, self._steps, [], 0
        self.num_env_steps_sampled_lifetime += steps
        self._log_env_steps(self._metrics_num_env_steps_sampled, steps)
        sums: dict[Any, int] = defaultdict(int, {names.NUM_ENV_STEPS_SAMPLED: steps, names.NUM_EPISODES: len(ended)})
        for episode in episodes:
            sums[names.NUM_AGENT_STEPS_SAMPLED, episode.agent_id or DEFAULT_AGENT_ID] += len(episode)
            sums[names.NUM_MODULE_STEPS_SAMPLED, episode.module_id or DEFAULT_MODULE_ID] += len(episode)
        for key, number in sums.items():
            first, *rest = key if isinstance(key, tuple) else (key,)
            self.metrics.log_value(key, number, reduce="sum")
            lifetime = (f"{first}_lifetime", *rest)
            self.metrics.log_value(lifetime, number, reduce="lifetime_sum", with_throughput=not rest)
        self.metrics.log_value(names.WEIGHTS_SEQ_NO, self._weights_seq_no, window=1)
        if not ended:
            return
        lengths, returns, shares = zip(*ended)
        totals, by_lane = np.sum(returns, axis=1), np.mean(returns, axis=0)
        means: dict[Any, Any] = {names.EPISODE_LEN_MEAN: np.mean(lengths), names.EPISODE_RETURN_MEAN: totals.mean()}
        by_module: dict[str, list[float]] = defaultdict(list)
        for agent, module, mean in zip(self._agents or (DEFAULT_AGENT_ID,), self._module_ids, by_lane):
            means[names.EPISODE_AGENT_RETURN_MEAN, agent] = mean
            by_module[module].append(mean)
        means |= {(names.EPISODE_MODULE_RETURN_MEAN, module): sum(all_) for module, all_ in by_module.items()}
        if shares[0] is not None:
            means[WIN_RATE] = np.mean(shares)
        for key, mean in means.items():
            self.metrics.log_value(key, float(mean), window=1)
        for values, low, high in (
            (lengths, names.EPISODE_LEN_MIN, names.EPISODE_LEN_MAX),
            (totals, names.EPISODE_RETURN_MIN, names.EPISODE_RETURN_MAX),
        ):
            self.metrics.log_value(low, float(min(values)), reduce="min", window=1)
            self.metrics.log_value(high, float(max(values)), reduce="max", window=1)

    # --- State ---

    def get_state(
        self,
        components: str | Collection[str] | None = None,
        *,
        not_components: str | Collection[str] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Weights and counters; games under way are not kept."""
        state: dict[str, Any] = {names.NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime}
        if self._check_component(COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(
                components=self._get_subcomponents(COMPONENT_RL_MODULE, components),
                not_components=self._get_subcomponents(COMPONENT_RL_MODULE, not_components),
                **kwargs,
            )
            state[names.WEIGHTS_SEQ_NO] = self._weights_seq_no
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over weights, unless they are older than those that are here, and counters."""
        if COMPONENT_RL_MODULE in state:
            number = state.get(names.WEIGHTS_SEQ_NO, 0)  # 0: whatever is here
            if number == 0 or self._weights_seq_no < number:
                weights = state[COMPONENT_RL_MODULE]
                weights = ray.get(weights) if isinstance(weights, ray.ObjectRef) else weights
                if self._agents is None and DEFAULT_MODULE_ID in weights:
                    weights = weights[DEFAULT_MODULE_ID]
                self.module.set_state(weights)
            self._weights_seq_no = number or self._weights_seq_no
        lifetime = names.NUM_ENV_STEPS_SAMPLED_LIFETIME
        self.num_env_steps_sampled_lifetime = state.get(lifetime, self.num_env_steps_sampled_lifetime)

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What to make such a runner of."""
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        """The module."""
        return [(COMPONENT_RL_MODULE, self.module)]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute with one thread: for so few rows several are slower, above all on busy machines."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _nothing_chosen(masks: np.ndarray) -> dict[str, np.ndarray]:
    """Room for what is chosen in so many positions."""
    count = len(masks)
    return {
        "actions": np.zeros(count, np.int64),
        "log_probs": np.zeros(count, np.float32),
        "logits": np.zeros(masks.shape, np.float32),
    }
