"""The parts of search, each against answers that are known: hand-made trees, numbers worked out by hand.

Called from Python, inner functions run their Python source; `test_search_exact` runs them compiled.
"""

import threading
import time
from functools import cache
from math import log, sqrt
from typing import NamedTuple

import numpy as np
import pytest
from monsterzoo.envs import make_vec
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core.contract import legal
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match.compiled_policies import Uniform, choose, compiled_policy
from monsterzoo.policies import horizons
from monsterzoo.policies.heuristics import Heuristic, has_heuristic
from monsterzoo.policies.networks import WEIGHTS, write
from monsterzoo.policies.networks.inference import make_net
from monsterzoo.policies.networks.policy import NeuralPolicy
from monsterzoo.policies.search import policy as policy_module
from monsterzoo.policies.search.evaluation import (
    Mixture,
    Rollout,
    ask_network,
    deciding_seat,
    evaluate,
    write_network_values,
    write_priors,
)
from monsterzoo.policies.search.policy import RootStatistics, SearchPolicy
from monsterzoo.policies.search.selection import (
    PUCT,
    UCB,
    SequentialHalving,
    expand,
    model_opponent,
    recommend,
    root_score,
    select,
    select_root,
    survivors,
    upper_bound,
)
from monsterzoo.policies.search.settings import Settings, parse
from monsterzoo.policies.search.simulation import Search, determinize
from monsterzoo.policies.search.tree import (
    NONE,
    add_edge,
    add_node,
    backup,
    find_node,
    list_actions,
    new_scratch,
    new_tree,
    node_key,
    scramble,
)
from test_networks import about, random_network


def hand_made(*edges, nodes=8, room=16, advice=NONE, simulations=0, scale=1.0):
    """A tree whose root has edges for actions 0, 1, …: dicts of the fields that are not 0."""
    tree = new_tree(nodes, room)
    add_node(tree, np.uint64(0), NONE)
    for action, given in enumerate(edges):
        edge = tree.edges[add_edge(tree, 0, given.get("action", action), given.get("side", 0), np.float32(0))]
        for name, value in given.items():
            edge[name] = value
    statistics = tree.statistics[0]
    statistics.root_actions, statistics.simulations, statistics.value_scale = len(edges), simulations, scale
    tree.nodes[0].advice = advice
    return tree


def tried(visits, mean, **more):
    return {"visits": visits, "total": visits * mean, **more}


def candidates(tree):
    return np.flatnonzero(tree.edges["candidate"]).tolist()


LUCK = streams(3, 1, "test")[0]

# --- The tree ---


@kernel
def _write_keys(history, sets, keys):
    for i in range(len(sets)):
        keys[i] = node_key(history, 0, 0, sets[i])


def test_different_sets_of_legal_actions_met_in_play_have_different_keys(name, options):
    games = make_vec(name, 256, seed=1, **options)
    masks = []
    for _ in range(100):
        games.step(games.sample_actions())
        masks.append(np.packbits(games.action_masks, axis=1))
    different = np.unpackbits(np.unique(np.concatenate(masks), axis=0), axis=1)
    padded = np.zeros((len(different), 64 * games.variant.words), np.uint8)
    padded[:, : different.shape[1]] = different
    sets = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    keys = np.zeros(len(sets), np.uint64)
    _write_keys(np.uint64(7), sets, keys)
    assert len(np.unique(keys)) == len(keys)


def test_keys_are_the_same_in_compiled_code_and_in_python():
    sets = np.random.default_rng(0).integers(0, 1 << 63, (50, 3)).astype(np.uint64)
    keys = np.zeros(len(sets), np.uint64)
    _write_keys(np.uint64(5), sets, keys)
    assert keys.tolist() == [int(node_key(np.uint64(5), 0, 0, words)) for words in sets]


def test_a_key_tells_who_decides_forced_moves_and_what_the_searching_seat_may_do():
    def key(history=0, who=0, seat=0, words=(3, 0)):
        return int(node_key(np.uint64(history), who, seat, np.array(words, np.uint64)))

    others = (key(history=1 << 40), key(who=1, seat=1), key(words=(1, 0)), key(words=(0, 3)), key(words=(3, 1)))
    assert len({key(), *others}) == 6
    assert key(who=1) == key(who=1, words=(9, 9)) != key(who=2)  # what others may do is not known


def test_nodes_behind_an_edge_are_found_by_key_until_the_tree_is_full():
    tree = hand_made({}, {}, nodes=3)
    first, second = find_node(tree, 0, np.uint64(5)), find_node(tree, 0, np.uint64(6))
    assert (first, second) == (1, 2)
    assert [find_node(tree, 0, np.uint64(key)) for key in (5, 6)] == [1, 2]
    assert find_node(tree, 0, np.uint64(7)) == find_node(tree, 1, np.uint64(5)) == NONE
    assert tree.statistics[0].nodes == 3
    assert tree.nodes[1].tolist() == (5, NONE, NONE, 0, NONE)


def test_edges_are_linked_until_the_tree_is_full():
    tree = hand_made({}, {}, room=3)
    assert add_edge(tree, 0, 40, 1, np.float32(0.25)) == 2
    assert add_edge(tree, 0, 41, 1, np.float32(0.25)) == NONE
    assert (tree.nodes[0].edge, tree.edges[2].next, tree.edges[1].next, tree.edges[0].next) == (2, 1, 0, NONE)
    assert tree.edges[2].tolist() == (0.0, 0.25, 40, 0, 1, NONE, 1, 1, 0)
    assert tree.statistics[0].edges == 3


def test_members_of_a_set_are_listed_in_order():
    actions = np.zeros(8, np.int64)
    assert list_actions(np.array([0b101, 0b10, 1 << 63], np.uint64), actions) == 4
    assert actions[:4].tolist() == [0, 2, 65, 191]


