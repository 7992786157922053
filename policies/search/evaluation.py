"""What a leaf is worth: rollouts, the network, their mixture. Others are added with `implement(evaluate, …)`."""

import math
from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.dispatch import dispatched, implement
from monsterzoo.envs.compiling.jit import compiled, inlined
from monsterzoo.envs.core.bits import has, lowest
from monsterzoo.envs.core.contract import PLAYING, observe, step
from monsterzoo.envs.match.compiled_policies import choose

from ..horizons import horizon_value
from ..networks.inference import evaluate as run_network
from .tree import NONE, list_actions


class Rollout(NamedTuple):
    """The rollout policy plays on to the horizon (see `horizons`)."""

    weight: int = 1


class Mixture(NamedTuple):
    """A weighted mean of a rollout's value and the network's."""

    rollout_weight: float  # from 0, the network alone, to 1


@dispatched()
def evaluate(evaluation: Any, search: Any, tree: Any, root: Any, seat: Any, stream: Any, scratch: Any) -> None:
    """Write what the leaf `scratch.world[0]`, a game that goes on, is worth to each side: `scratch.values`, 0 to 1.

    Args:
        evaluation: the settings, a NamedTuple; its type selects the implementation.
        search: all parts and settings, see `simulation.Search`.
        tree: the tree; `tree.statistics[0].steps` counts steps of simulated games.
        root: (1,) the root state, with the real options; nothing else of it may be read.
        seat: who searches.
        stream: the generator of random choices.
        scratch: memory to work in.
    """


@inlined
def evaluate_by_rollout(evaluation, search, tree, root, seat, stream, scratch):
    """Monte Carlo evaluation."""
    rollout(search, tree, stream, scratch)
    write_horizon_values(root, scratch)


@inlined
def evaluate_by_mixture(evaluation, search, tree, root, seat, stream, scratch):
    """AlphaGo's leaf value (Silver et al. 2016)."""
    weight, state = evaluation.rollout_weight, scratch.world[0]
    if scratch.observer[0] == NONE:
        ask_network(search.network, state, deciding_seat(np.uint64(state.acting), seat), scratch)
    write_network_values(search.network.memory.values, scratch.observer[0], scratch.values)
    if weight > 0.0:
        rollout(search, tree, stream, scratch)
        for side in range(len(scratch.values)):
            scratch.values[side] += weight * (horizon_value(state, root[0], side) - scratch.values[side])


implement(evaluate, Rollout, evaluate_by_rollout)
implement(evaluate, Mixture, evaluate_by_mixture)


@inlined
def rollout(search, tree, stream, scratch):
    """Let the rollout policy play the world to its end."""
    state, steps = scratch.world[0], 0
    while state.outcome == PLAYING:
        who = lowest(np.uint64(state.acting))
        step(state, who, choose(search.rollout, state, who, scratch.legal, scratch.views, stream))
        steps += 1
    tree.statistics[0].steps += steps


@inlined
def write_horizon_values(root, scratch):
    """Each side's value of a world that has ended."""
    for side in range(len(scratch.values)):
        scratch.values[side] = horizon_value(scratch.world[0], root[0], side)


@inlined
def deciding_seat(acting, seat):
    """Whose decision comes next: the searching seat's before those of others that decide at the same time."""
    return seat if has(acting, seat) else lowest(acting)


# --- The network ---


@compiled
def ask_network(network, state, who, scratch):
    """Evaluate the network on what a seat sees; its memory then holds logits and values."""
    observe(state, who, scratch.views[0], network.memory.row)
    run_network(network.weights, network.memory)
    scratch.observer[0] = who


@compiled
def write_priors(logits, scratch):
    """Softmax over the legal actions."""
    actions, priors, count = scratch.actions, scratch.priors, list_actions(scratch.legal, scratch.actions)
    top, total = np.float32(-np.inf), np.float32(0)
    for k in range(count):
        top = max(top, logits[actions[k]])
    for k in range(count):
        priors[actions[k]] = np.exp(logits[actions[k]] - top)
        total += priors[actions[k]]
    for k in range(count):
        priors[actions[k]] /= total


@compiled
def write_network_values(outputs, observer, values):
    """Each side's chances, from 0 to 1, by a network's outputs for an observer (see `networks.inference.Weights`)."""
    sides = len(values)
    if len(outputs) == 1:  # the observer's return; the others share what is left
        own = min(max((1.0 + (sides - 1.0) * np.float64(outputs[0])) / sides, 0.0), 1.0)
        for side in range(sides):
            values[side] = own if side == observer % sides else (1.0 - own) / (sides - 1.0)
        return
    top, total = outputs[0], 0.0
    for k in range(1, sides):
        top = max(top, outputs[k])
    for k in range(sides):
        side = (observer + k) % sides
        values[side] = math.exp(np.float64(outputs[k] - top))
        total += values[side]
    for side in range(sides):
        values[side] /= total
