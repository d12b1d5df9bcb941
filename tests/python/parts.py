"""Publishes the meshes of shapes.py, a box of cells, a tree and particles, cut into two blocks a rank.

Usage: mpirun -n RANKS parts.py CONFIGURATION
"""

import sys

import numpy as np
import shapes
import sidestream
import trees
from sidestream import Role

PARTICLES = 300
LEVELS = (4, 5, 6)  # cells of the coarse level, each 1 long
FINE = ((2, 4, 4), (6, 8, 8))  # cells of the next level, half as long
GRID = (7, 6, 5)  # cells from the origin, each 1 x 0.5 x 0.25


def declare(session):
    session.add_unstructured_mesh("solid", 3, "where", "links", "ends", "kinds")
    session.add_variable("where", "solid", components=3, centering="node")
    lists = [("links", "i8"), ("ends", "i4"), ("kinds", "u1"), ("numbers", "i8"), ("t", "f8")]
    for name, dtype in lists:
        session.add_variable(name, "solid", dtype)
    session.add_variable("names", "solid", "i8", centering="node")
    session.set_mesh_array("solid", Role.CELL_IDS, "numbers")
    session.set_mesh_array("solid", Role.POINT_IDS, "names")
    session.add_variable("n", "solid", centering="node")
    session.add_curvilinear_mesh("curved", shapes.BOXES, "nodes")
    session.add_variable("nodes", "curved", components=3, centering="node")
    session.add_variable("c", "curved")
    session.add_variable("v", "curved", centering="node")
    session.add_uniform_mesh("grid", GRID, spacing=[1, 0.5, 0.25])
    session.add_variable("gc", "grid", "f4")
    session.add_variable("gn", "grid", centering="node")
    session.add_uniform_mesh("levels", LEVELS)
    session.set_refinement("levels", [[2, 2, 2]])
    session.add_variable("density", "levels")
    session.add_points_mesh("cloud", 3, "places")
    session.add_variable("places", "cloud", components=3)
    session.add_variable("mass", "cloud")
    trees.declare(session)


def grid_cells(step):
    return np.random.default_rng(20 + step).random(GRID[::-1]).astype("f4")


def grid_nodes(step):
    return np.random.default_rng(30 + step).random([n + 1 for n in GRID[::-1]])


def coarse(step):
    """Values of the coarse level; covered cells have a different one."""
    values = np.random.default_rng(60 + step).random(LEVELS[::-1])
    values[2:4, 2:4, 1:3] = 1e6
    return values


def fine(step):
    return np.random.default_rng(70 + step).random((4, 4, 4))


def particles(step):
    return np.random.default_rng(40 + step).random((PARTICLES, 3)), np.random.default_rng(50 + step).random(PARTICLES)


def bounds_of(places):
    flat = places.reshape(-1, 3)
    return [*flat.min(axis=0), *flat.max(axis=0)]


class Solid:
    """The cells of the solid that belong to a block."""

    def __init__(self, block, blocks):
        every = shapes.cells()
        self.block, self.numbers = block, np.array([n for n in range(len(every)) if n * 7 // 3 % blocks == block])
        mine = [every[n] for n in self.numbers]
        self.points, links = np.unique(np.concatenate([points for _, points in mine]), return_inverse=True)
        ends = np.cumsum([len(points) for _, points in mine])
        kinds = np.array([kind for kind, _ in mine], "u1")
        self.lists = {"links": links.astype("i8"), "ends": ends.astype("i4"), "kinds": kinds}

    def set(self, session, step):
        places = shapes.points(step)[self.points]
        count = len(self.numbers)
        session.set_block_list("solid", self.block, len(places), count, len(self.lists["links"]), 0, bounds_of(places))
        return places

    def publish(self, session, step):
        arrays = {"where": self.set(session, step), "numbers": self.numbers, "names": self.points, **self.lists}
        arrays |= {"t": shapes.in_cells(step)[self.numbers], "n": shapes.at_points(step)[self.points]}
        for name, array in arrays.items():
            assert session.publish(name, self.block, array), session.message


class Slab:
    """The part of the boxes of cells between two planes."""

    def __init__(self, block, blocks):
        self.block = block
        self.cut = lambda n: (n * block // blocks, n * (block + 1) // blocks)

    def set(self, session):
        low, high = self.cut(shapes.BOXES[0])
        session.set_block("curved", self.block, [low, 0, 0], [high, *shapes.BOXES[1:]])
        low, high = self.cut(LEVELS[2])
        session.set_block("levels", self.block, [0, 0, low], [*LEVELS[:2], high])
        if self.block == 0:
            session.set_block("levels", 1000, *FINE, level=1)
        low, high = self.cut(GRID[1])
        session.set_block("grid", self.block, [0, low, 0], [GRID[0], high, GRID[2]])

    def publish(self, session, step):
        low, high = self.cut(shapes.BOXES[0])
        if low < high:
            places = shapes.warped(step)[:, :, low : high + 1]
            session.set_block_bounds("curved", self.block, bounds_of(places))
            assert session.publish("nodes", self.block, places), session.message
            assert session.publish("v", self.block, shapes.at_nodes(step)[:, :, low : high + 1]), session.message
            assert session.publish("c", self.block, shapes.in_boxes(step)[:, :, low:high]), session.message
        low, high = self.cut(LEVELS[2])
        if low < high:
            assert session.publish("density", self.block, coarse(step)[low:high]), session.message
        if self.block == 0:
            assert session.publish("density", 1000, fine(step)), session.message
        low, high = self.cut(GRID[1])
        if low < high:
            assert session.publish("gn", self.block, grid_nodes(step)[:, low : high + 1]), session.message
            assert session.publish("gc", self.block, grid_cells(step)[:, low:high]), session.message


class Cloud:
    def __init__(self, block, blocks):
        self.block = block
        self.mine = slice(PARTICLES * block // blocks, PARTICLES * (block + 1) // blocks)

    def publish(self, session, step):
        places, mass = (array[self.mine] for array in particles(step))
        session.set_block_list("cloud", self.block, len(mass), len(mass), bounds=bounds_of(places))
        assert session.publish("places", self.block, places), session.message
        assert session.publish("mass", self.block, mass), session.message


def simulate(session):
    rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
    declare(session)
    blocks = (rank, rank + ranks)
    solids, slabs, clouds, wood = ([kind(b, 2 * ranks) for b in blocks] for kind in (Solid, Slab, Cloud, trees.Tree))
    for solid, slab in zip(solids, slabs, strict=True):
        solid.set(session, 0)
        slab.set(session)
    for cloud in clouds:
        session.set_block_list("cloud", cloud.block, 0, 0)
        session.set_block_list("tree", cloud.block, 0, 0)
    session.start()
    for step in range(shapes.STEPS):
        for part in [*solids, *slabs, *clouds, *wood]:
            part.publish(session, step)
        assert session.end_iteration(step, float(step)), session.message


if __name__ == "__main__":
    from mpi4py import MPI  # not in the tests, which start mpirun

    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as opened:
        if opened.is_server:
            opened.serve()
        else:
            simulate(opened)
