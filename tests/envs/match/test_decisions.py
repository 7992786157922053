"""Decisions: what a player is given never depends on what its seat cannot know."""

import numpy as np
import pytest
from monsterzoo.envs import make, make_vec
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match.players import ask
from monsterzoo.policies import Decisions, act_in, from_function
from monsterzoo.policies import make as make_policy


def played_on(name, options, steps, count=12):
    games = make_vec(name, count, seed=3, **options)
    for _ in range(steps):
        games.step(games.sample_actions())
    return games


def public(decisions):
    """Everything that a player can read without touching private names, as bytes."""
    shown = {name: getattr(decisions, name) for name in dir(decisions) if not name.startswith("_")}
    sampled = [decisions.sample_worlds(i, 3, 7 + i).tobytes() for i in range(len(decisions))]
    generator = np.random.default_rng(5)
    sampled += [decisions.sample_worlds(i, 2, generator).tobytes() for i in range(len(decisions))]
    arrays = {name: value.tobytes() for name, value in shown.items() if isinstance(value, np.ndarray)}
    data = {"action_masks", "observations", "seats", "variant"}
    assert set(shown) == data | {"from_states", "sample_worlds", "unchecked", "views"}
    return {**arrays, "views": decisions.views().tobytes(), "worlds": sampled, "repr": repr(decisions)}


@pytest.mark.parametrize("steps", [1, 17, 40])
def test_all_that_is_public_is_the_same_when_the_hidden_part_is_resampled(name, options, steps):
    games = played_on(name, options, steps)
    worlds, luck = games.states.copy(), streams(11, 1, "test")
    for i in range(len(worlds)):
        imagine(worlds[i : i + 1], games.states[i : i + 1], games.seats[i], luck[0])
    assert worlds.tobytes() != games.states.tobytes()
    truth = games.decisions()
    others = Decisions(games.variant, games.observations, games.action_masks, games.seats, worlds)
    remade = Decisions.from_states(games.variant, worlds, games.seats)
    assert public(truth) == public(others) == public(remade)


def test_no_public_attribute_reaches_the_states(name, options):
    games = played_on(name, options, 9)
    for decisions in (games.decisions(), games.decisions()[2:5], games.decisions()[[1, 4]], games.decisions()[3]):
        for attribute in ("observations", "action_masks", "seats", "variant", "views", "sample_worlds"):
            found = getattr(decisions, attribute)
            found = found() if attribute == "views" else decisions.sample_worlds(0, 2, 1) if callable(found) else found
            while isinstance(found, np.ndarray):
                assert not np.shares_memory(found, games.states)
                assert not np.shares_memory(found, decisions._states)
                found = found.base


def test_worlds_look_the_same_to_the_seat_and_differ_from_each_other(name, options):
    games = played_on(name, options, 5)
    decisions, before = games.decisions(), games.states.tobytes()
    for i in range(len(games.seats)):
        worlds = decisions.sample_worlds(i, 4, i)
        seats = np.repeat(games.seats[i], 4)
        seen = Decisions.from_states(games.variant, worlds, seats)
        assert (seen.observations == decisions.observations[i]).all()
        assert (seen.action_masks == decisions.action_masks[i]).all()
        assert len({world.tobytes() for world in worlds}) > 1
    assert games.states.tobytes() == before


def test_rows_of_a_batch_are_batches():
    decisions = played_on("pikit_v0", {"players": 2}, 9, count=4).decisions()
    for rows, wanted in (
        (2, [2]),
        (-1, [3]),
        (slice(1, 3), [1, 2]),
        ([3, 0], [3, 0]),
        (decisions.seats >= 0, range(4)),
    ):
        part = decisions[rows]
        assert len(part) == len(wanted)
        np.testing.assert_array_equal(part.observations, decisions.observations[list(wanted)])
        assert part.sample_worlds(0, 1, 8).tobytes() == decisions.sample_worlds(wanted[0], 1, 8).tobytes()
    assert [one.seats.tolist() for one in decisions] == decisions.seats[:, None].tolist()
    assert decisions.sample_worlds(-1, 2, 8).tobytes() == decisions.sample_worlds(3, 2, 8).tobytes()
    assert len(decisions.sample_worlds(0, 0, 8)) == 0
    with pytest.raises(IndexError):
        decisions[4]


