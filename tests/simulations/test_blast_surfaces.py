"""Surfaces and pictures of the blast's octree have the same bytes in every placement, and no gaps."""

import os
import subprocess
import sys
import uuid

import numpy as np
import pytest
from blasting import COUPLED, run
from mini_app import beside, command
from optional_packages import needs
from pairs import few

TOOL = os.environ.get("SIDESTREAM_TOOL", "")
PROBLEM = ["sedov", "--least", 2, "--most", 5, "--end", 1, "--steps", 8, "--every", 4]
TASKS = """
placement: {placement}
output: {{directory: {directory}}}
analyses:
  - isosurface: {{variable: density, values: [0.7, 1.2], fields: [pressure, velocity], file: "surface-{{index}}.vtp"}}
  - isosurface: {{variable: density, values: [1.2], normals: true, pieces: true, name: p, file: "pieces-{{index}}.vtp"}}
  - render:
      isosurface: [{{variable: density, values: [1.2], colour_by: pressure}}, {{variable: density, values: [0.7]}}]
      size: [200, 160]
      file: "frame-{{index}}.png"
"""


def results(folder, placement, ranks, name, servers=None):
    directory = folder / name
    file = folder / f"{name}.yaml"
    file.write_text(TASKS.format(placement=placement, directory=directory))
    line = [*PROBLEM, "--sidestream", file]
    with beside(servers and command(*servers, file, program=TOOL)):
        done = run(ranks, *line, program=COUPLED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 iterations, 3 delivered." in done.stdout
    found = {}
    for pattern in ("surface-*.vtp", "frame-*.png"):
        for path in sorted(directory.glob(pattern)):
            found[path.name] = path.read_bytes()
    assert len(found) == 6
    return found


CASES = [
    ("{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks}", 6), ("inline", 3), ("inline", 2), ("inline", 8),
    ("{mode: cores, buffer: 32 MiB, per_node: 2}", 5),
    ("{mode: nodes, buffer: 32 MiB, servers: 1}", 4),
    ("{mode: nodes, buffer: 32 MiB, servers: 3}", 8),
    ("{mode: nodes, servers: 2, buffer: 32 MiB, forward: partials}", 6),
]  # fmt: skip


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return results(tmp_path_factory.mktemp("reference"), "inline", 1, "reference")


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "ranks"), few(CASES, keep=2))
def test_the_same_bytes_in_every_placement(tmp_path, reference, placement, ranks):
    assert results(tmp_path, placement, ranks, "case") == reference


@pytest.mark.test_all
def test_sidecar(tmp_path, reference):
    session = f"test-{uuid.uuid4().hex[:12]}"
    placement = f"{{mode: sidecar, per_node: 2, session: {session}, buffer: 16 MiB, when_full: wait}}"
    assert results(tmp_path, placement, 3, "case", (2, "serve")) == reference


@pytest.mark.test_all
def test_job(tmp_path, reference):
    placement = f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}"
    assert results(tmp_path, placement, 4, "case", (2, "endpoint")) == reference


def edges_of(triangles):
    """The number of triangles at each edge, and the sum of their directions."""
    corners = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    low, high = corners.min(axis=1), corners.max(axis=1)
    turns = np.where(corners[:, 0] < corners[:, 1], 1, -1)
    _, inverse = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    inverse = inverse.ravel()
    return np.bincount(inverse), np.bincount(inverse, weights=turns)


def triangles_of(data):
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return (
        vtk_to_numpy(data.GetPoints().GetData()).astype(float),
        vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3),
    )


def read(path):
    vtk = needs("vtk")
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


@pytest.mark.test_all
def test_the_shell_is_closed_and_round(tmp_path):
    """Every edge has two triangles, nothing is NaN, and the surfaces lie round the blast."""
    needs("vtk")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    results(tmp_path, "inline", 3, "case")
    data = read(tmp_path / "case" / "surface-2.vtp")
    points, triangles = triangles_of(data)
    assert len(triangles) > 500
    assert np.isfinite(points).all()
    for name in ("pressure", "velocity", "value"):
        assert np.isfinite(vtk_to_numpy(data.GetPointData().GetArray(name))).all()
    count, turns = edges_of(triangles)
    assert (count == 2).all() and (turns == 0).all()
    assert np.linalg.norm(points - 0.5, axis=1).max() < 0.4
    # A double layer would have each position twice.
    assert len(np.unique(np.round(points, 9), axis=0)) == len(points)


EXPORTED = """
placement: inline
output: {{directory: {directory}}}
analyses:
  - isosurface: {{variable: density, values: [1.2], precision: double, file: "surface-{{index}}.vtp"}}
outputs:
  - database: {{directory: data, kind: post, variables: [refined, owned, density]}}
"""


@pytest.mark.test_all
def test_as_vtk_makes_it_of_hyper_tree_grids(tmp_path):
    """VTK's contours of trees also use the dual mesh: they have the same points, in single precision, and as many
    triangles."""
    vtk = needs("vtk")
    file = tmp_path / "run.yaml"
    file.write_text(EXPORTED.format(directory=tmp_path / "results"))
    done = run(3, *PROBLEM, "--sidestream", file, program=COUPLED)
    assert done.returncode == 0, done.stderr
    to = tmp_path / "all.pvd"
    export = [sys.executable, "-m", "sidestream", "export", str(tmp_path / "results" / "data"), str(to)]
    subprocess.run(export, check=True, timeout=100)
    reader = vtk.vtkXMLHyperTreeGridReader()
    reader.SetFileName(str(max(tmp_path.glob("*.htg"))))
    contour = vtk.vtkHyperTreeGridContour()
    contour.SetInputConnection(reader.GetOutputPort())
    contour.SetInputArrayToProcess(0, 0, 0, vtk.vtkDataObject.FIELD_ASSOCIATION_CELLS, "density")
    contour.SetValue(0, 1.2)
    contour.Update()
    theirs, their_triangles = triangles_of(contour.GetOutput())
    ours, our_triangles = triangles_of(read(tmp_path / "results" / "surface-2.vtp"))
    assert len(ours) == len(theirs) > 300 and len(our_triangles) == len(their_triangles)

    def nearest(some, others):
        return max(np.linalg.norm(others - x, axis=1).min() for x in some)

    assert nearest(ours, theirs) < 1e-6 and nearest(theirs, ours) < 1e-6
