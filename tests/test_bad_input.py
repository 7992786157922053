"""Bad input gets an error that names the problem, and changes nothing."""

import gymnasium
import numpy as np
import pytest
from monsterzoo.envs import IllegalActionError, make, make_vec, pikit_v0, replay, yokai_septet_v0
from pettingzoo.utils.wrappers import OrderEnforcingWrapper


@pytest.fixture
def env():
    env = yokai_septet_v0.raw_env()
    env.reset(seed=3)
    return env


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"colour": "red"}, "no option 'colour'"),
        ({"players": 5}, "players=5 is not allowed; allowed: 2, 3, 4"),
        ({"players": "4"}, "players='4'"),
        ({"players": True}, "players=True"),
        ({"variant": "seven"}, "variant='seven'"),
        ({"variant": "seven_suitors", "players": 3}, "needs players=4"),
        ({"variant": "seven_suitors", "target": 5}, "target has no meaning"),
        ({"variant": "seven_suitors_short", "scoring": "basic"}, "scoring has no meaning"),
        ({"players": 4, "straw_reveal": "trick_end"}, "straw_reveal"),
        ({"target": 0}, "target=0"),
        ({"target": 2.5}, "target=2.5"),
        ({"max_rounds": None}, "max_rounds=None"),
        ({"reward": "fame"}, "reward='fame' is not allowed; allowed: 'win', 'score'"),
        ({"render_mode": "hologram"}, "render_mode='hologram'"),
    ],
)
def test_impossible_options_name_the_option(options, problem):
    for maker in (yokai_septet_v0.env, yokai_septet_v0.raw_env, yokai_septet_v0.parallel_env):
        with pytest.raises(ValueError, match=problem):
            maker(**options)
    with pytest.raises(ValueError, match=problem.split(";")[0].split(" is not")[0]):
        make("yokai_septet_v0", **options)


def test_unknown_game():
    with pytest.raises(ValueError, match=r"no game 'poker_v0'; games are"):
        make("poker_v0")


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (None, "whole number, not None"),
        (1.0, "whole number, not 1.0"),
        ("W2", "whole number, not 'W2'"),
        (True, "whole number, not True"),
        (-1, "-1 is out of range"),
        (50, "50 is out of range, actions are 0 to 49"),
        (10**30, "out of range"),
        (49, "'no-op' .* has a decision to make"),
        (np.array([1, 2]), "whole number"),
    ],
)
def test_bad_actions_are_refused_and_change_nothing(env, action, problem):
    before = env.save()
    with pytest.raises(IllegalActionError, match=problem):
        env.step(action)
    assert env.save() == before


def test_a_card_not_held_is_refused_with_its_name(env):
    other = env.snapshot()["hands"][1][0]
    with pytest.raises(IllegalActionError, match=f"'{other}' .* does not hold this card"):
        env.step(env.parse_action(other))


def test_numpy_integers_are_actions(env):
    env.step(np.int32(np.flatnonzero(env.observe("player_0")["action_mask"])[0]))
    assert env.snapshot()["passes"][0]


def test_changing_a_mask_does_not_change_what_is_legal(env):
    env.observe("player_0")["action_mask"][:] = 1
    env.infos["player_0"]["action_mask"][:] = 1
    other = env.parse_action(env.snapshot()["hands"][1][0])
    with pytest.raises(IllegalActionError):
        env.step(other)


def test_the_masks_in_parallel_infos_are_the_users_to_change():
    env, other = pikit_v0.parallel_env(players=2), pikit_v0.parallel_env(players=2)
    _, infos = env.reset(seed=3)
    other.reset(seed=3)
    honest = {agent: int(info["action_mask"].argmax()) for agent, info in infos.items()}
    for info in infos.values():
        info["action_mask"][:] = 0
    mine, theirs = env.step(honest), other.step(honest)
    assert repr(mine) == repr(theirs)  # a legal game goes on
    infos = mine[-1]
    before = env.aec.save()
    for info in infos.values():
        info["action_mask"][:] = 1
    wrong = {agent: int(np.flatnonzero(env.aec._masks[seat] == 0)[0]) for seat, agent in enumerate(env.agents)}
    with pytest.warns(UserWarning, match="the game ends"):
        rewards = env.step(wrong)[1]
    assert set(rewards.values()) == {-1.0}
    assert env.aec.save() == before  # no part of the step was carried out


@pytest.mark.parametrize("kind", [int, np.int64, np.int8, np.uint16])
def test_legal_actions_of_every_integer_type_take_the_short_way(kind, monkeypatch):
    env = pikit_v0.env(players=2)
    env.reset(seed=1)
    monkeypatch.setattr(OrderEnforcingWrapper, "step", None)  # the long way is closed
    env.step(kind(env.last()[0]["action_mask"].argmax()))
    assert len(env.unwrapped.record()["actions"]) == 1


def test_wrong_agents(env):
    for call in (env.observe, env.text_observation):
        with pytest.raises(ValueError, match=r"no agent 'player_9'; agents are player_0"):
            call("player_9")


