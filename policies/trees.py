"""Trees of decisions as flat arrays: what plain and guided search have in common."""

import math
from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.jit import compiled, inlined, kernel
from monsterzoo.envs.core.variant import Variant

NODE = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),  # what tells it apart from others after the same action
            ("edge", np.int32),  # its first edge
            ("next", np.int32),  # the next node after the same action
            ("advice", np.int32),  # plain: what the heuristic would do, or NONE; guided: how often it was reached
        ],
    )
)
"""A decision."""
EDGE = np.dtype(
    (
        np.record,
        [
            ("total", np.float64),  # sum of the values for the side that decides
            ("prior", np.float32),  # guided: how likely the network finds it, at nodes of the searching seat
            ("action", np.int32),
            ("visits", np.int32),
            ("available", np.int32),  # plain: simulations that could have taken it; guided: 0 if out of the running
            ("side", np.int32),  # who decides
            ("node", np.int32),  # first node behind it
            ("next", np.int32),  # next edge of the same node
        ],
    )
)
"""An action tried at a decision."""
NONE = -1
MAX_DEPTH = 256


class Tree(NamedTuple):
    """The tree of one decision; node 0 is the root."""

    nodes: Any
    """(room,) `NODE`"""
    edges: Any
    """(room,) `EDGE`"""
    sizes: Any
    """int64 (nodes, edges, steps of imagined games)"""
    moments: Any
    """float64 (number, sum, sum of squares) of the searching side's values"""
    chances: Any
    """(sides,) float64: sums of all sides' values"""
    path: Any
    """(MAX_DEPTH,) int32: the edges of a simulation"""
    budget: Any
    """(1,) float64: how many simulations there will be, as far as is known"""


class Desk(NamedTuple):
    """What a simulation works with."""

    world: Any
    """(1,) an imagined state, which a simulation plays in"""
    imagined: Any
    """(1,) the same as it was imagined, for further simulations"""
    words: Any
    """(W,) uint64: legal actions"""
    spare: Any
    """(W,) uint64: of these, the ones without an edge"""
    views: Any
    """(1,) what a seat knows in the imagined world"""
    values: Any
    """(sides,) float64: what a simulation was worth"""
    priors: Any
    """(actions,) float32: the network's probabilities"""


def new_tree(variant: Variant, nodes: int, edges: int) -> Tree:
    """An empty tree with room for so many nodes and edges."""
    return Tree(
        np.zeros(nodes, NODE),
        np.zeros(edges, EDGE),
        np.zeros(3, np.int64),
        np.zeros(3),
        np.zeros(variant.sides),
        np.zeros(MAX_DEPTH, np.int32),
        np.zeros(1),
    )


def new_desk(variant: Variant) -> Desk:
    """What simulations of a game work with."""
    words, spare = np.zeros(variant.words, np.uint64), np.zeros(variant.words, np.uint64)
    world, imagined = variant.new_states(1), variant.new_states(1)
    priors = np.zeros(variant.num_actions, np.float32)
    return Desk(world, imagined, words, spare, variant.new_views(), np.zeros(variant.sides), priors)


@compiled
def clear(tree):
    """Make a tree empty."""
    tree.nodes[0].key = np.uint64(0)
    tree.nodes[0].edge = NONE
    tree.nodes[0].next = NONE
    tree.nodes[0].advice = NONE
    for k in range(3):
        tree.sizes[k] = 0
        tree.moments[k] = 0.0
    for side in range(len(tree.chances)):
        tree.chances[side] = 0.0
    tree.sizes[0] = 1


@kernel
def plant(tree):
    """`clear`, for Python."""
    clear(tree)


@compiled
def find_node(tree, edge, key):
    """The node behind an edge with a key, added if it is new; NONE if there is no room."""
    nodes, edges = tree.nodes, tree.edges
    node = edges[edge].node
    while node != NONE:
        if nodes[node].key == key:
            return node
        node = nodes[node].next
    node = tree.sizes[0]
    if node >= len(nodes):
        return NONE
    tree.sizes[0] += 1
    nodes[node].key = key
    nodes[node].edge = NONE
    nodes[node].next = edges[edge].node
    nodes[node].advice = NONE
    edges[edge].node = node
    return node


@compiled
def add_edge(tree, node, action, side, prior):
    """A new edge of a node, or NONE if there is no room."""
    edges = tree.edges
    edge = tree.sizes[1]
    if edge >= len(edges):
        return NONE
    tree.sizes[1] += 1
    edges[edge].total = 0.0
    edges[edge].prior = prior
    edges[edge].action = action
    edges[edge].visits = 0
    edges[edge].available = 1
    edges[edge].side = side
    edges[edge].node = NONE
    edges[edge].next = tree.nodes[node].edge
    tree.nodes[node].edge = edge
    return edge


@compiled
def key_of(who, seat, words):
    """What tells a decision apart: whose it is, and for the searching seat also what it may do."""
    key = np.uint64(who + 1)
    if who == seat:
        for word in words:
            key = ((key << np.uint64(23)) | (key >> np.uint64(41))) ^ word
    return key


@inlined
def spread(moments):
    """The standard deviation of all values in the tree, a half (that of win or loss) until some are known."""
    if moments[0] < 8.0:
        return 0.5
    mean = moments[1] / moments[0]
    return math.sqrt(max(moments[2] / moments[0] - mean * mean, 1e-6))


@compiled
def remember(tree, depth, values, side):
    """Add what a simulation was worth, `values` (sides,), to the edges of its path; `side` searches."""
    for k in range(depth):
        one = tree.edges[tree.path[k]]
        one.visits += 1
        one.total += values[np.int64(one.side)]
    for other in range(len(values)):
        tree.chances[other] += values[other]
    tree.moments[0] += 1.0
    tree.moments[1] += values[side]
    tree.moments[2] += values[side] * values[side]


@compiled
def count_visits(tree, visits, totals):
    """Add the root's visits and values by action to `visits` and `totals` (actions,)."""
    edge = tree.nodes[0].edge
    while edge != NONE:
        visits[tree.edges[edge].action] += tree.edges[edge].visits
        totals[tree.edges[edge].action] += tree.edges[edge].total
        edge = tree.edges[edge].next


@kernel
def harvest(tree, visits, totals):
    """`count_visits`, for Python."""
    count_visits(tree, visits, totals)
