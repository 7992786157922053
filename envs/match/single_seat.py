"""Compiled stepping for single-agent environments; policies play the other seats.

The seat that the environment's user plays is the learner. `Seats` has the arrays; others are as in `kernels`.
"""

from typing import Any, NamedTuple

import numpy as np

from ..compiling.encoding import expand
from ..compiling.jit import compiled, inlined, kernel
from ..compiling.work_queue import begin_round, edge, finish_part, take_part
from ..core.bits import has, lowest, wrap
from ..core.contract import PLAYING, REWARD_SCORE, TERMINATED, TRUNCATED, observe, score, setup, step
from ..core.stepping import legal_or_wait, score_reward, win_reward
from .compiled_policies import choose_one

ILLEGAL_REWARD = np.float32(-1)

CARRY_OUT, BEGIN, GO_ON, LEAVE = 0, 1, 2, 3
"""What a step does with a game: the learner's action, a new game, a game from a position, or nothing."""


@inlined
def advance_for(state, seat, action, learner):
    """Step one game like `advance`; returns the learner's reward, the only one that is worked out."""
    if state.reward == REWARD_SCORE:
        own, total = scores_for(state, learner)
        step(state, seat, action)
        own_now, total_now = scores_for(state, learner)
        return score_reward(state, own_now - own, total_now - total)
    step(state, seat, action)
    return win_reward(state, learner)


@compiled
def scores_for(state, learner):
    """The score of the learner's side, and that of all sides together."""
    sides, total = np.int64(state.sides), np.float32(0)
    for side in range(sides):
        total += np.float32(score(state, side))
    return np.float32(score(state, learner % sides)), total


@compiled
def step_learner(state, learner, action, choice):
    """Carry out the learner's action, or end the game with `ILLEGAL_REWARD` if it is not one of its choice.

    Returns its reward, and whether it was legal.
    """
    if has(choice[action >> 6], action & 63):
        return advance_for(state, learner, action, learner), True
    state.outcome = TERMINATED
    state.winners = 0
    state.acting = 0
    return ILLEGAL_REWARD, False


@compiled
def play_others(policy, state, learner, total, words, views, stream):
    """Play the other seats until the learner must decide or the game is over; returns total plus its rewards."""
    players = np.int64(state.players)
    while state.outcome == PLAYING and not has(np.uint64(state.acting), learner):
        seat = lowest(np.uint64(state.acting))
        place = wrap(seat - learner + players, players)
        which = (policy.places >> (2 * place)) & 3
        action = choose_one(policy.tokens, which, state, seat, words, views, stream)
        total += advance_for(state, seat, action, learner)
    return total


class Seats(NamedTuple):
    """The arrays of N games with one learner each."""

    states: Any  # (N,) the games
    finals: Any  # (N,) the last finished game of each
    learners: Any  # (N,) int64, the learner's seat
    choices: Any  # (N,) int64, what it does next
    rows: Any  # (N, observation / 8) uint64, what it knows
    sets: Any  # (N, W) uint64, its legal actions
    masks: Any  # (N, 8 W) uint64, the same as 0/1 columns
    last_rows: Any  # (N, observation / 8) uint64, what it knew at the end of the last finished game
    rewards: Any  # (N,) float32, its rewards since its last decision
    terminated: Any  # (N,) bool, whether the last step ended a game
    truncated: Any  # (N,) bool
    illegal: Any  # (N,) bool, whether the learner's last action was not legal
    streams: Any  # (N,) the policies' generators
    orders: Any  # (N,) uint8, what the next step does with each game: CARRY_OUT, BEGIN, GO_ON or LEAVE


@compiled
def show(state, seat, view, row, choice, mask, actions):
    """Write a seat's observation and legal actions, as a set and as a mask."""
    observe(state, seat, view, row)
    legal_or_wait(state, seat, choice, actions)
    expand(choice, mask)


@inlined
def show_learner(seats, i, view, actions):
    """Write what the learner of game i knows and may do."""
    show(seats.states[i], seats.learners[i], view, seats.rows[i], seats.sets[i], seats.masks[i], actions)


