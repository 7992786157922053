"""What Gymnasium, PettingZoo and the libraries on top of them expect to find, beyond what conformance checks."""

import pickle
import sys

import gymnasium
import monsterzoo.envs as mz
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers
from monsterzoo.envs import env_seed, pikit_v0
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.core.registry import gymnasium_id
from needs import needs
from pettingzoo.utils import aec_to_parallel, parallel_to_aec, turn_based_aec_to_parallel

PIKIT = "monsterzoo/Pikit-v0"

CONSTRUCTORS = {
    "env": pikit_v0.env,
    "raw_env": pikit_v0.raw_env,
    "parallel_env": pikit_v0.parallel_env,
    "make": lambda **options: mz.make("pikit_v0", **options),
    "make_parallel": lambda **options: mz.make_parallel("pikit_v0", **options),
    "make_vec": lambda **options: mz.make_vec("pikit_v0", 2, **options),
    "gymnasium.make": lambda **options: gymnasium.make(PIKIT, **options),
    "gymnasium.make_vec": lambda **options: gymnasium.make_vec(PIKIT, num_envs=2, **options),
}
constructors = pytest.mark.parametrize("make", CONSTRUCTORS.values(), ids=CONSTRUCTORS)


# --- Keywords ---


@constructors
def test_an_unknown_keyword_is_a_type_error_and_a_value_error(make):
    """Libraries try keywords such as `frameskip` and do without them if there is a TypeError that says so."""
    for error in (TypeError, ValueError):
        with pytest.raises(error, match="unexpected keyword argument 'frameskip'"):
            make(frameskip=4)
    with pytest.raises(ValueError, match="pikit_v0 has no option 'frameskip'; its options are players, deck, centre"):
        make(frameskip=4)


@pytest.mark.parametrize("make", [pikit_v0.env, pikit_v0.parallel_env, CONSTRUCTORS["gymnasium.make"]])
def test_a_render_mode_that_there_is_not_is_a_type_error_too(make):
    with pytest.raises(TypeError, match="render_mode='hologram' is not allowed"):
        make(render_mode="hologram")


@constructors
def test_other_kinds_of_observations_are_refused(make):
    with pytest.raises(ValueError, match="observation='tuple' is not allowed; allowed: 'dict', 'box'"):
        make(observation="tuple")


def test_what_is_for_batches_only_is_refused_elsewhere():
    with pytest.raises(TypeError, match="unexpected keyword argument 'autoreset_mode'"):
        gymnasium.make(PIKIT, autoreset_mode="next_step")


# --- Observations as a tensor alone ---


def test_boxes_are_the_tensors_of_the_dicts(name, options):
    boxed, plain = (mz.make(name, observation=kind, **options) for kind in ("box", "dict"))
    boxed.reset(seed=1)
    plain.reset(seed=1)
    parallel = mz.make_parallel(name, observation="box", **options)
    observations, infos = parallel.reset(seed=1)
    for agent in plain.possible_agents:
        seen = plain.observe(agent)
        np.testing.assert_array_equal(boxed.observe(agent), seen["observation"])
        np.testing.assert_array_equal(boxed.infos[agent]["action_mask"], seen["action_mask"])
        np.testing.assert_array_equal(observations[agent], seen["observation"])
        np.testing.assert_array_equal(infos[agent]["action_mask"], seen["action_mask"])
        assert boxed.observation_space(agent).contains(observations[agent])


def test_boxed_one_seat_games_are_the_same_games():
    boxed, plain = (gymnasium.make(PIKIT, observation=kind) for kind in ("box", "dict"))
    row, info = boxed.reset(seed=1)
    seen, _ = plain.reset(seed=1)
    games = 0
    while games < 3:
        np.testing.assert_array_equal(row, seen["observation"])
        np.testing.assert_array_equal(info["action_mask"], seen["action_mask"])
        assert boxed.observation_space.contains(row)
        action = int(seen["action_mask"].argmax())
        row, reward, *over, info = boxed.step(action)
        seen, other, *ended, _ = plain.step(action)
        assert (reward, over) == (other, ended)
        if any(over):
            np.testing.assert_array_equal(row, seen["observation"])
            row, info = boxed.reset()
            seen, _ = plain.reset()
            games += 1