def test_values_are_backed_up_to_the_side_that_decided():
    tree = hand_made(tried(2, 0.5), {"side": 1}, tried(4, 1.0, side=2))
    tree.path[:2] = 0, 1
    backup(tree, 2, np.array([0.7, 0.2, 0.1]), 1)
    np.testing.assert_allclose(tree.edges["total"][:3], [1.7, 0.2, 4.0])
    assert tree.edges["visits"][:3].tolist() == [3, 1, 4]
    statistics = tree.statistics[0]
    assert (statistics.simulations, statistics.value_sum) == (1, 0.2)
    assert statistics.value_squares == pytest.approx(0.04)


def test_values_are_scaled_by_twice_their_standard_deviation_once_eight_are_known():
    tree, values = hand_made(), [0.1, 0.4, 0.4, 0.9, 0.2, 0.3, 0.6, 0.8]
    for value in values[:-1]:
        backup(tree, 0, np.array([value, 0.0]), 0)
        assert tree.statistics[0].value_scale == 1
    backup(tree, 0, np.array([values[-1], 0.0]), 0)
    assert tree.statistics[0].value_scale == pytest.approx(2 * np.std(values))
    level = hand_made()
    for _ in range(9):
        backup(level, 0, np.array([0.5, 0.5]), 0)
    assert level.statistics[0].value_scale == pytest.approx(2e-3)  # never 0: something is explored


# --- The root ---


def test_an_upper_bound_is_mean_plus_exploration():
    tree = hand_made(tried(4, 0.5))
    assert upper_bound(tree.edges[0], 14, 0.7) == pytest.approx(0.5 + 0.7 * sqrt(log(14) / 4))
    assert upper_bound(tree.edges[0], 5000, 2.0) == pytest.approx(0.5 + 2 * sqrt(log(5000) / 4))


@pytest.mark.parametrize(
    ("c", "bonus", "scale", "wanted"),
    [
        (1.0, 1.0, 1.0, 0),  # 1/2 + √(log 14 / 4) = 1.312 against 2/3 + √(log 14 / 9) = 1.208
        (0.4, 1.0, 1.0, 1),  # 0.825 against 0.883
        (0.61, 1.0, 1.0, 1),  # level where c √(log 14) / 6 = 1/6, at 0.616
        (0.62, 1.0, 1.0, 0),
        (1.0, 1.0, 0.4, 1),
        (1.0, 2.0, 1.0, 1),  # 2/3 + 2 √(log 14 / 9) = 1.750
        (1.0, 1.5, 1.0, 1),  # 1.479
        (1.0, 1.1, 1.0, 0),  # 1.262
    ],
)
def test_ucb_at_the_root(c, bonus, scale, wanted):
    tree = hand_made(tried(4, 1 / 2), tried(9, 2 / 3), advice=1, simulations=13, scale=scale)
    for _ in range(2):  # another time nothing is left of the first
        select_root(UCB(c, bonus), None, tree, LUCK)
        assert candidates(tree) == [wanted]


def test_ucb_tries_every_root_action_once_the_advised_one_first_others_at_random():
    firsts = set()
    for _ in range(40):
        tree = hand_made({}, {}, tried(1, 1.0), {}, advice=3, simulations=1)
        order = []
        for _ in range(3):
            select_root(UCB(1.0, 2.0), None, tree, LUCK)
            order += candidates(tree)
            tree.edges[order[-1]].visits = 1
        assert order[0] == 3
        assert sorted(order) == [0, 1, 3]
        firsts.add(order[1])
    assert firsts == {0, 1}


@pytest.mark.parametrize(
    ("done", "budget", "wanted"),
    [(0, 100, 10), (50, 100, 4), (90, 100, 2), (99, 100, 2), (100, 100, 1), (130, 100, 1), (0, np.inf, 16), (0, 9, 3),
     (0, 10_000, 16), (0, 1, 1)],
)  # fmt: skip
def test_survivors_of_sequential_halving(done, budget, wanted):
    """Of 16 actions: at most √budget; 10^(1 / 2) and 10^(1 / 10) with a half and a tenth left."""
    tree = hand_made(*[{}] * 16, simulations=done)
    tree.statistics[0].budget = budget
    assert survivors(tree.statistics[0]) == wanted


def test_before_any_simulation_the_likeliest_actions_survive():
    tree = hand_made(*({"prior": prior} for prior in (0.1, 0.4, 0.0, 0.2, 0.3)), room=8)
    tree.statistics[0].budget = 9.5  # at most three
    select_root(SequentialHalving(0.1), None, tree, LUCK)
    assert candidates(tree) == [1, 3, 4]
    tree.statistics[0].simulations = 9
    for edge, mean in ((1, 0.2), (3, 0.9), (4, 0.5)):
        tree.edges[edge].visits, tree.edges[edge].total = 3, 3 * mean
    select_root(SequentialHalving(0.0), None, tree, LUCK)  # 3^(1/19): two are left
    assert candidates(tree) == [3, 4]
    tree.edges[1].total, tree.statistics[0].simulations = 99, 10
    select_root(SequentialHalving(0.0), None, tree, LUCK)
    assert candidates(tree) == [3]  # who is out stays out


def test_root_scores_are_means_and_weighted_log_priors():
    tree = hand_made(tried(8, 0.6, prior=0.5), simulations=20, scale=0.4)
    tree.statistics[0].steps = 20 * 60  # 60 steps a simulation: 0.6 of the weight for a hundred
    wanted = 0.6 + 0.1 * 0.4 * 0.6 * (1 + 32 / 8) * log(0.5)
    assert root_score(SequentialHalving(0.1), tree, 0) == pytest.approx(wanted)
    assert root_score(SequentialHalving(0.0), tree, 0) == pytest.approx(0.6)
    tree.edges[0].prior = 0
    assert np.isfinite(root_score(SequentialHalving(0.1), tree, 0))


