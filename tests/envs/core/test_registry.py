"""The games are where Gymnasium's and PettingZoo's users look for them."""

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint

import gymnasium
import monsterzoo.envs as mz
import pytest
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.parallel import ParallelGameEnv
from monsterzoo.envs.core import registry
from monsterzoo.envs.core.registry import find_game, gymnasium_id
from toys import import_game, write_game


def test_names():
    assert mz.names() == ["bite_night_v0", "pikit_v0", "yokai_septet_v0"]


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
    for each in (env, mz.make_parallel(name)):  # skrl reads the dicts
        assert each.observation_spaces == {agent: each.observation_space(agent) for agent in each.possible_agents}
        assert each.action_spaces == {agent: each.action_space(agent) for agent in each.possible_agents}
    env.reset(seed=0)
    assert env.unwrapped.state_space.contains(env.state())


@pytest.mark.parametrize("name", mz.names())
def test_action_names_go_both_ways(name):
    for options in mz.variant(name).game.variants:
        variant = mz.variant(name, **options)
        assert len(set(variant.action_names)) == variant.num_actions
        assert [variant.parse_action(text) for text in variant.action_names] == list(range(variant.num_actions))


def test_gymnasium_knows_every_game():
    assert gymnasium_id("yokai_septet_v0") == "monsterzoo/YokaiSeptet-v0"
    for name in mz.names():
        assert gymnasium.spec(gymnasium_id(name)).kwargs == {"game": name}


# --- Games from outside ---


@pytest.fixture(scope="module")
def race(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    write_game(folder, "long_race")
    return import_game(folder, "long_race")


@pytest.fixture
def other(race, monkeypatch):
    """A game that nobody knows before and after the test."""
    monkeypatch.setattr(registry, "_loaders", dict(registry._loaders))
    monkeypatch.setattr(registry, "_games", dict(registry._games))
    yield race
    gymnasium.registry.pop("monsterzoo/LongRace-v0", None)


def play_everywhere(name):
    assert name in mz.names()
    for env in (mz.make(name), mz.make_parallel(name)):
        env.reset(seed=0)
        assert env.unwrapped.variant.game.name == name
    assert mz.make_vec(name, 2, seed=0).variant.game.name == name
    one_seat = gymnasium.make(gymnasium_id(name), opponents="random")
    observation, _ = one_seat.reset(seed=0)
    assert one_seat.observation_space.contains(observation)


def test_a_registered_game_is_found_everywhere(other):
    with pytest.raises(ValueError, match="there is no game 'long_race_v0'"):
        mz.make(other.name)
    mz.register_game(other)
    assert find_game(other.name) is other
    play_everywhere(other.name)


def test_registering_again_replaces_a_game_without_a_warning(other, recwarn):
    mz.register_game(other)
    assert find_game(other.name) is other
    again = replace(other)
    mz.register_game(again)
    assert find_game(other.name) is again
    assert not [warning for warning in recwarn if "verrid" in str(warning.message)]


def test_a_game_is_loaded_when_it_is_asked_for(other):
    loaded = []
    registry.register_lazily(other.name, lambda: loaded.append(other) or other)
    assert other.name in mz.names()
    assert loaded == []
    assert find_game(other.name) is find_game(other.name) is other
    assert loaded == [other]


def test_a_game_must_be_called_as_it_is_registered(other):
    registry.register_lazily("another_name_v0", lambda: other)
    for _ in range(2):
        with pytest.raises(ValueError, match="'another_name_v0' calls itself 'long_race_v0'"):
            find_game("another_name_v0")
    gymnasium.registry.pop("monsterzoo/AnotherName-v0")


def test_games_of_installed_packages_are_known_but_do_not_replace_ours(other, monkeypatch):
    """A package declares them with the entry point group `monsterzoo.games`."""
    installed = [
        EntryPoint("long_race_v0", "games_of_another_package:GAME", "monsterzoo.games"),
        EntryPoint("pikit_v0", "nowhere:GAME", "monsterzoo.games"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: installed if group == "monsterzoo.games" else [])
    monkeypatch.setitem(sys.modules, "games_of_another_package", type(sys)("games_of_another_package"))
    sys.modules["games_of_another_package"].GAME = other
    registry.register_all()
    play_everywhere(other.name)
    assert find_game("pikit_v0").name == "pikit_v0"


def test_importing_loads_no_game_and_no_training_library():
    """The import stays quick: games, torch and the like come when they are needed."""
    folders = [f"monsterzoo.envs.{name.rsplit('_', 1)[0]}" for name in mz.names()]
    code = f"""
import sys
import monsterzoo.envs
print(sorted({{'torch', 'ray', 'matplotlib', 'stable_baselines3', *{folders}}} & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