# --- Floats ---


def first_of(made):
    """What the first decision of an environment or batch shows, with its space."""
    if isinstance(made, mz.VectorGame):
        made.reset(7)
        return made.observations[0], made.single_observation_space["observation"]
    if isinstance(made, gymnasium.vector.VectorEnv):
        return made.reset(seed=[env_seed(7, 0), 1])[0]["observation"][0], made.single_observation_space["observation"]
    if isinstance(made, gymnasium.Env):
        return made.reset(seed=env_seed(7, 0))[0]["observation"], made.observation_space["observation"]
    made.reset(seed=env_seed(7, 0))
    agent = made.possible_agents[0]
    seen = made.unwrapped.aec.observe(agent) if hasattr(made.unwrapped, "aec") else made.observe(agent)
    return seen["observation"], made.observation_space(agent)["observation"]


@constructors
def test_observations_can_be_floats(make):
    plain, space = first_of(make())
    assert plain.dtype == space.dtype == np.int8
    floats, space = first_of(make(dtype="float32"))
    assert floats.dtype == space.dtype == np.float32
    assert space.contains(floats)
    np.testing.assert_array_equal(floats, plain)
    scaled, space = first_of(make(dtype=np.float32, scale=True))
    low, high = mz.variant("pikit_v0").layout.bounds
    np.testing.assert_allclose(scaled, (plain.astype(float) - low) / (high.astype(float) - low), rtol=1e-6)
    assert (space.low.min(), space.high.max(), scaled.dtype) == (0, 1, np.float32)
    assert space.contains(scaled)
    assert plain.max() > 1 >= scaled.max()
    for wrong in ({"dtype": "float64"}, {"dtype": None}, {"scale": True}, {"dtype": "float32", "scale": 2}):
        with pytest.raises(ValueError, match=r"(dtype|scale)=.* is not allowed"):
            make(**wrong)


def test_floats_are_those_of_every_step_final_observations_and_states_included():
    vec, floats = (mz.make_vec("pikit_v0", 8, seed=2, players=2, **more) for more in ({}, {"dtype": "float32"}))
    for _ in range(30):
        actions = vec.sample_actions()
        floats.step(actions)
        vec.step(actions)
        np.testing.assert_array_equal(floats.observations, vec.observations)
    assert floats.decisions().observations.dtype == np.int8  # as policies take them
    again = pickle.loads(pickle.dumps(floats))
    np.testing.assert_array_equal(again.observations, floats.observations)
    assert again.observations.dtype == np.float32
    env = pikit_v0.raw_env(players=2, dtype="float32", scale=True)
    env.reset(seed=1)
    assert env.state_space.contains(env.state())
    assert env.state().dtype == np.float32
    batch = gymnasium.make_vec(PIKIT, num_envs=4, players=2, dtype="float32", autoreset_mode="same_step", max_turns=9)
    _, infos = batch.reset(seed=1)
    while "final_obs" not in infos:
        _, _, _, _, infos = batch.step(infos["action_mask"].argmax(axis=1))
    last = next(one for one in infos["final_obs"] if one is not None)
    assert batch.single_observation_space.contains(last)


# --- Vector environments ---


def test_generators_for_whoever_wants_one():
    single, batch = gymnasium.make(PIKIT), gymnasium.make_vec(PIKIT, num_envs=2)
    for env in (single.unwrapped, batch):
        assert isinstance(env.np_random, np.random.Generator)
        env.reset(seed=3)
        first = env.np_random.integers(2**32)
        assert env.np_random_seed == 3
        env.reset()
        env.reset(seed=3)
        assert env.np_random.integers(2**32) == first


