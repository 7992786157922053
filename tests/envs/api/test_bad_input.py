"""Bad input gets an error that names the problem, and changes nothing."""

import json

import gymnasium
import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import (
    ActionTypeError,
    IllegalActionError,
    SnapshotError,
    env_seed,
    make,
    make_vec,
    pikit_v0,
    replay,
    variant,
    yokai_septet_v0,
)
from monsterzoo.policies.uniform import UniformPolicy
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
        (None, "integer, not None"),
        (1.0, "integer, not 1.0"),
        ("W2", "integer, not 'W2'"),
        (True, "integer, not True"),
        (-1, "-1 is out of range"),
        (50, "50 is out of range, actions are 0 to 49"),
        (10**30, "out of range"),
        (2**63, "out of range"),
        (np.uint64(2**63), "out of range"),
        (np.True_, "integer, not np.True_"),
        (float("nan"), "integer, not nan"),
        (49, "'no-op' .* has a decision to make"),
        (np.array([1, 2]), "integer"),
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


@pytest.mark.parametrize("name", ["yokai_septet_v0", "pikit_v0", "bite_night_v0"])
def test_a_seat_that_has_nothing_to_decide_is_told_so_whatever_it_tries(name):
    env = make(name).unwrapped
    env.reset(seed=3)
    for _ in range(40):
        env.step(int(env.last()[0]["action_mask"].argmax()))
        waiting = [agent for seat, agent in enumerate(env.agents) if seat not in env.snapshot()["to_act"]]
        for agent in waiting:
            for action in range(env.variant.num_actions):
                with pytest.raises(IllegalActionError, match=f"{agent} has nothing to decide now"):
                    env.step_for(agent, action)


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.array, lambda action: np.array([[action]])])
def test_every_integer_and_integer_array_of_size_1_is_an_action(kind):
    """The game goes on as with Python's integers, in every environment."""
    plain, raw, wrapped = (maker(players=2) for maker in (pikit_v0.raw_env, pikit_v0.raw_env, pikit_v0.env))
    parallel, one_seat = pikit_v0.parallel_env(players=2), gymnasium.make("monsterzoo/Pikit-v0", players=2, seat=0)
    for env in (plain, raw, wrapped, parallel, one_seat):
        env.reset(seed=1)
    masks = {agent: plain.infos[agent]["action_mask"] for agent in plain.agents}
    parallel.step({agent: kind(mask.argmax()) for agent, mask in masks.items()})
    for env in (plain, raw, wrapped):
        action = int(env.last()[4]["action_mask"].argmax())
        env.step(action if env is plain else kind(action))
    for env in (raw, wrapped, parallel):
        assert env.unwrapped.snapshot() == plain.snapshot()
    one_seat.step(kind(one_seat.unwrapped.action_masks().argmax()))
    assert one_seat.unwrapped.record()["actions"][0] == plain.record()["actions"][0]


@pytest.mark.parametrize("action", [3.0, np.array([3.0]), np.array([3, 4]), np.float32(3), None, True, "3", [3]])
def test_actions_of_a_wrong_type_are_a_type_error_and_a_value_error_and_change_nothing(action):
    wrapped, parallel = pikit_v0.env(players=2), pikit_v0.parallel_env(players=2)
    one_seat, batch = gymnasium.make("monsterzoo/Pikit-v0", players=2, seat=0), make_vec("pikit_v0", 2, seed=1)
    for env in (wrapped, parallel, one_seat):
        env.reset(seed=1)
    before = wrapped.unwrapped.save(), parallel.aec.save(), one_seat.unwrapped.record(), batch.states.tobytes()
    for error in (TypeError, ValueError):
        with pytest.raises(error, match="an action is an integer, not"):
            wrapped.step(action)
        with pytest.raises(error, match="an action is an integer, not"):
            parallel.step(dict.fromkeys(parallel.agents, action))
        with pytest.raises(error, match="an action is an integer, not"):
            one_seat.step(action)
        with pytest.raises(error, match="expected integer actions"):
            batch.step([action, action])
    after = wrapped.unwrapped.save(), parallel.aec.save(), one_seat.unwrapped.record(), batch.states.tobytes()
    assert after == before
    assert parallel.agents


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
    with pytest.raises(ValueError, match=r"integer, not 1\.5"):
        env.action_name(1.5)


