"""Search guided by a network: reproducible, blind to what a seat cannot know, and better than the network alone."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import make_vec
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.policies.analysis import analyse
from monsterzoo.policies.networks import WEIGHTS, write
from monsterzoo.policies.networks.files import check_fit
from monsterzoo.policies.search import Settings, parse
from monsterzoo.policies.search import policy as search
from monsterzoo.policies.search.evaluation import write_network_values
from monsterzoo.training.arena import arena
from test_networks import about, played_on, random_network

PIKIT = {"players": 2}
SOME = pytest.mark.parametrize(  # compiling takes long: teams, simultaneous choices, and dice
    ("game", "played"),
    [
        ("yokai_septet_v0", {"players": 4}),
        ("yokai_septet_v0", {"players": 2}),
        ("bite_night_v0", {"players": 3, "advanced": True}),
        ("pikit_v0", {"players": 3}),
    ],
)
SPEC = "search:40,net=pretrained"


@pytest.fixture
def untrained(tmp_path):
    """A maker of files with random networks: "net=…" of a spec."""

    def make(name, played, values=None, largest=None, **more):
        variant = find_game(name).variant(**played)
        path = tmp_path / f"{name}-{values}"
        path.mkdir()
        arrays = random_network(variant, values=values or variant.sides)
        if largest:
            arrays = {key: array / np.abs(array).max() * np.float32(largest) for key, array in arrays.items()}
        write(path / WEIGHTS, arrays, {**about(variant), **more})
        return f"net=net:{path}"

    return make


@SOME
def test_actions_are_legal_and_follow_from_seed_and_observation(game, played, untrained) -> None:
    net = untrained(game, played)
    games = played_on(game, played, count=6)
    chosen = [policies.make(f"search:12,{net}", game, seed=seed, **played).act(games.decisions()) for seed in (3, 3)]
    np.testing.assert_array_equal(*chosen)
    games.step(chosen[0])  # raises if one is illegal
    threads = policies.make(f"search:12,{net},opponents=rollout,trees=2,threads=2", game, seed=3, **played)
    single = policies.make(f"search:12,{net},opponents=rollout,trees=2", game, seed=3, **played)
    np.testing.assert_array_equal(threads.act(games.decisions()), single.act(games.decisions()))


@SOME
def test_it_does_not_depend_on_what_the_seat_cannot_know(game, played, untrained) -> None:
    policy = policies.make(f"search:12,{untrained(game, played)}", game, **played)
    games = played_on(game, played, count=6)
    worlds, luck = games.states.copy(), streams(11, 1, "test")
    for i in range(len(worlds)):
        imagine(worlds[i : i + 1], games.states[i : i + 1], games.seats[i], luck[0])
    assert (worlds.view(np.uint8) != games.states.view(np.uint8)).any()
    one, other = (policy.search(games.observations, games.seats, states) for states in (games.states, worlds))
    np.testing.assert_array_equal(one.visits, other.visits)
    np.testing.assert_array_equal(one.totals, other.totals)


def test_every_simulation_tries_an_action() -> None:
    games = played_on("pikit_v0", PIKIT, count=20)
    found = policies.make(SPEC, "pikit_v0", **PIKIT).search(games.observations, games.seats, games.states)
    # All that are left are tried in the last world.
    assert ((found.visits.sum(axis=1) >= 40) & (found.visits.sum(axis=1) < 40 + 6)).all()
    assert (found.visits[games.action_masks == 0] == 0).all()
    assert ((found.totals >= 0) & (found.totals <= found.visits)).all()


@SOME
def test_two_actions_are_left_in_the_end_and_one_is_recommended(game, played, untrained) -> None:
    policy = policies.make(f"search:200,{untrained(game, played)}", game, **played)
    games = played_on(game, played, count=6)
    found = policy.search(games.observations, games.seats, games.states)
    several = games.action_masks.sum(axis=1) > 1
    first, second = np.sort(found.visits[several], axis=1)[:, :-3:-1].T
    assert (first == second).all()  # the last two were tried in the same worlds
    assert (found.votes.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(policy.act(games.decisions()), found.votes.argmax(axis=1))
    assert (np.take_along_axis(found.visits, found.best()[:, None], 1)[:, 0] == found.visits.max(axis=1)).all()


def test_at_most_as_many_actions_are_tried_as_each_can_have_worlds() -> None:
    games = played_on("pikit_v0", PIKIT, count=50)
    network = policies.make("pretrained", "pikit_v0", **PIKIT)
    policy = policies.make("search:9,net=pretrained", "pikit_v0", **PIKIT)
    visits = policy.search(games.observations, games.seats, games.states).visits
    priors, _ = network.opinion(games.observations, games.action_masks)
    likely = np.argsort(-priors, axis=1)[:, :3]
    tried = np.take_along_axis(visits, likely, axis=1)
    assert (games.action_masks.sum(axis=1) > 3).any()
    np.testing.assert_array_equal(tried.sum(axis=1), visits.sum(axis=1))


def test_a_network_of_all_weight_decides_alone_and_one_of_none_does_not() -> None:
    games = played_on("pikit_v0", PIKIT, count=50)
    wanted = policies.make("pretrained", "pikit_v0", **PIKIT).act(games.decisions())
    heavy = policies.make("search:60,net=pretrained,prior_weight=1000", "pikit_v0", **PIKIT)
    np.testing.assert_array_equal(heavy.act(games.decisions()), wanted)
    light = policies.make("search:60,net=pretrained,prior_weight=0", "pikit_v0", **PIKIT)
    assert (light.act(games.decisions()) != wanted).any()


def test_decisions_do_not_depend_on_how_often_search_looks_at_the_clock(monkeypatch) -> None:
    games = played_on("pikit_v0", PIKIT, count=10)
    found = []
    for size in (search.SLICE, 3):
        monkeypatch.setattr(search, "SLICE", size)
        policy = policies.make("search:300,net=pretrained", "pikit_v0", **PIKIT)
        found.append(policy.search(games.observations, games.seats, games.states).visits)
    np.testing.assert_array_equal(*found)


def test_a_budget_in_milliseconds_is_used_up_by_fewer_and_fewer_actions() -> None:
    games = played_on("pikit_v0", PIKIT, count=10)
    policies.make("search:2,net=pretrained", "pikit_v0", **PIKIT).act(games.decisions())  # compiles
    found = []
    for budget in (20, 100, 500, 2500):  # a busy machine may give none of a short time to the last round
        policy = policies.make(f"search:{budget}ms,net=pretrained", "pikit_v0", **PIKIT)
        visits = policy.search(games.observations, games.seats, games.states).visits
        row = visits[(games.action_masks.sum(axis=1) > 4).argmax()]
        first, second, third = np.sort(row)[:-4:-1]
        found.append((first, second, third))
        if first == second > third:
            break
    else:
        pytest.fail(f"the last round is missing: {found}")
    games.step(policy.act(games.decisions()))  # raises if one is illegal


def test_with_next_to_no_search_it_plays_the_networks_action() -> None:
    games = played_on("pikit_v0", PIKIT, count=50)
    network = policies.make("pretrained", "pikit_v0", **PIKIT)
    np.testing.assert_array_equal(
        policies.make("search:2,net=pretrained", "pikit_v0", **PIKIT).act(games.decisions()),
        network.act(games.decisions()),
    )


def test_it_beats_its_network() -> None:
    players = ["search:100,net=pretrained", "pretrained"]
    result = arena("yokai_septet_v0", players, 200, seed=5, players=4)
    low, _ = result["players"][0]["win_rate_interval"]
    assert low > 0.5


@pytest.mark.parametrize(
    ("outputs", "seat", "wanted"),
    [
        ([0.5], 0, [0.75, 0.25]),  # a return of 1/2 for two sides: three quarters of the wins
        ([0.5], 1, [0.25, 0.75]),
        ([-0.5], 2, [0.5, 0.5, 0.0]),  # the worst return of three sides: a sure loss; the others share
        ([np.log(2), 0.0, 0.0], 1, [0.25, 0.5, 0.25]),  # logits counted from the observer's side
        ([0.0, np.log(3)], 3, [0.75, 0.25]),  # a team of two: seat 3 plays for side 1
        ([9.0], 0, [1.0, 0.0]),
    ],
)
def test_what_a_networks_values_mean_for_every_side(outputs, seat, wanted) -> None:
    values = np.zeros(len(wanted))
    write_network_values(np.array(outputs, np.float32), seat, values)
    np.testing.assert_allclose(values, wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("search:10,rollout_weight=0.5", "rollout_weight has no effect without a network"),
        ("search:10,opponents=net", "opponents has no effect without a network"),
        ("search:10,prior_weight=0.2", "prior_weight has no effect without a network"),
        ("search:10,net=pretrained,heuristic_bonus=2", "heuristic_bonus has no effect with a network"),
        ("search:10,net=pretrained,prior_weight=-1", "prior_weight=-1 is not allowed; allowed: a number from 0"),
        ("search:10,net=pretrained,prior_weight=nan", "prior_weight=nan is not allowed"),
        ("search:10,net=pretrained,opponents=me", "opponents=me is not allowed; allowed: 'net', 'rollout'"),
        ("search:10,net=pretrained,rollout_weight=2", "rollout_weight=2 is not allowed; allowed: a number from 0 to 1"),
        ("search:10,net=pretrained,mix=0.5", "'mix' is now called 'rollout_weight'"),
        ("search:10,net=pretrained,opinion=0.5", "'opinion' is now called 'prior_weight'"),
        ("search:10,net=pretrained,others=net", "'others' is now called 'opponents'"),
        ("search:10,trust=2", "'trust' is now called 'heuristic_bonus'"),
        ("search:10,playout=random", "'playout' is now called 'rollout'"),
        ("search:10,deep=1", "unknown setting 'deep'; settings are simulations, milliseconds, rollout, "),
        ("search:10,net=heuristic", "is no network"),
        ("search:10,net=nope", "there is no policy 'nope'"),
        ("search:10,net=net:nowhere", "there is no nowhere"),
        ("search:10,net=", "there is no policy ''"),
    ],
)
def test_bad_settings_are_refused_in_words(spec, problem) -> None:
    with pytest.raises(ValueError, match=problem):
        policies.make(spec, "pikit_v0", **PIKIT)


def test_a_network_of_other_observations_is_refused(untrained) -> None:
    with pytest.raises(ValueError, match="trained on other observations"):
        policies.make(f"search:10,{untrained('pikit_v0', {'players': 3})}", "pikit_v0", **PIKIT)


def test_a_network_for_other_options_names_the_flags_it_plays_with() -> None:
    theirs, ours = (find_game("pikit_v0").variant(players=players) for players in (3, 2))
    saved = {"game": "pikit_v0", "layout": theirs.layout.signature, "actions": 91, "options": dict(theirs.options)}
    with pytest.raises(ValueError, match=r"; it plays with --players 3$"):
        check_fit(ours, saved, "net:mine")


def test_values_that_are_points_are_not_taken_for_chances(untrained) -> None:
    net = untrained("pikit_v0", PIKIT, values=1, options={"reward": "score"})
    assert policies.make(f"search:10,{net}", "pikit_v0", **PIKIT).settings.rollout_weight == 1
    with pytest.raises(ValueError, match="points and no chances"):
        policies.make(f"search:10,{net},rollout_weight=0.5", "pikit_v0", **PIKIT)


# --- What a policy thinks ---


def test_an_analysis_tells_visits_values_and_the_networks_probabilities() -> None:
    games = played_on("pikit_v0", PIKIT, count=8)
    index = int(games.action_masks.sum(axis=1).argmax())
    found = analyse(policies.make(SPEC, "pikit_v0", **PIKIT), games.variant, games.states, index)
    assert found.seat == games.seats[index]
    assert {thought.action for thought in found.thoughts} == set(np.flatnonzero(games.action_masks[index]))
    assert found.thoughts[0].action == found.choice
    assert 40 <= sum(thought.visits for thought in found.thoughts) < 40 + 6
    assert sum(thought.prior for thought in found.thoughts) == pytest.approx(1, abs=1e-5)
    assert 0 < found.value < 1
    lines = str(found).splitlines()
    assert lines[0].startswith(f"player_{found.seat} decides; {SPEC} chooses {found.thoughts[0].name!r} and expects")
    assert len(lines) == 2 + len(found.thoughts)


@pytest.mark.parametrize("spec", ["random", "heuristic", "pretrained", "search:20"])
def test_any_policy_can_be_asked(spec) -> None:
    games = make_vec("pikit_v0", 1, seed=2, **PIKIT)
    found = analyse(policies.make(spec, "pikit_v0", **PIKIT), games.variant, games.states)
    assert found.choice in {thought.action for thought in found.thoughts}
    assert (found.thoughts[0].visits is not None) == spec.startswith("search")
    assert (found.thoughts[0].prior is not None) == (spec == "pretrained")


def test_what_is_not_known_is_null_for_programs() -> None:
    """Actions that search has not tried; NaN is no JSON."""
    games = make_vec("pikit_v0", 1, seed=2, **PIKIT)
    found = asdict(analyse(policies.make("search:2", "pikit_v0", **PIKIT), games.variant, games.states))
    assert json.loads(json.dumps(found, allow_nan=False)) == {**found, "thoughts": list(found["thoughts"])}
    values = [thought["value"] for thought in found["thoughts"]]
    assert values.count(None) == len(values) - 2


@pytest.mark.parametrize("scale", [1, 1e3, 1e6])
def test_a_network_with_the_largest_numbers_plays_by_the_rules(untrained, scale) -> None:
    net = untrained("pikit_v0", PIKIT, largest=scale)
    games = played_on("pikit_v0", PIKIT, count=6)
    for spec in (
        net.removeprefix("net="),
        f"search:12,{net}",
        f"search:12,{net},rollout=random,rollout_weight=0,opponents=net",
    ):
        policy = policies.make(spec, "pikit_v0", **PIKIT)
        games.step(policy.act(games.decisions()))  # raises if one is illegal
        json.dumps(asdict(analyse(policy, games.variant, games.states)), allow_nan=False)


def test_a_network_with_numbers_beyond_all_measure_is_refused(untrained) -> None:
    """Finite weights, infinite sums."""
    net = untrained("pikit_v0", PIKIT, largest=1e38)
    for spec in (net.removeprefix("net="), f"search:12,{net}"):
        with pytest.raises(ValueError, match="has numbers beyond 1,000,000"):
            policies.make(spec, "pikit_v0", **PIKIT)


def test_settings_without_a_network_are_as_they_were() -> None:
    assert parse("1000") == Settings(simulations=1000)
    assert parse("50ms,net=net:runs/x,rollout_weight=0.25,c=2").net == "net:runs/x"
