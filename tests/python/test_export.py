"""Exported databases, read by h5py, netCDF4, xarray, zarr and vtk, compared with the published values."""

import io
import os
import subprocess
import sys
from pathlib import Path

import checkpoints
import h5py
import netCDF4
import numpy as np
import pytest
import sidestream
import xarray
import zarr
from optional_packages import needs
from sidestream.exporters import parts as export_parts
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLGenericDataObjectReader

PROGRAM = Path(__file__).with_name("checkpoints.py")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
BLOCKS, RANKS = 5, 2


def run(ranks, *arguments):
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def grids(tmp_path_factory):
    results = tmp_path_factory.mktemp("grids") / "results"
    run(3, "write", results, BLOCKS)
    return results / "restart"


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """Steps 0 and 1 of a run, and 1 and 2 of the next run, which went back."""
    results = tmp_path_factory.mktemp("shapes") / "results"
    run(RANKS, "shapes", results)
    run(RANKS, "shapes", results, 1)
    return results / "data"


def whole(name, step):
    cells = checkpoints.CELLS[checkpoints.KINDS[name][0]]
    return checkpoints.values(name, *checkpoints.points_of(name, [0] * len(cells), list(cells)), step)


def steps(name, of=range(checkpoints.STEPS)):
    return np.stack([whole(name, step) for step in of])


def masses(step):
    return np.concatenate([checkpoints.masses(b, step) for b in range(RANKS)])


def test_netcdf(grids, tmp_path):
    assert sidestream.export(grids, tmp_path / "all.nc", time_units="seconds since 2000-01-01") == []
    with netCDF4.Dataset(tmp_path / "all.nc") as file:
        file.set_auto_mask(False)
        assert file.Conventions == "CF-1.10" and file.data_model == "NETCDF4"
        assert file["nodes"].units == "K" and file["nodes"].long_name == "temperature"
        assert file["nodes"].dimensions == ("time", "box_z_node", "box_y_node", "box_x_node")
        assert file["box_z_node"].axis == "Z" and file["time"].standard_name == "time"
        for name in checkpoints.KINDS:
            values = file[name][...]
            assert values.dtype == steps(name).dtype
            np.testing.assert_array_equal(values, steps(name), name)
        places = np.concatenate([checkpoints.places(b) for b in range(BLOCKS)])
        np.testing.assert_array_equal(file["places"][2], places + 2)
        finer = file["nodes_level1"][1]
        np.testing.assert_array_equal(finer[8:21, 2:9, 2:7], checkpoints.values("nodes", [2, 2, 8], [7, 9, 21], 1, 1))
    with xarray.open_dataset(tmp_path / "all.nc") as opened:
        seconds = (opened["time"] - opened["time"][0]) / np.timedelta64(1, "s")
        np.testing.assert_array_equal(seconds, [0, 0.5, 1])
        np.testing.assert_array_equal(opened["cycle"], [0, 10, 20])


def test_zarr(grids, tmp_path):
    assert sidestream.export(grids, tmp_path / "all.zarr", compress=False) == []
    group = zarr.open_group(tmp_path / "all.zarr", mode="r")
    assert group.metadata.zarr_format == 3
    for name in checkpoints.KINDS:
        np.testing.assert_array_equal(group[name][...], steps(name), name)
    opened = xarray.open_zarr(tmp_path / "all.zarr", consolidated=False)
    assert opened["nodes"].dims == ("time", "box_z_node", "box_y_node", "box_x_node")
    assert opened["nodes"].attrs["units"] == "K"
    np.testing.assert_array_equal(opened["walls_z"], [*(np.arange(15) + 0.5), 17.5])
    np.testing.assert_array_equal(opened["time"], [0, 0.5, 1])


def test_hdf5(grids, tmp_path):
    assert sidestream.export(grids, tmp_path / "deep" / "all.h5") == []
    folder = tmp_path / "deep"
    assert sorted(p.name for p in folder.iterdir()) == [*(f"all-{c:06}.h5" for c in (0, 10, 20)), "all.h5.series"]
    with h5py.File(folder / "all-000010.h5") as file:
        assert (file.attrs["cycle"], file.attrs["time"]) == (10, 0.5)
        for name in checkpoints.KINDS:
            assert not file[f"variables/{name}"].is_virtual
            np.testing.assert_array_equal(file[f"variables/{name}"][...], whole(name, 1))
        np.testing.assert_array_equal(file["meshes/box_level1"].attrs["spacing"], [0.25, 0.5, 1])
    copy, original = sidestream.open(folder / "all.h5.series"), sidestream.open(grids)
    for name in (*checkpoints.KINDS, "places", "ids"):
        xarray.testing.assert_equal(copy[name].variable, original[name].variable)


