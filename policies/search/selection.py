"""Which action a simulation tries: at the root, below it, and in the place of the other seats.

Rules are NamedTuples with their settings; the type selects the implementation. Others for the root are added with
`implement(select_root, …)`.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.dispatch import dispatched, implement
from monsterzoo.envs.compiling.jit import compiled, inlined
from monsterzoo.envs.core.contract import legal
from monsterzoo.envs.core.rng import draw
from monsterzoo.envs.match.compiled_policies import choose

from ..networks.inference import Net
from .evaluation import ask_network, write_priors
from .tree import NONE, add_edge, contains, list_actions, remove

MODELLED = 0.5
"""Probability that another seat does what its model chooses; the other legal actions share the rest."""
DOUBT = 32.0
"""Visits of a root action up to which its prior has more than twice its usual weight."""
UNTRIED = 1e9
"""Upper bound of an action that was never tried: more than any value."""
_LOG = np.array([0.0] + [math.log(n) for n in range(1, 4096)])


class UCB(NamedTuple):
    """Upper confidence bounds, at the root and below."""

    c: float  # weight of exploration, in units of the values' scale
    heuristic_bonus: float = 1.0  # factor of exploration for the rollout policy's action; 1: it is not asked


class PUCT(NamedTuple):
    """Upper bounds weighted by the network's probabilities, below the root."""

    c: float  # weight of exploration, in units of the values' scale


class SequentialHalving(NamedTuple):
    """Fewer and fewer root actions, all tried in the same worlds."""

    prior_weight: float  # of the log-prior beside a mean value, in units of the scale, for 100 steps a simulation


# --- At the root ---


@dispatched()
def select_root(root_selection: Any, search: Any, tree: Any, stream: Any) -> None:
    """Mark the root's edges that are tried in the next world: `candidate` is 1, that of all others 0.

    Args:
        root_selection: the settings, a NamedTuple; its type selects the implementation.
        search: all parts and settings, see `simulation.Search`.
        tree: the tree; edges 0 … `tree.statistics[0].root_actions` - 1 are the root's.
        stream: the generator of random choices.
    """


@inlined
def select_root_by_ucb(root_selection, search, tree, stream):
    """UCB1 (Auer et al. 2002): one action, untried ones in random order before others."""
    exploration = root_selection.c * tree.statistics[0].value_scale
    available, best, top = tree.statistics[0].simulations + 1, 0, -1.0
    for edge in range(tree.statistics[0].root_actions):
        one = tree.edges[edge]
        advised = one.action == tree.nodes[0].advice
        if one.visits > 0:
            value = upper_bound(one, available, exploration * (root_selection.heuristic_bonus if advised else 1.0))
        else:
            value = 2.0 * UNTRIED if advised else UNTRIED + draw(stream, 1 << 20)
        if value > top:
            best, top = edge, value
        one.candidate = 0
    tree.edges[best].candidate = 1


@inlined
def select_root_by_halving(root_selection, search, tree, stream):
    """Sequential halving (Karnin et al. 2013) in small steps, by values and priors (Danihelka et al. 2022).

    All actions that are left are tried in the same world, so most of its luck drops out of their differences.
    """
    statistics, left = tree.statistics[0], 0
    for edge in range(statistics.root_actions):
        if statistics.simulations == 0:
            tree.edges[edge].candidate = 1
        left += tree.edges[edge].candidate
    for _ in range(left - survivors(statistics)):
        worst, least = NONE, 0.0
        for edge in range(statistics.root_actions):
            score = root_score(root_selection, tree, edge)
            if tree.edges[edge].candidate and (worst == NONE or score < least):
                worst, least = edge, score
        tree.edges[worst].candidate = 0


implement(select_root, UCB, select_root_by_ucb)
implement(select_root, SequentialHalving, select_root_by_halving)


@compiled
def survivors(statistics):
    """How many root actions are still tried: exponentially fewer, from at most as many as each can have worlds."""
    left = max(1.0 - statistics.simulations / statistics.budget, 0.0)
    most = min(np.float64(statistics.root_actions), np.floor(math.sqrt(statistics.budget)))
    return math.ceil(most**left)


