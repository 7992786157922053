"""RLlib's env runner on the compiled batch: many games at once, out come finished numpy episodes, one for each seat."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import ray
import torch
from gymnasium import spaces
from monsterzoo.envs.api.spaces import action_space, fresh_seed, observation_space
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import env_seed
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.callbacks.utils import make_callback
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_AGENT_ID, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModule
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.utils import force_list
from ray.rllib.utils import metrics as names
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.framework import get_device

from ..algorithms.network import ILLEGAL
from .record import Record
from .reports import Ended, log_games, log_steps
from .tables import AllSeats, OneSeat


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
        self._agents: tuple[str, ...] = (DEFAULT_AGENT_ID,)  # of each lane, as are the modules
        self._modules = [DEFAULT_MODULE_ID]
        if self.config.is_multi_agent:
            self._agents = self.variant.agents
            self._modules = [self.config.policy_mapping_fn(agent, None) for agent in self._agents]
        self._lanes_of = {name: np.array([one == name for one in self._modules]) for name in self._modules}
        self._weights_seq_no, self._steps = 0, 0
        self._ended: list[Ended] = []
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
        if not self.config.is_multi_agent:
            self.module = self.config.get_rl_module_spec(**known).build()
            self.module.to(self._device)
        else:
            self.module = self.config.get_multi_rl_module_spec(**known).build()
            self.module.foreach_module(lambda _, module: module.to(self._device))

    def get_spaces(self) -> dict[str, tuple[Any, Any]]:
        """Spaces by module, and those of the games."""
        games: Any = self._spaces
        if self.config.is_multi_agent:
            games = tuple(spaces.Dict(dict.fromkeys(self._agents, space)) for space in self._spaces)
        return {INPUT_ENV_SPACES: games, INPUT_ENV_SINGLE_SPACES: games, **dict.fromkeys(self._modules, self._spaces)}

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
        who: list[dict[str, Any]] = [{}]
        if self.config.is_multi_agent:
            self.env = AllSeats(self.variant, self.num_envs)
            who = [{"agent_id": agent, "module_id": name} for agent, name in zip(self._agents, self._modules)]
        else:
            self.env = OneSeat(self.variant, self.num_envs, settings["opponents"], settings["seat"])
        self._record = Record(self.variant, self.num_envs, fragment, who)
        self._first_seed = fresh_seed() if self._seed is None else self._seed
        self._random = np.random.default_rng(self._first_seed)
        self._beginnings = 0

    def _begin(self) -> None:
        """Begin all games anew, each time with others."""
        self.env.reset(env_seed(self._first_seed, self._beginnings))
        self._record.begin()
        self._beginnings, self._fresh = self._beginnings + 1, False
        self._numbers = np.zeros(self.num_envs, np.int64)  # games finished at each table
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
            asked = np.flatnonzero(np.count_nonzero(masks, axis=1) > skip_forced)
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
        return record.take(wanted)

    def _choose(self, rows: np.ndarray, masks: np.ndarray, lanes: np.ndarray, explore: bool) -> dict[str, np.ndarray]:
        """Actions, their log-probabilities, the logits behind them and values, each seat's by its module."""
        chosen = _nothing_chosen(masks)
        for name, deciding in self._lanes_of.items():
            asked = np.flatnonzero(deciding[lanes])
            if not len(asked):
                continue
            module = self.module[name] if isinstance(self.module, MultiRLModule) else self.module
            seen = {"observation": rows[asked], "action_mask": masks[asked]}
            batch = {Columns.OBS: {key: torch.from_numpy(one).to(self._device) for key, one in seen.items()}}
            if explore:
                output = module.forward_exploration(batch)
                distribution = module.get_exploration_action_dist_cls().from_logits(output[Columns.ACTION_DIST_INPUTS])
                actions = distribution.sample()
            else:
                output = module.forward_inference(batch)
                distribution = module.get_inference_action_dist_cls().from_logits(output[Columns.ACTION_DIST_INPUTS])
                actions = distribution.to_deterministic().sample()
            found = {"actions": actions, "log_probs": distribution.logp(actions)}
            found["logits"] = output[Columns.ACTION_DIST_INPUTS]
            if Columns.VF_PREDS in output:
                found["values"] = output[Columns.VF_PREDS]
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
            self._record.end(table, lane, self.env.last_observation(table, lane), truncated)
        if wanted is None or self._numbers[table] < wanted[table]:
            returns = self._totals[table, : self.env.lanes].copy()
            self._ended.append(Ended(int(self._lengths[table]), returns, self.env.share(table)))
        self._numbers[table] += 1
        self._lengths[table] = self._totals[table] = 0

    def _report(self, episodes: list[SingleAgentEpisode]) -> None:
        """Log what was played since the last report."""
        ended, steps, self._ended, self._steps = self._ended, self._steps, [], 0
        self.num_env_steps_sampled_lifetime += steps
        self._log_env_steps(self._metrics_num_env_steps_sampled, steps)
        log_steps(self.metrics, steps, len(ended), episodes, self._agents, self._modules)
        log_games(self.metrics, ended, self._agents, self._modules)
        self.metrics.log_value(names.WEIGHTS_SEQ_NO, self._weights_seq_no, window=1)

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
                if not self.config.is_multi_agent and DEFAULT_MODULE_ID in weights:
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
        "values": np.full(count, np.nan, np.float32),
        "logits": np.zeros(masks.shape, np.float32),
    }
