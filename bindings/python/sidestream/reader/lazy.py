"""Arrays in files, read when they are indexed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from .damages import reading
from .precision import values_of

Index = tuple[int | slice, ...]
Chunks = tuple[tuple[int, ...], ...]

# Attributes of one iteration; over time they are coordinates.
OF_ITERATION = ("iteration", "cycle", "time")


def _full(key: Any, rank: int) -> Index:
    """Completes an index of whole numbers and slices to one for each axis."""
    given = key if isinstance(key, tuple) else (key,)
    if any(k is Ellipsis for k in given):
        at = next(n for n, k in enumerate(given) if k is Ellipsis)
        fill = (slice(None),) * (rank - len(given) + 1)
        given = given[:at] + fill + given[at + 1 :]
    if len(given) > rank:
        raise IndexError(f"{len(given)} indices for an array of {rank} axes")
    given += (slice(None),) * (rank - len(given))
    return tuple(k if isinstance(k, slice) else k.__index__() for k in given)


def _forward(index: slice, size: int) -> tuple[slice, bool]:
    """Returns the same elements in ascending order, and True if they have to be reversed afterwards."""
    start, stop, step = index.indices(size)
    count = len(range(start, stop, step))
    if step > 0 or count == 0:
        return slice(start, max(start, stop), max(step, 1)) if count else slice(0, 0), False
    return slice(start + step * (count - 1), start + 1, -step), True


@dataclass(frozen=True, eq=False)
class LazyArray:
    """An array that reads only the requested parts. `numpy.asarray` reads all of it."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attrs: Mapping[str, Any]
    chunks: Chunks  # along each axis: sizes of parts that are best read at once

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def _read(self, index: Index) -> NDArray[Any]:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> NDArray[Any]:
        index, turn = [], []
        for k, size in zip(_full(key, self.ndim), self.shape, strict=True):
            if isinstance(k, slice):
                forward, turned = _forward(k, size)
                index.append(forward)
                turn.append(slice(None, None, -1 if turned else 1))
            elif -size <= k < size:
                index.append(k % size)
            else:
                raise IndexError(f"index {k} is out of bounds for an axis of {size}")
        return self._read(tuple(index))[tuple(turn)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array in a file cannot be had without a copy")
        return np.asarray(self[...], dtype)

    def __len__(self) -> int:
        return self.shape[0]


@dataclass(frozen=True, eq=False)
class FileArray(LazyArray):
    """A dataset of an HDF5 file, which is open only while it is read."""

    path: Path
    name: str

    def _read(self, index: Index) -> NDArray[Any]:
        with reading(f"{self.path}: {self.name}"), h5py.File(self.path, "r") as file:
            return values_of(file[self.name], index, self.dtype)


@dataclass(frozen=True, eq=False)
class StackedArray(LazyArray):
    """Arrays of several iterations, with the axis of iterations first. None stands for an iteration without such an
    array; it reads as NaN, or 0 for whole numbers, like points that no block covers."""

    parts: Sequence[LazyArray | None] = field(repr=False)

    def _read(self, index: Index) -> NDArray[Any]:
        first, rest = index[0], index[1:]
        if isinstance(first, slice):
            steps = [self._one(n, rest) for n in range(*first.indices(len(self.parts)))]
            empty = np.empty((0, *np.empty(self.shape[1:], np.bool_)[rest].shape), self.dtype)
            return np.stack(steps) if steps else empty
        return self._one(first, rest)

    def _one(self, number: int, index: Index) -> NDArray[Any]:
        part = self.parts[number]
        if part is not None:
            return part[index].astype(self.dtype, copy=False)
        fill = np.nan if self.dtype.kind == "f" else 0
        return np.broadcast_to(np.array(fill, self.dtype), self.shape[1:])[index].copy()


@dataclass(eq=False)
class Fields(Mapping[str, LazyArray]):
    """The content of one file, or of a series of them: arrays by name, positions along their axes, attributes."""

    path: Path
    arrays: dict[str, LazyArray]
    coords: dict[str, tuple[tuple[str, ...], NDArray[Any]]]
    attrs: dict[str, Any]
    about: dict[str, dict[str, str]] = field(default_factory=dict)  # attributes of `coords`

    def __getitem__(self, name: str) -> LazyArray:
        return self.arrays[name]

    def __iter__(self):
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)
