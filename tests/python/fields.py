"""Publishes variables of every type, order and centering from arrays of every layout, over two iterations.

Usage: mpirun -n RANKS fields.py CONFIGURATION
"""

import sys
import threading
from itertools import count

import numpy as np
import sidestream
from formula import CENTERED, NX, NY, NZ, STEPS, VARIABLES, values
from mpi4py import MPI


def strided(array):
    wide = np.zeros([2 * n + 1 for n in array.shape], array.dtype)
    wide[tuple(slice(1, None, 2) for _ in array.shape)] = array
    return wide[tuple(slice(1, None, 2) for _ in array.shape)]


def backwards(array):
    turn = tuple(slice(None, None, -1) for _ in array.shape)
    return np.ascontiguousarray(array[turn])[turn]


def read_only(array):
    fixed = array.copy()
    fixed.flags.writeable = False
    return fixed


def field_of_records(array):
    records = np.zeros(array.shape, np.dtype([("before", "i1"), ("value", array.dtype)], align=True))
    records["value"] = array
    return records["value"]


LAYOUTS = [np.ascontiguousarray, np.asfortranarray, strided, backwards, read_only, field_of_records]


def declare(session, rank, ranks):
    """Each rank has a part of every mesh, cut along its last axis."""
    part = [(n * rank // ranks, n * (rank + 1) // ranks) for n in (NX, NY, NZ)]
    boxes = {
        "box": ((0, 0, part[2][0]), (NX, NY, part[2][1])),
        "plane": ((0, part[1][0]), (NX, part[1][1])),
        "line": ((part[0][0],), (part[0][1],)),
    }
    session.set("nx", NX)
    session.set("ny", np.int32(NY))
    session.set("h", 0.25)
    session.add_uniform_mesh("box", [NX, NY, NZ], origin=[1, 2, 3], spacing=[0.5, 1, 2])
    for name, (mesh, dtype, centering, components, order) in VARIABLES.items():
        session.add_variable(name, mesh, dtype, centering, components, order)
    session.set_variable_attribute("shorts", "unit", "m")
    for mesh, (lo, hi) in boxes.items():
        session.set_block(mesh, np.int64(rank), lo, hi)
    return boxes


def points_of(name, boxes):
    mesh, _, centering, *_ = VARIABLES[name]
    lo, hi = boxes[mesh]
    return lo, tuple(h + more for h, more in zip(hi, CENTERED[centering], strict=False))


def publish(session, rank, boxes, step, layouts):
    for name, (_, dtype, *_) in VARIABLES.items():
        lo, hi = points_of(name, boxes)
        if name == "ghosts":
            lo, hi = tuple(n - 1 for n in lo), tuple(n + 2 for n in hi)
        array = values(name, lo, hi, step).astype(dtype)
        if name.startswith("placed"):
            place = session.alloc(name, rank)
            assert place.shape == array.shape and place.dtype == array.dtype, (place.shape, array.shape)
            place[...] = array
            session.commit(name, rank)
            del place
            session.clear(name, rank)
            continue
        axis = -1
        if name == "first":
            array, axis = np.moveaxis(array, -1, 0), 0
        elif name == "middle":
            array, axis = np.moveaxis(array, -1, 1), 1
        elif name == "lone" and step:
            array = array[..., np.newaxis]
        assert session.publish(name, rank, LAYOUTS[next(layouts) % len(LAYOUTS)](array), axis), session.message


def simulate(session):
    rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
    boxes = declare(session, rank, ranks)
    lo, hi = boxes["box"]
    session.set_allocated("ghosts", rank, [n - 1 for n in lo], [n + 2 for n in hi])
    session.add_points_mesh("cloud", 3, "places")
    session.add_variable("places", "cloud", np.float64, components=3, centering="node")
    session.add_variable("masses", "cloud", np.float32, centering="node")
    session.set_block_list("cloud", rank, 5, 5)
    session.start()
    layouts = count(rank)
    for step in range(STEPS):
        publish(session, rank, boxes, step, layouts)
        particles = np.zeros(5, [("place", "f8", 3), ("mass", "f4"), ("more", "f4")])
        particles["place"] = rank + np.arange(15).reshape(5, 3)
        particles["mass"] = 100 * rank + np.arange(5) + step
        assert session.publish("places", rank, particles["place"])
        assert session.publish("masses", rank, particles["mass"])
        assert session.end_iteration(step, 0.5 * step), session.message


def serve(session):
    """Other threads run during this call."""
    ticks, ended = count(), threading.Event()

    def tick():
        while not ended.wait(0.001):
            next(ticks)

    thread = threading.Thread(target=tick)
    thread.start()
    before = next(ticks)
    session.serve()
    after = next(ticks)
    ended.set()
    thread.join()
    assert after > before + 1, (before, after)


def main():
    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
        if session.is_server:
            assert session.comm == MPI.COMM_NULL
            serve(session)
        else:
            simulate(session)
            account = session.close()
            assert (account.delivered, account.refused, account.failed) == (STEPS, 0, 0), account


main()
