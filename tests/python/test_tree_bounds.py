"""Bounds that do not contain the cells that a block of a tree owns are refused when its flags are published.
Otherwise servers would leave the block out of slices."""

import numpy as np
import pytest
import sidestream
from mpi4py import MPI

TEXT = """\
placement: PLACEMENT
output: {directory: DIRECTORY}
meshes: {tree: {type: octree, size: [2, 1], spacing: [1, 2], origin: [10, 3], refined: split OWNED}}
variables:
  split: {mesh: tree, type: uint8 KEPT}
  mine: {mesh: tree, type: uint8 KEPT}
  f: {mesh: tree}
analyses:
  - statistics: {variable: f}
"""
# The first of two root cells is refined. Block 0 owns its upper children, which are y in [4, 5].
SPLIT, MINE = [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]
RIGHT = [10, 4, 0, 11, 5, 0]


def opened(folder, owned=True, kept=False, placement="inline"):
    text = TEXT.replace("DIRECTORY", str(folder)).replace("OWNED", ", owned: mine" if owned else "")
    text = text.replace("KEPT", ", time_varying: false" if kept else "").replace("PLACEMENT", placement)
    return sidestream.open_session(MPI.COMM_SELF, text=text)


def publish(session, bounds, order=("split", "mine"), mine=MINE, by=None):
    session.set_block_list("tree", 0, 0, len(SPLIT), bounds=bounds)
    for name in order:
        values = np.array({"split": SPLIT, "mine": mine}[name], np.uint8)
        if by is None:
            assert session.publish(name, 0, values)
        else:
            by(session, name, values)
    assert session.publish("f", 0, np.ones(len(SPLIT)))


def alloc_and_commit(session, name, values):
    memory = session.alloc(name, 0)
    memory[...] = values
    session.commit(name, 0)


@pytest.mark.parametrize("order", [("split", "mine"), ("mine", "split")])
@pytest.mark.parametrize("by", [None, alloc_and_commit])
@pytest.mark.parametrize("kept", [False, True])
def test_bounds_that_hold_it(tmp_path, order, by, kept):
    bounds = [RIGHT, [10, 4 + 1e-12, 0, 11 - 1e-12, 5, 0], [9, -99, 0, 99, 99, 0], None]
    for n, these in enumerate(bounds):
        with opened(tmp_path / str(n), kept=kept) as session:
            publish(session, these, order, by=by)
            assert session.end_iteration(0, 0)
            assert session.close().delivered == 1


@pytest.mark.parametrize("order", [("split", "mine"), ("mine", "split")])
@pytest.mark.parametrize("by", [None, alloc_and_commit])
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("bounds", [[10, 4, 0, 11, 4.99, 0], [10.01, 4, 0, 11, 5, 0], [20, 4, 0, 21, 5, 0]])
def test_bounds_that_do_not(tmp_path, order, by, kept, bounds):
    with opened(tmp_path, kept=kept) as session:
        with pytest.raises(sidestream.Error, match=r"block 0 of the mesh 'tree' owns the cell .* of level 1, but was"):
            publish(session, bounds, order, by=by)
        assert session.end_iteration(0, 0) is False
        assert session.close().refused == 1


def test_the_next_iteration_may_be_right(tmp_path):
    """The flags of one iteration do not matter for the next."""
    with opened(tmp_path) as session:
        with pytest.raises(sidestream.Error, match="owns the cell"):
            publish(session, [10, 4, 0, 11, 4.5, 0])
        session.end_iteration(0, 0)
        publish(session, RIGHT, ("mine", "split"))
        assert session.end_iteration(1, 1)
        session.remove_block("tree", 0)
        publish(session, [10, 3, 0, 11, 4, 0], mine=[0, 0, 1, 1, 0, 0])
        assert session.end_iteration(2, 2)
        assert session.close().delivered == 2
    assert list(sidestream.open(tmp_path / "statistics.csv")["count"]) == [2, 2]


@pytest.mark.parametrize("order", [("split", "mine"), ("mine", "split")])
def test_what_was_right_before_is_looked_at_again_when_it_changes(tmp_path, order):
    with opened(tmp_path) as session:
        for step in range(2):
            publish(session, RIGHT, order)
            assert session.end_iteration(step, step)
        with pytest.raises(sidestream.Error, match="owns the cell"):
            publish(session, [10, 4, 0, 10.9, 5, 0], order)  # other bounds
        session.end_iteration(2, 2)
        with pytest.raises(sidestream.Error, match="owns the cell"):
            publish(session, RIGHT, order, mine=[0, 1, 0, 0, 1, 1])  # other leaves
        session.end_iteration(3, 3)
        publish(session, RIGHT, order)
        assert session.end_iteration(4, 4)


def test_without_flags_a_block_owns_all(tmp_path):
    with opened(tmp_path / "right", owned=False) as session:
        publish(session, [10, 3, 0, 12, 5, 0], ("split",))
        assert session.end_iteration(0, 0)
    with (
        opened(tmp_path / "wrong", owned=False) as session,
        pytest.raises(sidestream.Error, match=r"owns the cell \[11, 12\] x \[3, 5\] of level 0"),
    ):
        publish(session, [10, 3, 0, 11, 5, 0], ("split",))


def test_flags_that_are_no_tree_are_the_servers_affair(tmp_path):
    with opened(tmp_path) as session:
        session.set_block_list("tree", 0, 0, 6, bounds=[0, 0, 0, 1, 1, 0])
        assert session.publish("split", 0, np.ones(6, np.uint8))
        assert session.publish("mine", 0, np.ones(6, np.uint8))
        assert session.publish("f", 0, np.ones(6))
        assert session.end_iteration(0, 0)


def test_off(tmp_path):
    with opened(tmp_path, placement="off") as session:
        publish(session, [0, 0, 0, 1, 1, 0])
