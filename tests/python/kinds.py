"""Publishes on meshes of one and two dimensions, a curvilinear one and particles, and does not close the session.

Usage: mpirun -n RANKS kinds.py CONFIGURATION
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

session = sidestream.open_session(MPI.COMM_WORLD, sys.argv[1])
if session.is_server:
    session.serve()
else:
    rank = session.comm.Get_rank()
    first = 4 * rank
    session.set_block("line", rank, (first,), (first + 4,))
    for mesh in ("plane", "curved"):
        session.set_block(mesh, rank, (0, first), (3, first + 4))
    session.set_block_list("cloud", rank, rank, rank)  # the first rank has no particles
    session.start()
    for step in range(2):
        session.publish("a", rank, np.arange(first, first + 4) + 100.0 * step)
        session.publish("b", rank, np.add.outer(np.arange(4), 10 * np.arange(first, first + 5)).astype(np.int32))
        session.publish("c", rank, np.add.outer(np.arange(first, first + 4), 10.0 * np.arange(3)))
        j, i = np.mgrid[first : first + 5, 0:4]
        session.publish("xy", rank, np.stack([i + 0.5 * j, 1.0 * j], -1))
        session.publish("places", rank, rank + np.arange(3.0 * rank).reshape(-1, 3))
        session.publish("mass", rank, np.full(rank, 1 + rank, np.float32))
        session.end_iteration(step, 0.5 * step)
