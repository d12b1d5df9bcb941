"""Beside benchmark_surfaces: VTK's contour filter and cutter on the same tetrahedra, on one thread.

Usage: surfaces_vtk.py BENCHMARK_SURFACES [CELLS along each axis = 118, which are 10 million tetrahedra] [ROUNDS = 5]

Times are of the processor, which other processes disturb less than the clock; both sides take turns.
"""

import statistics
import subprocess
import sys
import time

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray


def tetrahedra(cells: int) -> vtk.vtkUnstructuredGrid:
    row = cells + 1
    k, j, i = np.meshgrid(*3 * [np.arange(row)], indexing="ij")
    places = np.stack([i, j, k], axis=-1).reshape(-1, 3) / cells
    a, b, c = (20 * places[:, axis] for axis in range(3))
    values = np.sin(a) * np.cos(b) + np.sin(b) * np.cos(c) + np.sin(c) * np.cos(a)
    first = ((k * row + j) * row + i)[:-1, :-1, :-1].reshape(-1)
    offset = [(n & 1) + (n >> 1 & 1) * row + (n >> 2) * row * row for n in range(8)]
    ways = [(1, 3), (3, 2), (2, 6), (6, 4), (4, 5), (5, 1)]
    corners = np.stack([np.stack([first + offset[n] for n in (0, *way, 7)], axis=-1) for way in ways], axis=1)
    count = 6 * cells**3
    array = vtk.vtkCellArray()
    array.SetData(4, numpy_to_vtkIdTypeArray(corners.reshape(-1).astype(np.int64), deep=True))
    grid = vtk.vtkUnstructuredGrid()
    points = vtk.vtkPoints()
    points.SetData(numpy_to_vtk(places, deep=True))
    grid.SetPoints(points)
    grid.SetCells(numpy_to_vtk(np.full(count, vtk.VTK_TETRA, dtype=np.uint8), deep=True), array)
    field = numpy_to_vtk(values, deep=True)
    field.SetName("n")
    grid.GetPointData().SetScalars(field)
    return grid


def measured(filter_) -> tuple[float, int]:
    """Milliseconds of the processor, and triangles."""
    filter_.Modified()
    start = time.process_time()
    filter_.Update()
    return 1000 * (time.process_time() - start), filter_.GetOutput().GetNumberOfPolys()


def ours(binary: str, cells: int) -> dict[str, tuple[float, int]]:
    command = [binary, str(cells), "1", "tetrahedra"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    words = [line.split() for line in lines]
    return {line[0]: (float(line[2]), int(line[4])) for line in words if line[1:2] == ["tetrahedra"]}


def main() -> None:
    cells = int(sys.argv[2]) if len(sys.argv) > 2 else 118
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    vtk.vtkSMPTools.Initialize(1)
    grid = tetrahedra(cells)
    contour = vtk.vtkContourFilter()
    contour.SetInputData(grid)
    contour.SetValue(0, 0.3)
    plane = vtk.vtkPlane()
    plane.SetOrigin(0.501, 0.501, 0.501)
    plane.SetNormal(3**-0.5, 3**-0.5, 3**-0.5)
    cutter = vtk.vtkCutter()
    cutter.SetInputData(grid)
    cutter.SetCutFunction(plane)
    filters = {"isosurface": contour, "slice": cutter}
    mine: dict[str, list] = {name: [] for name in filters}
    theirs: dict[str, list] = {name: [] for name in filters}
    for _ in range(rounds):
        for name, result in ours(sys.argv[1], cells).items():
            mine[name].append(result)
        for name, filter_ in filters.items():
            theirs[name].append(measured(filter_))
    for name in filters:
        a, b = (statistics.median(times for times, _ in results[name]) for results in (mine, theirs))
        print(
            f"{name} of {6 * cells**3} tetrahedra: {a:.1f} ms, {mine[name][0][1]} triangles; "
            f"VTK {b:.1f} ms, {theirs[name][0][1]} triangles; ratio {a / b:.2f}"
        )


if __name__ == "__main__":
    main()
