"""Parent and neighbour indices for a tree that is stored level by level."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """Links of one level below the roots; numbers count cells of the next coarser level."""

    parent: Whole  # parent of each group of siblings
    beside: Whole  # neighbours of each group's parent at -x, +x, -y, ...; -1: none


def _beside_roots(dimensions: int, roots: list[int]) -> Whole:
    used = [int(n) for n in roots[:dimensions]]
    number = np.arange(int(np.prod(used))).reshape(used[::-1])
    sides = []
    for axis in range(dimensions):
        along = dimensions - 1 - axis
        padded = np.pad(number, [(1, 1) if a == along else (0, 0) for a in range(dimensions)], constant_values=-1)
        count = used[axis]
        sides += [np.take(padded, range(count), along), np.take(padded, range(2, count + 2), along)]
    return np.stack([side.reshape(-1) for side in sides], axis=1)


def links_of(refined: NDArray[np.uint8], starts: Whole, dimensions: int, roots: list[int]) -> list[Links]:
    """Returns the links of all levels below the roots; entry 0 is level 1."""
    children, found = 1 << dimensions, []
    beside = _beside_roots(dimensions, roots)
    for level in range(len(starts) - 2):
        parent = np.flatnonzero(refined[starts[level] : starts[level + 1]])
        of_parent = beside[parent]
        found.append(Links(parent, of_parent))
        if level == len(starts) - 3:
            break  # no level follows whose links need the neighbours of these cells
        group_of = np.full(len(beside) + 1, -1)  # the last entry, with index -1, stands for no neighbour
        group_of[parent] = np.arange(len(parent))
        below = np.empty((len(parent), children, 2 * dimensions), np.int64)
        for child in range(children):
            for face in range(2 * dimensions):
                across, upper = child ^ (1 << face // 2), child >> face // 2 & 1
                if upper != face % 2:
                    below[:, child, face] = np.arange(len(parent)) * children + across
                    continue
                group = group_of[of_parent[:, face]]
                below[:, child, face] = np.where(group < 0, -1, group * children + across)
        beside = below.reshape(-1, 2 * dimensions)
    return found
