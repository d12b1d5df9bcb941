"""Exported refinement levels that come and go, and why there are none; written in this process."""

import numpy as np
import pytest
import sidestream
import vtk
from mpi4py import MPI
from vtk.util.numpy_support import vtk_to_numpy


def refined(folder, ratio):
    """Two contexts of a mesh with a finer block, which the second one does not have."""
    text = f"""\
placement: inline
output: {{directory: {folder}}}
meshes: {{box: {{size: [4, 4, 4], refinement: [{ratio}]}}}}
variables: {{f: {{mesh: box}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, hdf5: false}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block("box", 0, [0, 0, 0], [4, 4, 4])
        session.set_block("box", 1, [0, 0, 0], [4, 4, 2], level=1)
        for step in range(2):
            session.publish("f", 0, np.full((4, 4, 4), 1.0 + step))
            if step == 0:
                session.publish("f", 1, np.full((2, 4, 4), 5.0))
            else:
                session.remove_block("box", 1)
            session.end_iteration(step, step)
    return folder / "data"


def test_vtk_levels_of_all_times(tmp_path):
    """Also where there is the coarsest level alone."""
    sidestream.export(refined(tmp_path, 2), tmp_path / "all.pvd")
    for step, count in ((0, 2), (1, 1)):
        reader = vtk.vtkHDFReader()
        reader.SetMaximumLevelsToReadByDefaultForAMR(0)
        reader.SetFileName(str(tmp_path / f"all-box-levels-{step:06}.vtkhdf"))
        reader.Update()
        levels = reader.GetOutputDataObject(0)
        assert levels.GetNumberOfLevels() == count
        values = levels.GetDataSetAsImageData(0, 0).GetCellData().GetArray("f")
        np.testing.assert_array_equal(vtk_to_numpy(values), 1.0 + step)


def test_why_there_is_nothing_for_a_plotfile(tmp_path):
    with pytest.raises(sidestream.Error, match=r"'box' is left out: it is refined by \[2, 2, 1\], but plotfiles have"):
        sidestream.export(refined(tmp_path, "2x2x1"), tmp_path / "all.amrex")


def tree_with_times(folder):
    """A database with a tree whose levels have times of their own, 1.5 and 1.75."""
    text = f"""\
placement: inline
output: {{directory: {folder}}}
meshes: {{tree: {{type: octree, size: [1, 1], refined: split}}}}
variables: {{split: {{mesh: tree, type: uint8}}, f: {{mesh: tree}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, hdf5: false, level_times: times}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block_list("tree", 0, 0, 5)
        session.publish("split", 0, np.array([1, 0, 0, 0, 0], np.uint8))
        session.publish("f", 0, np.arange(5.0))
        session.signal("times", np.array([1.5, 1.75]), scope="all")
        session.end_iteration(0, 1.5)
    return folder / "data"


def test_times_of_levels_of_trees(tmp_path):
    """VTK's reader has them as field data of the hyper tree grid."""
    sidestream.export(tree_with_times(tmp_path), tmp_path / "all.pvd")
    (file,) = tmp_path.glob("*.htg")
    reader = vtk.vtkXMLHyperTreeGridReader()
    reader.SetFileName(str(file))
    reader.Update()
    array = reader.GetOutput().GetFieldData().GetArray("level_times")
    assert [array.GetValue(n) for n in range(array.GetNumberOfValues())] == [1.5, 1.75]
