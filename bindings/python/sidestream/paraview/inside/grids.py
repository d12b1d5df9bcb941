"""VTK's objects of meshes that `gathered` or `sidestream.vtk` describes. Arrays are not copied: VTK holds on to them.

Runs in ParaView's interpreter, which has nothing else of this package, and on servers.
"""

from typing import Any

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkBitArray, vtkPoints, vtkTypeInt32Array, vtkTypeInt64Array
from vtkmodules.vtkCommonDataModel import (
    vtkAMRBox,
    vtkAMRUtilities,
    vtkCellArray,
    vtkHyperTreeGrid,
    vtkHyperTreeGridNonOrientedCursor,
    vtkImageData,
    vtkOverlappingAMR,
    vtkPolyData,
    vtkRectilinearGrid,
    vtkStructuredGrid,
    vtkUniformGrid,
    vtkUnstructuredGrid,
)

_PLANE, _GRID = 5, 8  # VTK_XY_PLANE and VTK_XYZ_GRID, whose names differ between versions


def grid_of(mesh: dict[str, Any], arrays: list[Any]) -> Any:
    """The object of a mesh: vtkImageData, vtkRectilinearGrid, vtkStructuredGrid, vtkUnstructuredGrid, vtkPolyData of
    particles, vtkHyperTreeGrid, or vtkOverlappingAMR."""
    if mesh["kind"] == "levels":
        return _levels(mesh, arrays)
    grid = _MAKERS[mesh["kind"]](mesh, arrays)
    _add_fields(grid, mesh["fields"], arrays)
    return grid


def _vtk(array: Any, name: str = "") -> Any:
    made = numpy_to_vtk(array)
    made.SetName(name)
    _hold(made, array)
    return made


def _hold(made: Any, array: Any) -> None:
    """Keeps NumPy's array as long as VTK has its memory, and no longer.

    The reference that numpy_to_vtk makes is an attribute, which VTK 9.3 keeps for some time after the object has gone.
    An observer goes with the object. In VTK 9.7 it is one of the memory, which arrays share.
    """
    owner = made.GetBuffer() if hasattr(made, "GetBuffer") else made
    vars(owner).pop("_numpy_reference", None)
    owner.AddObserver("DeleteEvent", lambda *_, kept=array: None)


def _add_fields(grid: Any, fields: list[dict[str, Any]], arrays: list[Any]) -> None:
    for field in fields:
        to = grid.GetCellData() if field["at"] == "cell" else grid.GetPointData()
        size = grid.GetNumberOfCells() if field["at"] == "cell" else grid.GetNumberOfPoints()
        array = arrays[field["array"]]
        if size == 0:
            continue
        to.AddArray(_vtk(array.reshape(size, -1) if array.size != size else array.reshape(-1), field["name"]))


def _extent(mesh: dict[str, Any]) -> list[int]:
    """The numbers of the first and last node along each axis."""
    return [n for a, count in zip(mesh.get("first", (0, 0, 0)), mesh["cells"]) for n in (a, a + count)]  # noqa: B905


def _image(mesh: dict[str, Any], _: list[Any], kind: Any = vtkImageData) -> Any:
    grid = (vtkUniformGrid if mesh.get("refined") else kind)()
    grid.SetExtent(_extent(mesh))
    grid.SetOrigin(mesh["origin"])
    grid.SetSpacing(mesh["spacing"])
    return grid


def _rectilinear(mesh: dict[str, Any], arrays: list[Any]) -> Any:
    grid = vtkRectilinearGrid()
    grid.SetExtent(_extent(mesh))
    axes = [arrays[n] for n in mesh["nodes"]]
    axes += [np.zeros(1)] * (3 - len(axes))
    for axis, place in zip((grid.SetXCoordinates, grid.SetYCoordinates, grid.SetZCoordinates), axes):  # noqa: B905
        axis(_vtk(place))
    return grid


def _points(mesh: dict[str, Any], arrays: list[Any]) -> Any:
    points = vtkPoints()
    points.SetData(_vtk(arrays[mesh["coordinates"]]))
    return points


def _curvilinear(mesh: dict[str, Any], arrays: list[Any]) -> Any:
    grid = vtkStructuredGrid()
    grid.SetExtent(_extent(mesh))
    grid.SetPoints(_points(mesh, arrays))
    return grid


def _cell_array(offsets: Any, links: Any) -> Any:
    wide = links.dtype != np.int32
    cells, arrays = vtkCellArray(), []
    for one in (offsets, links):
        # A type that vtkCellArray keeps as it is; of others it makes arrays on the same memory, which hold nothing.
        made = vtkTypeInt64Array() if wide else vtkTypeInt32Array()
        flat = np.ascontiguousarray(one, np.int64 if wide else np.int32)
        made.SetVoidArray(flat, flat.size, 1)
        _hold(made, flat)
        arrays.append(made)
    cells.SetData(*arrays)
    return cells


