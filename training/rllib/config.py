"""`ppo_config`: RLlib's PPO with our runner, learner and module."""

from functools import partial
from typing import Any

from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.api.spaces import action_space, observation_space
from monsterzoo.envs.core.options import Choice, Integer, checked
from monsterzoo.envs.core.registry import find_game
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from .learner import BatchLearner
from .module import MaskedModule
from .runner import BatchRunner

SHARED = "shared"  # the module of all seats in self-play with one network


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
    """A config of RLlib's PPO that trains as it is; change what you like with RLlib's own methods.

    Raises `ValueError` for bad arguments.

    Args:
        game: name of the game.
        multi_agent: self-play of all seats, instead of one seat against `opponents`.
        env_runners: actors that play, wherever Ray has room for them; 0 plays in the learning process.
        envs_per_runner: games that each plays at once.
        opponents: a policy's spec such as "heuristic" (default: "random"), a policy, or one of either for each other
            seat; with several actors a policy is pickled.
        seat: the learner's seat, or "rotate".
        networks: in self-play, "shared" for one network (module "shared") or "team" for one per team ("team_0", …).
        skip_forced: leave out decisions with one legal action.
        width: of the network's hidden layers.
        blocks: number of its residual blocks.
        seed: of games and weights.
        options: the game's options.
    """
    variant = find_game(game).variant(**options)
    checked("networks", networks, Choice("shared", "team"))
    if multi_agent and opponents is not None:
        raise ValueError("with multi_agent=True every seat learns: there are no opponents to choose")
    sizes = {"env_runners": (env_runners, 0), "envs_per_runner": (envs_per_runner, 1)}
    for name, (size, least) in {**sizes, "width": (width, 1), "blocks": (blocks, 0)}.items():
        checked(name, size, Integer(least))
    settings = {"opponents": opponents or "random", "seat": seat, "skip_forced": skip_forced}
    if not multi_agent:
        SeatVectorEnv(game, opponents=settings["opponents"], seat=seat, **options)  # refuses bad opponents and seats
    spaces = {"observation_space": observation_space(variant), "action_space": action_space(variant)}
    config = (
        PPOConfig()
        .environment(**spaces, env_config={**settings, "game": game, "options": options})
        .env_runners(
            env_runner_cls=BatchRunner,
            num_env_runners=env_runners,
            num_envs_per_env_runner=envs_per_runner,
            add_default_connectors_to_env_to_module_pipeline=False,  # there are no connectors between batch and module
            add_default_connectors_to_module_to_env_pipeline=False,
        )
        .rl_module(rl_module_spec=RLModuleSpec(MaskedModule, model_config={"width": width, "blocks": blocks}))
        .learners(learner_class=BatchLearner, add_default_connectors_to_learner_pipeline=False)  # it has its own
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
        teams = {agent: team for team, agents in variant.teams.items() for agent in agents}
        modules = teams if networks == "team" else dict.fromkeys(teams, SHARED)
        config.multi_agent(policies=set(modules.values()), policy_mapping_fn=partial(_module_of, modules))
    return config


def _module_of(modules: dict[str, str], agent: str, *_: Any, **__: Any) -> str:
    return modules[agent]