def test_the_best_survivor_is_recommended():
    tree = hand_made(tried(5, 0.9), tried(5, 0.3, candidate=1), tried(5, 0.6, candidate=1), simulations=15)
    assert recommend(SequentialHalving(0.0), None, tree) == 2
    tree.edges["prior"][:3] = 0.5, 0.9, 0.001
    tree.statistics[0].steps = 15 * 100
    assert recommend(SequentialHalving(1.0), None, tree) == 1


def test_the_most_visited_action_is_recommended_then_the_best():
    tree = hand_made(tried(5, 0.9), tried(7, 0.3), tried(7, 0.6), tried(7, 0.5), simulations=26)
    assert recommend(UCB(1.0), None, tree) == 2
    tree.edges[0].visits = 8
    assert recommend(UCB(1.0), None, tree) == 0


def test_edges_below_the_root_are_none_of_its_choices():
    for rule in (UCB(1.0), SequentialHalving(0.0)):
        tree = hand_made(
            tried(5, 0.3, candidate=1, prior=0.5), tried(5, 0.6, candidate=1, prior=0.4),
            tried(50, 0.99, candidate=1, prior=0.9), simulations=10,
        )  # fmt: skip
        statistics = tree.statistics[0]
        statistics.root_actions, statistics.budget = 2, 40
        assert recommend(rule, None, tree) == 1
        tree.edges[2].visits = tree.edges[2].candidate = 0  # it looks untried
        statistics.simulations = 9
        select_root(rule, None, tree, LUCK)
        assert candidates(tree) == ([1] if isinstance(rule, UCB) else [0, 1])
        assert tree.edges["candidate"][2:].tolist() == [0] * (len(tree.edges) - 2)


# --- Below the root ---


@cache
def pikit():
    return make_vec("pikit_v0", 1, seed=2, players=2)


def scratch_with(legal_actions, priors=()):
    """Memory with a set of legal actions, of which there are fewer than 64, and probabilities."""
    scratch = new_scratch(pikit().variant)
    scratch.legal[0] = sum(1 << action for action in legal_actions)
    scratch.priors[: len(priors)] = priors
    return scratch


def selected(rule, tree, scratch, who=0, seat=0, search=None):
    edge = select(rule, search, tree, 0, pikit().states[0], seat, who, LUCK, scratch)
    return edge if edge == NONE else int(tree.edges[edge].action)


@pytest.mark.parametrize(
    ("available", "legal_actions", "wanted"),
    [
        ((10, 10, 10), (0, 1, 2), 2),  # 0.5 + √(log 11 / 4) = 1.274, 0.6 + √(log 11 / 4) = 1.374, 0.9 + … / 9 = 1.416
        ((10, 40, 10), (0, 1, 2), 1),  # 0.6 + √(log 41 / 4) = 1.564
        ((90, 10, 10), (0, 1, 2), 0),  # 0.5 + √(log 91 / 4) = 1.562
        ((10, 10, 9999), (0, 1, 2), 2),  # 0.9 + √(log 10,000 / 9) = 1.912
        ((90, 10, 10), (1, 2), 2),
        ((90, 10, 10), (0, 1), 0),
    ],
)
def test_ucb_counts_how_often_an_action_was_available(available, legal_actions, wanted):
    given = [tried(4, 0.5), tried(4, 0.6), tried(9, 0.9)]
    tree = hand_made(*({**one, "available": count} for one, count in zip(given, available)), simulations=99)
    assert selected(UCB(1.0), tree, scratch_with(legal_actions)) == wanted
    counted = [count + (action in legal_actions) for action, count in enumerate(available)]
    assert tree.edges["available"][:3].tolist() == counted


@pytest.mark.parametrize(("bonus", "c", "wanted"), [(1.0, 1.0, 0), (2.0, 1.0, 1), (2.0, 0.1, 0)])
def test_the_advised_action_is_explored_more_below_the_root_too(bonus, c, wanted):
    """0.6 + c √(log 11 / 4) against 0.4 + bonus · c √(log 11 / 4)."""
    tree = hand_made(tried(4, 0.6, available=10), tried(4, 0.4, available=10), advice=1)
    assert selected(UCB(c, bonus), tree, scratch_with((0, 1))) == wanted


def test_ucb_adds_an_edge_for_an_untried_action_the_advised_one_first():
    tree = hand_made(tried(9, 1.0), advice=5)
    scratch = scratch_with((0, 3, 5))
    assert selected(UCB(1.0, 2.0), tree, scratch, who=1) == 5
    added = tree.edges[1]
    assert (added.side, added.visits, added.available, added.prior) == (1, 0, 1, 0)
    added.visits = 1
    assert selected(UCB(1.0, 2.0), tree, scratch) == 3
    tree.edges[2].visits = 1
    assert selected(UCB(1.0, 2.0), tree, scratch) in (0, 3, 5)
    assert tree.statistics[0].edges == 3


def test_untried_actions_come_in_random_order():
    found = {selected(UCB(1.0), hand_made(tried(9, 1.0)), scratch_with((0, 3, 5, 6))) for _ in range(60)}
    assert found == {3, 5, 6}


def test_a_full_tree_goes_on_with_the_edges_it_has():
    assert selected(UCB(1.0), hand_made(tried(9, 0.5), tried(9, 0.6), room=2), scratch_with((0, 1, 5))) == 1
    assert selected(UCB(1.0), hand_made(tried(9, 0.5), room=1), scratch_with((3, 5))) == NONE


