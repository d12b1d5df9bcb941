"""Publishes a mesh of each kind for test_vtk_objects.py, which compares what VTK has with the functions here.

Usage: mpirun -n RANKS vtk_meshes.py CONFIGURATION
"""

import sys

import numpy as np

STEPS, BLOCKS, LAYERS = 2, 3, 2  # a block is a slab of layers along z, or along the last axis
BOX, RECT, WING, FLAT = (5, 4, 6), (3, 2, 6), (2, 3, 6), (3, 6)
ORIGIN, SPACING = (1.0, 2.0, 3.0), (0.5, 1.0, 2.0)
TICKS = [np.array([0.0, 1, 3, 4]), np.array([-1.0, 2, 2.5]), np.array([0.0, 1, 2, 4, 8, 16, 32])]
FINE = ((2, 2, 2), (8, 6, 6))  # the finer block, in cells of its level
SLOPE, VALUE = (1.0, 2.0, 0.5), 13.3  # of p, and the value of its isosurface, which no node has
TETRAHEDRON, HEXAHEDRON = 10, 12

TEXT = f"""\
meshes:
  box:   {{type: uniform, size: {list(BOX)}, origin: {list(ORIGIN)}, spacing: {list(SPACING)}}}
  wing:  {{type: curvilinear, size: {list(WING)}, coordinates: nodes}}
  flat:  {{type: uniform, size: {list(FLAT)}}}
  hull:  {{type: unstructured, coordinates: corners, connectivity: links, offsets: ends, types: kinds,
          cell_ghosts: twice}}
  stars: {{type: points, dimensions: 3, coordinates: places, point_ghosts: gone}}
  gas:   {{type: uniform, size: {list(BOX)}, spacing: 2, refinement: ['2']}}
variables:
  t:       {{mesh: box}}
  filled:  {{mesh: box, type: float32, ghosts: filled}}
  p:       {{mesh: box, centering: node}}
  v:       {{mesh: box, components: 3, type: float32}}
  rows:    {{mesh: box, type: int32, order: row}}
  ticks:   {{mesh: rect}}
  nodes:   {{mesh: wing, centering: node, components: 3}}
  lift:    {{mesh: wing, type: float32}}
  level:   {{mesh: flat, centering: node}}
  corners: {{mesh: hull, centering: node, components: 3}}
  links:   {{mesh: hull, type: int64}}
  ends:    {{mesh: hull, type: int32}}
  kinds:   {{mesh: hull, type: uint8}}
  twice:   {{mesh: hull, type: uint8}}
  stress:  {{mesh: hull}}
  heat:    {{mesh: hull, centering: node, type: float32}}
  places:  {{mesh: stars, centering: node, components: 3, type: float32}}
  gone:    {{mesh: stars, type: uint8}}
  mass:    {{mesh: stars, centering: node}}
  density: {{mesh: gas}}
"""


def indices(lo, hi):
    """i, j and k of the points between two corners, as arrays [k, j, i]."""
    return np.meshgrid(*(np.arange(a, b) for a, b in zip(lo[::-1], hi[::-1], strict=True)), indexing="ij")[::-1]


def cell_value(lo, hi, step):
    i, j, k = indices(lo, hi)
    return i + 10.0 * j + 100 * k + 1000 * step


def node_value(lo, hi, step):
    """A linear function of the position, whose isosurfaces are plane."""
    at = (o + h * n for o, h, n in zip(ORIGIN, SPACING, indices(lo, hi), strict=True))
    return sum(a * x for a, x in zip(SLOPE, at, strict=True)) + step


def vector(lo, hi, step):
    value = cell_value(lo, hi, step)
    return np.stack([value, -value, 0.5 * value], axis=-1).astype("f4")


def warped(lo, hi, step):
    i, j, k = indices(lo, hi)
    return np.stack([i + 0.1 * k + step, j + 0.05 * i * i, k + 0.2 * np.sin(j)], axis=-1)


def flat_value(lo, hi, step):
    i, j = indices(lo, hi)
    return i + 10.0 * j + 100 * step


def corners_of(block, step):
    """A cube and, on top of it, a point."""
    cube = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return np.array([*cube, (0.5, 0.5, 2.0)]) + np.array([3.0 * block, 0, step])


LINKS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 8, 4, 6, 7, 8])
ENDS, KINDS = np.int32([8, 12, 16]), np.uint8([HEXAHEDRON, TETRAHEDRON, TETRAHEDRON])


def stars_of(block, step):
    return np.float32(np.random.default_rng(10 * step + block).random((4 + block, 3)))


def slab(size, block):
    """The corners of a block."""
    first = LAYERS * block
    return (0,) * (len(size) - 1) + (first,), (*size[:-1], first + LAYERS)


def more(box, by):
    return box[0], tuple(n + by for n in box[1])


def wider(box):
    return tuple(n - 1 for n in box[0]), tuple(n + 1 for n in box[1])


def declare(s, mine):
    s.add_rectilinear_mesh("rect", TICKS)
    for block in mine:
        for mesh, size in (("box", BOX), ("rect", RECT), ("wing", WING), ("flat", FLAT), ("gas", BOX)):
            s.set_block(mesh, block, *slab(size, block))
        s.set_allocated("filled", block, *wider(slab(BOX, block)))
        s.set_block_list("hull", block, 9, 3, corners=16)
        s.set_block_list("stars", block, 4 + block, 4 + block)
    if 0 in mine:
        s.set_block("gas", BLOCKS, *FINE, level=1)


def publish(s, block, step):
    box = slab(BOX, block)
    for name, array in {
        "t": cell_value(*box, step),
        "filled": cell_value(*wider(box), step).astype("f4"),
        "p": node_value(*more(box, 1), step),
        "v": vector(*box, step),
        "rows": np.ascontiguousarray(cell_value(*box, step).T.astype("i4")),
        "ticks": cell_value(*slab(RECT, block), step),
        "nodes": warped(*more(slab(WING, block), 1), step),
        "lift": cell_value(*slab(WING, block), step).astype("f4"),
        "level": flat_value(*more(slab(FLAT, block), 1), step),
        "corners": corners_of(block, step),
        "links": LINKS,
        "ends": ENDS,
        "kinds": KINDS,
        "twice": np.uint8([0, 0, block > 0]),
        "stress": np.arange(3.0) + 10 * block + step,
        "heat": np.float32(np.arange(9) + 100 * block + step),
        "places": stars_of(block, step),
        "gone": np.uint8(np.arange(4 + block) == 1),
        "mass": np.arange(4.0 + block) + step,
        "density": cell_value(*box, step),
    }.items():
        assert s.publish(name, block, array), s.message


def main(configuration):
    import sidestream
    from mpi4py import MPI

    with sidestream.open_session(MPI.COMM_WORLD, configuration) as s:
        if s.is_server:
            s.serve()
            return
        mine = range(s.comm.rank, BLOCKS, s.comm.size)
        declare(s, mine)
        s.start()
        for step in range(STEPS):
            for block in mine:
                publish(s, block, step)
            if 0 in mine:
                assert s.publish("density", BLOCKS, cell_value(*FINE, step)), s.message
            s.end_iteration(step, 0.5 * step)


if __name__ == "__main__":
    main(sys.argv[1])
