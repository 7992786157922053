"""Stepping one game: legal actions, rewards, observations.

`words` (W,) uint64, W = ceil(actions / 64), is scratch for one bit set of actions; `masks` are int8 seen as uint64,
padded to 64 columns per word; `views` (1,) is scratch for what one seat knows.
"""

import numpy as np

from ..compiling.encoding import expand
from ..compiling.jit import compiled, inlined, kernel
from .bits import bit, first, has, popcount, wrap
from .contract import PLAYING, REWARD_SCORE, TERMINATED, events, legal, look, observe, score, setup, step


@compiled
def legal_or_wait(state, seat, words, actions):
    """The legal actions of any seat: the no-op (the last action) alone where it has nothing to decide."""
    if has(np.uint64(state.acting), seat):
        legal(state, seat, words)
        return
    words[:] = np.uint64(0)
    words[(actions - 1) // 64] = bit((actions - 1) % 64)


@compiled
def share_of_win(state, side):
    """A side's share of the win of a game that is over; everybody's is the same where nobody wins."""
    sides = np.int64(state.sides)
    winners = np.uint64(state.winners) & first(sides)
    if winners == np.uint64(0):
        return 1.0 / sides
    return 1.0 / popcount(winners) if has(winners, side) else 0.0


@compiled
def win_reward(state, seat):
    """The seat's reward at the end under reward="win": sides / (sides - 1) * (share of the win - 1 / sides)."""
    if state.outcome != TERMINATED:
        return np.float32(0)
    sides = np.int64(state.sides)
    return np.float32(sides / (sides - 1.0) * (share_of_win(state, seat % sides) - 1.0 / sides))


@inlined
def score_reward(state, gained, total):
    """A seat's reward under reward="score": what its side gained (of the total) beyond the others' average, scaled."""
    return (gained - (total - gained) / np.float32(state.sides - 1)) / state.scale


@compiled
def advance(state, seat, action, rewards):
    """Step one game and write every seat's reward, float32 (players,); False if they are all zero by the rules."""
    gains = step_and_reward(state, seat, action, rewards)
    if not gains:
        for other in range(np.int64(state.players)):
            rewards[other] = np.float32(0)
    return gains


@compiled
def step_and_reward(state, seat, action, rewards):
    """`advance` for callers that need no zeros: where it returns False, `rewards` is left as it was."""
    players, sides = np.int64(state.players), np.int64(state.sides)
    if state.reward == REWARD_SCORE:
        for side in range(sides):
            rewards[side] = score(state, side)
        step(state, seat, action)
        total = np.float32(0)
        for side in range(sides):
            rewards[side] = score(state, side) - rewards[side]
            total += rewards[side]
        for side in range(sides):
            rewards[side] = score_reward(state, rewards[side], total)
        for other in range(sides, players):
            rewards[other] = rewards[other % sides]
        return True
    step(state, seat, action)
    if state.outcome == PLAYING:
        return False
    for other in range(players):
        rewards[other] = win_reward(state, other)
    return True


# Kernels for Python.


@kernel
def begin(states, i):
    """Set up game i."""
    setup(states[i])


@kernel
def advance_one(states, i, seat, action, rewards, masks, words, actions):
    """Step game i; write the rewards (players,) and every seat's mask, `masks` (players, 8 W); returns who acts."""
    advance(states[i], seat, action, rewards)
    mask_all(states, i, masks, words, actions)
    return int(states[i].acting)


@kernel
def mask_all(states, i, masks, words, actions):
    """Write every seat's mask of game i."""
    state = states[i]
    for seat in range(np.int64(state.players)):
        legal_or_wait(state, seat, words, actions)
        expand(words, masks[seat])


@kernel
def observe_one(states, i, seat, views, row):
    """Write one seat's observation of game i."""
    observe(states[i], seat, views[0], row)


@kernel
def look_at(states, i, seat, views):
    """Write one seat's view of game i."""
    look(states[i], seat, views[0])


@kernel
def events_of(before, after, seat, mover, action, views, out):
    """Write what a seat saw of a decision that led from one state (1,) to another; `views` (2,) is scratch."""
    players = np.int64(before[0].players)
    look(before[0], seat, views[0])
    look(after[0], seat, views[1])
    return events(views[0], views[1], wrap(mover - seat + players, players), action, out)
