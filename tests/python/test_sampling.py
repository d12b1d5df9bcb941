"""Probes, resampling and stream lines in cells of many shapes and in warped boxes, in several placements, compared with
VTK's filters."""

import csv
import subprocess
import sys
from os import environ
from pathlib import Path

import numpy as np
import pytest
import shapes
import sidestream
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData, vtkStaticCellLocator, vtkStructuredGrid, vtkUnstructuredGrid
from vtkmodules.vtkFiltersCore import vtkProbeFilter
from vtkmodules.vtkFiltersFlowPaths import vtkStreamTracer
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

PROGRAM = Path(__file__).with_name("sampling.py")
MPIRUN = environ.get("SIDESTREAM_MPIEXEC", "mpirun")
SIZE, LOW, HIGH = (9, 8, 7), (-0.4, -0.9, 0.1), (6.1, 4.9, 4.7)

PLACES = """\
      line:
        - {from: [0.31, 0.12, 0.23], to: [6.9, 3.61, 5.13], samples: 70}
        - {from: [3.3, -1.4, 1.9], to: [2.9, 5.1, 2.7], samples: 60}
      point: {at: [2.77, 0.98, 1.61]}
"""
SEEDS = "line: {from: [0.7, 0.5, 0.4], to: [4.1, 3.3, 3.6], samples: 12}, step: 0.02, precision: double"
GRID = f"size: {list(SIZE)}, low: {list(LOW)}, high: {list(HIGH)}"
CONFIGURATION = f"""\
placement: PLACEMENT
output: {{directory: DIRECTORY}}
analyses:
  - probe:
      name: probe-solid
      variables: [n, t]
      file: solid.csv
{PLACES}
  - probe:
      name: probe-curved
      variables: [v, c]
      file: curved.csv
{PLACES}
  - resample: {{name: a, variables: n, method: linear, {GRID}, file: "n-{{index}}.h5"}}
  - resample: {{name: b, variables: t, {GRID}, file: "t-{{index}}.h5"}}
  - streamlines: {{name: lines-solid, variable: f, {SEEDS}, file: "f-{{index}}.vtp"}}
  - streamlines: {{name: lines-curved, variable: g, {SEEDS}, file: "g-{{index}}.vtp"}}
  - resample: {{name: c, variables: v, method: linear, {GRID}, file: "v-{{index}}.h5"}}
"""


def solid(step):
    grid, points = vtkUnstructuredGrid(), vtkPoints()
    points.SetData(numpy_to_vtk(shapes.points(step), deep=True))
    grid.SetPoints(points)
    for kind, corners in shapes.cells():
        grid.InsertNextCell(kind, len(corners), corners)
    return with_values(grid, shapes.at_points(step), shapes.in_cells(step))


def curved(step):
    grid, points = vtkStructuredGrid(), vtkPoints()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(shapes.warped(step).reshape(-1, 3)), deep=True))
    grid.SetDimensions([n + 1 for n in shapes.BOXES])
    grid.SetPoints(points)
    return with_values(grid, shapes.at_nodes(step).ravel(), shapes.in_boxes(step).ravel())


def with_values(grid, nodes, cells):
    for name, data, values in (("nodes", grid.GetPointData(), nodes), ("cells", grid.GetCellData(), cells)):
        array = numpy_to_vtk(values, deep=True)
        array.SetName(name)
        data.AddArray(array)
    return grid


def probed(grid, places):
    """VTK's values at nodes and in cells, NaN outside. The search of its point sets misses some positions, so that a
    locator is used."""
    wanted, points, probe = vtkPolyData(), vtkPoints(), vtkProbeFilter()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(places), deep=True))
    wanted.SetPoints(points)
    probe.SetCellLocator(vtkStaticCellLocator())
    probe.SetInputData(wanted)
    probe.SetSourceData(grid)
    probe.SetComputeTolerance(False)
    probe.SetTolerance(1e-9)
    probe.Update()
    found = probe.GetOutput().GetPointData()
    inside = vtk_to_numpy(found.GetArray(probe.GetValidPointMaskArrayName())) == 1
    return [np.where(inside, vtk_to_numpy(found.GetArray(name)), np.nan) for name in ("nodes", "cells")]


