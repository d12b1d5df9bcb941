"""Publishes random numbers on meshes of every structured kind, for variables derived from them.

Usage: mpirun -n RANKS derived.py CONFIGURATION BLOCKS
"""

import sys

import sidestream
from derived_values import MESHES, NAMES, PATCH, STEPS, fine, places, values
from mpi4py import MPI


def main():
    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
        if session.is_server:
            return session.serve()
        ranks, rank, each = session.comm.Get_size(), session.comm.Get_rank(), int(sys.argv[2])
        parts = ranks * each
        mine = [b for b in range(parts) if b % ranks == rank]
        cuts = {}
        for mesh, cells in MESHES.items():
            for b in mine:  # ids run against the direction of the parts
                cuts[mesh, b] = (cells[-1] * b // parts, cells[-1] * (b + 1) // parts)
                lo = (*[0] * (len(cells) - 1), cuts[mesh, b][0])
                session.set_block(mesh, parts - 1 - b, lo, (*cells[:-1], cuts[mesh, b][1]))
        (x0, y0), (x1, y1) = PATCH
        rows = {b: (y0 + (y1 - y0) * b // parts, y0 + (y1 - y0) * (b + 1) // parts) for b in mine}
        for b, (first, last) in rows.items():
            session.set_block("levels", parts + b, (x0, first), (x1, last), level=1)
        session.start()
        for step in range(STEPS):
            for name, (mesh, _, _, nodes) in NAMES.items():
                everything = values(name, step)
                for b in mine:
                    first, last = cuts[mesh, b]
                    unpublished = (name == "rare" and step == 0) or (name == "holed" and b == parts // 2)
                    if first < last and not unpublished:
                        session.publish(name, parts - 1 - b, everything[first : last + nodes].copy())
            for mesh in ("polar", "bent"):
                for b in mine:
                    first, last = cuts[mesh, b]
                    if first < last:
                        session.publish(f"{mesh}_places", parts - 1 - b, places(mesh)[first : last + 1].copy())
            for b, (first, last) in rows.items():
                if first < last:
                    session.publish("coarse", parts + b, fine(step)[first - y0 : last - y0].copy())
            session.end_iteration(step, 0.5 * step)
    return None


if __name__ == "__main__":
    main()
