"""What becomes of a finished game of a one-seat batch: every autoreset mode plays the same games and loses nothing."""

import zlib
from functools import cache

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from monsterzoo.envs import env_seed
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.gym import AUTORESET as MODES
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.core.registry import find_game, gymnasium_id
from toys import FirstLegal

N = 3


def choose(row, mask, slips=False):
    """A legal action that only depends on what is seen; with `slips` now and then one that is not legal."""
    luck = zlib.crc32(row.tobytes())
    if slips and luck % 40 == 0:
        return int(mask.argmin())
    legal = np.flatnonzero(mask)
    return int(legal[luck % len(legal)])


def trace_batch(name, mode, steps, *, slips=False, **options):
    """Every decision of each game's learner: what it saw, did and gained, and how the game ended if it did."""
    batch = gymnasium.make_vec(gymnasium_id(name), num_envs=N, autoreset_mode=mode, observation="box", **options)
    rows, infos = batch.reset(seed=9)
    decisions, begun = [[] for _ in range(N)], np.zeros(N, bool)  # where the step begins a game, no action counts
    while min(map(len, decisions)) < steps:
        seats, masks = infos["seat"], infos["action_mask"]
        actions = np.array([choose(row, mask, slips) for row, mask in zip(rows, masks)])
        before, started = rows, begun
        rows, rewards, terminated, truncated, infos = batch.step(actions)
        over = terminated | truncated
        for i in range(N):
            if started[i]:
                assert (rewards[i], terminated[i], truncated[i]) == (0, False, False)
                continue
            end = None
            if over[i]:
                last = infos["final_obs"][i] if mode == "same_step" else rows[i]
                illegal = infos["final_info"]["illegal"][i] if mode == "same_step" else infos["illegal"][i]
                end = (bool(terminated[i]), bool(truncated[i]), bool(illegal), last.tobytes())
            decisions[i].append((int(seats[i]), before[i].tobytes(), int(actions[i]), float(rewards[i]), end))
        if mode == "next_step":
            begun = over
            assert (infos["action_mask"][over].argmax(axis=1) == infos["action_mask"].shape[1] - 1).all()
        if mode == "disabled" and over.any():
            with pytest.raises(RuntimeError, match="reset_mask"):
                batch.step(actions)
            rows, infos = batch.reset(options={"reset_mask": over})
    return [one[:steps] for one in decisions]


@cache
def trace_aec(name, steps, options):
    """The same with PettingZoo's interface: the first legal action on the other seats, learners rotate."""
    options = dict(options)
    everything = []
    for i in range(N):
        env, decisions = GameEnv(find_game(name), observation="box", **options), []
        env.reset(seed=env_seed(9, i))
        seat = i % env.variant.players
        while len(decisions) < steps:
            agent = env.possible_agents[seat]
            play_others(env, agent)
            row = env.observe(agent)
            action = choose(row, env.infos[agent]["action_mask"])
            env.step_for(agent, action)
            play_others(env, agent)
            over = (env.terminations[agent], env.truncations[agent])
            end = (*over, False, env.observe(agent).tobytes()) if any(over) else None
            decisions.append((seat, row.tobytes(), action, float(np.float32(env._cumulative_rewards[agent])), end))
            if end:
                env.reset()
                seat = (seat + 1) % env.variant.players
        everything.append(decisions)
    return everything


def play_others(env, learner):
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        acting = [agent for agent in env.possible_agents if not env.infos[agent]["action_mask"][-1]]
        if learner in acting:
            return
        env.step_for(acting[0], int(env.infos[acting[0]]["action_mask"].argmax()))


def games_in(decisions):
    return [sum(end is not None for *_, end in one) for one in decisions]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_plays_the_games_of_the_aec_environment(name, options, mode):
    """Each terminal observation belongs to its own game, and no decision, reward or game is lost."""
    played = trace_batch(name, mode, 250, opponents=FirstLegal(), **options)
    assert played == trace_aec(name, 250, tuple(options.items()))
    assert min(games_in(played)) >= 1


@pytest.mark.parametrize("opponents", ["random", FirstLegal()], ids=["compiled", "asked"])
@pytest.mark.parametrize("seat", ["rotate", 1])
def test_all_modes_play_the_same_games_illegal_endings_included(name, options, opponents, seat):
    options = {**options, "opponents": opponents, "seat": seat, "reward": "score", "slips": True}
    same, following, by_hand = (trace_batch(name, mode, 150, **options) for mode in MODES)
    assert same == following == by_hand
    assert min(games_in(same)) >= 1


def test_threads_do_not_change_what_becomes_of_finished_games():
    for mode in MODES:
        one, two = (trace_batch("pikit_v0", mode, 200, threads=threads, players=2) for threads in (1, 2))
        assert one == two


@pytest.mark.parametrize("mode", [*MODES, *AutoresetMode])
def test_the_mode_is_told_where_libraries_look_for_it(mode):
    batch = gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=2, autoreset_mode=mode)
    wanted = mode if isinstance(mode, AutoresetMode) else AutoresetMode[mode.upper()]
    assert batch.autoreset_mode is batch.metadata["autoreset_mode"] is wanted
    assert SeatVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP  # of the class, the default


@pytest.mark.parametrize("mode", ["never", None, 1, "SAME_STEP"])
def test_other_modes_are_refused(mode):
    with pytest.raises(ValueError, match=r"autoreset_mode=.* is not allowed; allowed: 'next_step', 'same_step'"):
        SeatVectorEnv("pikit_v0", 2, autoreset_mode=mode)


