"""Replaces its blocks in each iteration; see tests/support/replaced.py.

Usage: mpirun -n RANKS replacing.py CONFIGURATION
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

STEPS = 6


def owner(number, step, size):
    """With many ranks the last one never has a block."""
    return (number + step // 2) % (size - 1 if size > 3 else size)


def tiles(step, rank, size):
    """Ids, levels and boxes of this rank's blocks."""
    ids = [b for b in range(18) if owner(b, step, size) == rank and (b < 16 or (step + b) % 2 == 0)]
    lo = [[4 * (b % 4), 4 * (b // 4)] if b < 16 else [8 * (b - 16), 8] for b in ids]
    levels = [int(b >= 16) for b in ids]
    return ids, levels, lo, [[n + (8 if level else 4) for n in low] for low, level in zip(lo, levels, strict=True)]


def simulate(session):
    rank, size = session.comm.Get_rank(), session.comm.Get_size()
    before = set()
    for step in range(STEPS):
        ids, levels, lo, hi = tiles(step, rank, size)
        session.replace_blocks("m", ids, lo, hi, levels)
        dots = [p for p in range(100, 106) if owner(p, step, size) == rank and (step + p) % 3]
        lengths = np.array([(step + p) % 4 for p in dots], int)
        bounds = [[p, 0, 0, p + 1, 1, 0] for p in dots]
        session.replace_block_lists("dots", dots, lengths, bounds=bounds if step % 2 else None)
        for b, level in zip(ids, levels, strict=True):
            shape = (8, 8) if level else (4, 4)
            if b not in before:
                session.publish("born", b, np.full(shape, b, np.int32))
            session.publish("t", b, np.full(shape, b + 100.0 * step))
        for p, length in zip(dots, lengths, strict=True):
            session.publish("place", p, np.full((length, 2), float(p)))
            session.publish("mass", p, np.full(length, float(step + p)))
        assert session.end_iteration(step, float(step))
        before = set(ids)


with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        simulate(session)