@compiled
def root_score(root_selection, tree, edge):
    """Mean value plus weighted log-prior; the longer simulations are, the less they say, and the more the prior."""
    one, statistics = tree.edges[edge], tree.statistics[0]
    log_prior = math.log(max(np.float64(one.prior), 1e-30))
    if one.visits == 0:  # then no other one was visited
        return log_prior
    weight = root_selection.prior_weight * statistics.value_scale * statistics.steps / statistics.simulations / 100.0
    return one.total / one.visits + weight * (1.0 + DOUBT / one.visits) * log_prior


@compiled
def most_visited(root_selection, search, tree):
    """The root edge with the most visits; of several, the one with the best mean."""
    best = 0
    for edge in range(1, tree.statistics[0].root_actions):
        one, top = tree.edges[edge], tree.edges[best]
        if one.visits > top.visits or (one.visits == top.visits and one.total > top.total):
            best = edge
    return best


@compiled
def best_survivor(root_selection, search, tree):
    """The candidate with the best score."""
    best, top = NONE, 0.0
    for edge in range(tree.statistics[0].root_actions):
        score = root_score(root_selection, tree, edge)
        if tree.edges[edge].candidate and (best == NONE or score > top):
            best, top = edge, score
    return best


@dispatched(default=most_visited)
def recommend(root_selection: Any, search: Any, tree: Any) -> Any:
    """The root edge to choose, as far as is known."""


implement(recommend, SequentialHalving, best_survivor)


# --- Below the root ---


@dispatched()
def select(
    selection: Any, search: Any, tree: Any, node: Any, state: Any, seat: Any, who: Any, stream: Any, scratch: Any
) -> Any:
    """The edge that `who` takes at a node in the world `state`; NONE if there is no room for one.

    `seat` searches; `scratch.legal` are the legal actions, of which there are several.
    """


@inlined
def upper_bound(edge, available, exploration):
    """Mean plus exploration · √(log available / visits)."""
    visits = np.float64(edge.visits)
    log = _LOG[available] if available < 4096 else math.log(available)
    return edge.total / visits + exploration * math.sqrt(log / visits)


@inlined
def select_by_ucb(selection, search, tree, node, state, seat, who, stream, scratch):
    """UCB with availability counts (ISMCTS; Cowling et al. 2012); while a legal action is untried, one of those."""
    best = best_by_ucb(selection, tree, node, scratch.legal, scratch.untried)
    count = list_actions(scratch.untried, scratch.actions)
    if count == 0:
        return best
    action = np.int64(tree.nodes[node].advice)
    if action == NONE or not contains(scratch.untried, action):
        action = scratch.actions[draw(stream, count)]
    added = add_edge(tree, node, action, who % np.int64(state.sides), np.float32(0))
    return best if added == NONE else added


@inlined
def best_by_ucb(selection, tree, node, allowed, untried):
    """The legal edge with the highest upper bound; `untried` is left with the actions that have none."""
    exploration = selection.c * tree.statistics[0].value_scale
    for k in range(len(allowed)):
        untried[k] = allowed[k]
    best, top = NONE, -1e300
    edge = np.int64(tree.nodes[node].edge)
    while edge != NONE:
        one = tree.edges[edge]
        if contains(allowed, np.int64(one.action)):
            remove(untried, np.int64(one.action))
            one.available += 1
            bonus = selection.heuristic_bonus if one.action == tree.nodes[node].advice else 1.0
            value = upper_bound(one, np.int64(one.available), exploration * bonus)
            if value > top:
                best, top = edge, value
        edge = np.int64(one.next)
    return best


