"""Publishes trees of three and two dimensions, and patches on three levels, to a database and HDF5 files. All of them
change with the iteration. Every value depends on its position.

refined.py RESULTS PLACEMENT BLOCKS
"""

import sys
from itertools import pairwise

import numpy as np
import sidestream
import trees

STEPS = 2
RUN = """\
placement: {PLACEMENT}
output: {directory: 'DIRECTORY'}
meshes:
  flat: {type: octree, size: [3, 2], spacing: [0.5, 0.25], origin: [1, -1], refined: flat_split}
  even: {type: uniform, size: [4, 4, 4], refinement: ['2', '2']}
variables:
  heat: {mesh: even}
  flat_split: {mesh: flat, type: uint8}
  height: {mesh: flat, type: float32, components: 2}
  density: {mesh: patches, unit: kg}
  rank: {mesh: patches, type: int32, order: row}
outputs:
  - database: {directory: data, kind: post, fsync: false, hdf5: false, codec: [byte-shuffle, zstd]}
  - hdf5: {}
"""
CELLS, RATIOS = (8, 6, 4), ((1, 1, 1), (2, 2, 2), (8, 4, 2))


def fine_boxes(step):
    """Boxes of finer levels: level, lo, hi. Two of level 1 meet within a cell of level 0. Level 2 moves, and a part
    of it has only level 0 below."""
    return [
        (1, (2, 2, 2), (7, 8, 6)),
        (1, (7, 2, 2), (10, 8, 6)),
        (2, (16 + 8 * step, 8, 4), (28 + 8 * step, 16, 8)),
        (2, (48, 16, 0), (56, 20, 2)),
    ]


def coarse_boxes(blocks):
    edges = [CELLS[2] * n // blocks for n in range(blocks + 1)]
    return [(0, (0, 0, a), (8, 6, b)) for a, b in pairwise(edges)]


def density(level, i, j, k, step):
    return 1000.0 * level + i + 0.25 * j + 0.0625 * k + 100 * step


def rank_of(level, i, j, k, step):
    return 7 * i + 5 * j + 3 * k + level + step


# Boxes (level, lo, hi) of a mesh that yt and VTK accept: one ratio, and each level within the next coarser one.
EVEN = [(0, (0, 0, 0), (4, 4, 2)), (0, (0, 0, 2), (4, 4, 4)), (1, (2, 2, 2), (6, 8, 6)), (2, (6, 6, 6), (10, 10, 10))]


def heat(level, i, j, k):
    """A value that depends on the position of a cell's centre and the level."""
    x, y, z = ((n + 0.5) / 2**level for n in (i, j, k))
    return x + 10 * y + 100 * z + 1000 * level


def publish_patch(session, block, of, step):
    level, lo, hi = of
    k, j, i = np.meshgrid(*(np.arange(a, b) for a, b in zip(lo[::-1], hi[::-1], strict=True)), indexing="ij")
    assert session.publish("density", block, density(level, i, j, k, step)), session.message
    assert session.publish("rank", block, rank_of(level, i, j, k, step).T.astype("i4")), session.message


def flat_refined(level, i, j, step):
    return level < 2 + step and (i + 2 * j + level) % 3 == 0


def flat_leaves(step):
    """The leaves (level, i, j), found by recursion."""

    def below(level, i, j):
        if not flat_refined(level, i, j, step):
            return [(level, i, j)]
        return [c for y in (0, 1) for x in (0, 1) for c in below(level + 1, 2 * i + x, 2 * j + y)]

    return [leaf for j in range(2) for i in range(3) for leaf in below(0, i, j)]


def flat_value(level, i, j):
    return (i + 100 * level, j)


def publish_flat(session, step):
    """Publishes the whole flat tree in one block."""
    cells, split = [(0, i, j) for j in range(2) for i in range(3)], []
    for level, i, j in cells:  # grows as it goes
        split.append(flat_refined(level, i, j, step))
        if split[-1]:
            cells += [(level + 1, 2 * i + x, 2 * j + y) for y in (0, 1) for x in (0, 1)]
    session.set_block_list("flat", 0, 0, len(cells))
    assert session.publish("flat_split", 0, np.uint8(split)), session.message
    assert session.publish("height", 0, np.float32([flat_value(*cell) for cell in cells])), session.message


def main(results, placement, blocks):
    from mpi4py import MPI

    text = RUN.replace("{PLACEMENT}", placement).replace("DIRECTORY", results)
    with sidestream.open_session(MPI.COMM_WORLD, text=text) as s:
        if s.is_server:
            s.serve()
            return
        s.add_uniform_mesh("patches", CELLS, spacing=[0.5, 1, 2], origin=[1, 2, 3])
        s.set_refinement("patches", [[2, 2, 2], [4, 2, 1]])
        trees.declare(s)
        mine = range(s.comm.rank, blocks, s.comm.size)
        woods = [trees.Tree(block, blocks) for block in mine]
        for block in mine:
            s.set_block_list("tree", block, 0, 2000)
        if s.comm.rank == 0:
            s.set_block_list("tree", 99, 0, 0)  # a domain without cells
            s.set_block_list("flat", 0, 0, 500)
            for n, (level, lo, hi) in enumerate(EVEN):
                s.set_block("even", n, lo, hi, level=level)
        s.start()
        for step in range(STEPS):
            patches = dict(enumerate(coarse_boxes(blocks) + fine_boxes(step)))
            own = {n: of for n, of in patches.items() if n % s.comm.size == s.comm.rank}
            for n, (level, lo, hi) in own.items():
                s.set_block("patches", n, lo, hi, level=level)
            for n, of in own.items():
                if np.all(np.array(of[2]) > of[1]):
                    publish_patch(s, n, of, step)
            for tree in woods:
                tree.publish(s, step)
            if s.comm.rank == 0:
                publish_flat(s, step)
                for n, (level, lo, hi) in enumerate(EVEN):
                    axes = (np.arange(a, b) for a, b in zip(lo[::-1], hi[::-1], strict=True))
                    k, j, i = np.meshgrid(*axes, indexing="ij")
                    assert s.publish("heat", n, heat(level, i, j, k)), s.message
            s.end_iteration(10 * step, 0.5 * step)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
