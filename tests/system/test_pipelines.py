"""Meshes that analyses make (`makes`): the same results in every placement, as from the files of the same analyses."""

import csv
import os
import re
import subprocess

import h5py
import numpy as np
import pytest
import sidestream
from job_support import both
from launched import run_in_job
from pairs import few
from programs import built
from sidecar_support import Sidecar
from support import MPIRUN, PROGRAM, VARIABLES, Run, check_delivered, prepare, results_of, run, run_beside, wait_for
from test_kinds import DECLARATIONS
from test_meshes import configuration
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLUnstructuredGridReader

TOOL = built("SIDESTREAM_TOOL")
KINDS = built("SIDESTREAM_KINDS_PROGRAM")
MESHES = built("SIDESTREAM_MESH_PROGRAM")
STEPS = 4

needs_python = pytest.mark.skipif(
    "SIDESTREAM_ANALYSES_IN_PYTHON" not in os.environ, reason="the build has no analyses in Python: NOT TESTED"
)

# Makers of every kind, a maker of a maker, and users with each rule of when they are due.
TASKS = """\
derived: {height: z + 0 * t}
analyses:
  - statistics: {variable: t}
  - resample: {variables: [t], size: [16, 16, 16], makes: coarse, every: 2}
  - isosurface: {variable: t, values: [0.2], fields: [t, height], makes: shell}
  - isosurface: {variable: t, values: [99], makes: never}
  - slice: {variable: t, origin: [0.5, 0.5, 0.5], normal: [0.8, -0.5, 0.3], makes: cut}
  - clip: {variable: t, origin: [0.5, 0.5, 0.5], normal: [1, 1, 0], makes: part}
  - threshold: {variable: t, minimum: 0.5, makes: high}
  - isosurface: {variable: coarse_t, values: [0.1], makes: shell2}
  - statistics: {variable: coarse_t, file: coarse.csv}
  - histogram: {variable: coarse_t, bins: 7, file: histogram.csv}
  - power_spectrum: {variable: coarse_t, file: spectrum.csv}
  - statistics: {variable: shell_height, file: shell.csv}
  - statistics: {variable: shell_size, file: area.csv}
  - histogram: {variable: cell_mean(shell_height), weight: shell_size, bins: 5, file: heights.csv}
  - statistics: {variable: 2 * shell_value, file: two.csv, when: max(shell_height) > 0.5 and mean(shell_value) < 1}
  - statistics: {variable: shell_height, file: thin.csv, every: 2, start: 1}
  - statistics: {variable: never_value, file: never.csv}
  - statistics: {variable: cut_t, file: cut.csv}
  - statistics: {variable: part_t, file: part.csv}
  - statistics: {variable: high_t, file: high.csv}
  - statistics: {variable: shell2_size, file: shell2.csv}
  - resample: {variables: [t], size: [40, 20, 24], makes: fine, every: 2}
  - relevance: {variable: fine_t, keep: 0.3, file: "mixed-{index:05}.vtu", table: mixed.csv}
  - slice: {variable: coarse_t, axis: z, position: 0.5, file: "flat-{index:05}.vtp"}
  - render: {isosurface: {variable: coarse_t, values: [0.1]}, size: [60, 40], file: "look-{index:05}.png"}
"""
ENDINGS = (".csv", ".vtp", ".vtu", ".png")
HDF5 = 'outputs:\n  - hdf5: {variables: [coarse_t], file: "coarse-{index:05}.h5"}\n'


def data_of(done, name="coarse_t"):
    """The values in all files of HDF5, whose parts are those of servers."""
    found = {}
    for path in sorted(done.results.glob("coarse-?????.h5")):
        with h5py.File(path) as file:
            found[path.name] = file[f"variables/{name}"][...].tobytes()
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One client, one block, inline."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", tasks=TASKS + HDF5, options=[f"steps={STEPS}"])
    assert done.status == 0, done.text
    assert done.accounts[0]["delivered"] == STEPS, done.text
    return results_of(done, ENDINGS), data_of(done), done


def check(done, clients, reference):
    check_delivered(done, clients, STEPS, results_of(done, ENDINGS), reference[0])
    assert data_of(done) == reference[1]


def test_reference(reference):
    """Users run when a mesh is made, if they are due."""
    files, data, done = reference
    made = {
        name: [int(line.split(b",")[0]) for line in files[name].splitlines()[1:]] for name in files if ".csv" in name
    }
    assert made["shell.csv"] == made["two.csv"] == [0, 1, 2, 3]
    assert made["thin.csv"] == [1, 3]
    assert made["coarse.csv"] == made["shell2.csv"] == [0, 2]
    assert "never.csv" not in files
    assert "statistics-7: never ran: it was due 4 times when nobody had published 'never_value'" in done.text
    assert list(data) == ["coarse-00000.h5", "coarse-00002.h5"]


