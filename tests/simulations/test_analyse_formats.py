"""`sidestream analyse` on files that others wrote or that are made by hand. They are openPMD (by openPMD-api and
h5py), plotfiles of AMReX with levels and particles, and arrays of one and two dimensions."""

import csv
import re
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import openpmd_api as io
import pytest
from analysing import TOOL, analyse, run, same
from pairs import few, pairs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import amrex_files
from amrex_files import Particles, Plot

RANKS = [3, 1, 2, 5]


def statistics(*variables, more=""):
    tasks = "".join(f"  - statistics: {{variable: {name}, file: {name}.csv}}\n" for name in variables)
    return f"analyses:\n{tasks}{more}"


def table(folder, name):
    with (folder / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def check(row, values):
    values = np.asarray(values, np.float64)
    assert int(row["count"]) == values.size
    assert (float(row["minimum"]), float(row["maximum"])) == (values.min(), values.max())
    assert float(row["mean"]) == pytest.approx(values.mean(), rel=1e-13)


# --- openPMD ---------------------------------------------------------------------------------------------------------

SHAPE = (6, 8, 10)  # z, y, x


def fields(step):
    rng = np.random.default_rng(step)
    return rng.normal(size=SHAPE), rng.normal(size=(3, *SHAPE)).astype(np.float32)


def particles(step, count):
    rng = np.random.default_rng(100 + step)
    return rng.random((3, count)), rng.integers(0, 5, (3, count)).astype(float), rng.random(count).astype(np.float32)


def store(record, values, unit=None):
    values = np.ascontiguousarray(values)
    if values.size == 0:
        return record.make_empty(values.dtype, values.ndim)
    record.reset_dataset(io.Dataset(values.dtype, values.shape))
    record.store_chunk(values)
    if unit is not None:
        record.unit_SI = unit
    return None


def write_openpmd(path, steps, counts=(1000, 1000, 1000)):
    series = io.Series(str(path), io.Access.create)
    kept = []  # arrays must live until they are flushed
    for step, count in zip(steps, counts, strict=True):
        iteration = series.iterations[step]
        iteration.time, iteration.dt, iteration.time_unit_SI = 0.5 * step, 0.5, 2.0
        rho, e = fields(step)
        mesh = iteration.meshes["rho"]
        mesh.axis_labels, mesh.grid_spacing, mesh.grid_global_offset = ["z", "y", "x"], [3.0, 2.0, 1.0], [30, 20, 10]
        mesh.grid_unit_SI, mesh.geometry = 0.5, io.Geometry.cartesian
        mesh[io.Mesh_Record_Component.SCALAR].position = [0.5, 0.5, 0.5]
        store(mesh[io.Mesh_Record_Component.SCALAR], rho, 4.0)
        mesh = iteration.meshes["E"]
        mesh.axis_labels, mesh.grid_spacing, mesh.grid_global_offset = ["z", "y", "x"], [3.0, 2.0, 1.0], [30, 20, 10]
        mesh.grid_unit_SI = 0.5
        for c, axis in enumerate("xyz"):
            mesh[axis].position = [0.5, 0.5, 0.5]
            store(mesh[axis], e[c])
            kept.append(e)
        species = iteration.particles["ions"]
        place, offset, weight = particles(step, count)
        for c, axis in enumerate("xyz"):
            store(species["position"][axis], place[c], 0.25)
            store(species["positionOffset"][axis], offset[c], 2.0)
            species["momentum"][axis].reset_dataset(io.Dataset(np.dtype("f8"), [count]))
            species["momentum"][axis].make_constant(1.5 + c)
        store(species["weighting"][io.Record_Component.SCALAR], weight)
        store(species["id"][io.Record_Component.SCALAR], np.arange(count, dtype=np.uint64))
        series.flush()
    series.close()


OPENPMD = statistics(
    "rho", "E", "ions_weighting", "ions_momentum", "ions_position",
    more="  - deposit: {mesh: ions, weight: ions_weighting, size: [4, 4, 4], low: [0, 0, 0], high: [9, 9, 9],\n"
    "              method: ngp}\n"
    "  - slice: {variable: rho, axis: z, position: 17}\n",
)  # fmt: skip


@pytest.mark.keep(1)
@pytest.mark.parametrize(("based", "ranks"), pairs(["group", "file"], [3, 1], strength=1))
def test_openpmd(tmp_path, based, ranks):
    """Several iterations in one file or in several, with units, offsets and constant components."""
    steps = (0, 9, 10)
    write_openpmd(tmp_path / ("data.h5" if based == "group" else "data_%T.h5"), steps)
    _, found = analyse(
        tmp_path, "out", tmp_path / ("data.h5" if based == "group" else "data_*.h5"), OPENPMD, ranks=ranks
    )
    for n, step in enumerate(steps):
        rho, e = fields(step)
        row = table(found, "rho")[n]
        assert (int(row["cycle"]), float(row["time"])) == (step, step)
        check(row, rho * 4.0)
        for c in range(3):
            check(table(found, "E")[3 * n + c], e[c])
            assert float(table(found, "ions_momentum")[3 * n + c]["mean"]) == 1.5 + c
        place, offset, weight = particles(step, 1000)
        check(table(found, "ions_weighting")[n], weight)
        place = place * 0.25 + offset * 2.0
        for c in range(3):
            check(table(found, "ions_position")[3 * n + c], place[c])
        with h5py.File(found / f"deposit-{n:05}.h5") as file:
            (name,) = [name for name in file if file[name].ndim == 3]
            grid, _ = np.histogramdd(place[::-1].T, 4, [(0, 9)] * 3, weights=weight.astype(float))
            np.testing.assert_allclose(file[name][()], grid, rtol=1e-13)
    text = (found / "slice-00000.vtp").read_text()
    assert "rho" in text


def test_openpmd_places(tmp_path):
    """The grid has the position in the file: a projection of a single cell appears at its place."""
    write_openpmd(tmp_path / "data.h5", (0,), (10,))
    tasks = statistics("rho") + "outputs: [metadata: {file: 'm-{index}.yaml'}]\n"
    _, found = analyse(tmp_path, "si", tmp_path / "data.h5", tasks)
    text = (found / "m-0.yaml").read_text()
    assert "spacing: [0.5, 1, 1.5]" in text and "origin: [5, 10, 15]" in text, text
    _, found = analyse(tmp_path, "stored", tmp_path / "data.h5", tasks, "--units", "stored")
    text = (found / "m-0.yaml").read_text()
    assert "spacing: [1, 2, 3]" in text and "origin: [10, 20, 30]" in text, text
    check(table(found, "rho")[0], fields(0)[0])


def openpmd_by_hand(path, arrays, *, order="C", labels, spacing, position=None):
    """Writes arrays by name; an entry is an array, or several by component."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"openPMD": np.bytes_("1.1.0"), "basePath": "/data/%T/", "meshesPath": "fields/"})
        base = file.create_group("data/7")
        base.attrs.update({"time": 0.25, "dt": 1.0, "timeUnitSI": 1.0})
        for name, values in arrays.items():
            parts = values if isinstance(values, dict) else {"": values}
            record = None
            for part, array in parts.items():
                made = base.create_dataset(f"fields/{name}/{part}".rstrip("/"), data=array)
                made.attrs["unitSI"] = 1.0
                rank = array.ndim
                made.attrs["position"] = (position or {}).get(part, [0.5] * rank)
                record = made if not part else base[f"fields/{name}"]
            record.attrs.update({"geometry": "cartesian", "dataOrder": order, "gridSpacing": np.array(spacing, "f8")})
            record.attrs["axisLabels"] = [np.bytes_(label) for label in labels]
            record.attrs.update({"gridGlobalOffset": np.zeros(len(labels)), "gridUnitSI": 1.0})


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("order", "labels", "turn"),
    [("C", "zyx", False), ("F", "xyz", False), ("C", "xyz", True), ("F", "zyx", True)],
)
def test_orders_of_axes(tmp_path, order, labels, turn):
    """The same field gives the same slice for all orders of axes, with labels in the file's order or the opposite
    one."""
    z, y, x = np.meshgrid(*(np.arange(n, dtype=float) for n in SHAPE), indexing="ij")
    values = x + 100 * y + 10000 * z
    stored = np.ascontiguousarray(values.T) if turn else values
    spacing = [{"x": 1.0, "y": 2.0, "z": 4.0}[label] for label in labels]
    openpmd_by_hand(tmp_path / "a.h5", {"rho": stored}, order=order, labels=labels, spacing=spacing)
    points = "{at: [0.5, 1, 2]}, {at: [9.5, 15, 22]}, {at: [3.5, 3, 18]}"
    tasks = f"analyses: [probe: {{variables: [rho], point: [{points}]}}]\n"
    _, found = analyse(tmp_path, "out", tmp_path / "a.h5", tasks, ranks=2)
    assert [float(row["rho"]) for row in table(found, "probe")] == [0, 9 + 700 + 50000, 3 + 100 + 40000]


def test_components_in_different_places(tmp_path):
    """Each component of a staggered field has a mesh of its own."""
    e = {c: np.random.default_rng(n).random((5, 6, 7)) for n, c in enumerate("xyz")}
    position = {"x": [0.0, 0.0, 0.5], "y": [0.0, 0.5, 0.0], "z": [0.5, 0.0, 0.0]}
    openpmd_by_hand(tmp_path / "a.h5", {"E": e}, labels="zyx", spacing=[1, 1, 1], position=position)
    tasks = statistics("E_x", "E_y", "E_z") + "outputs: [metadata: {file: 'm-{index}.yaml'}]\n"
    _, found = analyse(tmp_path, "out", tmp_path / "a.h5", tasks, ranks=3)
    for c in "xyz":
        check(table(found, f"E_{c}")[0], e[c])
    text = (found / "m-0.yaml").read_text()
    assert "origin: [0, -0.5, -0.5]" in text and "origin: [-0.5, -0.5, 0]" in text, text


@pytest.mark.test_all
def test_two_dimensions_and_one(tmp_path):
    rng = np.random.default_rng(3)
    flat, line = rng.random((40, 30)), rng.random(50)
    openpmd_by_hand(tmp_path / "flat.h5", {"rho": flat}, labels="zx", spacing=[1, 1])
    openpmd_by_hand(tmp_path / "line.h5", {"rho": line}, labels="x", spacing=[1])
    for name, values in [("flat", flat), ("line", line)]:
        _, found = analyse(tmp_path, name, tmp_path / f"{name}.h5", statistics("rho"), ranks=3)
        check(table(found, "rho")[0], values)
    tasks = statistics(
        "rho", more="  - power_spectrum: {variable: rho}\n  - halos: {variable: rho, boundary: 0.5, halo: 0.8}\n"
    )
    _, one = analyse(tmp_path, "one", tmp_path / "flat.h5", tasks, "--periodic", "xy")
    _, five = analyse(tmp_path, "five", tmp_path / "flat.h5", tasks, "--periodic", "xy", ranks=5)
    same(one, five, 3)


def test_no_particles(tmp_path):
    """An empty species is not published, as in situ. The analysis is left out, and a message says so."""
    write_openpmd(tmp_path / "data.h5", (1, 2, 3), (0, 5, 0))
    tasks = statistics("ions_weighting", "rho")
    said, found = analyse(tmp_path, "out", tmp_path / "data.h5", tasks, ranks=3)
    assert "left out: it was due 2 times when nobody had published 'ions_weighting'" in said
    assert [(int(row["cycle"]), int(row["count"])) for row in table(found, "ions_weighting")] == [(2, 5)]
    assert len(table(found, "rho")) == 3


# --- plotfiles -------------------------------------------------------------------------------------------------------

FLAT = Plot(dimensions=2, boxes=((((0, 0, 0), (8, 8, 1)),), (((4, 4, 0), (12, 12, 1)),)), ratios=(2,))
LINE = Plot(
    dimensions=1, boxes=((((0, 0, 0), (5, 1, 1)), ((5, 0, 0), (8, 1, 1))), (((2, 0, 0), (6, 1, 1)),)), ratios=(2,)
)
SINGLE = Plot(format=amrex_files.IEEE32)
MOVED = Plot(first=(-4, 6, 2), boxes=((((-4, 6, 2), (4, 14, 6)),), (((-4, 16, 6), (0, 20, 10)),)), ratios=(2,))
PLOTS = {
    "levels": Plot(), "single": SINGLE, "big": Plot(format=amrex_files.BIG), "ghosts": Plot(ghosts=2), "flat": FLAT,
    "line": LINE, "moved": MOVED, "bare": Plot(version=3),
}  # fmt: skip


@pytest.mark.keep(1)
@pytest.mark.parametrize(("name", "ranks"), pairs(sorted(PLOTS), [1, 3], strength=1))
def test_levels(tmp_path, name, ranks):
    """Cells that no finer ones cover count, as in the import, also for positions."""
    plot = PLOTS[name]
    original = amrex_files.write_plot(plot, tmp_path / "plt00040")
    tasks = statistics("density", "Y(H2)")
    if plot.dimensions == 3:
        tasks += "  - slice: {variable: x_velocity, axis: z, cells: own}\n"
    _, found = analyse(tmp_path, "out", original, tasks, ranks=ranks)
    cells = amrex_files.cells_of(plot)
    for variable, n in [("density", 0), ("Y(H2)", 2)]:
        row = table(found, variable)[0]
        check(row, [values[n] for values in cells.values()])
        assert (int(row["cycle"]), float(row["time"])) == (plot.step, plot.time)
    run(1, TOOL, "import", "amrex", original, tmp_path / "data", "--no-fsync")
    _, again = analyse(tmp_path, "again", tmp_path / "data", tasks)
    same(found, again, 2)


@pytest.mark.parametrize("ranks", few(RANKS))
def test_particles_of_plotfiles(tmp_path, ranks):
    about = [
        Particles(((5, 0), (3, 17), (2,))),
        Particles(((5, 0), (3, 17), (2,)), version="Version_Two_Dot_Zero_single"),
    ]
    for n, one in enumerate(about):
        plot = replace(Plot(), particles=(("DM", one),))
        original = amrex_files.write_plot(plot, tmp_path / f"plt0004{n}")
        tasks = statistics("DM_mass", "DM_position", "density")
        _, found = analyse(tmp_path, f"out{n}", original, tasks, ranks=ranks)
        parts = [amrex_files.particles_of(plot, one, level, grid)
                 for level, counts in enumerate(one.count) for grid, many in enumerate(counts) if many]  # fmt: skip
        place, mass = np.concatenate([p[0] for p in parts]), np.concatenate([p[-1][:, 0] for p in parts])
        check(table(found, "DM_mass")[0], mass)
        for c in range(3):
            check(table(found, "DM_position")[c], place[:, c])


@pytest.mark.test_all
def test_damaged_plotfile(tmp_path):
    original = amrex_files.write_plot(Plot(), tmp_path / "plt00040")
    file = original / "Level_1" / "Cell_D_00000"
    file.write_bytes(file.read_bytes()[:-100])
    said, _ = analyse(tmp_path, "out", original, statistics("density", "Y(H2)"), ranks=2, status=1)
    assert "was cut off" in said and "Cell_D_00000" in said
    (original / "Level_0" / "Cell_H").unlink()
    said, _ = analyse(tmp_path, "no", original, statistics("density"), ranks=2, status=1)
    assert "Cell_H" in said


@pytest.mark.test_all
def test_several_plotfiles(tmp_path):
    """Plotfiles come in the order of the numbers in their names. One has a level more, and one has numbers of 32
    bits."""
    for step in (9, 100, 20):
        plot = replace(Plot(), step=step, time=step / 8)
        if step == 20:
            plot = replace(plot, boxes=plot.boxes[:1], ratios=(), format=amrex_files.LITTLE32)
        amrex_files.write_plot(plot, tmp_path / f"plt{step}")
    one = analyse(tmp_path, "one", tmp_path / "plt*", statistics("density"))[1]
    assert [int(row["cycle"]) for row in table(one, "density")] == [9, 20, 100]
    assert int(table(one, "density")[1]["count"]) == 8 * 8 * 4
    five = analyse(tmp_path, "five", tmp_path / "plt*", statistics("density"), ranks=5)[1]
    same(one, five)


def test_what_files_have(tmp_path):
    """Runs without a configuration; the number of ranks does not matter."""
    write_openpmd(tmp_path / "data.h5", (1, 4), (10, 20))
    said = run(2, TOOL, "analyse", tmp_path / "data.h5")
    assert "2 iterations, cycles 1 to 4, times 1 to 4\n" in said
    assert "mesh grid: uniform, 10 x 8 x 6 cells\n" in said
    assert re.search(r"  E +float32 x 3, cell\n", said)
    assert re.search(r"mesh ions: points, 3 dimensions\n", said)
    assert re.search(r"  ions_position +float64 x 3, coordinates of the mesh\n", said)
