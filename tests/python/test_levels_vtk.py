"""Exported trees and levels, read by VTK."""

import subprocess
import sys

import numpy as np
import pytest
import refined
import sidestream
import trees
from test_levels import MPIRUN, PROGRAM
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkHyperTreeGridNonOrientedGeometryCursor
from vtkmodules.vtkIOXML import vtkXMLHyperTreeGridReader


def run_and_exported(place, *endings):
    """Does a run of three ranks and five domains, exports it to each ending, and returns `place`."""
    command = [
        MPIRUN,
        "-n",
        "3",
        sys.executable,
        str(PROGRAM),
        str(place / "run"),
        "{mode: cores, buffer: 32 MiB}",
        "5",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for ending in endings:
        said = sidestream.export(place / "run/data", place / f"all.{ending}")
        place.joinpath(f"said.{ending}").write_text("\n".join(said))
    return place


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return run_and_exported(tmp_path_factory.mktemp("exported"), "pvd")


def read(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutputDataObject(0)


def leaves_of(grid, names):
    """Low corner, edges and values of each leaf that is not masked, in the order of VTK's cursor."""
    found = {}
    arrays = [vtk_to_numpy(grid.GetCellData().GetArray(name)) for name in names]
    cursor = vtkHyperTreeGridNonOrientedGeometryCursor()

    def walk():
        if cursor.IsMasked():
            return
        if not cursor.IsLeaf():
            for child in range(cursor.GetNumberOfChildren()):
                cursor.ToChild(child)
                walk()
                cursor.ToParent()
            return
        bounds = [0.0] * 6
        cursor.GetBounds(bounds)
        at = cursor.GetGlobalNodeIndex()
        assert tuple(bounds) not in found
        found[tuple(bounds)] = [array[at].tolist() for array in arrays]

    for number in range(grid.GetMaxNumberOfTrees()):
        if grid.GetTree(number) is None:
            continue  # cursors do not check if there is a tree
        grid.InitializeNonOrientedGeometryCursor(cursor, number)
        walk()
    return found


@pytest.mark.parametrize("step", [0, 1])
def test_tree(exported, step):
    grid = read(vtkXMLHyperTreeGridReader(), exported / f"all-tree-{10 * step:06}.htg")
    found = leaves_of(grid, ["leaf"])
    expected = {}
    for leaf in trees.leaves(step):
        low, high = trees.bounds(leaf)
        expected[tuple(np.stack([low, high], axis=1).reshape(-1))] = [trees.value(leaf)]
    assert found == expected, "bit by bit"
    assert vtk_to_numpy(grid.GetFieldData().GetArray("TimeValue")) == [0.5 * step]


def test_tree_of_two_dimensions(exported):
    grid = read(vtkXMLHyperTreeGridReader(), exported / "all-flat-000010.htg")
    assert grid.GetDimension() == 2
    expected = {}
    for level, i, j in refined.flat_leaves(1):
        x, y = 0.5 / 2**level, 0.25 / 2**level
        box = (1 + i * x, 1 + (i + 1) * x, -1 + j * y, -1 + (j + 1) * y, 0, 0)
        expected[box] = [[float(n) for n in refined.flat_value(level, i, j)]]
    assert leaves_of(grid, ["height"]) == expected


def test_the_index_opens_trees(exported):
    text = (exported / "all.pvd").read_text()
    assert text.count("all-tree-0000") == 2 and text.count("all-flat-0000") == 2
