"""A curvilinear mesh of two axes with three coordinates: files, parts and pictures of a surface in space."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import few
from programs import built
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersVerdict import vtkMeshQuality
from vtkmodules.vtkIOImage import vtkPNGReader
from vtkmodules.vtkIOXML import vtkXMLPStructuredGridReader, vtkXMLUnstructuredGridReader

SCRIPT = Path(__file__).with_name("surface_in_space.py")
TOOL = built("SIDESTREAM_TOOL")
CONFIGURATION = """\
placement: {PLACEMENT}
output: {directory: DIRECTORY, existing: replace}
meshes: {ball: {type: curvilinear, size: [12, 8], coordinates: place}}
variables:
  place: {mesh: ball, components: 3}
  t: {mesh: ball}
  n: {mesh: ball, centering: node}
"""
TASKS = """\
analyses:
  - statistics: {variable: t, file: t.csv}
  - statistics: {variable: n * place.z, file: n.csv}
  - threshold: {variable: t, fields: [n], minimum: 300, file: "part-{index}.vtu"}
  - clip: {variable: n, normal: [0, 0, 1], origin: [0, 0, 0.1], file: "cap-{index}.vtu"}
  - render:
      threshold: {variable: t, minimum: 0}
      camera: {view: [1, 0.6, 0.2], projection: parallel}
      size: [200, 200]
      file: "ball-{index}.png"
outputs:
  - hdf5: {variables: [t, n]}
  - vtk: {variables: [t, n], file: "ball-{index}.pvts"}
"""
ROWS, COLUMNS = np.mgrid[:9, :13]
LONGITUDE, LATITUDE = 0.4 * COLUMNS, 0.3 * (ROWS - 4)
NODES = np.stack([np.cos(LATITUDE) * np.cos(LONGITUDE), np.cos(LATITUDE) * np.sin(LONGITUDE), np.sin(LATITUDE)], -1)


def configure(folder, placement, tasks):
    text = (CONFIGURATION + tasks).replace("{PLACEMENT}", placement).replace("DIRECTORY", str(folder / "results"))
    (folder / "run.yaml").write_text(text)
    return str(folder / "run.yaml")


def results_of(folder, ranks, placement):
    path = configure(folder, placement, TASKS)
    mpirun = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
    command = [mpirun, "-n", str(ranks), sys.executable, str(SCRIPT), path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results"


def bytes_of(results):
    return [(results / name).read_bytes() for name in ("t.csv", "n.csv", "part-0.vtu", "cap-0.vtu", "ball-0.png")]


def area(grid):
    quality = vtkMeshQuality()
    quality.SetInputData(grid)
    quality.SetTriangleQualityMeasureToArea()
    quality.SetQuadQualityMeasureToArea()
    quality.Update()
    return vtk_to_numpy(quality.GetOutput().GetCellData().GetArray("Quality")).sum()


def area_of_quads(corners):
    """Area of quadrilaterals, as that of their two triangles."""
    a, b, c, d = corners
    halves = np.cross(b - a, c - a), np.cross(c - a, d - a)
    return sum(0.5 * np.linalg.norm(half, axis=-1).sum() for half in halves)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return results_of(tmp_path_factory.mktemp("alone"), 1, "inline")


def row(path):
    (one,) = csv.DictReader(path.open())
    return int(one["count"]), float(one["sum"])


def test_tables_and_files(alone):
    t = (COLUMNS + 100.0 * ROWS)[:-1, :-1]
    assert row(alone / "t.csv") == (t.size, t.sum())
    count, total = row(alone / "n.csv")
    assert count == ROWS.size and total == pytest.approx(((COLUMNS + 100.0 * ROWS) * NODES[..., 2]).sum(), rel=1e-13)
    with h5py.File(alone / "fields-000000.h5") as file:
        np.testing.assert_array_equal(file[file["meshes/ball"].attrs["coordinates"]][...], NODES)
    reader = vtkXMLPStructuredGridReader()
    reader.SetFileName(str(alone / "ball-0.pvts"))
    reader.Update()
    grid = reader.GetOutput()
    assert grid.GetExtent() == (0, 12, 0, 8, 0, 0)
    np.testing.assert_array_equal(vtk_to_numpy(grid.GetPoints().GetData()), NODES.reshape(-1, 3))
    np.testing.assert_array_equal(vtk_to_numpy(grid.GetCellData().GetArray("t")), t.ravel())


def test_parts(alone):
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(alone / "part-0.vtu"))
    reader.Update()
    part = reader.GetOutput()
    assert (part.GetNumberOfCells(), part.GetNumberOfPoints()) == (5 * 12, 6 * 13)
    points = vtk_to_numpy(part.GetPoints().GetData())
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-6)
    upper = NODES[3:]
    quads = area_of_quads([upper[:-1, :-1], upper[:-1, 1:], upper[1:, 1:], upper[1:, :-1]])
    np.testing.assert_allclose(area(part), quads, rtol=1e-2)
    reader.SetFileName(str(alone / "cap-0.vtu"))
    reader.Update()
    assert vtk_to_numpy(reader.GetOutput().GetPoints().GetData())[:, 2].min() == pytest.approx(0.1, abs=1e-6)


def test_picture(alone):
    reader = vtkPNGReader()
    reader.SetFileName(str(alone / "ball-0.png"))
    reader.Update()
    pixels = vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars()).reshape(200, 200, -1)
    drawn = (pixels != pixels[0, 0]).any(axis=-1)
    assert drawn.sum() > 5000
    assert len(np.unique(pixels[drawn], axis=0)) > 50, "coloured by t, and lit"


@pytest.mark.parametrize(
    ("placement", "ranks"),
    few(
        [
            ("inline", 2),
            ("inline", 3),
            ("{mode: cores, per_node: 1, buffer: 8 MiB}", 4),
            ("{mode: nodes, servers: 2, buffer: 8 MiB}", 7),
            ("{mode: nodes, servers: 2, buffer: 8 MiB, forward: blocks}", 5),
        ],
        kept=[("{mode: cores, per_node: 1, buffer: 8 MiB}", 4)],
    ),
)
def test_placements(tmp_path, alone, placement, ranks):
    assert bytes_of(results_of(tmp_path, ranks, placement)) == bytes_of(alone)


def test_what_is_refused(tmp_path):
    """A surface has no inside: planes, isolines, places and derivatives are refused."""
    for task, said in (
        ("slice: {variable: t, axis: z, position: 0}", "a slice needs a mesh of as many coordinates as axes"),
        ("isosurface: {variable: n, values: [5]}", "an isosurface needs a mesh of as many coordinates as axes"),
        ("probe: {variables: [n], point: {name: a, at: [1, 0, 0]}}", "no place is exactly on it"),
        ("statistics: {variable: gradient(n)}", "takes neighbours on the mesh 'ball', which is a surface in space"),
    ):
        path = configure(tmp_path, "inline", f"analyses: [{task}]\n")
        done = subprocess.run([TOOL, "check", path], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and said in done.stdout + done.stderr, done.stdout + done.stderr
