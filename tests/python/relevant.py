"""Publishes boxes of cells in blocks that do not depend on the number of ranks, for the analysis `relevance`.

Usage: mpirun -n RANKS relevant.py CONFIGURATION
"""

import sys

import numpy as np
import sidestream

STEPS = 5
ABSENT = 3  # the step in which nobody publishes
SPACING = (0.5, 0.25, 1.0)
# : By mesh: cells, and the cuts along each axis, between which the blocks are. `column` is rectilinear.
MESHES = {
    "grid": ((13, 10, 9), ((0, 5, 6, 13), (0, 4, 10), (0, 8, 9))),
    "plane": ((17, 12), ((0, 3, 4, 9, 17), (0, 1, 12))),
    "line": ((23,), ((0, 1, 6, 15, 23),)),
    "column": ((6, 7, 8), ((0, 3, 6), (0, 7), (0, 3, 8))),
}
TYPES = {"grid": "f8", "plane": "f4", "line": "i2", "column": "f8"}


def nodes(mesh, axis):
    """Positions along an axis."""
    n = np.arange(MESHES[mesh][0][axis] + 1)
    return n * SPACING[axis] if mesh != "column" else n + 0.1 * (axis + 1) * n**2


def blocks(mesh, step):
    """Boxes, as lower and upper corners, by id: ids run backwards. From step 2 on the second and the last one are gone,
    and in `plane` all have gone in the last step."""
    cuts = MESHES[mesh][1]
    corners = np.array(np.meshgrid(*[np.arange(len(c) - 1) for c in cuts], indexing="ij")).reshape(len(cuts), -1).T
    boxes = [tuple(zip(*[(c[n], c[n + 1]) for c, n in zip(cuts, at, strict=True)], strict=True)) for at in corners]
    every = {len(boxes) - 1 - n: box for n, box in enumerate(boxes)}
    if mesh == "plane" and step == STEPS - 1:
        return {}
    return {n: box for n, box in sorted(every.items()) if step < 2 or n not in (1, len(boxes) - 1)}


def values(mesh, step):
    """Values of all cells, the first axis last: calm in most places, rough in some; odd ones in step 1."""
    cells = MESHES[mesh][0]
    centres = [0.5 * (nodes(mesh, a)[1:] + nodes(mesh, a)[:-1]) for a in range(len(cells))]
    x = np.meshgrid(*centres[::-1], indexing="ij")[::-1]
    rough = np.random.default_rng(step).random(cells[::-1])
    field = np.sin(0.7 * x[0] + step) + np.where(x[0] > nodes(mesh, 0)[-1] / 2, rough, 0)
    for other in x[1:]:
        field = field * np.cos(0.4 * other) + 0.1
    if TYPES[mesh] == "i2":
        return np.round(1000 * field).astype("i2")
    field = field.astype(TYPES[mesh])
    if step == 1 and mesh != "column":
        field.flat[3], field.flat[-5] = np.nan, np.inf
    if step == 2 and mesh == "column":
        field[...] = 1 / 3
    return field


def part(field, box):
    return field[tuple(slice(lo, hi) for lo, hi in zip(*box, strict=True))[::-1]]


def simulate(session):
    rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
    for mesh, (cells, _) in MESHES.items():
        if mesh == "column":
            session.add_rectilinear_mesh(mesh, [nodes(mesh, a) for a in range(3)])
        else:
            session.add_uniform_mesh(mesh, cells, spacing=list(SPACING[: len(cells)]))
        session.add_variable(mesh[0], mesh, TYPES[mesh])
    for step in range(STEPS):
        for mesh in MESHES:
            mine = {n: box for n, box in blocks(mesh, step).items() if n % ranks == rank}
            session.replace_blocks(mesh, list(mine), [b[0] for b in mine.values()], [b[1] for b in mine.values()])
            for n, box in mine.items():
                if step == ABSENT:
                    continue
                array = np.ascontiguousarray(part(values(mesh, step), box))
                assert session.publish(mesh[0], n, array), session.message
        assert session.end_iteration(step, float(step)), session.message


if __name__ == "__main__":
    from mpi4py import MPI  # not in the tests, which start mpirun

    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as opened:
        if opened.is_server:
            opened.serve()
        else:
            simulate(opened)
