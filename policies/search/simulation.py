"""Monte Carlo tree search over information sets: one simulation, and the whole search of a decision."""

from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.jit import CHECKS, compiled, inlined, kernel
from monsterzoo.envs.core.bits import ZERO, has, popcount
from monsterzoo.envs.core.contract import PLAYING, legal, resample, step
from monsterzoo.envs.match.compiled_policies import choose

from ..heuristics import sole
from ..horizons import set_horizon
from .evaluation import deciding_seat, evaluate, write_horizon_values
from .selection import expand, recommend, select, select_root
from .tree import NONE, add_edge, add_node, backup, contains, find_node, list_actions, node_key, scramble


class Search(NamedTuple):
    """The parts of a search with their settings, as compiled code gets them."""

    root_selection: Any  # SequentialHalving, UCB, or another type that `select_root` is implemented for
    selection: Any  # below the root: PUCT or UCB
    evaluation: Any  # Rollout, Mixture, or another type that `evaluate` is implemented for
    opponents: Any  # model of the other seats: a compiled policy
    rollout: Any  # a compiled policy
    network: Any  # `networks.inference.Net`, or None
    expand_own: int  # visits with which a node of the searching seat is expanded; until then it is a leaf
    expand_others: int  # the same for nodes of other seats; 0: they are never leaves


@kernel
def run(search, root, seat, simulations, stream, tree, scratch):
    """Add simulations to the tree of a decision, at most as many as the root has candidates beyond that.

    `root` is an array of one state, `stream` of one generator.
    """
    statistics = tree.statistics[0]
    if statistics.nodes == 0:
        add_root(search, root, seat, stream[0], tree, scratch)
    end = statistics.simulations + simulations
    while statistics.simulations < end:
        select_root(search.root_selection, search, tree, stream[0])
        determinize(root, seat, stream[0], scratch)
        for edge in range(statistics.root_actions):
            if tree.edges[edge].candidate:
                scratch.world[0] = scratch.sampled[0]
                simulate(search, root, seat, edge, stream[0], tree, scratch)
    statistics.best = recommend(search.root_selection, search, tree)


@compiled
def determinize(root, seat, stream, scratch):
    """Sample a state that the seat holds possible, with an end at the horizon (Ginsberg 2001)."""
    resample(scratch.sampled, root, seat, stream)
    set_horizon(scratch.sampled[0])


@compiled
def add_root(search, root, seat, stream, tree, scratch):
    """Begin a tree: a root with an edge for every legal action."""
    determinize(root, seat, stream, scratch)
    state, statistics, node = scratch.sampled[0], tree.statistics[0], add_node(tree, ZERO, NONE)
    statistics.value_scale = 1.0
    legal(state, seat, scratch.legal)
    expand(search.selection, search, tree, node, state, seat, stream, scratch)
    if statistics.edges == 0:
        legal(state, seat, scratch.legal)
        for k in range(list_actions(scratch.legal, scratch.actions)):
            add_edge(tree, node, scratch.actions[k], seat % np.int64(state.sides), np.float32(0))
    statistics.root_actions = statistics.edges


@inlined
def simulate(search, root, seat, edge, stream, tree, scratch):
    """One simulation in `scratch.world` that tries a root edge: descend, evaluate the leaf, back up."""
    state = scratch.world[0]
    scratch.observer[0] = NONE
    depth = descend(search, tree, seat, edge, stream, scratch)
    if state.outcome == PLAYING:
        evaluate(search.evaluation, search, tree, root, seat, stream, scratch)
    else:
        write_horizon_values(root, scratch)
    backup(tree, depth, scratch.values, seat % np.int64(state.sides))


@inlined
def descend(search, tree, seat, edge, stream, scratch):
    """Play the world from a root edge down to a leaf; returns the length of the path.

    Forced moves have no nodes, nor have hidden choices of other seats in a simultaneous phase: their model makes those.
    """
    state = scratch.world[0]
    depth, steps, hidden, history = 0, 0, ZERO, ZERO
    while state.outcome == PLAYING:
        acting = np.uint64(state.acting)
        hidden |= acting if popcount(acting) > 1 else ZERO
        who = deciding_seat(acting, seat)
        unseen = who != seat and has(hidden, who)
        legal(state, who, scratch.legal)
        action = sole(scratch.legal) if depth > 0 else NONE
        if action != NONE and not unseen:
            history = scramble(history ^ np.uint64(action + 1))
        elif action == NONE and unseen:
            action = choose(search.opponents, state, who, scratch.legal, scratch.views, stream)
        elif action == NONE:
            if depth > 0:
                edge = next_edge(search, tree, edge, history, seat, who, stream, scratch)
            if edge == NONE or depth == len(tree.path):
                break
            tree.path[depth] = edge
            depth, history = depth + 1, ZERO
            action = np.int64(tree.edges[edge].action)
        if CHECKS:
            check_legal(state, who, action, scratch)
        step(state, who, action)
        steps += 1
        if np.uint64(state.acting) & ~acting != ZERO:
            hidden = ZERO  # somebody new decides: the simultaneous phase is over (a seat left alone may choose on)
    tree.statistics[0].steps += steps
    return depth


@inlined
def next_edge(search, tree, edge, history, seat, who, stream, scratch):
    """The edge taken at the decision behind another one; NONE at a leaf, which is expanded when it is due."""
    state = scratch.world[0]
    node = find_node(tree, edge, node_key(history, who, seat, scratch.legal))
    if node == NONE:
        return NONE
    due = search.expand_own if who == seat else search.expand_others
    tree.nodes[node].visits += 1
    if tree.nodes[node].visits > due:
        return select(search.selection, search, tree, node, state, seat, who, stream, scratch)
    if who == seat and tree.nodes[node].visits == due:
        expand(search.selection, search, tree, node, state, who, stream, scratch)
    return NONE


@compiled
def check_legal(state, who, action, scratch):
    """Raise `ValueError` for an action that is not legal; with `MONSTERZOO_CHECKS=1` only."""
    legal(state, who, scratch.legal)
    if not contains(scratch.legal, action):
        raise ValueError("search steps an action that is not legal")
