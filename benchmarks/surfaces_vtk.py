"""Beside benchmark_surfaces: VTK's contour filter and cutter on the same tetrahedra, on one thread.

Usage: surfaces_vtk.py BENCHMARK_SURFACES [CELLS along each axis = 118, which are 10 million tetrahedra]
"""

import statistics
import subprocess
import sys
import time

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray

REPETITIONS = 5


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


def measured(filter_) -> float:
    times = []
    for _ in range(REPETITIONS):
        filter_.Modified()
        start = time.perf_counter()
        filter_.Update()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    cells = int(sys.argv[2]) if len(sys.argv) > 2 else 118
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
    theirs = {"isosurface": measured(contour), "slice": measured(cutter)}
    printed = subprocess.run(
        [sys.argv[1], str(cells), str(REPETITIONS)], check=True, capture_output=True, text=True
    ).stdout
    print(printed, end="")
    for what, milliseconds in theirs.items():
        line = next(line for line in printed.splitlines() if line.startswith(f"{what} tetrahedra"))
        ours = float(line.split()[2])
        print(f"{what} of {6 * cells**3} tetrahedra: VTK {milliseconds:.1f} ms, ours / VTK {ours / milliseconds:.2f}")


if __name__ == "__main__":
    main()
