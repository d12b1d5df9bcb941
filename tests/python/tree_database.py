"""Publishes octrees that are cut into domains, with ghosts, parents and any values, to databases of every layout. Files
next to them keep the values that each block published.

tree_database.py RESULTS PLACEMENT BLOCKS DIMENSIONS
tree_database.py read RESULTS DATABASE BLOCKS
"""

import sys
from pathlib import Path

import numpy as np
import sidestream
from sidestream import Role

STEPS = 2
ROOTS = (2, 1, 1)
DATABASES = ("plain", "zstd", "packed", "pruned", "pruned-plain")
RUN = """\
placement: {PLACEMENT}
output: {directory: 'DIRECTORY'}
variables:
  split: {mesh: tree, type: uint8}
  mine: {mesh: tree, type: uint8}
  density: {mesh: tree, unit: kg/m^3, parent: mean}
  velocity: {mesh: tree, components: 3, parent: mean of density * velocity}
  pressure: {mesh: tree, type: float32}
  energy: {mesh: tree, parent: mean, equals: 2.5 * pressure + 0.5 * density * velocity.x^2}
  clean: {mesh: tree, parent: mean}
  carried: {mesh: tree, parent: mean of clean * carried}
  number: {mesh: tree, type: int64}
  kind: {mesh: tree, type: uint8, components: 2}
outputs:
  - database: {directory: plain, fsync: false}
  - database: {directory: zstd, fsync: false, hdf5: false, codec: [byte-shuffle, zstd]}
  - database: {directory: packed, fsync: false, hdf5: false, codec: auto, server_threads: 3}
  - database: {directory: pruned, kind: post, fsync: false, hdf5: false, codec: auto}
  - database: {directory: pruned-plain, kind: post, fsync: false}
"""
NAMES = ("density", "velocity", "pressure", "energy", "clean", "carried", "number", "kind")


def is_refined(level, index, step):
    i, j, k = index
    return level < 3 + step and (i + 2 * j + 7 * k + level + step) % (level + 2) == 0


def children(dimensions, index):
    steps = [(x, y, z) for z in range(2) for y in range(2) for x in range(2)]
    used = [s for s in steps if not any(s[dimensions:])]
    return [
        tuple(2 * n + m if a < dimensions else 0 for a, (n, m) in enumerate(zip(index, s, strict=True))) for s in used
    ]


def leaves(dimensions, step, level, index):
    if not is_refined(level, index, step):
        return [(level, index)]
    return [leaf for child in children(dimensions, index) for leaf in leaves(dimensions, step, level + 1, child)]


def owner(leaf, blocks):
    level, (i, j, k) = leaf
    return (i + 3 * j + 5 * k + level) // 3 % blocks


def arrays(block, blocks, dimensions, step):
    """The tree that a block publishes, which also has the cells below every second ghost cell."""
    cells = [(0, (i, 0, 0)) for i in range(ROOTS[0])]
    split, mine = [], []
    for level, index in cells:  # grows as it goes
        refined = is_refined(level, index, step)
        needed = refined and any(owner(leaf, blocks) == block for leaf in leaves(dimensions, step, level, index))
        split.append(needed or (refined and sum(index) % 2 == 0))
        mine.append(not refined and owner((level, index), blocks) == block)
        if split[-1]:
            cells += [(level + 1, child) for child in children(dimensions, index)]
    rng = np.random.default_rng([block, step, dimensions])
    count = len(cells)
    place = np.array([[(n + 0.5) / 2**level for n in index] for level, index in cells])
    density = 1 + np.sin(3 * place[:, 0] + place[:, 1]) ** 2
    density[rng.random(count) < 0.02] = np.nan
    density[rng.random(count) < 0.02] = -0.0
    density[rng.random(count) < 0.02] = np.inf
    density[rng.random(count) < 0.02] = 5e-324
    velocity = np.stack([np.cos(place[:, 0]), place[:, 1] * density, rng.standard_normal(count)], axis=1)
    pressure = np.full(count, 0.5, np.float32)
    energy = 2.5 * pressure + 0.5 * density * velocity[:, 0] ** 2
    clean, carried = 1 + 0.1 * np.sin(place[:, 0]), np.cos(place[:, 0] + place[:, 1])
    many, parents = 1 << dimensions, np.flatnonzero(split)
    for n, parent in reversed(list(enumerate(parents))):  # parents have means, as in conservative codes
        own = slice(ROOTS[0] + n * many, ROOTS[0] + (n + 1) * many)
        clean[parent] = clean[own].mean()
        carried[parent] = (clean[own] * carried[own]).mean() / clean[parent]
    number = np.arange(count) + 1000 * block
    kind = rng.integers(0, 3, (count, 2)).astype(np.uint8)
    values = (density, velocity, pressure, energy, clean, carried, number, kind)
    return {"split": np.uint8(split), "mine": np.uint8(mine), **dict(zip(NAMES, values, strict=True))}


def main(results, placement, blocks, dimensions):
    from mpi4py import MPI

    text = RUN.replace("{PLACEMENT}", placement).replace("DIRECTORY", results)
    with sidestream.open_session(MPI.COMM_WORLD, text=text) as s:
        if s.is_server:
            s.serve()
            return
        s.add_octree_mesh("tree", ROOTS[:dimensions], "split")
        s.set_mesh_array("tree", Role.OWNED, "mine")
        mine = range(s.comm.rank, blocks, s.comm.size)
        for block in mine:
            s.set_block_list("tree", block, 0, 20000)
        s.start()
        for step in range(STEPS):
            for block in mine:
                published = arrays(block, blocks, dimensions, step)
                np.savez(Path(results).parent / f"published-{step}-{block}.npz", **published)
                s.set_block_list("tree", block, 0, len(published["split"]))
                for name, values in published.items():
                    if name == "pressure" and block == 1 and step == 1:
                        continue  # not delivered: variables with a relation to it are stored without it
                    assert s.publish(name, block, values), s.message
            s.end_iteration(10 * step, 0.5 * step)


def published(place, step, block):
    with np.load(Path(place).parent / f"published-{step}-{block}.npz") as found:
        arrays = dict(found)
    if step == 1 and block == 1:
        del arrays["pressure"]
    return arrays


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def compare(restart, place, step, blocks):
    for block in blocks:
        for variable, values in published(place, step, block).items():
            found = restart.read_block(variable, block)
            assert same_bits(found.reshape(values.shape), values), (variable, block, step)


def read(place, name, blocks):
    """Reads a database with all ranks; each has some of the blocks."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    for step in range(STEPS):
        with sidestream.restart(Path(place) / name, comm, cycle=10 * step) as restart:
            compare(restart, place, step, range(comm.rank, blocks, comm.size))


if __name__ == "__main__" and sys.argv[1] == "read":
    read(sys.argv[2], sys.argv[3], int(sys.argv[4]))
elif __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
