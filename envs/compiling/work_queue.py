"""Work queue in shared memory: threads inside a kernel take parts of a batch, their own first, then those left over.

A thread prefers its own parts because its core's cache holds those games. `queue` is uint64: counters, each alone on
its cache line so that threads do not slow each other down by writing side by side. They are never reset: a round raises
`ISSUED` by one, entitles everybody to `PARTS` more of each member's parts, and is over when all of them are done.
"""

import os

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .jit import compiled_as, inlined

ISSUED, DONE, MEMBERS, TAKEN = 0, 8, 16, 24  # TAKEN + 8 m: parts taken of member m
LEADER = 0
PARTS = 8
"""Parts per member: several, so that a thread which comes late holds the others up for one of them at most."""
SPINS = 100_000
"""Spins of a worker without work before it leaves the kernel: some tenths of a millisecond."""
YIELD_EVERY = 2_000
"""Spins before `sched_yield()`: the thread that is waited for may need the processor."""


def new_queue(members: int) -> np.ndarray:
    """Counters for so many threads."""
    queue = np.zeros(TAKEN + 8 * members, np.uint64)
    queue[MEMBERS] = members
    return queue


@inlined
def begin_round(queue, member):
    """The leader issues a round; to be called by every thread that is about to take parts."""
    if member == LEADER:
        add_shared(queue, ISSUED)


@inlined
def take_part(queue, member):
    """The next part for this thread; -1 ends a leader's round, and a worker's wait after a while without work."""
    members, spins = np.int64(queue[MEMBERS]), 0
    while True:
        entitled = np.uint64(PARTS) * read_shared(queue, ISSUED)
        for k in range(members):
            owner = member + k if member + k < members else member + k - members
            taken = read_shared(queue, TAKEN + 8 * owner)
            while taken < entitled:
                if replace_shared(queue, TAKEN + 8 * owner, taken, taken + np.uint64(1)):
                    return owner * PARTS + np.int64(taken % np.uint64(PARTS))
                taken = read_shared(queue, TAKEN + 8 * owner)
        if member == LEADER:
            if read_shared(queue, DONE) == entitled * np.uint64(members):
                return np.int64(-1)
        elif spins > SPINS:
            return np.int64(-1)
        spins += 1
        if spins % YIELD_EVERY == 0:
            yield_processor()


@inlined
def finish_part(queue):
    """A part that was taken is done; what was written for it is visible to whoever sees the round end."""
    add_shared(queue, DONE)


@inlined
def edge(part, queue, count):
    """The first of `count` games that belongs to a part."""
    return part * count // (PARTS * np.int64(queue[MEMBERS]))


# --- Shared cells: instructions that order all memory before and after them; plain Python runs one thread ---

_ORDER = "seq_cst"


def _cell(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def _read(typing_context, queue, cell):
    def generate(context, builder, signature, args):
        return builder.load_atomic(_cell(context, builder, signature.args[0], *args), _ORDER, 8)

    return types.uint64(queue, types.intp), generate


@intrinsic
def _add(typing_context, queue, cell):
    def generate(context, builder, signature, args):
        pointer = _cell(context, builder, signature.args[0], *args)
        return builder.atomic_rmw("add", pointer, ir.Constant(ir.IntType(64), 1), _ORDER)

    return types.uint64(queue, types.intp), generate


@intrinsic
def _replace(typing_context, queue, cell, old, new):
    def generate(context, builder, signature, args):
        pointer = _cell(context, builder, signature.args[0], *args[:2])
        outcome = builder.cmpxchg(pointer, args[2], args[3], _ORDER, _ORDER)
        return builder.extract_value(outcome, 1)

    return types.boolean(queue, types.intp, types.uint64, types.uint64), generate


@compiled_as(lambda queue, cell: _read(queue, cell))
def read_shared(queue, cell):
    """The value of a cell that other threads write."""
    return queue[cell]


@compiled_as(lambda queue, cell: _add(queue, cell))
def add_shared(queue, cell):
    """Count a cell up."""
    queue[cell] += np.uint64(1)


@compiled_as(lambda queue, cell, old, new: _replace(queue, cell, old, new))
def replace_shared(queue, cell, old, new):
    """Compare and swap: write `new` if the cell still holds `old`; whether it did."""
    queue[cell] = new
    return True


_sched_yield = types.ExternalFunction("sched_yield", types.int32())


def _by_system():
    _sched_yield()


@compiled_as(_by_system if hasattr(os, "sched_yield") else lambda: None)
def yield_processor():
    """`sched_yield()`, where the system has it; Windows has not."""
