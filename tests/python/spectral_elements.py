"""Publishes a field on spectral elements; see tests/support/spectral.py, whose folder is the second argument.

Usage: mpirun -n RANKS spectral_elements.py FOLDER CONFIGURATION
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

sys.path.insert(0, sys.argv[1])
import spectral


def simulate(session):
    rank, size = session.comm.Get_rank(), session.comm.Get_size()
    mine = np.flatnonzero(spectral.owners(size) == rank)[::-1]
    session.add_spectral_mesh("elements", 3)
    x, y, z = np.moveaxis(spectral.places()[mine], 1, 0)
    session.set_spectral_block("elements", rank, spectral.ORDER, x, y, z, numbers=mine)
    session.start()
    u = spectral.field(np.stack([x, y, z]))
    if rank == 0:
        try:
            session.set_spectral_block("elements", rank, 3, x[:, :-1], y, z)
        except sidestream.Error as error:
            assert "expected as many of each" in str(error)
    for step in range(1):
        assert session.publish_values("u", rank, u)
        assert session.end_iteration(step, 0.0)


with sidestream.open_session(MPI.COMM_WORLD, sys.argv[2]) as session:
    if session.is_server:
        session.serve()
    else:
        simulate(session)
