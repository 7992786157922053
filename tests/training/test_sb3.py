"""MaskablePPO's environments: the games of the AEC API, step by step, and self-play against the past."""

import numpy as np
import pytest
from monsterzoo.envs import env_seed
from monsterzoo.envs import make as make_env

pytest.importorskip("sb3_contrib")

from monsterzoo.policies import from_sb3
from monsterzoo.training.sb3 import PastSelf, SelfPlay, make_vec_env
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

GAME, OPTIONS = "yokai_septet_v0", {"players": 4, "episode": "round", "reward": "score"}


class LowestCard:
    """The first legal action, whatever is known."""

    name = "lowest"

    def act(self, observations, action_masks, seats, states=None):
        return action_masks.argmax(1)


class OneGame:
    """What the adapter should do for one game, by the AEC environment: others play the lowest legal action."""

    def __init__(self, seed: int, learner: int) -> None:
        self.env, self.learner = make_env(GAME, **OPTIONS).unwrapped, learner
        self.env.reset(seed=seed)
        self.play_others()

    def play_others(self) -> float:
        env, paid = self.env, 0.0
        agent = f"player_{self.learner}"
        while not any(env.terminations.values()) and not env.infos[agent]["action_mask"][:-1].any():
            env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
            paid += env.rewards[agent]
        return paid

    def step(self, action: int) -> tuple[float, bool, np.ndarray | None]:
        agent = f"player_{self.learner}"
        while self.env.agent_selection != agent:  # a simultaneous phase: seats before it choose as well
            self.env.step(int(self.env.observe(self.env.agent_selection)["action_mask"].argmax()))
        self.env.step(action)
        paid = self.env.rewards[agent] + self.play_others()
        done = any(self.env.terminations.values())
        last = self.env.observe(agent)["observation"] if done else None
        if done:
            self.learner = (self.learner + 1) % 4
            self.env.reset()
            self.play_others()
        return paid, done, last

    def observe(self) -> dict[str, np.ndarray]:
        return self.env.observe(f"player_{self.learner}")


def test_the_adapter_plays_the_games_of_the_aec_environment() -> None:
    count, random = 8, np.random.default_rng(0)
    env = make_vec_env(GAME, count, LowestCard(), seed=11, **OPTIONS)
    observations = env.reset()
    games = [OneGame(env_seed(11, i), i % 4) for i in range(count)]
    finished = 0
    for _ in range(60):
        masks = get_action_masks(env)
        assert masks.dtype == np.bool_
        for i, game in enumerate(games):
            seen = game.observe()
            np.testing.assert_array_equal(observations[i], seen["observation"])
            np.testing.assert_array_equal(masks[i], seen["action_mask"])
        actions = np.array([random.choice(np.flatnonzero(mask)) for mask in masks])
        observations, rewards, dones, infos = env.step(actions)
        for i, game in enumerate(games):
            paid, done, last = game.step(int(actions[i]))
            assert rewards[i] == pytest.approx(paid, abs=1e-6)
            assert dones[i] == done
            assert ("terminal_observation" in infos[i]) == done
            if done:
                finished += 1
                np.testing.assert_array_equal(infos[i]["terminal_observation"], last)
                assert infos[i]["TimeLimit.truncated"] is False
    assert finished > count


def test_observations_of_a_step_outlive_the_next() -> None:
    env = make_vec_env(GAME, 4, seed=0, **OPTIONS)
    first = env.reset()
    kept = first.copy()
    env.step(get_action_masks(env).argmax(1))
    np.testing.assert_array_equal(first, kept)


def test_seeds_of_sb3_are_used_by_the_next_reset_only() -> None:
    env = make_vec_env(GAME, 4, **OPTIONS)
    env.seed(5)
    first = env.reset()
    assert not np.array_equal(env.reset(), first)
    env.seed(5)
    np.testing.assert_array_equal(env.reset(), first)


def test_single_games_have_masks_and_nothing_else() -> None:
    env = make_vec_env(GAME, 4, seed=0, **OPTIONS)
    env.reset()
    assert is_masking_supported(env)
    assert np.shape(env.env_method("action_masks", indices=[1, 2])) == (2, env.action_space.n)
    with pytest.raises(AttributeError):
        env.env_method("fly")
    with pytest.raises(NotImplementedError):
        env.set_attr("opponents", None)


def test_maskable_ppo_plays_against_its_own_past() -> None:
    past = PastSelf(GAME, keep=2, **OPTIONS)
    env = make_vec_env(GAME, 16, past, seed=0, **OPTIONS)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=64, n_epochs=1, gamma=1.0, seed=0, device="cpu")
    before = {name: values.clone() for name, values in model.policy.state_dict().items()}
    model.learn(16 * 8 * 5, callback=SelfPlay(past, every=1))
    assert len(past._weights) == 2
    assert past._network is not None
    assert past._network is not model.policy
    kept = past._weights[-1]
    assert any(not kept[name].equal(before[name]) for name in kept)
    assert any(not kept[name].equal(values) for name, values in model.policy.state_dict().items())
    masks = get_action_masks(env)
    actions = from_sb3(model).act(env.games.reset()[0]["observation"], masks.astype(np.int8), np.zeros(16, np.int64))
    assert masks[np.arange(16), actions].all()
    assert len(model.ep_info_buffer) > 0
