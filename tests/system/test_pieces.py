"""Results in pieces are the same as in one file, in every placement, for built-in analyses and those in C."""

import csv
import json

import h5py
import numpy as np
import pytest
from programs import built
from support import run
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLPPolyDataReader

PLUGIN = built("SIDESTREAM_PARTS_PLUGIN")
STEPS, ROWS = 2, 11


def tasks(pieces):
    """Reads all of a result in pieces or in one file."""
    number = {"true": 2, "false": 1, "auto": 0}[pieces]
    return f"""\
plugins: [{PLUGIN}]
analyses:
  - isosurface: {{variable: t, values: [-0.3, 0.4], fields: [p], file: "surface-{{index}}.vtp", pieces: {pieces}}}
  - slice: {{variable: t, origin: [0.5, 0.5, 0.5], normal: [1, -2, 0.5], file: "slice-{{index}}.vtp", pieces: {pieces}}}
  - histogram: {{variable: t, bins: 17, file: "histogram-{{index}}.csv", pieces: {pieces}}}
  - parts: {{rows: {ROWS}, pieces: {number}, table: "t-{{index}}.csv", surface: "s-{{index}}.vtp",
             data: "d-{{index}}.h5"}}
"""


def surface_of(results, name):
    """The values at the corners of triangles, in order."""
    listed = results / f"{name}.pvtp"
    reader = vtkXMLPPolyDataReader() if listed.exists() else vtkXMLPolyDataReader()
    assert listed.exists() != (results / f"{name}.vtp").exists()
    reader.SetFileName(str(listed if listed.exists() else results / f"{name}.vtp"))
    said = []
    reader.AddObserver("ErrorEvent", lambda *_: said.append(1))
    reader.Update()
    assert not said
    data = reader.GetOutput()
    corners = vtk_to_numpy(data.GetPolys().GetConnectivityArray())
    arrays = [data.GetPointData().GetArray(n) for n in range(data.GetPointData().GetNumberOfArrays())]
    return {
        "points": vtk_to_numpy(data.GetPoints().GetData())[corners],
        **{array.GetName(): vtk_to_numpy(array)[corners] for array in arrays},
    }


def table_of(results, name):
    listed = results / f"{name}.pieces"
    if not listed.exists():
        return list(csv.reader((results / f"{name}.csv").open()))
    index = json.loads(listed.read_text())
    rows = [index["columns"]]
    for piece in index["pieces"]:
        part = list(csv.reader((results / piece["file"]).open()))
        assert part[0] == index["columns"] and len(part) == piece["rows"] + 1
        rows += part[1:]
    assert len(rows) == index["rows"] + 1
    return rows


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    done = run(tmp_path_factory.mktemp("one"), 1, "inline", tasks("false"), [f"steps={STEPS}"])
    assert done.status == 0, done.text
    return done.results


def compare(results, one):
    for step in range(STEPS):
        for name in ("surface", "slice", "s"):
            found, expected = surface_of(results, f"{name}-{step}"), surface_of(one, f"{name}-{step}")
            assert found.keys() == expected.keys() and len(expected["points"])
            for array in expected:
                np.testing.assert_array_equal(found[array], expected[array], name)
        for name in ("histogram", "t"):
            assert table_of(results, f"{name}-{step}") == table_of(one, f"{name}-{step}")
        numbers = [[str(n), str(0.5 * n).removesuffix(".0"), "odd" if n % 2 else "even"] for n in range(ROWS)]
        assert table_of(results, f"t-{step}")[1:] == numbers
        with h5py.File(results / f"d-{step}.h5") as file:
            rows = file["rows"]
            np.testing.assert_array_equal(rows[...], np.arange(2 * ROWS, dtype="float32").reshape(ROWS, 2))
            assert rows.dtype == np.float32 and [d.label for d in rows.dims] == ["row", "side"]
            attributes = {name: rows.attrs[name] for name in ("unit", "version", "scale", "source")}
            assert attributes == {"unit": "K", "version": 3, "scale": 0.125, "source": "a test"}


@pytest.mark.keep(1)
@pytest.mark.parametrize("pieces", ["true", "auto"])
@pytest.mark.parametrize(
    ("ranks", "placement"),
    [
        (3, "inline"),
        (8, "inline"),
        (3, "{mode: cores, per_node: 1, buffer: 16 MiB}"),
        (5, "{mode: nodes, servers: 2, buffer: 16 MiB}"),
        (8, "{mode: nodes, servers: 3, buffer: 16 MiB, forward: partials}"),
    ],
)
def test_placements(tmp_path, one, pieces, ranks, placement):
    done = run(tmp_path, ranks, placement, tasks(pieces), [f"steps={STEPS}", "blocks=2", "ghosts=1"])
    assert done.status == 0 and not done.errors, done.text
    # Small results are one file, unless pieces are required.
    assert (done.results / "surface-0.pvtp").exists() == (pieces == "true")
    compare(done.results, one)
