"""Units, labels and free attributes of meshes and variables, as readers of HDF5 files and databases find them."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import sidestream
from programs import built

SCRIPT = Path(__file__).with_name("owned_points.py")
TOOL = built("SIDESTREAM_TOOL")

RUN = """\
output: {directory: results}
meshes:
  m: {size: [4, 3], points: owned, units: [km, m], labels: [distance, ""], attributes: {datum: WGS84, zone: 33}}
variables:
  t: {mesh: m, unit: K, label: warmth, attributes: {standard_name: air_temperature, valid_min: 0, scale: 2.5}}
  v: {mesh: m, components: 2, order: row}
  n: {mesh: m, type: int32}
outputs:
  - hdf5: {}
  - database: {directory: base}
  - metadata: {}
"""
FREE = {"standard_name": "air_temperature", "valid_min": 0, "scale": 2.5}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attributes")
    (folder / "run.yaml").write_text(RUN)
    command = ["mpirun", "--oversubscribe", "-n", "2", sys.executable, SCRIPT, "run.yaml", "4x3", "-", "2", "1"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
    assert found.returncode == 0, found.stdout + found.stderr
    return folder / "results"


def test_hdf5(results):
    files = [results / "fields-000002.h5", *(results / "base").glob("context-*2.h5")]
    assert len(files) == 2
    for path in files:
        with h5py.File(path) as file:
            about = dict(file["variables/t"].attrs)
            assert {name: about[name] for name in FREE} == FREE
            assert about["units"] == "K"
            assert about["long_name"] == "warmth"
            assert not {"units", "long_name", "attributes"} & set(file["variables/n"].attrs)
    with h5py.File(files[0]) as file:
        mesh = file["meshes/m"].attrs
        assert list(mesh["units"]) == ["km", "m"]
        assert (mesh["datum"], mesh["zone"]) == ("WGS84", 33)


@pytest.mark.parametrize("of", ["hdf5", "database"])
def test_xarray(results, of):
    path = results / "base" if of == "database" else results / "fields-000002.h5"
    data = sidestream.open(path, cycle=2) if of == "database" else sidestream.open(path)
    assert FREE.items() <= data["t"].attrs.items()
    assert (data["t"].attrs["units"], data["t"].attrs["long_name"]) == ("K", "warmth")
    assert dict(data["x_node"].attrs) == {"units": "km", "long_name": "distance"}
    assert dict(data["y_node"].attrs) == {"units": "m"}
    assert (data.attrs["m_datum"], data.attrs["m_zone"]) == ("WGS84", 33)
    np.testing.assert_array_equal(data["x_node"], np.arange(4.0))


def test_metadata_is_read_again(results, tmp_path):
    """A file of the output `metadata` declares the same, sizes in points included."""
    (text,) = [path.read_text() for path in results.glob("metadata-*2.yaml")]
    assert "size: [4, 3]" in text
    assert "points: owned" in text
    assert 'attributes: {scale: 2.5, standard_name: "air_temperature", valid_min: 0}' in text
    assert 'units: ["km", "m"]' in text


WRONG = {
    "mesh: m, attributes: {units: K}": "`unit` and `label` of variables",
    "mesh: m, attributes: {order: 1}": "which files use themselves",
    "mesh: m, attributes: {2d: 1}": "expected a letter",
    "mesh: m, attributes: {a: [1, 2]}": "expected a text or a number",
}


@pytest.mark.parametrize("variable", WRONG)
def test_refused(tmp_path, variable):
    path = tmp_path / "run.yaml"
    path.write_text(f"meshes: {{m: {{size: [4]}}}}\nvariables: {{t: {{{variable}}}}}\n")
    found = subprocess.run([TOOL, "check", path], capture_output=True, text=True, timeout=60)
    assert found.returncode != 0
    assert WRONG[variable] in found.stdout + found.stderr