# --- Beginning some of the games ---


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opponents", ["random", FirstLegal()], ids=["compiled", "asked"])
def test_a_reset_mask_begins_these_games_and_leaves_the_others(mode, opponents):
    batch = SeatVectorEnv("pikit_v0", 4, players=2, opponents=opponents, autoreset_mode=mode)
    batch.reset(seed=3)
    for _ in range(5):
        batch.step(batch.action_masks().argmax(axis=1))
    before, seen = batch.states.copy(), batch._shown()[0]["observation"]
    chosen = np.array([True, False, False, True])
    observed, infos = batch.reset(seed=3, options={"reset_mask": chosen})
    assert before[~chosen].tobytes() == batch.states[~chosen].tobytes()
    np.testing.assert_array_equal(observed["observation"][~chosen], seen[~chosen])
    fresh, fresh_infos = SeatVectorEnv("pikit_v0", 4, players=2, opponents=opponents).reset(seed=3)
    np.testing.assert_array_equal(observed["observation"][chosen], fresh["observation"][chosen])
    np.testing.assert_array_equal(infos["seat"], fresh_infos["seat"])
    again, infos = batch.reset(options={"reset_mask": chosen})  # without a seed: another deal and the next seat
    assert (again["observation"][chosen] != observed["observation"][chosen]).any()
    assert infos["seat"].tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    "mask", [[True], [1, 0], [[True, False]], np.zeros(2, bool), "all", True, np.ones(2), [None, True]]
)
def test_other_reset_masks_are_refused_and_change_nothing(mask):
    batch = SeatVectorEnv("pikit_v0", 2, players=2, autoreset_mode="disabled")
    batch.reset(seed=1)
    before = batch.states.tobytes()
    with pytest.raises(ValueError, match="reset_mask: 2 truth values are needed"):
        batch.reset(seed=2, options={"reset_mask": mask})
    assert batch.states.tobytes() == before
    batch.step(batch.action_masks().argmax(axis=1))


def test_a_mask_of_some_games_needs_all_to_have_begun():
    batch = SeatVectorEnv("pikit_v0", 2, players=2, autoreset_mode="disabled")
    with pytest.raises(ValueError, match="all games have to begin"):
        batch.reset(options={"reset_mask": np.array([True, False])})
    batch.reset(options={"reset_mask": np.array([True, True])})


# --- Beginning in a position ---


def position(name, options, moves=30):
    """A position of a game that seat 0 has to decide in, and the environment in it."""
    env = GameEnv(find_game(name), **options)
    env.reset(seed=5)
    while len(env.moves) < max(moves, 1) or env.infos["player_0"]["action_mask"][-1]:
        agent = env.agent_selection
        env.step(choose(env.observe(agent)["observation"], env.infos[agent]["action_mask"]))
        if any(env.terminations.values()) or any(env.truncations.values()):
            env.reset()
    return env, env.snapshot()


@pytest.mark.parametrize("opponents", ["random", FirstLegal()], ids=["compiled", "asked"])
def test_one_seat_begins_in_a_snapshot(name, options, opponents):
    env, snapshot = position(name, options)
    seen = env.observe("player_0")
    single = gymnasium.make(gymnasium_id(name), seat=0, opponents=opponents, **options)
    observation, info = single.reset(seed=1, options={"snapshot": snapshot})
    np.testing.assert_array_equal(observation["observation"], seen["observation"])
    np.testing.assert_array_equal(info["action_mask"], seen["action_mask"])
    single.step(int(info["action_mask"].argmax()))
    ordinary, _ = single.reset(seed=1)
    batch = gymnasium.make_vec(gymnasium_id(name), num_envs=3, seat=0, opponents=opponents, **options)
    observations, _ = batch.reset(seed=[1, 1, 1], options={"snapshot": [snapshot, None, snapshot]})
    for i, expected in enumerate((seen, ordinary, seen)):
        np.testing.assert_array_equal(observations["observation"][i], expected["observation"])
    observations, _ = batch.reset(options={"snapshot": snapshot})
    assert (observations["observation"] == seen["observation"]).all()


@pytest.mark.parametrize(
    "snapshot", [{}, {"phase": "dream"}, 5, [None], [{}, None, None]], ids=["empty", "odd", "number", "short", "wrong"]
)
def test_positions_that_cannot_be_are_refused_and_change_nothing(snapshot):
    batch = SeatVectorEnv("pikit_v0", 3, players=2)
    batch.reset(seed=1)
    before = batch.states.tobytes()
    with pytest.raises(ValueError, match=r"missing|dict|needed|phase is one of"):
        batch.reset(seed=2, options={"snapshot": snapshot})
    assert batch.states.tobytes() == before
    single = gymnasium.make("monsterzoo/Pikit-v0", players=2)
    single.reset(seed=1)
    with pytest.raises(ValueError, match="missing"):
        single.reset(options={"snapshot": {}})
    single.step(int(single.unwrapped.action_masks().argmax()))


def test_a_snapshot_for_one_game_of_a_mask():
    _, snapshot = position("pikit_v0", {"players": 2})
    batch = SeatVectorEnv("pikit_v0", 2, players=2, seat=0, autoreset_mode="disabled")
    batch.reset(seed=1)
    kept = batch.states[0].tobytes()
    batch.reset(options={"reset_mask": [False, True], "snapshot": snapshot})
    assert batch.states[0].tobytes() == kept
    assert batch.variant.snapshot(batch.states[1]) == snapshot


def test_a_finished_game_of_one_seat_is_over_until_it_is_reset() -> None:
    env = gymnasium.make("monsterzoo/Pikit-v0", players=2, max_turns=3, opponents="random").unwrapped
    with pytest.raises(RuntimeError, match=r"the game is over; call reset\(\)"):
        env.step(0)
    for seed in (4, None):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
            over = terminated or truncated
        with pytest.raises(RuntimeError, match=r"the game is over; call reset\(\)"):
            env.step(0)
