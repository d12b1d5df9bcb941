"""Compares isosurfaces and slices with those of VTK's own filters.

Usage: compare_with_vtk.py DUMP_SURFACES, the program that writes the arrays to compare.
"""

import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.util.vtkConstants import VTK_HEXAHEDRON
from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints
from vtkmodules.vtkCommonDataModel import (
    VTK_POLYHEDRON,
    vtkImageData,
    vtkPlane,
    vtkPolyData,
    vtkStaticPointLocator,
    vtkUnstructuredGrid,
)
from vtkmodules.vtkFiltersCore import vtkContourFilter, vtkCutter, vtkFlyingEdges3D, vtkTriangleFilter

CELLS = 40
LOW, HIGH = -1.0, 2 * math.pi
SPACING = (HIGH - LOW) / CELLS
NORMAL = np.array([1, -2, 0.7]) / np.linalg.norm([1, -2, 0.7])


class Triangles:
    """Points (n x 3) and triangles (m x 3)."""

    def __init__(self, points, triangles):
        self.points, self.triangles = points, triangles

    def area(self):
        a, b, c = (self.points[self.triangles[:, n]] for n in range(3))
        return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()

    def used_points(self):
        return self.points[np.unique(self.triangles)]


def ours(stem: Path) -> Triangles:
    return Triangles(
        np.fromfile(f"{stem}.points").reshape(-1, 3),
        np.fromfile(f"{stem}.triangles", dtype=np.int64).reshape(-1, 3),
    )


def theirs(output: vtkPolyData) -> Triangles:
    triangulate = vtkTriangleFilter()
    triangulate.SetInputData(output)
    triangulate.Update()
    data = triangulate.GetOutput()
    return Triangles(
        vtk_to_numpy(data.GetPoints().GetData()).astype(float),
        vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3),
    )


def image(directory: Path, centering: str) -> vtkImageData:
    """The field on its points: cell centres or nodes."""
    n = CELLS if centering == "cell" else CELLS + 1
    origin = LOW + (SPACING / 2 if centering == "cell" else 0)
    data = vtkImageData()
    data.SetDimensions(n, n, n)
    data.SetOrigin(origin, origin, origin)
    data.SetSpacing(SPACING, SPACING, SPACING)
    values = numpy_to_vtk(np.fromfile(directory / f"{centering}.field"), deep=True)
    values.SetName("a")
    data.GetPointData().SetScalars(values)
    return data


def flat_image(directory: Path, centering: str) -> vtkImageData:
    """The field of the mesh of two dimensions; z is where its plane is."""
    n = CELLS if centering == "cell" else CELLS + 1
    origin = LOW + (SPACING / 2 if centering == "cell" else 0)
    data = vtkImageData()
    data.SetDimensions(n, n, 1)
    data.SetOrigin(origin, origin, LOW)
    data.SetSpacing(SPACING, SPACING, SPACING)
    values = numpy_to_vtk(np.fromfile(directory / f"flat-{centering}.field"), deep=True)
    values.SetName("a")
    data.GetPointData().SetScalars(values)
    return data


def length(points: np.ndarray, lines: np.ndarray) -> float:
    return np.linalg.norm(points[lines[:, 1]] - points[lines[:, 0]], axis=1).sum()


def compare_lines(directory: Path, centering: str) -> None:
    contour = vtkContourFilter()
    contour.SetInputData(flat_image(directory, centering))
    contour.SetValue(0, 0.3)
    contour.Update()
    output = contour.GetOutput()
    theirs_points = vtk_to_numpy(output.GetPoints().GetData()).astype(float)
    theirs_lines = vtk_to_numpy(output.GetLines().GetConnectivityArray()).reshape(-1, 2)
    stem = directory / f"flat-{centering}.surface"
    points = np.fromfile(f"{stem}.points").reshape(-1, 3)
    lines = np.fromfile(f"{stem}.lines", dtype=np.int64).reshape(-1, 2)
    assert len(lines) == len(theirs_lines) > 100, (len(lines), len(theirs_lines))
    used = theirs_points[np.unique(theirs_lines)]
    assert len(points) == len(used), (len(points), len(used))
    worst = max(distances(points, theirs_points).max(), distances(used, points).max())
    assert worst < 2e-6, f"flat {centering}: vertices up to {worst} away from VTK's"
    ratio = length(points, lines) / length(theirs_points, theirs_lines)
    # VTK may join points differently where opposite corners of a cell are above the value.
    assert abs(ratio - 1) < 1e-2, f"flat {centering}: length is {ratio} of VTK's"
    print(f"flat {centering} isosurface: {len(lines)} lines, length ratio {ratio:.7f}, vertices within {worst:.1e}")


