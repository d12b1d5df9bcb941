"""The values that tests/system/kinds_program.c publishes."""

import itertools

import numpy as np

NX, NY, NZ = 9, 5, 4


def value(block, count, components, step):
    i = np.arange(count)[:, None]
    return (1000 * block + i + 100000 * np.arange(components) + 1000000 * step).astype(float)


def topology(b, cells, points):
    """Cells are in turn a tetrahedron as a polyhedron, a tetrahedron, and a triangle."""
    corners, faces = [], []
    for i in range(cells):
        four = [(b + i + c) % points for c in range(4)]
        corners.append(four[: 3 if i % 3 == 2 else 4])
        stream = [4]
        for face in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)):
            stream += [3, *(four[c] for c in face)]
        faces.append(stream if i % 3 == 0 else [])
    face_ends = np.cumsum([len(f) for f in faces])
    return [
        ("links", "int64", list(itertools.chain(*corners))),
        ("ends", "int32", np.cumsum([len(c) for c in corners])),
        ("faces", "int64", list(itertools.chain(*faces))),
        ("face_ends", "int64", [end if faces[i] else -1 for i, end in enumerate(face_ends)]),
        ("kinds", "uint8", [(42, 10, 5)[i % 3] for i in range(cells)]),
    ]


def tree(b, step):
    """For each cell: true if it is refined, true if the block owns it, and its place (level, i, j, k)."""
    level_of_cells = [[] if b == 1 else [(0, 0, 0), (1, 0, 0)]]
    split, where = [], []
    for level in itertools.count():
        children = []
        for i, j, k in level_of_cells[level]:
            split.append(level < 3 and (7 * len(split) + b + step) % 5 == 0)
            where.append((level, i, j, k))
            if split[-1]:
                children += [(2 * i + x, 2 * j + y, 2 * k + z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
        if not children:
            return np.array(split), (np.arange(len(split)) + b) % 3 != 0, where
        level_of_cells.append(children)


def lists(kind, blocks, changing, step, dimensions=3):
    """For each variable the arrays of all blocks, and flags that are true for values that count."""
    result = {}

    def add(name, dtype, array):
        result.setdefault(name, []).append(np.asarray(array).astype(dtype))

    for b in range(blocks):
        if kind == "octree":
            split, mine, _ = tree(b, step)
            add("t", "float64", value(b, len(split), 2, step))
            add("split", "uint8", split)
            add("mine", "uint8", mine)
            continue
        if kind == "points":
            count = (11 * b + 7 * step) % 17
            add("pos", "float32", value(b, count, dimensions, step))
            add("n", "float32", value(b, count, 1, step)[:, 0])
            add("ids", "int64", 100 * b + np.arange(count))
            add("flags", "uint8", np.arange(count) % 5 == 4)
            continue
        cells = 0 if b == 1 else 2 + b + (step % 3 if changing else 0)
        points = 0 if b == 1 else 4 + 3 * b + (2 * (step % 2) if changing else 0)
        add("pos", "float32", value(b, points, dimensions, step))
        add("t", "float64", value(b, cells, 2, step))
        add("n", "float32", value(b, points, 1, step)[:, 0])
        for name, dtype, array in topology(b, cells, points):
            add(name, dtype, array)
    return result


def curvilinear(step, dimensions=3):
    """Unused axes have one index and are left out."""
    cells = [NX, NY, NZ][:dimensions] + [1] * (3 - dimensions)
    used = np.arange(3) < dimensions
    i, j, k = np.ogrid[tuple(slice(0, n + u) for n, u in zip(cells, used, strict=True))]
    i, j, k = i.T, j.T, k.T
    n = (i + 50 * j + 2500 * k + 250000 * step).astype("float32")
    pos = np.stack([i + 0.25 * j + 0 * k, j + 0.5 * k + 0 * i, k - 0.125 * i + 0 * j], axis=-1)[..., :dimensions]
    t = n[: cells[2], : cells[1], : cells[0]].astype(float)
    shape = [extent for extent, u in zip(n.shape, used[::-1], strict=True) if u]
    in_cells = [extent for extent, u in zip(t.shape, used[::-1], strict=True) if u]
    pos = pos.reshape(shape + ([dimensions] if dimensions > 1 else []))
    return {"pos": pos, "t": t.reshape(in_cells), "n": n.reshape(shape)}


BOXES = [
    (0, (0, 0, 0), (4, 8, 4)), (0, (4, 0, 0), (8, 8, 4)), (1, (4, 2, 0), (8, 10, 8)),
    (1, (8, 2, 0), (12, 10, 6)), (2, (10, 6, 2), (16, 12, 6)), (2, (16, 6, 2), (20, 12, 6)),
]  # fmt: skip
TO_FINEST = [np.array(r) for r in ((4, 4, 2), (2, 2, 1), (1, 1, 1))]


def finest_levels(boxes):
    """The finest level that covers each cell of the finest grid."""
    finest = {}
    for level, lo, hi in boxes:
        r = TO_FINEST[level]
        for k in range(lo[2] * r[2], hi[2] * r[2]):
            for j in range(lo[1] * r[1], hi[1] * r[1]):
                for i in range(lo[0] * r[0], hi[0] * r[0]):
                    finest[i, j, k] = max(level, finest.get((i, j, k), 0))
    return finest


def levels(node, step):
    """The values that count: those of the finest level at each position, found by looking at every cell."""
    boxes = [box for box in BOXES if box[0] < 2 or step % 2 == 0]
    finest = finest_levels(boxes)
    found = {}  # level and value by position
    for level, lo, hi in boxes:
        r = TO_FINEST[level]
        for k in range(lo[2], hi[2] + node):
            for j in range(lo[1], hi[1] + node):
                for i in range(lo[0], hi[0] + node):
                    v = i + 50 * j + 2500 * k + 250000 * level + 1000000 * step
                    if node:
                        place = (i * r[0], j * r[1], k * r[2])
                        if found.get(place, (-1, 0))[0] <= level:
                            found[place] = (level, v)
                    elif not all(
                        finest[i * r[0] + x, j * r[1] + y, k * r[2] + z] > level
                        for z in range(r[2]) for y in range(r[1]) for x in range(r[0])
                    ):  # fmt: skip
                        found[level, i, j, k] = (level, v)
    return np.array([v for _, v in found.values()]).reshape(-1, 1)
