"""Results that are spread over servers: as one file, and as pieces, which together hold the same as the file."""

import csv
import json
import os
import subprocess
import xml.etree.ElementTree as ET

import h5py
import numpy as np
import pytest
from pairs import few
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLPPolyDataReader

ROWS, LAYERS, WIDTH = 17, 7, 5


@pytest.fixture(scope="module", params=few([3, 1, 2, 5, 8]))
def run(request, tmp_path_factory):
    """The directory, the number of servers, and their output."""
    directory = tmp_path_factory.mktemp(f"parts-{request.param}")
    blocked = directory / "blocked-20" / f"piece-{request.param - 1:06}.vtp"
    blocked.mkdir(parents=True)
    flags = os.environ.get("MPIEXEC_FLAGS", "").split()
    command = [os.environ["MPIEXEC"], "-n", str(request.param), *flags, os.environ["WRITE_PARTS"], str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory, request.param, done.stdout


def parts(all_of_them, servers):
    """The number of servers that have a part. If there are at least three, server 1 has none."""
    return servers if servers < 3 else min(servers - 1, all_of_them)


def test_tables(run):
    directory, servers, _ = run
    expected = [[str(n * 10**12), f'row, "{n}"'] for n in range(ROWS)]
    for cycle in ("000", "010"):
        one = (directory / f"one-{cycle}.csv").read_text()
        assert (directory / f"auto-{cycle}.csv").read_text() == one
        rows = list(csv.reader(one.splitlines()))
        assert [[row[0], row[2]] for row in rows[1:]] == expected
        assert [float(row[1]) for row in rows[1:]] == [0.1 * n for n in range(ROWS)]
        index = json.loads((directory / f"many-{cycle}.pieces").read_text())
        assert index["columns"] == rows[0] == ["number", "real", "text"]
        assert index["rows"] == ROWS
        assert len(index["pieces"]) == parts(ROWS, servers)
        texts = [(directory / piece["file"]).read_text().split("\n", 1) for piece in index["pieces"]]
        assert "\n".join([texts[0][0], "".join(text for _, text in texts)]) == one
        counts = [len(list(csv.reader(text.splitlines()))) for _, text in texts]
        assert counts == [piece["rows"] for piece in index["pieces"]]
        empty = json.loads((directory / f"empty-{cycle}.pieces").read_text())
        assert (empty["rows"], empty["pieces"], empty["columns"]) == (0, [], ["number", "real", "text"])


def test_tables_that_grow_are_one_file(run):
    directory, *_ = run
    text = (directory / "one.csv").read_text()
    assert (directory / "many.csv").read_text() == (directory / "auto.csv").read_text() == text
    rows = list(csv.reader(text.splitlines()))
    assert [row[0] for row in rows[1:]] == ["0"] * ROWS + ["1"] * ROWS


def read(path, reader):
    said = []
    for event in ("ErrorEvent", "WarningEvent"):
        reader.AddObserver(event, lambda _, name: said.append(name))
    reader.SetFileName(str(path))
    reader.Update()
    assert not said, path
    return reader.GetOutput()


def test_surfaces(run):
    directory, servers, _ = run
    for cycle in ("000", "010"):
        one = read(directory / f"one-{cycle}.vtp", vtkXMLPolyDataReader())
        many = read(directory / f"many-{cycle}.pvtp", vtkXMLPPolyDataReader())
        assert len(list((directory / f"many-{cycle}").glob("*.vtp"))) == parts(ROWS, servers)
        assert one.GetNumberOfPolys() == ROWS
        picks = (
            lambda data: data.GetPoints().GetData(),
            lambda data: data.GetPolys().GetConnectivityArray(),
            lambda data: data.GetPointData().GetArray("place"),
        )
        for pick in picks:
            np.testing.assert_array_equal(vtk_to_numpy(pick(one)), vtk_to_numpy(pick(many)))
        # These are binary, and never in pieces.
        for name in ("one", "many"):
            binary = read(directory / f"{name}-{cycle}.vtkhdf", vtkHDFReader())
            for pick in picks:
                np.testing.assert_array_equal(vtk_to_numpy(pick(one)), vtk_to_numpy(pick(binary)))
            assert binary.GetFieldData().GetArray("CYCLE").GetValue(0) == int(cycle)
        assert many.GetFieldData().GetArray("CYCLE").GetValue(0) == int(cycle)
        assert read(directory / f"empty-{cycle}.pvtp", vtkXMLPPolyDataReader()).GetNumberOfPoints() == 0


def test_index_over_time(run):
    directory, *_ = run
    for stem, ending in (("one", "vtp"), ("many", "pvtp"), ("auto", "vtp")):
        listed = ET.parse(directory / f"{stem}.pvd").getroot().findall("./Collection/DataSet")
        assert [d.get("file") for d in listed] == [f"{stem}-{cycle}.{ending}" for cycle in ("000", "010")]


def check_data(file):
    numbers, plane = file["numbers"], file["a plane %"]
    np.testing.assert_array_equal(numbers[...], np.arange(LAYERS * 3 * WIDTH).reshape(LAYERS, 3, WIDTH))
    np.testing.assert_array_equal(plane[...], 100 * np.arange(4)[:, None] + np.arange(WIDTH))
    assert (numbers.dtype, plane.dtype) == (np.int64, np.float32)
    assert [d.label for d in numbers.dims] == ["z", "y", "x"]
    assert (numbers.attrs["unit"], numbers.attrs["scale"], plane.attrs["unit"]) == ("m", 0.5, "")
    assert (file.attrs["answer"], file.attrs["code"]) == (42, "a <test>")
    assert (file.attrs["format"], file.attrs["version"]) == ("sidestream-data-set", 1)


def test_data_sets(run):
    directory, servers, _ = run
    for cycle in ("000", "010"):
        for name in ("one", "many", "auto", "whole"):
            with h5py.File(directory / f"{name}-{cycle}.h5") as file:
                check_data(file)
                assert file["numbers"].is_virtual == (name == "many")
                assert file.attrs["cycle"] == int(cycle)
        pieces = sorted((directory / f"many-{cycle}").glob("*.h5"))
        assert len(pieces) == servers
        seen = np.zeros((LAYERS, 3, WIDTH), int)
        for piece in pieces:
            with h5py.File(piece) as file:
                part = file["numbers"]
                start = part.attrs.get("start", np.zeros(3, int))
                seen[tuple(slice(s, s + n) for s, n in zip(start, part.shape, strict=True))] += 1
        assert (seen == 1).all()


def test_what_does_not_fit_is_refused_on_all(run):
    directory, servers, printed = run
    for name, sentence in (("missing", "of its"), ("overlap", "overlap"), ("blocked", "piece-")):
        said = [line for line in printed.splitlines() if line.startswith(f"{name} ")]
        assert len(said) == servers
        if name == "overlap" and servers == 1:
            continue
        assert len({line.split(": ", 1)[1] for line in said}) == 1
        assert sentence in said[0] or "other arrays" in said[0], said
    assert not list(directory.rglob(".*.part")) and not list(directory.rglob("*.old"))
    names = {path.name for path in directory.iterdir()}
    assert not names & {"blocked-20.pvtp", "bad-20.h5"} and ("overlap-20.h5" in names) == (servers == 1)
    assert not [
        path for folder in ("blocked-20", "bad-20") for path in (directory / folder).glob("*") if path.is_file()
    ]
    after = read(directory / "after-20.pvtp", vtkXMLPPolyDataReader())
    assert after.GetNumberOfPolys() == ROWS
