"""The search tree as flat arrays, and the backup of values.

A node is a decision, an edge an action tried there. An edge leads to several nodes where the searching seat will be
able to tell them apart (`node_key`): the tree is one of information sets, not of positions.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.jit import compiled, compiled_as, inlined
from monsterzoo.envs.core.bits import ZERO, drop_lowest, has, lowest
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.rng import mix

NONE = -1
MAX_DEPTH = 256


def _record(*fields: tuple[str, Any]) -> np.dtype:
    return np.dtype((np.record, list(fields)))


NODE = _record(
    ("key", np.uint64),  # tells it apart from other nodes behind the same edge, see `node_key`
    ("edge", np.int32),  # its first edge, or NONE
    ("next", np.int32),  # the next node behind the same edge, or NONE
    ("visits", np.int32),  # simulations that reached it
    ("advice", np.int32),  # UCB: what the rollout policy would do here; NONE if it was not asked
)
EDGE = _record(
    ("total", np.float64),  # sum of the backed-up values of the side that decides
    ("prior", np.float32),  # PUCT: the network's probability, at nodes of the searching seat
    ("action", np.int32),
    ("visits", np.int32),  # simulations that took it
    ("available", np.int32),  # UCB: simulations that reached its node in a world where it was legal
    ("node", np.int32),  # the first node behind it, or NONE
    ("next", np.int32),  # the next edge of the same node, or NONE
    ("side", np.int8),  # who decides
    ("candidate", np.int8),  # root: 1 if it is tried in the next world, else 0
)
STATISTICS = _record(
    ("nodes", np.int64),  # in use; 0: the tree has no root yet
    ("edges", np.int64),  # in use
    ("root_actions", np.int64),  # edges 0 … root_actions - 1 are the root's, one per legal action
    ("simulations", np.int64),  # so far
    ("steps", np.int64),  # of all simulated games
    ("value_sum", np.float64),  # of the searching side
    ("value_squares", np.float64),  # sum of the squares of its values
    ("value_scale", np.float64),  # twice their standard deviation, the unit of exploration; 1 for win or loss
    ("budget", np.float64),  # how many simulations there will be, as far as is known
    ("best", np.int64),  # the root edge that is recommended
)


class Tree(NamedTuple):
    """The tree of one decision; node 0 is the root."""

    nodes: Any  # (room,) NODE
    edges: Any  # (room,) EDGE
    path: Any  # (MAX_DEPTH,) int32: the edges of a simulation
    statistics: Any  # (1,) STATISTICS


class Scratch(NamedTuple):
    """Memory that simulations work in."""

    sampled: Any  # (1,) a determinized state, in which one or more root actions are tried
    world: Any  # (1,) a copy of it, which a simulation plays in
    legal: Any  # (W,) uint64: set of legal actions
    untried: Any  # (W,) uint64: those without an edge
    actions: Any  # (A,) int64: a set of actions as a list
    priors: Any  # (A,) float32: probabilities of actions
    views: Any  # (1,) what a seat knows
    values: Any  # (sides,) float64: what a simulation was worth to each side, from 0 to 1
    observer: Any  # (1,) int64: whose observation of the leaf the network was asked about; NONE if it was not


def new_tree(nodes: int, edges: int) -> Tree:
    """Room for so many nodes and edges; a full tree grows no more."""
    path, statistics = np.zeros(MAX_DEPTH, np.int32), np.zeros(1, STATISTICS)
    return Tree(np.zeros(nodes, NODE), np.zeros(edges, EDGE), path, statistics)


def new_scratch(variant: Variant) -> Scratch:
    """Memory for simulations of a variant."""
    actions, words = variant.num_actions, variant.words
    return Scratch(
        *(variant.new_states(1), variant.new_states(1), np.zeros(words, np.uint64), np.zeros(words, np.uint64)),
        *(np.zeros(actions, np.int64), np.zeros(actions, np.float32), variant.new_views()),
        *(np.zeros(variant.sides), np.full(1, NONE)),
    )


# --- Sets of actions, uint64 (W,) ---


@inlined
def contains(words, action):
    """Whether an action is in a set."""
    return has(words[action >> 6], action & 63)


@inlined
def remove(words, action):
    """Take an action out of a set."""
    words[action >> 6] &= ~(np.uint64(1) << np.uint64(action & 63))


@compiled
def list_actions(words, actions):
    """Write the members of a set in order; returns how many there are."""
    count = 0
    for k in range(len(words)):
        word = words[k]
        while word != ZERO:
            actions[count] = 64 * k + lowest(word)
            word = drop_lowest(word)
            count += 1
    return count


# --- Nodes and edges ---


def _scramble(value):
    z = (value + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled_as(_scramble)
def scramble(value):
    """SplitMix64's output function: every bit of the value changes about half of the result's."""
    return np.uint64(mix(int(value)))


@compiled
def node_key(history, who, seat, legal):
    """A hash of what the searching seat knows of a node: forced moves before it, who decides, its own legal actions.

    Where chance shows much between two decisions (the tiles after laying in Bite Night's draft), hardly any node is
    reached twice: the tree then ends with the root's edges, and rollouts say the rest.
    """
    key = scramble(history ^ np.uint64(who + 1))
    if who == seat:
        for word in legal:
            key = scramble(key ^ word)
    return key


@compiled
def add_node(tree, key, following):
    """A new node, in front of another one behind the same edge; NONE if there is no room."""
    node = tree.statistics[0].nodes
    if node >= len(tree.nodes):
        return NONE
    tree.statistics[0].nodes += 1
    fresh = tree.nodes[node]
    fresh.key, fresh.edge, fresh.next, fresh.visits, fresh.advice = key, NONE, following, 0, NONE
    return node


@inlined
def find_node(tree, edge, key):
    """The node behind an edge with a key, added if it is new; NONE if there is no room."""
    node = np.int64(tree.edges[edge].node)
    while node != NONE:
        if tree.nodes[node].key == key:
            return node
        node = np.int64(tree.nodes[node].next)
    node = add_node(tree, key, np.int64(tree.edges[edge].node))
    if node != NONE:
        tree.edges[edge].node = node
    return node


@compiled
def add_edge(tree, node, action, side, prior):
    """A new edge of a node; NONE if there is no room."""
    edge = tree.statistics[0].edges
    if edge >= len(tree.edges):
        return NONE
    tree.statistics[0].edges += 1
    fresh = tree.edges[edge]
    fresh.total, fresh.prior, fresh.action, fresh.side = 0.0, prior, action, side
    fresh.visits, fresh.available, fresh.candidate = 0, 1, 0
    fresh.node, fresh.next = NONE, tree.nodes[node].edge
    tree.nodes[node].edge = edge
    return edge


@inlined
def backup(tree, depth, values, side):
    """Add a simulation's values (sides,) to the edges of its path; `side` searches."""
    for k in range(depth):
        edge = tree.edges[tree.path[k]]
        edge.visits += 1
        edge.total += values[np.int64(edge.side)]
    statistics = tree.statistics[0]
    statistics.simulations += 1
    statistics.value_sum += values[side]
    statistics.value_squares += values[side] * values[side]
    if statistics.simulations >= 8:
        mean = statistics.value_sum / statistics.simulations
        variance = statistics.value_squares / statistics.simulations - mean * mean
        statistics.value_scale = 2.0 * math.sqrt(max(variance, 1e-6))
