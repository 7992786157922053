"""`VectorGame` and the one-seat environments beyond what conformance checks."""

import copy
import gc
import pickle
import threading
import time

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from monsterzoo.envs import IllegalActionError, env_seed, make_vec, variant
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.compiling.jit import JIT_OFF
from monsterzoo.envs.core import stepping
from monsterzoo.envs.core.registry import find_game, gymnasium_id
from monsterzoo.envs.match.loop import ILLEGAL_REWARD
from toys import FirstLegal


def test_buffers_are_written_in_place_and_statistics_add_up(name, options):
    vec = make_vec(name, 64, seed=1, reward="score", **options)
    buffers = [vec.observations, vec.action_masks, vec.seats, vec.rewards, vec.terminated, vec.truncated, vec.states]
    totals, lengths, finished = np.zeros((64, vec.players)), np.zeros(64, int), 0
    for _ in range(1500):
        vec.step(vec.sample_actions())
        totals += vec.rewards
        lengths += 1
        for i in np.flatnonzero(vec.terminated | vec.truncated):
            finished += 1
            assert vec.final_lengths[i] == lengths[i]
            assert np.allclose(vec.final_returns[i], totals[i], atol=1e-4)
            assert vec.final_states["outcome"][i] != 0
            totals[i], lengths[i] = 0, 0
    assert finished > 20
    after = [vec.observations, vec.action_masks, vec.seats, vec.rewards, vec.terminated, vec.truncated, vec.states]
    assert all(one is other for one, other in zip(buffers, after))


def test_a_reset_repeats_the_games(name, options):
    vec = make_vec(name, 8, seed=5, **options)

    def played():
        return [(vec.step(vec.sample_actions()), vec.observations.tobytes()) for _ in range(50)]

    first = played()
    vec.reset(5)
    assert played() == first
    vec.reset(6)
    assert played() != first


def test_steps_and_resets_return_nothing():
    """Five values in Gymnasium's places would be taken for its observations, rewards and so on."""
    vec = make_vec("pikit_v0", 2, seed=5)
    assert vec.reset(3) is None
    assert vec.step(vec.sample_actions()) is None


def test_without_a_seed_the_generators_go_on():
    """`reset()` of a batch and of the AEC environments it is made of give the same games."""
    vec = make_vec("pikit_v0", 3, seed=5)
    singles = [GameEnv(find_game("pikit_v0")) for _ in range(3)]
    for i, single in enumerate(singles):
        single.reset(seed=env_seed(5, i))
    for _ in range(3):
        actions = vec.sample_actions()
        vec.step(actions)
        vec.reset()
        for single, action in zip(singles, actions, strict=True):
            single.step(action)
            single.reset()
        assert vec.states.tobytes() == b"".join(single.states.tobytes() for single in singles)
    fresh = [make_vec("pikit_v0", 1) for _ in range(2)]
    assert fresh[0].states.tobytes() != fresh[1].states.tobytes()


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_share_the_work_and_play_the_same_games(name, options, threads):
    alone, shared = (make_vec(name, 203, count, seed=3, **options) for count in (1, threads))
    for k in range(300):
        if k % 100 == 50:
            time.sleep(0.01)  # long enough for the workers to fall asleep
        alone.step(alone.sample_actions())
        shared.step(shared.sample_actions())
        assert alone.states.tobytes() == shared.states.tobytes()
    assert (alone.observations == shared.observations).all()
    assert (alone.action_masks == shared.action_masks).all()
    assert (alone.final_returns == shared.final_returns).all()


def test_threads_end_with_their_batch():
    before = set(threading.enumerate())
    batches = [make_vec("pikit_v0", 40, threads=3, seed=0) for _ in range(3)]
    seats = SeatVectorEnv("pikit_v0", 40, threads=2)
    seats.reset(seed=0)
    for batch in batches:
        batch.step(batch.sample_actions())
    seats.step(seats.action_masks().argmax(axis=1))
    # Timers are there while something is being compiled.
    others = (thread for thread in threading.enumerate() if not isinstance(thread, threading.Timer))
    workers = [thread for thread in others if thread not in before]
    assert len(workers) == (0 if JIT_OFF else 7)
    del batch, batches, seats
    gc.collect()
    for worker in workers:
        worker.join(timeout=20)
        assert not worker.is_alive()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda games: pickle.loads(pickle.dumps(games))])
