"""Self-play samples with rollout values, in compiled code.

A *sample* is one decision: what the seat knew, what it might do, the values of a few actions, and what came of the game
for every side at the horizon (see `horizons`). The values come from rollouts with common random numbers: the candidate
actions, drawn from the network's probabilities, are played on to the horizon in the same world, hidden cards and luck
to come included. What the seat cannot know is the same for all of them, so most of a deal's noise drops out of their
differences; over many games the differences average to what the seat can expect.

All other decisions are drawn from the network's probabilities. While a run imitates, samples hold the choices of the
rollout policy instead, which then plays all seats.
"""

from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.jit import compiled, kernel
from monsterzoo.envs.compiling.threads import ThreadPool
from monsterzoo.envs.core.bits import ZERO, bit, has, lowest, popcount
from monsterzoo.envs.core.contract import PLAYING, legal, observe, setup, step
from monsterzoo.envs.core.rng import draw
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.compiled_policies import choose, choose_one, fresh_token
from monsterzoo.policies.heuristics import sole
from monsterzoo.policies.horizons import horizon_value, set_horizon
from monsterzoo.policies.networks.inference import evaluate, make_net, pick_by_logits, uniform, write

SLICE_SECONDS = 0.2
"""How long games may play before Python looks for signals again, within a factor of two or three."""
ROLLOUT, NETWORK = 0, 1  # who plays: places in the pair of policies that games are played with
ALL_SIDES = np.uint64(0xF)


class Sampling(NamedTuple):
    """How samples are made."""

    imitate: bool  # whether the rollout policy plays and is imitated; there are no rollouts then
    share: float  # of decisions that become samples
    self_play: float = 1.0
    """Share of games in which the network plays all sides; in the others one, against the rollout policy."""
    candidates: int = 0  # actions of a decision that are compared, at most
    by_network: bool = False  # whether the network goes on playing its sides in rollouts, else the rollout policy does


