"""A slice of an octree or a mesh with refinement levels, with the edges of its cells.

python3 draw.py RESULTS/data VARIABLE PICTURE [AXIS [POSITION [MESH [REGION]]]]

REGION: what is drawn of the plane, as FROM,TO,FROM,TO; everything if left out.
"""

import sys

import matplotlib
import numpy as np
import sidestream

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.collections import PolyCollection


def cells_in(levels, variable, axis, position):
    """Corners and values of the cells that the plane cuts, each place once."""
    others, corners, values = [n for n in range(3) if n != axis], [], []
    for number, cells in enumerate(levels.cells):
        spacing = levels.spacing(number)
        low = levels.mesh.origin + cells.index * spacing
        cut = cells.counted & (low[:, axis] <= position) & (position < low[:, axis] + spacing[axis])
        (a, b), (da, db) = low[cut][:, others].T, spacing[others]
        corners.append(np.stack([[a, b], [a + da, b], [a + da, b + db], [a, b + db]]).transpose(2, 0, 1))
        values.append(levels.values(variable, number, cut))
    return np.concatenate(corners), np.concatenate(values)


def main(path, variable, picture, axis="z", position="0.5", mesh=None, region=None):
    levels = sidestream.open(path, into="levels", mesh=mesh)
    corners, values = cells_in(levels, variable, "xyz".index(axis), float(position))
    figure, axes = pyplot.subplots(figsize=(6.4, 5.2), layout="constrained")
    drawn = PolyCollection(corners, array=values, cmap="inferno", edgecolors=(0.6, 0.6, 0.6), linewidths=0.25)
    axes.add_collection(drawn)
    axes.autoscale()
    if region:
        left, right, bottom, top = map(float, region.split(","))
        axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_aspect("equal")
    across, up = (name for name in "xyz" if name != axis)
    axes.set(xlabel=across, ylabel=up, title=f"{variable} at {axis} = {position}, {len(values)} cells")
    unit = levels.variables[variable].unit
    figure.colorbar(drawn, label=f"{variable} ({unit})" if unit else variable)
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
