"""Uniformly random legal actions, from bit sets `sets` (N, W) uint64, W = ceil(actions / 64), or int8 masks (B, A)."""

from ..compiling.jit import compiled, inlined, kernel
from ..core.bits import nth, popcount
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