PLACES = {
    "inline-1": (1, 0, "inline"),
    "inline-2": (2, 0, "inline"),
    "inline-5": (5, 0, "inline"),
    "cores": (3, 1, "{mode: cores, per_node: 1, buffer: 32 MiB}"),
    "cores-3": (3, 3, "{mode: cores, per_node: 3, buffer: 32 MiB}"),
    "nodes-blocks": (2, 4, "{mode: nodes, servers: 3, buffer: 8 MiB, forward: blocks}"),
    "nodes-partials": (3, 3, "{mode: nodes, servers: 2, buffer: 8 MiB, forward: partials}"),
}


@pytest.mark.parametrize("place", few(PLACES, kept=["inline-5", "nodes-blocks"]))
def test_places(tmp_path, reference, place):
    clients, servers, placement = PLACES[place]
    options = [f"steps={STEPS}", "blocks=2", *(["ghosts=1"] if servers else [])]
    done = run(tmp_path, clients + servers, placement, tasks=TASKS + HDF5, options=options)
    check(done, clients, reference)


@pytest.mark.test_all
def test_sidecar(tmp_path, reference):
    with Sidecar(tmp_path, tasks=TASKS + HDF5, per_node=2) as sidecar:
        servers = sidecar.serve(2)
        sidecar.start(2, f"steps={STEPS}")
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        files = {name: content for name, content in results_of(done, ENDINGS).items() if "-clients" not in name}
        check_delivered(done, 2, STEPS, files, reference[0])
        assert data_of(done) == reference[1]


def test_job(tmp_path, reference):
    done = both(tmp_path, 2, 2, options=[f"steps={STEPS}"], tasks=TASKS + HDF5)
    files = {n: c for n, c in results_of(done, ENDINGS).items() if not n.startswith("endpoint-")}
    check_delivered(done, 2, STEPS, files, reference[0])
    assert data_of(done) == reference[1]


def in_groups(tasks):
    """Makers and the others go to two groups; users follow."""
    tasks = tasks.replace("makes: shell}", "makes: shell, group: b}").replace("makes: part}", "makes: part, group: b}")
    return tasks.replace("statistics: {variable: t}", "statistics: {variable: t, group: b}")


@pytest.mark.parametrize("placement", ["{mode: nodes, groups: {a: 2, b: 1}, buffer: 8 MiB}"])
def test_groups(tmp_path, reference, placement):
    done = run(tmp_path, 5, placement, tasks=in_groups(TASKS + HDF5), options=[f"steps={STEPS}", "blocks=2"])
    check(done, 2, reference)


def test_moving(tmp_path, reference):
    tasks = TASKS + HDF5
    done = run(
        tmp_path, 5, "{mode: nodes, servers: 2, buffer: 8 MiB}", tasks=tasks, options=[f"steps={STEPS}", "moving=1"]
    )
    check(done, 3, reference)


@pytest.mark.test_all
def test_isolated(tmp_path, reference):
    tasks = TASKS.replace("makes: coarse", "isolate: process, makes: coarse").replace(
        "makes: shell}", "makes: shell, isolate: process}"
    )
    tasks = tasks.replace("file: shell.csv", "file: shell.csv, isolate: process").replace(
        "variable: coarse_t, bins: 7", "variable: coarse_t, isolate: process, bins: 7"
    )
    done = run(
        tmp_path, 4, "{mode: cores, per_node: 2, buffer: 32 MiB}", tasks=tasks + HDF5, options=[f"steps={STEPS}"]
    )
    check(done, 2, reference)


# ---- compared with the files of the same analyses

FILES = """\
analyses:
  - resample: {variables: [t], size: [16, 16, 16], makes: coarse, file: "coarse-{index}.h5"}
  - isosurface: {variable: t, values: [0.2], fields: [t], makes: shell, file: "shell-{index}.vtp"}
  - slice: {variable: t, axis: z, position: 0.52, makes: cut, file: "cut-{index}.vtp"}
  - clip: {variable: t, origin: [0.5, 0.5, 0.5], normal: [1, 1, 0], makes: part, file: "part-{index}.vtu"}
  - threshold: {variable: t, minimum: 0.5, makes: high, file: "high-{index}.vtu"}
"""
USERS = """\
  - power_spectrum: {variable: coarse_t, file: spectrum.csv}
  - statistics: {variable: coarse_t, file: s-coarse.csv}
  - statistics: {variable: shell_value, file: s-shell.csv}
  - statistics: {variable: shell_size, file: s-area.csv}
  - statistics: {variable: cut_t, file: s-cut.csv}
  - statistics: {variable: part_t, file: s-part.csv}
  - statistics: {variable: high_t, file: s-high.csv}
"""


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def statistics(path, step):
    return next(row for row in rows(path) if int(row["iteration"]) == step)


