"""A tree that grows with the iteration, and each block's part of it."""

import numpy as np
from sidestream import Role

ROOTS, ORIGIN, SPACING = (2, 1, 1), (-1, 0.5, 2), (2, 1, 1.5)


def is_refined(level, i, j, k, step):
    return level < 3 + step and (3 * i + 5 * j + 7 * k + level + step) % (level + 2) == 0


def children(level, i, j, k):
    return [(level + 1, 2 * i + x, 2 * j + y, 2 * k + z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]


def roots():
    return [(0, i, j, k) for k in range(ROOTS[2]) for j in range(ROOTS[1]) for i in range(ROOTS[0])]


def leaves(step, below=None):
    """The leaves, found by recursion."""
    if below is None:
        return [leaf for root in roots() for leaf in leaves(step, root)]
    if not is_refined(*below, step):
        return [below]
    return [leaf for child in children(*below) for leaf in leaves(step, child)]


def bounds(cell):
    """The low and the high corner of a cell."""
    level, *index = cell
    edge = np.array(SPACING) / 2**level
    return ORIGIN + edge * index, ORIGIN + edge * (np.array(index) + 1)


def value(cell):
    (x, y, z), _ = bounds(cell)
    return np.sin(3 * x + y) + 0.25 * z + 0.1 * cell[0]


class Tree:
    """Returns the cells that block `block` of `blocks` lists: its leaves, their parents and the neighbours of these."""

    def __init__(self, block, blocks):
        self.block, self.blocks = block, blocks

    def owns(self, leaf):
        return (7 * leaf[1] + 3 * leaf[2] + leaf[3] + leaf[0]) % self.blocks == self.block

    def publish(self, session, step):
        cells, split, mine = roots(), [], []
        for cell in cells:  # grows as it goes, level by level
            refined = is_refined(*cell, step)
            split.append(refined and any(self.owns(leaf) for leaf in leaves(step, cell)))
            mine.append(not refined and self.owns(cell))
            if split[-1]:
                cells += children(*cell)
        session.set_block_list("tree", self.block, 0, len(cells))
        values = np.array([value(cell) if own else 0.5 for cell, own in zip(cells, mine, strict=True)])
        for name, array in (("split", np.uint8(split)), ("mine", np.uint8(mine)), ("leaf", values)):
            assert session.publish(name, self.block, array), session.message


def declare(session):
    session.add_octree_mesh("tree", ROOTS, "split", origin=ORIGIN, spacing=SPACING)
    session.add_variable("split", "tree", "u1")
    session.add_variable("mine", "tree", "u1")
    session.set_mesh_array("tree", Role.OWNED, "mine")
    session.add_variable("leaf", "tree")
