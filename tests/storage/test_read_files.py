"""Reads the writers' files with h5py and VTK, and compares values with the formula."""

import base64
import json
import os
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import few
from sample_fields import ITERATIONS, NODES, ORIGIN, SPACING, VARIABLES, bounds, values, values_at
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader, vtkXMLPRectilinearGridReader

GAP_BLOCK = 3


@pytest.fixture(scope="module", params=few([3, 1, 2]))
def files(request, tmp_path_factory):
    """The directory of a run with so many servers, and its output."""
    directory = tmp_path_factory.mktemp(f"servers-{request.param}") / "made" / "by the run"
    flags = os.environ.get("MPIEXEC_FLAGS", "").split()
    command = [os.environ["MPIEXEC"], "-n", str(request.param), *flags, os.environ["WRITE_SAMPLE"], str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory, request.param, done.stderr


@pytest.fixture(scope="module")
def directory(files):
    return files[0]


def in_kji(name, array):
    """A dataset's values as [k, j, i(, component)], whatever order it is stored in."""
    array = np.asarray(array)
    return np.moveaxis(array, [0, 1, 2], [2, 1, 0]) if VARIABLES[name][4] == "row" else array


def find(file, name):
    return file["variables/state/temperature" if name == "temperature" else f"variables/{name}"]


def check_equal(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


# HDF5


@pytest.mark.parametrize("pattern", ["fields-{index:05}.h5", "packed/{cycle}/all.h5"])
def test_each_variable_is_one_array(directory, pattern, monkeypatch):
    monkeypatch.chdir("/")
    for index, cycle, time in ITERATIONS:
        with h5py.File(directory / pattern.format(index=index, cycle=cycle)) as file:
            assert (file.attrs["iteration"], file.attrs["cycle"], file.attrs["time"]) == (index, cycle, time)
            for name in VARIABLES:
                dataset = find(file, name)
                assert dataset.attrs["missing"] == 0
                check_equal(in_kji(name, dataset[...]), values(name, index))


def test_percent_signs_in_names_are_what_they_are(directory):
    with h5py.File(directory / "100%" / "50%% %b %d-0%.h5") as file:
        for found, name in (("state/humidity %", "temperature"), ("a%%b %b%d", "marker")):
            dataset = file[f"variables/{found}"]
            assert dataset.attrs["missing"] == 0
            check_equal(dataset[...], values(name, 0))
    with h5py.File(directory / "100%" / "50%% %b %d-0%-000.h5") as file:
        assert set(file["variables"]) == {"state", "a%%b %b%d"}


def test_a_moved_directory_still_reads(directory, tmp_path):
    moved = tmp_path / "moved"
    subprocess.run(["cp", "-r", directory, moved], check=True, timeout=60)
    with h5py.File(moved / "fields-00001.h5") as file:
        assert {Path(source.file_name).name for source in file["variables/marker"].virtual_sources()} == set(
            file.attrs["files"]
        )
        check_equal(file["variables/marker"][...], values("marker", 1))


def blocks_of(group):
    return {dataset.attrs["id"]: dataset for dataset in group.values()}


def test_servers_files_hold_the_blocks(files):
    directory, servers, _ = files
    seen = {name: [] for name in VARIABLES}
    for server in range(servers):
        with h5py.File(directory / f"fields-00002-{server:03}.h5") as file:
            assert (file.attrs["server"], file.attrs["servers"]) == (server, servers)
            for name in VARIABLES:
                for number, dataset in blocks_of(find(file, name)).items():
                    check_owned_values(name, 2, dataset)
                    assert dataset.attrs["owner"] == 0 and dataset.attrs["level"] == 0
                    assert dataset.chunks is None and dataset.name.endswith(f"/block-{number}")
                    seen[name].append(number)
    for name, (mesh, *_) in VARIABLES.items():
        assert sorted(seen[name]) == list(range(7 if mesh == "box" else 4))


def check_owned_values(name, step, dataset):
    """Compares the points that the block owns. Shared nodes of other blocks and ghosts hold wrong values on purpose."""
    lo, hi = dataset.attrs["lo"], dataset.attrs["hi"]
    array = in_kji(name, dataset[...])
    assert array.shape[:3] == tuple((hi - lo)[::-1])
    for box in dataset.attrs["owned"]:
        first, last = box[:3], box[3:]
        part = array[tuple(slice(a - o, b - o) for a, b, o in zip(first, last, lo, strict=True))[::-1]]
        check_equal(part, values_at(name, step, first, last))


def test_ghosts_are_kept_if_wanted(directory):
    with h5py.File(directory / "ghosts-1-000.h5") as file:
        for name in ("temperature", "flux"):
            for dataset in blocks_of(find(file, name)).values():
                np.testing.assert_array_equal(dataset.attrs["lo"], dataset.attrs["points_lo"] - 2)
                np.testing.assert_array_equal(dataset.attrs["hi"], dataset.attrs["points_hi"] + 2)
                assert dataset[...].flat[0] == 117
                check_owned_values(name, 1, dataset)
    with h5py.File(directory / "ghosts-1.h5") as file:
        check_equal(in_kji("flux", find(file, "flux")[...]), values("flux", 1))


def test_a_block_that_did_not_come_shows(directory):
    with h5py.File(directory / "gap-0.h5") as file:
        temperature, marker = find(file, "temperature"), file["variables/marker"]
        expected, found = values("temperature", 0), temperature[...]
        gap = np.isnan(found)
        assert temperature.attrs["missing"] == gap.sum() > 0
        np.testing.assert_array_equal(found[~gap], expected[~gap])
        assert marker.attrs["missing"] > 0 and (marker[...] == 0).sum() == marker.attrs["missing"]


def test_compressed_files_have_filters_and_attributes(directory):
    with h5py.File(directory / "packed/20/all-000.h5") as file:
        dataset = next(iter(find(file, "temperature").values()))
        assert (dataset.compression, dataset.compression_opts, dataset.shuffle, dataset.fletcher32) == (
            "gzip",
            4,
            True,
            True,
        )
        group = find(file, "temperature")
        assert dict(group.attrs) == {
            "mesh": "box",
            "type": "float64",
            "centering": "cell",
            "components": 1,
            "order": "column",
            "unit": "K",
            "units": "K",  # as netCDF has it
            "label": "temperature",
        }
        assert [dimension.label for dimension in dataset.dims] == ["k", "j", "i"]
        assert [dimension.label for dimension in next(iter(find(file, "flux").values())).dims] == [
            "i",
            "j",
            "k",
            "component",
        ]
        assert file.attrs["provenance"] == "Sidestream test\nname: a -- b <&>\n"
        box, stretched = file["meshes/box"], file["meshes/stretched"]
        assert (box.attrs["kind"], stretched.attrs["kind"]) == ("uniform", "rectilinear")
        np.testing.assert_array_equal(box.attrs["origin"], ORIGIN)
        np.testing.assert_array_equal(box.attrs["spacing"], SPACING)
        for axis, nodes in zip("xyz", NODES, strict=True):
            np.testing.assert_array_equal(stretched[axis], nodes)


def test_without_the_whole_file_blocks_assemble(files):
    """Follows the recipe of docs/format-hdf5.md for readers without virtual datasets."""
    directory, *_ = files
    lo, hi = bounds("velocity")
    whole = np.full([*reversed(np.subtract(hi, lo)), 3], np.nan, "float32")
    for path in sorted(directory.glob("fields-00001-*.h5")):
        with h5py.File(path) as file:
            for block in find(file, "velocity").values():
                offset = block.attrs["lo"] - lo
                for box in block.attrs["owned"]:
                    here = tuple(slice(a - o, b - o) for a, b, o in zip(box[:3], box[3:], lo, strict=True))[::-1]
                    there = tuple(slice(h.start - s, h.stop - s) for h, s in zip(here, offset[::-1], strict=True))
                    whole[here] = block[there]
    check_equal(whole, values("velocity", 1))


# VTK


def read_vtk(path, reader):
    reader.SetFileName(str(path))
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
    reader.Update()
    assert not errors, path
    return reader.GetOutput()


def array_of(data, name):
    """Values as [k, j, i(, component)], or None if there is no such array."""
    centering, components = VARIABLES[name][2:4]
    attributes = data.GetCellData() if centering == "cell" else data.GetPointData()
    found = vtk_to_numpy(attributes.GetArray(name))
    shape = np.subtract(*bounds(name)[::-1])[::-1]
    return found.reshape([*shape, components] if components > 1 else shape)


@pytest.mark.parametrize("pattern", ["fields-{index:05}-{mesh}", "packed-{cycle:04}-{mesh}"])
def test_grids_hold_the_values(directory, pattern):
    for index, cycle, time in ITERATIONS:
        for mesh, ending, reader in (
            ("box", "pvti", vtkXMLPImageDataReader()),
            ("stretched", "pvtr", vtkXMLPRectilinearGridReader()),
        ):
            path = directory / (pattern.format(index=index, cycle=cycle, mesh=mesh) + f".{ending}")
            data = read_vtk(path, reader)
            for name, (on, *_) in VARIABLES.items():
                if on == mesh:
                    check_equal(array_of(data, name), values(name, index))
            assert data.GetFieldData().GetArray("TimeValue").GetValue(0) == time
            assert data.GetFieldData().GetArray("CYCLE").GetValue(0) == cycle


def test_grids_are_where_the_mesh_is(directory):
    box = read_vtk(directory / "fields-00000-box.pvti", vtkXMLPImageDataReader())
    lo, hi = bounds("marker")
    assert box.GetExtent() == tuple(x for a, b in zip(lo, hi, strict=True) for x in (a, b - 1))
    first = [o + s * i for o, s, i in zip(ORIGIN, SPACING, lo, strict=True)]
    np.testing.assert_allclose(box.GetPoint(0), first, rtol=1e-15)
    stretched = read_vtk(directory / "fields-00000-stretched.pvtr", vtkXMLPRectilinearGridReader())
    for found, nodes in zip(
        (stretched.GetXCoordinates(), stretched.GetYCoordinates(), stretched.GetZCoordinates()), NODES, strict=True
    ):
        np.testing.assert_array_equal(vtk_to_numpy(found), nodes)


def test_chosen_variables_only(directory):
    data = read_vtk(directory / "one/2.pvti", vtkXMLPImageDataReader())
    assert data.GetPointData().GetNumberOfArrays() == 1 and data.GetCellData().GetNumberOfArrays() == 1
    check_equal(array_of(data, "flux"), values("flux", 2))


def test_a_missing_block_is_reported(files):
    directory, _, printed = files
    assert not (directory / f"gap-0/block-{GAP_BLOCK:06}.vti").exists()
    data = read_vtk(directory / "gap-0.pvti", vtkXMLPImageDataReader())
    found, expected = array_of(data, "temperature"), values("temperature", 0)
    gap = np.isnan(found)
    np.testing.assert_array_equal(found[~gap], expected[~gap])
    with h5py.File(directory / "gap-0.h5") as file:
        assert gap.sum() == find(file, "temperature").attrs["missing"]
    assert (array_of(data, "marker") == 0).any()
    assert f"{gap.sum()} of 455 cells of the mesh 'box' are in no block" in printed
    assert printed.count("are in no block") == 1, "said once, not every iteration"


def test_series_name_the_files(directory):
    for stem, names in (("fields-box", "fields-{index:05}-box.pvti"), ("one/series", "{index}.pvti")):
        series = json.loads((directory / f"{stem}.pvti.series").read_text())
        assert [(f["iteration"], f["cycle"], f["time"]) for f in series["files"]] == ITERATIONS
        assert [f["name"] for f in series["files"]] == [names.format(index=n) for n in range(3)]
        collection = ET.parse(directory / f"{stem}.pvd").getroot().findall("./Collection/DataSet")
        assert [(float(d.get("timestep")), d.get("file")) for d in collection] == [
            (time, names.format(index=index)) for index, _, time in ITERATIONS
        ]
    series = json.loads((directory / "packed/all.h5.series").read_text())
    assert [f["name"] for f in series["files"]] == ["0/all.h5", "10/all.h5", "20/all.h5"]


def test_values_are_plain_base64(directory):
    """Compares with Python's own decoder; the data are the size as 64 bits, then the values."""
    root = ET.parse(directory / "fields-00000-box/block-000000.vti").getroot()
    assert (root.get("header_type"), root.get("byte_order")) == ("UInt64", "LittleEndian")
    for array in root.findall(".//Piece//DataArray"):
        data = base64.b64decode(array.text.strip(), validate=True)
        assert int.from_bytes(data[:8], "little") == len(data) - 8 > 0


def test_nothing_is_left_behind(directory):
    assert not list(directory.rglob(".*"))
