"""The meshes and values that write_sample.cpp writes, as arrays [k, j, i(, component)]."""

import numpy as np

BOX_LO, BOX_HI = (2, -1, 3), (15, 6, 8)
ORIGIN, SPACING = (0.5, -1.0, 2.0), (0.1, 0.25, 0.5)
STRETCHED_LO, STRETCHED_HI = (0, 0, 0), (6, 4, 3)
NODES = ([0, 1, 2, 4, 8, 16, 32], [-1, 0, 2, 3, 9], [0, 0.5, 2, 2.25])
ITERATIONS = [(index, 10 * index, 0.5 * index) for index in range(3)]

# name: mesh, type, centering, components, order
VARIABLES = {
    "temperature": ("box", "float64", "cell", 1, "column"),
    "velocity": ("box", "float32", "cell", 3, "column"),
    "marker": ("box", "int32", "node", 1, "column"),
    "flux": ("box", "float64", "node", 2, "row"),
    "density": ("stretched", "uint8", "cell", 1, "row"),
    "level": ("stretched", "int16", "node", 1, "column"),
}


def bounds(name):
    """The lowest index of the variable's points along i, j, k, and one more than the highest."""
    mesh, _, centering, *_ = VARIABLES[name]
    lo, hi = (BOX_LO, BOX_HI) if mesh == "box" else (STRETCHED_LO, STRETCHED_HI)
    return lo, tuple(h + (centering == "node") for h in hi)


def values_at(name, step, lo, hi):
    """The values in the box lo <= (i, j, k) < hi."""
    mesh, dtype, _, components, _ = VARIABLES[name]
    i, j, k = (np.arange(a, b) for a, b in zip(lo, hi, strict=True))
    factors = (1, 100, 10000) if mesh == "box" else (1, 10, 50)
    place = factors[2] * k[:, None, None] + factors[1] * j[:, None] + factors[0] * i + step
    if components > 1:
        place = place[..., None] + np.arange(components)
    return place.astype(dtype)


def values(name, step):
    """All values of a variable."""
    return values_at(name, step, *bounds(name))
