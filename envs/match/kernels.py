"""Batched stepping and sampling, the same for every game.

Arrays: `states` (N,) records; `words` (W,) uint64, W = ceil(actions / 64), is scratch for one bit set of actions and
`sets` (N, W) has one for every game; `rows` (N, observation / 8) and `masks` (N, 8 W) are the int8 tensors seen as
uint64, masks padded to 64 columns per word; `views` (1,) is scratch for what one seat knows.
"""

import numpy as np

from ..compiling.jit import compiled, inlined, kernel
from ..core.bits import lowest, nth, popcount
from ..core.contract import PLAYING, legal, setup, step
from ..core.rng import draw


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
