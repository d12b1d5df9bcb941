"""Publishes a field with planted values, in slabs along x; the last client has none, if there are several.

Usage: mpirun -n RANKS watched.py CONFIGURATION KIND STEPS [REFUSED ...] [free=STEP]. In the REFUSED iterations the
first client publishes twice, so that they are refused. With `free` a file takes the place of the directory
`results/box` up to that step, so that nothing can be written there. The parameter `stop` ends the loop, as does an
order to end.
"""

import contextlib
import sys
from pathlib import Path

import numpy as np

SHAPE = (9, 6, 5)
SPACING = (0.25, 0.5, 1.0)


def field(kind, step):
    """The whole field: random, narrow (a range of 1e-13), constant, odd (with NaN and infinite values) or planted (a
    NaN in one cell from step 6 on)."""
    values = np.random.default_rng(step).normal(size=SHAPE)
    if kind == "narrow":
        values = 1 + 1e-13 * np.random.default_rng(step).random(SHAPE)
    elif kind == "constant":
        values = np.full(SHAPE, -2.5)
    elif kind == "odd":
        values[2, 3, 1] = np.nan
        values[step % 9, 0, 0] = np.inf
        values[8, 5, 4] = -np.inf
    elif kind == "planted" and step >= 6:
        values[7, 2, 3] = np.nan
    return values


def main():
    import sidestream
    from mpi4py import MPI

    steered = "steering:" in Path(sys.argv[1]).read_text()
    kind, steps = sys.argv[2], int(sys.argv[3])
    refused = [int(step) for step in sys.argv[4:] if "=" not in step]
    free = [int(word.removeprefix("free=")) for word in sys.argv[4:] if "=" in word]
    blocker = Path(sys.argv[1]).parent / "results/box"
    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
        if session.is_server:
            session.serve()
            return
        rank, size = session.comm.Get_rank(), session.comm.Get_size()
        parts = max(1, size - 1)
        low, high = rank * 9 // parts, (rank + 1) * 9 // parts
        if rank < parts:
            session.set_block("grid", rank, (low, 0, 0), (high, 6, 5))
        session.start()
        if rank == 0 and free:
            blocker.touch()
        session.comm.barrier()
        for step in range(steps):
            if rank == 0 and step in free:
                blocker.unlink()
            if rank < parts:
                session.publish("t", rank, np.ascontiguousarray(field(kind, step)[low:high]))
            if rank == 0 and step in refused:
                with contextlib.suppress(sidestream.Error):
                    session.publish("t", rank, np.zeros((high - low, 6, 5)))
            session.end_iteration(step, 0.5 * step)
            if session.should_end or (steered and session.get_int("stop")):
                break
        if rank == 0:
            print(f"steps {step + 1}", flush=True)


if __name__ == "__main__":
    main()
