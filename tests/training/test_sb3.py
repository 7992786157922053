"""MaskablePPO's environments: the games of the AEC API, step by step, and self-play against the past."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from monsterzoo.envs import env_seed, make_vec
from monsterzoo.envs import make as make_env
from needs import needs

needs("sb3_contrib")

from monsterzoo.cli import main
from monsterzoo.policies import Decisions, from_sb3, make
from monsterzoo.training import sb3
from monsterzoo.training.sb3 import MaskedCategorical, MaskedPolicy, PastSelf, SelfPlay, make_vec_env
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

GAME, OPTIONS = "yokai_septet_v0", {"players": 4, "episode": "round", "reward": "score"}


class LowestCard:
    """The first legal action, whatever is known."""

    name = "lowest"

    def act(self, decisions):
        return decisions.action_masks.argmax(1)


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


def test_infos_of_a_finished_game_tell_its_return_its_length_and_whether_it_was_cut_off() -> None:
    env = make_vec_env("pikit_v0", 8, seed=3, players=2, reward="score", max_turns=6)
    env.reset()
    returns, lengths, cut_off, finished = np.zeros(8), np.zeros(8, int), 0, 0
    for step in range(40):
        if step == 5:  # what was gained before does not count any more
            env.reset()
            returns[:], lengths[:] = 0, 0
        _, rewards, dones, infos = env.step(get_action_masks(env).argmax(1))
        returns += rewards
        lengths += 1
        for i, done in enumerate(dones):
            assert infos[i].keys() == ({"terminal_observation", "TimeLimit.truncated", "episode"} if done else set())
            if done:
                assert infos[i]["episode"].keys() == {"r", "l", "t"}
                assert (infos[i]["episode"]["r"], infos[i]["episode"]["l"]) == (pytest.approx(returns[i]), lengths[i])
                assert infos[i]["episode"]["t"] > 0
                cut_off += infos[i]["TimeLimit.truncated"]
                returns[i], lengths[i], finished = 0, 0, finished + 1
    assert 8 < finished == cut_off, "six turns are no whole game"


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
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[2])[0], get_action_masks(env)[2])
    assert env.get_attr("num_envs") == [4] * 4
    assert env.get_attr("num_envs", [1]) == [4]
    assert env.env_is_wrapped(Monitor, [0, 1]) == [True, True]  # infos are as if it were
    assert env.env_is_wrapped(VecMonitor) == [False] * 4
    with pytest.raises(AttributeError):
        env.env_method("fly")
    with pytest.raises(NotImplementedError):
        env.set_attr("opponents", None)


def masked_distributions(rows: int, actions: int) -> tuple[torch.Tensor, np.ndarray]:
    """Logits with large differences, and masks with one legal action and more."""
    generator = torch.Generator().manual_seed(0)
    logits = 5 * torch.randn(rows, actions, generator=generator)
    masks = torch.rand(rows, actions, generator=generator) < 0.2
    masks[torch.arange(rows), torch.arange(rows) % actions] = True
    masks[0, 1:] = False
    return logits, masks.numpy()


def test_the_distribution_is_that_of_maskable_ppo() -> None:
    logits, masks = masked_distributions(64, 20)
    actions = torch.from_numpy(masks.argmax(1))
    for applied in (masks, masks.reshape(-1), None):
        results = []
        for distribution in (MaskableCategoricalDistribution(20), MaskedCategorical(20)):
            inputs = logits.clone().requires_grad_()
            distribution.proba_distribution(inputs)
            if applied is not None:
                distribution.apply_masking(applied)
            log_probs, entropies = distribution.log_prob(actions), distribution.entropy()
            (log_probs.sum() + 3 * entropies.square().sum()).backward()
            results.append((log_probs, entropies, distribution.mode(), inputs.grad))
        for theirs, ours in zip(*results):
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_drawn_actions_are_legal_and_as_frequent_as_they_should_be() -> None:
    logits, masks = masked_distributions(4, 20)
    distribution = MaskedCategorical(20).proba_distribution(logits.repeat(50_000, 1))
    distribution.apply_masking(np.tile(masks, (50_000, 1)))
    torch.manual_seed(0)
    drawn = distribution.sample().reshape(50_000, 4).numpy()
    for row in range(4):
        counts = np.bincount(drawn[:, row], minlength=20)
        expected = distribution.distribution.logits[row].exp().numpy()
        assert not counts[~masks[row]].any()
        np.testing.assert_allclose(counts / 50_000, expected, atol=5 * np.sqrt(0.25 / 50_000))


def test_the_policy_learns_like_mlp_policy(tmp_path) -> None:
    models = []
    for policy in ("MlpPolicy", MaskedPolicy):
        env = make_vec_env(GAME, 16, seed=0, **OPTIONS)
        models.append(MaskablePPO(policy, env, n_steps=8, batch_size=64, n_epochs=2, seed=0, device="cpu"))
    theirs, ours = models
    theirs.learn(128)
    # The same rollout and the same order of minibatches give the same weights.
    ours._setup_learn(128)
    ours.rollout_buffer, ours._current_progress_remaining = theirs.rollout_buffer, 1.0
    theirs.policy.load_state_dict(ours.policy.state_dict())
    theirs.policy.optimizer.load_state_dict(ours.policy.optimizer.state_dict())
    theirs._current_progress_remaining = 1.0
    for model in models:
        np.random.seed(0)
        model.train()
    for name, values in ours.policy.state_dict().items():
        torch.testing.assert_close(values, theirs.policy.state_dict()[name], rtol=1e-3, atol=1e-5)
    ours.save(tmp_path / "model.zip")
    loaded = MaskablePPO.load(tmp_path / "model.zip")
    assert isinstance(loaded.policy, MaskedPolicy)
    observations, masks = env.reset(), get_action_masks(env)
    expected, _ = ours.predict(observations, action_masks=masks, deterministic=True)
    np.testing.assert_array_equal(loaded.predict(observations, action_masks=masks, deterministic=True)[0], expected)


def test_maskable_ppo_plays_against_its_own_past() -> None:
    past = PastSelf(GAME, keep=2, **OPTIONS)
    env = make_vec_env(GAME, 16, past, seed=0, **OPTIONS)
    model = MaskablePPO(MaskedPolicy, env, n_steps=8, batch_size=64, n_epochs=1, gamma=1.0, seed=0, device="cpu")
    before = {name: values.clone() for name, values in model.policy.state_dict().items()}
    model.learn(16 * 8 * 5, callback=SelfPlay(past, every=1))
    assert len(past._weights) == 2
    assert past._network is not None
    assert past._network is not model.policy
    kept = past._weights[-1]
    assert any(not kept[name].equal(before[name]) for name in kept)
    assert any(not kept[name].equal(values) for name, values in model.policy.state_dict().items())
    masks = get_action_masks(env)
    rows = env.games.reset()[0]["observation"]
    actions = from_sb3(model).act(Decisions(env.games.variant, rows, masks, np.zeros(16, np.int64)))
    assert masks[np.arange(16), actions].all()
    assert len(model.ep_info_buffer) > 0


class Learner(torch.nn.Module):
    """As much of a policy network of SB3 as a `PastSelf` needs: it takes the action that its only weight says."""

    def __init__(self) -> None:
        super().__init__()
        self.action = torch.nn.Parameter(torch.zeros(()))
        self.observation_space = None

    def _get_constructor_parameters(self) -> dict[str, object]:
        return {}

    def predict(self, rows, action_masks=None, deterministic=True):
        assert not deterministic
        return np.full(len(rows), int(self.action)), None


def test_a_past_self_plays_at_random_then_like_one_of_the_versions_it_has_kept() -> None:
    past, games, learner = PastSelf("pikit_v0", keep=2, players=2), make_vec("pikit_v0", 64, players=2), Learner()
    past.choose()  # none yet
    row = int(games.action_masks.sum(axis=1).argmax())
    decisions, legal = games.decisions()[np.full(64, row)], np.flatnonzero(games.action_masks[row])
    assert len({*past.act(decisions).tolist()}) > 1
    for version in range(4):
        learner.action.data.fill_(float(legal[version % 2]))
        past.remember(learner)
    kept = [int(weights["action"]) for weights in past._weights]
    assert len(kept) == 2
    assert kept[-1] == legal[1], "the last one stays"
    played = set()
    for _ in range(20):
        past.choose()
        (chosen,) = {*past.act(decisions).tolist()}
        played.add(chosen)
    assert played == set(kept)
    learner.action.data.fill_(-1.0)
    assert set(past.act(decisions).tolist()) <= set(kept), "what the learner becomes is another thing"


def test_the_learner_is_remembered_every_few_rollouts_and_a_version_drawn_for_each() -> None:
    told: list[object] = []
    opponent = SimpleNamespace(remember=told.append, choose=lambda: told.append("draw"))
    callback = SelfPlay(opponent, every=2)  # type: ignore[arg-type]
    callback.model = SimpleNamespace(policy="learner")
    for _ in range(5):
        callback._on_rollout_start()
    assert told == ["draw", "draw", "learner", "draw", "draw", "learner", "draw"]
    assert callback._on_step(), "it goes on"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("pikit_v0 --steps 0", "--steps 0 is not allowed; allowed: an integer from 1"),
        ("pikit_v0 --num-envs nan", "--num-envs nan is not allowed; allowed: an integer from 1 to 1048576"),
        ("pikit_v0 --seed -1", "--seed -1 is not allowed; allowed: an integer from 0 to 4294967295"),
        ("pikit_v0 --opponents nobody", "there is no policy 'nobody'"),
        ("pikit_v0 --against random nobody", "there is no policy 'nobody'"),
        ("--game poker_v0", "there is no game 'poker_v0'"),
    ],
)
def test_the_command_says_what_is_wrong_before_it_learns(words: str, problem: str, capsys, tmp_path: Path) -> None:
    assert main(["sb3", *words.split(), "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err.startswith(f"monsterzoo sb3: {problem}")
    assert not list(tmp_path.iterdir())


def test_options_given_in_python_are_checked_alike() -> None:
    for wrong in ({"steps": 0}, {"steps": 2.5}, {"steps": 9, "num_envs": True}, {"steps": 9, "seed": 1 << 32}):
        with pytest.raises(ValueError, match="is not allowed; allowed: an integer"):
            sb3.learn("pikit_v0", **wrong)
    with pytest.raises(ValueError, match="keep=0 is not allowed"):
        sb3.PastSelf("pikit_v0", keep=0)
    with pytest.raises(ValueError, match="every=0 is not allowed"):
        sb3.SelfPlay(sb3.PastSelf("pikit_v0"), every=0)


def test_the_command_trains_a_policy_that_the_arena_plays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run, size = tmp_path / "run", ["--steps", "64", "--num-envs", "2"]
    assert main(["sb3", "--game", "pikit_v0", "--players", "2", *size, "--out", str(run)]) == 0
    shown = capsys.readouterr().out
    assert f"done: the policy is 'net:{run}'" in shown
    assert "win rate against random: 0." in shown
    words = ["--policies", f"net:{run}", "random", "--games", "2", "--quiet"]
    assert main(["arena", "pikit_v0", "--players", "2", *words]) == 0
    model, written = MaskablePPO.load(run / "model.zip"), make(f"net:{run}", "pikit_v0", players=2)
    games = make_vec("pikit_v0", 64, players=2, seed=3)
    for _ in range(20):
        same = from_sb3(model).act(games.decisions()) == written.act(games.decisions())
        assert same.mean() > 0.95, "but for ties"
        games.step(games.sample_actions())


def test_only_networks_that_fit_are_written(tmp_path: Path) -> None:
    env = sb3.make_vec_env("pikit_v0", 2, players=2)
    path = tmp_path / "policy.npz"
    with pytest.raises(ValueError, match="only a network with Trunk"):
        sb3.save_policy(MaskablePPO("MlpPolicy", env), path, "pikit_v0", players=2)
    network = {"features_extractor_class": sb3.Trunk, "net_arch": []}
    model = MaskablePPO(sb3.MaskedPolicy, env, policy_kwargs=network)
    with pytest.raises(ValueError, match="the network"):
        sb3.save_policy(model, path, "yokai_septet_v0")
    assert not path.exists()
    sb3.save_policy(model, path, "pikit_v0", players=2)
    assert make(f"net:{path}", "pikit_v0", players=2)
