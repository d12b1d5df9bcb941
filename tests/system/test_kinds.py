"""Meshes whose coordinates are variables, and refinement levels: files have the published values."""

import csv
import os
import uuid

import h5py
import numpy as np
import pytest
from kinds_database import check_database
from kinds_values import BOXES, NX, NY, NZ, curvilinear, levels, lists
from kinds_vtk import check_gap, check_vtk
from pairs import few, pairs
from programs import built
from support import run_beside

PROGRAM = built("SIDESTREAM_KINDS_PROGRAM")
TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS = 4

DECLARATIONS = {
    "curvilinear": """\
meshes: {m: {type: curvilinear, size: SIZE, coordinates: pos}}
variables:
  pos: {mesh: m, type: float64, components: DIMENSIONS, time_varying: false}
  t: {mesh: m}
  n: {mesh: m, type: float32, centering: node}
""",
    "unstructured": """\
meshes:
  m: {type: unstructured, dimensions: DIMENSIONS, coordinates: pos, connectivity: links, offsets: ends, types: kinds,
      faces: faces, face_offsets: face_ends}
variables:
  pos: {mesh: m, type: float32, components: DIMENSIONS}
  links: {mesh: m, type: int64, time_varying: VARYING}
  ends: {mesh: m, type: int32, time_varying: VARYING}
  faces: {mesh: m, type: int64, time_varying: VARYING}
  face_ends: {mesh: m, type: int64, time_varying: VARYING}
  kinds: {mesh: m, type: uint8, time_varying: VARYING}
  t: {mesh: m, components: 2}
  n: {mesh: m, type: float32, centering: node}
""",
    "points": """\
meshes: {m: {type: points, dimensions: DIMENSIONS, coordinates: pos, point_ids: ids, point_ghosts: flags}}
variables:
  pos: {mesh: m, type: float32, components: DIMENSIONS}
  ids: {mesh: m, type: int64}
  flags: {mesh: m, type: uint8}
  n: {mesh: m, type: float32, centering: node}
""",
    "octree": """\
meshes:
  m: {type: octree, size: [2, 1, 1], origin: [-1, 0, 0.5], spacing: [2, 1, 1.5], refined: split, owned: mine}
variables:
  split: {mesh: m, type: uint8}
  mine: {mesh: m, type: uint8}
  t: {mesh: m, components: 2}
""",
    "levels": """\
meshes: {m: {type: uniform, size: [8, 8, 4], refinement: ['2', 2x2x1], periodic: x}}
variables: {t: {mesh: m}, n: {mesh: m, centering: node}}
""",
}
TASKS = {
    "curvilinear": ["t", "n"],
    "unstructured": ["t", "n"],
    "points": ["n"],
    "octree": ["t"],
    "levels": ["t", "n"],
}


def configure(folder, kind, placement, changing=0, calls=0, dimensions=3):
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n"
    if not calls:
        declared = DECLARATIONS[kind].replace("VARYING", "true" if changing else "false")
        text += declared.replace("DIMENSIONS", str(dimensions)).replace("SIZE", str([NX, NY, NZ][:dimensions]))
    text += "analyses:\n"
    for name in TASKS[kind]:
        text += f"  - statistics: {{variable: {name}, name: s-{name}, file: 's-{name}.csv'}}\n"
        text += f"  - histogram: {{variable: {name}, component: 0, name: h-{name}, file: 'h-{name}-{{index}}.csv'}}\n"
    # One name is enough, because the arrays of its mesh come along.
    names = ", ".join(TASKS[kind])
    text += f"outputs: [hdf5: {{variables: [{names}]}}, vtk: {{variables: [{names}]}}, "
    text += f"database: {{directory: data, variables: [{names}]}}]\n"
    path = folder / "run.yaml"
    path.write_text(text)
    return path


def simulate(folder, path, kind, ranks, changing, calls, beside=None, **further):
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(path), f"kind={kind}", f"steps={STEPS}"]
    command += [f"changing={changing}", f"calls={calls}", *(f"{key}={value}" for key, value in further.items())]
    run_beside(folder, command, STEPS, beside)
    return folder / "results"


# ---- what was written


