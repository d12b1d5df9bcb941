"""Reads the golden files, so that they are right and not only unchanged. Also checks the structure of HDF5 files."""

import csv
import math
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader, vtkXMLPolyDataReader

GOLDEN = Path(__file__).resolve().parent / "golden"


def test_table():
    with (GOLDEN / "table.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["name", "count", "value"]
    assert [row[0] for row in rows[1:]] == ['a "b", c', "two\nlines", "", "x", "x"]
    assert [int(row[1]) for row in rows[1:]] == [-1, 2**63 - 1, 0, 1, 1]
    values = [float(row[2]) for row in rows[1:]]
    assert values[:3] == [0.1, 1e-300, -math.inf] and math.isnan(values[3]) and values[4] == 1 / 3


def test_surface():
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(GOLDEN / "surface.vtp"))
    reader.Update()
    data = reader.GetOutput()
    points = [[0, 0, 0.5], [1, 0, 0.5], [0, 1, 0.25], [1, 1, 0.25]]
    np.testing.assert_array_equal(vtk_to_numpy(data.GetPoints().GetData()), points)
    np.testing.assert_array_equal(
        vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3), [[0, 1, 2], [1, 3, 2]]
    )
    arrays = data.GetPointData()
    np.testing.assert_array_equal(vtk_to_numpy(arrays.GetArray("temperature")), [300, 301, 302, 303.5])
    assert arrays.GetArray("normal <x>").GetNumberOfComponents() == 3
    assert data.GetFieldData().GetArray("TimeValue").GetValue(0) == 0.75
    assert data.GetFieldData().GetArray("ITERATION").GetValue(0) == 3


def test_empty_surface():
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(GOLDEN / "empty.vtp"))
    reader.Update()
    assert reader.GetErrorCode() == 0
    assert reader.GetOutput().GetNumberOfPoints() == reader.GetOutput().GetNumberOfCells() == 0


def test_grid():
    reader = vtkXMLPImageDataReader()
    reader.SetFileName(str(GOLDEN / "grid.pvti"))
    reader.Update()
    data = reader.GetOutput()
    assert data.GetExtent() == (1, 3, 0, 1, 0, 1)
    assert data.GetOrigin() == (0, 0.1, -1) and data.GetSpacing() == (0.1, 1, 2)
    np.testing.assert_array_equal(vtk_to_numpy(data.GetCellData().GetArray("t")), [1.5, 2.5])
    nodes = [(i + 10 * k, i + 10 * k + 1) for k in range(2) for _ in range(2) for i in range(1, 4)]
    np.testing.assert_array_equal(vtk_to_numpy(data.GetPointData().GetArray("n")), nodes)


def structure(path):
    """Every object of an HDF5 file with its shape, type, storage and attributes."""
    lines = []

    def describe(name, item):
        text = f"/{name}"
        if isinstance(item, h5py.Dataset):
            storage = "virtual" if item.is_virtual else "contiguous" if item.chunks is None else f"chunks {item.chunks}"
            text += f" {item.shape} {item.dtype} {storage}"
            if item.is_virtual:
                text += "".join(f"\n    from {s.file_name}:{s.dset_name}" for s in item.virtual_sources())
        lines.append(text)
        for key, value in sorted(item.attrs.items()):
            value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            lines.append(f"    @{key} = {value!r}")

    with h5py.File(path) as file:
        describe("", file)
        file.visititems(describe)
    return "\n".join(lines) + "\n"


def test_hdf5_structure(tmp_path):
    flags = os.environ.get("MPIEXEC_FLAGS", "").split()
    command = [os.environ["MPIEXEC"], "-n", "2", *flags, os.environ["WRITE_SAMPLE"], str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    for name in ("fields-00001.h5", "fields-00001-001.h5"):
        golden = GOLDEN / f"{name}.txt"
        found = structure(tmp_path / name)
        if "SIDESTREAM_WRITE_GOLDEN" in os.environ:
            golden.write_text(found)
        assert found == golden.read_text()


def test_hdf5_files_of_the_same_data_are_the_same_bytes(tmp_path):
    flags = os.environ.get("MPIEXEC_FLAGS", "").split()
    for run in ("a", "b"):
        command = [os.environ["MPIEXEC"], "-n", "2", *flags, os.environ["WRITE_SAMPLE"], str(tmp_path / run)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        # Times of day in a file are whole seconds.
        subprocess.run(["sleep", "1.1"], check=True)
    files = sorted((tmp_path / "a").rglob("*.h5"))
    assert len(files) > 10
    for file in files:
        assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes(), file
