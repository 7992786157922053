"""Random, heuristic and search: legal, reproducible, and blind to what their seat cannot know."""

import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import make_vec
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.compiling.jit import JIT_OFF, kernel
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.core.variant import fields_of
from monsterzoo.envs.match.compiled_policies import choose
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.players import ask
from monsterzoo.policies import search
from monsterzoo.policies.base import Policy
from monsterzoo.policies.heuristics import Heuristic, advise

SPECS = ("random", "heuristic", "search:30,rollout=random")


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
        vec.step(policy.act(vec.decisions()))  # raises if one is illegal


@pytest.mark.parametrize("spec", SPECS)
def test_policies_are_deterministic_for_a_seed(name, options, spec):
    vec = positions(name, options)
    first, again, other = (policies.make(spec, name, seed=seed, **options).act(vec.decisions()) for seed in (7, 7, 8))
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


def with_states(vec, states):
    """What the games are asked, as if these were their states."""
    return Decisions(vec.variant, vec.observations, vec.action_masks, vec.seats, states)


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
    chosen = heuristic.act(vec.decisions())
    np.testing.assert_array_equal(in_compiled_loops(vec, vec.states), chosen)
    for seed in (11, 12):
        np.testing.assert_array_equal(in_compiled_loops(vec, resampled(vec, seed)), chosen)


def test_the_heuristic_chooses_the_same_in_plain_python(name, options):
    vec = positions(name, options, count=12)
    chosen = policies.make("heuristic", name, **options).act(vec.decisions())
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
    np.testing.assert_array_equal(policy.act(vec.decisions()), policy.act(with_states(vec, resampled(vec))))


def test_search_leaves_the_game_and_its_luck_alone(name, options):
    vec = positions(name, options, count=8)
    before = vec.states.tobytes()
    policies.make("search:30,rollout=random", name, **options).act(vec.decisions())
    assert vec.states.tobytes() == before


def test_heuristic_plays_the_same_compiled_and_asked_by_python(name, options):
    heuristic = policies.make("heuristic", name, **options)
    settings = {"autoreset_mode": "same_step", **options}
    envs = [SeatVectorEnv(name, 16, opponents=one, **settings) for one in (heuristic, Hidden(heuristic))]
    observations = [env.reset(seed=5)[0] for env in envs]
    for _ in range(60):
        np.testing.assert_array_equal(observations[0]["observation"], observations[1]["observation"])
        action = heuristic.act(Decisions(heuristic.variant, *observations[0].values(), envs[0].learners))
        results = [env.step(action) for env in envs]
        for part in range(1, 4):
            np.testing.assert_array_equal(results[0][part], results[1][part])
        observations = [result[0] for result in results]


def test_mixed_tables_stay_compiled_and_know_who_is_who():
    others = ["heuristic", "random", "heuristic"]
    env = SeatVectorEnv("yokai_septet_v0", 256, opponents=others, seat=0, episode="round", autoreset_mode="same_step")
    assert len(env._match._tokens) == 2
    assert not env._match._asked
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
    timed = policies.make("search:5ms,rollout=random", "yokai_septet_v0")
    assert vec.action_masks[np.arange(4), timed.act(vec.decisions())].all()
    one, two = (
        policies.make(f"search:60,rollout=random,trees=3,threads={threads}", "yokai_septet_v0") for threads in (1, 2)
    )
    visits = one.search(vec.observations, vec.seats, vec.states).visits
    assert (visits.sum(axis=1) == 60).all()
    np.testing.assert_array_equal(visits, two.search(vec.observations, vec.seats, vec.states).visits)


def test_search_takes_a_win_that_is_there():
    """Where one action almost surely wins the round and another one loses it half the time, it takes the first."""
    vec = make_vec("yokai_septet_v0", 64, seed=9, episode="round")
    search = policies.make("search:300,rollout=random", "yokai_septet_v0", episode="round")
    sure = 0
    for step in range(640):
        game = slice(step % 64, step % 64 + 1)
        asked = (vec.observations[game], vec.seats[game], vec.states[game])
        found = search.search(*asked)
        means = found.values[found.visits > 0]
        assert ((means >= 0) & (means <= 1)).all()
        if means.max() >= 0.95 and means.min() <= 0.5:
            action = search.act(vec.decisions()[game])[0]
            assert found.values[0, action] > 0.8
            sure += 1
        vec.step(vec.sample_actions())
    assert sure > 0


@pytest.mark.parametrize(
    "spec",
    ["search", "search:0", "search:x", "search:10,depth=3", "search:10,rollout=best", "search:10,c=-1", "random:1",
     "heuristic:2", "alphazero"],
)  # fmt: skip
def test_bad_specs_say_what_is_wrong(spec):
    with pytest.raises(ValueError, match=spec.partition(":")[0]):
        policies.make(spec, "yokai_septet_v0")


