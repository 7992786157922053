"""Random generator inside the state: PCG32 (PCG-XSH-RR 64/32), one `uint64` in a record's field `rng`.

Any record with that field will do: a game's state, or a stream of its own for sampling and search.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..compiling.jit import compiled, compiled_as, inlined
from .bits import nth, popcount
from .options import is_whole, whole

STREAM = np.dtype((np.record, [("stream", np.uint64), ("rng", np.uint64)]))
"""A numbered generator outside of a game's state.

(With `rng` as the first field numba would take every game's state for a subtype of it.)
"""

CHANCE: ContextVar[Callable[[int, int], int] | None] = ContextVar("CHANCE", default=None)
"""Decides draws in plain Python instead of the generator; compiled code ignores it.

For exact enumeration of chance outcomes. Called with the number of outcomes, and with how many of the first ones are
alike, as all others are then (`draw_below`); 0 where each matters.
"""

MEASURING = ("curve", "choosing", "publishing")
"""Purposes of deals that no environment is trained on, see `training.evaluation.seeds`."""

_MASK = (1 << 64) - 1
_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)
_GOLDEN = 0x9E3779B97F4A7C15


@compiled_as(lambda state: state * _MULTIPLIER + _INCREMENT)
def _next_state(state):
    """One step of the congruence modulo 2**64 (in Python integers, since numpy scalars warn when they wrap)."""
    return np.uint64((int(state) * int(_MULTIPLIER) + int(_INCREMENT)) & _MASK)


@inlined
def draw32(holder):
    """32 random bits as `uint64`."""
    state = holder.rng
    holder.rng = _next_state(state)
    word = (((state >> np.uint64(18)) ^ state) >> np.uint64(27)) & np.uint64(0xFFFFFFFF)
    turn = state >> np.uint64(59)
    return ((word >> turn) | (word << (np.uint64(32) - turn))) & np.uint64(0xFFFFFFFF)


@compiled_as(lambda count, alike: -1)
def _decided(count, alike):
    """The outcome that `CHANCE` decides on, or -1 to draw at random."""
    decide = CHANCE.get()
    return -1 if decide is None else decide(int(count), int(alike))


@inlined
def draw(holder, count):
    """A number from 0 to count - 1, without bias (Lemire's method); count is below 2**32."""
    decided = _decided(count, 0)
    if decided >= 0:
        return np.int64(decided)
    bound = np.uint64(count)
    product = draw32(holder) * bound
    low = product & np.uint64(0xFFFFFFFF)
    if low < bound:
        threshold = (np.uint64(0x100000000) - bound) % bound
        while low < threshold:
            product = draw32(holder) * bound
            low = product & np.uint64(0xFFFFFFFF)
    return np.int64(product >> np.uint64(32))


@inlined
def draw_below(holder, count, limit):
    """Whether `draw` of count outcomes is below a limit, for rules to which nothing else about it matters."""
    decided = _decided(count, limit)
    return decided < limit if decided >= 0 else draw(holder, count) < limit


@inlined
def draw_from(holder, bits):
    """A uniformly random member of a bit set that is not empty."""
    return nth(bits, draw(holder, popcount(bits)))


@compiled
def shuffle(holder, items, count):
    """Shuffle the first `count` of `items` in place (Fisher and Yates)."""
    for i in range(count - 1, 0, -1):
        j = draw(holder, i + 1)
        items[i], items[j] = items[j], items[i]


def mix(value: Any) -> Any:
    """SplitMix64's output function on an integer or uint64 array: neighbouring inputs give unrelated outputs."""
    z = (value * _GOLDEN + _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def check_seed(seed: Any, what: str = "seed") -> int:
    """A seed, or a generator's state, as Python's integer; raises `ValueError` unless it is one from 0 to 2**64 - 1."""
    if not is_whole(seed) or not 0 <= whole(seed) <= _MASK:
        raise ValueError(f"a {what} is an integer from 0 to 2**64 - 1, not {seed!r}")
    return whole(seed)


def _word(number: Any) -> Any:
    """An integer, or each of an array, as 64 bits."""
    return number.astype(np.uint64) if isinstance(number, np.ndarray) else whole(number) & _MASK


# Below, a seed or index is an integer, or an array of integers for an array of results.


def generator(seed: Any, purpose: str = "game") -> Any:
    """Initial generator state for a seed, uint64; each purpose has an independent stream."""
    value = mix(_word(seed))
    for letter in "" if purpose == "game" else purpose:
        value = mix(value ^ ord(letter))
    return np.uint64(value)


def env_seed(seed: int, index: Any) -> Any:
    """The seed of environment `index` in a batch seeded with `seed`: `mix(mix(seed) + index)`, 63 bits of it."""
    return mix((mix(_word(seed)) + _word(index)) & _MASK) >> 1


def deal_seed(purpose: str, seed: int, deal: Any) -> Any:
    """The seed of a deal that measures something: bit 63, two bits of the purpose, and 61 that are mixed."""
    return 1 << 63 | MEASURING.index(purpose) << 61 | env_seed(seed, deal) >> 2


def streams(seed: int, count: int, purpose: str) -> Any:
    """Independent generators, shape (count,), dtype `STREAM`."""
    holders = np.zeros(count, STREAM)
    holders["stream"] = np.arange(count)
    holders["rng"] = generator(env_seed(seed, holders["stream"]), purpose)
    return holders
