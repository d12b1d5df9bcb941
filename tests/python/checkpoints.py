"""Writes contexts of every kind of mesh, or reads a checkpoint on any number of ranks. Every value depends on its
position.

checkpoints.py write RESULTS BLOCKS [PLACEMENT] | read DATABASE BLOCKS | shapes RESULTS [FIRST]
"""

import sys

import numpy as np
import sidestream

NX, NY, NZ, STEPS = 5, 4, 16, 3
RUN = """\
placement: {PLACEMENT}
output: {directory: 'DIRECTORY'}
meshes:
  box: {type: uniform, size: [5, 4, 16], spacing: [0.5, 1, 2], refinement: ['2']}
  plane: {type: uniform, size: [5, 16]}
  line: {type: uniform, size: [16]}
  walls:
    type: rectilinear
    coordinates:
      x: [0, 1, 3, 4, 8, 9]
      y: [0, 1, 2, 4, 5]
      z: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20]
  cloud: {type: points, dimensions: 3, coordinates: places}
variables:
  nodes: {mesh: box, centering: node, unit: K, label: temperature}
  vectors: {mesh: box, type: float32, components: 3}
  rows: {mesh: box, type: int32, components: 2, order: row}
  longs: {mesh: plane, type: int64}
  flat: {mesh: plane, type: int16, order: row}
  bytes: {mesh: line, type: uint8}
  faces: {mesh: walls, type: float32, centering: x-face}
  places: {mesh: cloud, components: 3}
  ids: {mesh: cloud, type: int64}
outputs:
  - database: {name: restart, directory: restart, kind: checkpoint, fsync: false}
  - database:
      name: post
      directory: post
      kind: post
      fsync: false
      hdf5: false
      codecs:
        nodes: byte-shuffle zstd
        vectors: half gzip
        rows: bit-shuffle zstd
        longs: bit-shuffle gzip
        bytes: zstd
        faces: quantise-2
        places: quantise-4 byte-shuffle zstd
"""
KINDS = {  # mesh, dtype, components, centering, order, axes
    "nodes": ("box", "f8", 1, (1, 1, 1), "column", 3),
    "vectors": ("box", "f4", 3, (0, 0, 0), "column", 3),
    "rows": ("box", "i4", 2, (0, 0, 0), "row", 3),
    "longs": ("plane", "i8", 1, (0, 0, 0), "column", 2),
    "flat": ("plane", "i2", 1, (0, 0, 0), "row", 2),
    "bytes": ("line", "u1", 1, (0, 0, 0), "column", 1),
    "faces": ("walls", "f4", 1, (1, 0, 0), "column", 3),
}
# The last axis of each mesh is cut.
CELLS = {"box": (NX, NY, NZ), "plane": (NX, NZ), "line": (NZ,), "walls": (NX, NY, NZ)}


def values(name, lo, hi, step, level=0):
    """The values that are published for the points lo to hi."""
    _, dtype, components, _, order, _ = KINDS[name]
    axes = [np.arange(a, b) for a, b in zip(lo, hi, strict=True)]
    grid = np.meshgrid(*axes, indexing="ij")
    whole = sum(index * 11**n for n, index in enumerate(grid)) + 3 * step + 1000 * level
    whole = whole[..., None] + 5 * np.arange(components)
    if order == "column":
        whole = whole.transpose(*reversed(range(len(axes))), len(axes))
    whole = whole % (100 if dtype == "u1" else 30000)
    return (whole[..., 0] if components == 1 else whole).astype(dtype)


def edge(block, blocks):
    return NZ * block // blocks


def box_of(mesh, block, blocks):
    cells = CELLS[mesh]
    lo = [0] * (len(cells) - 1) + [edge(block, blocks)]
    return lo, [*cells[:-1], edge(block + 1, blocks)]


def points_of(name, lo, hi):
    centering = KINDS[name][3]
    return lo, [n + centering[axis] for axis, n in enumerate(hi)]