def sure_of(grid, cells, step):
    """True for positions where VTK found neither a wedge nor a pyramid. VTK's also accept positions outside: wedges
    take the whole parallelograms of which their triangles are halves."""
    loose = [grid.GetCellType(n) in (shapes.WEDGE, shapes.PYRAMID) for n in range(grid.GetNumberOfCells())]
    found = np.isfinite(cells)
    numbers = np.where(found, cells - 1000 * step, 0).astype(int)
    return ~(found & np.array(loose)[numbers])


def lines_of(path):
    """Points of stream lines, the line of each, and the vectors there."""
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput().GetPointData()
    lines = vtk_to_numpy(data.GetArray("line"))
    return vtk_to_numpy(reader.GetOutput().GetPoints().GetData()), lines, vtk_to_numpy(data.GetArray(path.stem[0]))


def traced(grid, places, seed):
    """Points of VTK's line through a seed, of the method of Runge and Kutta of fourth order in small steps."""
    vectors = numpy_to_vtk(shapes.flow(places), deep=True)
    vectors.SetName("vectors")
    grid.GetPointData().AddArray(vectors)
    grid.GetPointData().SetActiveVectors("vectors")
    tracer = vtkStreamTracer()
    tracer.SetInputData(grid)
    tracer.SetStartPosition(*seed)
    tracer.SetCellLocatorToStaticCellLocator()
    tracer.SetIntegratorTypeToRungeKutta4()
    tracer.SetIntegrationDirectionToBoth()
    tracer.SetIntegrationStepUnit(vtkStreamTracer.LENGTH_UNIT)
    tracer.SetInitialIntegrationStep(0.005)
    tracer.SetMaximumPropagation(100)
    tracer.SetMaximumNumberOfSteps(100000)
    tracer.SetComputeVorticity(False)
    tracer.Update()
    return vtk_to_numpy(tracer.GetOutput().GetPoints().GetData())


def check_lines(path, grid, places, step, solid_cells):
    points, lines, vectors = lines_of(path)
    assert len(np.unique(lines)) == 12
    # The flow is linear in a cell, which differs from the formula by what it bends there.
    assert np.abs(vectors - shapes.flow(points)).max() < 0.3
    for line in np.unique(lines):
        ours = points[lines == line]
        seed = np.array([0.7, 0.5, 0.4]) + line / 11 * np.array([3.4, 2.8, 3.2])
        theirs = traced(grid, places, seed)
        far = [np.linalg.norm(theirs - point, axis=1).min() for point in ours]
        assert max(far) < 0.005, (line, max(far))
        ends_at_faces(ours[[0, -1]], step) if solid_cells else same_length(ours, theirs, line)


def same_length(ours, theirs, line):
    """Both end within a step of the faces. VTK's points run forwards from the seed, then backwards from there."""
    length = np.linalg.norm(np.diff(ours, axis=0), axis=1).sum()
    steps = np.linalg.norm(np.diff(theirs, axis=0), axis=1)
    assert abs(length - steps[steps < 0.01].sum()) < 0.06, line


def ends_at_faces(ends, step):
    """Lines end within a step of the faces; those of VTK go on through wedges and pyramids."""
    edges = [steps[[0, -1]] for steps in edges_of_cubes()]
    distances = [np.abs(x[:, None] - e) for e, x in zip(edges, straightened(ends, step).T, strict=True)]
    assert (np.min(distances, axis=(0, 2)) < 0.04).all(), distances


def straightened(places, step):
    """Undoes the shear of the cubes."""
    return np.linalg.solve([[1, 0.3, 0], [0, 1, -0.2], [0.1, 0, 1]], (places - [0.02 * step, 0, 0]).T).T


def edges_of_cubes():
    steps = np.arange(shapes.CUBES + 1)
    return steps + 0.1 * steps**2, steps + 0.05 * steps**2, steps + 0.02 * steps**3