def test_search_does_not_play_by_observations_alone():
    vec = positions("yokai_septet_v0", {}, count=2)
    with pytest.raises(ValueError, match="observations alone are not enough"):
        policies.make("search:10", "yokai_septet_v0").act(with_states(vec, None))


# --- Settings of a search that cannot be ---


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("search:10,c=nan", "c=nan is not allowed; allowed: a number from 0 to 1000"),
        ("search:10,c=inf", "c=inf is not allowed"),
        ("search:10,heuristic_bonus=nan", "heuristic_bonus=nan is not allowed; allowed: a number from 1 to 1000"),
        ("search:nanms", "milliseconds=nan is not allowed; allowed: a number from 0 to 600000"),
        ("search:infms", "milliseconds=inf is not allowed"),
        ("search:-5ms", "milliseconds=-5.0 is not allowed"),
        ("search:0ms", "the budget must be positive"),
        ("search:1000000001", "simulations=1000000001 is not allowed; allowed: an integer from 0 to 1000000000"),
        (f"search:{10**15}", "simulations=1000000000000000 is not allowed"),
        ("search:" + "9" * 5000, "is not a search"),
        ("search:10,trees=0", "trees=0 is not allowed; allowed: an integer from 1 to 1000"),
        (f"search:10,trees={10**12}", "trees=1000000000000 is not allowed"),
        (f"search:10,threads={10**6}", "threads=1000000 is not allowed; allowed: an integer from 1 to 256"),
        ("search:10,c=1,c=2", "c is given twice"),
        ("search:10,simulations=20", "simulations is given twice"),
    ],
)
def test_settings_of_a_search_have_limits(spec, problem):
    with pytest.raises(ValueError, match=problem) as refusal:
        policies.make(spec, "pikit_v0")
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("settings", ["", ",trees=3"])
def test_slices_do_not_change_what_a_search_finds(settings, monkeypatch):
    vec = positions("pikit_v0", {"players": 2}, count=3)
    found = []
    for size in (1, 64, 10**6):
        monkeypatch.setattr(search.policy, "SLICE", size)
        policy = policies.make(f"search:333,rollout=random{settings}", "pikit_v0", players=2)
        found.append(policy.search(vec.observations, vec.seats, vec.states))
    for other in found[1:]:
        np.testing.assert_array_equal(other.visits, found[0].visits)
        np.testing.assert_array_equal(other.totals, found[0].totals)
    assert (found[0].visits.sum(axis=1) == 333).all()


@pytest.mark.skipif(JIT_OFF, reason="a search of this size takes hours")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_search_can_be_interrupted_and_the_next_one_is_right(threads):
    vec = positions("pikit_v0", {"players": 2}, count=2)
    policies.make("search:10,rollout=random", "pikit_v0", players=2).act(vec.decisions())  # compile
    policy = policies.make(f"search:1000000000,rollout=random,trees=2,threads={threads}", "pikit_v0", players=2)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored, in a background process
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            policy.act(vec.decisions())
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 5
    policy.settings = replace(policy.settings, simulations=50)
    fresh = policies.make("search:50,rollout=random,trees=2", "pikit_v0", players=2)
    asked = (vec.observations, vec.seats, vec.states)
    np.testing.assert_array_equal(policy.search(*asked).visits, fresh.search(*asked).visits)


def test_states_that_wait_for_nobody_are_not_searched():
    vec, policy = positions("pikit_v0", {"players": 2}, count=3), policies.make("search:5", "pikit_v0", players=2)
    good, over, other = vec.states, vec.states.copy(), (vec.seats + 1) % 2
    over["outcome"][1], over["acting"][1] = 1, 0
    for states, seats, problem in (
        (vec.variant.new_states(3), vec.seats, "state 0 does not wait for a decision of seat"),
        (np.zeros(3, vec.variant.game.rules.record), vec.seats, "'players' has another value"),
        (over, vec.seats, "state 1 does not wait"),
        (good, other, "does not wait for a decision"),
        (good, np.full(3, 10**12), "does not wait for a decision of seat 1000000000000"),
        (good, np.full(3, -1), "does not wait for a decision of seat -1"),
        (good, vec.seats * 1.0, "3 seats are needed"),
        (good, vec.seats[:2], "3 seats are needed"),
    ):
        with pytest.raises(ValueError, match=problem):
            policy.search(vec.observations, seats, states)
        if np.shape(seats) == (3,):
            with pytest.raises(ValueError, match=problem):
                policy.act(Decisions(vec.variant, vec.observations, vec.action_masks, seats, states))
    with pytest.raises(ValueError, match="observations have the shape"):
        policy.search(vec.observations[:, :5], vec.seats, good)