@pytest.mark.parametrize("action", [1.5, None, True, "W2", float("nan"), 77.5])
def test_what_is_no_number_is_neither_legal_nor_illegal(env, action):
    with pytest.raises(ActionTypeError, match="integer, not"):
        env.is_legal(action)
    assert not env.is_legal(2**63)
    assert not env.is_legal(-1)


def test_records_without_what_they_need():
    with pytest.raises(ValueError, match="no 'actions'"):
        replay({"game": "yokai_septet_v0", "options": {}})
    with pytest.raises(ValueError, match="no start"):
        replay({"game": "yokai_septet_v0", "options": {}, "actions": []})
    with pytest.raises(ValueError, match="a record is a dict, not None"):
        replay(None)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"game": 5}, "'game' of the record cannot be 5"),
        ({"options": None}, "'options' of the record cannot be None"),
        ({"options": {5: 5}}, "'options' of the record cannot be {5: 5}"),
        ({"actions": 3}, "'actions' of the record cannot be 3"),
        ({"actions": [3]}, "no action 3"),
        ({"seats": [0, 1]}, "'seats' of the record are 1 numbers"),
        ({"seats": [9]}, "there is no seat 9"),
        ({"seats": [-1]}, "there is no seat -1"),
        ({"seed": -1}, "a seed is an integer"),
        ({"generator": 1.5}, "a generator is an integer"),
    ],
)
def test_records_that_are_wrong_somewhere(env, change, problem):
    env.step(int(env.last()[0]["action_mask"].argmax()))
    record = {**env.record(), **change}
    if "generator" in change:
        del record["seed"]
    with pytest.raises(ValueError, match=problem):
        replay(record)


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
    with pytest.raises(ValueError, match="actions are a dict by agent, for exactly"):
        env.step({"player_0": 0})
    with pytest.raises(ValueError, match="actions are a dict by agent, for exactly"):
        env.step({**dict.fromkeys(env.agents, 0), "nobody": 0})


@pytest.mark.parametrize(
    "wrong", [lambda mask: 49, lambda mask: int(np.argmin(mask)), lambda mask: 50, lambda mask: np.array([49])]
)
def test_an_illegal_parallel_action_ends_the_game_for_all_and_is_logged(wrong, caplog, recwarn):
    env = yokai_septet_v0.parallel_env()
    observations, _ = env.reset(seed=0)
    actions = {agent: int(np.argmax(observations[agent]["action_mask"])) for agent in env.agents}
    actions["player_2"] = wrong(observations["player_2"]["action_mask"])
    _, rewards, terminations, _, _ = env.step(actions)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.messages[0].endswith("; the game ends")
    assert not recwarn.list
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
        (good.astype(float), "expected integer actions"),
        (np.where(np.arange(4) == 2, -1, good), "game 2: action -1 is out of range"),
        (np.where(np.arange(4) == 2, 50, good), "game 2: action 50 is out of range"),
        (np.where(np.arange(4) == 2, 2**63, good.astype(np.uint64)), "game 2: action 9223372036854775808 is out of"),
        ([10**30] * 4, "expected integer actions"),
        (good.astype(bool), "expected integer actions"),
        (None, "expected integer actions"),
        ([[1], [2, 3], 4, 5], "expected integer actions"),
        (np.where(np.arange(4) == 1, 49, good), "game 1: 'no-op'"),
        (np.where(np.arange(4) == 3, int(np.argmin(vec.action_masks[3])), good), "game 3: .* does not hold"),
    ):
        with pytest.raises(IllegalActionError, match=problem):
            vec.step(wrong)
        assert vec.states.tobytes() == before


@pytest.mark.parametrize(
    "arguments", [{"num_envs": 0}, {"num_envs": 2.5}, {"num_envs": True}, {"num_envs": 4, "threads": 0}]
)
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
        ({"opponents": UniformPolicy}, "neither the name"),
        ({"seat": 1.0}, "seat=1.0"),
        ({"seat": True}, "seat=True"),
        ({"opponents": ["random"] * 2}, "opponents: expected one for all seats or one for each of the 3, got 2"),
        ({"players": 7}, "players=7"),
    ],
)
def test_one_seat_environments_name_the_bad_option(options, problem):
    with pytest.raises(ValueError, match=problem):
        gymnasium.make("monsterzoo/YokaiSeptet-v0", **options)
    with pytest.raises(ValueError, match=problem):
        gymnasium.make_vec("monsterzoo/YokaiSeptet-v0", num_envs=2, **options)