def _unstructured(mesh: dict[str, Any], arrays: list[Any]) -> Any:
    grid = vtkUnstructuredGrid()
    grid.SetPoints(_points(mesh, arrays))
    cells = _cell_array(arrays[mesh["offsets"]], arrays[mesh["connectivity"]])
    grid.SetCells(_vtk(arrays[mesh["types"]]), cells)
    return grid


def _particles(mesh: dict[str, Any], arrays: list[Any]) -> Any:
    grid = vtkPolyData()
    grid.SetPoints(_points(mesh, arrays))
    count = grid.GetNumberOfPoints()
    grid.SetVerts(_cell_array(np.arange(count + 1), np.arange(count)))
    return grid


def _bits(flags: Any) -> Any:
    made, packed = vtkBitArray(), np.packbits(flags)
    made.SetVoidArray(packed, len(flags), 1)
    _hold(made, packed)
    return made


def _tree(mesh: dict[str, Any], arrays: list[Any]) -> Any:
    """Trees one after the other: `trees` has the number of each, `depths` the count of its levels, `counts` the cells
    of each level of each; `refined` is of all levels but a tree's deepest one."""
    grid = vtkHyperTreeGrid()
    grid.Initialize()
    axes = [arrays[n] for n in mesh["nodes"]]
    grid.SetDimensions([len(axis) for axis in axes])
    grid.SetBranchFactor(2)
    for axis, place in zip((grid.SetXCoordinates, grid.SetYCoordinates, grid.SetZCoordinates), axes):  # noqa: B905
        axis(_vtk(place))
    refined, counts = _bits(arrays[mesh["refined"]]), arrays[mesh["counts"]].tolist()
    cursor, level, cell, bit = vtkHyperTreeGridNonOrientedCursor(), 0, 0, 0
    for number, depth in zip(arrays[mesh["trees"]].tolist(), arrays[mesh["depths"]].tolist()):  # noqa: B905
        grid.InitializeNonOrientedCursor(cursor, number, True)
        tree, bits = cursor.GetTree(), sum(counts[level : level + depth - 1])
        tree.BuildFromBreadthFirstOrderDescriptor(refined, bits, bit)
        tree.SetGlobalIndexStart(cell)
        cell, bit, level = cell + bits + counts[level + depth - 1], bit + bits, level + depth
    if arrays[mesh["mask"]].any():
        grid.SetMask(_bits(arrays[mesh["mask"]]))
    return grid


def _levels(mesh: dict[str, Any], arrays: list[Any]) -> Any:
    blocks = sorted(mesh["blocks"], key=lambda block: block["level"])
    counts = [sum(block["level"] == n for block in blocks) for n in range(len(mesh["ratios"]) + 1)]
    while counts and counts[-1] == 0:
        counts.pop()
    amr = vtkOverlappingAMR()
    if not blocks:
        return amr
    amr.Initialize(len(counts), counts)
    amr.SetOrigin(mesh["origin"])
    amr.SetGridDescription(_PLANE if mesh["axes"] == 2 else _GRID)
    steps = [np.ones(3, int), *(np.array(step) for step in mesh["ratios"])]
    fine = np.cumprod(steps, axis=0)
    for level in range(len(counts)):
        amr.SetSpacing(level, [float(h) for h in mesh["spacing"] / fine[level]])
        if level < len(mesh["ratios"]):
            amr.SetRefinementRatio(level, int(mesh["ratios"][level][0]))
    seen = [0] * len(counts)
    for block in blocks:
        level = block["level"]
        _add_block(amr, mesh, block, level, seen[level], fine[level], arrays)
        seen[level] += 1
    if mesh.get("nested", True):
        amr.GenerateParentChildInformation()  # VTK 9.3 crashes if coarse blocks are not there
        if not mesh.get("blanked"):  # by vtkGhostType among the fields
            vtkAMRUtilities.BlankCells(amr)
    return amr


def _add_block(amr: Any, mesh: Any, block: Any, level: int, number: int, fine: Any, arrays: list[Any]) -> None:
    first = np.array(mesh["first"]) * fine
    lo, hi = np.array(block["lo"]) - first, np.array(block["hi"]) - first
    spacing = mesh["spacing"] / fine
    lo[mesh["axes"] :], hi[mesh["axes"] :] = 0, 0
    size = (hi - lo).tolist()
    origin = (mesh["origin"] + lo * spacing).tolist()
    grid = _image({"cells": size, "origin": origin, "spacing": spacing.tolist()}, arrays, vtkUniformGrid)
    _add_fields(grid, block["fields"], arrays)
    last = [max(int(n) - 1, 0) for n in hi]
    amr.SetAMRBox(level, number, vtkAMRBox([int(n) for n in lo], last))
    amr.SetDataSet(level, number, grid)


_MAKERS = {
    "uniform": _image,
    "rectilinear": _rectilinear,
    "curvilinear": _curvilinear,
    "unstructured": _unstructured,
    "points": _particles,
    "tree": _tree,
}
