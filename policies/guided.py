"""Simulations guided by a network: its probabilities say what to try, its values or playouts what that is worth.

At a node of the searching seat every legal action has an edge with the probability the network gives it.

- At the root all actions that are in the running are tried in the same imagined world, so that most of what is luck in
  it drops out of their differences. The more of the budget is used, the fewer are left (sequential halving, but in
  small steps), and the last one is the choice. How good an action looks is what simulations found and, added to that,
  what the network thinks: the longer simulations are, the less they say, and the more weight the network has.
- Below the root edges are chosen by PUCT: mean value plus exploration * probability * sqrt(visits of the node) /
  (1 + visits of the edge).

What another seat would do depends on what it holds, and so on the imagined world. With others=net the network is asked
there in every simulation, from what that seat would see: its probabilities guide the tree too, and a choice that the
searching seat cannot see is drawn from them. With others=playout the policy of playouts, mostly the heuristic, is
asked instead: its choice is what they probably do (`ADVICE`), and PUCT finds out about better ones. A simulation then
costs one evaluation instead of one for every decision on its way, and with mix=1, where a leaf is worth a playout
alone, only nodes that were reached several times are evaluated.
"""

import math

import numpy as np
from monsterzoo.envs.compiling.jit import compiled, kernel
from monsterzoo.envs.core.bits import ZERO, drop_lowest, has, lowest, popcount
from monsterzoo.envs.core.contract import PLAYING, legal, observe, resample, step
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.compiled_policies import choose

from .heuristics import sole
from .horizons import focus, outlook
from .networks.inference import evaluate, pick_by_logits
from .trees import NONE, Tree, add_edge, find_node, key_of, new_tree, remember, spread

EVALUATED = 1 << 30
"""A node's `advice` once the network was asked; before that it counts, from NONE on, how often it was reached."""
PATIENCE = 9
"""How often a node is reached before the network is asked for its probabilities alone."""
ADVICE = 0.5
"""How likely another seat does what the policy of playouts would do; all else it may do shares the rest."""
DOUBT = 32.0
"""Visits of an action up to which the network has more than twice its usual weight."""
MOST_SIMULATIONS = 1 << 16
"""Simulations that a tree has room for; a full one grows no more."""


def new_guided_tree(variant: Variant, simulations: int) -> Tree:
    """A tree for so many simulations: each adds an own node, with all its actions, and some of the others'."""
    count = min(simulations, MOST_SIMULATIONS) + 1
    return new_tree(variant, 4 * count, 12 * count)


@compiled
def ask_network(guide, state, seat, views):
    """Evaluate the network on what a seat sees."""
    observe(state, seat, views[0], guide.memory.row)
    evaluate(guide.weights, guide.memory)


@compiled
def write_priors(logits, words, priors):
    """The probabilities of the legal actions."""
    top = np.float32(-np.inf)
    for k in range(len(words)):
        word = words[k]
        while word != ZERO:
            top = max(top, logits[64 * k + lowest(word)])
            word = drop_lowest(word)
    total = np.float32(0)
    for k in range(len(words)):
        word = words[k]
        while word != ZERO:
            action = 64 * k + lowest(word)
            word = drop_lowest(word)
            priors[action] = np.exp(logits[action] - top)
            total += priors[action]
    for k in range(len(words)):
        word = words[k]
        while word != ZERO:
            action = 64 * k + lowest(word)
            word = drop_lowest(word)
            priors[action] /= total


@compiled
def write_advice(advice, words, priors):
    """The probabilities of several legal actions, of which one is advised."""
    count = 0
    for word in words:
        count += popcount(word)
    for k in range(len(words)):
        word = words[k]
        while word != ZERO:
            action = 64 * k + lowest(word)
            word = drop_lowest(word)
            priors[action] = ADVICE if action == advice else (1.0 - ADVICE) / (count - 1.0)


@compiled
def expected(outputs, seat, values):
    """What each side can expect, from 0 to 1, by a network's values for a seat; `values` is (sides,)."""
    sides = len(values)
    if len(outputs) == 1:  # the observer's return; the others share what is left
        own = min(max((1.0 + (sides - 1.0) * np.float64(outputs[0])) / sides, 0.0), 1.0)
        for side in range(sides):
            values[side] = own if side == seat % sides else (1.0 - own) / (sides - 1.0)
        return
    top, total = outputs[0], 0.0
    for k in range(1, sides):
        top = max(top, outputs[k])
    for k in range(sides):
        side = (seat + k) % sides
        values[side] = math.exp(np.float64(outputs[k] - top))
        total += values[side]
    for side in range(sides):
        values[side] /= total


