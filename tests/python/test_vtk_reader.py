"""VTK's files, pictures and YAML opened with the reader, compared with the vtk wheel, Pillow and the published
values."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import parts
import pytest
import shapes
import sidestream
from PIL import Image
from sidestream.reader.opening import READERS
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import (
    vtkXMLPolyDataReader,
    vtkXMLPPolyDataReader,
    vtkXMLPUnstructuredGridReader,
    vtkXMLUnstructuredGridReader,
)

MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
TASKS = """\
placement: inline
output: {directory: DIRECTORY, fsync: false}
analyses:
  - isosurface: {variable: n, values: [0.4], file: "one-{cycle}.vtp"}
  - isosurface: {name: pieces, variable: gc, values: [0.4, 0.6], pieces: true, file: "pieces-{cycle}.vtp"}
  - isosurface: {name: hdf, variable: gc, values: [0.4, 0.6], file: "hdf-{cycle}.vtkhdf"}
  - isosurface: {name: nothing, variable: gc, values: [7], file: "nothing-{cycle}.vtp"}
  - clip: {variable: t, origin: [2, 1, 2], normal: [1, 2, -0.5], pieces: true, fields: n, file: "clip-{cycle}.vtu"}
  - threshold: {variable: mass, minimum: 0.7, file: "heavy.vtu"}
  - render: {isosurface: {variable: gc, values: [0.5]}, size: [40, 30], file: "picture-{cycle}.png"}