# --- Whole numbers of every type, and seeds ---


def doors(players=2):
    """Everything of one game that takes a seed, by name."""
    raw, parallel = pikit_v0.raw_env(players=players), pikit_v0.parallel_env(players=players)
    single = gymnasium.make("monsterzoo/Pikit-v0", players=players, seat=0)
    batch = gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=2, players=players, seat=0)
    vec = make_vec("pikit_v0", 2, players=players, seed=1)
    return {
        "raw_env": lambda seed: (raw.reset(seed=seed), raw.observe("player_0")["observation"])[1],
        "parallel_env": lambda seed: parallel.reset(seed=seed)[0]["player_0"]["observation"],
        "one seat": lambda seed: single.reset(seed=seed)[0]["observation"],
        "one seat, batch": lambda seed: batch.reset(seed=seed)[0]["observation"],
        "one seat, listed": lambda seed: batch.reset(seed=[seed, 3])[0]["observation"],
        "batch": lambda seed: (vec.reset(seed), vec.observations.copy())[1],
        "make_vec": lambda seed: make_vec("pikit_v0", 2, players=players, seed=seed).observations,
        "env_seed": lambda seed: env_seed(seed, 1),
    }


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.int32, np.uint8, np.array])
def test_every_type_of_integer_is_a_seed(kind):
    for name, door in doors().items():
        np.testing.assert_array_equal(door(5), door(kind(5)), name)
    env = pikit_v0.raw_env(players=2)
    env.reset(seed=kind(5))
    assert json.loads(json.dumps(env.record()))["seed"] == 5
    env.restore(env.save())


def test_the_largest_seed_is_one():
    for name, door in doors().items():
        assert (door(2**64 - 1) != door(0)).any() if name != "env_seed" else door(2**64 - 1) != door(0)
        np.testing.assert_array_equal(door(2**64 - 1), door(np.uint64(2**64 - 1)), name)


@pytest.mark.parametrize("seed", [-1, 2**64, 10**30, 1.5, 1.0, True, "7", float("nan"), np.float64(3), np.True_])
def test_seeds_that_are_none_are_refused_and_change_nothing(seed):
    for door in doors().values():
        with pytest.raises(ValueError, match=r"a seed is an integer from 0 to 2\*\*64 - 1, not"):
            door(seed)
    with pytest.raises(ValueError, match="a seed is an integer"):
        policies.make("random", "pikit_v0", players=2, seed=seed)
    env, vec = pikit_v0.raw_env(players=2), make_vec("pikit_v0", 2, players=2, seed=1)
    env.reset(seed=1)
    before, games = env.save(), vec.states.tobytes()
    for reset in (env.reset, vec.reset):
        with pytest.raises(ValueError, match="a seed"):
            reset(seed=seed)
    assert env.save() == before
    assert vec.states.tobytes() == games


def test_a_batch_of_one_seat_takes_one_seed_a_game():
    batch = gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=2, players=2, seat=0).unwrapped
    one_each = batch.reset(seed=[3, 4])[0]["observation"]
    for seeds in ((3, 4), np.array([3, 4])):
        np.testing.assert_array_equal(batch.reset(seed=seeds)[0]["observation"], one_each)
    assert (batch.reset(seed=[None, 4])[0]["observation"][1] == one_each[1]).all()
    before = batch.states.tobytes()
    for seeds, problem in (([1, 2, 3], "2 seeds are needed, not 3"), ([1, -1], "a seed is"), ("12", "a seed is")):
        with pytest.raises(ValueError, match=problem):
            batch.reset(seed=seeds)
        assert batch.states.tobytes() == before


