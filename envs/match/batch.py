"""Compiled batches in which every seat is outside: each game takes one action per call and is replaced when it is over.

The loop of `loop` does this too, but whatever it may do besides costs 8 to 18 % of the time of a step (Yokai Septet for
four: 58 ns here, 69 there; Pikit 103 and 116, Bite Night 99 and 107).
"""

from collections import namedtuple

import numpy as np

from ..compiling.encoding import expand
from ..compiling.jit import inlined, kernel
from ..compiling.work_queue import LEADER, begin_round, edge, finish_part, take_part
from ..core.bits import has, lowest
from ..core.contract import PLAYING, TERMINATED, TRUNCATED, legal, observe, setup
from ..core.stepping import advance
from .history import after_move, before_move, begin_history, end_history, show_history
from .loop import ACT, BEGIN

Batch = namedtuple("Batch", "states finals choices seats rows sets masks rewards terminated truncated totals lengths")
"""The arrays of N games that each wait for one decision; those of `loop.new_arrays` that are needed."""
Log = namedtuple("Log", "starts moves")
"""The arrays of the move log. Kernels take None where none is kept, and are then compiled without it."""


@inlined
def step_game(batch, i, actions, log, history):
    """Carry out the action in game i; a finished game is kept and the next one is set up."""
    state, seat, action, length = batch.states[i], batch.seats[i], batch.choices[i], batch.lengths[0, i]
    before_move(history, batch.states, i)
    gains = advance(state, seat, action, batch.rewards[i])
    after_move(history, batch.states, i, seat, action)
    if log is not None and length < log.moves.shape[2]:
        log.moves[0, i, length] = seat * actions + action
    batch.lengths[0, i] = length + 1
    if gains:
        for other in range(np.int64(state.players)):
            batch.totals[0, i, other] += batch.rewards[i, other]
    batch.terminated[i] = state.outcome == TERMINATED
    batch.truncated[i] = state.outcome == TRUNCATED
    if state.outcome != PLAYING:
        batch.finals[i] = batch.states[i]
        batch.lengths[1, i], batch.lengths[0, i] = length + 1, 0
        for other in range(np.int64(state.players)):
            batch.totals[1, i, other] = batch.totals[0, i, other]
            batch.totals[0, i, other] = 0
        end_log(log, i, length + 1)
        end_history(history, i)
        begin_game(batch, i, log, history)


@inlined
def end_log(log, i, length):
    """Keep the log of game i, which is over."""
    if log is not None:
        log.starts[1, i] = log.starts[0, i]
        for k in range(min(length, log.moves.shape[2])):
            log.moves[1, i, k] = log.moves[0, i, k]


@inlined
def begin_game(batch, i, log, history):
    """Set up game i with its generator."""
    begin_history(history, i)
    if log is not None:
        log.starts[0, i] = batch.states[i].rng
    setup(batch.states[i])


@inlined
def show_game(batch, i, view, history):
    """Write whose decision game i waits for, with that seat's observation and legal actions."""
    state = batch.states[i]
    seat = lowest(np.uint64(state.acting))
    batch.seats[i] = seat
    observe(state, seat, view, batch.rows[i])
    legal(state, seat, batch.sets[i])
    expand(batch.sets[i], batch.masks[i])
    show_history(history, i, seat)


@kernel
def play_batch(queue, member, batch, actions, orders, log, views, history):
    """Do what `orders[0]` says in all games, shared among threads, and show what must be decided next.

    `ACT` carries out an action in every game, `BEGIN` sets them up, `LEAVE` only shows them. Returns -1, or the first
    game whose choice is not legal: then nothing has happened.
    """
    if member == LEADER and orders[0] == ACT:
        for i in range(len(batch.choices)):
            action = batch.choices[i]
            if action < 0 or action >= actions or not has(batch.sets[i, action // 64], action % 64):
                return i
    begin_round(queue, member)
    part = take_part(queue, member)
    while part >= 0:
        start, stop = edge(part, queue, len(batch.states)), edge(part + 1, queue, len(batch.states))
        if orders[0] == ACT:
            for i in range(start, stop):
                step_game(batch, i, actions, log, history)
        elif orders[0] == BEGIN:
            for i in range(start, stop):
                begin_game(batch, i, log, history)
        # Not in the same loop: a processor waits where it reads, in larger pieces, what it has just written.
        for i in range(start, stop):
            show_game(batch, i, views[0], history)
        finish_part(queue)
        part = take_part(queue, member)
    return -1
