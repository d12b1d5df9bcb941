"""A small benchmark_io: every method of this build writes the same values, and the tables are complete."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from optional_packages import needs
from pairs import few
from programs import built

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
import database_reader

PROGRAM, MPIRUN = built("SIDESTREAM_IO_PROGRAM"), os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
CELLS, STEPS = 12, 2
EVERYWHERE = {"raw", "posix", "aggregate", "mpi-io", "hdf5-each", "database-cores", "database-inline"}


def go(folder, ranks, *options):
    command = [MPIRUN, "-n", str(ranks), PROGRAM, f"--cells={CELLS}", f"--steps={STEPS}", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def expected(variable, step=STEPS - 1):
    k, j, i = np.indices((CELLS,) * 3)
    return ((k * CELLS + j) * CELLS + i) * 1e-3 + step + 0.25 * variable


@pytest.fixture(scope="module", params=few([3, 8, 1]))
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("io")
    text = go(folder, request.param + 1, "--keep", "--csv=samples.csv", "--turns=2", "--files=2")
    return request.param, folder, text


@pytest.mark.test_all
def test_tables(written):
    _, folder, text = written
    with (folder / "samples.csv").open() as file:
        rows = list(csv.DictReader(file))
    methods = {row["method"] for row in rows}
    assert methods >= EVERYWHERE
    assert len(rows) == len(methods) * STEPS * 2
    assert all(0 < float(row["mean"]) <= float(row["slowest"]) * (1 + 1e-9) for row in rows)
    assert all(float(row["visible_slowest"]) <= float(row["slowest"]) * (1 + 1e-9) for row in rows)
    assert text.splitlines()[-1].startswith("ratio database-inline / raw, fsync, from publishing on: ")
    missing = [line for line in text.splitlines() if line.startswith("left out: ")]
    assert all("; " in line for line in missing)


def test_shared_files(written):
    """Methods with one file for the whole grid: MPI-IO, and HDF5 and NetCDF if they are built."""
    _, folder, _ = written
    name = f"step-{STEPS - 1:04}-00000"
    values = np.fromfile(folder / f"io-results/mpi-io/{name}.raw").reshape(2, CELLS, CELLS, CELLS)
    for variable in range(2):
        np.testing.assert_array_equal(values[variable], expected(variable))
        for file in (f"hdf5-contiguous/{name}.h5", f"hdf5-chunked/{name}.h5", f"netcdf/{name}.nc"):
            path = folder / "io-results" / file
            if path.parent.exists():
                with h5py.File(path) as opened:
                    np.testing.assert_array_equal(opened[f"field{variable}"][...], expected(variable))


def test_files_of_ranks(written):
    """Joins the boxes of the ranks; the `.pvti` file names all of them."""
    vtk_xml = needs("vtkmodules.vtkIOXML")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    ranks, folder, _ = written
    results = folder / "io-results"
    reader = vtk_xml.vtkXMLPImageDataReader()
    reader.SetFileName(str(results / f"posix/step-{STEPS - 1:04}.pvti"))
    reader.Update()
    cells = reader.GetOutput().GetCellData()
    sizes = {"raw": 0, "aggregate": 0}
    for variable in range(2):
        found = vtk_to_numpy(cells.GetArray(f"field{variable}")).reshape((CELLS,) * 3)
        np.testing.assert_array_equal(found, expected(variable))
    for method in sizes:
        files = sorted((results / method).glob(f"step-{STEPS - 1:04}-*.raw"))
        assert len(files) == (ranks if method == "raw" else min(2, ranks))
        values = np.concatenate([np.fromfile(file) for file in files])
        np.testing.assert_array_equal(np.sort(values), np.sort(np.stack([expected(0), expected(1)]).ravel()))
    each = []
    for file in (results / "hdf5-each").glob(f"step-{STEPS - 1:04}-*.h5"):
        with h5py.File(file) as opened:
            each.append(opened["field1"][...].ravel())
    np.testing.assert_array_equal(np.sort(np.concatenate(each)), np.sort(expected(1).ravel()))


@pytest.mark.parametrize("mode", ["cached", "fsync"])
def test_databases(written, mode):
    _, folder, _ = written
    for placement in ("cores", "inline"):
        contexts = list(database_reader.contexts(folder / f"io-results/database-{placement}/{mode}").values())
        assert len(contexts) == STEPS
        for variable in range(2):
            whole = contexts[-1].whole(f"field{variable}")
            np.testing.assert_array_equal(whole.transpose(2, 1, 0), expected(variable))


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("options", "last"),
    [
        (["--visible", "--rounds=2"], "ratio visible / memcpy"),
        (["--spare", "--codec=[byte-shuffle, gzip]"], "ratio step with codecs"),
        (["--read", "--rounds=1"], "ratio restart"),
        (["--read", "--rounds=1", "--cold", "--servers=2"], "ratio restart"),
    ],
)
def test_other_parts(tmp_path, options, last):
    text = go(tmp_path, 4, *options)
    assert text.splitlines()[-1].startswith(last)
    assert not (tmp_path / "io-results").exists()