@compiled
def expand(tree, node, words, priors, side):
    """Give a node an edge for every legal action; with room for some only it stays without any."""
    count = 0
    for word in words:
        count += popcount(word)
    if tree.sizes[1] + count > len(tree.edges):
        return
    for k in range(len(words)):
        word = words[k]
        while word != ZERO:
            action = 64 * k + lowest(word)
            word = drop_lowest(word)
            add_edge(tree, node, action, side, priors[action])


@compiled
def best_own(tree, node, exploration):
    """PUCT's choice where every legal action has an edge."""
    edges = tree.edges
    visits, total = 0, 0.0
    edge = tree.nodes[node].edge
    while edge != NONE:
        visits += edges[edge].visits
        total += edges[edge].total
        edge = edges[edge].next
    mean = total / visits if visits > 0 else 0.0  # what is expected of an action that was never tried
    reach = exploration * math.sqrt(visits + 1.0)
    best, top = NONE, -1e300
    edge = tree.nodes[node].edge
    while edge != NONE:
        one = edges[edge]
        tried = np.float64(one.visits)
        value = (one.total / tried if tried > 0 else mean) + reach * np.float64(one.prior) / (1.0 + tried)
        if value > top:
            best, top = edge, value
        edge = one.next
    return best


@compiled
def best_other(tree, node, words, spare, priors, exploration, side):
    """PUCT's choice of a seat whose cards are imagined; an action that is new gets an edge. NONE without room."""
    edges = tree.edges
    for k in range(len(words)):
        spare[k] = words[k]
    visits, total = 0, 0.0
    edge = tree.nodes[node].edge
    while edge != NONE:
        action = np.int64(edges[edge].action)
        if has(words[action >> 6], action & 63):
            visits += edges[edge].visits
            total += edges[edge].total
        edge = edges[edge].next
    mean = total / visits if visits > 0 else 0.0
    reach = exploration * math.sqrt(visits + 1.0)
    best, top = NONE, -1e300
    edge = tree.nodes[node].edge
    while edge != NONE:
        one = edges[edge]
        action = np.int64(one.action)
        if has(words[action >> 6], action & 63):
            spare[action >> 6] ^= np.uint64(1) << np.uint64(action & 63)
            tried = np.float64(one.visits)
            value = one.total / tried + reach * np.float64(priors[action]) / (1.0 + tried)
            if value > top:
                best, top = edge, value
        edge = one.next
    fresh = NONE
    for k in range(len(spare)):
        word = spare[k]
        while word != ZERO:
            action = 64 * k + lowest(word)
            word = drop_lowest(word)
            value = mean + reach * np.float64(priors[action])
            if value > top:
                fresh, top = action, value
    return best if fresh == NONE else add_edge(tree, node, fresh, side, np.float32(0))


@compiled
def simulate(truth, seat, guide, playout, exploration, rollout, modelled, stream, tree, desk):
    """One simulation in a world of its own; PUCT chooses at the root, too."""
    resample(desk.world, truth, seat, stream)
    walk(truth, seat, guide, playout, exploration, rollout, modelled, NONE, stream, tree, desk)


