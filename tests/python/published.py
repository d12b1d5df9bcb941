"""Publishes from Python the bits that tests/system/field_program.cpp publishes.

Usage: mpirun -n RANKS published.py CONFIGURATION [grid=N] [steps=N] [blocks=N]
"""

import math
import sys

import numpy as np
import sidestream
from mpi4py import MPI


def field(x, y, z, time):
    return (
        math.sin(6.3 * x + time) * math.cos(4.1 * y) + 0.7 * math.sin(5.2 * z - 0.5 * time) + 0.1 * x * y
    )  # math's functions are those of C


def cells(n, k0, k1, time):
    h, axis = 1.0 / n, range(n)
    every = [
        [[field((i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h, time) for i in axis] for j in axis] for k in range(k0, k1)
    ]
    return np.array(every).reshape(k1 - k0, n, n)


def nodes(n, k0, k1, time):
    h, axis = 1.0 / n, range(n + 1)
    every = [
        [[(field(i * h, j * h, k * h, time), i + 2 * j + 3 * k) for k in range(k0, k1 + 1)] for j in axis] for i in axis
    ]
    return np.array(every).astype(np.float32)


def simulate(session, n, steps, blocks):
    comm = session.comm
    slabs = comm.Get_size() * blocks
    mine = {
        slabs - 1 - b: (n * b // slabs, n * (b + 1) // slabs)
        for b in range(comm.Get_rank() * blocks, (comm.Get_rank() + 1) * blocks)
    }
    session.set("n", n)
    session.set("h", 1.0 / n)
    for block, (k0, k1) in mine.items():
        session.set_block("grid", block, (0, 0, k0), (n, n, k1))
    session.start()
    for step in range(steps):
        time = 0.1 * step
        for block, (k0, k1) in mine.items():
            assert session.publish("t", block, cells(n, k0, k1, time)), session.message
            assert session.publish("p", block, nodes(n, k0, k1, time)), session.message
        assert session.end_iteration(10 * step, time), session.message


def main():
    options = dict(word.split("=") for word in sys.argv[2:])
    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
        if session.is_server:
            session.serve()
        else:
            simulate(session, int(options.get("grid", 20)), int(options.get("steps", 3)), int(options.get("blocks", 1)))
            account = session.close()
            assert account.delivered == account.iterations, account


main()
