"""Publishes an octree that is refined where a shell of gas is, in one domain a rank.

mpirun -n 3 python3 blast.py RESULTS
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

DEEPEST = 6


def refined(level, lo, edge):
    """Cells that the shell of radius 0.3 passes through."""
    near = np.linalg.norm(np.maximum(np.abs(lo + edge / 2 - 0.5) - edge / 2, 0), axis=1)
    far = np.linalg.norm(np.abs(lo + edge / 2 - 0.5) + edge / 2, axis=1)
    return (level < 2) | ((level < DEEPEST) & (near < 0.31) & (far > 0.29))


def tree(rank, size):
    """Flags and values level by level; below level 1 a rank only has the cells in its own octants."""
    split, mine, density = [], [], []
    lo = np.zeros((1, 3))
    steps = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)])
    for level in range(DEEPEST + 1):
        edge = 0.5**level
        octant = (lo + edge / 2 > 0.5) @ np.array([1, 2, 4])
        own = octant % size == rank
        flags = refined(level, lo, edge) & (own if level else True)
        radius = np.linalg.norm(lo + edge / 2 - 0.5, axis=1)
        split.append(flags)
        mine.append(own & ~flags)
        density.append(0.2 + 4 * np.exp(-(((radius - 0.3) / 0.04) ** 2)) + 0.5 * (radius > 0.3))
        lo = (lo[flags][:, None] + steps * edge / 2).reshape(-1, 3)
    return [np.concatenate(parts) for parts in (split, mine, density)]


with sidestream.open_session(
    MPI.COMM_WORLD,
    text=f"""\
placement: inline
output: {{directory: {sys.argv[1]}}}
meshes: {{tree: {{type: octree, size: [1, 1, 1], spacing: 1, refined: split, owned: mine}}}}
variables:
  split: {{mesh: tree, type: uint8}}
  mine: {{mesh: tree, type: uint8}}
  density: {{mesh: tree, type: float32, unit: g/cm3}}
outputs: [database: {{directory: data, kind: post}}]
""",
) as session:
    arrays = tree(session.comm.rank, session.comm.size)
    session.set_block_list("tree", session.comm.rank, 0, len(arrays[0]))
    session.start()
    for name, values in zip(("split", "mine", "density"), arrays, strict=True):
        session.publish(name, session.comm.rank, values.astype("f4" if name == "density" else "u1"))
    session.end_iteration(0, 0.0)