@inlined
def select_by_puct(selection, search, tree, node, state, seat, who, stream, scratch):
    """PUCT (Rosin 2011; Silver et al. 2017): mean + exploration · prior · √(visits of the node + 1) / (1 + visits).

    The priors of other seats depend on what they hold in this world, and so do the edges they have.
    """
    if who != seat:
        model_opponent(search.opponents, state, who, stream, scratch)
    elif tree.nodes[node].edge == NONE:
        return NONE  # there was no room for its edges
    visits, mean = sum_visits(tree, node, scratch.legal, scratch.untried)
    reach = selection.c * tree.statistics[0].value_scale * math.sqrt(visits + 1.0)
    best, top = NONE, -1e300
    edge = np.int64(tree.nodes[node].edge)
    while edge != NONE:
        one, tried = tree.edges[edge], np.float64(tree.edges[edge].visits)
        if contains(scratch.legal, np.int64(one.action)):
            prior = one.prior if who == seat else scratch.priors[one.action]
            value = (one.total / tried if tried > 0 else mean) + reach * np.float64(prior) / (1.0 + tried)
            if value > top:
                best, top = edge, value
        edge = np.int64(one.next)
    fresh = NONE
    for k in range(list_actions(scratch.untried, scratch.actions)):
        value = mean + reach * np.float64(scratch.priors[scratch.actions[k]])
        if value > top:
            fresh, top = scratch.actions[k], value
    return best if fresh == NONE else add_edge(tree, node, fresh, who % np.int64(state.sides), np.float32(0))


implement(select, UCB, select_by_ucb)
implement(select, PUCT, select_by_puct)


@inlined
def sum_visits(tree, node, allowed, untried):
    """Visits and mean value of the legal edges; `untried` is left with the actions that have none.

    An action that was never tried is expected to be worth the mean.
    """
    visits, total = 0, 0.0
    for k in range(len(allowed)):
        untried[k] = allowed[k]
    edge = np.int64(tree.nodes[node].edge)
    while edge != NONE:
        one = tree.edges[edge]
        if contains(allowed, np.int64(one.action)):
            remove(untried, np.int64(one.action))
            visits += one.visits
            total += one.total
        edge = np.int64(one.next)
    return visits, total / visits if visits > 0 else 0.0


# --- Expansion ---


@dispatched()
def expand(selection: Any, search: Any, tree: Any, node: Any, state: Any, who: Any, stream: Any, scratch: Any) -> None:
    """Prepare a node of the searching seat for `select`; `scratch.legal`, the legal actions, may be overwritten."""


@compiled
def expand_for_ucb(selection, search, tree, node, state, who, stream, scratch):
    """Ask the rollout policy what it would do; `select` adds edges one by one."""
    if selection.heuristic_bonus > 1.0:
        tree.nodes[node].advice = choose(search.rollout, state, who, scratch.legal, scratch.views, stream)


@compiled
def expand_for_puct(selection, search, tree, node, state, who, stream, scratch):
    """Give every legal action an edge with the network's probability; with room for some only, none."""
    ask_network(search.network, state, who, scratch)
    write_priors(search.network.memory.logits, scratch)
    count = list_actions(scratch.legal, scratch.actions)
    if tree.statistics[0].edges + count <= len(tree.edges):
        for k in range(count):
            action = scratch.actions[k]
            add_edge(tree, node, action, who % np.int64(state.sides), scratch.priors[action])


implement(expand, UCB, expand_for_ucb)
implement(expand, PUCT, expand_for_puct)


# --- The model of the other seats ---


@compiled
def model_by_choice(opponents, state, who, stream, scratch):
    """Probabilities by a policy that just chooses: `MODELLED` for that, the rest for all others."""
    chosen = choose(opponents, state, who, scratch.legal, scratch.views, stream)
    legal(state, who, scratch.legal)
    count = list_actions(scratch.legal, scratch.actions)
    for k in range(count):
        action = scratch.actions[k]
        scratch.priors[action] = MODELLED if action == chosen else (1.0 - MODELLED) / (count - 1.0)


@compiled
def model_by_network(opponents, state, who, stream, scratch):
    """The network's probabilities, from what that seat would see."""
    ask_network(opponents, state, who, scratch)
    write_priors(opponents.memory.logits, scratch)
    scratch.observer[0] = NONE  # this is no leaf


@dispatched(default=model_by_choice)
def model_opponent(opponents: Any, state: Any, who: Any, stream: Any, scratch: Any) -> None:
    """Write how likely another seat takes each legal action in this world, by a compiled policy: `scratch.priors`."""


implement(model_opponent, Net, model_by_network)