@inlined
def follow(seats, i):
    """Carry out the learner's action in game i, or clear away the last one where another game is to begin."""
    learner, order = seats.learners[i], seats.orders[i]
    if order == CARRY_OUT:
        seats.rewards[i], allowed = step_learner(seats.states[i], learner, seats.choices[i], seats.sets[i])
        seats.illegal[i] = not allowed
        return
    if order == BEGIN:
        seats.states[i].outcome = TERMINATED
    seats.rewards[i] = np.float32(0)
    seats.illegal[i] = False


@inlined
def note_end(seats, i, turn, at_once, view):
    """Write whether game i is over; if it is, keep it with the learner's last observation.

    Where it is replaced at once, the learner moves on by `turn` seats.
    """
    state, played = seats.states[i], seats.orders[i] == CARRY_OUT
    seats.terminated[i] = played and state.outcome == TERMINATED
    seats.truncated[i] = played and state.outcome == TRUNCATED
    if played and state.outcome != PLAYING:
        observe(state, seats.learners[i], view, seats.last_rows[i])
        seats.finals[i] = seats.states[i]
        if at_once:
            seats.learners[i] = (seats.learners[i] + turn) % np.int64(state.players)


@inlined
def is_due(seats, i, at_once):
    """Whether a new game has to take the place of game i in this step."""
    order = seats.orders[i]
    return seats.states[i].outcome != PLAYING and order != LEAVE and (at_once or order != CARRY_OUT)


@kernel
def step_seats(queue, member, seats, turn, at_once, actions, policy, words, views):
    """Do what is ordered and play on to the learners' next decisions, shared among threads.

    A finished game is kept. With `at_once` it is replaced in the same step, and the learner moves on by `turn` seats;
    without, it stays as it ended. An action that is not legal ends the game with `ILLEGAL_REWARD`.
    """
    view = views[0]
    begin_round(queue, member)
    part = take_part(queue, member)
    while part >= 0:
        for i in range(edge(part, queue, len(seats.states)), edge(part + 1, queue, len(seats.states))):
            if seats.orders[i] == LEAVE:
                continue
            state, stream = seats.states[i], seats.streams[i]
            follow(seats, i)
            total = play_others(policy, state, seats.learners[i], seats.rewards[i], words, views, stream)
            if seats.orders[i] == CARRY_OUT:  # what is gained before a first decision belongs to no decision
                seats.rewards[i] = total
            note_end(seats, i, turn, at_once, view)
            while is_due(seats, i, at_once):  # again where others alone finish a game
                setup(state)
                play_others(policy, state, seats.learners[i], np.float32(0), words, views, stream)
            show_learner(seats, i, view, actions)
        finish_part(queue)
        part = take_part(queue, member)


# The same in pieces, for policies that are not compiled: Python code asks them between the kernels.


@kernel
def follow_all(seats):
    """Carry out the learners' actions only, and clear away the games that begin anew."""
    for i in range(len(seats.states)):
        if seats.orders[i] != LEAVE:
            follow(seats, i)


@kernel
def find_others(states, learners, games, asked, rows, masks, words, views, actions):
    """List the games that wait for a seat which is not the learner's, with that seat's observation and mask."""
    count = 0
    for i in range(len(states)):
        state = states[i]
        if state.outcome == PLAYING and not has(np.uint64(state.acting), learners[i]):
            games[count] = i
            asked[count] = lowest(np.uint64(state.acting))
            show(state, asked[count], views[0], rows[count], words, masks[count], actions)
            count += 1
    return count


@kernel
def step_others(states, learners, games, asked, choices, rewards):
    """Carry out the listed seats' actions; the learners' rewards go on adding up."""
    for k in range(len(games)):
        i = games[k]
        rewards[i] += advance_for(states[i], asked[k], choices[k], learners[i])


@kernel
def note_ends(seats, turn, at_once, views):
    """Write which games are over, see `note_end`."""
    for i in range(len(seats.states)):
        if seats.orders[i] != LEAVE:
            note_end(seats, i, turn, at_once, views[0])


@kernel
def replace_finished(seats, at_once):
    """Set up a new game in every place where one is due; returns how many."""
    count = 0
    for i in range(len(seats.states)):
        if is_due(seats, i, at_once):
            setup(seats.states[i])
            count += 1
    return count


@kernel
def show_learners(seats, actions, views):
    """Write all learners' observations and legal actions."""
    for i in range(len(seats.states)):
        show_learner(seats, i, views[0], actions)
