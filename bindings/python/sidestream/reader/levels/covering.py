"""A region of a refined mesh at one resolution."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .cells import Cells
from .sources import RefinedMesh

Finer = Literal["mean", "sample"]
ValuesOf = Callable[[int, NDArray[np.bool_]], NDArray[Any]]  # values of the chosen cells of a level
Box = tuple[NDArray[np.int64], NDArray[np.int64]]


def _chosen(cells: Cells, lo: NDArray[np.int64], hi: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True for leaves in a box of their own level."""
    return cells.counted & np.all((cells.index >= lo) & (cells.index < hi), axis=1)


def _flat(index: NDArray[np.int64], lo: NDArray[np.int64], hi: NDArray[np.int64]) -> NDArray[np.int64]:
    extents = hi - lo
    return (index - lo) @ np.array([1, extents[0], extents[0] * extents[1]])


def _refined_grid(grid: NDArray[Any], now: Box, ratio: NDArray[np.int64], wanted: Box) -> NDArray[Any]:
    """The grid refined to the next level and cut to `wanted`."""
    for axis in range(3):
        grid = np.repeat(grid, int(ratio[axis]), axis=2 - axis)
    first, past = wanted[0] - now[0] * ratio, wanted[1] - now[0] * ratio
    return grid[tuple(slice(int(a), int(b)) for a, b in zip(first[::-1], past[::-1], strict=True))]


def _from_coarser(
    mesh: RefinedMesh, cells: list[Cells], values: ValuesOf, level: int, box: Box, like: NDArray[Any]
) -> NDArray[Any]:
    """The values from cells of the level and of coarser ones. The box of each level contains that of the next one."""
    lo, hi = box
    boxes = [(lo // mesh.ratio(n, level), -(-hi // mesh.ratio(n, level))) for n in range(level + 1)]
    grid = np.empty(0)
    for n in range(level + 1):
        low, high = boxes[n]
        if n == 0:
            fill = np.nan if like.dtype.kind == "f" else 0
            grid = np.full((*(int(e) for e in (high - low)[::-1]), *like.shape[1:]), fill, like.dtype)
        else:
            grid = _refined_grid(grid, boxes[n - 1], mesh.ratio(n - 1, n), boxes[n])
        if n < len(cells):
            chosen = _chosen(cells[n], low, high)
            if chosen.any():
                k, j, i = (cells[n].index[chosen] - low).T[::-1]
                grid[k, j, i] = values(n, chosen)
    return grid


def _add_means(grid: NDArray[Any], mesh: RefinedMesh, cells: list[Cells], values: ValuesOf, level: int, box: Box):
    lo, hi = box
    flat = grid.reshape(-1, *grid.shape[3:])
    weights, sums = np.zeros(len(flat)), np.zeros(flat.shape)
    # The finest first: their shares of a cell are the smallest.
    for n in range(len(cells) - 1, level, -1):
        ratio = mesh.ratio(level, n)
        chosen = _chosen(cells[n], lo * ratio, hi * ratio)
        if not chosen.any():
            continue
        at, share = _flat(cells[n].index[chosen] // ratio, lo, hi), 1 / np.prod(ratio)
        np.add.at(weights, at, share)
        np.add.at(sums, at, values(n, chosen) * share)
    known = weights > 0
    share = weights[known].reshape(-1, *(1,) * (sums.ndim - 1))
    # A patch may end within a coarse cell, which then provides the rest.
    rest = np.where(share < 1, flat[known] * (1 - share), 0)
    flat[known] = np.where(np.isnan(rest), sums[known] / share, sums[known] + rest)


def _put_samples(grid: NDArray[Any], mesh: RefinedMesh, cells: list[Cells], values: ValuesOf, level: int, box: Box):
    lo, hi = box
    for n in range(level + 1, len(cells)):
        ratio = mesh.ratio(level, n)
        chosen = _chosen(cells[n], lo * ratio, hi * ratio)
        chosen &= np.all(cells[n].index % ratio == ratio // 2, axis=1)
        if chosen.any():
            k, j, i = (cells[n].index[chosen] // ratio - lo).T[::-1]
            grid[k, j, i] = values(n, chosen)


def covering_values(
    mesh: RefinedMesh, cells: list[Cells], values: ValuesOf, level: int, box: Box, finer: Finer, like: NDArray[Any]
) -> NDArray[Any]:
    """Returns the region with axes k, j, i, and components. `like` is an empty array with the type and components of
    the variable. Places without any block get NaN, or 0 for whole numbers."""
    as_real = like.astype(np.float64) if finer == "mean" and like.dtype.kind != "f" else like
    grid = np.ascontiguousarray(_from_coarser(mesh, cells, values, level, box, as_real))
    if finer == "mean":
        wide = grid.astype(np.float64, copy=False)
        _add_means(wide, mesh, cells, values, level, box)
        return wide.astype(as_real.dtype, copy=False)
    _put_samples(grid, mesh, cells, values, level, box)
    return grid
