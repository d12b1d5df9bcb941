"""The smallest program that publishes: a box of numbers, in planes. The same in hello.c, hello.cpp and hello.f90."""

import numpy as np
import sidestream
from mpi4py import MPI

NX, NY, NZ, STEPS = 6, 5, 8, 3


def greet(session):
    rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
    k0, k1 = NZ * rank // ranks, NZ * (rank + 1) // ranks
    session.set("nx", NX)
    session.set("ny", NY)
    session.set("nz", NZ)
    session.set_block("box", rank, lo=(0, 0, k0), hi=(NX, NY, k1))
    session.start()
    k, j, i = np.ogrid[k0:k1, 0:NY, 0:NX]
    for step in range(STEPS):
        session.publish("greeting", rank, (i + 10 * j + 100 * k + 1000 * step) / 3)
        session.end_iteration(step, 0.5 * step)


with sidestream.open_session(MPI.COMM_WORLD, "run.yaml") as session:
    if session.is_server:
        session.serve()
    else:
        greet(session)