def check_statistics(row, values):
    assert int(row["count"]) == values.size
    assert float(row["sum"]) == pytest.approx(values.sum(), rel=1e-12)
    assert float(row["variance"]) == pytest.approx(values.var(), rel=1e-9, abs=1e-12)
    assert [float(row["minimum"]), float(row["maximum"])] == [values.min(), values.max()]


def piece(path):
    reader = (vtkXMLPolyDataReader if path.suffix == ".vtp" else vtkXMLUnstructuredGridReader)()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def areas(surface):
    places = vtk_to_numpy(surface.GetPoints().GetData()).astype(float)
    corners = places[vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)]
    return np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2


def spectrum(values):
    """The power of the contrast in a unit box, and the wave numbers of its modes in units of the smallest."""
    n = len(values)
    power = np.abs(np.fft.fftn(values / values.mean() - 1) / values.size) ** 2
    k = np.fft.fftfreq(n, 1 / n)
    length = np.sqrt(k[:, None, None] ** 2 + k[None, :, None] ** 2 + k[None, None, :] ** 2)
    return power, length


def test_files(tmp_path):
    made = run(tmp_path / "made", 4, "{mode: nodes, servers: 2}", tasks=FILES + USERS, options=["steps=2"])
    assert made.status == 0, made.text
    plain = run(tmp_path / "plain", 2, "inline", tasks=re.sub(r", makes: \w+", "", FILES), options=["steps=2"])
    with_files, without = results_of(made, (".vtp", ".vtu")), results_of(plain, (".vtp", ".vtu"))
    assert with_files == without
    assert len(without) == 8
    for step in range(2):
        of = lambda name: statistics(made.results / f"s-{name}.csv", step)  # noqa: B023,E731
        with h5py.File(made.results / f"coarse-{step}.h5") as file:
            coarse = file["t"][...]
        check_statistics(of("coarse"), coarse)
        shell = piece(made.results / f"shell-{step}.vtp")
        check_statistics(of("shell"), np.full(shell.GetNumberOfPoints(), 0.2))
        assert int(of("area")["count"]) == shell.GetNumberOfPolys()
        assert float(of("area")["sum"]) == pytest.approx(areas(shell).sum(), rel=1e-5)
        for name, ending in (("cut", "vtp"), ("part", "vtu"), ("high", "vtu")):
            file = piece(made.results / f"{name}-{step}.{ending}")
            data = file.GetPointData() if name == "cut" else file.GetCellData()
            check_statistics(of(name), vtk_to_numpy(data.GetArray("t")).astype(float))
        check_spectrum([row for row in rows(made.results / "spectrum.csv") if int(row["iteration"]) == step], coarse)


def check_spectrum(bins, values):
    power, length = spectrum(values)
    for row in bins:
        low, high = (float(row[name]) / (2 * np.pi) for name in ("k_lower", "k_upper"))
        chosen = (length >= low) & (length < high)
        assert int(row["modes"]) == chosen.sum()
        assert float(row["power"]) == pytest.approx(power[chosen].mean(), rel=1e-9)
    assert len(bins) > 5


# ---- particles, and meshes of one and two dimensions

POINTS = """\
analyses:
  - deposit: {mesh: m, weight: n, size: [16, 8, 4], low: [0, 0, 0], high: [4096, 4096, 4096], periodic: true, makes: d,
              file: "d-{index}.h5"}
  - deposit: {mesh: m, size: [4, 4, 4], low: [0, 0, 0], high: [4096, 4096, 4096], periodic: true, method: ngp, makes: e}
  - subsample: {mesh: m, variables: n, fraction: 0.3, makes: f, file: "f-{index}.csv"}
  - statistics: {variable: d_n, file: d.csv}
  - statistics: {variable: e_count, file: e.csv}
  - statistics: {variable: f_n, file: f.csv}
  - statistics: {variable: f_coordinates, file: places.csv}
  - deposit: {mesh: f, size: [4, 4, 4], low: [0, 0, 0], high: [4096, 4096, 4096], periodic: true, makes: g}
  - statistics: {variable: g_count, file: g.csv}
outputs: [database: {variables: [f_n], directory: data}]
"""


@pytest.mark.parametrize(
    ("placement", "ranks"), few([("{mode: nodes, servers: 2, forward: partials}", 5), ("inline", 3)])
)
def test_particles(tmp_path, placement, ranks):
    path = tmp_path / "run.yaml"
    declared = DECLARATIONS["points"].replace("DIMENSIONS", "3")
    path.write_text(f"placement: {placement}\noutput: {{directory: {tmp_path / 'results'}}}\n{declared}{POINTS}")
    run_beside(tmp_path, [MPIRUN, "-n", str(ranks), KINDS, str(path), "kind=points", "steps=2", "changing=1"], 2)
    results = tmp_path / "results"
    for step in range(2):
        with h5py.File(results / f"d-{step}.h5") as file:
            check_statistics(statistics(results / "d.csv", step), file["n"][...])
        drawn = rows(results / f"f-{step}.csv")
        check_statistics(statistics(results / "f.csv", step), np.array([float(row["n"]) for row in drawn]))
        check_statistics(statistics(results / "places.csv", step), np.array([float(row["x"]) for row in drawn]))
        assert float(statistics(results / "g.csv", step)["sum"]) == pytest.approx(len(drawn), rel=1e-12)
    assert float(statistics(results / "e.csv", 0)["sum"]) > 0
    assert "2 of 2 contexts are whole" in tool("verify", results / "data").stdout


