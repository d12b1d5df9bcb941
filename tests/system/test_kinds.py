"""Meshes that say where they are in variables, and refinement levels: what is written is what was published."""

import csv
import os
import subprocess
import uuid

import h5py
import numpy as np
import pytest

PROGRAM = os.environ["SIDESTREAM_KINDS_PROGRAM"]
TOOL = os.environ["SIDESTREAM_TOOL"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS = 4
NX, NY, NZ = 9, 5, 4

DECLARATIONS = {
    "curvilinear": f"""\
meshes: {{m: {{type: curvilinear, size: [{NX}, {NY}, {NZ}], coordinates: pos}}}}
variables:
  pos: {{mesh: m, type: float64, components: 3, time_varying: false}}
  t: {{mesh: m}}
  n: {{mesh: m, type: float32, centering: node}}
""",
    "unstructured": """\
meshes:
  m: {type: unstructured, coordinates: pos, connectivity: links, offsets: ends, types: kinds, faces: faces,
      face_offsets: face_ends}
variables:
  pos: {mesh: m, type: float32, components: 3}
  links: {mesh: m, type: int64, time_varying: VARYING}
  ends: {mesh: m, type: int64, time_varying: VARYING}
  faces: {mesh: m, type: int64, time_varying: VARYING}
  face_ends: {mesh: m, type: int64, time_varying: VARYING}
  kinds: {mesh: m, type: uint8, time_varying: VARYING}
  t: {mesh: m, components: 2}
  n: {mesh: m, type: float32, centering: node}
""",
    "points": """\
meshes: {m: {type: points, coordinates: pos, point_ids: ids, point_ghosts: flags}}
variables:
  pos: {mesh: m, type: float32, components: 3}
  ids: {mesh: m, type: int64}
  flags: {mesh: m, type: uint8}
  n: {mesh: m, type: float32, centering: node}
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
    "levels": ["t", "n"],
}


def configure(folder, kind, placement, changing=0, calls=0, written="[]"):
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n"
    if not calls:
        text += DECLARATIONS[kind].replace("VARYING", "true" if changing else "false")
    text += "analyses:\n"
    for name in TASKS[kind]:
        text += f"  - statistics: {{variable: {name}, name: s-{name}, file: 's-{name}.csv'}}\n"
        text += f"  - histogram: {{variable: {name}, component: 0, name: h-{name}, file: 'h-{name}-{{index}}.csv'}}\n"
    # One name suffices: the arrays of its mesh come along.
    names = ", ".join(TASKS[kind])
    text += f"outputs: [hdf5: {{variables: [{names}]}}]\n"
    path = folder / "run.yaml"
    path.write_text(text)
    return path


def simulate(folder, path, kind, ranks, changing, calls, beside=None):
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(path), f"kind={kind}", f"steps={STEPS}"]
    command += [f"changing={changing}", f"calls={calls}"]
    other = (
        subprocess.Popen(beside, stdout=(folder / "beside.txt").open("w"), stderr=subprocess.STDOUT) if beside else None
    )
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        if other:
            assert other.wait(60) == 0, (folder / "beside.txt").read_text()
    finally:
        if other and other.poll() is None:
            other.kill()
    accounts = [line for line in done.stdout.splitlines() if line.startswith("account ")]
    assert accounts, done.stdout + done.stderr
    for line in accounts:
        assert f"delivered={STEPS} refused=0 failed=0 unknown=0 absent=0" in line, line + done.stderr
    return folder / "results"


# ---- what was published


def value(block, count, components, step):
    i = np.arange(count)[:, None]
    return (1000 * block + i + 100000 * np.arange(components) + 1000000 * step).astype(float)


def lists(kind, blocks, changing, step):
    """By variable the arrays of all blocks, and the flags that say which values of it count."""
    result = {}

    def add(name, dtype, array):
        result.setdefault(name, []).append(np.asarray(array).astype(dtype))

    for b in range(blocks):
        if kind == "points":
            count = (11 * b + 7 * step) % 17
            add("pos", "float32", value(b, count, 3, step))
            add("n", "float32", value(b, count, 1, step)[:, 0])
            add("ids", "int64", 100 * b + np.arange(count))
            add("flags", "uint8", np.arange(count) % 5 == 4)
            continue
        cells = 0 if b == 1 else 2 + b + (step % 3 if changing else 0)
        points = 0 if b == 1 else 4 + 3 * b + (2 * (step % 2) if changing else 0)
        add("pos", "float32", value(b, points, 3, step))
        add("t", "float64", value(b, cells, 2, step))
        add("n", "float32", value(b, points, 1, step)[:, 0])
        add("links", "int64", (7 * np.arange(3 * cells) + b) % max(points, 1))
        add("ends", "int64", 3 * (np.arange(cells) + 1))
        add("faces", "int64", np.arange(2 * cells) + b)
        add("face_ends", "int64", 2 * (np.arange(cells) + 1))
        add("kinds", "uint8", np.full(cells, 5))
    return result


def curvilinear(step):
    i, j, k = np.arange(NX + 1), np.arange(NY + 1)[:, None], np.arange(NZ + 1)[:, None, None]
    n = (i + 50 * j + 2500 * k + 250000 * step).astype("float32")
    shape = n.shape
    pos = np.stack([i + 0.25 * j + 0 * k, j + 0.5 * k + 0 * i, k - 0.125 * i + 0 * j], axis=-1)
    assert pos.shape == (*shape, 3)
    return {"pos": pos, "t": n[:NZ, :NY, :NX].astype(float), "n": n}


def check_tables(results, name, step, values):
    """`values`: those that count, as [point, component]."""
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


def check_lists(results, kind, blocks, changing):
    for step in range(STEPS):
        expected = lists(kind, blocks, changing, step)
        with h5py.File(results / f"fields-{step:06}.h5") as file:
            for name, arrays in expected.items():
                dataset = file[f"variables/{name}"]
                ids = [b for b, array in enumerate(arrays) if len(array)]
                assert list(dataset.attrs["blocks"]) == ids, name
                assert list(dataset.attrs["lengths"]) == [len(arrays[b]) for b in ids], name
                values = np.concatenate([arrays[b] for b in ids])
                assert dataset.dtype == values.dtype, name
                np.testing.assert_array_equal(dataset[...], values, name)
            mesh = file["meshes/m"].attrs
            assert mesh["kind"] == kind
            assert mesh["coordinates"] == "variables/pos"
        for name in TASKS[kind]:
            values = np.concatenate(expected[name])
            if "flags" in expected:
                values = values[np.concatenate(expected["flags"]) == 0]
            check_tables(results, name, step, values.reshape(len(values), -1))


def check_curvilinear(results):
    for step in range(STEPS):
        expected = curvilinear(step)
        with h5py.File(results / f"fields-{step:06}.h5") as file:
            for name, values in expected.items():
                dataset = file[f"variables/{name}"]
                assert dataset.dtype == values.dtype
                assert dataset.attrs["missing"] == 0
                np.testing.assert_array_equal(dataset[...], values)
        for name in TASKS["curvilinear"]:
            check_tables(results, name, step, expected[name].reshape(-1, 1))


BOXES = [
    (0, (0, 0, 0), (4, 8, 4)), (0, (4, 0, 0), (8, 8, 4)), (1, (4, 2, 0), (8, 10, 8)),
    (1, (8, 2, 0), (12, 10, 6)), (2, (10, 6, 2), (16, 12, 6)), (2, (16, 6, 2), (20, 12, 6)),
]  # fmt: skip
TO_FINEST = [np.array(r) for r in ((4, 4, 2), (2, 2, 1), (1, 1, 1))]


def levels(node, step):
    """The values that count: of each place those of the finest level that has it, by looking at every cell."""
    boxes = [box for box in BOXES if box[0] < 2 or step % 2 == 0]
    finest = {}  # of each cell of the finest grid: the finest level that has it
    for level, lo, hi in boxes:
        r = TO_FINEST[level]
        for k in range(lo[2] * r[2], hi[2] * r[2]):
            for j in range(lo[1] * r[1], hi[1] * r[1]):
                for i in range(lo[0] * r[0], hi[0] * r[0]):
                    finest[i, j, k] = max(level, finest.get((i, j, k), 0))
    found = {}  # by place the level and the value
    for level, lo, hi in boxes:
        r = TO_FINEST[level]
        for k in range(lo[2], hi[2] + node):
            for j in range(lo[1], hi[1] + node):
                for i in range(lo[0], hi[0] + node):
                    v = i + 50 * j + 2500 * k + 250000 * level + 1000000 * step
                    if node:
                        place = (i * r[0], j * r[1], k * r[2])
                        if found.get(place, (-1, 0))[0] <= level:
                            found[place] = (level, v)
                    elif not all(
                        finest[i * r[0] + x, j * r[1] + y, k * r[2] + z] > level
                        for z in range(r[2]) for y in range(r[1]) for x in range(r[0])
                    ):  # fmt: skip
                        found[level, i, j, k] = (level, v)
    return np.array([v for _, v in found.values()]).reshape(-1, 1)


def check_levels(results):
    for step in range(STEPS):
        check_tables(results, "t", step, levels(0, step))
        check_tables(results, "n", step, levels(1, step))
        boxes = [box for box in BOXES if box[0] < 2 or step % 2 == 0]
        stored = [0, 0, 0]  # cells, by level
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


def check(results, kind, clients, changing):
    if kind == "curvilinear":
        check_curvilinear(results)
    elif kind == "levels":
        check_levels(results)
    else:
        check_lists(results, kind, 2 * clients, changing)


KINDS = [("curvilinear", 0), ("unstructured", 0), ("unstructured", 1), ("points", 1), ("levels", 0)]
PLACEMENTS = [
    ("inline", 1, 0), ("inline", 3, 0), ("inline", 8, 0),
    ("{mode: cores, per_node: 1, buffer: 4 MiB}", 2, 1), ("{mode: cores, per_node: 3, buffer: 4 MiB}", 5, 3),
    ("{mode: nodes, servers: 1, buffer: 4 MiB}", 3, 1), ("{mode: nodes, servers: 2, buffer: 4 MiB}", 2, 2),
    ("{mode: nodes, servers: 3, buffer: 4 MiB, partitioner: regrid}", 5, 3),
    ("{mode: nodes, servers: 2, buffer: 4 MiB, forward: blocks}", 5, 3),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "changing"), KINDS)
@pytest.mark.parametrize(("placement", "clients", "servers"), PLACEMENTS)
def test_placements(tmp_path, kind, changing, placement, clients, servers):
    path = configure(tmp_path, kind, placement, changing)
    check(simulate(tmp_path, path, kind, clients + servers, changing, 0), kind, clients, changing)


@pytest.mark.parametrize(("kind", "changing"), KINDS)
def test_declared_by_calls(tmp_path, kind, changing):
    path = configure(tmp_path, kind, "{mode: nodes, servers: 2, buffer: 4 MiB}", changing, calls=1)
    check(simulate(tmp_path, path, kind, 5, changing, 1), kind, 3, changing)


@pytest.mark.parametrize(("kind", "changing"), KINDS)
def test_sidecar(tmp_path, kind, changing):
    session = f"test-{uuid.uuid4().hex[:12]}"
    path = configure(tmp_path, kind, f"{{mode: sidecar, session: {session}, buffer: 4 MiB, when_full: wait}}", changing)
    results = simulate(tmp_path, path, kind, 3, changing, 0, [TOOL, "serve", str(path)])
    check(results, kind, 3, changing)


@pytest.mark.parametrize(("kind", "changing"), KINDS)
def test_job(tmp_path, kind, changing):
    path = configure(
        tmp_path, kind, f"{{mode: job, stream: {{name: s, directory: {tmp_path}, engine: files}}}}", changing
    )
    beside = [MPIRUN, "-n", "2", TOOL, "endpoint", str(path)]
    # One rank of the node hands the iterations over.
    check(simulate(tmp_path, path, kind, 4, changing, 0, beside), kind, 3, changing)
