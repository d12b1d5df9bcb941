"""Slices, surfaces and pictures of moving meshes have the same bytes, whole and in blocks, in every placement."""

import hashlib
import os
import uuid

import numpy as np
import pytest
from programs import built
from support import run_beside
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPlane, vtkStructuredGrid
from vtkmodules.vtkFiltersCore import vtkContourFilter, vtkCutter, vtkMassProperties, vtkTriangleFilter
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

PROGRAM = built("SIDESTREAM_MOVING_PROGRAM")
TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS = 3
NX, NY, NZ = 12, 8, 6

CONFIGURATION = """\
placement: PLACEMENT
output: {directory: RESULTS}
meshes:
  c: {type: curvilinear, size: [12, 8, 6], coordinates: cpos}
  u: {type: unstructured, coordinates: upos, connectivity: links, offsets: ends, types: kinds,
      point_ids: points, cell_ids: cells}
variables:
  cpos: {mesh: c, components: 3}
  cn: {mesh: c, centering: node}
  ct: {mesh: c}
  upos: {mesh: u, components: 3}
  links: {mesh: u, type: int64}
  ends: {mesh: u, type: int64}
  kinds: {mesh: u, type: uint8}
  points: {mesh: u, type: int64}
  cells: {mesh: u, type: int64}
  un: {mesh: u, centering: node}
  ut: {mesh: u}
analyses:
  - isosurface: {name: ci, variable: cn, values: [0.2, 0.5], fields: [ct], file: "ci-{index}.vtp"}
  - isosurface: {name: ui, variable: un, values: [0.2, 0.5], fields: [un], file: "ui-{index}.vtp"}
  - isosurface: {name: cc, variable: ct, values: 30255.5, file: "cc-{index}.vtp"}
  - slice: {name: cs, variable: cn, normal: [1, 1, 0.2], origin: [0.5, 0.5, 0.5], fields: [ct], file: "cs-{index}.vtp"}
  - slice: {name: us, variable: un, normal: [1, 1, 0.2], origin: [0.5, 0.5, 0.5], file: "us-{index}.vtp"}
  - slice: {name: ut, variable: ut, normal: [1, 1, 0.2], origin: [0.5, 0.5, 0.5], file: "ut-{index}.vtp"}
  - render: {name: r, isosurface: {variable: un, values: 0.5}, slice: {variable: ct, axis: z, position: 0.4},
             size: [300, 240], file: "r-{index}.png"}
"""
PLACEMENTS = [
    ("{mode: inline}", 1, 0, 1),
    ("{mode: inline}", 3, 0, 5),
    ("{mode: cores, per_node: 1, buffer: 16 MiB}", 3, 1, 8),
    ("{mode: nodes, buffer: 32 MiB, servers: 2}", 3, 2, 3),
    ("{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks}", 2, 2, 2),
]


def configure(folder, placement):
    path = folder / "run.yaml"
    text = CONFIGURATION.replace("PLACEMENT", placement)
    path.write_text(text.replace("RESULTS", str(folder / "results")))
    return path


def simulate(folder, placement, clients, servers, blocks, beside=None):
    path = configure(folder, placement)
    run_beside(folder, [MPIRUN, "-n", str(clients + servers), PROGRAM, str(path), str(blocks)], STEPS, beside)
    return digests(folder)


def digests(folder):
    files = sorted((folder / "results").glob("*-*.[vp][tn][pg]"))
    assert len(files) == 7 * STEPS, files
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    return folder, simulate(folder, *PLACEMENTS[0])


@pytest.mark.keep(2)
@pytest.mark.parametrize(("placement", "clients", "servers", "blocks"), PLACEMENTS[1:])
def test_placements(tmp_path, alone, placement, clients, servers, blocks):
    assert simulate(tmp_path, placement, clients, servers, blocks) == alone[1]


def test_sidecar(tmp_path, alone):
    placement = f"{{mode: sidecar, session: test-{uuid.uuid4().hex[:12]}, buffer: 16 MiB, when_full: wait}}"
    beside = [TOOL, "serve", str(configure(tmp_path, placement))]
    assert simulate(tmp_path, placement, 2, 0, 5, beside) == alone[1]


def test_job(tmp_path, alone):
    placement = f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}"
    beside = [MPIRUN, "-n", "2", TOOL, "endpoint", str(configure(tmp_path, placement))]
    assert simulate(tmp_path, placement, 2, 0, 5, beside) == alone[1]


def nodes(step):
    """Coordinates of the nodes, [k, j, i, axis]."""
    k, j, i = np.meshgrid(np.arange(NZ + 1), np.arange(NY + 1), np.arange(NX + 1), indexing="ij")
    u, v, w = i / NX, j / NY, k / NZ
    x = u + 0.05 * step + 0.03 * np.sin(5 * v + step)
    y = v + 0.04 * np.cos(4 * w) * u
    z = w * (1 + 0.1 * step) + 0.05 * np.sin(6 * u)
    return np.stack([x, y, z], axis=-1)


def grid(step):
    places = nodes(step).reshape(-1, 3)
    mesh = vtkStructuredGrid()
    mesh.SetDimensions(NX + 1, NY + 1, NZ + 1)
    points = vtkPoints()
    points.SetDataTypeToDouble()
    for place in places:
        points.InsertNextPoint(place)
    mesh.SetPoints(points)
    values = vtkDoubleArray()
    values.SetName("n")
    for x, y, z in places:
        values.InsertNextValue((x - 0.5) ** 2 + y**2 + z**2)
    mesh.GetPointData().SetScalars(values)
    return mesh


def read(folder, name, step):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(folder / "results" / f"{name}-{step}.vtp"))
    reader.Update()
    return reader.GetOutput()


def area(surface):
    triangles = vtkTriangleFilter()
    triangles.SetInputData(surface)
    triangles.Update()
    mass = vtkMassProperties()
    mass.SetInputData(triangles.GetOutput())
    mass.Update()
    return mass.GetSurfaceArea()


@pytest.mark.parametrize("step", range(STEPS))
def test_values(alone, step):
    """Both kinds of meshes have the same cells, and give the same surface as VTK."""
    folder = alone[0]
    contour = vtkContourFilter()
    contour.SetInputData(grid(step))
    contour.SetValue(0, 0.2)
    contour.SetValue(1, 0.5)
    plane = vtkPlane()
    plane.SetOrigin(0.5, 0.5, 0.5)
    plane.SetNormal(1, 1, 0.2)
    cutter = vtkCutter()
    cutter.SetInputData(grid(step))
    cutter.SetCutFunction(plane)
    for filter_, names in ((contour, ("ci", "ui")), (cutter, ("cs", "us"))):
        filter_.Update()
        expected = area(filter_.GetOutput())
        curved, listed = (read(folder, name, step) for name in names)
        assert curved.GetNumberOfPolys() == listed.GetNumberOfPolys() > 50
        for surface in (curved, listed):
            assert area(surface) == pytest.approx(expected, rel=1e-3)
        places = [vtk_to_numpy(surface.GetPoints().GetData()) for surface in (curved, listed)]
        assert {tuple(x) for x in places[0]} == {tuple(x) for x in places[1]}
    slice_ = read(folder, "ut", step)
    assert area(slice_) == pytest.approx(area(cutter.GetOutput()), rel=1e-6)
    values = vtk_to_numpy(slice_.GetPointData().GetArray("ut"))
    known = {float(i + 100 * j + 10000 * k) for i in range(NX) for j in range(NY) for k in range(NZ)}
    assert set(values.tolist()) <= known