def read_with(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutputDataObject(0)


def read_vtk(path):
    return read_with(vtkXMLGenericDataObjectReader(), path)


def array(data, name):
    return vtk_to_numpy(data.GetArray(name))


def test_vtk_levels(grids, tmp_path):
    sidestream.export(grids, tmp_path / "all.pvd", variables=["rows", "vectors"])
    reader = vtkHDFReader()
    reader.SetMaximumLevelsToReadByDefaultForAMR(0)  # reads all levels
    levels = read_with(reader, tmp_path / "all-box-levels-000020.vtkhdf")
    assert levels.IsA("vtkOverlappingAMR") and levels.GetNumberOfLevels() == 2
    boxes = [(0, *checkpoints.box_of("box", b, BLOCKS)) for b in range(BLOCKS)] + [(1, [2, 2, 8], [6, 8, 20])]
    fine = np.zeros((16, 4, 5), bool)
    fine[4:10, 1:4, 1:3] = True
    for n, (level, lo, hi) in enumerate(boxes):
        block = levels.GetDataSetAsImageData(level, n % BLOCKS)
        np.testing.assert_array_equal(block.GetOrigin(), np.array(lo) * (0.5, 1, 2) / 2**level)
        np.testing.assert_array_equal(block.GetSpacing(), np.array((0.5, 1, 2)) / 2**level)
        assert block.GetDimensions() == tuple(b - a + 1 for a, b in zip(lo, hi, strict=True))
        shape = tuple(b - a for a, b in zip(lo, hi, strict=True))[::-1]
        for name in ("rows", "vectors"):
            expected = checkpoints.values(name, lo, hi, 2, level)
            expected = expected.transpose(2, 1, 0, 3) if name == "rows" else expected
            found = array(block.GetCellData(), name)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.reshape(*shape, -1), expected)
        hidden = array(block.GetCellData(), "vtkGhostType").reshape(shape) != 0
        np.testing.assert_array_equal(hidden, fine[lo[2] : hi[2]] if level == 0 else False)


@pytest.mark.test_all
def test_plotfiles(grids, tmp_path):
    """yt reads every block of every level; each component is a variable."""
    yt = needs("yt")
    yt.set_log_level(40)
    said = sidestream.export(
        grids, tmp_path / "all.amrex", cycles=[range(10, 21)], variables=["rows", "vectors", "nodes"]
    )
    assert said == ["'nodes' is left out: plotfiles have values in cells; export to .h5, .nc or .zarr"]
    assert sorted(p.name for p in (tmp_path / "all.amrex").iterdir()) == ["plt000010", "plt000020"]
    opened = yt.load(str(tmp_path / "all.amrex/plt000020"))
    assert float(opened.current_time) == 1 and opened.refine_by == 2
    np.testing.assert_array_equal(opened.domain_right_edge.d, np.array((5, 4, 16)) * (0.5, 1, 2))
    boxes = [(0, *checkpoints.box_of("box", b, BLOCKS)) for b in range(BLOCKS)] + [(1, [2, 2, 8], [6, 8, 20])]
    assert len(opened.index.grids) == len(boxes)
    for (level, lo, hi), grid in zip(boxes, opened.index.grids, strict=True):
        assert grid.Level == level
        np.testing.assert_array_equal(grid.get_global_startindex(), lo)
        for name, axes in (("rows", "xy"), ("vectors", "xyz")):
            expected = checkpoints.values(name, lo, hi, 2, level)
            expected = expected if name == "rows" else expected.transpose(2, 1, 0, 3)
            for n, axis in enumerate(axes):
                np.testing.assert_array_equal(grid["boxlib", f"{name}_{axis}"].d, expected[..., n])
    several = sidestream.export(grids, tmp_path / "two.amrex", cycles=[range(0, 1)], variables=["rows", "longs"])
    assert several == ["'longs': whole numbers beyond 2^53 are rounded, plotfiles have real ones"]
    assert sorted(p.name for p in (tmp_path / "two.amrex").iterdir()) == ["box-plt000000", "plane-plt000000"]


