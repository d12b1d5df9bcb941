"""Publishes in each iteration what is needed. test_needed.py checks when that is.

Usage: mpirun -n RANKS needed.py CONFIGURATION
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI


def letter(flag):
    return "T" if flag else "F"


with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        rank = session.comm.Get_rank()
        session.set_block("grid", rank, [rank], [rank + 1])
        session.start()
        for step in range(20):
            often = session.is_needed("often")
            rarely = session.is_needed("rarely", np.int32(10 * step))
            if often:
                session.publish("often", rank, np.array([float(rank)]))
            if rarely:
                session.publish("rarely", rank, np.array([float(rank)]))
            if rank == 0:
                print(step, letter(session.is_needed("idle")), letter(often), letter(rarely), flush=True)
            session.end_iteration(10 * step, float(step))
        try:
            session.is_needed("oftn")
        except sidestream.Error as error:
            assert "did you mean 'often'" in str(error), error
        else:
            raise AssertionError("a misspelt name was taken")
