"""The content of a checkpoint, and the interface by which Restart reads it from either of its two sources."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class StoredVariable:
    """A variable of a checkpoint."""

    name: str
    mesh: str
    dtype: np.dtype[Any]
    components: int
    centering: int  # bit a is set where points are nodes along axis a
    order: str  # "column": arrays have the axes [k, j, i], "row": [i, j, k]; components are last
    is_list: bool  # read_list, not read_box
    lo: tuple[int, int, int]  # its points on level 0: first index and last index + 1 of i, j, k; not for lists
    hi: tuple[int, int, int]
    length: int  # for a list: its length over all blocks
    role: str  # its role for its mesh; empty for values on it
    owned: bool  # no two blocks share points, and boxes of blocks count points


@dataclass(frozen=True)
class StoredBlock:
    """A block as it was published."""

    id: int
    level: int
    client: int
    lo: tuple[int, int, int]  # cells, or owned points, of i, j, k; for a list of n cells 0 to n along i
    hi: tuple[int, int, int]
    points: int  # lengths of lists
    corners: int
    faces: int


class Source(Protocol):
    """A checkpoint that was found undamaged. Arrays are contiguous, with the right type and shape."""

    iteration: tuple[int, int, float]  # index, cycle, time
    remarks: list[str]
    meshes: tuple[str, ...]
    variables: dict[str, StoredVariable]

    def blocks(self, mesh: str) -> list[StoredBlock]: ...
    def read_box(self, of: StoredVariable, level: int, lo: list[int], hi: list[int], out: NDArray[Any]) -> None: ...
    def read_list(self, of: StoredVariable, first: int, count: int, out: NDArray[Any]) -> None: ...
    def read_block(self, of: StoredVariable, block: StoredBlock, out: NDArray[Any]) -> None: ...
    def close(self) -> None: ...
