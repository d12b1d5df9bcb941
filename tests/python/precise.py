"""Publishes values of all kinds, odd ones too, from any number of ranks: see test_precision.py. The first of several
ranks has no particles.

Usage: mpirun -n RANKS precise.py CONFIGURATION
"""

import sys

import numpy as np

SIZES = {"body": (13, 9, 14), "plane": (17, 11), "line": (23,)}  # i, j, k
PARTICLES = 40
STEPS = 2
# name: mesh, type, centering, components, order
VARIABLES = {
    "wave": ("body", "float64", "cell", 1, "column"),
    "holes": ("body", "float64", "cell", 1, "column"),  # has NaN
    "endless": ("body", "float64", "cell", 1, "column"),  # is infinite once, in the last iteration
    "velocity": ("body", "float32", "node", 3, "row"),
    "flat": ("plane", "float64", "cell", 1, "column"),
    "narrow": ("plane", "float64", "node", 1, "column"),  # a range of 1e-13
    "vast": ("line", "float64", "cell", 1, "column"),  # up to 1e300
    "small": ("line", "float32", "cell", 1, "column"),  # normal and subnormal numbers
    "number": ("body", "int32", "cell", 1, "column"),
    "mass": ("cloud", "float32", "cell", 1, "column"),
    "places": ("cloud", "float64", "node", 3, "column"),
}


def extents(name):
    """The numbers of points along i, j, k, as far as the mesh has these axes."""
    mesh, _, centering, *_ = VARIABLES[name]
    return (PARTICLES,) if mesh == "cloud" else tuple(n + (centering == "node") for n in SIZES[mesh])


def values(name, step):
    """All values, in the order [k, j, i(, component)], whatever order the variable has."""
    _, dtype, _, components, _ = VARIABLES[name]
    places = np.indices(extents(name)[::-1])[::-1].astype(float)
    i, j, k = (*places, 0, 0)[:3]
    wave = np.sin(0.21 * i + step) * np.cos(0.13 * j) + 0.02 * k
    chosen = {
        "holes": lambda: np.where((i + 2 * j + k) % 7 == 3, np.nan, 40 * wave),
        "endless": lambda: np.where((i == 4) & (j == 2) & (k == 3) & (step == STEPS - 1), np.inf, wave),
        "flat": lambda: np.full_like(i, 0.1),
        "narrow": lambda: 1 + 1e-13 * (0.5 + 0.5 * np.sin(i + 0.7 * j)),
        "vast": lambda: 1e300 * np.sin(i + 1),
        "small": lambda: 1e-45 * 10 ** (0.5 * i),
        "number": lambda: i + 100 * j + 10000 * k,
        "mass": lambda: 1 + np.sin(i) ** 2,
        "places": lambda: 3 * np.cos(i),
    }
    whole = chosen.get(name, lambda: wave)()
    if components > 1:
        whole = np.stack([whole + 0.3 * c for c in range(components)], -1)
    return whole.astype(dtype)


def main():
    import sidestream
    from mpi4py import MPI

    session = sidestream.open_session(MPI.COMM_WORLD, sys.argv[1])
    if session.is_server:
        session.serve()
        return
    rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
    parts = {}
    for mesh, size in SIZES.items():
        parts[mesh] = (size[-1] * rank // ranks, size[-1] * (rank + 1) // ranks)
        lo, hi = ((0,) * (len(size) - 1) + (parts[mesh][0],), (*size[:-1], parts[mesh][1]))
        session.set_block(mesh, rank, lo, hi)
    others = max(ranks - 1, 1)
    first = max(rank - 1, 0) if ranks > 1 else 0
    parts["cloud"] = (PARTICLES * first // others, PARTICLES * (first + (rank > 0 or ranks == 1)) // others)
    count = parts["cloud"][1] - parts["cloud"][0]
    session.set_block_list("cloud", rank, count, count)
    session.start()
    for step in range(STEPS):
        for name, (mesh, _, centering, _, order) in VARIABLES.items():
            lo, hi = parts[mesh]
            own = values(name, step)[lo : hi + (centering == "node" and mesh != "cloud")]
            if order == "row":
                own = np.moveaxis(own, range(3), (2, 1, 0))
            session.publish(name, rank, np.ascontiguousarray(own))
        session.end_iteration(step, 0.5 * step)
    session.close()


if __name__ == "__main__":
    main()