@pytest.mark.parametrize(
    ("c", "priors", "wanted"),
    [
        (1.0, (0.6, 0.3, 0.1), 1),  # 1/2 + √5 · 0.6 / 4 = 0.835, 9/10 + √5 · 0.3 / 2 = 1.235, 3/5 + √5 · 0.1 = 0.824
        (1.0, (0.3, 0.2, 0.5), 2),  # 0.668, 1.124, 3/5 + √5 / 2 = 1.718
        (1.0, (0.9, 0.05, 0.05), 0),  # 1.003, 0.956, 0.712
        (0.5, (0.9, 0.05, 0.05), 1),  # 0.752, 0.928, 0.656
        (0.0, (0.9, 0.05, 0.05), 1),
        (1.0, (0.0, 0.0, 0.14), 2),  # 0.5, 0.9, 0.6 + 0.313 = 0.913: the mean of the node counts for what is untried
        (1.0, (0.0, 0.0, 0.13), 1),
    ],
)
def test_puct_by_hand(c, priors, wanted):
    given = [tried(3, 0.5), tried(1, 0.9), {}]
    tree = hand_made(*({**one, "prior": prior} for one, prior in zip(given, priors)))
    assert selected(PUCT(c), tree, scratch_with((0, 1, 2))) == wanted
    tree.statistics[0].value_scale = 0.5
    assert selected(PUCT(2 * c), tree, scratch_with((0, 1, 2))) == wanted


def test_puct_takes_and_counts_only_what_is_legal_now():
    tree = hand_made(tried(30, 0.9, prior=0.9), tried(3, 0.5, prior=0.05), {"prior": 0.05})
    # 3/6 + 2 · 0.05 / 4 = 0.525 against the mean of the legal ones, 0.5, + 2 · 0.05 = 0.6
    assert selected(PUCT(1.0), tree, scratch_with((1, 2))) == 2
    tree.edges[2].prior = 0.01
    assert selected(PUCT(1.0), tree, scratch_with((1, 2))) == 1


def test_puct_has_no_choice_at_a_node_without_room_for_edges():
    assert selected(PUCT(1.0), hand_made(room=1), scratch_with((1, 2), [0.5] * 8)) == NONE


def playing(name="pikit_v0", steps=9, **options):
    """A state, and who decides something there."""
    games = make_vec(name, 1, seed=4, **options)
    for _ in range(400):
        games.step(games.sample_actions())
        steps -= 1
        if steps <= 0 and games.action_masks.sum() > 2:
            return games
    raise AssertionError


def network_for(variant, **given):
    return make_net(random_network(variant, values=variant.sides, **given), 1.0)


def prepared(games, network=None, rule=None, evaluation=None, rollout=None):
    """Settings and memory for a search of a position."""
    rollout = rollout or Uniform()
    search = Search(rule, rule, evaluation, rollout, rollout, network, 1, 1)
    scratch = new_scratch(games.variant)
    scratch.world[0] = games.states[0]
    legal(games.states[0], int(games.seats[0]), scratch.legal)
    return search, scratch


def softmax(games, network_arrays):
    policy = NeuralPolicy(games.variant, network_arrays, about(games.variant))
    return policy.opinion(games.observations, games.action_masks)[0][0]


def test_expansion_for_puct_gives_every_legal_action_the_networks_probability():
    games = playing(players=3)
    search, scratch = prepared(games, network_for(games.variant))
    who, count = int(games.seats[0]), int(games.action_masks.sum())
    tree = hand_made(nodes=2, room=40)
    expand(PUCT(1.0), search, tree, 0, games.states[0], who, LUCK, scratch)
    edges = tree.edges[: tree.statistics[0].edges]
    assert sorted(edges["action"].tolist()) == np.flatnonzero(games.action_masks[0]).tolist()
    wanted = softmax(games, random_network(games.variant, values=games.variant.sides))
    np.testing.assert_allclose(edges["prior"], wanted[edges["action"]], rtol=1e-4)
    assert (edges["side"] == who).all()
    assert scratch.observer[0] == who
    full = hand_made(nodes=2, room=count - 1)
    expand(PUCT(1.0), search, full, 0, games.states[0], who, LUCK, scratch)
    assert full.statistics[0].edges == 0


def test_expansion_for_ucb_asks_the_rollout_policy_where_it_has_a_bonus():
    games = playing(players=3)
    assert has_heuristic(games.variant)
    search, scratch = prepared(games, rollout=Heuristic())
    who, state, tree = int(games.seats[0]), games.states[0], hand_made()
    expand(UCB(1.0, 1.0), search, tree, 0, state, who, LUCK, scratch)
    assert tree.nodes[0].advice == NONE
    expand(UCB(1.0, 2.0), search, tree, 0, state, who, LUCK, scratch)
    assert tree.nodes[0].advice == choose(Heuristic(), state, who, scratch.legal, scratch.views, LUCK)
    assert tree.statistics[0].edges == 0


def test_another_seat_probably_does_what_its_model_chooses():
    games = playing(players=3)
    has_heuristic(games.variant)
    _, scratch = prepared(games)
    who, state = int(games.seats[0]), games.states[0]
    model_opponent(Heuristic(), state, who, LUCK, scratch)
    chosen = choose(Heuristic(), state, who, scratch.untried, scratch.views, LUCK)
    allowed = np.flatnonzero(games.action_masks[0])
    wanted = np.where(allowed == chosen, 0.5, 0.5 / (len(allowed) - 1))
    np.testing.assert_allclose(scratch.priors[allowed], wanted, rtol=1e-6)
    assert list_actions(scratch.legal, scratch.actions) == len(allowed)


class Untidy(NamedTuple):
    """A compiled policy that leaves something else where the legal actions were, as it may."""

    weight: int = 1


def _choose_untidily(policy, state, seat, words, views, stream):
    legal(state, seat, words)
    action = 64 * int(np.flatnonzero(words)[0]) + int(words[words != 0][0]).bit_length() - 1
    words[:] = 0
    return action


compiled_policy(Untidy, _choose_untidily)


