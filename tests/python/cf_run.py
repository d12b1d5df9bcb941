"""Publishes a mesh of some kind whose values say where they lie, and the formulas for them.

Usage: mpirun -n RANKS cf_run.py CONFIGURATION KIND BLOCKS STEPS [PAUSE]

Blocks are slabs along x, dealt out to ranks; those of uniform meshes are also split along y. Block 1 does not come in
step 1 (kind `gap`). `late` is only published in even steps.
"""

import itertools
import sys
import time

import numpy as np

SIZES = {"one": (5,), "two": (6, 4), "three": (6, 4, 3), "cell": (1, 1, 1), "stretched": (5, 3, 2), "gap": (6, 4, 3)}
SIZES["long"] = (262147,)  # a prime number
CURVED = {"curved2": (6, 4), "curved3": (5, 4, 3)}
LISTS = ("faces", "mixed", "triangles", "volumes", "lines", "points")
FLAT = ("mixed", "triangles")  # VTK's reader takes two coordinates
KINDS = (*SIZES, *CURVED, *LISTS)
STRETCHED = ([0, 1, 2, 4, 8, 16], [-1, 0, 2, 3], [0, 0.5, 2])


def extents(size, node):
    """Points along each axis, as an array has them: the last axis first."""
    return tuple(n + node for n in reversed(size))


def field(size, node, step):
    """All values as [k, j, i], [j, i] or [i]."""
    i = np.indices(extents(size, node))[::-1]
    return sum(f * a for f, a in zip((1, 50, 2500), i, strict=False)) + 250000.0 * step


def positions(size):
    """The nodes of a curvilinear mesh: an array for each axis."""
    i = np.indices(extents(size, 1)).astype(float)[::-1]
    return [a + 0.25 * i[(n + 1) % len(i)] for n, a in enumerate(i)]


def centres(nodes):
    for axis in range(nodes.ndim):
        nodes = (np.delete(nodes, 0, axis) + np.delete(nodes, -1, axis)) / 2
    return nodes


def block_list(kind, block, step):
    """A block of a mesh of lists; its lengths change with the step, and some blocks are empty."""
    count = 0 if block == 1 else 3 + block + step % 2
    points = count + 8 if count else 0
    pos = np.random.default_rng(block).uniform(size=(points, 2 if kind in FLAT else 3))
    if kind == "points":
        return {"pos": pos, "n": 1000.0 * block + np.arange(points) + 1e6 * step}
    widths = {"triangles": [3], "mixed": [4, 3], "faces": [3, 4, 5], "lines": [2], "volumes": [4, 8, 5, 6]}[kind]
    types = {2: 3, 3: 5, 4: 9, 5: 7} if kind != "volumes" else {4: 10, 8: 12, 5: 14, 6: 13}
    cells = [[(c + n) % points for n in range(widths[c % len(widths)])] for c in range(count)]
    return {
        "pos": pos,
        "links": np.array([p for cell in cells for p in cell], np.int64),
        "ends": np.cumsum([len(cell) for cell in cells]).astype(np.int32),
        "kinds": np.array([types[len(cell)] for cell in cells], np.uint8),
        "t": 1000.0 * block + np.arange(count) + 1e6 * step,
        "n": 1000.0 * block + np.arange(points) + 1e6 * step,
        "rows": cells,
    }


def boxes(size, blocks):
    """Boxes of cells: as many slabs along x as there may be, each cut in two along y."""
    cuts = np.linspace(0, size[0], min(blocks, size[0]) + 1).astype(int)
    found = []
    for a, b in itertools.pairwise(cuts):
        middle = size[1] // 2 if len(size) > 1 else 0
        for lo, hi in ((0, middle), (middle, size[1])) if len(size) > 1 else ((0, 1),):
            if lo < hi or len(size) == 1:
                found.append(((a, lo, 0)[: len(size)], (b, hi, size[2] if len(size) > 2 else 1)[: len(size)]))
    return found


def cut(array, lo, hi, node):
    return np.ascontiguousarray(array[tuple(slice(a, b + node) for a, b in zip(lo, hi, strict=True))[::-1]])


def publish_boxes(session, kind, mine, step):
    size = SIZES.get(kind) or CURVED[kind]
    for b, (lo, hi) in mine.items():
        if kind == "gap" and b == 1 and step == 1:
            continue
        t, n = cut(field(size, 0, step), lo, hi, 0), cut(field(size, 1, step), lo, hi, 1)
        session.publish("t", b, t)
        session.publish("n", b, n.astype(np.float32))
        session.publish("mark", b, t.astype(np.int32))
        if step % 2 == 0:
            session.publish("late", b, t)
            session.publish("v", b, rows(t))
        if kind in CURVED:
            session.publish("pos", b, np.stack([cut(axis, lo, hi, 1) for axis in positions(size)], -1))


def rows(t):
    """Two components, in row order."""
    return np.ascontiguousarray(np.stack([t.T, -t.T], -1))


def simulate(session, kind, blocks, steps, pause):
    rank, ranks = session.comm.Get_rank(), session.comm.Get_size()
    if kind in LISTS:
        mine = [b for b in range(blocks) if b % ranks == rank]
    else:
        size = SIZES.get(kind) or CURVED[kind]
        mine = {b: box for b, box in enumerate(boxes(size, blocks)) if b % ranks == rank}
        for b, (lo, hi) in mine.items():
            session.set_block("m", b, [int(n) for n in lo], [int(n) for n in hi])
        session.start()
    for step in range(steps):
        if kind in LISTS:
            made = {b: block_list(kind, b, step) for b in mine}
            for b, one in made.items():
                session.set_block_list("m", b, len(one["pos"]), len(one.get("t", one["n"])), len(one.get("links", ())))
            if step == 0:
                session.start()
            for b, one in made.items():
                for name in set(one) - {"rows"}:
                    session.publish(name, b, one[name])
        else:
            publish_boxes(session, kind, mine, step)
        session.end_iteration(10 * step, 0.5 * step)
        time.sleep(pause)


def main():
    import sidestream
    from mpi4py import MPI

    kind, blocks, steps = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
        if session.is_server:
            session.serve()
        else:
            simulate(session, kind, blocks, steps, float(sys.argv[5]) if len(sys.argv) > 5 else 0)


if __name__ == "__main__":
    main()
