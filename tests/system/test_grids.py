"""Projections, probes, resampling, deposits and samples of data of tests/system/kinds_program.c, in every placement,
compared with sums over all cells and particles."""

import csv
import itertools
import math
import os
import struct
import uuid

import h5py
import numpy as np
import pytest
from kinds_values import BOXES, NX, NY, NZ, TO_FINEST, curvilinear, finest_levels, lists
from pairs import few
from programs import built
from support import run_beside
from test_kinds import DECLARATIONS
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

PROGRAM = built("SIDESTREAM_KINDS_PROGRAM")
TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS = 2

ANALYSES = {
    "levels": """\
  - projection: {name: a, variable: t, axis: x, file: "a-{index}.h5"}
  - projection: {name: b, variable: t, axis: z, quantity: mean, weight: t, file: "b-{index}.h5",
                 image: {file: "b-{index}.png", size: [320, 240]}}
  - projection: {name: c, variable: t, axis: y, level: 0, pieces: true, file: "c-{index}.h5"}
  - resample: {name: d, variables: t, size: [32, 32, 8], file: "d-{index}.h5"}
  - resample: {name: e, variables: n, size: [32, 32, 8], method: linear, file: "e-{index}.h5"}
  - probe: {variables: [t, n], line: {from: [0.0513, 0.1137, 0.2071], to: [7.913, 7.871, 3.897], samples: 50}}
""",
    "curvilinear": """\
  - probe: {variables: [t, n], line: {from: [0.3, 0.1, 0.1], to: [9.5, 6.1, 2.8], samples: 50}}
  - resample: {variables: n, method: linear, size: [6, 5, 4], low: [0, 0, -1], high: [10, 7, 4], file: "f-{index}.h5"}
  - resample: {name: cells, variables: t, size: [6, 5, 4], low: [0, 0, -1], high: [10, 7, 4], file: "g-{index}.h5"}
""",
    "points": """\
  - deposit: {name: h, mesh: m, weight: n, size: [16, 8, 4], low: [0, 0, 0], high: [4096, 4096, 4096], periodic: true,
              file: "h-{index}.h5"}
  - deposit: {name: i, mesh: m, size: [16, 8, 4], low: [0, 1.0e+5, 2.0e+5], high: [1.0e+4, 2.0e+5, 3.0e+5], method: ngp,
              file: "i-{index}.h5"}
  - subsample: {name: j, mesh: m, variables: n, fraction: 0.3, file: "j-{index}.csv"}
  - subsample: {name: k, mesh: m, variables: n, maximum: 12, file: "k-{index}.vtp"}
""",
}


def leaves(step):
    """Level and value of the leaf at each cell of the finest grid, [z, y, x]."""
    boxes = [box for box in BOXES if box[0] < 2 or step % 2 == 0]
    levels, values = np.zeros((8, 32, 32), int), np.zeros((8, 32, 32))
    for (x, y, z), level in finest_levels(boxes).items():
        i, j, k = np.array((x, y, z)) // TO_FINEST[level]
        levels[z, y, x] = level
        values[z, y, x] = i + 50 * j + 2500 * k + 250000 * level + 1000000 * step
    return levels, values


def read(results, name):
    with h5py.File(results / name) as file:
        return {key: dataset[...] for key, dataset in file.items()}, dict(file.attrs)