FLAT = """\
analyses:
  - resample: {variables: [v0, v7], size: SIZE, makes: r, file: "r-{index}.h5"}
  - threshold: {variable: v0, minimum: 100, makes: h}
  - statistics: {variable: r_v7_1, file: r.csv}
  - threshold: {variable: r_v0, minimum: 100, makes: hr}
  - statistics: {variable: hr_r_v0, file: hr.csv}
  - clip: {variable: h_v0, origin: [2, 1, 0], normal: [1, 0.5, 0], makes: c}
  - statistics: {variable: c_h_v0, file: c.csv}
"""
LINES = """\
  - isosurface: {variable: r_v0, values: [130.5], makes: i}
  - statistics: {variable: i_size, file: i.csv}
  - slice: {variable: r_v0, axis: x, position: 2.1, makes: s}
  - statistics: {variable: s_size, file: s.csv}
"""


@pytest.mark.parametrize("dimensions", few([2, 1]))
def test_flat_meshes(tmp_path, dimensions):
    """In one and two dimensions, with values that are whole numbers and of single precision."""
    kept = []
    for placement, ranks in (("inline", 1), ("{mode: nodes, servers: 2}", 4)):
        folder = tmp_path / str(ranks)
        folder.mkdir()
        configuration(folder, placement, dimensions)
        declared = (folder / "run.yaml").read_text().split("analyses:")[0]
        text = FLAT.replace("SIZE", str([6, 5][:dimensions])) + (LINES if dimensions == 2 else "")
        (folder / "run.yaml").write_text(declared + text)
        command = [MPIRUN, "-n", str(ranks), MESHES, str(folder / "run.yaml"), f"dimensions={dimensions}"]
        run_beside(folder, command, 2)
        results = folder / "results"
        names = ["r", "hr", "c"] + (["i", "s"] if dimensions == 2 else [])
        kept.append({name: (results / f"{name}.csv").read_bytes() for name in names})
        for step in range(2):
            with h5py.File(results / f"r-{step}.h5") as file:
                key = "v7_1" if "v7_1" in file else "v7"
                values = file[key][...]
            check_statistics(statistics(results / "r.csv", step), values if key == "v7_1" else values[..., 1])
        if dimensions == 2:
            assert float(statistics(results / "s.csv", 0)["sum"]) == pytest.approx(3.5, rel=1e-6)
    assert kept[0] == kept[1]


# ---- meshes that plug-ins fill

SCRIPT = """\
import numpy as np

calls = [0]


def double(whole):
    return {"twice": whole["t"] * 2, "other": np.zeros(3)}


def total(whole):
    calls[0] += 1
    if calls[0] == 2:
        raise ValueError("no good")
    return {"n": whole["twice"].sum()}
"""
DECLARED = """\
  twice: {mesh: filled, type: float64, unit: K}
analyses:
  - python: {name: doubling, variables: t, script: SCRIPT, call: double, whole: true, makes: filled}
  - statistics: {variable: t, file: t.csv}
  - statistics: {variable: twice, file: twice.csv}
  - python: {name: failing, variables: twice, script: SCRIPT, call: total, whole: true, file: total.csv}
  - isosurface: {variable: twice, values: [0.4], makes: surface}
  - statistics: {variable: surface_size, file: surface.csv}
outputs:
  - hdf5: {variables: [twice], file: "twice-{index}.h5"}
"""


@needs_python
@pytest.mark.parametrize("place", few(["inline-2", "cores-3", "nodes-partials"], kept=["nodes-partials"]))
def test_python(tmp_path, place):
    """An analysis in Python fills a mesh; another one fails on it, and the run goes on."""
    clients, servers, placement = PLACES[place]
    (tmp_path / "script.py").write_text(SCRIPT)
    tasks = DECLARED.replace("SCRIPT", str(tmp_path / "script.py"))
    done = run_declared(tmp_path, clients + servers, placement, tasks, [f"steps={STEPS}"])
    assert done.status == 0, done.text
    for account in done.accounts:
        assert (account["delivered"], account["failed"]) == (STEPS, 1), done.text
    assert "iteration 1: doubling: failing: ValueError: no good" in done.text
    outcomes = rows(done.results / "iterations.csv")
    assert [row["outcome"] for row in outcomes] == ["delivered", "failed", "delivered", "delivered"]
    assert outcomes[1]["reason"] == "failed: doubling"
    assert [int(row["iteration"]) for row in rows(done.results / "total.csv")] == [0, 2, 3]
    for step in range(STEPS):
        single, twice = (statistics(done.results / f"{name}.csv", step) for name in ("t", "twice"))
        assert float(twice["sum"]) == 2 * float(single["sum"])
        assert int(statistics(done.results / "surface.csv", step)["count"]) > 1000
        with h5py.File(done.results / f"twice-{step}.h5") as file:
            check_statistics(twice, file["variables/twice"][...])