def test_vtk_grids(grids, tmp_path):
    said = sidestream.export(grids, tmp_path / "all.pvd")
    assert len(said) == 3 and any("all are in all-box-levels-*.vtkhdf" in sentence for sentence in said)
    assert any("finer levels of 'nodes' are left out" in sentence for sentence in said)
    assert any("'faces' is left out" in sentence for sentence in said)
    box = read_vtk(tmp_path / "all-box-000020.vti")
    assert box.GetExtent() == (0, 5, 0, 4, 0, 16) and box.GetSpacing() == (0.5, 1, 2)
    assert array(box.GetFieldData(), "TimeValue") == [1.0]
    np.testing.assert_array_equal(array(box.GetPointData(), "nodes").reshape(17, 5, 6), whole("nodes", 2))
    vectors = array(box.GetCellData(), "vectors").reshape(16, 4, 5, 3)
    np.testing.assert_array_equal(vectors, whole("vectors", 2))
    rows = array(box.GetCellData(), "rows").reshape(16, 4, 5, 2)
    np.testing.assert_array_equal(rows, whole("rows", 2).transpose(2, 1, 0, 3))
    plane = read_vtk(tmp_path / "all-plane-000000.vti")
    np.testing.assert_array_equal(array(plane.GetCellData(), "longs").reshape(16, 5), whole("longs", 0))
    np.testing.assert_array_equal(array(plane.GetCellData(), "flat").reshape(16, 5), whole("flat", 0).T)
    walls = read_vtk(tmp_path / "all-walls-000000.vtr")
    np.testing.assert_array_equal(vtk_to_numpy(walls.GetXCoordinates()), [0, 1, 3, 4, 8, 9])
    text = (tmp_path / "all.pvd").read_text()
    assert text.count("<DataSet") == 15 and 'timestep="0.5" part="0" file="all-box-000010.vti"' in text


def test_vtk_lists(shapes, tmp_path):
    assert sidestream.export(shapes, tmp_path / "all.pvd") == []
    for step in range(3):
        cloud = read_vtk(tmp_path / f"all-cloud-{step:06}.vtu")
        assert cloud.GetNumberOfCells() == cloud.GetNumberOfPoints() == len(masses(step))
        np.testing.assert_array_equal(array(cloud.GetCellData(), "mass"), masses(step))
        points = vtk_to_numpy(cloud.GetPoints().GetData())
        np.testing.assert_array_equal(points, np.stack([masses(step), -masses(step), 0 * masses(step)], axis=-1))
        triangles = read_vtk(tmp_path / f"all-triangles-{step:06}.vtu")
        assert triangles.GetNumberOfCells() == 2 * RANKS
        area = vtkCellSizeFilter()
        area.SetInputData(triangles)
        area.Update()
        np.testing.assert_allclose(array(area.GetOutput().GetCellData(), "Area"), 0.5)
        centre = triangles.GetCell(2).GetBounds()
        assert centre[4:] == (1, 1), "the third triangle is of block 1"
        np.testing.assert_array_equal(array(triangles.GetCellData(), "area"), step + np.array([0, 0.5, 1, 1.5]))
        curved = read_vtk(tmp_path / f"all-curved-{step:06}.vts")
        assert curved.GetPoint(6) == (1.25, 2, 0)
        heat = array(curved.GetCellData(), "heat").reshape(2, 4)
        np.testing.assert_array_equal(heat, np.arange(4) + np.array([[step], [step + 10]]))


def test_lists_that_change(shapes, tmp_path):
    """Lists are exported as ragged arrays; the later run counts for steps that both have."""
    expected = [masses(step) for step in range(3)]
    assert sidestream.export(shapes, tmp_path / "a.nc") == [] and sidestream.export(shapes, tmp_path / "a.zarr") == []
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        assert file["cloud_cell_count"].sample_dimension == "cloud_cell_sample"
        np.testing.assert_array_equal(file["cloud_cell_count"][...], [len(m) for m in expected])
        np.testing.assert_array_equal(file["mass"][...], np.concatenate(expected))
        assert file["where"].dimensions == ("cloud_point_sample", "component_2")
        np.testing.assert_array_equal(file["iteration"][...], [0, 0, 1])
        assert file["heat"].dimensions == ("time", "curved_y", "curved_x")
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    np.testing.assert_array_equal(group["mass"][...], np.concatenate(expected))
    np.testing.assert_array_equal(group["cloud_cell_count"][...], [len(m) for m in expected])