@compiled
def walk(truth, seat, guide, playout, exploration, rollout, modelled, first, stream, tree, desk):
    """Play the imagined world to a leaf and remember what that was worth.

    With `rollout` between 0 and 1 leaves are worth so much of a playout, the rest of the network. Where the others are
    `modelled`, the network advises them, else the policy of playouts. `first` is the edge to take at the root; if it is
    NONE, PUCT chooses.
    """
    exploration *= 2.0 * spread(tree.moments)
    state, words = desk.world[0], desk.words
    focus(state)
    sides = np.int64(state.sides)
    depth, edge, steps = 0, NONE, 0
    secret = ZERO  # seats that choose without seeing each other
    evaluated = False
    while state.outcome == PLAYING:
        acting = np.uint64(state.acting)
        if popcount(acting) > 1:
            secret |= acting
        who = seat if has(acting, seat) else lowest(acting)
        legal(state, who, words)
        action = sole(words) if steps > 0 else NONE  # the root is a node even where nothing is to be decided
        if action < 0 and who != seat and has(secret, who):
            if modelled:
                ask_network(guide, state, who, desk.views)
                action = pick_by_logits(guide.memory.logits, words, 1.0, stream)
            else:
                action = choose(playout, state, who, words, desk.views, stream)
        elif action < 0 and who != seat and not modelled:
            advice = choose(playout, state, who, words, desk.views, stream)
            legal(state, who, words)
            write_advice(advice, words, desk.priors)
            node = find_node(tree, edge, key_of(who, seat, words))
            if node == NONE:
                break
            edge = best_other(tree, node, words, desk.spare, desk.priors, exploration, who % sides)
            if edge == NONE or depth == len(tree.path):
                break
            action = np.int64(tree.edges[edge].action)
            tree.path[depth] = edge
            depth += 1
        if action < 0:
            node = 0 if edge == NONE else find_node(tree, edge, key_of(who, seat, words))
            fresh = node == NONE or tree.nodes[node].advice != EVALUATED
            if fresh and node > 0 and rollout == 1.0 and tree.nodes[node].advice + 1 < PATIENCE:
                tree.nodes[node].advice += 1
                break
            if fresh or who != seat:
                ask_network(guide, state, who, desk.views)
                write_priors(guide.memory.logits, words, desk.priors)
            if fresh:
                if node != NONE:
                    tree.nodes[node].advice = EVALUATED
                    if who == seat:
                        expand(tree, node, words, desk.priors, who % sides)
                expected(guide.memory.values, who, desk.values)
                evaluated = True
                break
            if who != seat:
                edge = best_other(tree, node, words, desk.spare, desk.priors, exploration, who % sides)
            elif node == 0 and first != NONE:
                edge = first
            else:
                edge = best_own(tree, node, exploration)
            if edge == NONE or depth == len(tree.path):
                break
            action = np.int64(tree.edges[edge].action)
            tree.path[depth] = edge
            depth += 1
        step(state, who, action)
        steps += 1
        if np.uint64(state.acting) & ~acting != ZERO:
            secret = ZERO  # somebody new decides: the simultaneous phase is over
    share = rollout if evaluated else 1.0
    if share > 0.0:
        while state.outcome == PLAYING:
            who = lowest(np.uint64(state.acting))
            step(state, who, choose(playout, state, who, words, desk.views, stream))
            steps += 1
        for side in range(sides):
            kept = (1.0 - share) * desk.values[side] if evaluated else 0.0
            desk.values[side] = kept + share * outlook(state, truth[0], side)
    tree.sizes[2] += steps
    remember(tree, depth, desk.values, seat % sides)


@compiled
def in_the_running(tree):
    """How many edges of the root are still tried."""
    count = 0
    edge = tree.nodes[0].edge
    while edge != NONE:
        count += tree.edges[edge].available > 0
        edge = tree.edges[edge].next
    return count


@compiled
def standing(one, weight):
    """How good an edge of the root looks; `weight` is what a logit of the network counts beside values."""
    prior = math.log(max(np.float64(one.prior), 1e-30))
    if one.visits == 0:  # then no other one was visited
        return prior
    tried = np.float64(one.visits)
    return one.total / tried + weight * (1.0 + DOUBT / tried) * prior


@compiled
def narrow(tree, most, weight):
    """Leave at most so many edges of the root in the running: those that look best."""
    for _ in range(in_the_running(tree) - most):
        worst, least = NONE, 0.0
        edge = tree.nodes[0].edge
        while edge != NONE:
            one = tree.edges[edge]
            if one.available > 0:
                value = standing(one, weight)
                if worst == NONE or value < least:
                    worst, least = edge, value
            edge = one.next
        tree.edges[worst].available = 0


@compiled
def places(tree):
    """How many actions may be in the running: fewer and fewer, from at most as many as each can have worlds."""
    count = 0
    edge = tree.nodes[0].edge
    while edge != NONE:
        count += 1
        edge = tree.edges[edge].next
    left = max(1.0 - tree.moments[0] / tree.budget[0], 0.0)
    return math.ceil(min(np.float64(count), np.floor(math.sqrt(tree.budget[0]))) ** left)


@kernel
def grow_guided(truth, seat, guide, playout, exploration, rollout, modelled, opinion, simulations, stream, tree, desk):
    """Add simulations to the tree of one decision, and at most as many as the root has actions beyond that.

    `truth` is an array of one state, `stream` of one generator; `opinion` is what a logit of the network weighs, in
    units of a game of win or loss and for a hundred steps of a simulation.
    """
    wanted = tree.moments[0] + simulations
    while tree.moments[0] < wanted:
        if tree.nodes[0].edge == NONE:
            simulate(truth, seat, guide, playout, exploration, rollout, modelled, stream[0], tree, desk)
            continue
        steps = tree.sizes[2] / tree.moments[0]
        narrow(tree, places(tree), opinion * 2.0 * spread(tree.moments) * steps / 100.0)
        resample(desk.imagined, truth, seat, stream[0])
        edge = tree.nodes[0].edge
        while edge != NONE:
            if tree.edges[edge].available > 0:
                desk.world[0] = desk.imagined[0]
                walk(truth, seat, guide, playout, exploration, rollout, modelled, edge, stream[0], tree, desk)
            edge = tree.edges[edge].next