def run_declared(folder, ranks, placement, tasks, options):
    """Runs with one more mesh, which an analysis fills."""
    declared = VARIABLES.replace("}}\n", "}, filled: {size: [$n, $n, $n], spacing: [$h, $h, $h]}}\n", 1)
    path = folder / "run.yaml"
    text = f"placement: {placement}\n{declared}{tasks}output: {{directory: {folder / 'results'}}}\n"
    path.write_text(text.replace("{mode: cores", "{buffer: 32 MiB, mode: cores") if "buffer" not in text else text)
    return Run(*run_in_job(PROGRAM, ranks, folder / "printed", [path, *options], 100), folder / "results")


FAILING = """\
analyses:
  - resample: {variables: [t], size: [8, 8, 8], makes: c, every: 2}
  - fail: {variable: c_t, at: 2, how: HOW}
  - isosurface: {variable: c_t, values: [0.1], makes: s}
  - fail: {name: deep, variable: s_value, at: 4, how: HOW}
  - statistics: {variable: s_size, file: s.csv}
  - statistics: {variable: c_t, file: c.csv}
outputs:
  - hdf5: {variables: [c_t], file: "c-{index}.h5"}
"""


@pytest.mark.parametrize("how", few(["error", "odd", "combine"]))
@pytest.mark.parametrize("place", few(["nodes-blocks", "inline-2", "cores-3"]))
def test_failures(tmp_path, how, place):
    clients, servers, placement = PLACES[place]
    done = run(tmp_path, clients + servers, placement, tasks=FAILING.replace("HOW", how), options=["steps=8"])
    assert done.status == 0, done.text
    assert all((a["delivered"], a["failed"]) == (8, 2) for a in done.accounts), done.text
    assert "iteration 2: resample: fail: " in done.text
    assert "iteration 4: resample: isosurface: deep: " in done.text
    failed = [row["outcome"] == "failed" for row in rows(done.results / "iterations.csv")]
    assert failed == [n in (2, 4) for n in range(8)]
    for name in "cs":
        assert [int(row["iteration"]) for row in rows(done.results / f"{name}.csv")] == [0, 2, 4, 6]
    assert len(list(done.results.glob("c-?.h5"))) == 4


def test_a_result_of_another_shape(tmp_path):
    """Neither a declared mesh of another size nor names of other variables are filled with anything."""
    for name, says in (
        ("other", "the arrays t, z, y, x, expected some of other, the variables of the mesh 'filled'"),
        ("filled_t", "the array 't' of its result has the shape (8, 8, 8) and the type float64, expected (20, 20, 20)"),
    ):
        tasks = f"""\
  {name}: {{mesh: filled}}
analyses:
  - resample: {{variables: [t], size: [8, 8, 8], makes: filled}}
  - statistics: {{variable: {name}}}
"""
        (tmp_path / name).mkdir()
        done = run_declared(tmp_path / name, 4, "{mode: nodes, servers: 2}", tasks, ["steps=2"])
        assert says in done.text
        assert [a["failed"] for a in done.accounts] == [2, 2]


# ---- iterations without a result, and runs that go on

GAPS = """\
analyses:
  - resample: {variables: [t], size: [8, 8, 8], makes: c}
  - slice: {variable: t, axis: z, position: 0.1, makes: low}
  - isosurface: {variable: t, values: [1.735], makes: rare}
  - statistics: {variable: c_t, file: c.csv}
  - statistics: {variable: low_t, file: low.csv}
  - statistics: {variable: rare_value, file: rare.csv}
outputs:
  - vtk: {variables: [low_t], file: "low-{index}.pvtu"}
"""


def test_gaps(tmp_path):
    """In odd steps nobody has the place of a slice, blocks come and go, and most servers have no part of a surface."""
    kept = []
    for clients, placement in ((1, "inline"), (3, "{mode: nodes, servers: 3}")):
        options = ["steps=5", "gap=1", *(["moving=1", "blocks=2"] if clients > 1 else [])]
        ranks = 6 if clients > 1 else 1
        done = run(tmp_path / str(clients), ranks, placement, tasks=GAPS, options=options)
        assert done.status == 0, done.text
        assert all(a["delivered"] == 5 and a["failed"] == 0 for a in done.accounts), done.text
        assert "statistics-2: left out: it was due 2 times when nobody had published 'low_t'" in done.text
        kept.append(results_of(done, (".csv",)))
        assert sorted(path.name for path in done.results.glob("low-*.pvtu")) == [f"low-{n}.pvtu" for n in (0, 2, 4)]
    assert kept[0] == kept[1]