def test_copies_of_batches_go_on_by_themselves(threads, copied):
    vec = make_vec("yokai_septet_v0", 32, threads=threads, seed=2)
    for _ in range(40):
        vec.step(vec.sample_actions())
    other = copied(vec)
    assert other.threads == vec.threads
    for _ in range(40):
        vec.step(vec.sample_actions())
    assert other.states.tobytes() != vec.states.tobytes()
    for _ in range(40):
        other.step(other.sample_actions())
    assert other.states.tobytes() == vec.states.tobytes()
    assert (other.observations == vec.observations).all()
    assert (other.final_returns == vec.final_returns).all()

    seats = SeatVectorEnv("yokai_septet_v0", 32, threads=threads)
    seats.reset(seed=2)
    twin = copied(seats)
    for _ in range(60):
        chosen = seats.action_masks().argmax(axis=1)
        one, two = seats.step(chosen), twin.step(twin.action_masks().argmax(axis=1))
        assert (one[0]["observation"] == two[0]["observation"]).all()
        assert (one[1] == two[1]).all()
    assert seats.states.tobytes() == twin.states.tobytes()


@pytest.mark.parametrize("observation", ["dict", "box"])
def test_ends_are_the_same_without_copies(observation):
    options = {"players": 2, "autoreset_mode": "same_step", "observation": observation}
    batches = [SeatVectorEnv("pikit_v0", 32, copy=copied, **options) for copied in (True, False)]
    batches.append(copy.deepcopy(batches[1]))
    for batch in batches:
        batch.reset(seed=4)
    ended = 0
    for _ in range(60):
        chosen = batches[0].action_masks().argmax(axis=1)
        first, *others = [batch.step(chosen)[4] for batch in batches]
        if "final_obs" not in first:
            continue
        ended += first["_final_obs"].sum()
        for infos in others:
            for one, other in zip(first["final_obs"], infos["final_obs"]):
                assert type(one) is type(other)
                parts = (
                    [] if one is None else [(one, other)] if observation == "box" else zip(one.values(), other.values())
                )
                assert all((left == right).all() for left, right in parts)
    assert ended > 20


def test_sampled_actions_are_uniform_over_the_legal_ones():
    vec = make_vec("yokai_septet_v0", 4000, seed=0)
    masks = vec.action_masks.copy()
    counts = np.zeros(50)
    for _ in range(20):
        counts += np.bincount(vec.sample_actions(), minlength=50)
    expected = 20 * (masks / masks.sum(axis=1, keepdims=True)).sum(axis=0)
    assert abs(counts - expected).max() < 6 * np.sqrt(expected.max())


def test_a_million_states_fit_in_400_mb(name, options):
    assert variant(name, **options).new_states(1000).nbytes * 1000 <= 400_000_000