def command(*arguments, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "sidestream", "export", *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def test_selections(grids, tmp_path):
    done = command(grids, tmp_path / "some.nc", "--variables", "rows,longs", "--cycles", "10::10")
    assert "some.nc: " in done.stdout and done.stderr == ""
    size = export_parts.human((tmp_path / "some.nc").stat().st_size)
    (tmp_path / "other.nc.bak").write_bytes(bytes(1 << 22))  # another file with the same beginning
    again = command(grids, tmp_path / "other.nc", "--variables", "rows,longs", "--cycles", "10::10")
    assert again.stdout.strip().endswith(size) and done.stdout.strip().endswith(size), again.stdout
    with netCDF4.Dataset(tmp_path / "some.nc") as file:
        np.testing.assert_array_equal(file["rows"][...], steps("rows", (1, 2)))
        np.testing.assert_array_equal(file["time"][...], [0.5, 1])
        assert "nodes" not in file.variables and "box_x_node" not in file.variables
    sidestream.export(grids, tmp_path / "one.h5", iterations=export_parts.parse_ranges("1,7:9"))
    assert sorted(p.name for p in tmp_path.glob("one*")) == ["one-000010.h5", "one.h5.series"]


@pytest.mark.test_all
def test_mistakes(grids, tmp_path):
    assert (
        "there is no variable 'row', but nodes"
        in command(grids, tmp_path / "a.nc", "--variables", "row", status=1).stderr
    )
    assert "none of the iterations" in command(grids, tmp_path / "a.nc", "--iterations", "7", status=1).stderr
    assert "'x' is no number" in command(grids, tmp_path / "a.nc", "--iterations", "1,x", status=1).stderr
    wrong = command(grids, tmp_path / "a.txt", status=1).stderr
    assert "ends in one of .amrex, .h5, .nc, .pvd, .vtkhdf, .zarr, .parquet" in wrong
    assert "this is no database" in command(tmp_path, tmp_path / "a.nc", status=1).stderr
    (tmp_path / "b-000020.h5").write_text("of somebody")
    assert "b-000020.h5 is there" in command(grids, tmp_path / "b.h5", status=1).stderr
    command(grids, tmp_path / "c.zarr", "--cycles", "0")
    assert "c.zarr is there" in command(grids, tmp_path / "c.zarr", status=1).stderr
    command(grids, tmp_path / "d.nc", "--wrong", status=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b-000020.h5", "c.zarr"], "nothing half done is left"
    assert (tmp_path / "b-000020.h5").read_text() == "of somebody"


@pytest.mark.test_all
def test_the_program(grids, tmp_path):
    """`sidestream export` runs this interpreter with the package that was built along with it."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["SIDESTREAM_PYTHON"] = sys.executable
    tool = [os.environ["SIDESTREAM_TOOL"], "export"]

    def run(*arguments, **more):
        line = [*tool, *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, timeout=60, env=environment | more, check=False)

    done = run(grids, tmp_path / "a.nc", "--variables", "rows", "--cycles", "20", "--uncompressed")
    assert done.returncode == 0 and "a.nc: " in done.stdout, done.stderr
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        np.testing.assert_array_equal(file["rows"][...], steps("rows", (2,)))
    assert run(tmp_path, tmp_path / "b.nc").returncode == 1
    wrong = run(grids, tmp_path / "b.nc", "--variabels", "rows")
    assert wrong.returncode == 2 and "did you mean '--variables'" in wrong.stderr
    nobody = run(grids, tmp_path / "b.nc", SIDESTREAM_PYTHON="/nowhere")
    assert nobody.returncode == 1 and "'/nowhere' cannot be run" in nobody.stderr


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress():
    shown = Terminal()
    progress = export_parts.Progress(2000, shown)
    progress.add(500)
    progress._last = 0
    progress.add(500)
    progress.end()
    assert " 50 %  1 kB of 2 kB" in shown.getvalue() and shown.getvalue().endswith("\r\033[K")
    silent = io.StringIO()
    export_parts.Progress(10, silent).add(10)
    assert silent.getvalue() == ""