def check_tables(results, name, step, values):
    """Checks a data set; `values` are those that count, as [point, component]."""
    with (results / f"s-{name}.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["iteration"]) == step]
    assert len(rows) == values.shape[1]
    for row in rows:
        column = values[:, int(row["component"])].astype(float)
        assert int(row["count"]) == column.size
        assert float(row["sum"]) == column.sum()
        if column.size:
            assert (float(row["minimum"]), float(row["maximum"])) == (column.min(), column.max())
    with (results / f"h-{name}-{step}.csv").open() as file:
        counts = [int(row["count"]) for row in csv.DictReader(file)]
    assert sum(counts) == len(values)


def check_lists(results, kind, blocks, changing, dimensions):
    for step in range(STEPS):
        expected = lists(kind, blocks, changing, step, dimensions)
        with h5py.File(results / f"fields-{step:06}.h5") as file:
            for name, arrays in expected.items():
                ids = [b for b, array in enumerate(arrays) if len(array)]
                dataset = file[f"variables/{name}"]
                if not ids:
                    assert len(dataset) == 0, name
                    continue
                assert list(dataset.attrs["blocks"]) == ids, name
                assert list(dataset.attrs["lengths"]) == [len(arrays[b]) for b in ids], name
                values = np.concatenate([arrays[b] for b in ids])
                values = values.reshape(dataset.shape)  # a single component is not an axis
                assert dataset.dtype == values.dtype, name
                np.testing.assert_array_equal(dataset[...], values, name)
            mesh = file["meshes/m"].attrs
            assert mesh["kind"] == kind
            if kind == "octree":
                assert (mesh["refined"], mesh["owned"]) == ("variables/split", "variables/mine")
                assert list(mesh["roots"]) == [2, 1, 1]
                assert (list(mesh["origin"]), list(mesh["spacing"])) == ([-1, 0, 0.5], [2, 1, 1.5])
            else:
                assert mesh["coordinates"] == "variables/pos"
        for name in TASKS[kind]:
            values = np.concatenate(expected[name])
            if "flags" in expected:
                values = values[np.concatenate(expected["flags"]) == 0]
            if kind == "octree":  # counts leaves that the block owns
                values = values[(np.concatenate(expected["split"]) == 0) & (np.concatenate(expected["mine"]) == 1)]
            check_tables(results, name, step, values if values.ndim > 1 else values[:, None])


def check_curvilinear(results, dimensions):
    for step in range(STEPS):
        expected = curvilinear(step, dimensions)
        with h5py.File(results / f"fields-{step:06}.h5") as file:
            for name, values in expected.items():
                dataset = file[f"variables/{name}"]
                assert dataset.dtype == values.dtype
                assert dataset.attrs["missing"] == 0
                np.testing.assert_array_equal(dataset[...], values)
        for name in TASKS["curvilinear"]:
            check_tables(results, name, step, expected[name].reshape(-1, 1))


def check_levels(results):
    for step in range(STEPS):
        check_tables(results, "t", step, levels(0, step))
        check_tables(results, "n", step, levels(1, step))
        boxes = [box for box in BOXES if box[0] < 2 or step % 2 == 0]
        stored = [0, 0, 0]  # stored cells, by level
        for path in results.glob(f"fields-{step:06}-*.h5"):
            with h5py.File(path) as file:
                for block in file["variables/t"].values():
                    level, lo, hi = (block.attrs[name] for name in ("level", "lo", "hi"))
                    stored[level] += block.size
                    i, j, k = (np.arange(lo[a], hi[a]) for a in range(3))
                    expected = i + 50 * j[:, None] + 2500 * k[:, None, None] + 250000 * level + 1000000 * step
                    np.testing.assert_array_equal(block[...], expected)
        for level in range(3):
            assert stored[level] == sum(np.prod(np.subtract(hi, lo)) for at, lo, hi in boxes if at == level)


def check(results, kind, blocks, changing, dimensions=3):
    if kind == "curvilinear":
        check_curvilinear(results, dimensions)
    elif kind == "levels":
        check_levels(results)
    else:
        check_lists(results, kind, blocks, changing, dimensions)
    check_vtk(results, kind, range(STEPS), blocks, changing, dimensions)
    check_database(results, STEPS)


KINDS = [("curvilinear", 0), ("unstructured", 0), ("unstructured", 1), ("points", 1), ("octree", 1), ("levels", 0)]
PLACEMENTS = [
    ("inline", 1, 0), ("inline", 3, 0), ("inline", 8, 0),
    ("{mode: cores, per_node: 1, buffer: 4 MiB}", 2, 1), ("{mode: cores, per_node: 3, buffer: 4 MiB}", 5, 3),
    ("{mode: nodes, servers: 1, buffer: 4 MiB}", 3, 1), ("{mode: nodes, servers: 2, buffer: 4 MiB}", 2, 2),
    ("{mode: nodes, servers: 3, buffer: 4 MiB, partitioner: regrid}", 5, 3),
    ("{mode: nodes, servers: 2, buffer: 4 MiB, forward: blocks}", 5, 3),
    ("{mode: nodes, servers: 2, buffer: 4 MiB, partitioner: {replicated: {copies: 2}}}", 2, 2),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "changing", "placement", "clients", "servers"),
    few(
        KINDS,
        PLACEMENTS,
        kept=[("octree", 1, "{mode: nodes, servers: 2, buffer: 4 MiB, forward: blocks}", 5, 3)],
    ),
)
def test_placements(tmp_path, kind, changing, placement, clients, servers):
    path = configure(tmp_path, kind, placement, changing)
    check(simulate(tmp_path, path, kind, clients + servers, changing, 0), kind, 2 * clients, changing)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("kind", "changing"), KINDS)