def test_steps_after_the_end(env):
    random = np.random.default_rng(0)
    while not any(env.terminations.values()):
        env.step(int(random.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)
    for _ in range(4):
        env.step(None)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(None)


def test_foreign_and_damaged_bytes_are_not_restored(env):
    good = env.save()
    other = yokai_septet_v0.raw_env(players=3)
    other.reset(seed=1)
    damaged = bytearray(good)
    damaged[-7] ^= 1
    for data, problem in (
        (b"", "do not come from save"),
        (b"hello world, this is not it", "do not come from save"),
        (good[:-5], "checksum"),
        (bytes(damaged), "checksum"),
        (other.save(), "not of this environment"),
        ("text", "bytes of save"),
        (None, "bytes of save"),
    ):
        with pytest.raises(ValueError, match=problem):
            env.restore(data)
        assert env.save() == good


def test_names_that_are_no_action(env):
    with pytest.raises(ValueError, match=r"no action 'S14'.*did you mean"):
        env.parse_action("S14")
    with pytest.raises(ValueError, match="no action None"):
        env.parse_action(None)
    with pytest.raises(ValueError, match="out of range"):
        env.action_name(50)


def test_records_without_what_they_need():
    with pytest.raises(ValueError, match="no 'actions'"):
        replay({"game": "yokai_septet_v0", "options": {}})
    with pytest.raises(ValueError, match="no start"):
        replay({"game": "yokai_septet_v0", "options": {}, "actions": []})


def test_env_ends_the_game_after_an_illegal_action():
    env = yokai_septet_v0.env()
    env.reset(seed=3)
    env.step(env.unwrapped.parse_action(env.unwrapped.snapshot()["hands"][1][0]))
    assert all(env.terminations.values())
    assert env.rewards["player_0"] == -1


def test_env_enforces_the_order_of_calls():
    env = yokai_septet_v0.env()
    with pytest.raises(AttributeError, match="before reset"):
        env.agents  # noqa: B018
    with pytest.raises(AttributeError, match="before reset"):
        env.last()
    env.reset(seed=0)
    with pytest.raises(AssertionError):
        env.step(50)


def test_parallel_actions_of_the_wrong_agents():
    env = yokai_septet_v0.parallel_env()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="missing \\['player_1', 'player_2', 'player_3'\\]"):
        env.step({"player_0": 0})
    with pytest.raises(ValueError, match="unknown \\['nobody'\\]"):
        env.step({**dict.fromkeys(env.agents, 0), "nobody": 0})


@pytest.mark.parametrize(
    "wrong", [lambda mask: 49, lambda mask: int(np.argmin(mask)), lambda mask: 50, lambda mask: None]
)
def test_an_illegal_parallel_action_ends_the_game_for_all(wrong):
    env = yokai_septet_v0.parallel_env()
    observations, _ = env.reset(seed=0)
    actions = {agent: int(np.argmax(observations[agent]["action_mask"])) for agent in env.agents}
    actions["player_2"] = wrong(observations["player_2"]["action_mask"])
    with pytest.warns(UserWarning, match="the game ends"):
        _, rewards, terminations, _, _ = env.step(actions)
    assert rewards == {"player_0": 0.0, "player_1": 0.0, "player_2": -1.0, "player_3": 0.0}
    assert all(terminations.values())
    assert env.agents == []
    with pytest.raises(RuntimeError, match="reset"):
        env.step({})


def test_batches_refuse_bad_actions_before_any_game_moves():
    vec = make_vec("yokai_septet_v0", 4, seed=0)
    before = vec.states.tobytes()
    good = vec.sample_actions().copy()
    for wrong, problem in (
        (good[:3], "shape"),
        (good.astype(float), "whole numbers"),
        (np.where(np.arange(4) == 2, -1, good), "game 2: action -1 is out of range"),
        (np.where(np.arange(4) == 2, 50, good), "game 2: action 50 is out of range"),
        (np.where(np.arange(4) == 1, 49, good), "game 1: 'no-op'"),
        (np.where(np.arange(4) == 3, int(np.argmin(vec.action_masks[3])), good), "game 3: .* does not hold"),
    ):
        with pytest.raises(ValueError, match=problem):
            vec.step(wrong)
        assert vec.states.tobytes() == before


@pytest.mark.parametrize("arguments", [{"num_envs": 0}, {"num_envs": 2.5}, {"num_envs": 4, "threads": 0}])
def test_batches_of_impossible_sizes(arguments):
    with pytest.raises(ValueError, match=r"num_envs|threads"):
        make_vec("yokai_septet_v0", **arguments)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"seat": 4}, "seat=4 is not allowed; allowed: 0 to 3 or 'rotate'"),
        ({"seat": "first"}, "seat='first'"),
        ({"opponents": "nobody"}, "no policy 'nobody'"),
        ({"opponents": 7}, "neither the name"),
        ({"opponents": ["random"]}, "3 other seats need a policy, 1"),
        ({"players": 7}, "players=7"),
    ],
)
def test_one_seat_environments_name_the_bad_option(options, problem):
    with pytest.raises(ValueError, match=problem):
        gymnasium.make("monsterzoo/YokaiSeptet-v0", **options)
    with pytest.raises(ValueError, match=problem):
        gymnasium.make_vec("monsterzoo/YokaiSeptet-v0", num_envs=2, **options)