def check_levels(results):
    for step in range(STEPS):
        levels, t = leaves(step)
        # Every number here is a whole number times a power of two, so that sums are exact in any order.
        along_x, _ = read(results, f"a-{step}.h5")
        np.testing.assert_array_equal(along_x["t"], t.sum(axis=2) * 0.25)
        np.testing.assert_array_equal(along_x["length"], np.full((8, 32), 8.0))
        np.testing.assert_array_equal(along_x["z"], (np.arange(8) + 0.5) / 2)
        mean, attributes = read(results, f"b-{step}.h5")
        assert (attributes["quantity"], attributes["axis"], attributes["level"]) == ("mean", "z", 2)
        np.testing.assert_allclose(mean["t"], (t * t).sum(axis=0) / t.sum(axis=0), rtol=1e-15)
        np.testing.assert_array_equal(mean["weight"], t.sum(axis=0) * 0.5)
        coarse, _ = read(results, f"c-{step}.h5")
        expected = (t.sum(axis=1) * 0.25).reshape(4, 2, 8, 4).mean(axis=(1, 3))
        np.testing.assert_array_equal(coarse["t"], expected)
        nearest, _ = read(results, f"d-{step}.h5")
        np.testing.assert_array_equal(nearest["t"], t)
        x, y, z = nearest["x"], nearest["y"][:, None], nearest["z"][:, None, None]
        ratio = np.array([[1, 1, 1], [2, 2, 2], [4, 4, 2]])[levels]
        n = x * ratio[..., 0] + 50 * y * ratio[..., 1] + 2500 * z * ratio[..., 2] + 250000 * levels + 1e6 * step
        np.testing.assert_allclose(read(results, f"e-{step}.h5")[0]["n"], n, rtol=1e-12)
        rows = table(results / "probe.csv", step)
        assert len(rows) == 50
        for row in rows:
            place = np.array([row[a] for a in "xyz"]) * (4, 4, 2)
            assert np.abs(place - place.round()).min() > 1e-9  # inside a cell, not on its border
            at = tuple(np.floor(place).astype(int)[::-1])
            level = levels[at]
            scale = [(1, 1, 1), (2, 2, 2), (4, 4, 2)][level]
            assert row["t"] == t[at]
            linear = sum(w * s * row[a] for w, s, a in zip((1, 50, 2500), scale, "xyz", strict=True))
            assert row["n"] == pytest.approx(linear + 250000 * level + 1e6 * step, rel=1e-12)
    image = vtkPNGReader()
    image.SetFileName(str(results / "b-1.png"))
    image.Update()
    assert image.GetOutput().GetDimensions() == (320, 240, 1)


def table(path, step=None):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for key, value in row.items():
            row[key] = value if key == "probe" else float(value)
    return [row for row in rows if step is None or row["iteration"] == step]


def check_place(place, t, n, step):
    """The coordinates of the mesh are i + j / 4, j + k / 2, k - i / 8, and n is linear in them."""
    i, j, k = np.linalg.solve([[1, 0.25, 0], [0, 1, 0.5], [-0.125, 0, 1]], place)
    if not (-1e-9 < i < NX + 1e-9 and -1e-9 < j < NY + 1e-9 and -1e-9 < k < NZ + 1e-9):
        assert math.isnan(t)
        assert math.isnan(n)
        return 0
    assert n == pytest.approx(i + 50 * j + 2500 * k + 250000 * step, abs=1e-6)
    if all(abs(x - round(x)) > 1e-9 for x in (i, j, k)):
        assert t == curvilinear(step)["t"][int(k), int(j), int(i)]
    return 1


def check_curvilinear(results):
    for step in range(STEPS):
        rows = table(results / "probe.csv", step)
        assert sum(check_place([row[a] for a in "xyz"], row["t"], row["n"], step) for row in rows) == 50
        nodes, attributes = read(results, f"f-{step}.h5")
        cells, _ = read(results, f"g-{step}.h5")
        found = 0
        for c, b, a in itertools.product(range(4), range(5), range(6)):
            place = [nodes["x"][a], nodes["y"][b], nodes["z"][c]]
            found += check_place(place, cells["t"][c, b, a], nodes["n"][c, b, a], step)
        assert 10 < found == 120 - attributes["outside"]


def particles(step, blocks):
    """Positions, values and numbers of particles that count."""
    arrays = lists("points", blocks, 1, step)
    counts = np.concatenate(arrays["flags"]) == 0
    return [np.concatenate(arrays[name])[counts] for name in ("pos", "n", "ids")]


def deposit(places, weights, low, high, cloud):
    """Exact sums of the shares of particles, each rounded as in the analysis."""
    size = (16, 8, 4)
    terms = {}
    outside = 0
    for place, weight in zip(places.astype(float), weights.astype(float), strict=True):
        shares = []
        for x, lo, hi, n in zip(place, low, high, size, strict=True):
            u = (x - lo) / (hi - lo) * n
            if not cloud:
                inside = lo <= x <= hi
                shares.append([(min(int(u), n - 1), 1.0)] if inside else [])
                continue
            u -= n * math.floor(u / n)
            lower = math.floor(u - 0.5)
            part = u - 0.5 - lower
            shares.append([(lower % n, 1 - part), ((lower + 1) % n, part)])
        outside += not all(shares)
        for (i, a), (j, b), (k, c) in itertools.product(*shares):
            if a * b * c > 0:
                terms.setdefault((k, j, i), []).append(weight * (c * b * a))
    grid = np.zeros(size[::-1])
    for cell, values in terms.items():
        grid[cell] = math.fsum(values)
    return grid, outside


