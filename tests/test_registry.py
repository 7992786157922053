"""The games are where Gymnasium's and PettingZoo's users look for them."""

import subprocess
import sys

import gymnasium
import monsterzoo.envs as mz
import pytest
from monsterzoo.envs.aec import GameEnv
from monsterzoo.envs.parallel import ParallelGameEnv
from monsterzoo.envs.register import gymnasium_id, register_everything


def test_names():
    assert mz.names() == sorted(mz.names())
    assert "yokai_septet_v0" in mz.names()


@pytest.mark.parametrize("name", mz.names())
def test_modules_have_what_pettingzoo_users_expect(name):
    module = __import__(f"monsterzoo.envs.{name}", fromlist=["env"])
    assert module.env().metadata["name"] == name
    assert isinstance(module.env().unwrapped, GameEnv)
    assert isinstance(module.raw_env(), GameEnv)
    assert isinstance(module.parallel_env(), ParallelGameEnv)
    assert isinstance(mz.make(name).unwrapped, GameEnv)


@pytest.mark.parametrize("name", mz.names())
def test_pettingzoo_registry(name):
    registration = pytest.importorskip("pettingzoo.env_registry.registration", reason="PettingZoo has it from 1.27 on")
    aec = registration.make("aec", f"monsterzoo/{name}")
    aec.reset(seed=0)
    assert aec.unwrapped.variant.game.name == name
    observations, _ = registration.make("parallel", f"monsterzoo/{name}").reset(seed=0)
    assert set(observations) == set(aec.possible_agents)


@pytest.mark.parametrize("name", mz.names())
def test_spaces_are_identical_for_all_agents(name):
    env = mz.make(name)
    assert len({id(env.observation_space(agent)) for agent in env.possible_agents}) == 1
    assert len({id(env.action_space(agent)) for agent in env.possible_agents}) == 1
    assert env.action_space("player_0").n == env.unwrapped.variant.num_actions
    assert env.unwrapped.action_name(env.action_space("player_0").n - 1) == "no-op"
    env.reset(seed=0)
    assert env.unwrapped.state_space.contains(env.state())


@pytest.mark.parametrize("name", mz.names())
def test_action_names_go_both_ways(name):
    for options in mz.variant(name).game.variants:
        variant = mz.variant(name, **options)
        assert len(set(variant.action_names)) == variant.num_actions
        assert [variant.parse_action(text) for text in variant.action_names] == list(range(variant.num_actions))


def test_registering_twice_is_harmless(recwarn):
    register_everything()
    assert not [w for w in recwarn if "verrid" in str(w.message)]
    assert all(gymnasium_id(name) in gymnasium.registry for name in mz.names())


def test_importing_loads_no_game_and_no_training_library():
    """The import stays quick: games, torch and the like come when they are needed."""
    code = (
        "import sys, monsterzoo.envs; "
        "heavy = {'torch', 'ray', 'matplotlib', 'stable_baselines3', 'monsterzoo.envs.yokai_septet'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