RESUMED = """\
analyses:
  - resample: {variables: [t], size: [8, 8, 8], makes: c, every: 2}
  - isosurface: {variable: t, values: [0.2], makes: s}
  - isosurface: {variable: c_t, values: [0.2], makes: s2}
  - statistics: {variable: s_size, file: "s-{cycle:03}.csv", every: 3}
  - statistics: {variable: s2_value, file: "s2-{cycle:03}.csv"}
  - statistics: {variable: c_t, file: c.csv}
  - slice: {variable: c_t, axis: z, file: "c-{cycle:03}.vtp"}
outputs:
  - hdf5: {variables: [c_t], file: "coarse-{cycle:05}.h5"}
"""


@pytest.mark.parametrize("place", few(["inline-2", "nodes-blocks"]))
def test_resumed(tmp_path, place):
    clients, servers, placement = PLACES[place]
    ranks = clients + servers
    whole = run(tmp_path / "whole", ranks, placement, tasks=RESUMED, options=["steps=9"])
    assert whole.status == 0, whole.text
    parts = tmp_path / "parts"
    extra = f"output: {{directory: {parts}/results, existing: resume}}\n"
    run(parts, ranks, placement, tasks=RESUMED, options=["steps=6"])
    again = run(parts, ranks, placement, tasks=RESUMED, options=["steps=3", "first=6"], extra=extra)
    assert again.status == 0, again.text
    without_iteration = lambda content: [line.split(b",", 1)[1:] for line in content.splitlines()]  # noqa: E731
    one, two = (results_of(done, (".csv", ".vtp")) for done in (whole, again))
    assert sorted(one) == sorted(two)
    assert len(one) > 12
    for name in one:
        if name.endswith(".csv"):
            assert without_iteration(one[name]) == without_iteration(two[name]), name
    assert len(data_of(whole, "c_t")) == 5
    assert data_of(whole, "c_t") == data_of(again, "c_t")


# ---- outputs, readers and tools

OUTPUTS = """\
analyses:
  - resample: {variables: [t], size: [8, 8, 8], makes: c, every: 2}
  - isosurface: {variable: t, values: [0.2], makes: s}
  - resample: {variables: [t], size: [4, 4, 4], makes: my-mesh}
  - statistics: {variable: my-mesh_t, file: named.csv}
outputs:
  - database: {directory: all}
  - database: {name: c, variables: [c_t], directory: coarse}
  - database: {name: s, variables: [s_value, s_size], directory: surface}
  - database: {name: m, variables: [my-mesh_t], directory: named}
  - hdf5: {file: "all-{index}.h5"}
  - hdf5: {name: made, variables: [c_t], file: "made-{index}.h5"}
  - metadata: {}
"""


