"""Lessons: games in which what some decisions are worth is found out and written down.

A *lesson* is what a seat knew and might do, which actions were tried how often and what that was worth, and what came
of the game: every side's chances where search stops looking ahead (see `horizons`). There are three kinds:

- *searched*: guided search looks at the decision from what the seat knows;
- *compared*: a few actions, drawn from the network's probabilities, are played on to the horizon in the game as it is,
  hidden cards and luck to come included. What a seat cannot know is the same for all of them, so most of the noise of
  a deal drops out of their differences; over many games these differences average to what the seat can expect;
- *imitated*: the policy of playouts, mostly the heuristic, is asked.

All other decisions are drawn from the network's probabilities: positions are then those that a player without search
gets into, and many games share the time.
"""

from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.jit import compiled, kernel
from monsterzoo.envs.core.bits import ZERO, bit, has, lowest, popcount
from monsterzoo.envs.core.contract import PLAYING, legal, observe, setup, step
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.rng import draw, draw32
from monsterzoo.envs.match.compiled_policies import choose, choose_one
from monsterzoo.policies.guided import new_guided_tree, simulate
from monsterzoo.policies.heuristics import sole
from monsterzoo.policies.horizons import focus, outlook
from monsterzoo.policies.networks.inference import evaluate, pick_by_logits, uniform, write
from monsterzoo.policies.trees import clear, count_visits, new_desk

SEARCHED, COMPARED, IMITATED = 0, 1, 2
"""Kinds of lessons."""
PLAYOUT, NETWORK = 0, 1
"""Who plays: places in the pair of policies that games are played with."""
ALL_SIDES = np.uint64(0xF)


class Plan(NamedTuple):
    """How lessons are made."""

    kind: int
    """`SEARCHED`, `COMPARED` or `IMITATED`; in the last case the playout's policy also plays all decisions."""
    share: float
    """Of decisions that become lessons."""
    self_play: float
    """Share of games in which the network plays all sides; in the others one, against the policy of playouts."""
    simulations: int = 0
    """Searched: of a decision."""
    exploration: float = 0.0
    """Searched: weight of exploration in the tree."""
    mix: float = 0.0
    """Searched: share of a playout in a leaf's value."""
    modelled: bool = False
    """Searched: whether the network plays the other seats in the tree, else the policy of playouts."""
    noise: float = 0.0
    """Searched: share of noise in the probabilities at the root."""
    temperature: float = 0.0
    """Searched: actions are drawn by visits to the power of 1 / temperature; 0: the most visited one."""
    candidates: int = 0
    """Compared: at most so many actions."""
    deep: bool = False
    """Compared: whether the network goes on playing its sides in playouts, else the policy of playouts does."""


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
    """(N, R, actions) int64: how often each action was tried"""
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
    """What a thread plays with: tree, desk, the game that ends at the horizon, and one to play an action on in."""
    return new_guided_tree(variant, simulations), new_desk(variant), variant.new_states(1), variant.new_states(1)


# --- Searched ---


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


# --- Compared ---


@compiled
def draw_candidates(logits, words, spare, most, temperature, stream, visits):
    """Mark some of the legal actions, drawn from the network's probabilities without repetition; returns the first."""
    count = 0
    for k in range(len(words)):
        spare[k] = words[k]
        count += popcount(words[k])
    first = -1
    for _ in range(min(count, most)):
        action = pick_by_logits(logits, spare, temperature, stream)
        spare[action >> 6] ^= bit(action & 63)
        visits[action] = 1
        first = action if first < 0 else first
    return first


@compiled
def play_on(world, players, own, stream, desk):
    """Play a game to its end; the network plays the sides in the bit set `own`."""
    while world.outcome == PLAYING:
        seat = lowest(np.uint64(world.acting))
        which = NETWORK if has(own, seat % np.int64(world.sides)) else PLAYOUT
        step(world, seat, choose_one(players, which, world, seat, desk.words, desk.views, stream))


@compiled
def compare(ending, state, seat, players, own, plan, row, stream, desk, worlds, visits, totals):
    """Play some actions on, each to the horizon of the same world; returns the one to go on with."""
    guide = players[NETWORK]
    write(guide.memory.row, row)
    evaluate(guide.weights, guide.memory)
    action = draw_candidates(
        guide.memory.logits, desk.words, desk.spare, plan.candidates, guide.temperature, stream, visits
    )
    own = own if plan.deep else ZERO
    for one in range(len(visits)):
        if visits[one] > 0:
            worlds[0] = ending[0]
            step(worlds[0], seat, one)
            play_on(worlds[0], players, own, stream, desk)
            totals[one] = outlook(worlds[0], state, seat % np.int64(state.sides))
    return action


# --- Games ---


@compiled
def sides_of_network(plan, sides, stream):
    """The sides that the network plays in a game, a bit set."""
    if np.float64(uniform(stream)) < plan.self_play:
        return ALL_SIDES
    return bit(draw(stream, sides))


@kernel
def play_lessons(start, stop, states, streams, players, plan, lessons, tree, desk, horizon, worlds):
    """Play games start … stop - 1 to their horizons and write down lessons of the network's decisions.

    `players` are the policy of playouts and the network, with the temperature of its draws.
    """
    for game in range(start, stop):
        state, stream, truth = states[game], streams[game], states[game : game + 1]
        horizon[0] = states[game]
        ending = horizon[0]  # the same game, but it ends where search stops looking ahead
        focus(ending)
        sides = np.int64(state.sides)
        own = ALL_SIDES if plan.kind == IMITATED else sides_of_network(plan, sides, stream)
        count, length = 0, 0
        while ending.outcome == PLAYING:
            seat = lowest(np.uint64(state.acting))
            legal(state, seat, desk.words)
            action, mine = sole(desk.words), has(own, seat % sides)
            room = mine and count < len(lessons.seats[game])
            if action < 0 and room and np.float64(uniform(stream)) < plan.share:
                row = lessons.rows[game, count]
                write(lessons.sets[game, count], desk.words)
                lessons.seats[game, count] = seat
                observe(state, seat, desk.views[0], row)
                visits, totals = lessons.visits[game, count], lessons.totals[game, count]
                for k in range(len(visits)):
                    visits[k], totals[k] = 0, 0.0
                if plan.kind == SEARCHED:
                    search_once(
                        truth, seat, players[NETWORK], players[PLAYOUT], plan, stream, tree, desk, visits, totals
                    )
                    action = pick_by_visits(visits, plan.temperature, stream)
                elif plan.kind == COMPARED:
                    action = compare(
                        horizon, state, seat, players, own, plan, row, stream, desk, worlds, visits, totals
                    )
                else:
                    action = choose(players[PLAYOUT], state, seat, desk.words, desk.views, stream)
                    visits[action] = 1
                count += 1
            if action < 0:
                which = NETWORK if mine and plan.kind != IMITATED else PLAYOUT
                action = choose_one(players, which, state, seat, desk.words, desk.views, stream)
            step(ending, seat, action)
            step(state, seat, action)
            length += 1
        for k in range(count):
            for side in range(sides):
                whose = (lessons.seats[game, k] + side) % sides
                lessons.outcomes[game, k, side] = outlook(ending, state, whose)
        lessons.counts[game], lessons.lengths[game] = count, length
        lessons.finished[game] = state.outcome != PLAYING
        if state.outcome != PLAYING:
            setup(state)
