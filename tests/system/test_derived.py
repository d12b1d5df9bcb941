"""Derived variables have the same bits in every placement and division, and those of NumPy."""

import h5py
import numpy as np
import pytest
from job_support import both
from sidecar_support import Sidecar, check_complete
from support import results_of, run

STEPS = 2
N = 12

TASKS = """\
derived:
  warm: 0.5 * t^2 - 2 * x + time
  flow: {expression: gradient(t), unit: K/m}
  steep: magnitude(flow)
  laplacian: {expression: divergence(flow), type: float32}
  turning: vorticity(flow * y)
  mix: p.x * p[1] - magnitude(p) + cycle
  slopes: gradient(p)
  choice: "t > $limit ? max(t, 0.1) : -t"
parameters: {limit: 0.05}
analyses:
  - statistics: {variable: warm, file: warm.csv}
  - statistics: {variable: steep, file: steep.csv}
  - statistics: {variable: turning, file: turning.csv}
  - statistics: {variable: slopes, file: slopes.csv}
  - statistics: {variable: t * t, file: square.csv}
  - statistics: {variable: t, file: rarely.csv, when: max(steep) > 6.5 and mean(warm) < 1e9}
  - histogram: {variable: laplacian, bins: 17}
  - slice: {variable: steep, origin: [0.5, 0.5, 0.5], normal: [0.8, -0.5, 0.3], file: "slice-{index:05}.vtp"}
  - isosurface: {variable: warm, values: [-0.3, 0.2], file: "surface-{index:05}.vtp"}
  - isosurface: {name: of-nodes, variable: mix, values: [0.2], file: "nodes-{index:05}.vtp"}
  - render: {isosurface: {variable: steep, values: [5]}, slice: {variable: turning.z, axis: z, position: 0.2},
             size: [160, 120], file: "frame-{index:05}.png"}
  - projection: {variable: steep, axis: z, file: "sum-{index}.h5"}
  - probe: {variables: steep, cells: linear, point: {name: here, at: [0.3, 0.4, 0.61]}}
outputs:
  - hdf5: {variables: [t, p, warm, flow, steep, laplacian, turning, mix, slopes, choice]}
  - vtk: {variables: [steep, mix], file: "vtk-{index}.pvti"}
"""
OPTIONS = [f"steps={STEPS}", f"grid={N}"]


def fields_of(results):
    """The arrays of each iteration, by name."""
    found = []
    for step in range(STEPS):
        with h5py.File(results / f"fields-{10 * step:06}.h5") as file:
            assert all(dataset.attrs["missing"] == 0 for dataset in file["variables"].values())
            found.append({name: dataset[...] for name, dataset in file["variables"].items()})
    return found


def slopes(values, h=1 / N):
    """The gradient of an array [z, y, x] along x, y and z."""
    return [np.gradient(values, h, axis=axis) for axis in (2, 1, 0)]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One client, one block, inline."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", tasks=TASKS, options=OPTIONS)
    assert done.status == 0, done.text
    files = results_of(done)
    assert {"warm.csv", "rarely.csv", "histogram.csv", "probe.csv", "frame-00001.png"} <= set(files)
    for kind in ("slice", "surface", "nodes"):
        assert len(files[f"{kind}-00001.vtp"]) > 2000, f"{kind} is (nearly) empty"
    return files, fields_of(done.results)


def test_the_bits_of_numpy(reference):
    for step, fields in enumerate(reference[1]):
        time, cycle, t, p = 0.1 * step, 10 * step, fields["t"], fields["p"].astype(float)
        nodes = np.arange(N + 1) * (1 / N)
        x = 0.5 * (nodes[:-1] + nodes[1:])
        np.testing.assert_array_equal(fields["warm"], 0.5 * (t * t) - 2 * x + time)
        flow = slopes(t)
        np.testing.assert_array_equal(fields["flow"], np.stack(flow, -1))
        np.testing.assert_array_equal(
            fields["steep"], np.sqrt(flow[0] * flow[0] + flow[1] * flow[1] + flow[2] * flow[2])
        )
        laplacian = slopes(flow[0])[0] + slopes(flow[1])[1] + slopes(flow[2])[2]
        assert fields["laplacian"].dtype == np.float32
        np.testing.assert_array_equal(fields["laplacian"], laplacian.astype(np.float32))
        u, v, w = (slopes(part * x[:, None]) for part in flow)
        turning = [w[1] - v[2], u[2] - w[0], v[0] - u[1]]
        np.testing.assert_array_equal(fields["turning"], np.stack(turning, -1))
        a, b = p[..., 0], p[..., 1]
        np.testing.assert_array_equal(fields["mix"], a * b - np.sqrt(a * a + b * b) + cycle)
        # Index k is fastest in memory, so the file has [x, y, z].
        expected = [slope for part in (a, b) for slope in slopes(part.T)]
        expected = [slope.T for slope in expected]
        np.testing.assert_array_equal(fields["slopes"], np.stack(expected, -1))
        np.testing.assert_array_equal(fields["choice"], np.where(t > 0.05, np.maximum(t, 0.1), -t))


