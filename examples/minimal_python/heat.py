#!/usr/bin/env python3
"""Heat in an insulated box, and the lines (marked S) that give its temperature to Sidestream.

Usage: mpirun -n RANKS python3 heat.py [CONFIGURATION]

Explicit steps of dT/dt = Laplace T on N x N x N cells, cut into slabs along k. One ghost plane on either side of a slab
holds the neighbour's values. No heat leaves the box, so the mean temperature stays what it was.
"""

import sys

import numpy as np
import sidestream  # S
from mpi4py import MPI

N, STEPS = 32, 20
FOURIER = 0.1  # time step over the square of the spacing; above 1/6 the scheme is unstable


class Slab:
    """One rank's cells k0 to k1: `values` is indexed [k, j, i] and has the ghost planes too."""

    def __init__(self, comm):
        rank, size = comm.Get_rank(), comm.Get_size()
        self.comm = comm
        self.below = rank - 1 if rank > 0 else MPI.PROC_NULL
        self.above = rank + 1 if rank + 1 < size else MPI.PROC_NULL
        self.k0, self.k1 = N * rank // size, N * (rank + 1) // size
        self.values = np.full((self.k1 - self.k0 + 2, N, N), 300.0)
        self.values[1 : max(1, N // 2 - self.k0 + 1), : N // 2, : N // 2] = 400  # a hot corner

    @property
    def inside(self):
        return self.values[1:-1]

    def exchange(self):
        v = self.values
        v[0], v[-1] = v[1], v[-2]  # at the walls, through which nothing flows
        self.comm.Sendrecv(v[-2], self.above, recvbuf=v[0], source=self.below)
        self.comm.Sendrecv(v[1], self.below, recvbuf=v[-1], source=self.above)

    def step(self):
        self.exchange()
        flat = np.pad(self.values, ((0, 0), (1, 1), (1, 1)), mode="edge")
        middle = slice(1, -1)
        around = self.values[2:] + self.values[:-2]
        around += flat[middle, 2:, middle] + flat[middle, :-2, middle]
        around += flat[middle, middle, 2:] + flat[middle, middle, :-2]
        self.values[1:-1] += FOURIER * (around - 6 * self.inside)


def simulate(session):
    """Runs on the ranks that simulate."""
    slab = Slab(session.comm)  # S: instead of MPI.COMM_WORLD
    rank = session.comm.Get_rank()
    session.set("n", N)  # S: $n in run.yaml
    session.set_block("box", rank, lo=(0, 0, slab.k0), hi=(N, N, slab.k1))  # S: my cells, in (i, j, k)
    session.start()  # S: all checks happen here
    for step in range(STEPS):
        # S: both are False if the iteration is refused, which is no reason to stop.
        session.publish("temperature", rank, slab.inside)
        session.end_iteration(step, step * FOURIER)
        slab.step()


def main():
    file = sys.argv[1] if len(sys.argv) > 1 else "run.yaml"
    with sidestream.open_session(MPI.COMM_WORLD, file) as session:  # S
        if session.is_server:  # S
            session.serve()  # S
        else:
            simulate(session)


main()