@pytest.mark.parametrize(("seat", "reward"), [(0, "win"), (1, "score"), ("rotate", "score")])
def test_compiled_and_asked_opponents_play_the_same_game(name, options, seat, reward):
    """The one-seat batch equals an AEC game in which the same policy plays the other seats."""
    steps, n, options = 300, 3, {**options, "reward": reward}
    batch = SeatVectorEnv(name, n, opponents=FirstLegal(), seat=seat, autoreset_mode="same_step", **options)
    observations, infos = batch.reset(seed=9)
    singles, seats, random = [], [], np.random.default_rng(0)
    for i in range(n):
        env = GameEnv(find_game(name), **options)
        env.reset(seed=env_seed(9, i))
        singles.append(env)
        seats.append(i % env.variant.players if seat == "rotate" else seat)
    for _ in range(steps):
        actions = [int(random.choice(np.flatnonzero(mask))) for mask in observations["action_mask"]]
        for i, env in enumerate(singles):
            _others(env, seats[i])
            seen = env.observe(env.possible_agents[seats[i]])
            assert (seen["observation"] == observations["observation"][i]).all()
            assert (seen["action_mask"] == observations["action_mask"][i]).all()
            assert infos["seat"][i] == seats[i]
        observations, rewards, terminated, truncated, infos = batch.step(np.array(actions))
        for i, env in enumerate(singles):
            agent = env.possible_agents[seats[i]]
            env.step_for(agent, actions[i])
            _others(env, seats[i])
            assert rewards[i] == pytest.approx(env._cumulative_rewards[agent], abs=1e-6)
            assert (terminated[i], truncated[i]) == (env.terminations[agent], env.truncations[agent])
            if terminated[i] or truncated[i]:
                assert (infos["final_obs"][i]["observation"] == env.observe(agent)["observation"]).all()
                env.reset()
                seats[i] = (seats[i] + (seat == "rotate")) % env.variant.players


def _others(env, learner):
    """Let the other seats take their first legal action until the learner must decide."""
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        acting = [seat for seat in range(env.variant.players) if not env.infos[f"player_{seat}"]["action_mask"][-1]]
        if learner in acting:
            return
        agent = f"player_{acting[0]}"
        env.step_for(agent, int(env.infos[agent]["action_mask"].argmax()))


def test_threads_do_not_change_one_seat_games(name, options):
    results = []
    for threads in (1, 3):
        env = SeatVectorEnv(name, 10, threads=threads, **options)
        env.reset(seed=4)
        random, trace = np.random.default_rng(0), []
        for _ in range(100):
            masks = env.action_masks()
            actions = [random.choice(np.flatnonzero(mask)) for mask in masks]
            observations, rewards, *_ = env.step(np.array(actions))
            trace.append((observations["observation"].tobytes(), rewards.tobytes()))
        results.append(trace)
    assert results[0] == results[1]


def test_gymnasium_knows_the_games(name, options):
    env = gymnasium.make(gymnasium_id(name), opponents="random", seat=0, **options)
    observation, info = env.reset(seed=2)
    assert env.observation_space.contains(observation)
    assert (info["action_mask"] == observation["action_mask"]).all()
    batch = gymnasium.make_vec(gymnasium_id(name), num_envs=3, opponents="random", **options)
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP  # as in Gymnasium
    observations, _ = batch.reset(seed=[1, 2, 3])
    assert batch.observation_space.contains(observations)
    again, _ = SeatVectorEnv(name, 1, **options).reset(seed=[1])
    assert (again["observation"][0] == observations["observation"][0]).all()


def test_one_game_goes_on_with_the_next_seat_and_deal():
    env = gymnasium.make("monsterzoo/YokaiSeptet-v0", episode="round").unwrapped
    random, starts = np.random.default_rng(0), []
    observation, info = env.reset(seed=0)
    for game in range(5):
        assert info["seat"] == game % 4
        starts.append(observation["observation"].tobytes())
        over = False
        while not over:
            action = int(random.choice(np.flatnonzero(observation["action_mask"])))
            observation, reward, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        assert abs(reward) == 1
        assert observation["action_mask"].tolist() == [0] * 49 + [1]
        with pytest.raises(RuntimeError, match="reset"):
            env.step(0)
        observation, info = env.reset()
    assert len(set(starts)) == 5