def test_the_model_may_overwrite_the_legal_actions():
    games = playing(players=3)
    _, scratch = prepared(games)
    model_opponent(Untidy(), games.states[0], int(games.seats[0]), LUCK, scratch)
    allowed = np.flatnonzero(games.action_masks[0])
    assert scratch.priors[allowed].sum() == pytest.approx(1)
    assert list_actions(scratch.legal, scratch.actions) == len(allowed)


def test_a_network_models_other_seats_by_its_probabilities():
    games = playing(players=3)
    network = network_for(games.variant)
    _, scratch = prepared(games, network)
    model_opponent(network, games.states[0], int(games.seats[0]), LUCK, scratch)
    allowed = np.flatnonzero(games.action_masks[0])
    wanted = softmax(games, random_network(games.variant, values=games.variant.sides))
    np.testing.assert_allclose(scratch.priors[allowed], wanted[allowed], rtol=1e-4)
    assert scratch.observer[0] == NONE


def test_the_model_of_another_seat_guides_puct_and_new_actions_get_an_edge():
    games = playing(players=3)
    network = network_for(games.variant)
    search, scratch = prepared(games, network, PUCT(1.0))
    search, who = search._replace(opponents=network), int(games.seats[0])
    probable = softmax(games, random_network(games.variant, values=games.variant.sides)).argmax()
    tree = hand_made(nodes=2, room=4)
    edge = select(PUCT(1.0), search, tree, 0, games.states[0], (who + 1) % 3, who, LUCK, scratch)
    assert (tree.edges[edge].action, tree.edges[edge].side, tree.edges[edge].prior) == (probable, who, 0)
    # Tried often in vain, it gives way to another one.
    tree.edges[edge].visits, tree.edges[edge].total = 1000, 0.0
    other = select(PUCT(0.01), search, tree, 0, games.states[0], (who + 1) % 3, who, LUCK, scratch)
    assert other != edge
    # Of two that did as well, and are all it may do, it takes the more probable one, whichever edge came first.
    scratch.legal[:] = 0
    for action in tree.edges["action"][[edge, other]].tolist():
        scratch.legal[action >> 6] |= np.uint64(1 << (action & 63))
    for first, second in ((edge, other), (other, edge)):
        tree.edges[first].visits = tree.edges[second].visits = 1000
        tree.edges[first].total = tree.edges[second].total = 900.0
        tree.nodes[0].edge, tree.edges[first].next, tree.edges[second].next = first, second, NONE
        assert select(PUCT(1.0), search, tree, 0, games.states[0], (who + 1) % 3, who, LUCK, scratch) == edge


# --- Leaves ---


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_a_leaf_is_worth_a_mixture_of_rollout_and_network(weight):
    games = playing(players=3)
    network = network_for(games.variant)
    seat, found = (int(games.seats[0]) + 1) % 3, {}
    for share in (0.0, weight, 1.0):
        search, scratch = prepared(games, network, evaluation=Mixture(share))
        tree = hand_made()
        evaluate(Mixture(share), search, tree, games.states, seat, streams(8, 1, "test")[0], scratch)
        found[share] = scratch.values.copy()
        assert scratch.observer[0] == games.seats[0]  # who decides there
        assert (tree.statistics[0].steps > 0) == (share > 0)
    np.testing.assert_allclose(found[weight], (1 - weight) * found[0.0] + weight * found[1.0])
    search, scratch = prepared(games, evaluation=Rollout())
    evaluate(Rollout(), search, hand_made(), games.states, seat, streams(8, 1, "test")[0], scratch)
    np.testing.assert_allclose(found[1.0], scratch.values)
    outputs = NeuralPolicy(games.variant, random_network(games.variant, values=3), about(games.variant)).evaluate(
        games.observations
    )[1][0]
    wanted = np.exp(outputs) / np.exp(outputs).sum()
    np.testing.assert_allclose(np.roll(found[0.0], -int(games.seats[0])), wanted, rtol=1e-4)


def test_a_leaf_that_was_just_expanded_is_not_shown_to_the_network_again():
    games = playing(players=3)
    network = network_for(games.variant)
    search, scratch = prepared(games, network, evaluation=Mixture(0.0))
    ask_network(network, games.states[0], int(games.seats[0]), scratch)
    network.memory.values[:] = np.log([2, 1, 1])
    evaluate(Mixture(0.0), search, hand_made(), games.states, 0, LUCK, scratch)
    np.testing.assert_allclose(np.roll(scratch.values, -int(games.seats[0])), [0.5, 0.25, 0.25], rtol=1e-5)


def test_a_rollout_plays_to_the_horizon_and_counts_its_steps():
    games = playing("yokai_septet_v0", 5)
    search, scratch = prepared(games, evaluation=Rollout())
    horizons.set_horizon(scratch.world[0])
    tree = hand_made()
    evaluate(Rollout(), search, tree, games.states, 0, streams(8, 1, "test")[0], scratch)
    world = scratch.world[0]
    assert world.outcome != 0
    assert world.round_number == games.states[0].round_number
    assert 5 < tree.statistics[0].steps <= 60
    assert scratch.values.tolist() == [horizons.horizon_value(world, games.states[0], side) for side in (0, 1)]


def test_who_decides_next_is_the_searching_seat_if_it_must():
    assert deciding_seat(np.uint64(0b1011), 3) == 3
    assert deciding_seat(np.uint64(0b1010), 2) == 1


def test_priors_are_a_softmax_over_legal_actions_however_large_the_logits():
    scratch = scratch_with((1, 2, 5))
    write_priors(np.array([9e9, 1e6, 1e6 - 1, 0, 0, -1e6, 0, 0], np.float32), scratch)
    np.testing.assert_allclose(scratch.priors[[1, 2, 5]], [0.7310586, 0.2689414, 0], atol=1e-6)


def test_values_of_a_network_are_chances_that_add_up_to_one():
    values = np.zeros(3)
    for outputs in ([1e6, -1e6, 0.0], [0.3, 0.2, -4.0], [-9.0], [0.25]):
        write_network_values(np.array(outputs, np.float32), 2, values)
        assert values.sum() == pytest.approx(1)
        assert (values >= 0).all()


