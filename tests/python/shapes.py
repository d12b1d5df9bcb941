"""Two meshes that move: one of cells of many shapes, and one of warped boxes."""

import numpy as np

CUBES, BOXES, STEPS = 4, (6, 5, 4), 2
HEXAHEDRON, TETRAHEDRON, WEDGE, PYRAMID = 12, 10, 13, 14


def place(i, j, k, step):
    """The position of a point. Spacing is uneven and sheared, but faces stay flat, so that cells of different shapes
    fit together."""
    x, y, z = i + 0.1 * i * i, j + 0.05 * j * j, k + 0.02 * k**3
    return np.stack([x + 0.3 * y + 0.02 * step, y - 0.2 * z, z + 0.1 * x], axis=-1)


def points(step):
    """Coordinates of the corners of cubes, then of their centres."""
    k, j, i = np.meshgrid(*[np.arange(CUBES + 1.0)] * 3, indexing="ij")
    corners = place(i, j, k, step)
    middles = sum(corners[a : a + CUBES, b : b + CUBES, c : c + CUBES] for a in (0, 1) for b in (0, 1) for c in (0, 1))
    return np.concatenate([corners.reshape(-1, 3), middles.reshape(-1, 3) / 8])


def parts_of(corner, middle, kind):
    """A cube as one cell or several. `corner(x, y, z)` gives its corners."""
    c = [corner(n & 1, n >> 1 & 1, n >> 2) for n in range(8)]
    if kind == 0:
        return [(HEXAHEDRON, [c[n] for n in (0, 1, 3, 2, 4, 5, 7, 6)])]
    if kind == 1:
        paths = [(1, 3), (1, 5), (2, 3), (2, 6), (4, 5), (4, 6)]
        return [(TETRAHEDRON, [c[0], c[a], c[b], c[7]]) for a, b in paths]
    if kind == 2:
        return [(WEDGE, [c[n] for n in six]) for six in ((0, 1, 3, 4, 5, 7), (0, 3, 2, 4, 7, 6))]
    faces = [(0, 2, 6, 4), (1, 3, 7, 5), (0, 1, 5, 4), (2, 3, 7, 6), (0, 1, 3, 2), (4, 5, 7, 6)]
    return [(PYRAMID, [*(c[n] for n in face), middle]) for face in faces]


def cells():
    """Type and points of each cell."""
    found = []
    for k in range(CUBES):
        for j in range(CUBES):
            for i in range(CUBES):

                def corner(x, y, z, i=i, j=j, k=k):
                    return ((k + z) * (CUBES + 1) + j + y) * (CUBES + 1) + i + x

                middle = (CUBES + 1) ** 3 + (k * CUBES + j) * CUBES + i
                found += parts_of(corner, middle, (i + 2 * j + 3 * k) % 4)
    return found


def at_points(step):
    return np.random.default_rng(step).random(len(points(step)))


def in_cells(step):
    return np.arange(len(cells())) + 1000.0 * step


def warped(step):
    """Coordinates of the nodes [k, j, i] of the boxes."""
    k, j, i = np.meshgrid(*[np.arange(n + 1.0) for n in BOXES[::-1]], indexing="ij")
    x = i + 0.25 * np.sin(j + 0.7 * k) + 0.1 * step
    y = j + 0.2 * np.sin(i + k)
    z = k + 0.2 * np.cos(i * 0.8 + 0.5 * j)
    return np.stack([x, y, z], axis=-1)


def at_nodes(step):
    return np.random.default_rng(10 + step).random([n + 1 for n in BOXES[::-1]])


def in_boxes(step):
    return np.arange(np.prod(BOXES), dtype=float).reshape(BOXES[::-1]) + 1000 * step


def flow(places):
    """Vectors at places [..., 3]."""
    x, y, z = np.moveaxis(places, -1, 0)
    return np.stack([1.2 + np.sin(0.9 * y), np.cos(0.7 * x) + 0.2 * z, 0.6 * np.sin(0.5 * x + y)], axis=-1)
