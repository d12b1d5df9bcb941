"""The declarations of a session, as analyses in Python see them."""

from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Index = tuple[int, ...]
Box = tuple[Index, Index]  # lo and hi: half-open, in (i, j, k)


def slices(box: Box, origin: Index, axes: int, order: str) -> tuple[slice, ...]:
    """The slices of a box in an array that begins at `origin`, along the array's axes."""
    parts = [slice(box[0][a] - origin[a], box[1][a] - origin[a]) for a in range(axes)]
    return tuple(parts if order == "row" else reversed(parts))


@dataclass(frozen=True)
class Variable:
    """A declared variable."""

    name: str
    mesh: str
    type: str  #: a dtype's name: float64
    centering: str  #: cell, node, x-face, ...
    components: int
    order: str  #: column or row
    unit: str
    label: str
    role: str  #: its role for its mesh; none: values on it
    points: Box  #: all of its points on level 0; empty for lists


class Roots(NamedTuple):
    """The root cells of an octree, along x, y and z."""

    cells: Index  #: their number; 1 on axes that the mesh does not use
    origin: tuple[float, ...]
    spacing: tuple[float, ...]  #: the size of each


@dataclass(frozen=True)
class Mesh:
    """A declared mesh."""

    name: str
    kind: str  #: uniform, rectilinear, curvilinear, unstructured, points, octree
    dimensions: int
    axes: int  #: number of axes of arrays on it
    is_list: bool
    cells: Box  #: all cells of level 0
    nodes: tuple[NDArray[np.float64], ...] | None  #: along each axis, for uniform and rectilinear meshes
    refinement: tuple[Index, ...]  #: from each level to the next
    roots: Roots | None = None  #: of an octree

    def positions(self, variable: Variable, lo: Index, hi: Index, level: int) -> tuple[NDArray[np.float64], ...]:
        """Positions of the points of a variable along each axis."""
        if self.nodes is None:
            raise ValueError(
                f"'{variable.name}' lies on the {self.kind} mesh '{self.name}', which has no axes; where its "
                "points are is in `arrays`"
            )
        return tuple(self._along(axis, variable, lo[axis], hi[axis], level) for axis in range(self.dimensions))

    def _along(self, axis: int, variable: Variable, lo: int, hi: int, level: int) -> NDArray[np.float64]:
        at_nodes = variable.points[1][axis] > self.cells[1][axis]
        nodes = self.nodes_of(axis, lo, hi if at_nodes else hi + 1, level)
        return nodes if at_nodes else 0.5 * (nodes[:-1] + nodes[1:])

    def nodes_of(self, axis: int, lo: int, hi: int, level: int) -> NDArray[np.float64]:
        """Positions of the nodes lo to hi (not included) of a level along an axis, of a mesh with axes."""
        assert self.nodes is not None
        nodes, first = self.nodes[axis], self.cells[0][axis]
        ratio = prod(step[axis] for step in self.refinement[:level])
        if ratio == 1:
            return nodes[lo - first : hi - first]
        fine = np.arange(lo, hi)
        coarse, part = fine // ratio - first, fine % ratio
        above = np.minimum(coarse + 1, len(nodes) - 1)
        return nodes[coarse] + (nodes[above] - nodes[coarse]) * part / ratio


def read(
    declarations: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> tuple[dict[str, Mesh], dict[str, Variable]]:
    """Meshes and variables by name, from what the library passes."""
    meshes = {}
    for given in declarations[0]:
        nodes = given["nodes"]
        arrays = None if nodes is None else tuple(np.array(axis, np.float64) for axis in nodes)
        for axis in arrays or ():
            axis.flags.writeable = False
        roots = None if given["roots"] is None else Roots(*given["roots"])
        made = {**given, "nodes": arrays, "refinement": tuple(given["refinement"]), "roots": roots}
        meshes[given["name"]] = Mesh(**made)
    return meshes, {given["name"]: Variable(**given) for given in declarations[1]}