@pytest.mark.parametrize("index", [-1, 1.5, None, True])
def test_an_index_of_a_batch_is_an_integer(index):
    with pytest.raises(ValueError, match=r"index=.* is not allowed; allowed: an integer from 0"):
        env_seed(0, index)


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_every_type_of_integer_is_a_count_and_an_option(kind):
    vec = make_vec("pikit_v0", kind(2), threads=kind(1), seed=1, players=kind(2), max_turns=kind(7))
    assert (vec.num_envs, vec.players, vec.variant.options["max_turns"]) == (2, 2, 7)
    assert type(vec.num_envs) is type(vec.variant.options["players"]) is int
    batch = gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=kind(2), players=kind(2), seat=kind(1), threads=kind(1))
    assert batch.reset(seed=0)[1]["seat"].tolist() == [1, 1]
    assert gymnasium.make("monsterzoo/Pikit-v0", players=kind(2), seat=kind(1)).reset(seed=0)[1]["seat"] == 1


# --- Options of reset ---


@pytest.mark.parametrize("options", [{"foo": 5}, {"snapshots": {}}, {"reset_masks": [True, True]}, "snapshot", 5])
def test_unknown_options_of_reset_are_refused_and_change_nothing(options):
    raw, parallel = pikit_v0.raw_env(players=2), pikit_v0.parallel_env(players=2)
    single = gymnasium.make("monsterzoo/Pikit-v0", players=2)
    batch = gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=2, players=2)
    vec_before = batch.reset(seed=1)[0]["observation"]
    for env in (raw, parallel, single, batch, pikit_v0.env(players=2)):
        env.reset(seed=1)
        with pytest.raises(ValueError, match=r"reset has no option|options of reset"):
            env.reset(seed=2, options=options)
        env.reset(seed=1, options={})
        env.reset(seed=1, options=None)
    np.testing.assert_array_equal(batch.unwrapped._shown()[0]["observation"], vec_before)


# --- Snapshots: what all games have in common ---


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"over": True}, "nothing left to play"),
        ({"truncated": 7}, "truncated is 7: there is nothing left to play"),
        ({"winners": [0]}, r"winners is \[0\]: there is nothing left to play"),
        ({"to_act": None}, "to_act is None"),
        ({"to_act": [False, 1, 2, 3]}, "to_act is"),
        ({"to_act": [0.0, 1, 2, 3]}, "to_act is"),
        ({"to_act": [0, 0, 2, 3]}, "to_act is"),
        ({"to_act": ["x"]}, "to_act is"),
        ({"to_act": {0: 1}}, "to_act is"),
    ],
)
def test_common_fields_of_a_snapshot_have_their_types(env, change, problem):
    snapshot = env.snapshot()
    env.reset(options={"snapshot": {**snapshot, "over": False, "truncated": None, "winners": []}})
    with pytest.raises(SnapshotError, match=problem):
        env.reset(options={"snapshot": {**snapshot, **change}})


# --- States from outside ---


@pytest.mark.parametrize(
    ("index", "seat", "problem"),
    [
        (10**12, 0, "there is no state 1000000000000; there are 3"),
        (3, 0, "there is no state 3"),
        (-4, 0, "there is no state -4"),
        (0.0, 0, "there is no state 0.0"),
        (None, 0, "there is no state None"),
        (0, 2, "there is no seat 2; seats are 0 to 1"),
        (0, -1, "there is no seat -1"),
        (0, 10**12, "there is no seat"),
        (0, True, "there is no seat True"),
    ],
)
def test_states_and_seats_that_are_not_there(index, seat, problem):
    vec = make_vec("pikit_v0", 3, players=2, seed=1)
    for helper in (vec.variant.observation, vec.variant.legal_actions, vec.variant.look):
        with pytest.raises(ValueError, match=problem):
            helper(vec.states, index, seat)
        assert (helper(vec.states, -1, np.int64(1)) == helper(vec.states, 2, 1)).all()
    if "state" in problem.split(";")[0]:
        with pytest.raises(ValueError, match=problem):
            vec.variant.draw_table(vec.states, index)


