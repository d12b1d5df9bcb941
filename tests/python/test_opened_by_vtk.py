"""VTK's own reader opens databases directly, without a copy, from any working directory, also after they were moved."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import checkpoints
import h5py
import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.util.vtkConstants import VTK_TRIANGLE
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet
from vtkmodules.vtkFiltersCore import vtkAppendFilter
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOHDF import vtkHDFReader

PROGRAM = Path(__file__).with_name("checkpoints.py")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
BLOCKS, RANKS = 5, 2


def run(ranks, *arguments):
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in-place")
    run(3, "write", folder / "grids", BLOCKS)
    run(RANKS, "shapes", folder / "shapes")
    return folder


def read(path):
    reader = vtkHDFReader()
    assert reader.CanReadFile(str(path))
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutputDataObject(0)


def parts_of(collection):
    """Data sets by name, with their pieces joined."""
    found = {}
    for n in range(collection.GetNumberOfPartitionedDataSets()):
        pieces = collection.GetPartitionedDataSet(n)
        name = collection.GetMetaData(n).Get(vtkCompositeDataSet.NAME())
        joined = pieces.GetPartition(0)
        if pieces.GetNumberOfPartitions() > 1:
            join = vtkAppendFilter()
            for piece in range(pieces.GetNumberOfPartitions()):
                join.AddInputData(pieces.GetPartition(piece))
            join.Update()
            joined = join.GetOutput()
        found[name] = joined
    return found


def array(data, name):
    return vtk_to_numpy(data.GetArray(name))


def names(data):
    return {data.GetArrayName(n) for n in range(data.GetNumberOfArrays())}


def check_grids(place, step):
    meshes = parts_of(read(place / f"context-{step + 1:06}.h5"))
    assert set(meshes) == {"box", "plane", "line", "cloud"}
    box = meshes["box"]
    whole = {
        name: checkpoints.values(name, *checkpoints.points_of(name, [0, 0, 0], [5, 4, 16]), step)
        for name in ("nodes", "vectors")
    }
    assert box.GetExtent() == (0, 5, 0, 4, 0, 16) and box.GetSpacing() == (0.5, 1, 2)
    np.testing.assert_array_equal(array(box.GetPointData(), "nodes").reshape(17, 5, 6), whole["nodes"])
    np.testing.assert_array_equal(array(box.GetCellData(), "vectors").reshape(16, 4, 5, 3), whole["vectors"])
    assert names(box.GetCellData()) == {"vectors"}, "VTK knows no row order"
    longs = checkpoints.values("longs", [0, 0], [5, 16], step)
    np.testing.assert_array_equal(array(meshes["plane"].GetCellData(), "longs").reshape(16, 5), longs)
    line = checkpoints.values("bytes", [0], [16], step)
    np.testing.assert_array_equal(array(meshes["line"].GetCellData(), "bytes"), line)
    places = np.concatenate([checkpoints.places(b) + step for b in range(BLOCKS)])
    cloud = meshes["cloud"]
    np.testing.assert_array_equal(vtk_to_numpy(cloud.GetPoints().GetData()), places)
    ids = np.concatenate([np.arange(b + 1) + 100 * b for b in range(BLOCKS)])
    np.testing.assert_array_equal(array(cloud.GetPointData(), "ids"), ids)


def test_grids(results):
    for step in range(checkpoints.STEPS):
        check_grids(results / "grids" / "restart", step)


def test_anywhere(results, tmp_path, monkeypatch):
    shutil.copytree(results / "grids" / "restart", tmp_path / "moved" / "there")
    monkeypatch.chdir("/")
    check_grids(tmp_path / "moved" / "there", 1)
    monkeypatch.chdir(tmp_path / "moved" / "there")
    check_grids(Path(), 2)


def test_lists(results):
    """Coordinates have two components, offsets begin with 0 on each block, and cells count their block's points."""
    for step in range(2):
        meshes = parts_of(read(results / "shapes" / "raw" / f"context-{step + 1:06}.h5"))
        assert set(meshes) == {"cloud", "triangles"}, "VTKHDF has no curvilinear grids"
        mass = np.concatenate([checkpoints.masses(b, step) for b in range(RANKS)])
        cloud, triangles = meshes["cloud"], meshes["triangles"]
        points = vtk_to_numpy(cloud.GetPoints().GetData())
        np.testing.assert_array_equal(points, np.stack([mass, -mass, 0 * mass], axis=-1))
        np.testing.assert_array_equal(array(cloud.GetPointData(), "mass"), mass)
        assert triangles.GetNumberOfCells() == 2 * RANKS and triangles.GetCellType(3) == VTK_TRIANGLE
        size = vtkCellSizeFilter()
        size.SetInputData(triangles)
        size.Update()
        np.testing.assert_allclose(array(size.GetOutput().GetCellData(), "Area"), 0.5)
        assert triangles.GetCell(2).GetBounds()[4:] == (1, 1)
        np.testing.assert_array_equal(array(triangles.GetCellData(), "area"), step + np.array([0, 0.5, 1, 1.5]))


def test_one_mesh_is_no_collection(results, tmp_path):
    """Nothing is copied: the arrays are other names of those that h5py reads."""
    path = results / "grids" / "restart" / "context-000001.h5"
    with h5py.File(path) as file:
        assert file["VTKHDF/box/PointData/nodes"] == file["variables/nodes"]
        assert file["VTKHDF/box/PointData/nodes"].is_virtual
        assert file["VTKHDF/box/FieldData/TimeValue"][...] == [0]
    assert path.stat().st_size < 100_000
    text = """\
placement: inline
output: {directory: 'DIRECTORY'}
meshes: {plane: {type: uniform, size: [3, 2], origin: [1, 2]}}
variables: {t: {mesh: plane}, u: {mesh: plane, order: row}}
outputs: [database: {directory: data, fsync: false}]
"""
    code = "import sys, numpy as np, sidestream\nfrom mpi4py import MPI\n"
    code += "with sidestream.open_session(MPI.COMM_WORLD, text=sys.argv[1]) as s:\n"
    code += "    s.set_block('plane', 0, [0, 0], [3, 2])\n    s.start()\n"
    code += "    s.publish('t', 0, np.arange(6.0).reshape(2, 3))\n    s.publish('u', 0, np.zeros((3, 2)))\n"
    code += "    s.end_iteration(7, 0.25)\n"
    results = tmp_path / "results"
    subprocess.run([sys.executable, "-c", code, text.replace("DIRECTORY", str(results))], check=True, timeout=60)
    plane = read(results / "data" / "context-000001.h5")
    assert plane.GetClassName() == "vtkImageData" and plane.GetExtent() == (0, 3, 0, 2, 0, 0)
    assert plane.GetOrigin()[:2] == (1, 2) and names(plane.GetCellData()) == {"t"}
    np.testing.assert_array_equal(array(plane.GetCellData(), "t"), np.arange(6))
    assert array(plane.GetFieldData(), "CYCLE") == [7] and array(plane.GetFieldData(), "TimeValue") == [0.25]
