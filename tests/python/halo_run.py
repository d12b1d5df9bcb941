"""Publishes a field in slabs, and numbered particles of which each rank has some: halo_run.py CONFIGURATION FIELDS."""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

with np.load(sys.argv[2]) as file:
    fields, places, weights = file["fields"], file["places"], file["weights"]

with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
        n = fields.shape[1]
        k0, k1 = n * rank // ranks, n * (rank + 1) // ranks
        session.set("n", n)
        session.set_block("grid", rank, lo=(0, 0, k0), hi=(n, n, k1))
        for step, field in enumerate(fields):
            mine = np.arange((rank + step) % ranks, places.shape[1], ranks)
            session.set_block_list("stars", rank, len(mine), len(mine))
            session.publish("density", rank, np.ascontiguousarray(field[k0:k1]))
            session.publish("place", rank, np.ascontiguousarray(places[step][mine]))
            session.publish("number", rank, mine.astype(np.int64) * 1000003 % 7919)
            session.publish("weight", rank, weights[mine])
            session.end_iteration(step, float(step))
