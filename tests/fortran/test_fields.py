"""Values that Fortran programs publish in every placement, read by h5py, have the bits of the formula."""

import os
import subprocess
import uuid

import h5py
import numpy as np
import pytest

PROGRAM = os.environ["SIDESTREAM_FORTRAN_FIELDS"]
MESHES_PROGRAM = os.environ["SIDESTREAM_FORTRAN_MESHES"]
TOOL = os.environ["SIDESTREAM_TOOL"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
NX, NY, NZ, STEPS = 7, 8, 6, 2

CONFIGURATION = """\
placement: {PLACEMENT}
output: {directory: DIRECTORY}
meshes:
  plane: {type: uniform, size: [$nx, $ny]}
  line: {type: uniform, size: [$nx]}
  cloud: {type: points, coordinates: places}
variables:
  corners: {mesh: plane, centering: node}
  pairs: {mesh: plane, type: int16, components: 2}
  unsigned: {mesh: line, type: uint8}
  reals: {mesh: line, type: float32}
  places: {mesh: cloud, components: 3}
  masses: {mesh: cloud, type: float32}
outputs:
  - hdf5:
      variables: [ghosts, nodes, bytes, shorts, ints, longs, last, first, rows, corners, pairs, unsigned, reals, masses]
"""


def values(step, shape, components=1, order="column"):
    """The values by k, j, i and component, or by i, j, k and component."""
    i, j, k, c = np.ogrid[: shape[0], : shape[1], : shape[2], :components]
    every = i + 20 * j + 400 * k + 8000 * c + 10 * step
    return every.transpose(2, 1, 0, 3) if order == "column" else every


def expected(step):
    box, nodes = (NX, NY, NZ), (NX + 1, NY + 1, NZ + 1)
    line = values(step, (NX, 1, 1))
    return {
        "ghosts": values(step, box).astype(np.float64),
        "nodes": values(step, nodes).astype(np.float32),
        "bytes": (values(step, box) % 100).astype(np.int8),
        "shorts": values(step, box).astype(np.int16),
        "ints": values(step, box).astype(np.int32),
        "longs": values(step, box).astype(np.int64),
        "last": values(step, box, 3)[..., :].astype(np.float64),
        "first": values(step, box, 2).astype(np.float32),
        "rows": values(step, box, 2, "row").astype(np.int32),
        "corners": values(step, (NX + 1, NY + 1, 1)).astype(np.float64),
        "pairs": values(step, (NX, NY, 1), 2).astype(np.int16),
        "unsigned": (line % 100).astype(np.uint8),
        "reals": None,  # not by the formula: each block is published backwards
    }


def reals(step, clients):
    blocks = [np.arange(NX * r // clients, NX * (r + 1) // clients)[::-1] for r in range(clients)]
    return (np.concatenate(blocks) + 10 * step).astype(np.float32)


def check(results, clients):
    for step in range(STEPS):
        with h5py.File(results / f"fields-{step:06}.h5") as file:
            for name, array in expected(step).items():
                array = reals(step, clients) if array is None else array
                dataset = file[f"variables/{name}"]
                assert dataset.dtype == array.dtype, name
                assert dataset.attrs["missing"] == 0, name
                np.testing.assert_array_equal(dataset[...], array.reshape(dataset.shape), name)
            masses = [100 * r + n + step for r in range(clients) for n in range(1, 6)]
            np.testing.assert_array_equal(file["variables/masses"][...].ravel(), np.float32(masses))
            places = [[r + 0.1 * a * n for a in (1, 2, 3)] for r in range(clients) for n in range(1, 6)]
            path = file["meshes/cloud"].attrs["coordinates"]
            np.testing.assert_allclose(file[path][...].reshape(-1, 3), places, rtol=1e-15)


def run(folder, ranks, placement, beside=None):
    file, results = folder / "run.yaml", folder / "results"
    file.write_text(CONFIGURATION.replace("{PLACEMENT}", placement).replace("DIRECTORY", str(results)))
    servers = subprocess.Popen([TOOL, "serve", str(file)]) if beside else None
    try:
        command = [MPIRUN, "-n", str(ranks), PROGRAM, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        if servers:
            assert servers.wait(30) == 0
    finally:
        if servers and servers.poll() is None:
            servers.kill()
    return results


@pytest.mark.keep(2)
@pytest.mark.parametrize("clients", [1, 2, 3])
@pytest.mark.parametrize("placement", ["inline", "{mode: cores, buffer: 32 MiB}", "{mode: nodes, servers: 2}"])
def test_fields(tmp_path, clients, placement):
    servers = {"inline": 0, "{mode: cores, buffer: 32 MiB}": 1, "{mode: nodes, servers: 2}": 2}[placement]
    check(run(tmp_path, clients + servers, placement), clients)


@pytest.mark.keep(1)
@pytest.mark.parametrize("clients", [1, 2, 3])
def test_sidecar(tmp_path, clients):
    placement = f"{{mode: sidecar, buffer: 32 MiB, session: test-{uuid.uuid4().hex[:12]}}}"
    check(run(tmp_path, clients, placement, beside=True), clients)


MESHES = """\
placement: inline
output: {directory: DIRECTORY}
events: [now]
outputs:
  - hdf5: {variables: [r, c, u, xyz, o], on: now}
  - hdf5: {name: levels, variables: [l], file: "levels-{cycle}.h5"}
"""


def test_meshes(tmp_path):
    """Meshes of every kind, which the program declares by calls."""
    results = tmp_path / "results"
    (tmp_path / "run.yaml").write_text(MESHES.replace("DIRECTORY", str(results)))
    command = [MPIRUN, "-n", "1", MESHES_PROGRAM, str(tmp_path / "run.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with h5py.File(results / "fields-000003.h5") as file:
        assert file.attrs["time"] == 1.5
        np.testing.assert_array_equal(file["meshes/rect/x"][...], [0, 1, 3])
        np.testing.assert_array_equal(file["meshes/rect/y"][...], [0, 2, 5, 9])
        kinds = {name: mesh.attrs["kind"] for name, mesh in file["meshes"].items()}
        assert kinds == {
            "rect": "rectilinear",
            "curved": "curvilinear",
            "triangle": "unstructured",
            "cloud": "points",
            "tree": "octree",
        }
        assert list(file["meshes/tree"].attrs["spacing"])[:2] == [2, 1]
        np.testing.assert_array_equal(file["variables/r"][...], [[1, 2], [3, 4], [5, 6]])
        np.testing.assert_array_equal(file["variables/c"][...], [[8, 9]])
        corners = file[file["meshes/triangle"].attrs["coordinates"]]
        np.testing.assert_array_equal(corners[...], [[1, 2], [3, 4], [5, 6]])
        assert list(file[file["meshes/triangle"].attrs["point_ids"]][...]) == [10, 11, 12]
        np.testing.assert_array_equal(file["variables/xyz"][...], [[1, 3, 5], [2, 4, 6]])
        assert list(file["variables/o"][...]) == [1, 2]
    with h5py.File(results / "levels-3-000.h5") as file:
        levels = sorted(block.attrs["level"] for block in file["variables/l"].values())
        assert levels == [0, 1]
        assert list(file["meshes/levels"].attrs["origin"]) == [1, 2, 3]