def check(done, clients, reference, beside=()):
    assert done.status == 0, done.text
    assert len(done.accounts) == clients, done.text
    for account in done.accounts:
        assert account["delivered"] == account["iterations"] == STEPS, done.text
        assert account["refused"] == account["failed"] == account["unknown"] == account["absent"] == 0
    files = {name: content for name, content in results_of(done).items() if not name.startswith("endpoint-")}
    for name in beside:
        del files[name]
    assert sorted(files) == sorted(reference[0])
    for name, content in reference[0].items():
        assert files[name] == content, f"{name} differs"
    for mine, others in zip(fields_of(done.results), reference[1], strict=True):
        assert sorted(mine) == sorted(others)
        for name, values in mine.items():
            np.testing.assert_array_equal(values, others[name], name)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "clients", "servers", "options"),
    [
        ("inline", 3, 0, ["blocks=2", "empty=1"]),
        ("inline", 8, 0, ["blocks=2"]),  # more slabs than cells, so that some are empty
        ("{mode: cores, per_node: 2, buffer: 8 MiB}", 3, 2, ["blocks=2", "ghosts=2"]),
        ("{mode: nodes, servers: 1, buffer: 8 MiB, partitioner: stripe}", 2, 1, ["blocks=3", "in_place=1"]),
        ("{mode: nodes, servers: 3, buffer: 8 MiB}", 5, 3, ["ghosts=1", "filled=1", "right=1"]),
    ],
)
def test_placements(tmp_path, reference, placement, clients, servers, options):
    done = run(tmp_path, clients + servers, placement, tasks=TASKS, options=[*OPTIONS, *options])
    check(done, clients, reference)


def test_forwarded_partials(tmp_path, reference):
    """Forwarders compute. Outputs are left out, because they need blocks where the results are."""
    tasks = TASKS[: TASKS.index("outputs:")]
    placement = "{mode: nodes, servers: 1, forward: partials, per_node: 1, buffer: 8 MiB}"
    done = run(tmp_path, 4, placement, tasks=tasks, options=[*OPTIONS, "blocks=2"])
    assert done.status == 0, done.text
    for name, content in results_of(done).items():
        assert content == reference[0][name], f"{name} differs"


def test_sidecar(tmp_path, reference):
    with Sidecar(tmp_path, tasks=TASKS) as sidecar:
        servers = sidecar.serve()
        sidecar.start(3, *OPTIONS, "blocks=2")
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        check_complete(done, 3)
        check(done, 3, reference, ["timings-clients.csv", "iterations-clients.csv"])


@pytest.mark.test_all
def test_job(tmp_path, reference):
    check(both(tmp_path, 3, 2, [*OPTIONS, "blocks=2"], stream="engine: files", tasks=TASKS), 3, reference)


def test_moving_blocks(tmp_path):
    """Blocks come and go, and every iteration has the same result as with one block."""
    tasks = "derived: {steep: magnitude(gradient(t))}\nanalyses: [statistics: {variable: steep}]\n"
    options = ["steps=5", f"grid={N}"]
    one = run(tmp_path / "one", 1, "inline", tasks=tasks, options=options)
    done = run(
        tmp_path / "many", 5, "{mode: nodes, buffer: 32 MiB, servers: 2}", tasks=tasks, options=[*options, "moving=1"]
    )
    assert one.status == done.status == 0, one.text + done.text
    assert results_of(done) == results_of(one)


def test_a_part_that_nobody_has(tmp_path):
    """Missing neighbours are not used: derivatives are one-sided at the gap, wherever blocks end."""
    tasks = "derived: {steep: gradient(t)}\nanalyses: [statistics: {variable: steep}]\n"
    options = [f"steps={STEPS}", f"grid={N}", "gap=1"]
    one = run(tmp_path / "one", 1, "inline", tasks=tasks, options=options)
    done = run(tmp_path / "many", 3, "{mode: cores, buffer: 32 MiB}", tasks=tasks, options=[*options, "blocks=3"])
    assert one.status == done.status == 0, one.text + done.text
    assert results_of(done) == results_of(one)
