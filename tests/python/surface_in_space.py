"""Publishes values on a part of a sphere, in cells and at nodes. With many ranks the last one has an empty block.

Usage: mpirun -n RANKS surface_in_space.py CONFIGURATION
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

CELLS = (12, 8)


def places(i, j):
    """Positions of nodes on the unit sphere."""
    longitude, latitude = 0.4 * np.asarray(i), 0.3 * (np.asarray(j) - 4)
    return np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude) + 0 * longitude],
        -1,
    )


def simulate(session):
    rank, size = session.comm.Get_rank(), session.comm.Get_size()
    parts = max(size - 1, 1) if size > 3 else size
    lo, hi = (min(CELLS[0] * n // parts, CELLS[0]) for n in (rank, rank + 1))
    session.set_block("ball", rank, [lo, 0], [hi, CELLS[1] if hi > lo else 0])
    session.start()
    if hi > lo:
        j, i = np.mgrid[: CELLS[1] + 1, lo : hi + 1]
        session.publish("place", rank, places(i, j))
        session.publish("n", rank, i + 100.0 * j)
        session.publish("t", rank, (i + 100.0 * j)[:-1, :-1])
    assert session.end_iteration(0, 0.0)


with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        simulate(session)