def nearest_index(points: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Indices of the target's points that are nearest to each point."""
    cloud = vtkPolyData()
    vtk_points = vtkPoints()
    vtk_points.SetData(numpy_to_vtk(target, deep=True))
    cloud.SetPoints(vtk_points)
    locator = vtkStaticPointLocator()
    locator.SetDataSet(cloud)
    locator.BuildLocator()
    return np.array([locator.FindClosestPoint(p) for p in points])


def distances(points: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Distance of each point to the nearest one of the target."""
    return np.linalg.norm(points - target[nearest_index(points, target)], axis=1)


def compare_isosurface(directory: Path, centering: str) -> None:
    contour = vtkFlyingEdges3D()
    contour.SetInputData(image(directory, centering))
    contour.SetValue(0, 0.3)
    contour.ComputeNormalsOn()
    contour.Update()
    stem = directory / f"{centering}.surface"
    mine, reference = ours(stem), theirs(contour.GetOutput())
    ratio = mine.area() / reference.area()
    assert abs(ratio - 1) < 1e-3, f"{centering}: area is {ratio} of VTK's"
    # Both put vertices on the same edges by linear interpolation, VTK in single precision.
    assert len(mine.points) == len(reference.used_points()), (len(mine.points), len(reference.used_points()))
    worst = max(distances(mine.points, reference.points).max(), distances(reference.used_points(), mine.points).max())
    assert worst < 2e-6, f"{centering}: vertices up to {worst} away from VTK's"
    normals = np.fromfile(f"{stem}.normals").reshape(-1, 3)
    their_normals = vtk_to_numpy(contour.GetOutput().GetPointData().GetNormals())
    order = nearest_index(mine.points, reference.points)
    alike = np.abs((normals * their_normals[order]).sum(axis=1))
    assert alike.min() > 0.999, f"{centering}: normals differ, cosine {alike.min()}"
    print(
        f"{centering} isosurface: {len(mine.triangles)} triangles, area ratio {ratio:.6f}, "
        f"vertices within {worst:.1e}, cosine of normals from {alike.min():.6f}"
    )


def compare_slice(directory: Path, centering: str) -> None:
    plane = vtkPlane()
    plane.SetOrigin(2, 2, 2)
    plane.SetNormal(*NORMAL)
    data = image(directory, centering)
    cutter = vtkCutter()
    cutter.SetInputData(data)
    cutter.SetCutFunction(plane)
    cutter.Update()
    stem = directory / f"{centering}.slice"
    mine, reference = ours(stem), theirs(cutter.GetOutput())
    if centering == "node":  # a surface of cells reaches half a cell further than VTK's, to the faces of the mesh
        ratio = mine.area() / reference.area()
        assert abs(ratio - 1) < 1e-6, f"area is {ratio} of VTK's"
    offsets = np.abs((mine.points - [2, 2, 2]) @ NORMAL)
    assert offsets.max() < 1e-12, f"points up to {offsets.max()} off the plane"
    # VTK computes in single precision. Every vertex of its slice that lies on an edge of the grid is one of ours, and
    # has the same value.
    their_points = vtk_to_numpy(cutter.GetOutput().GetPoints().GetData())
    on_edges = on_grid_edges(their_points, data.GetOrigin()[0])
    order = nearest_index(their_points[on_edges], mine.points)
    worst = np.linalg.norm(their_points[on_edges] - mine.points[order], axis=1).max()
    assert worst < 2e-6, f"{centering}: vertices up to {worst} away from VTK's"
    values = np.fromfile(f"{stem}.a")
    wrong = np.abs(values[order] - vtk_to_numpy(cutter.GetOutput().GetPointData().GetArray("a"))[on_edges]).max()
    assert wrong < 5e-6, f"{centering}: values differ from VTK's by up to {wrong}"
    print(f"{centering} slice: {len(mine.triangles)} triangles, vertices within {worst:.1e}, values within {wrong:.1e}")


def on_grid_edges(points: np.ndarray, origin: float) -> np.ndarray:
    steps = (points - origin) / SPACING
    return (np.abs(steps - np.round(steps)) < 1e-5).sum(axis=1) >= 2


def lists(stem: Path) -> vtkUnstructuredGrid:
    """The unstructured mesh that was written. Its field at points is `n`, the one in cells is `c`."""
    places = np.fromfile(f"{stem}.places").reshape(-1, 3)
    links, ends, types = (np.fromfile(f"{stem}.{name}", dtype=np.int64) for name in ("links", "ends", "types"))
    field = np.fromfile(f"{stem}.field")
    grid = vtkUnstructuredGrid()
    points = vtkPoints()
    points.SetData(numpy_to_vtk(places, deep=True))
    grid.SetPoints(points)
    begin = 0
    for cell, end in enumerate(ends):
        # VTK's surfaces in polyhedra with bent faces have holes. The polyhedra of this mesh have the corners of
        # hexahedra in order, so VTK gets hexahedra.
        kind = VTK_HEXAHEDRON if types[cell] == VTK_POLYHEDRON else int(types[cell])
        grid.InsertNextCell(kind, vtk_ids(links[begin:end]))
        begin = end
    values = numpy_to_vtk(field, deep=True)
    values.SetName("n")
    grid.GetPointData().SetScalars(values)
    return grid


def vtk_ids(numbers: np.ndarray) -> vtkIdList:
    ids = vtkIdList()
    for number in numbers:
        ids.InsertNextId(int(number))
    return ids


def compare_lists(directory: Path, name: str) -> None:
    grid = lists(directory / name)
    contour = vtkContourFilter()
    contour.SetInputData(grid)
    contour.SetValue(0, 0.3)
    contour.Update()
    plane = vtkPlane()
    plane.SetOrigin(0.1, 0, 0)
    plane.SetNormal(*NORMAL)
    cutter = vtkCutter()
    cutter.SetInputData(grid)
    cutter.SetCutFunction(plane)
    cutter.Update()
    for what, output in (("surface", contour.GetOutput()), ("slice", cutter.GetOutput())):
        mine, reference = ours(directory / f"{name}.{what}"), theirs(output)
        ratio = mine.area() / reference.area()
        # VTK has its own way to cut faces with opposite corners inside. A plane leaves it no choice.
        assert abs(ratio - 1) < (2e-3 if what == "surface" else 1e-6), f"{name} {what}: area is {ratio} of VTK's"
        worst = distances(mine.used_points(), reference.points).max()
        worst = max(worst, distances(reference.used_points(), mine.points).max())
        assert worst < 2e-6, f"{name} {what}: vertices up to {worst} away from VTK's"
        print(f"{name} {what}: {len(mine.triangles)} triangles, area ratio {ratio:.7f}, vertices within {worst:.1e}")
    apart = ours(directory / f"{name}.cells")
    assert abs(apart.area() / theirs(cutter.GetOutput()).area() - 1) < 1e-6


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.argv[1], name], check=True, timeout=60)
        for centering in ("cell", "node"):
            compare_isosurface(Path(name), centering)
            compare_slice(Path(name), centering)
            compare_lines(Path(name), centering)
        for kind in ("tetrahedra", "hexahedra", "wedges", "pyramids", "mixed"):
            compare_lists(Path(name), kind)


if __name__ == "__main__":
    main()
