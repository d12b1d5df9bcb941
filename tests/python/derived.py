"""Publishes random numbers on meshes of every structured kind, for variables derived from them.

Usage: mpirun -n RANKS derived.py CONFIGURATION BLOCKS
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

STEPS = 2
# Cells of each mesh; the last axis is cut.
MESHES = {
    "uneven": (7, 6, 9),
    "ring": (8, 10),
    "around": (9,),
    "polar": (12, 9),
    "bent": (5, 4, 7),
    "single": (1,),
    "levels": (8, 6),
}
NAMES = {
    "a": ("uneven", "float64", 1, 0),
    "n": ("uneven", "float64", 3, 1),
    "whole": ("uneven", "int32", 1, 0),
    "short": ("uneven", "float32", 1, 0),
    "rare": ("uneven", "float64", 1, 0),
    "holed": ("uneven", "float64", 1, 0),
    "flow": ("ring", "float64", 2, 0),
    "wind": ("ring", "float64", 3, 1),
    "b": ("around", "float64", 1, 0),
    "p": ("polar", "float64", 1, 0),
    "q": ("bent", "float64", 1, 1),
    "s": ("single", "float64", 1, 0),
    "coarse": ("levels", "float64", 1, 0),
}
PATCH = ((4, 2), (12, 10))  # cells of level 1


def shape_of(name):
    mesh, _, components, nodes = NAMES[name]
    shape = tuple(n + nodes for n in reversed(MESHES[mesh]))
    return shape if components == 1 else (*shape, components)


def values(name, step):
    """Of the whole mesh, x last."""
    seed = sum(map(ord, name)) + 1000 * step
    numbers = 10 * np.random.default_rng(seed).random(shape_of(name)) - 5
    if name == "a" and step:
        numbers[2, 3, 4] = np.nan
    return numbers.astype(NAMES[name][1])


def fine(step):
    shape = tuple(hi - lo for lo, hi in zip(*PATCH, strict=True))[::-1]
    return np.random.default_rng(7 + step).random(shape)


def places(mesh):
    """Of the nodes, x last, with a component for each axis."""
    axes = np.meshgrid(*[np.arange(n + 1.0) for n in reversed(MESHES[mesh])], indexing="ij")
    if mesh == "polar":
        angle, radius = axes[0] * 0.5, 1 + 0.1 * axes[1] + 0.01 * axes[1] ** 2
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1)
    z, y, x = axes
    return np.stack([x + 0.2 * y + 0.01 * z * z, 0.8 * y - 0.1 * x + 0.02 * x * y, 1.1 * z + 0.05 * x * y], -1)


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
                    unpublished = (name == "rare" and step == 0) or (name == "holed" and b == 0)
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
