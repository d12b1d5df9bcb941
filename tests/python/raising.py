"""Raises events with values. Each client reaches a barrier in another iteration.

Usage: mpirun -n RANKS raising.py CONFIGURATION
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        rank = session.comm.Get_rank()
        session.set_block("grid", rank, [rank], [rank + 1])
        session.start()
        for step in range(4):
            if step == 0:
                session.signal("lost", [rank, rank + 0.5])
            if step == 1 and rank == 0:
                session.signal("count", np.array([7, 8]))
            if step == 3 and rank == 0:
                session.signal("lost", np.array([]))
            if step == rank % 3:
                session.signal_barrier("phase")
            session.publish("t", rank, np.array([float(rank)]))
            session.end_iteration(step, float(step))
