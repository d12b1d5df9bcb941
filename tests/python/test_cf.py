"""Outputs netcdf and zarr, and fields of HDF5, as xarray, netCDF4, zarr and VTK open them."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import cf_run
import netCDF4
import numpy as np
import pytest
import xarray
import zarr
from cf_launch import CORES, check_equal, contents, expected, launch
from pairs import few, without
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIONetCDF import vtkNetCDFCFReader, vtkNetCDFUGRIDReader


def outputs_of(kind):
    timed = "netcdf: {file: 'timed-{index}.nc', time_units: days since 2000-01-01}"
    store = "" if kind in cf_run.LISTS else ", zarr: {}"
    return f"[netcdf: {{}}, {timed}, hdf5: {{}}{store}]"


@pytest.mark.parametrize("kind", few([*cf_run.SIZES, *cf_run.CURVED], kept=["gap", "curved2"]))
@pytest.mark.parametrize(("ranks", "placement"), few([(3, "inline"), (1, "inline"), (5, CORES), (2, CORES)]))
def test_arrays(tmp_path, kind, ranks, placement):
    results = launch(tmp_path / "run", kind, ranks, placement, outputs_of(kind))
    with xarray.open_zarr(results / "fields.zarr") as store:
        assert list(store.cycle.values) == [0, 10, 20]
        assert list(store.time.values) == [0, 0.5, 1]
        for step in range(3):
            check_equal(store.isel(time=step), expected(kind, step))
    for step in range(3):
        values = expected(kind, step)
        with xarray.open_dataset(results / f"fields-{10 * step:06}.nc") as file:
            assert {"time", "cycle", "iteration"} <= set(file.coords)
            check_equal(file, values)
            assert (float(file.time), int(file.cycle)) == (0.5 * step, 10 * step)
            assert (file.t.units, file.t.long_name, file.t.standard_name) == ("K", "warmth", "air_temperature")
            check_places(file, kind)
        with xarray.open_dataset(results / f"timed-{step}.nc") as file:
            check_equal(file.isel(time=0), values)
            assert file.time.values[0] == np.datetime64("2000-01-01") + np.timedelta64(12 * step, "h")
        with xarray.open_dataset(results / f"fields-{10 * step:06}.h5") as file:
            check_equal(file, {name: array for name, array in values.items() if name in file})
            assert file.attrs["cycle"] == 10 * step
            if kind not in cf_run.CURVED:
                assert file.t.dims == ("z", "y", "x")[3 - file.t.ndim :]
    with xarray.open_mfdataset(str(results / "timed-*.nc"), decode_times=False) as series:
        assert series.sizes["time"] == 3


def check_places(file, kind):
    if kind in cf_run.CURVED:
        for axis, nodes in zip("xyz", cf_run.positions(cf_run.CURVED[kind]), strict=False):
            np.testing.assert_array_equal(file[f"{axis}_node"], nodes)
            np.testing.assert_allclose(file[axis], cf_run.centres(nodes), rtol=1e-14)
        assert {"x", "y"} <= set(file.t.coords)
        return
    nodes = np.arange(file.sizes["x"] + 1) if kind != "stretched" else np.array(cf_run.STRETCHED[0])
    np.testing.assert_array_equal(file.x_bnds, np.stack([nodes[:-1], nodes[1:]], -1))
    np.testing.assert_array_equal(file.x, (nodes[:-1] + nodes[1:]) / 2)
    np.testing.assert_array_equal(file.x_node, nodes)


def whole_lists(kind, blocks, step):
    made = [cf_run.block_list(kind, b, step) for b in range(blocks)]
    starts = np.cumsum([0, *(len(one["pos"]) for one in made)])
    found = {name: np.concatenate([one[name] for one in made]) for name in ("pos", "n", "t") if name in made[0]}
    if kind != "points":
        found["rows"] = [[int(p + s) for p in row] for one, s in zip(made, starts, strict=False) for row in one["rows"]]
    return found


@pytest.mark.parametrize("kind", few(list(cf_run.LISTS), kept=["faces", "points"]))
@pytest.mark.parametrize(("ranks", "placement"), few([(3, "inline"), (1, "inline"), (5, CORES)]))
def test_lists(tmp_path, kind, ranks, placement):
    results = launch(tmp_path / "run", kind, ranks, placement, outputs_of(kind))
    for step in range(3):
        values = whole_lists(kind, 4, step)
        with netCDF4.Dataset(results / f"fields-{10 * step:06}.nc") as file:
            file.set_auto_mask(False)
            for axis in range(values["pos"].shape[1]):
                np.testing.assert_array_equal(file["xyz"[axis]][:], values["pos"][:, axis])
            np.testing.assert_array_equal(file["n"][:], values["n"])
            if kind == "points":
                assert file["n"].coordinates == "time x y z cycle iteration"
                continue
            np.testing.assert_array_equal(file["t"][:], values["t"])
            assert file["mesh"].topology_dimension == {"lines": 1, "volumes": 3}.get(kind, 2)
            found = [[p for p in row if p >= 0] for row in file["cell_points"][:].tolist()]
            assert found == values["rows"]
        for path in (results / f"fields-{10 * step:06}.nc", results / f"fields-{10 * step:06}.h5"):
            with xarray.open_dataset(path) as file:
                np.testing.assert_array_equal(file.n, values["n"])


def test_shards_of_a_prime_number_of_rows(tmp_path):
    """Inner chunks do not divide them."""
    store = launch(tmp_path / "run", "long", 2, outputs="[zarr: {}]", steps=1) / "fields.zarr"
    with xarray.open_zarr(store) as data:
        check_equal(data.isel(time=0), expected("long", 0))
    assert (store / "t" / "c.0.0").stat().st_size < 1.001 * 8 * cf_run.SIZES["long"][0]


@pytest.mark.parametrize(("ranks", "placement"), few([(3, "inline"), (1, "inline"), (5, CORES)]))
def test_bounds_of_statistics_over_time(tmp_path, ranks, placement):
    timed = "netcdf: {file: 'timed-{cycle}.nc', time_units: days since 2000-01-01}"
    outputs = f"[netcdf: {{variables: [two_t_mean]}}, {timed.replace('{file', '{variables: [two_t_mean], file')}"
    outputs += (
        ", zarr: {variables: [two_t_mean]}]\nanalyses:\n  - time_statistics: {variables: [t], window: 2, makes: two}\n"
    )
    results = launch(tmp_path / "run", "two", ranks, placement, outputs, steps=6)
    bounds = [[0, 0.5], [0.5, 1.5], [1.5, 2.5]]
    with xarray.open_zarr(results / "fields.zarr") as store:
        np.testing.assert_array_equal(store.time_bnds, bounds)
        assert (store.time.bounds, store.two_t_mean.cell_methods) == ("time_bnds", "time: mean")
        assert list(store.time.values) == [0.5, 1.5, 2.5]
    for n, cycle in enumerate((10, 30, 50)):
        mean = (expected("two", 2 * n)["t"] + expected("two", 2 * n + 1)["t"]) / 2
        with xarray.open_dataset(results / f"fields-{cycle:06}.nc") as file:
            np.testing.assert_array_equal(file[file.time.bounds], bounds[n])
            np.testing.assert_array_equal(file.two_t_mean, mean)
            assert file.two_t_mean.cell_methods == "time: mean"
        with xarray.open_dataset(results / f"timed-{cycle}.nc", decode_times=False) as file:
            np.testing.assert_array_equal(file[file.time.bounds], bounds[n : n + 1])
            assert file.time_bnds.dims == ("time", "bnds")


# ---- VTK


def read_vtk(reader, path):
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
    reader.SetFileName(str(path))
    return reader, errors


@pytest.mark.parametrize("kind", few(["two", "three", "stretched"], kept=["stretched"]))
def test_vtk_reads_grids(tmp_path, kind):
    results = launch(tmp_path / "run", kind, 2, outputs=outputs_of(kind))
    for path in (results / "fields-000010.nc", results / "timed-1.nc"):
        reader, errors = read_vtk(vtkNetCDFCFReader(), path)
        reader.UpdateMetaData()
        reader.SetDimensions("(y, x)" if kind == "two" else "(z, y, x)")
        reader.Update()
        data = reader.GetOutput()
        # VTK has the values of cells at points in their centres.
        found = vtk_to_numpy(data.GetPointData().GetArray("t"))
        np.testing.assert_array_equal(found, expected(kind, 1)["t"].ravel())
        x = np.convolve(cf_run.STRETCHED[0], [0.5, 0.5], "valid") if kind == "stretched" else (0.5, 5.5)
        assert data.GetBounds()[:2] == (x[0], x[-1])
        assert not errors


@pytest.mark.parametrize("kind", few(["triangles", "mixed"], kept=["mixed"]))
def test_vtk_reads_faces(tmp_path, kind):
    path = launch(tmp_path / "run", kind, 2) / "fields-000010.nc"
    reader, errors = read_vtk(vtkNetCDFUGRIDReader(), path)
    reader.Update()
    data, values = reader.GetOutput(), whole_lists(kind, 4, 1)
    assert data.GetNumberOfCells() == len(values["rows"])
    np.testing.assert_array_equal(vtk_to_numpy(data.GetCellData().GetArray("t")), values["t"])
    np.testing.assert_array_equal(vtk_to_numpy(data.GetPointData().GetArray("n")), values["n"])
    np.testing.assert_array_equal(vtk_to_numpy(data.GetPoints().GetData())[:, :2], values["pos"][:, :2])
    assert not errors


# ---- bytes, runs that follow and runs that are killed


def test_placements_do_not_change_a_byte(tmp_path):
    def files(name, *run):
        made = launch(tmp_path / name, "gap", *run, outputs="[netcdf: {}, zarr: {}]")
        return {p: b for p, b in contents(made).items() if p.suffix == ".nc" or "fields.zarr" in p.parts}

    first = files("a", 1)
    assert len(first) > 20
    for name, run in without([("b", (3,))], [("b", (3,)), ("c", (5, CORES))]):
        assert files(name, *run) == first, name


def names_in(results):
    return sorted(path.name for path in [*results.glob("*.nc"), *results.glob("*.zarr")])


def test_a_second_run_replaces_the_first(tmp_path):
    """Also if it delivers nothing."""
    outputs = "[netcdf: {}, zarr: {}, zarr: {name: rare, directory: rare.zarr, when: 'cycle > LIMIT'}]"
    first = launch(tmp_path / "run", "two", 1, outputs=outputs.replace("LIMIT", "5"))
    assert xarray.open_zarr(first / "rare.zarr").sizes["time"] == 2
    results = launch(tmp_path / "run", "two", 2, outputs=outputs.replace("LIMIT", "500"), steps=1)
    assert xarray.open_zarr(results / "fields.zarr").sizes["time"] == 1
    assert names_in(results) == ["fields-000000.nc", "fields.zarr"]


def test_the_store_of_another_program_is_kept(tmp_path):
    other = tmp_path / "run" / "results" / "fields.zarr"
    xarray.Dataset({"mine": ("x", [1.0, 2.0])}).to_zarr(other, zarr_format=3)
    results = launch(tmp_path / "run", "two", 2, outputs="[zarr: {}]", steps=1)
    assert names_in(results) == ["fields-v1.zarr", "fields.zarr"]
    assert list(xarray.open_zarr(results / "fields-v1.zarr").mine.values) == [1, 2]


def block_of(page, word):
    """The block in Python on a page of the documentation that has the word."""
    text = (Path(__file__).parents[2] / "docs" / page).read_text()
    (found,) = [block for block in re.findall("```python\n(.*?)```", text, re.DOTALL) if word in block]
    return found


def test_the_index_lists_one_run(tmp_path, monkeypatch):
    """After runs that repeat cycles there are files that are overtaken, which a run that replaces them removes."""
    outputs = "[netcdf: {}]"
    launch(tmp_path / "run", "two", 1, outputs=outputs)
    results = launch(tmp_path / "run", "two", 1, outputs=outputs, steps=1, existing="resume")
    overtaken = [f"fields-0000{n}0.nc" for n in range(3)]
    assert names_in(results) == sorted([*overtaken, "fields-000000-v2.nc"])
    launch(tmp_path / "run", "two", 1, outputs=outputs, steps=2, existing="resume")
    monkeypatch.chdir(tmp_path / "run")
    found = {}
    exec(block_of("format-netcdf.md", ".series"), found)
    assert list(found["series"].time.values) == [0, 0.5]
    check_equal(found["series"].isel(time=1), expected("two", 1))
    found["series"].close()
    launch(tmp_path / "run", "two", 1, outputs=outputs, steps=1)
    assert names_in(results) == ["fields-000000.nc"]
    assert not list(results.glob(".fields*"))


def test_single_arrays_of_a_store(tmp_path):
    store = launch(tmp_path / "run", "three", 2, outputs="[zarr: {}]") / "fields.zarr"
    group = zarr.open_group(store, mode="r")
    assert set(group.array_keys()) >= {"t", "n", "mark", "late", "v", "time", "x", "y_bnds"}
    array = zarr.open_array(store / "t", mode="r")
    assert array.shape == (3, 3, 4, 6)
    assert array.shards == (1, 3, 4, 6)
    np.testing.assert_array_equal(array[2], expected("three", 2)["t"])
    assert not (store / "late" / "c.1.0.0.0").exists()


@pytest.mark.parametrize("after", few([0.35, 0.9]))
def test_killed(tmp_path, after):
    run = launch(tmp_path / "run", "three", 2, outputs="[netcdf: {}, zarr: {}]", steps=400, pause=0.002, fits=False)
    results = tmp_path / "run" / "results"
    began = time.monotonic()
    while not (results / "fields.zarr" / "zarr.json").exists():
        assert time.monotonic() - began < 60
        time.sleep(0.01)
    time.sleep(after)
    for pid in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    run.wait(60)
    with xarray.open_zarr(results / "fields.zarr") as store:
        whole = store.sizes["time"]
        assert whole > 0
        for step in {0, whole // 2, whole - 1}:
            check_equal(store.isel(time=step), expected("three", step))
    for path in sorted(results.glob("*.nc")):
        with xarray.open_dataset(path) as file:
            check_equal(file, expected("three", int(file.cycle) // 10))


@pytest.mark.parametrize(("output", "mesh", "sentence"), [
    ("netcdf", "{type: octree, size: [2, 1, 1], refined: s}", "which is an octree, for which the CF conventions"),
    ("netcdf", "{size: [4, 4, 4], refinement: ['2']}", "which has refinement levels"),
    ("zarr", "{type: points, dimensions: 3, coordinates: s}", "whose lists may change their lengths"),
])  # fmt: skip
def test_refused(tmp_path, output, mesh, sentence):
    of = (
        "{mesh: m, type: uint8}"
        if "octree" in mesh
        else "{mesh: m, components: 3}"
        if "points" in mesh
        else "{mesh: m}"
    )
    (tmp_path / "run.yaml").write_text(f"meshes: {{m: {mesh}}}\nvariables: {{s: {of}}}\noutputs: [{output}: {{}}]\n")
    tool = os.environ.get("SIDESTREAM_TOOL", "sidestream")
    done = subprocess.run([tool, "check", str(tmp_path / "run.yaml")], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert sentence in done.stdout + done.stderr, done.stdout + done.stderr


FORM = "expected a unit and the time of its zero"


@pytest.mark.parametrize(("units", "sentence"), [
    ("days since 2000-01-01", ""),
    ("s since 1850-1-1T00:00:00", ""),
    ("hours since 2000-01-01 12:00:00 +1:00", ""),
    ("m since x", FORM),
    ("seconds since then", FORM),
    ("fortnights since 2000-01-01", FORM),
    ("seconds", FORM),
    ("days since 2000-13-45", "which has the month 13, expected 1 to 12"),
    ("days since 1900-02-29", "which has the day 29, expected 1 to 28"),
    ("seconds since 2000-01-01 25:61:00", "which has the hour 25, expected 0 to 23"),
])  # fmt: skip
def test_units_of_the_time(tmp_path, units, sentence):
    text = "meshes: {m: {size: [4, 4]}}\nvariables: {s: {mesh: m}}\n"
    (tmp_path / "run.yaml").write_text(text + f"outputs: [netcdf: {{time_units: '{units}'}}]\n")
    tool = os.environ.get("SIDESTREAM_TOOL", "sidestream")
    done = subprocess.run([tool, "check", str(tmp_path / "run.yaml")], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not sentence), done.stdout + done.stderr
    if sentence:
        assert f"found '{units}', {sentence}" in done.stdout + done.stderr


# A process of its own: mpirun cannot start others in one that has initialised MPI.
NAMED_LIKE_AXES = """
import numpy as np
import sidestream
from mpi4py import MPI
with sidestream.open_session(MPI.COMM_SELF, "run.yaml") as session:
    session.add_uniform_mesh("m", [3, 2])
    for name in NAMES:
        session.add_variable(name, "m")
    session.set_block("m", 0, [0, 0], [3, 2])
    for n, name in enumerate(NAMES):
        session.publish(name, 0, np.full((2, 3), float(n)))
    session.end_iteration(0, 0.0)
"""


def test_variables_with_names_of_other_arrays(tmp_path):
    """Axes, also those of the first variable, keep their names."""
    names = ["x", "y", "x_bnds", "bnds", "time", "cycle", "plain"]
    (tmp_path / "run.yaml").write_text("output: {directory: results}\noutputs: [netcdf: {}, zarr: {}]\n")
    command = [sys.executable, "-c", f"NAMES = {names}\n{NAMED_LIKE_AXES}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    with (
        xarray.open_zarr(tmp_path / "results" / "fields.zarr") as store,
        xarray.open_dataset(tmp_path / "results" / "fields-000000.nc") as file,
    ):
        for found in (store, file):
            assert (list(found.x.values), list(found.y.values)) == ([0.5, 1.5, 2.5], [0.5, 1.5])
            for n, name in enumerate(names):
                assert np.all(found[name if name == "plain" else f"v_{name}"] == n), name