def places(block):
    return 1000.0 * block + np.arange(3 * (block + 1)).reshape(-1, 3) / 8


def write(results, blocks, placement):
    from mpi4py import MPI

    text = RUN.replace("{PLACEMENT}", placement).replace("DIRECTORY", results)
    with sidestream.open_session(MPI.COMM_WORLD, text=text) as s:
        if s.is_server:
            s.serve()
            return
        mine = range(s.comm.rank, blocks, s.comm.size)
        for b in mine:
            for mesh in CELLS:
                s.set_block(mesh, b, *box_of(mesh, b, blocks))
            s.set_block_list("cloud", b, b + 1, b + 1)
        if s.comm.rank == 0:  # a finer level, in a part of the box
            s.set_block("box", blocks, [2, 2, 8], [6, 8, 20], level=1)
        s.start()
        for step in range(STEPS):
            for name in KINDS:
                for b in mine:
                    s.publish(name, b, values(name, *points_of(name, *box_of(KINDS[name][0], b, blocks)), step))
                if s.comm.rank == 0 and KINDS[name][0] == "box":
                    s.publish(name, blocks, values(name, *points_of(name, [2, 2, 8], [6, 8, 20]), step, 1))
            for b in mine:
                s.publish("places", b, places(b) + step)
                s.publish("ids", b, np.arange(b + 1) + 100 * b)
            s.end_iteration(10 * step, 0.5 * step)


SHAPES = """\
placement: inline
output: {directory: 'DIRECTORY', existing: resume}
meshes:
  cloud: {type: points, dimensions: 2, coordinates: where}
  triangles: {type: unstructured, dimensions: 3, coordinates: corners, connectivity: edges, offsets: ends, types: kinds}
  curved: {type: curvilinear, size: [4, 2], coordinates: bent}
variables:
  where: {mesh: cloud, type: float32, components: 2}
  mass: {mesh: cloud}
  corners: {mesh: triangles, components: 3}
  edges: {mesh: triangles, type: int64}
  ends: {mesh: triangles, type: int64}
  kinds: {mesh: triangles, type: uint8}
  area: {mesh: triangles}
  bent: {mesh: curved, centering: node, components: 2}
  heat: {mesh: curved, type: float32}
outputs:
  - database: {directory: data, kind: post, fsync: false, codec: [byte-shuffle, zstd]}
  - database: {name: raw, directory: raw, kind: post, fsync: false}
"""


def corners(block):
    """The corners of two triangles, which share their longest side."""
    return np.array([[0, 0, block], [1, 0, block], [0, 1, block], [1, 1, block]], "f8")


def masses(block, step):
    """Values of points; each step has more of them, and block 1 has none in step 0."""
    return 100.0 * block + np.arange((block + 1) * step if block == 1 else 2 + step)


def bent(lo, hi):
    j, i = np.meshgrid(np.arange(lo[1], hi[1] + 1), np.arange(lo[0], hi[0] + 1), indexing="ij")
    return np.stack([i + 0.25 * j, 2.0 * j], axis=-1)