@pytest.mark.parametrize("options", [{}, {"autoreset_mode": "disabled"}], ids=["default", "disabled"])
def test_gymnasiums_vector_wrappers_of_observations(options):
    def batch(**more):
        return gymnasium.make_vec(PIKIT, num_envs=2, **options, **more)

    space = batch().single_observation_space
    wrapped = {
        "cast": wrappers.DtypeObservation(batch(observation="box"), np.float32),
        "flat": wrappers.FlattenObservation(batch()),
        "filtered": wrappers.FilterObservation(batch(), ["observation"]),
        "transformed": wrappers.TransformObservation(
            batch(), lambda seen: seen["observation"], single_observation_space=space["observation"]
        ),
        "counted": wrappers.RecordEpisodeStatistics(batch()),
    }
    if not options:
        wrapped["normalized"] = wrappers.NormalizeObservation(batch(observation="box"))
    for label, env in wrapped.items():
        seen, infos = env.reset(seed=1)
        for _ in range(5):
            seen, *_, infos = env.step(infos["action_mask"].argmax(axis=1))
            assert env.observation_space.contains(seen), label
    assert wrapped["flat"].single_observation_space.shape == (
        space["observation"].shape[0] + space["action_mask"].shape[0],
    )


def test_gymnasium_finds_the_metadata_of_what_is_registered():
    for name in mz.names():
        spec = gymnasium.spec(gymnasium_id(name))
        creator = gymnasium.envs.registration.load_env_creator(spec.entry_point)
        assert {"ansi", "human"} <= set(creator.metadata["render_modes"])
        batched = gymnasium.envs.registration.load_env_creator(spec.vector_entry_point)
        assert batched.metadata["autoreset_mode"] is SeatVectorEnv("pikit_v0").autoreset_mode


# --- PettingZoo's conversions ---


def test_only_the_parallel_environment_says_that_it_is_parallel():
    env = pikit_v0.env()
    assert not env.metadata["is_parallelizable"]
    assert pikit_v0.parallel_env().metadata["is_parallelizable"]
    with pytest.raises(AssertionError, match="is_parallelizable"):
        aec_to_parallel(env)


def test_pettingzoos_conversions_that_fit_play_whole_games(name, options):
    random = np.random.default_rng(0)
    turns = turn_based_aec_to_parallel(mz.make(name, **options))
    turns.reset(seed=1)
    while turns.agents:
        aec = turns.aec_env
        acting = aec.agent_selection
        legal = np.flatnonzero(aec.infos[acting]["action_mask"])
        actions = {agent: int(random.choice(legal)) if agent == acting else None for agent in turns.agents}
        _, _, terminations, truncations, _ = turns.step(actions)
    assert all(terminations.values()) or all(truncations.values())

    env = parallel_to_aec(mz.make_parallel(name, **options))
    env.reset(seed=1)
    for _ in env.agent_iter():
        seen, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        env.step(None if over else int(random.choice(np.flatnonzero(seen["action_mask"]))))
    assert env.unwrapped.snapshot()["over"]
    assert not env.agents


# --- Stable-Baselines3 ---


def test_the_makers_of_stable_baselines3_work(recwarn):
    env_util = needs("stable_baselines3.common.env_util")
    env = env_util.make_vec_env(PIKIT, n_envs=2, seed=1, env_kwargs={"observation": "box", "players": 2})
    assert env.reset().shape == (2, *env.observation_space.shape)
    for _ in range(100):
        masks = np.stack(env.env_method("action_masks"))
        *_, infos = env.step(masks.argmax(axis=1))
        assert not any(info["illegal"] for info in infos)
    with pytest.raises(TypeError, match="frameskip"):
        env_util.make_vec_env(PIKIT, env_kwargs={"frameskip": 4})


def test_the_makers_of_stable_baselines3_work_without_pygame(monkeypatch):
    """They ask for pictures first, and do without where that is a TypeError."""
    env_util = needs("stable_baselines3.common.env_util")
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(TypeError, match="pictures need pygame-ce"):
        gymnasium.make(PIKIT, render_mode="rgb_array")
    assert env_util.make_vec_env(PIKIT, n_envs=1).render_mode is None


def test_a_game_begins_with_everybody_at_the_table_and_nothing_won(name, options):
    env = mz.make(name, **options).unwrapped
    for _ in range(2):
        env.reset(seed=1)
        assert env.agents == env.possible_agents
        assert set(env.rewards.values()) == set(env._cumulative_rewards.values()) == {0.0}
        assert set(env.terminations.values()) == set(env.truncations.values()) == {False}
        assert [part.keys() for part in (env.rewards, env.terminations, env.truncations, env.infos)] == (
            [dict.fromkeys(env.possible_agents).keys()] * 4
        )
        assert env.last()[1:4] == (0.0, False, False)
        env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))
