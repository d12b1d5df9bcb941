"""The halo of each cell of an octree, or of refinement levels."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Error
from ..opening import open as open_results
from .levels import Levels


def _as_rows(index: NDArray[np.int64]) -> NDArray[Any]:
    """Indices (i, j, k) as single elements that can be sorted."""
    return np.ascontiguousarray(index, np.int64).view([("", np.int64)] * index.shape[1])[:, 0]


def halo_labels(levels: Levels, labels: str | os.PathLike[str]) -> list[NDArray[np.int32]]:
    """Returns for each level an array over its cells, in the order of `levels[n]["i"]`: the number of the halo in the
    table of halos, -1 where there is none and in cells that finer ones cover. `labels` is the file that `labels` of the
    analysis `halos` wrote for the same iteration. Labels of cells that `levels` lacks, because it was opened with
    `deepest`, are left out."""
    read = open_results(labels, into="numpy")
    axes = "ijk"[: levels.mesh.dimensions]
    missing = [name for name in ("halo", "level", *axes) if name not in read]
    if missing:
        raise Error(
            f"'{labels}' has no '{missing[0]}': there is no label of levels in it; expected what `labels` of the "
            "analysis `halos` writes of octrees and refinement levels"
        )
    on, halo = np.asarray(read["level"][...]), np.asarray(read["halo"][...], np.int32)
    index = np.stack([np.asarray(read[axis][...], np.int64) for axis in axes], 1)
    found = []
    for number in range(len(levels)):
        cells = levels.cells[number]
        result = np.full(len(cells.index), -1, np.int32)
        here = on == number
        own, wanted = _as_rows(cells.index[:, : len(axes)]), _as_rows(index[here])
        order = np.argsort(own)
        at = np.searchsorted(own, wanted, sorter=order)
        inside = at < len(own)
        at = order[at[inside]]
        same = own[at] == wanted[inside]
        result[at[same]] = halo[here][inside][same]
        found.append(result)
    return found