@pytest.mark.parametrize("opponents", ["random", FirstLegal()])
def test_every_illegal_action_of_the_learner_ends_its_game(name, options, opponents):
    """As many copies of one game as there are actions; each copy tries another one."""
    count = variant(name, **options).num_actions
    env = SeatVectorEnv(name, count, seat=0, opponents=opponents, autoreset_mode="same_step", **options)
    for depth in range(6):
        observations, _ = env.reset(seed=[depth] * count)
        for _ in range(2 * depth):
            observations, *_ = env.step(observations["action_mask"].argmax(axis=1))
        assert (observations["observation"] == observations["observation"][0]).all()
        illegal = observations["action_mask"][0] == 0
        _, rewards, terminated, _, infos = env.step(np.arange(count))
        assert infos["final_info"]["illegal"].tolist() == illegal.tolist()
        assert terminated[illegal].all()
        assert (rewards[illegal] == ILLEGAL_REWARD).all()


class Witness(FirstLegal):
    """Remembers for which seats it was asked."""

    def __init__(self):
        self.asked = set()

    def act(self, decisions):
        self.asked |= set(decisions.seats.tolist())
        return super().act(decisions)


def test_opponents_can_be_given_one_by_one():
    """Clockwise from the learner: a policy, a spec, and a policy again."""
    one, other, learner = Witness(), Witness(), 1
    env = SeatVectorEnv("pikit_v0", 4, opponents=[one, "random", other], seat=learner, players=4)
    env.reset(seed=0)
    for _ in range(100):
        env.step(env.action_masks().argmax(axis=1))
    assert one.asked == {learner + 1}
    assert other.asked == {(learner + 3) % 4}


def test_returned_arrays_are_copies_unless_told_otherwise():
    kept = SeatVectorEnv("yokai_septet_v0", 2)
    first, _ = kept.reset(seed=0)
    before = first["observation"].copy()
    kept.step(kept.action_masks().argmax(axis=1))
    assert (first["observation"] == before).all()
    shared = SeatVectorEnv("yokai_septet_v0", 2, copy=False)
    first, _ = shared.reset(seed=0)
    after = shared.step(shared.action_masks().argmax(axis=1))[0]
    assert first["observation"] is after["observation"]


def test_nothing_of_a_finished_game_stays_in_the_next(name, options):
    vec = make_vec(name, 16, seed=3, **options)
    finished, fresh = 0, vec.variant.new_states(1)
    while finished < 20:
        vec.step(vec.sample_actions())
        for i in np.flatnonzero(vec.terminated | vec.truncated):
            fresh[0] = vec.variant.template[0]
            fresh["rng"] = vec.final_states[i]["rng"]
            stepping.begin(fresh, 0)
            assert fresh[0].tobytes() == vec.states[i].tobytes()
            finished += 1


# --- Opponents that break the rules ---


class Liar(FirstLegal):
    """Plays by the rules until it is told what to answer instead, a function of the masks."""

    name = "liar"
    answer = None

    def act(self, decisions):
        honest = super().act(decisions)
        return honest if self.answer is None else self.answer(decisions.action_masks)


def all_allowed(masks):
    masks[:] = 1
    return np.full(len(masks), masks.shape[1] - 1)


LIES = {
    "not legal": (lambda masks: masks.argmin(axis=1), r"liar: .* is illegal"),
    "no-op": (all_allowed, r"liar: 'no-op' .* has a decision to make"),
    "negative": (lambda masks: np.full(len(masks), -1), "liar: action -1 is out of range"),
    "far out": (lambda masks: np.full(len(masks), 10**12), "liar: action 1000000000000 is out of range"),
    "wraps": (lambda masks: np.full(len(masks), 2**64 - 1, np.uint64), "liar: action 18446744073709551615 is out of"),
    "huge": (lambda masks: [10**30] * len(masks), "liar: expected integer actions"),
    "floats": (lambda masks: masks.argmax(axis=1) * 1.0, "liar: expected integer actions .* float64"),
    "nan": (lambda masks: np.full(len(masks), np.nan), "liar: expected integer actions .* float64"),
    "truth": (lambda masks: np.ones(len(masks), bool), "liar: expected integer actions .* bool"),
    "one for all": (lambda masks: masks.argmax(axis=1)[0], r"liar: expected integer actions .* \(\)"),
    "too many": (lambda masks: np.zeros(len(masks) + 1, int), "liar: expected integer actions of shape"),
    "nothing": (lambda masks: None, "liar: expected integer actions .* None"),
    "ragged": (lambda masks: [[1], [2, 3]], "liar: expected integer actions"),
}