# --- The wrong table ---


TABLES = [
    ("yokai_septet_v0", {"players": 4}, "yokai_septet_v0", {"players": 2}),
    ("yokai_septet_v0", {"players": 4}, "pikit_v0", {"players": 4}),
    ("pikit_v0", {"players": 4}, "pikit_v0", {"players": 2}),
    ("pikit_v0", {"players": 2}, "pikit_v0", {"players": 4}),
]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(("home", "home_options", "table", "table_options"), TABLES)
def test_policies_refuse_the_table_of_another_game(spec, home, home_options, table, table_options):
    policy = policies.make(spec, home, **home_options)
    problem = f"{spec} was made for {home} with players={home_options['players']}"
    vec = make_vec(table, 2, seed=1, **table_options)
    own = make_vec(home, 2, seed=1, **home_options)
    with pytest.raises(ValueError, match=problem):
        policy.act(vec.decisions())
    with pytest.raises(ValueError, match=r"are no states of|these are not states of"):
        with_states(own, vec.states)
    problem = f"{problem} and cannot play {table} with players={table_options['players']}"
    with pytest.raises(ValueError, match=problem):
        SeatVectorEnv(table, 2, opponents=policy, **table_options)
    with pytest.raises(ValueError, match=problem):
        ask(policy, vec.decisions())


@pytest.mark.parametrize("spec", SPECS)
def test_policies_play_where_only_the_length_of_the_game_differs(spec):
    policy = policies.make(spec, "pikit_v0", players=2)
    env = SeatVectorEnv("pikit_v0", 2, opponents=Hidden(policy), players=2, max_turns=9, reward="score")
    env.reset(seed=1)
    env.step(env.action_masks().argmax(axis=1))
    SeatVectorEnv("pikit_v0", 2, opponents=policy, players=2, max_turns=9)


@pytest.mark.parametrize("spec", SPECS)
def test_rows_without_a_legal_action_are_refused(spec):
    vec, policy = positions("pikit_v0", {"players": 2}, count=3), policies.make(spec, "pikit_v0", players=2)
    masks = vec.action_masks.copy()
    masks[1] = 0
    with pytest.raises(ValueError, match=f"{spec}: no action is legal in row 1"):
        policy.act(Decisions(vec.variant, vec.observations, masks, vec.seats, vec.states))


# --- Tables that cannot be ---


def _zeros(vec, random):
    return np.zeros_like(vec.observations), vec.action_masks


def _everything_legal(vec, random):
    return vec.observations, np.ones_like(vec.action_masks)


def _masks_of_others(vec, random):
    return vec.observations, vec.action_masks[random.permutation(len(vec.seats))]


def _any_masks(vec, random):
    masks = (random.random(vec.action_masks.shape) < 0.2).astype(np.int8)
    masks[:, -1] = 1
    return vec.observations, masks


def _values_in_range(vec, random):
    """Every field has values that it can have, but they do not belong together."""
    rows, others = vec.observations.copy(), random.permutation(len(vec.seats))
    for field in vec.variant.layout:
        if random.random() < 0.5:
            rows[:, field.slice] = vec.observations[others][:, field.slice]
    return rows, vec.action_masks


@pytest.mark.parametrize("table", [_zeros, _everything_legal, _masks_of_others, _any_masks, _values_in_range])
def test_the_heuristic_is_never_led_to_an_illegal_action(name, options, table):
    policy, random = policies.make("heuristic", name, **options), np.random.default_rng(2)
    told = 0
    for steps in (0, 9, 31, 90):
        vec = positions(name, options, count=16, steps=steps)
        rows, masks = table(vec, random)
        for row, mask in zip(rows, masks):
            try:
                [chosen] = policy.act(Decisions(vec.variant, row[None], mask[None], np.zeros(1, np.int64)))
            except ValueError:
                told += 1
            else:
                assert mask[chosen]
    assert told or table is not _zeros


def test_the_heuristic_says_which_row_it_cannot_have_seen():
    vec = positions("bite_night_v0", {"players": 4}, steps=0)
    masks = vec.action_masks.copy()
    masks[3] = 0
    masks[3, -3:] = 1  # tiles to bury, while cards are laid
    with pytest.raises(ValueError, match="heuristic: the observation of row 3 does not go with its legal actions"):
        policies.make("heuristic", "bite_night_v0").act(Decisions(vec.variant, vec.observations, masks, vec.seats))