@pytest.mark.parametrize(
    "states",
    [
        None,
        [1, 2],
        np.zeros(3),
        variant("pikit_v0", players=2).new_states(1)[0],
        variant("pikit_v0", players=2).new_states(4).reshape(2, 2),
        variant("pikit_v0", players=3).new_states(2),
        variant("yokai_septet_v0", players=2).new_states(2),
        np.zeros(2, variant("pikit_v0", players=2).game.rules.record),
    ],
    ids=["none", "list", "numbers", "record", "two dimensions", "three players", "another game", "zeros"],
)
def test_states_of_something_else(states):
    own = variant("pikit_v0", players=2)
    for helper in (own.observation, own.legal_actions, own.look):
        with pytest.raises(ValueError, match="states of pikit_v0 with players=2"):
            helper(states, 0, 0)
    with pytest.raises(ValueError, match="states of pikit_v0 with players=2"):
        own.draw_table(states, 0)


@pytest.mark.parametrize("rows", [np.zeros(152, np.int8), np.zeros((2, 200), np.int8), None, np.full((1, 152), "a")])
def test_observations_of_something_else_are_not_decoded(rows):
    with pytest.raises(ValueError, match=r"observations of pikit_v0 with players=2 have the shape \(B, 152\)"):
        variant("pikit_v0", players=2).decode(rows)


@pytest.mark.parametrize("spec", [5, None, b"random", ["random"]])
def test_specs_that_are_no_text(spec):
    with pytest.raises(ValueError, match="a policy is named by a text"):
        policies.make(spec, "pikit_v0")


def test_a_finished_parallel_game_is_finished_wherever_it_is_restored():
    env, other = pikit_v0.parallel_env(players=2, max_turns=1), pikit_v0.parallel_env(players=2, max_turns=1)
    _, infos = env.reset(seed=1)
    begun = env.save()
    while env.agents:
        infos = env.step({agent: int(info["action_mask"].argmax()) for agent, info in infos.items()})[-1]
    other.reset(seed=2)
    other.restore(env.save())
    assert other.agents == []
    with pytest.raises(RuntimeError, match="the game is over"):
        other.step({})
    other.restore(begun)
    assert other.agents == ["player_0", "player_1"]


def test_parallel_actions_that_are_no_dict():
    env = pikit_v0.parallel_env(players=2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"actions are a dict by agent, .*, not None"):
        env.step(None)


@pytest.mark.parametrize("action", [-1, 91, 2**63, 10**30, 1.5, True, None, np.array([1, 2]), "5: draw"])
def test_what_is_no_action_is_refused_by_one_seat_environments_and_changes_nothing(action):
    env = gymnasium.make("monsterzoo/Pikit-v0", players=2, seat=0).unwrapped
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    env.reset(seed=1)
    before = env._games.states.tobytes()
    with pytest.raises(IllegalActionError, match=r"integer|out of range"):
        env.step(action)
    with pytest.raises(IllegalActionError, match=r"expected integer|actions are 0 to 90"):
        env._games.step([action])
    assert env._games.states.tobytes() == before
    env.step(int(env.action_masks().argmax()))


@pytest.mark.parametrize("value", [np.nan, 2, -1, np.inf])
def test_values_that_no_column_has_are_not_decoded(value):
    game = variant("yokai_septet_v0", players=2)
    rows = np.zeros((3, game.layout.size))
    rows[1, 0] = value
    with pytest.raises(ValueError, match=r"not observations of yokai_septet_v0 .*out of their range"):
        game.decode(rows)


def test_patterns_that_no_card_has_are_not_decoded():
    game = variant("yokai_septet_v0", players=2)
    rows = np.zeros((2, game.layout.size), np.int8)
    rows[1, game.layout["straw_up"].start] = 1  # a suit without a rank
    with pytest.raises(ValueError, match="straw_up: no number has the pattern 0b1"):
        game.decode(rows)


@pytest.mark.parametrize(
    ("field", "columns", "problem"),
    [
        ("low", [], "low: exactly one of the columns is 1, not none or several"),
        ("turn_player", [0, 1], "turn_player: exactly one of the columns is 1, not none or several"),
        ("pending_card", [3, 7], "pending_card: at most one of the columns is 1, not several"),
    ],
)
def test_choices_that_are_none_or_several_are_not_decoded(field, columns, problem):
    games = make_vec("pikit_v0", 2, seed=1, players=2)
    row = games.observations[:1].copy()
    shown = row[:, games.variant.layout[field].slice]
    shown[:] = 0
    shown[:, columns] = 1
    with pytest.raises(ValueError, match=problem):
        games.variant.decode(row)
