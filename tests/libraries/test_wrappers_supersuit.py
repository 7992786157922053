"""SuperSuit's wrappers of observations and rewards, on environments whose observations are tensors."""

import monsterzoo.envs as mz
import numpy as np
import pytest
from needs import needs

supersuit = needs("supersuit")
torch = needs("torch")

import gymnasium
from guide import Audit, check_beats_random
from monsterzoo import policies
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv


def normalized(env):
    """Every column between 0 and 1."""
    return supersuit.normalize_obs_v0(supersuit.dtype_v0(env, np.float32))


WRAPPERS = {
    "dtype": lambda env: supersuit.dtype_v0(env, np.float32),
    "flatten": supersuit.flatten_v0,
    "frame_stack": lambda env: supersuit.frame_stack_v1(env, 2),
    "normalize_obs": lambda env: normalized(env),
    "agent_indicator": lambda env: supersuit.agent_indicator_v0(normalized(env)),
    "delay_observations": lambda env: supersuit.delay_observations_v0(env, 1),
    "pad_observations": supersuit.pad_observations_v0,
    "pad_action_space": supersuit.pad_action_space_v0,
    "clip_reward": supersuit.clip_reward_v0,
}


@pytest.mark.parametrize("label", WRAPPERS)
@pytest.mark.parametrize("make", [mz.make, mz.make_parallel], ids=["aec", "parallel"])
def test_wrapped_environments_play_a_game(make, label):
    env = WRAPPERS[label](make("pikit_v0", players=2, observation="box"))
    random = np.random.default_rng(0)

    def choose(info):
        return int(random.choice(np.flatnonzero(info["action_mask"])))

    if make is mz.make_parallel:
        observations, infos = env.reset(seed=1)
        while env.agents:
            agent = env.agents[0]
            assert env.observation_space(agent).contains(observations[agent])
            observations, *_, infos = env.step({one: choose(infos[one]) for one in env.agents})
    else:
        env.reset(seed=1)
        for agent in env.agent_iter():
            seen, _, terminated, truncated, info = env.last()
            assert env.observation_space(agent).contains(seen)
            env.step(None if terminated or truncated else choose(info))
    assert env.unwrapped.snapshot()["over"]


def test_agent_indicators_without_normalized_columns_leave_their_own_space():
    """SuperSuit bounds the mark by the smallest bound of all columns and sets it to the largest of them."""
    env = supersuit.agent_indicator_v0(mz.make("pikit_v0", players=2, observation="box"))
    env.reset(seed=1)
    space, (seen, *_) = env.observation_space("player_0"), env.last()
    outside = np.flatnonzero((seen < space.low) | (seen > space.high))
    assert outside.tolist() == [len(seen) - 2], "only the mark of the first of two seats"
    high = env.unwrapped.observation_space("player_0").high
    assert space.high[outside[0]] == high.min() < high.max() == seen[outside[0]]


def test_maskable_ppo_learns_through_wrappers(monkeypatch):
    """From columns between 0 and 1; the mask is found through the wrappers."""
    torch.set_num_threads(1)
    audit = Audit(monkeypatch)
    options = {"players": 2, "opponents": "random", "observation": "box"}
    env = DummyVecEnv([lambda: normalized(gymnasium.make("monsterzoo/Pikit-v0", **options))] * 8)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=256, batch_size=512, n_epochs=4, gamma=1.0, learning_rate=1e-3, seed=0
    )
    model.learn(20_480)
    audit.check(20_480)
    low, high = mz.variant("pikit_v0", players=2).layout.bounds
    span = high.astype(np.float32) - low

    def act(observations, action_masks):
        seen = ((observations - low.astype(np.float32)) / span).astype(np.float32)
        return model.predict(seen, action_masks=action_masks != 0, deterministic=True)[0]

    check_beats_random(policies.from_function(act))
