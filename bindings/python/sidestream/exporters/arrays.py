"""Common parts of NetCDF and Zarr: arrays over time in one file, named dimensions, coordinates."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reader.lazy import LazyArray
from .parts import Job, slabs


@dataclass
class Shape:
    """The shape of a variable over all contexts."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attrs: dict[str, Any]
    chunks: tuple[int, ...]
    changes: bool = False  # the length of its first dimension varies between contexts
    lengths: dict[int, int] = field(default_factory=dict)  # by context: length of its first dimension


@dataclass
class Layout:
    """All variables and coordinates. `time` is the first dimension of each variable, or, if the variable changes, the
    one of each sample."""

    variables: dict[str, Shape]
    coords: dict[str, tuple[tuple[str, ...], NDArray[Any]]]
    times: dict[str, NDArray[Any]]  # time, cycle, iteration
    attrs: dict[str, Any]


def clean(name: str) -> str:
    """The name in the form of the CF conventions: letters, digits and underscores, a letter first."""
    cleaned = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return cleaned if cleaned[:1].isalpha() else f"v_{cleaned}"


def _merge(shapes: dict[str, Shape], name: str, array: LazyArray, number: int) -> None:
    chunks = tuple(max(sizes) for sizes in array.chunks)
    made = Shape(array.dims, array.shape, array.dtype, dict(array.attrs), chunks)
    found = shapes.setdefault(name, made)
    found.lengths[number] = array.shape[0]
    found.changes = found.changes or found.shape != array.shape
    if found.shape[1:] != array.shape[1:] or found.dtype != array.dtype:
        raise ValueError(f"'{name}' has the shape {array.shape} in one context and {found.shape} in another")


def layout_of(job: Job) -> Layout:
    """Examines all contexts, without their values. Coordinate arrays are those of the first context that has them."""
    shapes: dict[str, Shape] = {}
    coords: dict[str, tuple[tuple[str, ...], NDArray[Any]]] = {}
    attrs: dict[str, Any] = {}
    for number, slot in enumerate(job.slots):
        fields = job.fields(slot)
        for name, array in fields.items():
            _merge(shapes, name, array, number)
        for name, value in fields.coords.items():
            coords.setdefault(name, value)
        attrs = attrs or {"provenance": fields.attrs["provenance"]}
    changing = {shape.dims[0] for shape in shapes.values() if shape.changes}
    for shape in shapes.values():
        shape.changes = shape.dims[0] in changing
    coords = {name: value for name, value in coords.items() if not changing & set(value[0])}
    times = {
        "time": np.array([slot.time for slot in job.slots], np.float64),
        "cycle": np.array([slot.cycle for slot in job.slots], np.int64),
        "iteration": np.array([slot.iteration for slot in job.slots], np.int64),
    }
    return Layout(shapes, coords, times, attrs)


def parts_of(job: Job, layout: Layout) -> Iterator[tuple[str, int, slice, NDArray[Any]]]:
    """Gives name, number of the context, position along the first dimension, values."""
    for number, slot in enumerate(job.slots):
        for name, array in job.fields(slot).items():
            for part, values in slabs(array, _rows(layout.variables[name])):
                yield name, number, part, values


def _rows(shape: Shape) -> int:
    """Number of rows per part: whole chunks at a time."""
    row = max(1, int(np.prod(shape.shape[1:]))) * shape.dtype.itemsize
    return max(1, shape.chunks[0]) * max(1, (32 << 20) // (row * max(1, shape.chunks[0])))
