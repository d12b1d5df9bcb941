"""Morton keys: the interleaved bits of i, j and k, i lowest."""

import numpy as np
from numpy.typing import NDArray

from ...errors import Error

BITS = {1: 63, 2: 31, 3: 21}


def morton_keys(index: NDArray[np.int64], dimensions: int) -> NDArray[np.uint64]:
    """The keys of cells of one level, given as rows of (i, j, k). Keys of a level are in the order of a Z curve. Throws
    Error if an index has more bits than a key of 64 bits has room for."""
    keys = np.zeros(len(index), np.uint64)
    if not len(index):
        return keys
    used = index[:, :dimensions]
    bits = int(used.max()).bit_length()
    if used.min() < 0 or bits > BITS[dimensions]:
        wrong = int(used.min()) if used.min() < 0 else int(used.max())
        raise Error(
            f"Morton keys: an index of {wrong} was found, expected 0 to "
            f"{2 ** BITS[dimensions] - 1} in {dimensions} dimensions; use i, j and k"
        )
    for bit in range(bits):
        for axis in range(dimensions):
            part = (used[:, axis] >> bit & 1).astype(np.uint64)
            keys |= part << np.uint64(bit * dimensions + axis)
    return keys
