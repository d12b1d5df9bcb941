"""Trees and levels that were exported, as VTK reads them."""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest
import refined
import sidestream
import trees
import vtk
from test_levels import MPIRUN, PROGRAM
from vtk.util.numpy_support import vtk_to_numpy


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    place = tmp_path_factory.mktemp("exported")
    command = [MPIRUN, "-n", "3", sys.executable, str(PROGRAM), str(place / "run"), "{mode: cores}", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for ending in ("pvd", "vtkhdf"):
        said = sidestream.export(place / "run/data", place / f"all.{ending}")
        place.joinpath(f"said.{ending}").write_text("\n".join(said))
    return place


def read(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutputDataObject(0)


def leaves_of(grid, names):
    """(low corner, edges, values of each) of the leaves that are not masked, as VTK's cursor walks."""
    found = {}
    arrays = [vtk_to_numpy(grid.GetCellData().GetArray(name)) for name in names]
    cursor = vtk.vtkHyperTreeGridNonOrientedGeometryCursor()

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
            continue  # cursors do not look whether there is a tree
        grid.InitializeNonOrientedGeometryCursor(cursor, number)
        walk()
    return found


def of_levels(levels, names):
    """What leaves_of gives, of the leaves that a block owns."""
    found, used = {}, levels.mesh.dimensions
    for level in levels:
        low = levels.mesh.origin[:used] + level.cells.index[:, :used] * level.spacing
        corners = np.zeros((len(low), 3, 2))
        corners[:, :used] = np.stack([low, low + level.spacing], axis=2)
        for n in np.flatnonzero(~level["refined"] & (level["owner"] >= 0)):
            found[tuple(corners[n].reshape(-1))] = [level[name][n].tolist() for name in names]
    return found


def mask_of(grid):
    """Of each cell whether it is masked."""
    mask = grid.GetMask()
    return [mask is not None and mask.GetValue(n) == 1 for n in range(grid.GetNumberOfCells())]


def compared(place, mesh, cycle, names, database, iteration):
    """The two files and the database have the same leaves with the same values; gives VTKHDF's tree."""
    as_xml = read(vtk.vtkXMLHyperTreeGridReader(), place / f"all-{mesh}-{cycle:06}.htg")
    as_hdf = read(vtk.vtkHDFReader(), place / f"all-{mesh}-{cycle:06}.vtkhdf")
    assert as_hdf.IsA("vtkHyperTreeGrid") and as_hdf.GetBranchFactor() == 2
    for of in (vtk.vtkHyperTreeGrid.GetNumberOfLevels, vtk.vtkHyperTreeGrid.GetDimensions):
        assert of(as_hdf) == of(as_xml)
    found = leaves_of(as_hdf, names)
    assert found == leaves_of(as_xml, names), "bit by bit"
    levels = sidestream.open(database, into="levels", mesh=mesh, iteration=iteration)
    expected = of_levels(levels, names)
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[box], expected[box], equal_nan=True) for box in found)
    for name in names:
        arrays = [vtk_to_numpy(grid.GetCellData().GetArray(name)) for grid in (as_hdf, as_xml)]
        assert arrays[0].dtype == arrays[1].dtype == levels.variables[name].dtype
        np.testing.assert_array_equal(*arrays, "fathers too")
    assert mask_of(as_hdf) == mask_of(as_xml)
    return as_hdf


@pytest.mark.parametrize("step", [0, 1])
def test_tree(exported, step):
    grid = read(vtk.vtkXMLHyperTreeGridReader(), exported / f"all-tree-{10 * step:06}.htg")
    found = leaves_of(grid, ["leaf"])
    expected = {}
    for leaf in trees.leaves(step):
        low, high = trees.bounds(leaf)
        expected[tuple(np.stack([low, high], axis=1).reshape(-1))] = [trees.value(leaf)]
    assert found == expected, "bit by bit"
    assert vtk_to_numpy(grid.GetFieldData().GetArray("TimeValue")) == [0.5 * step]


def test_tree_of_two_dimensions(exported):
    grid = read(vtk.vtkXMLHyperTreeGridReader(), exported / "all-flat-000010.htg")
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


@pytest.mark.parametrize("step", [0, 1])
def test_trees_in_vtkhdf(exported, step):
    grid = compared(exported, "tree", 10 * step, ["leaf"], exported / "run/data", step)
    expected = {}
    for leaf in trees.leaves(step):
        low, high = trees.bounds(leaf)
        expected[tuple(np.stack([low, high], axis=1).reshape(-1))] = [trees.value(leaf)]
    assert leaves_of(grid, ["leaf"]) == expected
    assert vtk_to_numpy(grid.GetFieldData().GetArray("TimeValue")) == [0.5 * step]
    assert vtk_to_numpy(grid.GetFieldData().GetArray("CYCLE")) == [10 * step]


@pytest.mark.parametrize("step", [0, 1])
def test_two_dimensions_components_and_single_precision(exported, step):
    grid = compared(exported, "flat", 10 * step, ["height"], exported / "run/data", step)
    assert grid.GetDimension() == 2 and len(leaves_of(grid, ["height"])) == len(refined.flat_leaves(step))
    heights = grid.GetCellData().GetArray("height")
    assert (heights.GetNumberOfComponents(), heights.GetDataTypeAsString()) == (2, "float")


def test_what_lies_beside_trees(exported):
    """Levels of patches are the file that .pvd has, and what has no form is said."""
    for step in (0, 1):
        with (
            h5py.File(exported / f"all-even-{10 * step:06}.vtkhdf") as mine,
            h5py.File(exported / f"all-even-levels-{10 * step:06}.vtkhdf") as theirs,
        ):
            names = []
            theirs.visit(names.append)
            for name in names:
                if isinstance(theirs[name], h5py.Dataset):
                    np.testing.assert_array_equal(mine[name][...], theirs[name][...], name)
            assert mine["VTKHDF"].attrs["Type"] == b"OverlappingAMR"
    listed = json.loads((exported / "all-tree.vtkhdf.series").read_text())["files"]
    assert [(entry["name"], entry["time"]) for entry in listed] == [
        ("all-tree-000000.vtkhdf", 0.0),
        ("all-tree-000010.vtkhdf", 0.5),
    ]
    assert "the mesh 'patches' is left out: it is refined by [4, 2, 1]" in (exported / "said.vtkhdf").read_text()
