"""Lessons from search: games in which some decisions are searched, and what search made of them is written down.

A *lesson* is what a seat knew and might do, how often search tried each action, and what came of the game: every side's
chances where search stops looking ahead (see `horizons`). Decisions that are not searched are drawn from the network's
probabilities: positions are then those that a player without search gets into, and many games share the time.
"""

from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.core.bits import lowest
from monsterzoo.envs.core.contract import PLAYING, legal, observe, setup, step
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.jit import compiled, kernel
from monsterzoo.envs.core.rng import draw32
from monsterzoo.envs.core.seat_kernels import choose, choose_one
from monsterzoo.policies.guided import new_guided_tree, simulate
from monsterzoo.policies.heuristics import sole
from monsterzoo.policies.horizons import focus, outlook
from monsterzoo.policies.networks import uniform, write
from monsterzoo.policies.trees import clear, count_visits, new_desk


class Plan(NamedTuple):
    """How lessons are made."""

    simulations: int
    """Of a searched decision; 0: the playout's policy is asked instead, and plays all other decisions too."""
    share: float
    """Of decisions that become lessons."""
    exploration: float
    """Weight of exploration in the tree."""
    mix: float
    """Share of a playout in a leaf's value."""
    modelled: bool
    """Whether the network plays the other seats in the tree, else the policy of playouts."""
    noise: float
    """Share of noise in the probabilities at the root."""
    temperature: float
    """Searched actions are drawn by visits to the power of 1 / temperature; 0: the most visited one."""


class Lessons(NamedTuple):
    """What N games wrote down, at most R lessons each."""

    counts: Any
    """(N,) int64: lessons of each game"""
    rows: Any
    """(N, R, columns / 8) uint64: what the seat knew"""
    sets: Any
    """(N, R, W) uint64: what it might do"""
    seats: Any
    """(N, R) int64: who it was"""
    visits: Any
    """(N, R, actions) int64: how often search tried each action"""
    totals: Any
    """(N, R, actions) float64: the sum of what it was worth to the seat's side, from 0 to 1 each time"""
    outcomes: Any
    """(N, R, sides) float32: what came of it for each side, counted from the seat's"""
    lengths: Any
    """(N,) int64: steps of each game to its horizon"""
    finished: Any
    """(N,) bool: whether it came to its end there"""


def new_lessons(variant: Variant, games: int, room: int) -> Lessons:
    """Room for lessons."""
    shape = (games, room)
    return Lessons(
        np.zeros(games, np.int64),
        np.zeros((*shape, variant.layout.size // 8), np.uint64),
        np.zeros((*shape, variant.words), np.uint64),
        np.zeros(shape, np.int64),
        np.zeros((*shape, variant.num_actions), np.int64),
        np.zeros((*shape, variant.num_actions)),
        np.zeros((*shape, variant.sides), np.float32),
        np.zeros(games, np.int64),
        np.zeros(games, np.bool_),
    )


def new_space(variant: Variant, simulations: int) -> tuple[Any, ...]:
    """What a thread plays with: tree, desk, the game that ends at the horizon."""
    return new_guided_tree(variant, simulations), new_desk(variant), variant.new_states(1)


@compiled
def pick_by_visits(visits, temperature, stream):
    """An action drawn by visits to the power of 1 / temperature, or the most visited one."""
    best, top = -1, -1.0e300
    for action in range(len(visits)):
        if visits[action] > 0:
            value = np.log(np.float64(visits[action]))
            if temperature > 0:
                value -= temperature * np.log(-np.log(np.float64(uniform(stream))))
            if value > top:
                best, top = action, value
    return best


@compiled
def add_noise(tree, share, stream):
    """Mix the root's probabilities with random ones (Dirichlet's distribution with parameter 1)."""
    total = 0.0
    edge = tree.nodes[0].edge
    while edge >= 0:
        tree.edges[edge].available = np.int32(draw32(stream) >> np.uint64(2))  # a field that guided search leaves free
        total -= np.log((tree.edges[edge].available + 0.5) / (1 << 30))
        edge = tree.edges[edge].next
    edge = tree.nodes[0].edge
    while edge >= 0:
        one = tree.edges[edge]
        random = -np.log((one.available + 0.5) / (1 << 30)) / total
        one.prior = np.float32((1.0 - share) * one.prior + share * random)
        edge = one.next


@compiled
def search_once(truth, seat, guide, playout, plan, stream, tree, desk, visits, totals):
    """Search one decision and write how often each action was tried, and what that was worth."""
    clear(tree)
    for k in range(plan.simulations):
        simulate(truth, seat, guide, playout, plan.exploration, plan.mix, plan.modelled, stream, tree, desk)
        if k == 0 and plan.noise > 0.0:
            add_noise(tree, plan.noise, stream)
    count_visits(tree, visits, totals)


@kernel
def play_lessons(start, stop, states, streams, guide, playout, plan, lessons, tree, desk, horizon):
    """Play games start … stop - 1 to their horizons and write down what search made of some decisions.

    `guide` is the network, with the temperature of its draws; `playout` is the policy of playouts.
    """
    players = (playout, guide)
    fast = 1 if plan.simulations > 0 else 0
    for game in range(start, stop):
        state, stream, truth = states[game], streams[game], states[game : game + 1]
        horizon[0] = states[game]
        ending = horizon[0]  # the same game, but it ends where search stops looking ahead
        focus(ending)
        count, length = 0, 0
        while ending.outcome == PLAYING:
            seat = lowest(np.uint64(state.acting))
            legal(state, seat, desk.words)
            action = sole(desk.words)
            if action < 0 and count < len(lessons.seats[game]) and np.float64(uniform(stream)) < plan.share:
                write(lessons.sets[game, count], desk.words)
                lessons.seats[game, count] = seat
                observe(state, seat, desk.views[0], lessons.rows[game, count])
                visits, totals = lessons.visits[game, count], lessons.totals[game, count]
                for k in range(len(visits)):
                    visits[k], totals[k] = 0, 0.0
                if plan.simulations > 0:
                    search_once(truth, seat, guide, playout, plan, stream, tree, desk, visits, totals)
                else:
                    visits[choose(playout, state, seat, desk.words, desk.views, stream)] = 1
                action = pick_by_visits(visits, plan.temperature, stream)
                count += 1
            if action < 0:
                action = choose_one(players, fast, state, seat, desk.words, desk.views, stream)
            step(ending, seat, action)
            step(state, seat, action)
            length += 1
        for k in range(count):
            for side in range(np.int64(state.sides)):
                whose = (lessons.seats[game, k] + side) % np.int64(state.sides)
                lessons.outcomes[game, k, side] = outlook(ending, state, whose)
        lessons.counts[game], lessons.lengths[game] = count, length
        lessons.finished[game] = state.outcome != PLAYING
        if state.outcome != PLAYING:
            setup(state)
