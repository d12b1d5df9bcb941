"""The patches that tests/system/patches_program.c publishes."""

import numpy as np

# Steps with the patch (eight bits), id, level, lo, hi.
PATCHES = [
    (0xFF, 0, 0, (0, 0, 0), (4, 8, 4)), (0xFF, 1, 0, (4, 0, 0), (8, 8, 4)), (0x83, 2, 1, (4, 2, 0), (8, 10, 8)),
    (0x83, 3, 1, (8, 2, 0), (12, 10, 6)), (0x04, 3, 1, (8, 2, 0), (14, 12, 6)), (0x83, 4, 2, (10, 6, 2), (16, 12, 6)),
    (0x83, 5, 2, (16, 6, 2), (20, 12, 6)), (0x30, 6, 1, (0, 0, 0), (8, 16, 8)), (0x20, 7, 1, (8, 0, 0), (16, 8, 8)),
    (0x20, 8, 1, (8, 8, 0), (16, 16, 8)), (0x10, 9, 2, (4, 4, 0), (12, 8, 4)), (0x60, 10, 2, (0, 0, 0), (16, 32, 8)),
]  # fmt: skip
TO_FINEST = np.array([(4, 4, 2), (2, 2, 1), (1, 1, 1)])


class Patch:
    """A patch of a step, with its cells as an array [cell, axis]."""

    def __init__(self, number, level, lo, hi, dimensions):
        self.number, self.level = number, level
        used = np.arange(3) < dimensions
        self.lo, self.hi = np.where(used, lo, 0), np.where(used, hi, 1)
        self.ratio = np.where(used, TO_FINEST[level], 1)
        k, j, i = np.meshgrid(*(np.arange(self.lo[a], self.hi[a]) for a in (2, 1, 0)), indexing="ij")
        self.cells = np.stack([i.ravel(), j.ravel(), k.ravel()], axis=1)


def values(cells, level, step):
    found = 0.1 * (cells @ [1, 50, 2500] + 250000 * level + 1000000 * step).astype(float)
    if level == 0:
        found[(cells[:, 0] == 1) & (cells[:, 1] == 1)] = np.nan if step % 2 else np.inf
    return found


def patches(step, dimensions=3, without=None):
    return [
        Patch(number, level, lo, hi, dimensions)
        for steps, number, level, lo, hi in PATCHES
        if steps >> step % 8 & 1 and number != without
    ]


def fine_box(patch, cell):
    """A cell as slices of the finest grid, k first."""
    return tuple(slice(cell[a] * patch.ratio[a], (cell[a] + 1) * patch.ratio[a]) for a in (2, 1, 0))


def counted(step, dimensions=3, without=None):
    """True for cells of each patch that finer ones do not completely cover, found by looking at every cell of the
    finest grid."""
    there = patches(step, dimensions, without)
    finest = np.full((8 if dimensions > 2 else 1, 32, 32), -1)
    for patch in sorted(there, key=lambda p: p.level):
        for cell in patch.cells:
            finest[fine_box(patch, cell)] = patch.level
    return [(p, np.array([(finest[fine_box(p, cell)] <= p.level).any() for cell in p.cells])) for p in there]