def shapes(results, first):
    """A block on each rank: particles that come, cells, a curved mesh; two steps from `first` on."""
    from mpi4py import MPI

    with sidestream.open_session(MPI.COMM_WORLD, text=SHAPES.replace("DIRECTORY", results)) as s:
        b, size = s.comm.rank, s.comm.size
        lo, hi = [4 * b // size, 0], [4 * (b + 1) // size, 2]
        s.set_block_list("triangles", b, 4, 2, corners=6)
        s.set_block("curved", b, lo, hi)
        s.set_block_list("cloud", b, 0, 0)
        s.start()
        for step in range(first, first + 2):
            mass = masses(b, step)
            s.set_block_list("cloud", b, len(mass), len(mass))
            s.publish("where", b, np.stack([mass, -mass], axis=-1).astype("f4"))
            s.publish("mass", b, mass)
            s.publish("corners", b, corners(b))
            s.publish("edges", b, np.array([0, 1, 2, 1, 3, 2]))
            s.publish("ends", b, np.array([3, 6]))
            s.publish("kinds", b, np.array([5, 5], "u1"))
            s.publish("area", b, np.array([b + step, b + step + 0.5]))
            s.publish("bent", b, bent(lo, hi))
            s.publish("heat", b, np.arange(lo[0], hi[0], dtype="f4") + np.array([[step], [step + 10]], "f4"))
            s.end_iteration(step, float(step))


def read(directory, blocks, comm=None):
    """Reads the checkpoint into `blocks` new blocks; each rank has every `size`-th one, or all without `comm`."""
    step = STEPS - 1
    rank, size = (comm.rank, comm.size) if comm is not None else (0, 1)
    with sidestream.restart(directory, comm) as checkpoint:
        assert (checkpoint.iteration, checkpoint.cycle, checkpoint.time) == (step, 10 * step, 0.5 * step)
        assert checkpoint.remarks == () and set(checkpoint.meshes) == {*CELLS, "cloud"}
        assert set(checkpoint.variables) == {*KINDS, "places", "ids"}
        for b in range(rank, blocks, size):
            for name in KINDS:
                lo, hi = points_of(name, *box_of(KINDS[name][0], b, blocks))
                found = checkpoint.read_box(name, lo, hi)
                expected = values(name, lo, hi, step)
                assert found.dtype == expected.dtype and found.shape == expected.shape, name
                np.testing.assert_array_equal(found, expected, name)
                # Reads into the inside of an array with ghosts, backwards.
                around = np.full([n + 2 for n in expected.shape], 77, expected.dtype)
                inside = around[tuple(slice(-2, 0, -1) for _ in expected.shape)]
                checkpoint.read_box(name, lo, hi, out=inside)
                np.testing.assert_array_equal(inside, expected, name)
                assert np.count_nonzero(around == 77) >= around.size - inside.size
            np.testing.assert_array_equal(
                checkpoint.read_box("nodes", [2, 2, 8], [7, 9, 21], level=1),
                values("nodes", [2, 2, 8], [7, 9, 21], step, 1),
            )
        assert checkpoint.read_box("longs", [0, 3], [NX, 3]).shape == (0, NX)
        read_lists(checkpoint, rank, size, step)
        read_blocks(checkpoint, rank, size, step)


def read_lists(checkpoint, rank, size, step):
    count = len(checkpoint.blocks("cloud"))
    whole = np.concatenate([places(b) + step for b in range(count)])
    of = checkpoint["places"]
    assert of.is_list and of.length == len(whole) and of.role == "coordinates"
    first, past = of.length * rank // size, of.length * (rank + 1) // size
    np.testing.assert_array_equal(checkpoint.read_list("places", first, past - first), whole[first:past])
    np.testing.assert_array_equal(checkpoint.read_list("places", first), whole[first:])
    turned = np.zeros((3, past - first))
    checkpoint.read_list("places", first, past - first, out=turned.T)
    np.testing.assert_array_equal(turned, whole[first:past].T)


def read_blocks(checkpoint, rank, size, step):
    for block in checkpoint.blocks("box")[rank::size]:
        lo, hi = list(block.lo), list(block.hi)
        for name in ("nodes", "rows"):
            expected = values(name, *points_of(name, lo, hi), step, block.level)
            np.testing.assert_array_equal(checkpoint.read_block(name, block.id), expected)
    for block in checkpoint.blocks("cloud")[rank::size]:
        np.testing.assert_array_equal(checkpoint.read_block("places", block.id), places(block.id) + step)
        np.testing.assert_array_equal(checkpoint.read_block("ids", block.id), np.arange(block.points) + 100 * block.id)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else "inline")
    elif sys.argv[1] == "shapes":
        shapes(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    else:
        from mpi4py import MPI

        read(sys.argv[2], int(sys.argv[3]), MPI.COMM_WORLD)
