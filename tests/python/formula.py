"""The values that the programs here publish, by position and step."""

import numpy as np

NX, NY, NZ, STEPS = 7, 8, 6, 2

# mesh, type, centering, components, order; the meshes `plane` and `line` are declared in the configuration
VARIABLES = {
    "ghosts": ("box", "float64", "cell", 1, "column"),
    "nodes": ("box", "float32", "node", 1, "column"),
    "bytes": ("box", "int8", "cell", 1, "column"),
    "shorts": ("box", "int16", "x-face", 1, "column"),
    "ints": ("box", "int32", "cell", 1, "row"),
    "longs": ("box", "int64", "cell", 1, "column"),
    "last": ("box", "float64", "cell", 3, "column"),
    "first": ("box", "float32", "cell", 2, "column"),
    "middle": ("box", "float64", "cell", 2, "row"),
    "rows": ("box", "uint32", "cell", 2, "row"),
    "lone": ("box", "float64", "cell", 1, "row"),
    "corners": ("plane", "float64", "node", 1, "column"),
    "pairs": ("plane", "int16", "cell", 2, "row"),
    "unsigned": ("line", "uint8", "cell", 1, "column"),
    "big": ("line", "uint64", "cell", 1, "row"),
    "placed": ("box", "float64", "cell", 1, "column"),
    "placed_rows": ("box", "uint16", "cell", 2, "row"),
    "placed_flat": ("plane", "float32", "cell", 3, "column"),
}
CENTERED = {"cell": (0, 0, 0), "node": (1, 1, 1), "x-face": (1, 0, 0)}
SIZES = {"box": (NX, NY, NZ), "plane": (NX, NY), "line": (NX,)}


def values(name, lo, hi, step):
    """Values at the points lo <= index < hi, with the axes [k, j, i] or, in row order, [i, j, k], and components."""
    _, dtype, _, components, order = VARIABLES[name]
    axes = [np.arange(a, b) for a, b in zip(lo, hi, strict=True)]
    every = np.full([len(axis) for axis in axes], 10 * step)
    for n, (axis, factor) in enumerate(zip(axes, (1, 20, 400), strict=False)):
        every += factor * axis.reshape([-1 if m == n else 1 for m in range(len(axes))])
    if order == "column":
        every = every.T
    if components > 1:
        every = every[..., np.newaxis] + 8000 * np.arange(components)
    return every % 100 if dtype in ("int8", "uint8") else every


def whole(name, step):
    """Values over the whole mesh."""
    mesh, dtype, centering, *_ = VARIABLES[name]
    hi = [n + more for n, more in zip(SIZES[mesh], CENTERED[centering], strict=False)]
    return values(name, [0] * len(hi), hi, step).astype(dtype)
