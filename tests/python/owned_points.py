"""Publishes points of a finite-difference code: no two blocks share any.

Usage: mpirun -n RANKS owned_points.py CONFIGURATION SIZE PERIODIC BLOCKS SEED [shared|lose]

SIZE: points along each axis, as 9x7x5; PERIODIC: as xz, or -; BLOCKS: number of blocks, dealt out to ranks.
shared: one block of an ordinary mesh that has the same points at its nodes. lose: block 1 is not published in step 1.
"""

import sys

import numpy as np
import sidestream

STEPS = 3


def values(size, step):
    """The field at all points, of period 1 over the points of each axis: two components and whole numbers."""
    at = np.meshgrid(*(np.arange(n) / n for n in size), indexing="ij")
    angle = sum((2 * np.pi * (a + 1) * x for a, x in enumerate(at)), start=0.3 * step)
    noise = np.random.default_rng(step).uniform(-0.1, 0.1, size)
    wave = np.sin(angle) + noise
    return wave, np.stack([wave, np.cos(angle)], axis=-1), np.rint(100 * wave).astype(np.int32)


def closed(array, size, periodic):
    """The array with the first plane behind the last one along periodic axes."""
    for axis in range(len(size)):
        if "xyz"[axis] in periodic:
            array = np.concatenate([array, np.take(array, [0], axis)], axis)
    return array


def divided(size, periodic, count, seed):
    """Boxes of points, at random; the last one along an axis that is not periodic has at least two points."""
    random = np.random.default_rng(seed)
    boxes = [([0] * len(size), list(size))]
    for _ in range(50 * count):
        if len(boxes) == count:
            break
        lo, hi = boxes[which := random.integers(len(boxes))]
        axis = random.integers(len(size))
        most = hi[axis] - (2 if hi[axis] == size[axis] and "xyz"[axis] not in periodic else 1)
        if most > lo[axis]:
            cut = int(random.integers(lo[axis] + 1, most + 1))
            boxes[which] = (lo, [cut if a == axis else n for a, n in enumerate(hi)])
            boxes.append(([cut if a == axis else n for a, n in enumerate(lo)], hi))
    return boxes


def simulate(session, size, periodic, count, seed, how):
    rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
    boxes = divided(size, periodic, count, seed)
    mine = [b for b in range(len(boxes)) if b % ranks == rank]
    for b in mine:
        lo, hi = boxes[b]
        session.set_block(
            "m", b, lo, hi if how != "shared" else [n - (x not in periodic) for n, x in zip(hi, "xyz", strict=False)]
        )
    session.start()
    for step in range(STEPS):
        fields = dict(zip(("t", "v", "n"), values(size, step), strict=True))
        for b in mine:
            part = tuple(slice(low, high) for low, high in zip(*boxes[b], strict=True))
            if how == "lose" and (b, step) == (1, 1):
                continue
            for name, field in fields.items():
                whole = closed(field, size, periodic) if how == "shared" else field[part]
                session.publish(name, b, whole if name == "v" else whole.T)  # `v` is in row order
        session.end_iteration(step, 0.5 * step)


def main():
    from mpi4py import MPI  # not in the tests, which start mpirun

    configuration, size, periodic, count, seed, *how = sys.argv[1:]
    with sidestream.open_session(MPI.COMM_WORLD, configuration) as session:
        if session.is_server:
            session.serve()
        else:
            size = tuple(int(n) for n in size.split("x"))
            simulate(session, size, periodic, int(count), int(seed), how[0] if how else "")


if __name__ == "__main__":
    main()