@pytest.mark.parametrize(("answer", "problem"), LIES.values(), ids=LIES)
@pytest.mark.parametrize("several", [False, True])
def test_an_opponent_that_breaks_the_rules_is_named_and_the_games_begin_anew(answer, problem, several):
    liar = Liar()
    if several:
        env = gymnasium.make_vec("monsterzoo/Pikit-v0", num_envs=3, players=2, seat=0, opponents=liar)
    else:
        env = gymnasium.make("monsterzoo/Pikit-v0", players=2, seat=0, opponents=liar)

    def step(info):
        best = info["action_mask"].argmax(axis=-1)
        return env.step(best if several else int(best))

    first, info = env.reset(seed=4)
    for _ in range(3):
        *_, info = step(info)
    liar.answer = answer
    with pytest.raises(IllegalActionError, match=problem):  # noqa: PT012 (the opponent is not asked at every step)
        for _ in range(100):
            *_, info = step(info)
    liar.answer = None
    with pytest.raises(RuntimeError, match=r"call reset\(\), also after a step that was broken off"):
        step(info)
    again, info = env.reset(seed=4)
    np.testing.assert_array_equal(again["observation"], first["observation"])
    step(info)


def test_an_opponent_that_breaks_the_rules_at_once_leaves_nothing_behind():
    liar, honest = Liar(), FirstLegal()
    liar.answer = LIES["not legal"][0]
    env = gymnasium.make("monsterzoo/Pikit-v0", players=2, seat=1, opponents=liar)
    other = gymnasium.make("monsterzoo/Pikit-v0", players=2, seat=1, opponents=honest)
    for _ in range(2):
        with pytest.raises(IllegalActionError, match="liar"):
            env.reset(seed=4)
    with pytest.raises(IllegalActionError, match="liar"):
        env.reset()  # not what was left of the broken games
    liar.answer = None
    np.testing.assert_array_equal(env.reset(seed=4)[0]["observation"], other.reset(seed=4)[0]["observation"])


def test_batches_of_one_seat_need_a_reset_first():
    for opponents in ("random", FirstLegal()):
        with pytest.raises(RuntimeError, match="reset"):
            SeatVectorEnv("pikit_v0", 2, players=2, opponents=opponents).step([0, 0])


# --- Saved batches ---


def saved_batch():
    vec = make_vec("pikit_v0", 4, seed=2, players=2)
    for _ in range(200):
        vec.step(vec.sample_actions())
    return vec, vec.save()