def tool(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def test_outputs(tmp_path):
    """Outputs that name no variables have those of the simulation. All can be read."""
    done = run(tmp_path, 4, "{mode: nodes, servers: 2}", tasks=OUTPUTS, options=["steps=4"])
    assert done.status == 0, done.text
    results = done.results
    for name, count in (("all", 4), ("coarse", 2), ("surface", 4), ("named", 4)):
        assert f"{count} of {count} contexts are whole" in tool("verify", results / name).stdout
    assert re.findall(r"^(?:mesh|variable) (\S+):", tool("info", results / "all").stdout, re.M) == ["grid", "t", "p"]
    with h5py.File(results / "all-2.h5") as file:
        assert sorted(file["variables"]) == ["p", "t"]
    metadata = (results / "metadata-000020.yaml").read_text()
    assert '"grid"' in metadata
    assert '"c"' not in metadata
    with h5py.File(results / "made-2.h5") as file:
        expected = file["variables/c_t"][...]
    assert list(results.glob("made-?.h5")) != []
    for name in ("made.h5.series", "coarse"):
        data = sidestream.open(results / name)
        assert list(data["cycle"].values) == [0, 20]
        np.testing.assert_array_equal(data["c_t"][1].values, expected)
    assert sidestream.open(results / "named")["my-mesh_t"].shape == (4, 4, 4, 4)
    check_analysed(tmp_path, results, expected)


def check_analysed(folder, results, expected):
    """The same afterwards, from the database; and surfaces that a database has."""
    file = folder / "analyse.yaml"
    file.write_text(
        f"output: {{directory: {folder / 'analysed'}}}\nanalyses:\n"
        "  - resample: {variables: [t], size: [8, 8, 8], makes: c}\n  - statistics: {variable: c_t, file: c.csv}\n"
    )
    done = tool("analyse", "--config", file, results / "all")
    assert done.returncode == 0, done.stderr
    check_statistics(statistics(folder / "analysed" / "c.csv", 2), expected)
    file.write_text(
        f"output: {{directory: {folder / 'surface'}}}\nanalyses:\n"
        "  - clip: {variable: s_value, origin: [0.5, 0.5, 0.5], normal: [1, 0, 0], makes: k}\n"
        "  - statistics: {variable: k_s_value, file: k.csv}\n"
    )
    done = tool("analyse", "--config", file, results / "surface")
    assert done.returncode == 0, done.stderr
    assert len(rows(folder / "surface" / "k.csv")) == 4


def test_check_and_plan(tmp_path):
    file = tmp_path / "run.yaml"
    text = (
        f"placement: {{mode: nodes, servers: 2}}\n{VARIABLES}{OUTPUTS}output: {{directory: {tmp_path / 'results'}}}\n"
    )
    file.write_text(text.replace("$n", "20").replace("$h", "0.05"))
    done = tool("check", file)
    assert done.returncode == 0, done.stderr
    assert "mesh       s: unstructured in 3 dimensions" in done.stdout
    done = tool("plan", "--metadata", "grid:20x20x20/2x1x1", file)
    assert done.returncode == 0, done.stderr
    assert "resample " in done.stdout
    assert "statistics" not in done.stdout  # its values are on servers already
    done = tool("conformance", file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not checked, because it uses a mesh that an analysis makes" in done.stdout


# ---- sentences

R = "resample: {variables: [t], size: [8, 8, 8], makes: coarse}"
S = "isosurface: {variable: t, values: [0.2], makes: shell}"
M = ", m: {size: [8, 8, 8], spacing: [1, 1, 1]}"
BESIDE = "which the simulation publishes, expected variables of one of them: a result exists only after the analysis"
SENTENCES = {
    "expression": (
        [R, "statistics: {variable: coarse_t + t}"],
        "'t' lies on the mesh 'grid' and 'coarse_t' on 'coarse'",
    ),
    "sources": (
        [R, "histogram: {variable: coarse_t, weight: t}"],
        "found 't', which the simulation publishes, beside 'coarse_t', which lies on the mesh 'coarse' that an "
        "analysis makes, expected variables of one of them: a result exists only after the analysis that makes it",
    ),
    "two": (
        [R, S, "render: {isosurface: {variable: coarse_t, values: [0]}, slice: {variable: shell_value, axis: z}}"],
        "found 'shell_value', which lies on the mesh 'shell' that an analysis makes, beside 'coarse_t', which lies on",
    ),
    "when": ([R, "statistics: {variable: coarse_t, when: max(t) > 0}"], f"found 't', {BESIDE}".split(", expected")[0]),
    "when-made": ([R, "statistics: {variable: t, when: max(coarse_t) > 0}"], f"beside 't', {BESIDE}"),
    "on": (
        [R, "statistics: {variable: coarse_t, on: burst}"],
        "found 'on' for a task that uses the mesh 'coarse', which an analysis makes, expected it at that analysis",
    ),
    "twice": ([R, R], "found 'makes: coarse' a second time (first in line 7), expected a mesh that one analysis makes"),
    "announce": (
        ["statistics: {variable: t, makes: x}"],
        "found 'makes: x' for 'statistics', which does not say what mesh its result is, expected the mesh 'x' and its",
    ),
    "before": (
        ["statistics: {variable: coarse_t}", R],
        "found 'coarse_t' for 'variable', expected a declared variable",
    ),
    "itself": ([R.replace("[t]", "[coarse_t]")], "found 'coarse_t' for 'variables', expected a declared variable"),
    "misspelt": ([R, "statistics: {variable: corse_t}"], "did you mean 'coarse_t'?"),
    "misspelt-mesh": ([S, "statistics: {variable: shel_size}"], "did you mean 'shell_size'?"),
    "empty": ([R.replace("coarse", "''")], "found the mesh name '', expected a name of letters"),
    "list": ([R.replace("coarse", "[a, b]")], "found a list for 'makes', expected a text"),
}
DECLARED_SENTENCES = {
    "taken": (R, "", "coarse_t: {mesh: grid}", "needs the variable 'coarse_t', a name that is taken; choose"),
    "role": (S, "", "shell_types: {mesh: grid}", "needs the variable 'shell_types', a name that is taken"),
    "kind": (
        R.replace("coarse", "m"), ", m: {type: points, coordinates: q}", "q: {mesh: m, components: 3}",
        "found 'makes: m' for a declared mesh of type 'points', expected a uniform or rectilinear one",
    ),
    "nothing": (R.replace("coarse", "m"), M, "", "found 'makes: m' for a mesh without variables; declare those"),
    "levels": (
        R.replace("coarse", "m"), M.replace("]}", "], refinement: [2]}"), "v: {mesh: m}",
        "found 'makes: m' for a mesh with refinement levels, expected one level; remove 'refinement'",
    ),
    "cycle": (
        R.replace("coarse", "m").replace("[t]", "[m_v]"), M, "m_v: {mesh: m}",
        "found 'makes: m', the mesh that this analysis reads",
    ),
    "surface": (
        S.replace("shell", "m"), M, "v: {mesh: m}",
        "found 'makes: m' for 'isosurface', whose result is no data set and cannot fill a declared mesh",
    ),
    "own": (R.replace("coarse", "grid"), "", "", "found 'makes: grid', the mesh that this analysis reads"),
    "pieces": (S.replace("makes", "pieces: true, makes"), "", "", "found 'pieces: true' with 'makes', expected"),
    "arrays": (
        S.replace("makes", "fields: [value], makes"), "", "value: {mesh: grid}",
        "found 'makes: shell' for a result with two arrays called 'value', of which one would be",
    ),
}  # fmt: skip


def check_refused(folder, tasks, says, mesh="", variable="", placement="inline"):
    """`sidestream check` says it."""
    declared = VARIABLES.replace("$n", "20").replace("$h", "0.05").replace("]}}\n", f"]}}{mesh}}}\n", 1)
    file = folder / "run.yaml"
    declared += variable and f"  {variable}\n"
    file.write_text(f"placement: {placement}\n{declared}{tasks}output: {{directory: {folder}/results}}\n")
    done = tool("check", file)
    assert done.returncode == 1, done.stdout
    assert says in done.stderr


@pytest.mark.parametrize("case", SENTENCES)
def test_sentences(tmp_path, case):
    tasks, says = SENTENCES[case]
    check_refused(tmp_path, "analyses:\n" + "".join(f"  - {task}\n" for task in tasks), says)


@pytest.mark.parametrize("case", DECLARED_SENTENCES)
def test_sentences_of_declared_meshes(tmp_path, case):
    task, mesh, variable, says = DECLARED_SENTENCES[case]
    check_refused(tmp_path, f"analyses:\n  - {task}\n", says, mesh, variable)


def test_sentences_of_outputs_and_groups(tmp_path):
    both_kinds = f"analyses:\n  - {R}\noutputs:\n  - hdf5: {{variables: [t, coarse_t]}}\n"
    check_refused(tmp_path, both_kinds, "found 'coarse_t', which lies on the mesh 'coarse' that an analysis makes")
    check_refused(
        tmp_path, "outputs:\n  - hdf5: {variables: [t], makes: x}\n",
        "found 'makes' for an output, expected an analysis; remove it",
    )  # fmt: skip
    groups = f"analyses:\n  - {R[:-1]}, group: a}}\n  - statistics: {{variable: coarse_t, group: b}}\n"
    says = "found the group 'b' for a task that uses what 'resample' makes in the group 'a', expected the same one"
    check_refused(
        tmp_path,
        groups + "  - histogram: {variable: t, group: b}\n",
        says,
        placement="{mode: nodes, groups: {a: 1, b: 1}}",
    )
    says = "found the unknown variable 'coarse_t' for the derived variable 'q'"
    check_refused(tmp_path, f"derived: {{q: 2 * coarse_t}}\nanalyses:\n  - {R}\n", says)


def test_the_program_says_it_on_all_ranks(tmp_path):
    done = run(tmp_path, 3, "inline", tasks=f"analyses:\n  - {R}\n  - {R}\n")
    assert done.status == 1
    assert len(done.errors) == 3
    assert len({error.replace("error 2: ", "") for error in done.errors}) == 1
    assert "a second time" in done.errors[0]


def test_requests(tmp_path):
    """Requests neither use nor make such meshes."""
    tasks = f"analyses:\n  - {R}\n  - statistics: {{variable: coarse_t, file: c.csv}}\nlive: {{requests: yes}}\n"
    until = tmp_path / "until"
    command, results = prepare(tmp_path, 3, "cores", tasks, ["steps=100000000", "pause_ms=5", f"until={until}"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            wait_for(lambda: (results / "c.csv").exists(), "the first iteration")
            uses = "a request that uses a mesh that an analysis makes, expected one for variables of the simulation"
            for asked, says in (
                ("statistics: {variable: coarse_t, file: asked/a.csv}", uses),
                ("statistics: {variable: 2 * coarse_t, file: asked/b.csv}", uses),
                (
                    "resample: {variables: [t], size: [4, 4, 4], makes: x, file: asked/c.h5}",
                    "a request that makes a mesh",
                ),
                (
                    "statistics: {variable: t, file: asked/d.csv, when: max(coarse_t) > 0}",
                    "which lies on the mesh 'coarse'",
                ),
            ):
                done = tool("ask", "--directory", results, asked)
                assert done.returncode == 1, done.stdout
                assert says in done.stderr + done.stdout
            done = tool("ask", "--directory", results, "statistics: {variable: t, file: asked/e.csv}")
            assert done.returncode == 0, done.stderr
            assert "coarse" not in tool("ask", "--directory", results).stdout
        finally:
            until.touch()
            text, _ = process.communicate(timeout=60)
    assert process.returncode == 0, text
    assert "failed=0" in text
