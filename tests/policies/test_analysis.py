"""What a policy thinks of a position, as text, table and numbers, for thoughts that are known."""

import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import make_vec
from monsterzoo.policies.analysis import Analysis, Thought, analyse
from monsterzoo.policies.networks import NeuralPolicy
from monsterzoo.policies.search import RootStatistics
from test_networks import about, random_network

SEARCHED = Analysis(
    "search:20", 1, 7, 0.625, (Thought(7, "take low", 1250, 0.75, 0.5), Thought(2, "take <sum>", 3, None, 0.25))
)


def test_an_analysis_reads_as_a_table() -> None:
    assert str(SEARCHED).split("\n") == [
        "player_1 decides; search:20 chooses 'take low' and expects to win 62.5%",
        "action        visits      wins   network",
        "take low       1,250     75.0%     50.0%",
        "take <sum>         3         –     25.0%",
    ]
    assert str(Analysis("random", 0, 3, None, (Thought(3, "end"), Thought(4, "go on")))).split("\n") == [
        "player_0 decides; random chooses 'end'",
        "end",
        "go on",
    ]


def played():
    games = make_vec("pikit_v0", 8, seed=5, players=2)
    for _ in range(17):
        games.step(games.sample_actions())
    return games, int(games.action_masks.sum(axis=1).argmax())


def test_thoughts_of_a_search_are_its_statistics_the_choice_first_then_by_visits(monkeypatch) -> None:
    games, index = played()
    legal = np.flatnonzero(games.action_masks[index])
    visits, totals = np.zeros((1, games.variant.num_actions), int), np.zeros((1, games.variant.num_actions))
    visits[0, legal] = np.arange(len(legal))
    visits[0, legal[1]] = 99
    totals[0, legal] = visits[0, legal] / 4
    priors = np.full(visits.shape, 0.125)
    policy = policies.make("search:5", "pikit_v0", players=2)
    found = RootStatistics(visits, totals, np.zeros_like(visits), priors, np.ones(1), np.ones(1))
    monkeypatch.setattr(policy, "search", lambda *asked: found)
    thought = analyse(policy, games.variant, games.states, index)
    assert (thought.seat, thought.choice, thought.value) == (games.seats[index], legal[1], 0.25)
    assert [one.action for one in thought.thoughts] == [legal[1], *legal[:1:-1], legal[0]]
    assert [one.visits for one in thought.thoughts] == [99, *range(len(legal) - 1, 1, -1), 0]
    assert [one.value for one in thought.thoughts] == [*[0.25] * (len(legal) - 1), None]
    assert all(one.prior is None for one in thought.thoughts)  # there is no network
    policy.guide = "a network"
    assert {one.prior for one in analyse(policy, games.variant, games.states, index).thoughts} == {0.125}


def test_thoughts_of_a_network_are_its_probabilities() -> None:
    games, index = played()
    policy = NeuralPolicy(games.variant, random_network(games.variant, values=2), about(games.variant))
    found = analyse(policy, games.variant, games.states, index)
    priors, chances = policy.opinion(games.observations[index : index + 1], games.action_masks[index : index + 1])
    assert found.value == pytest.approx(chances[0])
    assert {one.action: one.prior for one in found.thoughts} == pytest.approx(
        {action: priors[0, action] for action in np.flatnonzero(games.action_masks[index])}
    )
    listed = [one.prior for one in found.thoughts]
    assert listed == sorted(listed, reverse=True)
    assert all(one.name == games.variant.action_names[one.action] for one in found.thoughts)


def test_where_nobody_decides_there_is_nothing_to_think() -> None:
    games, index = played()
    other = 1 - int(games.seats[index])
    with pytest.raises(ValueError, match="does not wait for a decision"):
        analyse(policies.make("random", "pikit_v0", players=2), games.variant, games.states, index, seat=other)
    over = games.states.copy()
    over["outcome"][index], over["acting"][index] = 1, 0
    with pytest.raises(ValueError, match="the game is over"):
        analyse(policies.make("random", "pikit_v0", players=2), games.variant, over, index)


def test_a_column_alone_is_shown_with_its_head() -> None:
    thoughts = (Thought(3, "end", prior=1.0), Thought(4, "go on", prior=0.0))
    assert str(Analysis("net", 2, 3, 0.5, thoughts)).split("\n") == [
        "player_2 decides; net chooses 'end' and expects to win 50.0%",
        "action   network",
        "end       100.0%",
        "go on       0.0%",
    ]


def test_positions_of_other_games_and_rows_that_are_not_there_are_refused() -> None:
    games, index = played()
    policy, other = policies.make("random", "pikit_v0", players=2), make_vec("pikit_v0", 1, seed=1, players=3)
    with pytest.raises(ValueError, match="players"):
        analyse(policy, games.variant, other.states)
    with pytest.raises(ValueError):
        analyse(policy, games.variant, games.states, 8)
    found = analyse(policy, games.variant, games.states, index)
    assert (found.policy, found.seat, found.value) == ("random", games.seats[index], None)
    assert found.thoughts[0].action == found.choice


def test_of_seats_that_decide_at_once_the_lowest_is_meant_unless_one_is_named() -> None:
    games = make_vec("bite_night_v0", 1, seed=5, players=3)
    acting = [seat for seat in range(3) if int(games.states["acting"][0]) >> seat & 1]
    assert len(acting) > 1
    policy = policies.make("random", "bite_night_v0", players=3)
    assert analyse(policy, games.variant, games.states).seat == acting[0]
    for seat in acting:
        found = analyse(policy, games.variant, games.states, seat=seat)
        assert found.seat == seat
        legal = np.flatnonzero(games.variant.legal_actions(games.states, 0, seat))
        assert sorted(one.action for one in found.thoughts) == legal.tolist()
