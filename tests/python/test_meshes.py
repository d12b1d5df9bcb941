"""Meshes of every kind, declared by calls and opened with the reader, in one process."""

import h5py
import numpy as np
import pytest
import sidestream
from mpi4py import MPI
from sidestream import Role

TEXT = """\
placement: inline
output: {directory: DIRECTORY}
events: [now]
outputs:
  - hdf5: {variables: [r, c, u, xyz, o], on: now}
  - hdf5: {name: levels, variables: [l], file: "levels-{cycle}.h5"}
"""
BOUNDS = [0, 0, 0, 3, 3, 0]


def declare_boxes(session):
    session.add_rectilinear_mesh("rect", [[0, 1, 3], np.array([0.0, 2, 5, 9])])
    session.set_fixed("rect")
    session.add_variable("r", "rect")
    session.add_curvilinear_mesh("curved", [2, 1], "places")
    session.add_variable("places", "curved", components=2)
    session.add_variable("c", "curved", "int32")
    session.add_uniform_mesh("levels", [4, 4, 4], origin=[1, 2, 3])
    session.set_periodic("levels", [True, False])
    session.set_refinement("levels", [[2, 2, 1]])
    session.add_variable("l", "levels", np.int32)
    session.set_block("rect", 0, [0, 0], [2, 3])
    session.set_block("curved", 0, [0, 0], [2, 1])
    session.set_block_bounds("curved", 0, BOUNDS)
    session.set_block("levels", 0, [0, 0, 0], [4, 4, 4])
    session.set_block("levels", 1, [0, 0, 0], [2, 2, 1], level=1)


def declare_lists(session):
    session.add_unstructured_mesh("triangle", 2, "corners", "links", "ends", "kinds")
    session.add_variable("corners", "triangle", components=2)
    for name, dtype in [("links", "i4"), ("ends", "i4"), ("kinds", "u1"), ("ids", "i8"), ("u", "f8")]:
        session.add_variable(name, "triangle", dtype)
    session.set_mesh_array("triangle", Role.POINT_IDS, "ids")
    session.add_points_mesh("cloud", 3, "xyz")
    session.add_variable("xyz", "cloud", components=3)
    session.add_octree_mesh("tree", [2, 1], "split", spacing=[2, 1])
    session.add_variable("split", "tree", np.uint8)
    session.add_variable("o", "tree")
    session.set_block_list("triangle", 0, 3, 1, corners=3, bounds=BOUNDS)
    session.set_block_list("cloud", 7, 2, 2)
    session.set_block_list("tree", 0, 0, 2)


def publish(session):
    r = np.arange(1.0, 7.0).reshape(3, 2)
    levels = np.full((4, 4, 4), 5, np.int32)
    for name, block, array in [
        ("r", 0, r),
        ("places", 0, np.ones((2, 3, 2))),
        ("c", 0, np.int32([[8, 9]])),
        ("l", 0, levels),
        ("l", 1, levels[:1, :2, :2]),
        ("corners", 0, r),
        ("links", 0, np.int32([0, 1, 2])),
        ("ends", 0, np.int32([3])),
        ("kinds", 0, np.uint8([5])),
        ("ids", 0, np.array([10, 11, 12])),
        ("u", 0, memoryview(np.array([7.0]))),
        ("xyz", 7, r.reshape(2, 3)),
        ("split", 0, np.uint8([0, 0])),
        ("o", 0, np.array([1.0, 2.0])),
    ]:
        assert session.publish(name, block, array)


def test_every_kind(tmp_path):
    results = tmp_path / "results"
    with sidestream.open_session(MPI.COMM_SELF, text=TEXT.replace("DIRECTORY", str(results))) as session:
        declare_boxes(session)
        declare_lists(session)
        session.start()
        publish(session)
        session.signal("now")
        assert session.end_iteration(3, 1.5)
        with pytest.raises(sidestream.Error, match="fixed"):
            session.set_block("rect", 0, [0, 0], [1, 3])
        session.remove_block("cloud", 7)
        session.set_block_bounds("curved", 0, None)
    found = sidestream.open(results / "fields-000003.h5")
    r = np.arange(1.0, 7.0).reshape(3, 2)
    np.testing.assert_array_equal(found["r"], r)
    np.testing.assert_array_equal(found["rect_y"], [1, 3.5, 7])
    assert found["places"].dims == ("curved_y_node", "curved_x_node", "component_2")
    assert (found["links"].dims, found["u"].dims) == (("links_entry",), ("triangle_cell",))
    np.testing.assert_array_equal(found["corners"], r)
    np.testing.assert_array_equal(found["ids"], [10, 11, 12])
    np.testing.assert_array_equal(found["xyz"], r.reshape(2, 3))
    np.testing.assert_array_equal(found["o"], [1, 2])
    assert found["o"].dims == ("tree_cell",) and found["xyz"].dims == ("cloud_point", "component")
    np.testing.assert_array_equal(found["cloud_point_block"], [7, 7])
    levels = sidestream.open(results)["levels.h5"]
    np.testing.assert_array_equal(levels["l"].isel(time=0), np.full((4, 4, 4), 5))
    np.testing.assert_array_equal(levels["z"], [3.5, 4.5, 5.5, 6.5])
    with h5py.File(results / "fields-000003.h5") as file:
        assert file["meshes/tree"].attrs["spacing"][0] == 2


def test_blocks_only_on_finer_levels(tmp_path):
    """The file has the variable over its base mesh, without values, and the fine values are in a server's file."""
    text = f"placement: inline\noutput: {{directory: {tmp_path}/results}}\noutputs: [hdf5: {{}}]\n"
    fine = np.arange(8, dtype=np.int32).reshape(2, 4)
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.add_uniform_mesh("levels", [4, 4])
        session.set_refinement("levels", [[2, 2, 1]])
        session.add_variable("l", "levels", np.int32)
        session.add_variable("x", "levels")
        session.set_block("levels", 3, [2, 0], [6, 2], level=1)
        session.start()
        assert session.publish("l", 3, fine)
        assert session.publish("x", 3, fine / 2)
        assert session.end_iteration(0, 0.0)
    with h5py.File(tmp_path / "results" / "fields-000000.h5") as file:
        for name, nothing in (("l", 0), ("x", np.nan)):
            whole = file[f"variables/{name}"]
            assert whole.shape == (4, 4) and whole.attrs["missing"] == 16
            np.testing.assert_array_equal(whole[...], np.full((4, 4), nothing))
    with h5py.File(tmp_path / "results" / "fields-000000-000.h5") as file:
        np.testing.assert_array_equal(file["variables/l/level-1-block-3"][...].reshape(2, 4), fine)
    assert sidestream.open(tmp_path / "results" / "fields-000000.h5")["x"].shape == (4, 4)