# --- Horizons ---


@pytest.mark.parametrize(
    ("game", "field", "wanted"), [("yokai_septet_v0", "one_round", 1), ("bite_night_v0", "laps", 1)]
)
def test_python_finds_a_games_own_horizon(game, field, wanted):
    games = make_vec(game, 1, seed=0)
    assert horizons.is_near(games.variant)
    world = games.states.copy()
    assert world[field][0] != wanted
    horizons.set_horizon(world[0])
    assert world[field][0] == wanted
    # Nobody has won yet; by the share of the win alone, all sides would be level whatever their scores.
    world["scores"][0, 0] = 2
    assert horizons.horizon_value(world[0], games.states[0], 0) > 1 / games.variant.sides + 0.01


@pytest.mark.parametrize(
    ("scores", "target", "wanted"),
    [
        ((0, 0), 7, (1 / 2, 1 / 2)),
        ((3, 6), 7, (1 / 9, 8 / 9)),  # distances of 4 and 1: odds of 1/8 and 1
        ((7, 7), 7, (1 / 2, 1 / 2)),
        ((7, 8), 7, (0, 1)),
        ((8, 7), 7, (1, 0)),
        ((7, 6), 7, (1, 0)),
        ((6, 3, 3), 7, (0.8, 0.1, 0.1)),
    ],
)
def test_yokais_odds_fall_with_the_distance_to_the_target(scores, target, wanted):
    games = make_vec("yokai_septet_v0", 1, seed=0, players={2: 4, 3: 3}[len(scores)])
    world, root = games.states.copy(), games.states
    root["target"] = world["target"] = target
    world["scores"][0, : len(scores)] = scores
    assert [horizons.horizon_value(world[0], root[0], side) for side in range(len(scores))] == pytest.approx(wanted)
    root["one_round"], world["winners"] = 1, 0b10
    assert [horizons.horizon_value(world[0], root[0], side) for side in range(2)] == [0, 1]


def test_bite_nights_odds_grow_exponentially_with_a_lead():
    games = make_vec("bite_night_v0", 1, seed=0, players=3)
    world, root = games.states.copy(), games.states
    world["scores"][0, :3] = 10, 0, 20
    for lap, scale in ((1, 10 * sqrt(2)), (2, 10)):  # of three laps
        world["lap"] = lap
        odds = np.exp(np.array([10, 0, 20]) / scale)
        found = [horizons.horizon_value(world[0], root[0], side) for side in range(3)]
        np.testing.assert_allclose(found, odds / odds.sum())
    world["lap"], world["winners"] = 3, 0b110
    assert [horizons.horizon_value(world[0], root[0], side) for side in range(3)] == [0, 1 / 2, 1 / 2]


@pytest.mark.parametrize(
    ("scores", "wanted"), [((20, 10, 10), (0.75, 0.375, 0.375)), ((90, 0, 0), (1, 0, 0)), ((4, 4, 4), (0.5,) * 3)]
)
def test_points_are_worth_the_lead_over_the_others_average(scores, wanted, monkeypatch):
    """From 0, one `scale` behind, to 1."""
    games = make_vec("pikit_v0", 1, seed=0, players=3, reward="score")
    world = games.states.copy()
    world["scale"] = 20
    monkeypatch.setattr(horizons, "score", lambda state, side: scores[side])
    value = getattr(horizons.as_rewarded, "py_func", horizons.as_rewarded)
    assert [value(world[0], games.states[0], side) for side in range(3)] == pytest.approx(wanted)
    games.states["reward"], world["winners"] = 0, 0b101
    assert [value(world[0], games.states[0], side) for side in range(3)] == [1 / 2, 0, 1 / 2]


# --- What comes out ---


def statistics(visits, totals, votes):
    visits, totals, votes = (np.array(rows) for rows in (visits, totals, votes))
    return RootStatistics(visits, totals, votes, np.zeros(visits.shape), np.ones(len(visits)), np.ones(len(visits)))