class Samples(NamedTuple):
    """Samples of N games, at most R each."""

    counts: Any  # (N,) int64: samples of each game
    rows: Any  # (N, R, columns / 8) uint64: the observation's bytes
    legal: Any  # (N, R, W) uint64: bit set of the legal actions
    seats: Any  # (N, R) int64: who decided
    tried: Any  # (N, R, actions) bool: the candidates, or the action to imitate
    values: Any  # (N, R, actions) float32: what a rollout of the action was worth to the seat's side, from 0 to 1
    outcomes: Any  # (N, R, sides) float32: what came of the game for each side, counted from the seat's
    lengths: Any  # (N,) int64: steps of each game to its horizon
    finished: Any  # (N,) bool: whether it came to its end there

    @classmethod
    def empty(cls, variant: Variant, games: int, most: int) -> "Samples":
        """Room for `most` samples of each game."""
        shape = (games, most)
        return cls(
            np.zeros(games, np.int64),
            np.zeros((*shape, variant.layout.size // 8), np.uint64),
            np.zeros((*shape, variant.words), np.uint64),
            np.zeros(shape, np.int64),
            np.zeros((*shape, variant.num_actions), np.bool_),
            np.zeros((*shape, variant.num_actions), np.float32),
            np.zeros((*shape, variant.sides), np.float32),
            np.zeros(games, np.int64),
            np.zeros(games, np.bool_),
        )

    def to_batch(self, num_actions: int) -> dict[str, np.ndarray]:
        """The samples of all games as n rows.

        `observations` (n, columns) and `action_masks` (n, A) int8, `tried` and `values` (n, A), `outcomes` (n, sides).
        """
        used = np.arange(self.seats.shape[1]) < self.counts[:, None]
        bits = self.legal[used].astype("<u8").view(np.uint8)
        return {
            "observations": self.rows[used].view(np.int8),
            "action_masks": np.unpackbits(bits, axis=1, count=num_actions, bitorder="little").view(np.int8),
            "tried": self.tried[used],
            "values": self.values[used],
            "outcomes": self.outcomes[used],
        }


class Scratch(NamedTuple):
    """What a thread works with."""

    words: Any  # (W,) uint64: legal actions
    spare: Any  # (W,) uint64: those not drawn yet
    views: Any  # (1,) the view of a seat
    horizon: Any  # (1,) the game that is played, but it ends at the horizon
    world: Any  # (1,) the game of a rollout


def play_samples(
    variant: Variant,
    sampling: Sampling,
    rollout_policy: Any,
    network: dict[str, np.ndarray],
    states: np.ndarray,
    streams: np.ndarray,
    samples: Samples,
    threads: int,
) -> None:
    """Play games, `states` (N,), on to their next horizons with generators `streams` (N,), and write `samples`.

    `rollout_policy` is a compiled policy, `network` what `NeuralPolicy` has as `arrays`. What becomes of a game depends
    on nothing but its own state and generator, the sampling and the network's weights.
    """
    guide = make_net(network, temperature=1.0)

    def arguments(first: int, low: int, high: int) -> tuple[Any, ...]:
        words, spare = np.zeros(variant.words, np.uint64), np.zeros(variant.words, np.uint64)
        scratch = Scratch(words, spare, variant.new_views(), variant.new_states(1), variant.new_states(1))
        players = (fresh_token(rollout_policy), guide.fresh())
        return (first + low, first + high, states, streams, players, sampling, samples, scratch)

    pool, start, count = ThreadPool(threads), 0, threads
    while start < len(states):  # in slices: between them Python sees Ctrl-C
        first, began = start, perf_counter()
        start = min(start + count, len(states))
        pool.run(play_range, start - first, partial(arguments, first))
        count = 2 * count if perf_counter() - began < SLICE_SECONDS else max(count // 2, threads)


@kernel
def play_range(start, stop, states, streams, players, sampling, samples, scratch):
    """Play games start … stop - 1 to their horizons and write samples of the network's decisions.

    `players` are the rollout policy and the network, with the temperature of its draws.
    """
    words, views, horizon = scratch.words, scratch.views, scratch.horizon
    for game in range(start, stop):
        state, stream = states[game], streams[game]
        horizon[0] = states[game]
        ending = horizon[0]
        set_horizon(ending)
        sides = np.int64(state.sides)
        own = ALL_SIDES if sampling.imitate else sides_of_network(sampling, sides, stream)
        count, length = 0, 0
        while ending.outcome == PLAYING:
            seat = lowest(np.uint64(state.acting))
            legal(state, seat, words)
            action, mine = sole(words), has(own, seat % sides)
            room = mine and count < len(samples.seats[game])
            if action < 0 and room and np.float64(uniform(stream)) < sampling.share:
                row = samples.rows[game, count]
                write(samples.legal[game, count], words)
                samples.seats[game, count] = seat
                observe(state, seat, views[0], row)
                tried, values = samples.tried[game, count], samples.values[game, count]
                for k in range(len(tried)):
                    tried[k], values[k] = False, 0.0
                if sampling.imitate:
                    action = choose(players[ROLLOUT], state, seat, words, views, stream)
                    tried[action] = True
                else:
                    action = draw_candidates(players[NETWORK], row, sampling.candidates, stream, scratch, tried)
                    network_sides = own if sampling.by_network else ZERO
                    estimate_values(state, seat, players, network_sides, stream, scratch, tried, values)
                count += 1
            if action < 0:
                which = NETWORK if mine and not sampling.imitate else ROLLOUT
                action = choose_one(players, which, state, seat, words, views, stream)
            step(ending, seat, action)
            step(state, seat, action)
            length += 1
        for k in range(count):
            for side in range(sides):
                whose = (samples.seats[game, k] + side) % sides
                samples.outcomes[game, k, side] = horizon_value(ending, state, whose)
        samples.counts[game], samples.lengths[game] = count, length
        samples.finished[game] = state.outcome != PLAYING
        if state.outcome != PLAYING:
            setup(state)


@compiled
def sides_of_network(sampling, sides, stream):
    """The sides that the network plays in a game, a bit set."""
    if np.float64(uniform(stream)) < sampling.self_play:
        return ALL_SIDES
    return bit(draw(stream, sides))


@compiled
def draw_candidates(guide, row, most, stream, scratch, tried):
    """Mark some legal actions, drawn from the network's probabilities without replacement; returns the first."""
    write(guide.memory.row, row)
    evaluate(guide.weights, guide.memory)
    count = 0
    for k in range(len(scratch.words)):
        scratch.spare[k] = scratch.words[k]
        count += popcount(scratch.words[k])
    first = -1
    for _ in range(min(count, most)):
        action = pick_by_logits(guide.memory.logits, scratch.spare, guide.temperature, stream)
        scratch.spare[action >> 6] ^= bit(action & 63)
        tried[action] = True
        first = action if first < 0 else first
    return first


@compiled
def estimate_values(state, seat, players, network_sides, stream, scratch, tried, values):
    """The value of every action that is `tried`: one rollout each, from the same world.

    The network plays the sides in the bit set `network_sides`, the rollout policy the others.
    """
    sides = np.int64(state.sides)
    for action in range(len(tried)):
        if not tried[action]:
            continue
        scratch.world[0] = scratch.horizon[0]
        world = scratch.world[0]
        step(world, seat, action)
        while world.outcome == PLAYING:
            actor = lowest(np.uint64(world.acting))
            which = NETWORK if has(network_sides, actor % sides) else ROLLOUT
            step(world, actor, choose_one(players, which, world, actor, scratch.words, scratch.views, stream))
        values[action] = horizon_value(world, state, seat % sides)