def test_a_batch_of_decisions_is_not_a_copy():
    games = make_vec("pikit_v0", 4, seed=0)
    decisions = games.decisions()
    for shown, own in ((decisions.observations, games.observations), (decisions.action_masks, games.action_masks)):
        assert np.shares_memory(shown, own)


def test_wrong_arrays_rows_and_counts_are_refused():
    games = played_on("pikit_v0", {"players": 2}, 9, count=3)
    decisions, variant = games.decisions(), games.variant
    good = (games.observations, games.action_masks, games.seats, games.states)
    for place, wrong, problem in (
        (0, games.observations[:, :-1], "observations of 3 decisions in pikit_v0 with players=2 have the shape"),
        (0, games.observations[:2], "observations of 3 decisions"),
        (1, games.action_masks[0], "action_masks of 3 decisions"),
        (2, games.seats[None], "seats of 3 decisions"),
        (3, games.states[:2], "3 decisions in pikit_v0 with players=2 need as many states, not 2"),
        (3, games.observations, "are no states of pikit_v0"),
    ):
        arguments = [wrong if k == place else one for k, one in enumerate(good)]
        with pytest.raises(ValueError, match=problem):
            Decisions(variant, *arguments)
    for row, count, rng, problem in (
        (3, 1, 0, "i=3 is not allowed; allowed: an integer from -3 to 2"),
        (0.5, 1, 0, "i=0.5 is not allowed"),
        (0, -1, 0, "count=-1 is not allowed; allowed: an integer from 0"),
        (0, True, 0, "count=True is not allowed"),
        (0, 1, "dice", "a seed is"),
        (0, 1, None, "a seed is"),
    ):
        with pytest.raises(ValueError, match=problem):
            decisions.sample_worlds(row, count, rng)
    with pytest.raises(ValueError, match="without games to sample worlds from"):
        Decisions(variant, *good[:3]).sample_worlds(0, 1, 0)
    others = Decisions(variant, *good[:2], (games.seats + 1) % 2, games.states)
    with pytest.raises(ValueError, match="does not wait for a decision of seat"):
        others.sample_worlds(0, 1, 0)


@pytest.mark.parametrize("observation", ["dict", "box"])
def test_policies_are_asked_in_environments_of_either_observation(observation):
    env = make("pikit_v0", players=2, observation=observation)
    env.reset(seed=1)
    asked = []
    policy = from_function(lambda decisions: asked.append(decisions) or decisions.action_masks.argmax(axis=1), "mine")
    act_in(policy, env)
    variant, seat = env.unwrapped.variant, asked[0].seats[0]
    np.testing.assert_array_equal(asked[0].observations[0], variant.observation(env.unwrapped.states, 0, seat))
    assert asked[0].action_masks.shape == (1, variant.num_actions)
    act_in(make_policy("search:5", "pikit_v0", players=2), env)


def test_a_wrong_choice_is_named_by_row_where_there_is_no_game():
    games = played_on("pikit_v0", {"players": 2}, 9, count=3)
    last = games.action_masks.shape[1] - 1  # the no-op
    policy = from_function(lambda rows, masks: np.where(np.arange(3) == 1, last, masks.argmax(axis=1)), "mine")
    with pytest.raises(ValueError, match=rf"mine: action {last} is not legal in row 1"):
        ask(policy, Decisions(games.variant, games.observations, games.action_masks, games.seats))
    with pytest.raises(ValueError, match=rf"mine: 'no-op' \({last}\) is illegal: player_. has a decision to make"):
        ask(policy, games.decisions())