def test_declared_by_calls(tmp_path, kind, changing):
    path = configure(tmp_path, kind, "{mode: nodes, servers: 2, buffer: 4 MiB}", changing, calls=1)
    check(simulate(tmp_path, path, kind, 5, changing, 1), kind, 6, changing)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("kind", "changing"), few(KINDS[::-1], keep=2))
def test_sidecar(tmp_path, kind, changing):
    session = f"test-{uuid.uuid4().hex[:12]}"
    path = configure(tmp_path, kind, f"{{mode: sidecar, session: {session}, buffer: 4 MiB, when_full: wait}}", changing)
    results = simulate(tmp_path, path, kind, 3, changing, 0, [TOOL, "serve", str(path)])
    check(results, kind, 6, changing)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("kind", "changing"), few(KINDS[2:] + KINDS[:2], keep=2))
def test_job(tmp_path, kind, changing):
    path = configure(
        tmp_path,
        kind,
        f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}",
        changing,
    )
    beside = [MPIRUN, "-n", "2", TOOL, "endpoint", str(path)]
    # One rank of the node hands over the iterations.
    check(simulate(tmp_path, path, kind, 4, changing, 0, beside), kind, 6, changing)


@pytest.mark.keep(2)
@pytest.mark.parametrize(("kind", "changing", "dimensions"), pairs(KINDS[:4], [1, 2], strength=1))
def test_fewer_dimensions(tmp_path, kind, changing, dimensions):
    path = configure(tmp_path, kind, "{mode: cores, per_node: 1, buffer: 4 MiB}", changing, dimensions=dimensions)
    results = simulate(tmp_path, path, kind, 3, changing, 0, dimensions=dimensions)
    check(results, kind, 4, changing, dimensions)


@pytest.mark.parametrize(("kind", "changing"), [("points", 1), ("unstructured", 0)])
def test_hardly_anything(tmp_path, kind, changing):
    """The first step has no points at all."""
    path = configure(tmp_path, kind, "inline", changing)
    check(simulate(tmp_path, path, kind, 1, changing, 0, blocks=1), kind, 1, changing)


def test_gap(tmp_path):
    """Nobody has one block of a curvilinear mesh: its nodes have no coordinates, and its cells are hidden."""
    path = configure(tmp_path, "curvilinear", "{mode: nodes, servers: 2, buffer: 4 MiB}")
    results = simulate(tmp_path, path, "curvilinear", 5, 0, 0, gap=2)
    check_gap(results / "fields-000001.pvts", 1, (4, 6))
