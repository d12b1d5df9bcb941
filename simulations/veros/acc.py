#!/usr/bin/env python3
"""The setup `acc` of the ocean model Veros, and the lines (marked S) that give its fields to Sidestream.

Usage: mpirun -n RANKS python3 acc.py CONFIGURATION DAYS [RANKS_X RANKS_Y]

RANKS_X times RANKS_Y processes simulate (1 and 1 if not given); more are servers, as the configuration says.
"""

import sys

import sidestream  # S
from mpi4py import MPI

INSIDE = slice(2, -2)  # Veros has two ghost cells at either end of x and y


def faces(middles, upper):
    """S: where all faces of cells are; Veros lists of each cell its middle and the upper one."""
    return [2 * middles[0] - upper[0], *upper]


def describe(session, vs, settings):
    """S: this rank's cells and where they are."""
    from veros import distributed, runtime_state

    nx, ny = distributed.get_chunk_size(settings.nx, settings.ny)
    i, j = (n * size for n, size in zip(distributed.proc_rank_to_index(runtime_state.proc_rank), (nx, ny), strict=True))
    x, y, z = faces(vs.xt[INSIDE], vs.xu[INSIDE]), faces(vs.yt[INSIDE], vs.yu[INSIDE]), faces(vs.zt, vs.zw)
    lo, hi = (i, j, 0), (i + nx, j + ny, settings.nz)
    session.set_rectilinear_block("ocean", runtime_state.proc_rank, lo, hi, x, y, z)
    session.start()


def publish(session, vs):
    """S: the arrays as they are, [x, y, z, time level]."""
    from veros import runtime_state

    for name in ("temp", "u", "v"):
        now = getattr(vs, name)[INSIDE, INSIDE, :, vs.tau]
        session.publish(name, runtime_state.proc_rank, now)
    session.end_iteration(int(vs.itt), float(vs.time))


def setup_with(session, days):
    """The setup, made after Veros has been told its ranks, which it wants to know when it is imported."""
    from veros import veros_routine
    from veros.setups.acc.acc import ACCSetup

    class Published(ACCSetup):
        @veros_routine
        def set_diagnostics(self, state):
            for diagnostic in state.diagnostics.values():
                diagnostic.output_frequency = diagnostic.sampling_frequency = 0
            state.diagnostics["snapshot"].output_frequency = state.settings.dt_tracer

        @veros_routine
        def after_timestep(self, state):
            publish(session, state.variables)  # S

    setup = Published(override={"runlen": 86400 * days})
    setup.setup()
    describe(session, setup.state.variables, setup.state.settings)  # S
    return setup


def main():
    file, days, shape = sys.argv[1], float(sys.argv[2]), [int(n) for n in sys.argv[3:5] or (1, 1)]
    with sidestream.open_session(MPI.COMM_WORLD, file) as session:  # S
        if session.is_server:  # S
            session.serve()  # S
            return
        from veros import runtime_settings

        runtime_settings.update(mpi_comm=session.comm, num_proc=shape)  # S: instead of MPI.COMM_WORLD
        setup_with(session, days).run()


main()
