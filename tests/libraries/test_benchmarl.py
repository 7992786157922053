"""BenchMARL: its algorithms play legally in teams, the state is the environment's, and training works."""

import monsterzoo.envs as mz
import pytest
from needs import needs

torch = needs("torch")
pytest.importorskip("benchmarl", reason="BenchMARL is not installed: make test-benchmarl")

from benchmarl.algorithms import IppoConfig, IqlConfig, MappoConfig, MasacConfig, QmixConfig
from benchmarl.experiment import Experiment, ExperimentConfig
from benchmarl.models.mlp import MlpConfig
from guide import Audit, check_beats_random, run_guide
from monsterzoo.envs import env_seed
from monsterzoo.policies import act_in
from monsterzoo.training.benchmarl import GameTask, from_experiment
from torchrl.envs import TransformedEnv, check_env_specs

YOKAI = {"players": 4, "episode": "round"}


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where experiments are kept
    torch.set_num_threads(1)


def test_groups_are_teams_and_the_state_is_that_of_the_environment():
    task = GameTask("yokai_septet_v0", YOKAI)
    env = task.get_env_fun(num_envs=2, continuous_actions=False, seed=5, device="cpu")()
    check_env_specs(TransformedEnv(env, *task.get_env_transforms(env)))
    raw = mz.make("yokai_septet_v0", **YOKAI).unwrapped
    assert task.group_map(env) == raw.teams
    env.set_seed(5)
    now = env.reset()
    raw.reset(seed=env_seed(5, 0))
    assert now["state"][0].tolist() == raw.state().tolist()
    for team, agents in raw.teams.items():
        for place, agent in enumerate(agents):
            seen = raw.observe(agent)
            assert now[team, "observation"][0, place].tolist() == seen["observation"].tolist()
            assert now[team, "action_mask"][0, place, -1] == (agent != raw.agent_selection)


@pytest.mark.parametrize("algorithm", [IppoConfig, MappoConfig, IqlConfig, QmixConfig, MasacConfig])
def test_algorithms_play_legally(algorithm, monkeypatch):
    audit, config = Audit(monkeypatch), ExperimentConfig.get_from_yaml()
    config.max_n_frames, config.evaluation, config.loggers, config.create_json = 1024, False, [], False
    for kind in ("on", "off"):
        setattr(config, f"{kind}_policy_n_envs_per_worker", 16)
        setattr(config, f"{kind}_policy_collected_frames_per_batch", 512)
    config.on_policy_n_minibatch_iters, config.off_policy_n_optimizer_steps = 1, 4
    task, model = GameTask("yokai_septet_v0", YOKAI), MlpConfig.get_from_yaml()
    experiment = Experiment(task, algorithm.get_from_yaml(), model, seed=0, config=config)
    experiment.run()
    assert audit.steps >= 1024
    assert audit.illegal == 0
    env = mz.make_raw("yokai_septet_v0", **YOKAI)
    env.reset(seed=0)
    act_in(from_experiment(experiment), env)


def test_training_of_the_guide_works(monkeypatch):
    audit, names = Audit(monkeypatch), run_guide("benchmarl")
    audit.check(65_536)
    check_beats_random(names["policy"])


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="players=9 is not allowed"):
        GameTask("pikit_v0", {"players": 9})
