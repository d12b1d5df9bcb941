"""Leaves that more than one block owns count in each block. One warning tells it, and nothing else gives a warning."""

import numpy as np
import pytest
import sidestream
from mpi4py import MPI

TEXT = """\
placement: inline
output: {directory: DIRECTORY}
meshes: {tree: {type: octree, size: [2, 1], refined: split OWNED}}
variables: {split: {mesh: tree, type: uint8}, mine: {mesh: tree, type: uint8}, f: {mesh: tree}}
analyses:
  - statistics: {variable: f}
"""


def deep(levels):
    """A tree whose first cell of each level is refined: refinement flags, level by level, and its leaves."""
    split = [1, 0] + [1, 0, 0, 0] * (levels - 1) + [0] * 4
    return split, [1 - s for s in split]


def publish(folder, blocks, owned=True):
    text = TEXT.replace("DIRECTORY", str(folder)).replace("OWNED", ", owned: mine" if owned else "")
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        for block, (split, _) in enumerate(blocks):
            session.set_block_list("tree", block, 0, len(split))
        for step in range(3):
            for block, (split, mine) in enumerate(blocks):
                session.publish("split", block, np.array(split, np.uint8))
                session.publish("mine", block, np.array(mine, np.uint8))
                session.publish("f", block, np.ones(len(split)))
            session.end_iteration(step, step)
    return sidestream.open(folder / "statistics.csv")["count"][0]


@pytest.mark.parametrize("levels", [1, 2, 24])
def test_one_leaf_of_two_owners(tmp_path, capfd, levels):
    """Also finds the smallest leaf, when the mesh is 2^48 times as large."""
    split, leaves = deep(levels)
    last = [0] * (len(split) - 1) + [1]
    assert publish(tmp_path, [(split, leaves), (split, last)]) == sum(leaves) + 1
    said = capfd.readouterr().err
    assert said.count("some are in more than one block, and count in each; let `owned` be 0") == 1, said


def test_without_flags_all_blocks_own_all(tmp_path, capfd):
    tree = deep(2)
    publish(tmp_path, [tree, tree], owned=False)
    said = capfd.readouterr().err
    assert said.count("own have together 2 times its volume") == 1 and "name a variable (`owned`)" in said, said


def test_each_leaf_of_one_owner(tmp_path, capfd):
    """Parents may have any flags, blocks may be empty, and some leaves may have no owner."""
    split, _ = deep(3)
    first = [1 if s or n < 5 else 0 for n, s in enumerate(split)]
    rest = [1 if s or n >= 5 else 0 for n, s in enumerate(split)]
    publish(tmp_path / "whole", [(split, first), (split, rest), ([], [])])
    publish(tmp_path / "part", [(split, first)])
    assert "more than one block" not in capfd.readouterr().err