outputs:
  - vtk: {name: packed, variables: [gc, gn], compression: zlib, file: "packed-{cycle}.pvti"}
  - vtk: {variables: [where, links, ends, kinds, t, n, nodes, c, v, density, places, mass], file: "all-{cycle}.pvti"}
  - metadata: {file: "what-{cycle}.yaml", ranges: [gc]}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vtk")
    (folder / "run.yaml").write_text(TASKS.replace("DIRECTORY", str(folder / "results")))
    command = [MPIRUN, "-n", "3", sys.executable, parts.__file__, str(folder / "run.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results"


def read(path, reader):
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutput()


def same(found, data):
    np.testing.assert_array_equal(np.asarray(found).reshape(-1), vtk_to_numpy(data).reshape(-1))


def opened(path):
    return sidestream.open(path, into="numpy")


@pytest.mark.parametrize("name", ["one-0.vtp", "pieces-0.pvtp"])
def test_surfaces(results, name):
    found = opened(results / name)
    reader = vtkXMLPPolyDataReader() if name.endswith(".pvtp") else vtkXMLPolyDataReader()
    data = read(results / name, reader)
    same(found["points"], data.GetPoints().GetData())
    same(found["triangles"], data.GetPolys().GetConnectivityArray())
    assert found["triangles"].shape == (data.GetNumberOfCells(), 3) and data.GetNumberOfCells() > 100
    for n in range(data.GetPointData().GetNumberOfArrays()):
        same(found[data.GetPointData().GetArrayName(n)], data.GetPointData().GetArray(n))
    assert (found.attrs["time"], found.attrs["cycle"], found.attrs["iteration"]) == (0.0, 0, 0)
    for key in [(5,), (slice(40, 3, -3),), (slice(90, 130), slice(1, 3)), (slice(7, 7),)]:
        np.testing.assert_array_equal(found["triangles"][key], np.asarray(found["triangles"])[key])


def test_a_surface_in_vtkhdf_is_that_in_pieces(results):
    found, pieces = opened(results / "hdf-1.vtkhdf"), opened(results / "pieces-1.pvtp")
    corners = [np.asarray(of["points"])[np.asarray(of["triangles"])] for of in (found, pieces)]
    np.testing.assert_array_equal(*corners)
    assert found.attrs == pieces.attrs and found.attrs["cycle"] == 1
    np.testing.assert_array_equal(found["triangles"][3:5, 1], np.asarray(found["triangles"])[3:5, 1])


def test_a_surface_without_points(results):
    found = opened(results / "nothing-0.vtp")
    assert found["points"].shape == (0, 3) and found["triangles"].shape == (0, 3)
    assert np.asarray(found["points"]).shape == (0, 3)


@pytest.mark.parametrize("name", ["clip-1.pvtu", "heavy.vtu", "all-1-solid.pvtu"])
def test_cells(results, name):
    found = opened(results / name)
    reader = vtkXMLPUnstructuredGridReader() if ".p" in name else vtkXMLUnstructuredGridReader()
    data = read(results / name, reader)
    np.testing.assert_array_equal(found["types"], [data.GetCellType(n) for n in range(data.GetNumberOfCells())])
    same(found["connectivity"], data.GetCells().GetConnectivityArray())
    np.testing.assert_array_equal(found["offsets"], vtk_to_numpy(data.GetCells().GetOffsetsArray())[1:])
    values = {
        name: array for name, array in found.items() if name not in ("types", "connectivity", "offsets", "points")
    }
    assert data.GetNumberOfCells() > 20 and values
    for name, array in values.items():
        theirs = data.GetPointData().GetArray(name) or data.GetCellData().GetArray(name)
        same(array, data.GetPoints().GetData() if theirs is None else theirs)


def test_points(results):
    found = opened(results / "all-1-cloud.pvtp")
    places, mass = parts.particles(1)
    np.testing.assert_array_equal(found["places"], places)
    np.testing.assert_array_equal(found["mass"], mass)
    np.testing.assert_array_equal(found["vertices"], np.arange(parts.PARTICLES))
    assert len(found["mass"].chunks[0]) == 6


def test_grids(results):
    found = opened(results / "packed-1.pvti")
    np.testing.assert_array_equal(found["gc"], parts.grid_cells(1))
    np.testing.assert_array_equal(found["gn"], parts.grid_nodes(1))
    assert found["gn"].dims == ("z_node", "y_node", "x_node") and found["gc"].attrs["centering"] == "cell"
    np.testing.assert_allclose(found.coords["y"][1], 0.25 + 0.5 * np.arange(6), rtol=1e-15)
    curved = opened(results / "all-1-curved.pvts")
    np.testing.assert_array_equal(curved["nodes"], shapes.warped(1))
    np.testing.assert_array_equal(curved["v"], shapes.at_nodes(1))
    np.testing.assert_array_equal(curved["c"], shapes.in_boxes(1))


KEYS = [0, -1, slice(None), slice(1, 4), slice(4, 1, -2), slice(0, 5, 3), slice(2, 2)]


@pytest.mark.parametrize("name", ["gc", "gn"])
def test_parts_of_a_grid_are_what_numpy_makes_of_the_whole(results, name):
    found = opened(results / "packed-0.pvti")[name]
    whole = {"gc": parts.grid_cells, "gn": parts.grid_nodes}[name](0)
    for key in itertools.product(KEYS, repeat=3):
        np.testing.assert_array_equal(found[key], whole[key], str(key))


def test_levels(results):
    found = opened(results / "all-1-levels.vtm")
    assert next(iter(found)) == "level 0/block 0" and list(found)[-1] == "level 1/block 1000"
    np.testing.assert_array_equal(found["level 1/block 1000"]["density"], parts.fine(1))
    np.testing.assert_allclose(found["level 1/block 1000"].coords["x"][1], 1.25 + 0.5 * np.arange(4))
    coarse = [found[name]["density"] for name in found if name.startswith("level 0")]
    np.testing.assert_array_equal(np.concatenate(coarse), parts.coarse(1))


def test_over_time(results):
    found = sidestream.open(results)
    grid = found["packed.pvti"]
    assert grid["gc"].dims == ("time", "z", "y", "x") and list(grid["cycle"].values) == [0, 1]
    np.testing.assert_array_equal(grid["gc"], np.stack([parts.grid_cells(0), parts.grid_cells(1)]))
    films = found["picture"]
    assert films["image"].dims == ("time", "y", "x", "channel")
    pixels = [np.asarray(Image.open(results / f"picture-{n}.png")) for n in range(2)]
    np.testing.assert_array_equal(films["image"], np.stack(pixels))
    assert len(np.unique(pixels[0].reshape(-1, pixels[0].shape[-1]), axis=0)) > 20
    assert "triangles" in found["one.vtp"].attrs["changing"]
    assert not [name for name in found if "block-" in name or "piece-" in name]


def test_metadata_and_records(results):
    found = sidestream.open(results / "what-1.yaml")
    assert found["iteration"] == {"index": 1, "cycle": 1, "time": 1}
    blocks = found["blocks"]
    fine = blocks[blocks["level"] == 1]
    assert list(fine["id"]) == [1000] and [fine[f"hi_{a}"][0] for a in "ijk"] == list(parts.FINE[1])
    number = list(found["variables"]).index("gc")
    ranges = found["ranges"][found["ranges"]["variable"] == number]
    assert ranges["min"].min() == parts.grid_cells(1).min() and ranges["max"].max() == parts.grid_cells(1).max()
    run = sidestream.open(results)["run"]
    assert run["account"]["delivered"] == shapes.STEPS


def test_gaps_and_the_lowest_block(tmp_path):
    """The lowest block's values count at points that two pieces have. The values of a gap never do."""
    head = '<?xml version="1.0"?>\n<VTKFile type="{}" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
    grid = 'WholeExtent="{0}" Origin="0 0 0" Spacing="1 1 1"'
    pieces = {"gap-000000": ("0 2 0 0 0 0", "-1 -1 -1"), "block-000001": ("2 4 0 0 0 0", "1 2 3")}
    pieces["block-000002"] = ("4 6 0 0 0 0", "4 5 6")
    for name, (extent, values) in pieces.items():
        array = f'<DataArray type="Int16" Name="a &lt;b>" NumberOfComponents="1" format="ascii">{values}</DataArray>'
        inside = f'<Piece Extent="{extent}"><PointData>{array}</PointData></Piece>'
        text = f"{head.format('ImageData')}<ImageData {grid.format(extent)}>{inside}</ImageData></VTKFile>"
        (tmp_path / f"{name}.vti").write_text(text)
    listed = "".join(f'<Piece Extent="{extent}" Source="{n}.vti"/>' for n, (extent, _) in pieces.items())
    whole = f"{head.format('PImageData')}<PImageData {grid.format('0 6 0 0 0 0')}>{listed}</PImageData></VTKFile>"
    (tmp_path / "all.pvti").write_text(whole)
    found = opened(tmp_path / "all.pvti")["a <b>"]
    assert found.dims == ("x_node",) and found.chunks == ((2, 2, 3),)
    np.testing.assert_array_equal(found, [-1, -1, 1, 2, 3, 5, 6])


def test_what_is_damaged_is_said(results, tmp_path):
    text = (results / "one-0.vtp").read_text()
    damaged = {
        "cut.vtp": (text[: len(text) // 2], "no XML file that can be read"),
        "other.vtp": (text.replace('format="binary"', 'format="appended"'), "expected binary or ascii"),
        "kind.vtp": (text.replace('type="PolyData"', 'type="Table"'), "VTK's type 'Table'"),
        "packer.vtp": (text.replace("<VTKFile ", '<VTKFile compressor="x" '), "packed by x"),
        "type.vtp": (text.replace('type="Float32"', 'type="Float8"'), "the type 'Float8'"),
        "root.vtp": ("<a/>", "no element VTKFile"),
        "no.png": ("no", "no picture"),
        "no.vtkhdf": ("no", "no VTKHDF file"),
        "no.yaml": ("a: [", "no YAML"),
        "what.yaml": ("sidestream_metadata: 2\nblocks: |\n  0 0\n", "a line of `blocks` has not 10 entries"),
    }
    for name, (content, says) in damaged.items():
        (tmp_path / name).write_text(content)
        with pytest.raises(sidestream.Error, match=says) as raised:
            sidestream.open(tmp_path / name)
        assert raised.value.code is sidestream.Code.FILE, name
    (tmp_path / "alone.pvtp").write_text((results / "pieces-0.pvtp").read_text())
    with pytest.raises(sidestream.Error, match="missing beside it"):
        sidestream.open(tmp_path / "alone.pvtp")
    (tmp_path / "values.vtp").write_text(text.replace('format="binary">\n', 'format="binary">\n////', 1))
    with pytest.raises(sidestream.Error, match="is damaged"):
        np.asarray(sidestream.open(tmp_path / "values.vtp", into="numpy")["value"])


def test_a_directory_lists_them(results):
    found = sidestream.open(results)
    expected = {"heavy.vtu", "packed.pvti", "all-levels.vtm", "picture.png", "what.yaml", "run.yaml"}
    assert expected <= set(found), sorted(found)
    assert {Path(name).suffix for name in found} <= set(READERS)
