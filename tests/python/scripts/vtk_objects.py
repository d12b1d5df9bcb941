"""Arrays that VTK's objects of blocks hold, for a file. Imports VTK only in functions, as scripts that start faster
do."""

import numpy as np
import sidestream.vtk


def address(array):
    return array.__array_interface__["data"][0]


def fields_of(made):
    from vtkmodules.util.numpy_support import vtk_to_numpy

    for at, data in (("cell", made.GetCellData()), ("node", made.GetPointData())):
        for n in range(data.GetNumberOfArrays()):
            yield at, data.GetArrayName(n), vtk_to_numpy(data.GetArray(n))


def held(made):
    """Copies of the arrays of an object, and its place."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    found = {f"{at} {name}": array.copy() for at, name, array in fields_of(made)}
    found |= {"bounds": np.array(made.GetBounds()), "class": np.frombuffer(made.GetClassName().encode(), np.uint8)}
    if hasattr(made, "GetExtent"):
        found["extent"] = np.array(made.GetExtent())
    if made.IsA("vtkPointSet"):
        found["points"] = vtk_to_numpy(made.GetPoints().GetData()).copy()
    if made.IsA("vtkUnstructuredGrid"):
        cells = made.GetCells()
        arrays = {"links": cells.GetConnectivityArray(), "ends": cells.GetOffsetsArray()}
        found |= {name: vtk_to_numpy(array).copy() for name, array in arrays.items()}
        found["types"] = np.array([made.GetCellType(n) for n in range(made.GetNumberOfCells())])
    return found


def shared_of(block, made):
    """1 for each variable, and each array of the mesh, whose memory VTK uses."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    found = {}
    for _, name, array in fields_of(made):
        if name in block:
            found[name] = int(np.shares_memory(array, block.published(name)))
            assert not found[name] or address(array) in (address(block[name]), address(block.published(name)))
    mesh = block.arrays
    if made.IsA("vtkPointSet"):
        found["points"] = int(address(vtk_to_numpy(made.GetPoints().GetData())) == address(mesh["coordinates"]))
    if made.IsA("vtkUnstructuredGrid"):
        links = vtk_to_numpy(made.GetCells().GetConnectivityArray())
        found["links"] = int(address(links) == address(mesh["connectivity"]))
    return found


class Held:
    """Everything, block by block, and one object over all ghosts."""

    def local(self, data):
        found, shared = {}, {}
        for block in data:
            made = sidestream.vtk.grid(block)
            assert made.GetInformation().Get(made.DATA_TIME_STEP()) == data.time
            found |= {f"{block.mesh.name} {block.id} {name}": array for name, array in held(made).items()}
            shared |= {f"{block.mesh.name} {name}": yes for name, yes in shared_of(block, made).items()}
        for block in data.blocks("box"):
            wide = sidestream.vtk.grid(block, ["filled"], ghosts=True)
            found |= {f"wide {block.id} {name}": array for name, array in held(wide).items()}
            shared["wide filled"] = shared_of(block, wide)["filled"]
        return found, shared

    def combine(self, partials, servers):
        gathered = servers.gather(partials)
        if gathered is None:
            return None
        parts = [part for of_server in gathered for part in of_server]
        shared = {name: yes for _, part in parts for name, yes in part.items()}
        return {name: array for part, _ in parts for name, array in part.items()}, shared


class Piped:
    """The area of an isosurface of values at nodes, block by block, and the volume of a mesh with levels."""

    def __init__(self, value):
        self.value = value

    def local(self, data):
        from vtkmodules.vtkFiltersCore import vtkContourFilter

        blocks = sidestream.vtk.multiblock(data, "box", ["p"])
        assert blocks.GetNumberOfBlocks() == 1
        area = 0.0
        for n in range(blocks.GetBlock(0).GetNumberOfBlocks()):
            contour = vtkContourFilter()
            contour.SetInputData(blocks.GetBlock(0).GetBlock(n))
            contour.SetInputArrayToProcess(0, 0, 0, 0, "p")
            contour.SetValue(0, self.value)
            contour.SetOutputPointsPrecision(contour.DOUBLE_PRECISION)
            contour.Update()
            area += area_of(contour.GetOutput())
        return area, visible_of(sidestream.vtk.levels(data, "gas"))

    def combine(self, partials, servers):
        gathered = servers.gather(partials)
        if gathered is None:
            return None
        parts = [part for of_server in gathered for part in of_server]
        return {"area": sum(a for a, _ in parts), "visible": sum(v for _, v in parts)}


def area_of(surface):
    if surface.GetNumberOfCells() == 0:
        return 0.0
    from vtkmodules.vtkFiltersCore import vtkMassProperties, vtkTriangleFilter

    triangles = vtkTriangleFilter()
    triangles.SetInputData(surface)
    size = vtkMassProperties()
    size.SetInputConnection(triangles.GetOutputPort())
    size.Update()
    return size.GetSurfaceArea()


def visible_of(amr):
    """The volume of the cells that are not hidden."""
    total = 0.0
    for level in range(amr.GetNumberOfLevels()):
        for n in range(amr.GetNumberOfDataSets(level)):
            one = amr.GetDataSet(level, n)
            seen = sum(one.IsCellVisible(cell) for cell in range(one.GetNumberOfCells()))
            total += seen * float(np.prod(one.GetSpacing()))
    return total


def middle(whole):
    """The area of a plane through the middle of a whole mesh."""
    from vtkmodules.vtkCommonDataModel import vtkPlane
    from vtkmodules.vtkFiltersCore import vtkCutter

    made = sidestream.vtk.grid(whole)
    plane = vtkPlane()
    plane.SetOrigin(made.GetCenter())
    plane.SetNormal(0, 0, 1)
    cut = vtkCutter()
    cut.SetCutFunction(plane)
    cut.SetInputData(made)
    cut.Update()
    values = {name: array for _, name, array in fields_of(made)}
    assert set(values) == {"t", "p"}, "variables that were not asked for have no values"
    same = all(np.shares_memory(array, whole[name]) for name, array in values.items())
    return {"area": area_of(cut.GetOutput()), "cells": made.GetNumberOfCells(), "same": int(same)}


KEPT = []


def keeps(block):
    KEPT.append(sidestream.vtk.grid(block).GetCellData().GetArray("t"))


def keeps_output(block):
    """The output of a filter has the same memory."""
    from vtkmodules.vtkFiltersCore import vtkPointDataToCellData

    smooth = vtkPointDataToCellData()
    smooth.SetInputData(sidestream.vtk.grid(block))
    smooth.Update()
    KEPT.append(smooth.GetOutput())


COPIES = []


def copies(block):
    """The copy of the iteration before still has its values."""
    total = 0.0
    if COPIES:
        from vtkmodules.util.numpy_support import vtk_to_numpy

        total = vtk_to_numpy(COPIES.pop(0).GetCellData().GetArray("t")).sum()
    COPIES.append(sidestream.vtk.copied(sidestream.vtk.grid(block)))
    return {"before": total}


def without(block):
    """As on a server without VTK."""
    import sys

    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("vtkmodules")}
    before |= {n: sys.modules.pop(n) for n in list(sys.modules) if n == "sidestream.paraview.inside.grids"}
    sys.modules["vtkmodules"] = None
    try:
        sidestream.vtk.grid(block)
    finally:
        del sys.modules["vtkmodules"]
        sys.modules.update(before)