def test_what_seats_know_and_may_do_is_not_taken_from_saved_arrays():
    vec, saved = saved_batch()
    expected = [vec.observations.copy(), vec.action_masks.copy(), vec.seats.copy()]
    twin, _ = saved_batch()
    vec.step(vec.sample_actions())
    assert not {"observations", "action_masks"} & saved.keys()
    saved["seats"][:] = 10**12
    vec.restore(saved)
    for one, other in zip(expected, (vec.observations, vec.action_masks, vec.seats), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(IllegalActionError):
        vec.step(vec.action_masks.argmin(axis=1))
    for _ in range(50):
        vec.step(vec.sample_actions())
        twin.step(twin.sample_actions())
    assert vec.states.tobytes() == twin.states.tobytes()


def altered(field, value, which="states"):
    def alter(saved):
        saved[which].view(variant("pikit_v0", players=2).game.rules.record)[field][1] = value

    return alter


@pytest.mark.parametrize(
    ("alter", "problem"),
    [
        (altered("players", 4), "'players' has another value"),
        (altered("sides", 0), "'sides' has another value"),
        (altered("reward", 1), "'reward' has another value"),
        (altered("scale", np.nan), "'scale' has another value"),
        (altered("max_turns", 7), "'max_turns' has another value"),
        (altered("outcome", 1), "a game is over"),
        (altered("outcome", 9), "a game is over"),
        (altered("acting", 0), "has to decide"),
        (altered("acting", 4), "has to decide"),
        (altered("winners", 255), "no game ends like that"),
        (altered("outcome", 9, "final_states"), "no game ends like that"),
        (altered("players", 3, "final_states"), "'players' has another value"),
        (lambda saved: saved.pop("states"), "states is missing"),
        (lambda saved: saved.update(rewards=None), "rewards is missing or not an array"),
        (lambda saved: saved.update(streams=saved["streams"][:2]), "streams was saved by another batch"),
        (lambda saved: saved.update(seats=saved["seats"].astype(float)), "seats was saved by another batch"),
    ],
)
def test_saved_arrays_that_cannot_be_are_refused_and_change_nothing(alter, problem):
    vec, saved = saved_batch()
    assert vec.final_states["outcome"][1] != 0
    before = {name: values.tobytes() for name, values in vec.save().items()}
    alter(saved)
    with pytest.raises(ValueError, match=problem):
        vec.restore(saved)
    with pytest.raises(ValueError, match="restore needs the arrays"):
        vec.restore(None)
    assert {name: values.tobytes() for name, values in vec.save().items()} == before


# --- Two threads, and buffers that are not for writing ---


def batches():
    vec, seat = make_vec("pikit_v0", 64, seed=1, threads=2), SeatVectorEnv("pikit_v0", 64, seat=0, threads=2)
    seat.reset(seed=1)
    return vec, seat


@pytest.mark.parametrize("which", [0, 1], ids=["make_vec", "one seat"])
def test_a_second_thread_is_refused_while_one_plays_on(which):
    batch, alone = batches()[which], batches()[which]
    kernel, inside, go_on = batch._match._kernel, threading.Event(), threading.Event()

    def slow_run(run=kernel.run):
        inside.set()
        assert go_on.wait(60)
        return run()

    kernel.run = slow_run
    actions = alone._match.action_masks.argmax(axis=1)
    first = threading.Thread(target=batch.step, args=(actions,))
    first.start()
    assert inside.wait(60)
    before = {name: values.tobytes() for name, values in batch._match.arrays.items()}
    for call in (lambda: batch.step(np.zeros(64, int)), lambda: batch.reset(seed=3), batch._match.run):
        with pytest.raises(RuntimeError, match="another thread is inside this"):
            call()
    assert {name: values.tobytes() for name, values in batch._match.arrays.items()} == before
    go_on.set()
    first.join()
    alone.step(actions)
    batch.step(batch._match.action_masks.argmax(axis=1))  # and it goes on
    alone.step(alone._match.action_masks.argmax(axis=1))
    assert batch.states.tobytes() == alone.states.tobytes()


@pytest.mark.parametrize("which", [0, 1], ids=["make_vec", "one seat"])
def test_two_threads_that_step_at_once_neither_hang_nor_break_anything(which):
    batch, refused = batches()[which], []

    def play():
        for _ in range(300):
            try:
                batch.step(batch._match.action_masks.argmax(axis=1))
            except (RuntimeError, IllegalActionError) as error:  # the masks may be of the other thread's step
                refused.append(error)

    threads = [threading.Thread(target=play, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert len(refused) < 600
    batch.variant.check_states(batch.states.copy(), exactly=True)


def test_what_users_must_not_write_cannot_be_written():
    vec, seat = batches()
    for values in (vec.seats, vec.decisions().seats, seat.states, seat.learners):
        before = values.tobytes()
        with pytest.raises(ValueError, match="read-only"):
            values[:] = values[::-1].copy()
        assert values.tobytes() == before
    for batch in (vec, copy.deepcopy(vec), pickle.loads(pickle.dumps(vec))):
        batch.step(batch.sample_actions())
        assert not batch.seats.flags.writeable
