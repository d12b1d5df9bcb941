"""Octrees as objects of VTK: of a database, and of blocks in analyses. Databases are written in this process."""

import sys

import numpy as np
import pytest
import sidestream
import sidestream.vtk
from mpi4py import MPI
from sidestream.vtk import DatabaseReader
from test_levels_vtk import leaves_of
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersHyperTree import vtkHyperTreeGridContour


def linear_database(folder, codec):
    """A tree that is finer in one octant, with the values of a linear function at centres."""
    text = f"""\
placement: inline
output: {{directory: {folder}}}
meshes: {{tree: {{type: octree, size: [6, 6, 6], spacing: 0.25, origin: -0.5, refined: split}}}}
variables: {{split: {{mesh: tree, type: uint8}}, f: {{mesh: tree}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, {codec}}}]
"""
    k, j, i = np.indices((6, 6, 6)).reshape(3, -1)
    split = (i >= 3) & (j >= 3)
    roots = np.stack([i, j, k], axis=1)
    steps = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)])
    below = (2 * roots[split][:, None] + steps).reshape(-1, 3)
    centres = np.concatenate([-0.5 + 0.25 * (roots + 0.5), -0.5 + 0.125 * (below + 0.5)])
    flags = np.concatenate([split, np.zeros(len(below), bool)]).astype(np.uint8)
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block_list("tree", 0, 0, len(flags))
        assert session.publish("split", 0, flags) and session.publish("f", 0, centres[:, 0] + 0.0), session.message
        session.end_iteration(0, 0.0)
    return folder / "data"


@pytest.mark.parametrize("codec", ["codec: auto", "codecs: {f: tree}"])
def test_contours_of_trees(tmp_path, codec):
    """The contour of x is a plane, also where levels meet. A packed tree has no HDF5 file beside it, also if its flags
    are not packed."""
    place = linear_database(tmp_path, codec)
    assert not list(place.glob("context-*.h5"))
    reader = DatabaseReader()
    reader.SetFileName(str(place))
    contour = vtkHyperTreeGridContour()
    contour.SetInputConnection(reader.GetOutputPort())
    contour.SetInputArrayToProcess(0, 0, 0, 1, "f")
    contour.SetValue(0, 0.4)
    contour.Update()
    points = vtk_to_numpy(contour.GetOutputDataObject(0).GetPoints().GetData())
    assert len(points) > 40
    np.testing.assert_allclose(points[:, 0], 0.4, atol=1e-6)
    assert points[:, 1:].min() < -0.3 and points[:, 1:].max() > 0.8


SCRIPT = """\
import json, sys
import sidestream.vtk

def of(grid):
    grid = sidestream.vtk.copied(grid)
    mask = grid.GetMask()
    shown = 0 if mask is None else sum(mask.GetValue(n) for n in range(grid.GetNumberOfCells()))
    values = [grid.GetCellData().GetArray("f").GetComponent(n, 0) for n in range(grid.GetNumberOfCells())]
    return grid, [grid.GetClassName(), grid.GetNumberOfCells(), shown, sorted(values)]

class Trees:
    def local(self, data):
        if "h5py" in sys.modules and not CAN:
            raise RuntimeError("h5py was loaded")
        blocks = sidestream.vtk.multiblock(data, "tree").GetBlock(0)
        found = [of(blocks.GetBlock(n))[1] for n in range(blocks.GetNumberOfBlocks())]
        whole, facts = of(sidestream.vtk.levels(data, "tree"))
        kept.append(whole)
        bare = sidestream.vtk.grid(data.blocks("tree")[0], [])
        try:
            sidestream.vtk.grid(data.blocks("tree")[0], ["g"])
        except KeyError as error:
            refused = str(error)
        return [*found, facts, bare.GetCellData().GetNumberOfArrays(), refused]

    def combine(self, partials, servers):
        said.append(partials[0])
        return {"blocks": len(partials)}

kept, said = sys.modules["__main__"].__dict__.setdefault("octree_results", ([], []))
"""


def test_blocks_in_analyses(tmp_path):
    """Each block shows the leaves that it owns; all of a server's blocks give each cell once."""
    (tmp_path / "trees.py").write_text(SCRIPT.replace("CAN", str("h5py" in sys.modules)))
    text = f"""\
placement: inline
output: {{directory: {tmp_path}}}
meshes: {{tree: {{type: octree, size: [2, 1], spacing: [1.5, 2], origin: [1, -1], refined: split, owned: mine}}}}
variables: {{split: {{mesh: tree, type: uint8}}, mine: {{mesh: tree, type: uint8}}, f: {{mesh: tree}}}}
analyses: [python: {{variables: f, script: {tmp_path}/trees.py, call: Trees, file: out.csv}}]
"""
    owners = [[0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 1, 1]]
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        for block, mine in enumerate(owners):
            session.set_block_list("tree", block, 0, 6)
            assert session.publish("split", block, np.array([1, 0, 0, 0, 0, 0], np.uint8)), session.message
            assert session.publish("mine", block, np.array(mine, np.uint8)), session.message
            assert session.publish("f", block, 10.0 * block + np.arange(6)), session.message
        session.end_iteration(0, 0.0)
    (whole,), (said,) = sys.modules["__main__"].octree_results
    first = ["vtkHyperTreeGrid", 6, 3, [0, 1, 2, 3, 4, 5]]
    second = ["vtkHyperTreeGrid", 6, 2, [10, 11, 12, 13, 14, 15]]
    merged = ["vtkHyperTreeGrid", 6, 0, [0, 2, 3, 11, 14, 15]]
    refused = "\"the octree 'tree' has no values of 'g' in this iteration, but of f\""
    assert said == [first, second, merged, 0, refused]
    assert leaves_of(whole, ["f"]) == {
        (2.5, 4.0, -1.0, 1.0, 0.0, 0.0): [11.0],
        (1.0, 1.75, -1.0, 0.0, 0.0, 0.0): [2.0],
        (1.75, 2.5, -1.0, 0.0, 0.0, 0.0): [3.0],
        (1.0, 1.75, 0.0, 1.0, 0.0, 0.0): [14.0],
        (1.75, 2.5, 0.0, 1.0, 0.0, 0.0): [15.0],
    }
