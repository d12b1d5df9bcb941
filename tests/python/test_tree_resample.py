"""Octrees resampled on grids of many cells need little memory besides the result."""

import resource

import h5py
import numpy as np
import sidestream
from mpi4py import MPI

TEXT = """\
placement: inline
output: {directory: DIRECTORY}
meshes: {tree: {type: octree, size: [2, 1, 1], spacing: [1, 2, 2], refined: split}}
variables: {split: {mesh: tree, type: uint8}, f: {mesh: tree}}
analyses:
  - resample: {variables: f, size: SIZE, pieces: false, file: grid.h5}
"""


def resampled(folder, size):
    """A tree of two root cells, the second one refined. The value of each cell is its number in the order of
    storage."""
    with sidestream.open_session(
        MPI.COMM_SELF, text=TEXT.replace("DIRECTORY", str(folder)).replace("SIZE", str(size))
    ) as session:
        session.set_block_list("tree", 0, 0, 10)
        session.publish("split", 0, np.array([0, 1] + [0] * 8, np.uint8))
        session.publish("f", 0, np.arange(10.0))
        session.end_iteration(0, 0)
    with h5py.File(folder / "grid.h5") as file:
        return file["f"][...].transpose(2, 1, 0)


def test_a_grid_of_millions(tmp_path):
    resampled(tmp_path / "small", [4, 2, 2])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = [192, 96, 128]
    found = resampled(tmp_path / "large", size)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    expected = np.zeros(size)
    for child in range(8):
        x, y, z = 96 + 48 * (child & 1), 48 * (child >> 1 & 1), 64 * (child >> 2)
        expected[x : x + 48, y : y + 48, z : z + 64] = 2 + child
    np.testing.assert_array_equal(found, expected)
    assert grown < 80 * found.size, f"{grown / found.size:.0f} bytes for each cell of the grid, which has 8"
