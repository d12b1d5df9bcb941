"""Computes 64 MiB in the memory in which they are published. Usage: mpirun -n RANKS in_place.py CONFIGURATION"""

import sys

import sidestream
from mpi4py import MPI

LENT = {}

with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        session.set_block("plane", 0, (0, 0), (2048, 4096))
        session.start()
        for step in range(2):
            place = session.alloc("big", 0)
            place[...] = step + 1
            LENT[step] = place.__array_interface__["data"][0]
            session.commit("big", 0)
            session.end_iteration(step, step)
            del place
            session.clear("big", 0)
