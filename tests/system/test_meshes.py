"""Meshes of 1, 2 and 3 dimensions with variables of every centring: files have the published values."""

import csv
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import pairs
from programs import built
from support import MPIRUN, run_beside
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader

PROGRAM = built("SIDESTREAM_MESH_PROGRAM")
CELLS = (11, 7, 5)
NAMES = ["cell", "x-face", "y-face", "z-edge", "z-face", "y-edge", "x-edge", "node"]
STEPS = 2


def variable(n):
    """Type, components and order of the variable of centring n, as in the program."""
    return ("float64" if n % 2 else "int32"), (2 if n % 3 == 1 else 1), ("column" if n % 4 < 2 else "row")


def points(n, dimensions):
    """The number of points along x, y and z: one more than cells along the axes of the bits in n."""
    return [(CELLS[axis] if axis < dimensions else 1) + (axis < dimensions and n >> axis & 1) for axis in range(3)]


def expected(n, dimensions, step):
    """All values of a variable, as [k, j, i, component]."""
    i, j, k = (np.arange(count) for count in points(n, dimensions))
    place = i + 50 * j[:, None] + 2500 * k[:, None, None] + 250000 * step
    components = variable(n)[1]
    return (place[..., None] + 125000 * np.arange(components)).astype(variable(n)[0])


def configuration(folder, placement, dimensions, by_calls=False):
    size = ", ".join(str(n) for n in CELLS[:dimensions])
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n"
    if not by_calls:
        text += f"meshes: {{m: {{type: uniform, size: [{size}], spacing: 0.5}}}}\nvariables:\n"
        for n, name in enumerate(NAMES):
            dtype, components, order = variable(n)
            text += f"  v{n}: {{mesh: m, type: {dtype}, centering: {name}, components: {components}, order: {order}}}\n"
    text += "analyses:\n"
    for n in range(8):
        text += f"  - statistics: {{variable: v{n}, name: s{n}, file: 's{n}.csv'}}\n"
        text += f"  - histogram: {{variable: v{n}, component: 0, name: h{n}, file: 'h{n}-{{index}}.csv', bins: 13}}\n"
    text += "outputs: [hdf5: {}, vtk: {variables: [v0, v7]}]\n"
    (folder / "run.yaml").write_text(text)


def run(folder, ranks, options):
    run_beside(folder, [MPIRUN, "-n", str(ranks), PROGRAM, str(folder / "run.yaml"), *options], STEPS)
    return folder / "results"


def check_hdf5(results, dimensions):
    for step in range(STEPS):
        with h5py.File(results / f"fields-{step:06}.h5") as file:
            for n in range(8):
                values = expected(n, dimensions, step)
                _, components, order = variable(n)
                # The shape has the dimensions of the mesh, then the components.
                shape = values.shape[3 - dimensions : 3] + ((components,) if components > 1 else ())
                values = values.reshape(shape)
                if order == "row":
                    values = values.transpose(*reversed(range(dimensions)), *range(dimensions, values.ndim))
                dataset = file[f"variables/v{n}"]
                assert dataset.shape == values.shape
                assert dataset.dtype == values.dtype
                assert dataset.attrs["missing"] == 0
                np.testing.assert_array_equal(dataset[...], values)


def check_tables(results, dimensions):
    for n in range(8):
        with (results / f"s{n}.csv").open() as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        assert len(rows) == STEPS * variable(n)[1]
        for row in rows:
            values = expected(n, dimensions, int(row["iteration"]))[..., int(row["component"])]
            assert int(row["count"]) == values.size
            assert float(row["sum"]) == values.sum()
            assert (float(row["minimum"]), float(row["maximum"])) == (values.min(), values.max())
        for step in range(STEPS):
            with (results / f"h{n}-{step}.csv").open() as file:
                rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
            values = expected(n, dimensions, step)[..., 0]
            counts = [int(row["count"]) for row in rows]
            assert counts == np.histogram(values, 13, (values.min(), values.max()))[0].tolist()


def check_vtk(results, dimensions):
    for step in range(STEPS):
        reader = vtkXMLPImageDataReader()
        reader.SetFileName(str(results / f"fields-{step:06}.pvti"))
        reader.Update()
        grid = reader.GetOutput()
        size = [CELLS[axis] if axis < dimensions else 0 for axis in range(3)]
        assert grid.GetExtent() == (0, size[0], 0, size[1], 0, size[2])
        assert grid.GetBounds() == (0, size[0] / 2, 0, size[1] / 2, 0, size[2] / 2)
        assert grid.GetDataDimension() == dimensions
        for n, data in ((0, grid.GetCellData()), (7, grid.GetPointData())):
            values = vtk_to_numpy(data.GetArray(f"v{n}"))
            np.testing.assert_array_equal(values.ravel(), expected(n, dimensions, step).ravel())


def check(results, dimensions):
    check_hdf5(results, dimensions)
    check_tables(results, dimensions)
    check_vtk(results, dimensions)


PLACEMENTS = [
    ("inline", 1, 0), ("inline", 2, 0), ("inline", 3, 0), ("inline", 5, 0),
    ("{mode: cores, per_node: 1, buffer: 4 MiB}", 1, 1), ("{mode: cores, per_node: 2, buffer: 4 MiB}", 3, 2),
    ("{mode: cores, per_node: 1, buffer: 4 MiB}", 5, 1), ("{mode: nodes, servers: 1, buffer: 4 MiB}", 1, 1),
    ("{mode: nodes, servers: 2, buffer: 4 MiB}", 2, 2), ("{mode: nodes, servers: 3, buffer: 4 MiB}", 5, 3),
]  # fmt: skip


@pytest.mark.keep(1)
@pytest.mark.parametrize(("dimensions", "placement", "clients", "servers"), pairs([1, 2, 3], PLACEMENTS, strength=1))
def test_every_centring(tmp_path, dimensions, placement, clients, servers):
    configuration(tmp_path, placement, dimensions)
    ghosts = clients % 2 * 2  # both with and without
    check(run(tmp_path, clients + servers, [f"dimensions={dimensions}", f"ghosts={ghosts}"]), dimensions)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_declared_by_calls(tmp_path, dimensions):
    configuration(tmp_path, "{mode: cores, per_node: 1, buffer: 4 MiB}", dimensions, by_calls=True)
    check(run(tmp_path, 3, [f"dimensions={dimensions}", "calls=1", "ghosts=1"]), dimensions)


def refusal(folder, task, dimensions=3):
    """The output of `sidestream check` for a task on these variables."""
    configuration(folder, "inline", dimensions)
    path = Path(folder / "run.yaml")
    text = path.read_text()
    path.write_text(text[: text.index("analyses:")] + task + "\n")
    done = subprocess.run(
        [built("SIDESTREAM_TOOL"), "check", str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    return done.stdout + done.stderr


def test_what_cannot_handle_faces_is_refused(tmp_path):
    assert "'v1' lies at x-faces" in refusal(tmp_path, "outputs: [vtk: {variables: [v1]}]")
    assert "'v1' lies at x-faces" in refusal(tmp_path, "analyses: [slice: {variable: v1, axis: x}]")
    assert "'v6' lies at x-edges" in refusal(tmp_path, "analyses: [slice: {variable: v0, fields: [v6], axis: x}]")
    assert "'v4' lies at z-faces" in refusal(tmp_path, "analyses: [isosurface: {variable: v4, values: [3]}]")
    assert "'v6' lies at y-faces" in refusal(tmp_path, "outputs: [vtk: {variables: [v6]}]", dimensions=2)
