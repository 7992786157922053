"""Loops over states that are the same for every game: stepping, rewards, observations, playouts.

Arrays: `states` (N,) records; `words` (W,) uint64, W = ceil(actions / 64), is scratch for one bit set of actions and
`sets` (N, W) has one for every game; `rows` (N, observation / 8) and `masks` (N, 8 W) are the int8 tensors seen as
uint64, masks padded to 64 columns a word; `views` (1,) is scratch for what one seat knows.
"""

import numpy as np

from .bits import bit, first, has, lowest, nth, popcount
from .contract import (
    PLAYING,
    REWARD_SCORE,
    TERMINATED,
    TRUNCATED,
    legal,
    look,
    observe,
    score,
    setup,
    step,
)
from .encoding import expand
from .jit import compiled, inlined, kernel
from .rng import draw
from .shares import LEADER, begin_round, edge, finish_part, take_part


@compiled
def legal_or_wait(state, seat, words, actions):
    """The legal actions of any seat: the no-op (the last action) alone where it has nothing to decide."""
    if has(np.uint64(state.acting), seat):
        legal(state, seat, words)
        return
    words[:] = np.uint64(0)
    words[(actions - 1) // 64] = bit((actions - 1) % 64)


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


@compiled
def win_reward(state, seat):
    """The seat's reward at the end under reward="win": sides / (sides - 1) * (share of the win - 1 / sides)."""
    if state.outcome != TERMINATED or state.winners == 0:
        return np.float32(0)
    sides = np.int64(state.sides)
    winning = popcount(np.uint64(state.winners) & first(sides))
    share = 1.0 / winning if has(np.uint64(state.winners), seat) else 0.0
    return np.float32(sides / (sides - 1.0) * (share - 1.0 / sides))


@inlined
def score_reward(state, gained, total):
    """A seat's reward under reward="score": what its side gained (of the total) beyond the others' average, scaled."""
    return (gained - (total - gained) / np.float32(state.sides - 1)) / state.scale


@compiled
def advance(state, seat, action, rewards):
    """Step one game and write every seat's reward; `rewards` is float32 (players,)."""
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
        return
    step(state, seat, action)
    if state.outcome == PLAYING:
        for other in range(players):
            rewards[other] = np.float32(0)
        return
    for other in range(players):
        rewards[other] = win_reward(state, other)


# One game, for the AEC and parallel adapters


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


# Many games


@compiled
def refresh(state, i, seats, rows, sets, masks, views):
    """Write whose decision game i waits for, with that seat's observation and legal actions."""
    seat = lowest(np.uint64(state.acting))
    seats[i] = seat
    observe(state, seat, views[0], rows[i])
    legal(state, seat, sets[i])
    expand(sets[i], masks[i])


@kernel
def reset_batch(states, seats, rows, sets, masks, views):
    """Set up all games."""
    for i in range(len(states)):
        setup(states[i])
        refresh(states[i], i, seats, rows, sets, masks, views)


@compiled
def first_illegal(choices, sets, actions):
    """The first game whose action is out of range or not legal, or -1."""
    for i in range(len(choices)):
        action = choices[i]
        if action < 0 or action >= actions or not has(sets[i, action // 64], action % 64):
            return i
    return -1


@kernel
def step_batch(
    shares, member, actions, states, finals, choices, seats, rows, sets, masks, rewards, terminated, truncated, totals,
    lengths, views
):  # fmt: skip
    """Step all games, shared among threads; a finished one is kept in `finals` and set up anew at once.

    `totals` (2, N, players) and `lengths` (2, N): [0] the running episode, [1] the last finished one. Returns -1, or
    the first game whose choice is not one of its legal actions: then nothing has happened.
    """
    if member == LEADER:
        wrong = first_illegal(choices, sets, actions)
        if wrong >= 0:
            return wrong
    begin_round(shares, member)
    part = take_part(shares, member)
    while part >= 0:
        start, stop = edge(part, shares, len(states)), edge(part + 1, shares, len(states))
        for i in range(start, stop):
            state = states[i]
            advance(state, np.int64(seats[i]), np.int64(choices[i]), rewards[i])
            lengths[0, i] += 1
            for seat in range(np.int64(state.players)):
                totals[0, i, seat] += rewards[i, seat]
            terminated[i] = state.outcome == TERMINATED
            truncated[i] = state.outcome == TRUNCATED
            if state.outcome != PLAYING:
                finals[i] = states[i]
                lengths[1, i] = lengths[0, i]
                lengths[0, i] = 0
                for seat in range(np.int64(state.players)):
                    totals[1, i, seat] = totals[0, i, seat]
                    totals[0, i, seat] = 0
                setup(state)
        # Not in the same loop: a processor waits where it reads, in larger pieces, what it has just written.
        for i in range(start, stop):
            refresh(states[i], i, seats, rows, sets, masks, views)
        finish_part(shares)
        part = take_part(shares, member)
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


@compiled
def play_out(state, stream, words, limit):
    """Play one game at random to its end (or for `limit` steps); returns the steps taken."""
    steps = 0
    while state.outcome == PLAYING and steps < limit:
        seat = lowest(np.uint64(state.acting))
        legal(state, seat, words)
        step(state, seat, pick(words, stream))
        steps += 1
    return steps
