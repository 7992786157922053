"""RLlib (Ray 2.60, new API stack): PPO on the compiled batch, for one seat against policies or for all in self-play.

```python
from monsterzoo.training.rllib import ppo_config

config = ppo_config("pikit_v0", players=2, multi_agent=True)  # an RLlib PPOConfig like any other
algorithm = config.build_algo()
for _ in range(50):
    print(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
```

`BatchRunner` plays many games at once and hands RLlib finished numpy episodes, one for each seat. `MaskedModule` is the
network of `monsterzoo train` as an RLModule: it chooses among legal actions only.

A seat's episode has only its own decisions. Each earns what the seat is paid until it decides again, or until the game
is over, whoever moves last. An episode that goes on when a sample ends is cut at the seat's latest decision, whose
observation is the one to bootstrap from; that decision itself belongs to the next sample.
"""

from functools import partial
from pathlib import Path
from typing import Any

from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.spaces import action_space, observation_space
from monsterzoo.policies.neural import check_shapes
from monsterzoo.policies.plugins import rl_module
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from .files import replacing
from .network import Network, write
from .rllib_runner import BatchRunner, OneSeat
from .settings import Whole

SHARED = "shared"
"""The module of all seats, where they share one."""


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """Our network as an RLModule: one trunk, legal actions only, and a value.

    `model_config` may have `width` (128) and `blocks` (1).
    """

    def setup(self) -> None:
        """Build the network for the spaces."""
        observation, settings = self.observation_space["observation"], self.model_config
        width, blocks = settings.get("width", 128), settings.get("blocks", 1)
        (size,), actions = observation.shape, int(self.action_space.n)
        self.network = Network(size, actions, width, blocks, observation.high)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Tensor]:
        log_probs, values = self.network(batch[Columns.OBS]["observation"], batch[Columns.OBS]["action_mask"])
        return {Columns.ACTION_DIST_INPUTS: log_probs, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """The expected returns (B,); `embeddings` are those that the forward pass has already found."""
        return self._forward(batch)[Columns.EMBEDDINGS] if embeddings is None else embeddings


def ppo_config(
    game: str,
    *,
    multi_agent: bool = False,
    env_runners: int = 0,
    envs_per_runner: int = 64,
    opponents: Any = None,
    seat: int | str = "rotate",
    networks: str = "shared",
    skip_forced: bool = True,
    width: int = 128,
    blocks: int = 1,
    seed: int | None = None,
    **options: Any,
) -> PPOConfig:
    """An RLlib config that learns a game by PPO as it stands; change what you like with RLlib's own methods.

    Raises `ValueError` for what is not allowed.

    Args:
        game: name of the game.
        multi_agent: whether all seats learn from playing each other, or one against `opponents`.
        env_runners: actors that play, wherever Ray has room for them; 0 to play in the process that learns.
        envs_per_runner: games that each plays at once.
        opponents: a policy's spec such as "heuristic" (default: "random"), a policy, or one of either for each other
            seat; with several actors a policy is pickled.
        seat: the learner's seat, or "rotate".
        networks: in self-play, "shared" for one network that plays all seats (the module "shared"), or "team" for one
            each (the modules "team_0", …).
        skip_forced: leave out decisions with one legal action.
        width: of the network's hidden layers.
        blocks: number of its residual blocks.
        seed: of games and weights.
        options: the game's options.
    """
    variant = find_game(game).variant(**options)
    if networks not in ("shared", "team"):
        raise ValueError(f"networks={networks!r} is not allowed; allowed: 'shared', 'team'")
    if multi_agent and opponents is not None:
        raise ValueError("with multi_agent=True every seat learns: there are no opponents to choose")
    for name, number, allowed in (
        ("env_runners", env_runners, Whole(0)), ("envs_per_runner", envs_per_runner, Whole(1)),
        ("width", width, Whole(1)), ("blocks", blocks, Whole(0)),
    ):  # fmt: skip
        try:
            allowed(number)
        except (ValueError, TypeError):
            raise ValueError(f"{name}={number!r} is not allowed; allowed: {allowed}") from None
    if not multi_agent:
        OneSeat(variant, 1, opponents or "random", seat)  # raises ValueError for what cannot be played
    settings = {"game": game, "options": options, "seat": seat, "skip_forced": skip_forced}
    config = (
        PPOConfig()
        .environment(
            observation_space=observation_space(variant),
            action_space=action_space(variant),
            env_config={**settings, "opponents": opponents or "random"},
        )
        .env_runners(env_runner_cls=BatchRunner, num_env_runners=env_runners, num_envs_per_env_runner=envs_per_runner)
        .rl_module(
            rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"width": width, "blocks": blocks})
        )
        .training(
            train_batch_size_per_learner=16384,
            minibatch_size=2048,
            num_epochs=2,
            lr=1e-3,
            gamma=1.0,
            lambda_=0.95,
            clip_param=0.2,
            entropy_coeff=0.01,
            vf_loss_coeff=0.5,
            grad_clip=0.5,
            use_kl_loss=False,
        )
        .debugging(seed=seed)
    )
    if multi_agent:
        modules = {
            agent: team if networks == "team" else SHARED for team, agents in variant.teams.items() for agent in agents
        }
        config.multi_agent(policies=set(modules.values()), policy_mapping_fn=partial(_module_of, modules))
    return config


def _module_of(modules: dict[str, str], agent: str, *_: Any, **__: Any) -> str:
    """RLlib's question for a seat's module."""
    return modules[agent]


def save_policy(trained: Any, path: str | Path, game: str, *, module_id: str | None = None, **options: Any) -> None:
    """Write a trained `MaskedModule` as a file of weights: 'ppo:PATH' then plays like it, without Ray and torch.

    Raises `ValueError` if it is another kind of module, or was trained on other observations or actions.

    Args:
        trained: an algorithm, the folder of a checkpoint, or the module.
        path: of the file.
        game: name of the game.
        module_id: which one, where there are several modules.
        options: the game's options.
    """
    module, variant = rl_module(trained, module_id), find_game(game).variant(**options)
    if not isinstance(module, MaskedModule):
        raise ValueError(f"only the network of a MaskedModule can be written, not {type(module).__name__}")
    network = module.network.cpu()
    check_shapes(network.arrays(), variant, "the module")
    with replacing(Path(path)) as part:
        write(part, network, variant)