def mixed(x):
    """The hash function splitmix64."""
    mask = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def check_points(results, blocks):
    for step in range(STEPS):
        places, values, numbers = particles(step, blocks)
        clouds, attributes = read(results, f"h-{step}.h5")
        expected, _ = deposit(places, values, [0] * 3, [4096] * 3, cloud=True)
        np.testing.assert_array_equal(clouds["n"], expected)
        assert (attributes["particles"], attributes["outside"]) == (len(values), 0)
        counts, attributes = read(results, f"i-{step}.h5")
        expected, outside = deposit(places, np.ones(len(values)), [0, 1e5, 2e5], [1e4, 2e5, 3e5], cloud=False)
        np.testing.assert_array_equal(counts["count"], expected)
        assert attributes["outside"] == outside
        hashes = [mixed(mixed(0) ^ mixed(int(number))) for number in numbers]
        order = sorted(range(len(numbers)), key=hashes.__getitem__)
        drawn = [n for n in order if hashes[n] <= int(0.3 * 2**64)]
        path = results / f"j-{step}.csv"
        rows = table(path)
        assert [(row["point_id"], row["x"], row["z"], row["n"]) for row in rows] == [
            (numbers[n], places[n, 0], places[n, 2], values[n]) for n in drawn
        ]
        reader = vtkXMLPolyDataReader()
        reader.SetFileName(str(results / f"k-{step}.vtp"))
        reader.Update()
        points = reader.GetOutput()
        few = order[:12]
        assert points.GetNumberOfVerts() == len(few)
        np.testing.assert_array_equal(vtk_to_numpy(points.GetPointData().GetArray("point_ids")), numbers[few])
        np.testing.assert_array_equal(vtk_to_numpy(points.GetPoints().GetData()), places[few])


def configure(folder, kind, placement):
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n"
    declared = DECLARATIONS[kind].replace("DIMENSIONS", "3").replace("SIZE", str([NX, NY, NZ]))
    path = folder / "run.yaml"
    path.write_text(text + declared + "analyses:\n" + ANALYSES[kind])
    return path


def run(folder, kind, placement, ranks, beside=None):
    path = configure(folder, kind, placement)
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(path), f"kind={kind}", f"steps={STEPS}", "changing=1"]
    run_beside(folder, command, STEPS, beside(path) if beside else None)
    return folder / "results"


def check(results, kind, blocks):
    if kind == "levels":
        check_levels(results)
    elif kind == "curvilinear":
        check_curvilinear(results)
    else:
        check_points(results, blocks)


PLACEMENTS = [
    ("inline", 1, 0), ("inline", 3, 0), ("{mode: cores, per_node: 2, buffer: 4 MiB}", 3, 2),
    ("{mode: nodes, servers: 2, buffer: 4 MiB}", 3, 2),
    ("{mode: nodes, servers: 2, buffer: 4 MiB, forward: partials}", 5, 3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "placement", "clients", "servers"),
    few(
        ANALYSES,
        PLACEMENTS,
        kept=[("points", *PLACEMENTS[3]), ("curvilinear", *PLACEMENTS[2]), ("levels", *PLACEMENTS[1])],
    ),
)
def test_placements(tmp_path, kind, placement, clients, servers):
    check(run(tmp_path, kind, placement, clients + servers), kind, 2 * clients)


def test_sidecar(tmp_path):
    session = f"test-{uuid.uuid4().hex[:12]}"
    placement = f"{{mode: sidecar, session: {session}, buffer: 4 MiB, when_full: wait}}"
    check(run(tmp_path, "levels", placement, 3, lambda path: [TOOL, "serve", str(path)]), "levels", 6)


def test_job(tmp_path):
    placement = f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}"
    beside = lambda path: [MPIRUN, "-n", "2", TOOL, "endpoint", str(path)]  # noqa: E731
    check(run(tmp_path, "levels", placement, 4, beside), "levels", 6)


def test_the_same_bytes_in_every_placement(tmp_path):
    """Images are compared, too. HDF5 files contain the time of their creation, so that only their arrays are
    compared."""
    kept = []
    for number, (placement, clients, servers) in enumerate(PLACEMENTS[1::3]):
        folder = tmp_path / str(number)
        folder.mkdir()
        results = run(folder, "levels", placement, clients + servers)
        kept.append([(results / "b-0.png").read_bytes(), (results / "probe.csv").read_bytes()])
        for name in "abde":
            arrays, _ = read(results, f"{name}-0.h5")
            kept[-1] += [struct.pack("q", array.size) + array.tobytes() for array in arrays.values()]
    assert all(one == kept[0] for one in kept[1:])
