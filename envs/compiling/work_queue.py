"""How threads share a batch without asking Python: each takes its own parts first, then what others have not begun.

A thread keeps to its own parts where it can because its core's cache holds those games. `shares` is uint64: counters,
each alone on its cache line so that threads do not slow each other down by writing side by side. They are never reset:
a round of work raises `ISSUED` by one, entitles everybody to `PARTS` more of each member's parts, and is over when all
are done.
"""

import os

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..core.bits import wrap
from .jit import inlined, overload

ISSUED, DONE, CLOSED, MEMBERS, TAKEN = 0, 8, 16, 24, 32  # TAKEN + 8 m: parts taken of member m
LEADER = 0
PARTS = 8
"""Parts a member: several, so that a thread which comes late holds the others up for one of them at most."""
SPINS = 100_000
"""How often a worker looks for work before it goes to sleep: some tenths of a millisecond."""
PATIENCE = 2_000
"""How often somebody looks before giving way to threads that wait for a processor, as the one waited for might."""


def new_shares(members: int) -> np.ndarray:
    """Counters for so many threads."""
    shares = np.zeros(TAKEN + 8 * members, np.uint64)
    shares[MEMBERS] = members
    return shares


@inlined
def begin_round(shares, member):
    """The leader issues a round; to be called by every thread that is about to take parts."""
    if member == LEADER:
        write_shared(shares, ISSUED, shares[ISSUED] + np.uint64(1))


@inlined
def take_part(shares, member):
    """The next part for this thread; -1 ends a leader's round, and a worker's watch after a while without work."""
    members, spins = np.int64(shares[MEMBERS]), 0
    while True:
        entitled = np.uint64(PARTS) * read_shared(shares, ISSUED)
        for k in range(members):
            owner = wrap(member + k, members)
            taken = read_shared(shares, TAKEN + 8 * owner)
            while taken < entitled:
                if replace_shared(shares, TAKEN + 8 * owner, taken, taken + np.uint64(1)):
                    return owner * PARTS + np.int64(taken % np.uint64(PARTS))
                taken = read_shared(shares, TAKEN + 8 * owner)
        if member == LEADER:
            if read_shared(shares, DONE) == entitled * np.uint64(members):
                return np.int64(-1)
        elif spins > SPINS or read_shared(shares, CLOSED) != 0:
            return np.int64(-1)
        spins += 1
        if spins % PATIENCE == 0:
            give_way()


@inlined
def finish_part(shares):
    """A part that was taken is done; what was written for it is visible to whoever sees the round end."""
    add_shared(shares, DONE)


@inlined
def edge(part, shares, count):
    """The first of `count` games that belongs to a part."""
    return part * count // (PARTS * np.int64(shares[MEMBERS]))


# Plain Python, which runs one thread, and machine instructions, which order all memory before and after them.


def read_shared(shares, cell):
    """The value of a cell that other threads write."""
    return shares[cell]


def write_shared(shares, cell, value):
    """Write a cell that other threads read."""
    shares[cell] = value


def add_shared(shares, cell):
    """Count a cell up."""
    shares[cell] += np.uint64(1)


def replace_shared(shares, cell, old, new):
    """Write `new` if the cell still holds `old`; whether it did."""
    shares[cell] = new
    return True


def give_way():
    """Let another thread have the processor, if one is waiting for it."""


_sched_yield = types.ExternalFunction("sched_yield", types.int32())


@overload(give_way)
def _give_way():
    if not hasattr(os, "sched_yield"):  # Windows
        return lambda: None

    def by_system():
        _sched_yield()

    return by_system


_ORDER = "seq_cst"


def _cell(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def _read(typing_context, shares, cell):
    def generate(context, builder, signature, args):
        return builder.load_atomic(_cell(context, builder, signature.args[0], *args), _ORDER, 8)

    return types.uint64(shares, types.intp), generate


@intrinsic
def _write(typing_context, shares, cell, value):
    def generate(context, builder, signature, args):
        pointer = _cell(context, builder, signature.args[0], *args[:2])
        builder.store_atomic(args[2], pointer, _ORDER, 8)
        return context.get_dummy_value()

    return types.void(shares, types.intp, types.uint64), generate


@intrinsic
def _add(typing_context, shares, cell):
    def generate(context, builder, signature, args):
        pointer = _cell(context, builder, signature.args[0], *args)
        return builder.atomic_rmw("add", pointer, ir.Constant(ir.IntType(64), 1), _ORDER)

    return types.uint64(shares, types.intp), generate


@intrinsic
def _replace(typing_context, shares, cell, old, new):
    def generate(context, builder, signature, args):
        pointer = _cell(context, builder, signature.args[0], *args[:2])
        outcome = builder.cmpxchg(pointer, args[2], args[3], _ORDER, _ORDER)
        return builder.extract_value(outcome, 1)

    return types.boolean(shares, types.intp, types.uint64, types.uint64), generate


@overload(read_shared)
def _read_shared(shares, cell):
    return lambda shares, cell: _read(shares, cell)


@overload(write_shared)
def _write_shared(shares, cell, value):
    return lambda shares, cell, value: _write(shares, cell, value)


@overload(add_shared)
def _add_shared(shares, cell):
    return lambda shares, cell: _add(shares, cell)


@overload(replace_shared)
def _replace_shared(shares, cell, old, new):
    return lambda shares, cell, old, new: _replace(shares, cell, old, new)
