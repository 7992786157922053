"""Batched stepping and sampling, the same for every game.

Arrays: `states` (N,) records; `words` (W,) uint64, W = ceil(actions / 64), is scratch for one bit set of actions and
`sets` (N, W) has one for every game; `rows` (N, observation / 8) and `masks` (N, 8 W) are the int8 tensors seen as
uint64, masks padded to 64 columns per word; `views` (1,) is scratch for what one seat knows.
"""

from typing import Any, NamedTuple

import numpy as np

from ..compiling.encoding import expand
from ..compiling.jit import compiled, inlined, kernel
from ..compiling.work_queue import LEADER, begin_round, edge, finish_part, take_part
from ..core.bits import has, lowest, nth, popcount
from ..core.contract import PLAYING, TERMINATED, TRUNCATED, legal, observe, setup, step
from ..core.rng import draw
from ..core.stepping import advance


@compiled
def pick(words, holder):
    """A uniformly random member of a bit set that is not empty."""
    total = 0
    for word in words:
        total += popcount(word)
    left = draw(holder, total)
    for i in range(len(words)):
        count = popcount(words[i])
        if left < count:
            return 64 * i + nth(words[i], left)
        left -= count
    return -1


class Batch(NamedTuple):
    """The arrays of N games that each wait for one decision."""

    states: Any  # (N,) the games
    finals: Any  # (N,) the last finished game of each
    choices: Any  # (N,) int64, what to do next
    seats: Any  # (N,) int64, who decides
    rows: Any  # (N, observation / 8) uint64, what that seat knows
    sets: Any  # (N, W) uint64, its legal actions
    masks: Any  # (N, 8 W) uint64, the same as 0/1 columns
    rewards: Any  # (N, players) float32, of the last step
    terminated: Any  # (N,) bool, whether the last step ended a game
    truncated: Any  # (N,) bool
    totals: Any  # (2, N, players) float32: [0] rewards of the running game so far, [1] of the last finished one
    lengths: Any  # (2, N) int64, the same for the number of steps


@inlined
def refresh(batch, i, view):
    """Write whose decision game i waits for, with that seat's observation and legal actions."""
    state = batch.states[i]
    seat = lowest(np.uint64(state.acting))
    batch.seats[i] = seat
    observe(state, seat, view, batch.rows[i])
    legal(state, seat, batch.sets[i])
    expand(batch.sets[i], batch.masks[i])


@kernel
def refresh_all(batch, views):
    """`refresh` every game."""
    for i in range(len(batch.states)):
        refresh(batch, i, views[0])


@inlined
def advance_game(batch, i):
    """Step game i; a finished one is kept in `finals`, its sums are put aside, and a new one is set up."""
    state = batch.states[i]
    advance(state, batch.seats[i], batch.choices[i], batch.rewards[i])
    batch.lengths[0, i] += 1
    for seat in range(np.int64(state.players)):
        batch.totals[0, i, seat] += batch.rewards[i, seat]
    batch.terminated[i] = state.outcome == TERMINATED
    batch.truncated[i] = state.outcome == TRUNCATED
    if state.outcome != PLAYING:
        batch.finals[i] = batch.states[i]
        batch.lengths[1, i] = batch.lengths[0, i]
        batch.lengths[0, i] = 0
        for seat in range(np.int64(state.players)):
            batch.totals[1, i, seat] = batch.totals[0, i, seat]
            batch.totals[0, i, seat] = 0
        setup(state)


@compiled
def first_illegal(choices, sets, actions):
    """The first game whose action is out of range or not legal, or -1."""
    for i in range(len(choices)):
        action = choices[i]
        if action < 0 or action >= actions or not has(sets[i, action // 64], action % 64):
            return i
    return -1


@kernel
def step_batch(queue, member, batch, actions, starting, views):
    """Step all games, shared among threads; where `starting[0]` is set, begin all of them anew instead.

    Returns -1, or the first game whose choice is not one of its legal actions: then nothing has happened.
    """
    fresh = starting[0]
    if member == LEADER and not fresh:
        wrong = first_illegal(batch.choices, batch.sets, actions)
        if wrong >= 0:
            return wrong
    begin_round(queue, member)
    part = take_part(queue, member)
    while part >= 0:
        fresh = starting[0]  # may have changed while a worker waited
        start, stop = edge(part, queue, len(batch.states)), edge(part + 1, queue, len(batch.states))
        for i in range(start, stop):
            if fresh:
                setup(batch.states[i])
            else:
                advance_game(batch, i)
        # Not in the same loop: a processor waits where it reads, in larger pieces, what it has just written.
        for i in range(start, stop):
            refresh(batch, i, views[0])
        finish_part(queue)
        part = take_part(queue, member)
    return -1


@inlined
def pick_masked(mask, holder):
    """A uniformly random action of an int8 mask."""
    total = 0
    for action in range(len(mask)):
        total += mask[action]
    left = draw(holder, total)
    for action in range(len(mask)):
        left -= mask[action]
        if left < 0:
            return action
    return -1


@kernel
def sample_batch(sets, streams, choices):
    """A uniformly random legal action for every game, each from its own stream."""
    for i in range(len(choices)):
        choices[i] = pick(sets[i], streams[i])


@kernel
def sample_rows(masks, stream, choices):
    """A uniformly random legal action a row, all from one stream; `masks` is int8 (B, A), `stream` has shape (1,)."""
    for i in range(len(choices)):
        choices[i] = pick_masked(masks[i], stream[0])


@kernel
def play_randomly(states, streams, steps, words):
    """Play every game on for `steps` random steps, starting anew when one is over; returns the steps taken."""
    for i in range(len(states)):
        state, stream = states[i], streams[i]
        for _ in range(steps):
            seat = lowest(np.uint64(state.acting))
            legal(state, seat, words)
            step(state, seat, pick(words, stream))
            if state.outcome != PLAYING:
                setup(state)
    return len(states) * steps