def test_root_statistics_are_means_of_what_was_tried():
    found = statistics([[0, 1, 4], [2, 0, 0]], [[0, 0.25, 3], [1, 0, 0]], [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(found.values, [[np.nan, 0.25, 0.75], [0.5, np.nan, np.nan]])
    assert found.root_values.tolist() == [3.25 / 5, 0.5]


@pytest.mark.parametrize(
    ("visits", "totals", "votes", "mask", "wanted"),
    [
        ([3, 5, 4], [3, 1, 1], [0, 1, 0], None, 1),
        ([3, 5, 4], [3, 1, 1], [0, 0, 1], None, 2),  # 5 each: means of 1/5 and 1/4
        ([5, 4, 4], [1, 1, 3], [0, 1, 1], None, 2),
        ([5, 4, 4], [3, 1, 3], [0, 0, 2], None, 2),
        ([0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0], 1),
        ([9, 1, 2], [9, 1, 0], [1, 0, 0], [0, 1, 1], 2),
        ([0, 1, 0], [0, 0, 0], [9, 0, 0], None, 1),  # what was never tried is not chosen
    ],
)
def test_most_visits_and_votes_win_then_the_best_mean_among_what_is_legal(visits, totals, votes, mask, wanted):
    found = statistics([visits], [totals], [votes])
    assert found.best(None if mask is None else np.array([mask])).tolist() == [wanted]


# --- What settings make of a search ---


def parts_of(spec, game="pikit_v0", folder=None, **options):
    variant = make_vec(game, 1, seed=0, **options).variant
    if folder is not None:
        write(folder / WEIGHTS, random_network(variant, values=variant.sides), about(variant))
        spec += f",net=net:{folder}"
    return SearchPolicy(variant, parse(spec))._parts


@pytest.mark.parametrize(
    ("spec", "rule", "rollout"),
    [
        ("20", UCB(0.7, 2.0), Heuristic()),
        ("20,heuristic_bonus=3,c=0.25", UCB(0.25, 3.0), Heuristic()),
        ("20,rollout=random", UCB(0.7, 1.0), Uniform()),
        ("20,rollout=random,heuristic_bonus=1.5", UCB(0.7, 1.5), Uniform()),
    ],
)
def test_plain_searches_explore_by_upper_bounds_and_roll_out(spec, rule, rollout):
    assert parts_of(spec, players=2) == Search(rule, rule, Rollout(), rollout, rollout, None, 1, 1)


@pytest.mark.parametrize(
    ("spec", "game", "root", "puct", "evaluation", "models", "expand"),
    [
        ("20", "pikit_v0", 0.1, 1.0, Mixture(0.5), "rollout", (1, 0)),  # the end of the game is far
        ("20", "yokai_septet_v0", 0.1, 1.0, Rollout(), "rollout", (10, 0)),  # the end of the round is near
        ("20,rollout=random", "pikit_v0", 0.1, 1.0, Mixture(0.5), "net", (1, 1)),
        ("20,rollout=random,opponents=rollout", "pikit_v0", 0.1, 1.0, Mixture(0.5), "rollout", (1, 0)),
        ("20,opponents=net,rollout_weight=1", "pikit_v0", 0.1, 1.0, Rollout(), "net", (10, 10)),
        ("20,rollout_weight=0,prior_weight=2,c=3", "yokai_septet_v0", 2.0, 3.0, Mixture(0.0), "rollout", (1, 0)),
    ],
)  # fmt: skip
def test_guided_searches_halve_at_the_root_and_follow_the_network_below(
    spec, game, root, puct, evaluation, models, expand, tmp_path
):
    found = parts_of(spec, game, tmp_path)
    assert (found.root_selection, found.selection, found.evaluation) == (
        SequentialHalving(root), PUCT(puct), evaluation
    )  # fmt: skip
    assert found.network.temperature == 1.0
    assert found.opponents is (found.network if models == "net" else found.rollout)
    assert found.rollout == (Uniform() if "random" in spec else Heuristic())
    assert (found.expand_own, found.expand_others) == expand


def test_each_tree_of_each_decision_has_luck_of_its_own_by_seed_and_observation():
    variant = make_vec("pikit_v0", 1, seed=0, players=2).variant
    rows = np.arange(2 * variant.layout.size).reshape(2, -1).astype(np.int8)
    luck = {seed: SearchPolicy(variant, Settings(10), seed=seed)._streams(rows, 3)["rng"].tolist() for seed in (0, 5)}
    assert len({*luck[0], *luck[5]}) == 12
    assert SearchPolicy(variant, Settings(10), seed=5)._streams(rows[1:], 2)["rng"].tolist() == luck[5][3:5]
    assert [luck[0][1], luck[5][4]] == [9639800823752201527, 5100993328411184506]  # searches stay as they were


def test_trees_of_a_decision_are_added_up():
    policy = SearchPolicy(make_vec("pikit_v0", 1, seed=0, players=2).variant, Settings(10))
    found = []
    for best, steps, edges in (
        (1, 5, ((7, 3, 1.5), (9, 4, 2.0))),
        (0, 6, ((9, 2, 0.5), (8, 1, 1.0))),
        (0, 7, ((7, 1, 1.0),)),
    ):
        tree = hand_made(
            *({"action": action, "visits": visits, "total": total, "prior": total} for action, visits, total in edges)
        )
        tree.statistics["best"], tree.statistics["steps"] = best, steps
        found.append((tree.edges[: len(edges)].copy(), tree.statistics[0].copy()))
    found.append(found[0])
    both = policy._statistics(found, 2)
    assert both.visits[:, [7, 8, 9]].tolist() == [[3, 1, 6], [4, 0, 4]]
    assert both.totals[:, [7, 8, 9]].tolist() == [[1.5, 1.0, 2.5], [2.5, 0, 2.0]]
    assert both.votes[:, [7, 8, 9]].tolist() == [[0, 0, 2], [1, 0, 1]]
    assert both.priors[1, [7, 9]].tolist() == [1.5, 2.0]
    assert (both.nodes.tolist(), both.steps.tolist(), policy.steps) == ([2, 2], [11, 12], 23)
    assert both.visits.sum() == 18
    policy._statistics(found, 2)
    assert policy.steps == 46


@pytest.mark.parametrize(
    ("spec", "nodes", "edges"),
    [
        ("100", 101, 101),
        ("100,trees=3", 35, 35),
        ("50ms", (1 << 18) + 1, (1 << 18) + 1),
        ("1000000", (1 << 18) + 1, (1 << 18) + 1),
    ],
)
def test_a_tree_has_room_for_a_node_a_simulation_and_the_roots_actions(spec, nodes, edges):
    variant = make_vec("pikit_v0", 1, seed=0, players=2).variant
    worker = SearchPolicy(variant, parse(spec))._workers[0]
    assert (len(worker.tree.nodes), len(worker.tree.edges)) == (nodes, edges + variant.num_actions)


def test_a_guided_tree_has_room_for_own_nodes_with_all_their_actions_and_some_of_others(tmp_path):
    variant = make_vec("pikit_v0", 1, seed=0, players=2).variant
    write(tmp_path / WEIGHTS, random_network(variant, values=2), about(variant))
    worker = SearchPolicy(variant, parse(f"100,opponents=net,net=net:{tmp_path}"))._workers[0]
    assert (len(worker.tree.nodes), len(worker.tree.edges)) == (404, 1212 + variant.num_actions)
    assert worker._parts.opponents is worker._parts.network


def slices_of(settings, seconds, monkeypatch):
    """How many simulations are asked for at a time, if each takes so long."""
    variant = make_vec("pikit_v0", 1, seed=0, players=2).variant
    worker = SearchPolicy(variant, settings)._workers[0]
    clock, asked, budgets = [0.0], [], []

    def run(parts, root, seat, simulations, stream, tree, scratch):
        asked.append(simulations)
        budgets.append(float(tree.statistics["budget"][0]))
        tree.statistics["simulations"] += simulations
        clock[0] += simulations * seconds

    worker._run = run
    monkeypatch.setattr(policy_module.time, "perf_counter", lambda: clock[0])
    worker.search(settings, variant.new_states(1), 0, LUCK, [False])
    assert sum(asked) == worker.tree.statistics["simulations"][0]
    return asked, budgets


def test_slices_grow_until_they_take_a_fiftieth_of_a_second(monkeypatch):
    assert slices_of(Settings(1000), 1e-4, monkeypatch)[0] == [64, 128, 256, 128, 256, 128, 40]
    assert slices_of(Settings(300), 0.03, monkeypatch)[0][:8] == [64, 32, 16, 8, 4, 2, 1, 1]
    assert slices_of(Settings(100, trees=3), 1e-4, monkeypatch)[0] == [34]


def test_a_budget_of_time_is_asked_for_in_small_slices_and_estimated_on_the_way(monkeypatch):
    asked, budgets = slices_of(Settings(milliseconds=60), 1 / 1024, monkeypatch)
    assert asked == [16, 16, 16, 14]
    assert budgets == [np.inf, 62, 62, 62]


def test_a_search_that_is_stopped_runs_no_more():
    variant = make_vec("pikit_v0", 1, seed=0, players=2).variant
    worker = SearchPolicy(variant, Settings(1000))._workers[0]
    worker._run = lambda *_: pytest.fail("it goes on")
    worker.search(Settings(1000), variant.new_states(1), 0, LUCK, [True])


def test_a_player_acts_on_what_its_search_found(monkeypatch):
    games = playing(players=2)
    policy, asked = SearchPolicy(games.variant, Settings(10)), []
    nothing = np.zeros((1, games.variant.num_actions))
    found = statistics(nothing.astype(int), nothing, nothing.astype(int))

    def search(observations, seats, states):
        asked.append((observations.shape, seats.tolist(), states.tobytes()))
        return found

    monkeypatch.setattr(policy, "search", search)
    for action in np.flatnonzero(games.action_masks[0]):
        found.visits[0, action] += found.visits.max() + 1
        assert policy.act(games.decisions()).tolist() == [action]
    assert asked[0] == (games.observations.shape, games.seats.tolist(), games.states.tobytes())


def test_where_one_thread_fails_the_others_stop_and_the_next_search_has_new_ones():
    games = make_vec("pikit_v0", 2, seed=4, players=2)
    policy, stopped = SearchPolicy(games.variant, Settings(10, threads=2)), threading.Event()

    def fail(*_):
        raise ArithmeticError

    def go_on(settings, state, seat, stream, stop):
        for _ in range(2000):
            if stop[0]:
                stopped.set()
                return hand_made().edges[:0], hand_made().statistics[0]
            time.sleep(0.01)
        raise AssertionError

    before = policy._workers
    before[0].search, before[1].search = fail, go_on
    with pytest.raises(ArithmeticError):
        policy.search(games.observations, games.seats, games.states)
    assert stopped.wait(20)
    assert not {*map(id, before)} & {*map(id, policy._workers)}
    assert len(policy._workers) == 2


def test_games_are_searched_to_the_horizon_alone():
    games = playing("yokai_septet_v0", 5)
    _, scratch = prepared(games)
    determinize(games.states, int(games.seats[0]), LUCK, scratch)
    assert scratch.sampled[0].one_round == 1
    assert games.states[0].one_round == 0


def test_a_network_of_points_guides_and_rollouts_value_the_leaves(tmp_path):
    variant = make_vec("pikit_v0", 1, seed=0, players=2).variant
    named = {**about(variant), "options": {"reward": "score"}}
    write(tmp_path / WEIGHTS, random_network(variant, values=1), named)
    policy = SearchPolicy(variant, parse(f"20,net=net:{tmp_path}"))
    assert (policy._parts.evaluation, policy._parts.expand_own) == (Rollout(), 10)
    assert SearchPolicy(variant, parse(f"20,rollout_weight=1,net=net:{tmp_path}"))._parts.evaluation == Rollout()
    for weight in (0, 0.5):
        with pytest.raises(ValueError, match="are points and no chances; only rollout_weight=1 is possible"):
            SearchPolicy(variant, parse(f"20,rollout_weight={weight},net=net:{tmp_path}"))


@pytest.mark.parametrize(
    ("outputs", "wanted"),
    [
        ([0.25], [0.25, 0.25, 0.5]),  # a return of three sides: from -1/2, no chance, to 1
        ([9.0], [0, 0, 1]),
        ([-9.0], [0.5, 0.5, 0]),
        ([log(6), log(3), 0.0], [0.3, 0.1, 0.6]),  # the observer's side first, then clockwise
    ],
)
def test_values_of_a_network_count_from_its_observer(outputs, wanted):
    values = np.zeros(3)
    write_network_values(np.array(outputs, np.float32), 2, values)
    assert values.tolist() == pytest.approx(wanted)


@pytest.mark.parametrize("argument", ["10,c=-1", "", "many", "10," + "c" * 100])
def test_a_spec_that_is_no_search_is_quoted_up_to_sixty_letters(argument):
    with pytest.raises(ValueError) as refusal:
        parse(argument or None)
    assert str(refusal.value).startswith(f"'search:{argument[:60]}' is not a search (")


def test_keys_are_scrambled_by_the_finaliser_of_splitmix64():
    assert [int(scramble(np.uint64(value))) for value in (0, 1, 2, (1 << 64) - 1)] == [
        0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0
    ]  # fmt: skip
