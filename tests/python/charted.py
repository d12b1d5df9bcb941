"""Publishes a gas whose density drifts, in slabs: charted.py CONFIGURATION [N] [STEPS]."""

import sys

import numpy as np
import sidestream
from mpi4py import MPI


def gas(n, steps):
    """Returns density and temperature of a step, [k, j, i]: smooth, positive, and the same in every process."""
    noise = np.random.default_rng(7).normal(size=(n, n, n))
    for axis in (0, 1, 2):
        noise = noise + np.roll(noise, 1, axis) + np.roll(noise, -1, axis)
    noise /= noise.std()
    for step in range(steps):
        moved = np.roll(noise, step, 2) * np.cos(0.35 * step) + np.roll(noise, step, 1) * np.sin(0.35 * step)
        density = np.exp(0.9 * moved)
        yield density, 1.2e6 * density ** (2 / 3) + 2e5 * np.roll(noise, 3, 0) + 1e6


if __name__ == "__main__":
    n, steps = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((2, 16), (3, 4)))
    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
        if session.is_server:
            session.serve()
        else:
            rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
            k0, k1 = n * rank // ranks, n * (rank + 1) // ranks
            session.set("n", n)
            session.set_block("grid", rank, lo=(0, 0, k0), hi=(n, n, k1))
            for step, (density, temperature) in enumerate(gas(n, steps)):
                session.publish("density", rank, np.ascontiguousarray(density[k0:k1]))
                session.publish("temperature", rank, np.ascontiguousarray(temperature[k0:k1]))
                session.end_iteration(10 * step, 0.25 * step)
