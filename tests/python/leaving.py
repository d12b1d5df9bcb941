"""The last client leaves its loop by an exception between `publish` and `end_iteration`. The others go on.

Usage: mpirun -n RANKS leaving.py CONFIGURATION. Prints the account of each client.
"""

import contextlib
import sys

import numpy as np
import sidestream
from mpi4py import MPI

with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        rank, size = session.comm.Get_rank(), session.comm.Get_size()
        session.set("n", size)
        session.set_block("grid", rank, [rank], [rank + 1])
        with contextlib.suppress(ZeroDivisionError):
            for step in range(3):
                session.publish("t", rank, np.array([rank + 0.5]))
                if step == 1 and rank == size - 1:
                    1 / 0  # noqa: B018
                session.end_iteration(step, float(step))
        account = session.close()
        print(f"client {rank}: {account.iterations} {account.delivered} {account.refused}", flush=True)
