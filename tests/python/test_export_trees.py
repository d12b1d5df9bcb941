"""Trees that were exported as VTKHDF and read by VTK, compared with those in XML. Databases are written in this
process."""

import h5py
import numpy as np
import pytest
import sidestream
from mpi4py import MPI
from sidestream.exporters import exporting
from test_export_levels import tree_with_times
from test_levels_vtk import leaves_of, read
from test_trees_vtkhdf import compared, mask_of
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader


def written(folder, roots, blocks):
    """A database of one iteration, with a block for each (index of cells, split, mine, values)."""
    text = f"""\
placement: inline
output: {{directory: {folder}}}
meshes: {{tree: {{type: octree, size: {list(roots)}, refined: split, owned: mine}}}}
variables: {{split: {{mesh: tree, type: uint8}}, mine: {{mesh: tree, type: uint8}}, f: {{mesh: tree}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, hdf5: false}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        for block, (split, mine, values) in enumerate(blocks):
            session.set_block_list("tree", block, 0, len(split))
            assert session.publish("split", block, np.array(split, np.uint8)), session.message
            assert session.publish("mine", block, np.array(mine, np.uint8)), session.message
            assert session.publish("f", block, np.array(values, np.float64)), session.message
        session.end_iteration(0, 0.0)
    for ending in ("pvd", "vtkhdf"):
        sidestream.export(folder / "data", folder / f"all.{ending}")
    return folder / "data"


def test_owners_are_the_mask(tmp_path):
    """Three trees with odd numbers of cells, so that bits of trees do not begin at bytes."""
    split = [1, 0, 1, 0, 1, *[0] * 10]
    first = ([*split], [0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0], np.arange(15.0))
    second = ([*split], [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0], 100 + np.arange(15.0))
    data = written(tmp_path, (3, 1), [first, second])
    grid = compared(tmp_path, "tree", 0, ["f"], data, 0)
    values = sorted(value for (value,) in leaves_of(grid, ["f"]).values())
    owned = [block[2][n] for block in (first, second) for n in np.flatnonzero(block[1])]
    assert values == sorted(owned) and len(values) == 8
    assert sum(mask_of(grid)) == 12 - 8


@pytest.mark.parametrize("size", [(1,), (1, 1), (1, 1, 1)])
def test_one_root(tmp_path, size):
    """A tree of one cell has no refinement bits."""
    data = written(tmp_path, size, [([0], [1], [2.5])])
    grid = compared(tmp_path, "tree", 0, ["f"], data, 0)
    assert list(leaves_of(grid, ["f"]).values()) == [[2.5]] and sum(mask_of(grid)) == 0


def test_a_domain_without_cells(tmp_path):
    data = written(tmp_path, (1, 1), [([], [], []), ([1, 0, 0, 0, 0], [0, 1, 1, 1, 1], range(5))])
    grid = compared(tmp_path, "tree", 0, ["f"], data, 0)
    assert list(leaves_of(grid, ["f"]).values()) == [[1.0], [2.0], [3.0], [4.0]]


def test_nobody_has_any(tmp_path):
    """A domain without cells gives a grid of that size without trees."""
    data = written(tmp_path, (3, 2), [([], [], [])])
    grid = compared(tmp_path, "tree", 0, ["f"], data, 0)
    assert leaves_of(grid, ["f"]) == {} and grid.GetNumberOfCells() == 0 and grid.GetDimensions() == (4, 3, 1)


def test_times_of_levels(tmp_path):
    """VTK's reader gives the times of levels as field data."""
    sidestream.export(tree_with_times(tmp_path), tmp_path / "all.vtkhdf")
    grid = read(vtkHDFReader(), tmp_path / "all-tree-000000.vtkhdf")
    assert vtk_to_numpy(grid.GetFieldData().GetArray("level_times")).tolist() == [1.5, 1.75]


def test_nothing_that_has_a_form(tmp_path):
    text = f"""\
placement: inline
output: {{directory: {tmp_path}}}
meshes: {{line: {{size: [4]}}}}
variables: {{f: {{mesh: line}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, hdf5: false}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block("line", 0, [0], [4])
        session.publish("f", 0, np.zeros(4))
        session.end_iteration(0, 0.0)
    with pytest.raises(
        sidestream.Error, match=r"nothing that a \.vtkhdf file can hold.*'line' is left out: it has one dim"
    ):
        sidestream.export(tmp_path / "data", tmp_path / "all.vtkhdf")
    assert [path.name for path in tmp_path.iterdir() if "all" in path.name] == []


def test_the_command(tmp_path, capsys):
    """Exports one of two variables, and overwrites nothing."""
    written(tmp_path, (1, 1), [([1, 0, 0, 0, 0], [0, 1, 1, 1, 1], range(5))])
    arguments = [str(tmp_path / "data"), str(tmp_path / "one.vtkhdf"), "--variables", "f", "--uncompressed"]
    assert exporting.main(arguments) == 0
    with h5py.File(tmp_path / "one-tree-000000.vtkhdf") as file:
        assert list(file["VTKHDF/CellData"]) == ["f"]
    assert exporting.main(arguments) == 1
    assert "one-tree-000000.vtkhdf is there" in capsys.readouterr().err
