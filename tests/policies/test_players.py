"""Random, heuristic and search: legal, reproducible, and blind to what their seat cannot know."""

import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import make_vec
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.game import fields_of
from monsterzoo.envs.core.jit import kernel
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.core.seat_kernels import choose
from monsterzoo.envs.single import SeatVectorEnv
from monsterzoo.policies.base import Policy
from monsterzoo.policies.heuristics import Heuristic, advise

SPECS = ("random", "heuristic", "search:30,playout=random")


class Hidden:
    """A policy without its compiled form, so that Python asks it."""

    def __init__(self, policy):
        self.name, self.act = policy.name, policy.act


def positions(name, options, count=48, steps=23, seed=3):
    vec = make_vec(name, count, seed=seed, **options)
    for _ in range(steps):
        vec.step(vec.sample_actions())
    return vec


@pytest.mark.parametrize("spec", SPECS)
def test_policies_never_choose_a_masked_action(name, options, spec):
    policy = policies.make(spec, name, **options)
    assert isinstance(policy, Policy)
    vec = make_vec(name, 32, seed=1, **options)
    for _ in range(5 if spec.startswith("search") else 150):
        vec.step(policy.act(vec.observations, vec.action_masks, vec.seats, vec.states))  # raises if one is illegal


@pytest.mark.parametrize("spec", SPECS)
def test_policies_are_deterministic_for_a_seed(name, options, spec):
    vec = positions(name, options)
    asked = (vec.observations, vec.action_masks, vec.seats, vec.states)
    first, again, other = (policies.make(spec, name, seed=seed, **options).act(*asked) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    if spec == "random":
        assert (first != other).any()


# --- What a seat cannot know ---


def resampled(vec, seed=11):
    """The same games with everything resampled that the seat which decides cannot know."""
    worlds, luck = vec.states.copy(), streams(seed, 1, "test")
    for i in range(len(worlds)):
        imagine(worlds[i : i + 1], vec.states[i : i + 1], vec.seats[i], luck[0])
    assert (worlds.view(np.uint8) != vec.states.view(np.uint8)).any()
    return worlds


@kernel
def _choose_all(policy, states, seats, streams, words, views, choices):
    for i in range(len(states)):
        choices[i] = choose(policy, states[i], seats[i], words, views, streams[i])


def in_compiled_loops(vec, states):
    """What the compiled heuristic chooses for the seats that decide."""
    choices, words = np.full(len(states), -1), np.zeros(vec.variant.words, np.uint64)
    luck = streams(0, len(states), "test")
    _choose_all(Heuristic(), states, vec.seats.astype(np.int64), luck, words, vec.variant.new_views(), choices)
    return choices


@pytest.mark.parametrize("steps", [1, 17, 40])
def test_the_heuristic_chooses_the_same_from_tensors_states_and_resampled_states(name, options, steps):
    """Compiled loops give it a state to look at; from there on it must see what the tensor shows, and no more."""
    heuristic, vec = policies.make("heuristic", name, **options), positions(name, options, steps=steps)
    chosen = heuristic.act(vec.observations, vec.action_masks, vec.seats)
    np.testing.assert_array_equal(in_compiled_loops(vec, vec.states), chosen)
    for seed in (11, 12):
        np.testing.assert_array_equal(in_compiled_loops(vec, resampled(vec, seed)), chosen)


def test_the_heuristic_chooses_the_same_in_plain_python(name, options):
    vec = positions(name, options, count=12)
    chosen = policies.make("heuristic", name, **options).act(vec.observations, vec.action_masks, vec.seats)
    views = vec.variant.decode(vec.observations)
    words = np.zeros((len(views), vec.variant.words), np.uint64)
    for game, action in np.argwhere(vec.action_masks):
        words[game, action // 64] |= np.uint64(1) << np.uint64(action % 64)
    free = np.flatnonzero(vec.action_masks.sum(axis=1) > 1)
    assert len(free) > 3
    assert [int(advise(views[game], words[game])) for game in free] == chosen[free].tolist()


def test_views_decoded_from_tensors_are_those_that_compiled_players_see(name, options):
    """Every field that a heuristic may read is in the tensor: decoding gives the same view."""
    for steps in (0, 17, 40):
        vec = positions(name, options, count=16, steps=steps)
        decoded = vec.variant.decode(vec.observations)
        for i in range(len(decoded)):
            seen = vec.variant.look(vec.states, i, int(vec.seats[i]))[0]
            for field, value in vars(fields_of(decoded[i])).items():
                np.testing.assert_array_equal(value, seen[field], field)


@pytest.mark.parametrize("spec", SPECS[2:])
@pytest.mark.parametrize("steps", [1, 17, 40])
def test_search_does_not_depend_on_what_the_seat_cannot_know(name, options, spec, steps):
    policy, vec = policies.make(spec, name, **options), positions(name, options, count=16, steps=steps)
    asked = (vec.observations, vec.action_masks, vec.seats)
    np.testing.assert_array_equal(policy.act(*asked, vec.states), policy.act(*asked, resampled(vec)))


def test_search_leaves_the_game_and_its_luck_alone(name, options):
    vec = positions(name, options, count=8)
    before = vec.states.tobytes()
    policies.make("search:30,playout=random", name, **options).act(
        vec.observations, vec.action_masks, vec.seats, vec.states
    )
    assert vec.states.tobytes() == before


def test_heuristic_plays_the_same_compiled_and_asked_by_python(name, options):
    heuristic = policies.make("heuristic", name, **options)
    envs = [SeatVectorEnv(name, 16, opponents=one, **options) for one in (heuristic, Hidden(heuristic))]
    observations = [env.reset(seed=5)[0] for env in envs]
    for _ in range(60):
        np.testing.assert_array_equal(observations[0]["observation"], observations[1]["observation"])
        asked = (observations[0]["observation"], observations[0]["action_mask"], envs[0].learners)
        action = heuristic.act(*asked)
        results = [env.step(action) for env in envs]
        for part in range(1, 4):
            np.testing.assert_array_equal(results[0][part], results[1][part])
        observations = [result[0] for result in results]


def test_mixed_tables_stay_compiled_and_know_who_is_who():
    others = ["heuristic", "random", "heuristic"]
    env = SeatVectorEnv("yokai_septet_v0", 256, opponents=others, seat=0, episode="round")
    assert env._compiled is not None
    # The learner and its partner are random, the other team is not: it wins most rounds.
    env.reset(seed=2)
    draws, total, rounds = np.random.default_rng(0), 0.0, 0
    for _ in range(60):
        actions = [draws.choice(np.flatnonzero(mask)) for mask in env.action_masks()]
        _, rewards, terminated, _, _ = env.step(np.array(actions))
        total, rounds = total + rewards[terminated].sum(), rounds + terminated.sum()
    assert rounds > 500
    assert total / rounds < -0.6


def test_search_budgets_in_milliseconds_and_several_trees():
    vec = positions("yokai_septet_v0", {}, count=4)
    asked = (vec.observations, vec.action_masks, vec.seats, vec.states)
    timed = policies.make("search:5ms,playout=random", "yokai_septet_v0")
    assert vec.action_masks[np.arange(4), timed.act(*asked)].all()
    one, two = (
        policies.make(f"search:60,playout=random,trees=3,threads={threads}", "yokai_septet_v0") for threads in (1, 2)
    )
    visits, _ = one.analyse(vec.observations, vec.seats, vec.states)
    assert (visits.sum(axis=1) == 60).all()
    np.testing.assert_array_equal(visits, two.analyse(vec.observations, vec.seats, vec.states)[0])


def test_search_takes_a_win_that_is_there():
    """Where one action almost surely wins the round and another one loses it half the time, it takes the first."""
    vec = make_vec("yokai_septet_v0", 64, seed=9, episode="round")
    search = policies.make("search:300,playout=random", "yokai_septet_v0", episode="round")
    sure = 0
    for step in range(640):
        game = slice(step % 64, step % 64 + 1)
        asked = (vec.observations[game], vec.seats[game], vec.states[game])
        visits, totals = search.analyse(*asked)
        means = totals[visits > 0] / visits[visits > 0]
        assert ((means >= 0) & (means <= 1)).all()
        if means.max() >= 0.95 and means.min() <= 0.5:
            action = search.act(vec.observations[game], vec.action_masks[game], vec.seats[game], vec.states[game])[0]
            assert totals[0, action] / visits[0, action] > 0.8
            sure += 1
        vec.step(vec.sample_actions())
    assert sure > 0


@pytest.mark.parametrize(
    "spec",
    ["search", "search:0", "search:x", "search:10,depth=3", "search:10,playout=best", "search:10,c=-1", "random:1",
     "heuristic:2", "alphazero"],
)  # fmt: skip
def test_bad_specs_say_what_is_wrong(spec):
    with pytest.raises(ValueError, match=spec.partition(":")[0]):
        policies.make(spec, "yokai_septet_v0")


def test_search_without_states_says_what_it_needs():
    vec = positions("yokai_septet_v0", {}, count=2)
    with pytest.raises(ValueError, match="states"):
        policies.make("search:10", "yokai_septet_v0").act(vec.observations, vec.action_masks, vec.seats)
