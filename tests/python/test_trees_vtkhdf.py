"""Trees that were exported as VTKHDF and read by VTK, compared with those in XML and those that Python opens."""

import json

import h5py
import numpy as np
import pytest
import ramses_files
import refined
import sidestream
import trees
from ramses_files import Sample
from test_import_ramses import imported
from test_levels_vtk import leaves_of, read, run_and_exported
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkHyperTreeGrid
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLHyperTreeGridReader


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return run_and_exported(tmp_path_factory.mktemp("exported"), "pvd", "vtkhdf")


def of_levels(levels, names):
    """The leaves that a block owns, in the form of leaves_of."""
    found, used = {}, levels.mesh.dimensions
    for level in levels:
        low = levels.mesh.origin[:used] + level.cells.index[:, :used] * level.spacing
        corners = np.zeros((len(low), 3, 2))
        corners[:, :used] = np.stack([low, low + level.spacing], axis=2)
        for n in np.flatnonzero(~level["refined"] & (level["owner"] >= 0)):
            found[tuple(corners[n].reshape(-1))] = [level[name][n].tolist() for name in names]
    return found


def mask_of(grid):
    """True for each cell that is masked."""
    mask = grid.GetMask()
    return [mask is not None and mask.GetValue(n) == 1 for n in range(grid.GetNumberOfCells())]


def compared(place, mesh, cycle, names, database, iteration):
    """Checks that both files and the database have the same leaves with the same values. Returns VTKHDF's tree."""
    as_xml = read(vtkXMLHyperTreeGridReader(), place / f"all-{mesh}-{cycle:06}.htg")
    as_hdf = read(vtkHDFReader(), place / f"all-{mesh}-{cycle:06}.vtkhdf")
    assert as_hdf.IsA("vtkHyperTreeGrid") and as_hdf.GetBranchFactor() == 2
    for of in (vtkHyperTreeGrid.GetNumberOfLevels, vtkHyperTreeGrid.GetDimensions):
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
        np.testing.assert_array_equal(*arrays, "parents too")
    assert mask_of(as_hdf) == mask_of(as_xml)
    return as_hdf


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
    """Levels of patches are the same file as in .pvd. A message names meshes that the format cannot hold."""
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


def test_ramses(tmp_path):
    """There are several domains, one root, and a tree that begins some levels below it."""
    _, data, _ = imported(Sample(boxlen=1.0), tmp_path)
    sidestream.export(data, tmp_path / "all.vtkhdf")
    grid = read(vtkHDFReader(), next(tmp_path.glob("*.vtkhdf")))
    expected = ramses_files.leaves(Sample())
    assert grid.GetNumberOfLeaves() == len(expected)
    assert grid.GetNumberOfLevels() == 1 + max(level for level, *_ in expected)
