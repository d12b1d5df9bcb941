"""Publishes the meshes of shapes.py, cut into two blocks a rank, over some iterations.

Usage: mpirun -n RANKS sampling.py CONFIGURATION
"""

import sys

import numpy as np
import shapes
import sidestream
from mpi4py import MPI
from sidestream import Role


def bounds_of(places):
    flat = places.reshape(-1, 3)
    return [*flat.min(axis=0), *flat.max(axis=0)]


def declare(session):
    session.add_unstructured_mesh("solid", 3, "where", "links", "ends", "kinds")
    session.add_variable("where", "solid", components=3, centering="node")
    for name, dtype in [("links", "i8"), ("ends", "i4"), ("kinds", "u1"), ("numbers", "i8"), ("t", "f8")]:
        session.add_variable(name, "solid", dtype)
    session.set_mesh_array("solid", Role.CELL_IDS, "numbers")
    session.add_variable("n", "solid", centering="node")
    session.add_variable("f", "solid", components=3, centering="node")
    session.add_curvilinear_mesh("curved", shapes.BOXES, "nodes")
    session.add_variable("nodes", "curved", components=3, centering="node")
    session.add_variable("c", "curved")
    session.add_variable("v", "curved", centering="node")
    session.add_variable("g", "curved", components=3, centering="node")


class Part:
    """The cells of the solid that belong to a block."""

    def __init__(self, block, blocks):
        every = shapes.cells()
        self.block, self.numbers = block, np.array([n for n in range(len(every)) if n * 7 // 3 % blocks == block])
        mine = [every[n] for n in self.numbers]
        ends = np.cumsum([len(points) for _, points in mine])
        self.points, links = np.unique(np.concatenate([points for _, points in mine]), return_inverse=True)
        kinds = [kind for kind, _ in mine]
        self.lists = {"links": links.astype("i8"), "ends": ends.astype("i4"), "kinds": np.array(kinds, "u1")}

    def set(self, session, step):
        places = shapes.points(step)[self.points]
        count = len(self.numbers)
        session.set_block_list("solid", self.block, len(places), count, len(self.lists["links"]), 0, bounds_of(places))
        return places

    def publish(self, session, step):
        arrays = {"where": self.set(session, step), "numbers": self.numbers, **self.lists}
        arrays |= {"t": shapes.in_cells(step)[self.numbers], "n": shapes.at_points(step)[self.points]}
        arrays["f"] = shapes.flow(arrays["where"])
        for name, array in arrays.items():
            assert session.publish(name, self.block, array), session.message


def publish_slab(session, block, low, high, step):
    places = shapes.warped(step)[:, :, low : high + 1]
    session.set_block_bounds("curved", block, bounds_of(places))
    assert session.publish("nodes", block, places), session.message
    assert session.publish("g", block, shapes.flow(places)), session.message
    assert session.publish("v", block, shapes.at_nodes(step)[:, :, low : high + 1]), session.message
    assert session.publish("c", block, shapes.in_boxes(step)[:, :, low:high]), session.message


def simulate(session):
    rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
    declare(session)
    blocks = 2 * ranks
    parts = [Part(block, blocks) for block in (rank, rank + ranks)]
    nx, ny, nz = shapes.BOXES
    slabs = [(b, nx * b // blocks, nx * (b + 1) // blocks) for b in (rank, rank + ranks)]
    for part in parts:
        part.set(session, 0)
    for block, low, high in slabs:
        session.set_block("curved", block, [low, 0, 0], [high, ny, nz])
    session.start()
    for step in range(shapes.STEPS):
        for part in parts:
            part.publish(session, step)
        for block, low, high in slabs:
            if low < high:
                publish_slab(session, block, low, high, step)
        assert session.end_iteration(step, float(step)), session.message


with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        simulate(session)
