"""Histories: the last events that a seat saw, the same on every API."""

import gymnasium
import monsterzoo.envs as mz
import numpy as np
import pytest
from monsterzoo.envs.api.saving import play_record
from monsterzoo.envs.core.rng import env_seed
from monsterzoo.envs.match.history import unrolled

GAMES = ("bite_night_v0", "pikit_v0", "yokai_septet_v0")


def replayed(record, history):
    """The AEC environment in which a record was played."""
    env = mz.make_raw(record["game"], history=history, **record["options"])
    play_record(env, record)
    return env


@pytest.mark.parametrize("game", GAMES)
def test_a_batch_shows_the_histories_of_the_aec_environments(game):
    batch = mz.make_vec(game, 3, threads=2, seed=5, history=20)
    twins = [mz.make(game, history=20) for _ in range(3)]
    for i, twin in enumerate(twins):
        twin.reset(seed=env_seed(5, i))
    ended = 0
    for _ in range(400):
        for i, twin in enumerate(twins):
            np.testing.assert_array_equal(batch.histories[i], twin.last()[0]["history"])
        actions = batch.sample_actions()
        for twin, action in zip(twins, actions, strict=True):
            twin.step(int(action))
        batch.step(actions)
        for i, twin in enumerate(twins):
            assert (batch.terminated[i] or batch.truncated[i]) == any(twin.terminations.values())
            if any(twin.terminations.values()):
                ended += 1
                twin.reset()
                assert not batch.histories[i].any()
    assert ended, "histories have to begin anew with the next game"


def test_one_seat_sees_the_moves_of_all_others():
    env = gymnasium.make("monsterzoo/Pikit-v0", opponents="random", seat=1, history=500).unwrapped
    observed, info = env.reset(seed=3)
    over = False
    while not over:
        assert observed in env.observation_space
        observed, _, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        over = terminated or truncated
    twin = replayed(env.record(), history=500)
    np.testing.assert_array_equal(observed["history"], twin.observe("player_1")["history"])
    seats, numbers = observed["history"].T
    assert set(seats[numbers > 0]) == set(range(env.variant.players))


def test_the_end_of_a_game_has_its_own_history():
    env = gymnasium.make_vec(
        "monsterzoo/Pikit-v0", 2, players=2, opponents="random", seat=0, history=8, autoreset_mode="same_step", log=2000
    )
    _, infos = env.reset(seed=1)
    while True:
        observed, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        if terminated.any():
            break
    i = int(terminated.argmax())
    twin = replayed(env.unwrapped.record(i, final=True), history=8)
    np.testing.assert_array_equal(infos["final_obs"][i]["history"], twin.observe("player_0")["history"])
    assert (observed["history"][i] != infos["final_obs"][i]["history"]).any()


def test_saved_games_go_on_with_their_history():
    batch = mz.make_vec("pikit_v0", 4, seed=0, history=6)
    for _ in range(30):
        batch.step(batch.sample_actions())
    again = mz.make_vec("pikit_v0", 4, seed=9, history=6)
    again.restore(batch.save())
    np.testing.assert_array_equal(again.histories, batch.histories)
    env = mz.make("pikit_v0", history=6).unwrapped
    env.reset(seed=0)
    for _ in range(30):
        env.step(int(env.last()[4]["action_mask"].argmax()))
    twin = mz.make("pikit_v0", history=6).unwrapped
    twin.restore(bytes(env.save()))
    np.testing.assert_array_equal(twin.last()[0]["history"], env.last()[0]["history"])


def test_the_newest_event_is_last_and_zeros_are_in_front():
    rings = np.arange(1, 13, dtype=np.int16).reshape(2, 3, 2)
    assert unrolled(rings, np.array([2, 4])).tolist() == [[[0, 0], [1, 2], [3, 4]], [[9, 10], [11, 12], [7, 8]]]


@pytest.mark.parametrize("history", [0, -1, 2.5, True, "8"])
def test_lengths_that_cannot_be_are_refused(history):
    for make in (mz.make, mz.make_parallel, lambda name, **options: mz.make_vec(name, 2, **options)):
        with pytest.raises(ValueError, match="history"):
            make("pikit_v0", history=history)


def test_a_history_needs_the_dict():
    with pytest.raises(ValueError, match="observation='dict'"):
        mz.make("pikit_v0", history=4, observation="box")
