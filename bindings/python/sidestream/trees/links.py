"""Who is whose father, and who is beside whom, in a tree that is stored level by level."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """Of one level but the roots: numbers are those of cells in the level above."""

    father: Whole  # of each group of siblings
    beside: Whole  # of each group what is beside its father: at -x, +x, -y, ...; -1: nothing


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
    """Entry 0 is level 1."""
    sons, found = 1 << dimensions, []
    beside = _beside_roots(dimensions, roots)
    for level in range(len(starts) - 2):
        father = np.flatnonzero(refined[starts[level] : starts[level + 1]])
        of_father = beside[father]
        found.append(Links(father, of_father))
        group_of = np.full(len(beside) + 1, -1)  # entry -1 stands for nothing
        group_of[father] = np.arange(len(father))
        below = np.empty((len(father), sons, 2 * dimensions), np.int64)
        for son in range(sons):
            for face in range(2 * dimensions):
                across, upper = son ^ (1 << face // 2), son >> face // 2 & 1
                group = np.arange(len(father)) if upper != face % 2 else group_of[of_father[:, face]]
                below[:, son, face] = np.where(group < 0, -1, group * sons + across)
        beside = below.reshape(-1, 2 * dimensions)
    return found
