"""TorchRL: environments that it checks, legal rollouts, and training that works."""

import gymnasium
import monsterzoo.envs as mz
import numpy as np
import pytest
from needs import needs

torch = needs("torch")
pytest.importorskip("torchrl", reason="TorchRL is not installed: make test-torchrl")

from guide import Audit, best_of, check_beats_random, run_guide
from monsterzoo.envs import env_seed
from monsterzoo.training.torchrl import GROUP, make_env
from torchrl.envs import GymEnv, GymWrapper, PettingZooWrapper, check_env_specs


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def legal(rollout, *path):
    masks, actions = rollout[(*path, "action_mask")], rollout[(*path, "action")]
    assert masks.dtype == torch.bool
    return bool(masks.gather(-1, actions.unsqueeze(-1)).all())


@pytest.mark.parametrize("kind", ["seat", "parallel"])
def test_random_rollouts_are_legal_and_games_end(kind):
    env = make_env("pikit_v0", num_envs=8, kind=kind, players=2, seed=3)
    check_env_specs(env, return_contiguous=False)
    rollout = env.rollout(120, break_when_any_done=False)
    path = () if kind == "seat" else (GROUP,)
    assert rollout.batch_size == (8, 120)
    assert legal(rollout, *path)
    ends = rollout["next", "done"].squeeze(-1)
    assert ends.any()
    rewards = rollout[("next", *path, "reward")].squeeze(-1)
    assert not rollout["next", "truncated"].any()
    assert rewards[ends].any()
    assert set(rewards[ends].abs().flatten().tolist()) <= {0, 1}, "0 where both win"
    assert (rewards[~ends] == 0).all()


def test_all_seats_play_the_games_of_the_aec_environment():
    env = make_env("pikit_v0", num_envs=3, kind="parallel", players=3, seed=5)
    rollout = env.rollout(150, break_when_any_done=False)
    for i in range(3):
        raw = mz.make("pikit_v0", players=3).unwrapped
        raw.reset(seed=env_seed(5, i))
        for step in range(150):
            now, later = rollout[i, step], rollout[i, step]["next"]
            seat = int(raw.agent_selection[-1])
            for other, agent in enumerate(raw.possible_agents):
                seen = raw.observe(agent)["observation"]
                np.testing.assert_array_equal(now[GROUP, "observation"][other].numpy(), seen)
                assert bool(now[GROUP, "action_mask"][other][-1]) == (other != seat)
            raw.step(int(now[GROUP, "action"][seat]))
            assert later[GROUP, "reward"].squeeze(-1).tolist() == pytest.approx(list(raw.rewards.values()))
            for other, agent in enumerate(raw.possible_agents):  # the end of a game, too, is of that game
                seen = raw.observe(agent)["observation"]
                np.testing.assert_array_equal(later[GROUP, "observation"][other].numpy(), seen)
            if later["done"].item():
                raw.reset()


def test_what_torchrl_makes_by_itself():
    one = GymEnv("monsterzoo/Pikit-v0", players=2)
    assert one.rollout(3)["observation"].shape[-1] == one.observation_spec["observation"].shape[-1]
    for options in ({"autoreset_mode": "disabled"}, {"observation": "box", "autoreset_mode": "same_step"}):
        batch = GymWrapper(gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=3, players=2, **options))
        assert batch.rollout(5, break_when_any_done=False).batch_size == (3, 5)
    table = PettingZooWrapper(mz.make_parallel("pikit_v0", players=2), use_mask=True)
    assert legal(table.rollout(50, break_when_any_done=False), "player")


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ({"kind": "table"}, "kind='table' is not allowed; allowed: 'seat', 'parallel'"),
        ({"num_envs": 0}, "num_envs=0 is not allowed"),
        ({"autoreset_mode": "next_step"}, "autoreset_mode cannot be chosen here"),
        ({"players": 9}, "players=9 is not allowed"),
    ],
)
def test_bad_options_are_named(bad, problem):
    with pytest.raises(ValueError, match=problem):
        make_env("pikit_v0", **bad)


def test_training_of_the_guide_works(monkeypatch):
    audit, names = Audit(monkeypatch), run_guide("torchrl")
    audit.check(32_768)
    data = names["data"]
    assert audit.knows(data["next", "observation"][data["next", "done"].squeeze(-1)])
    check_beats_random(best_of(names["actor"].module[0].module))