def check_cubes(cells, places, step):
    """Checks that each position is in a cell of the right cube, or in none if it is outside all. The shear is undone
    for this."""
    straight, edges = straightened(places, step), edges_of_cubes()
    indices = np.stack([np.searchsorted(e, x) - 1 for e, x in zip(edges, straight.T, strict=True)], axis=-1)
    inside = ((indices >= 0) & (indices < shapes.CUBES)).all(axis=1)
    np.testing.assert_array_equal(np.isfinite(cells), inside)
    parts = {shapes.HEXAHEDRON: 1, shapes.TETRAHEDRON: 6, shapes.WEDGE: 2, shapes.PYRAMID: 6}
    cubes = []
    every = shapes.cells()
    while len(cubes) < len(every):
        count = parts[every[len(cubes)][0]]
        cubes += [cubes[-1] + 1 if cubes else 0] * count
    numbers = (cells[inside] - 1000 * step).astype(int)
    np.testing.assert_array_equal(np.array(cubes)[numbers], indices[inside] @ [1, shapes.CUBES, shapes.CUBES**2])


def check_values(ours, places, grid, step, which):
    found = probed(grid, places)
    sure = sure_of(grid, found[1], step)
    assert np.isfinite(found[which][sure]).sum() > 40 and np.isnan(found[which]).any()
    same = np.isclose(ours, found[which], rtol=0, atol=1e-7, equal_nan=True)
    # VTK's hexahedra reach a thousandth beyond their faces, so that a few positions are in a neighbour.
    assert (sure & ~same).sum() <= 2, (places[sure & ~same], ours[sure & ~same], found[which][sure & ~same])


def check_table(path, step, grid, names):
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["iteration"]) == step]
    assert len(rows) == 131
    places = np.array([[float(row[a]) for a in "xyz"] for row in rows])
    for which, name in enumerate(names):
        values = np.array([float(row[name]) for row in rows])
        check_values(values, places, grid, step, which)
        if name == "t":
            check_cubes(values, places, step)


def check_grid(path, step, grid, name, which):
    data = sidestream.open(path, into="numpy")
    axes = [low + (high - low) * (np.arange(n) + 0.5) / n for n, low, high in zip(SIZE, LOW, HIGH, strict=True)]
    for axis, letter in zip(axes, "xyz", strict=True):
        np.testing.assert_allclose(data[letter], axis, rtol=1e-14)
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    places, values = np.stack([x, y, z], axis=-1).reshape(-1, 3), np.asarray(data[name]).ravel()
    check_values(values, places, grid, step, which)
    if name == "t":
        check_cubes(values, places, step)


def run(folder, placement, ranks):
    file, results = folder / "run.yaml", folder / "results"
    folder.mkdir(exist_ok=True)
    file.write_text(CONFIGURATION.replace("PLACEMENT", placement).replace("DIRECTORY", str(results)))
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Results of a run with one rank."""
    return run(tmp_path_factory.mktemp("alone"), "inline", 1)


def test_like_vtk(alone):
    for step in range(shapes.STEPS):
        check_table(alone / "solid.csv", step, solid(step), "nt")
        check_table(alone / "curved.csv", step, curved(step), "vc")
        check_grid(alone / f"n-{step}.h5", step, solid(step), "n", 0)
        check_grid(alone / f"t-{step}.h5", step, solid(step), "t", 1)
        check_grid(alone / f"v-{step}.h5", step, curved(step), "v", 0)
        check_lines(alone / f"f-{step}.vtp", solid(step), shapes.points(step), step, True)
        check_lines(alone / f"g-{step}.vtp", curved(step), shapes.warped(step).reshape(-1, 3), step, False)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "ranks"),
    [("{mode: nodes, buffer: 32 MiB, servers: 2, partitioner: regrid}", 5), ("inline", 3)],
)
def test_the_same_bits_however_it_is_divided(tmp_path, alone, placement, ranks):
    results = run(tmp_path, placement, ranks)
    for name in ("solid.csv", "curved.csv"):
        assert (results / name).read_bytes() == (alone / name).read_bytes()
    for step in range(shapes.STEPS):
        for name in (f"f-{step}.vtp", f"g-{step}.vtp"):
            assert (results / name).read_bytes() == (alone / name).read_bytes()
        for name in "ntv":
            ours, theirs = (sidestream.open(r / f"{name}-{step}.h5", into="numpy") for r in (results, alone))
            assert np.asarray(ours[name]).tobytes() == np.asarray(theirs[name]).tobytes()
