"""A part of a variable of a context, put together from its blocks."""

import numpy as np
from numpy.typing import NDArray

from .stored import Context, Piece, Variable

Three = NDArray[np.int64]


def _fill(context: Context, variable: Variable, piece: Piece, lo: Three, hi: Three, out: NDArray, first: Three) -> None:
    """Copies the points `lo` to `hi` of a piece into `out`, whose first point is `first`."""
    shape = context.shape(variable, piece.lo, piece.hi)
    axes = slice(None) if variable.order == "row" else slice(None, None, -1)
    inside = tuple(slice(int(a), int(b)) for a, b in zip(lo - piece.lo, hi - piece.lo, strict=True))[axes]
    place = tuple(slice(int(a), int(b)) for a, b in zip(lo - first, hi - first, strict=True))[axes]
    # Along the slowest axis only requested values are read.
    row = int(np.prod(shape[1:]))
    begin, end = inside[0].start, inside[0].stop
    values = context.read(variable, piece, begin * row, end * row).reshape(end - begin, *shape[1:])
    out[place] = values[(slice(None), *inside[1:])]


def read_region(
    context: Context, variable: Variable, level: int, lo: Three, hi: Three, pieces: list[Piece]
) -> tuple[NDArray, NDArray[np.bool_]]:
    """Reads the points `lo` to `hi` of a level, and a mask of those that were in a block. Axes are those of
    Context.shape. `pieces` are ordered by id: a point that several pieces have comes from the first."""
    shape = context.shape(variable, lo, hi)
    dtype = variable.dtype.newbyteorder("=")
    out = np.full(shape, np.nan if dtype.kind == "f" else 0, dtype)
    covered = np.zeros(shape[:-1], np.bool_)
    axes = slice(None) if variable.order == "row" else slice(None, None, -1)
    for piece in reversed(pieces):
        a, b = np.maximum(lo, piece.lo), np.minimum(hi, piece.hi)
        if piece.block["level"] != level or np.any(a >= b):
            continue
        _fill(context, variable, piece, a, b, out, lo)
        covered[tuple(slice(int(x), int(y)) for x, y in zip(a - lo, b - lo, strict=True))[axes]] = True
    return out, covered


def read_stretch(context: Context, variable: Variable, first: int, past: int, pieces: list[Piece]) -> NDArray:
    """Reads the values `first` to `past` of a list over all blocks, by ascending id. The last axis is that of
    components."""
    parts, at = [], 0
    for piece in pieces:
        count = int(piece.hi[0])
        a, b = max(first - at, 0), min(past - at, count)
        if a < b:
            parts.append(context.read(variable, piece, a * variable.components, b * variable.components))
        at += count
    dtype = variable.dtype.newbyteorder("=")
    return (np.concatenate(parts) if parts else np.empty(0, dtype)).reshape(-1, variable.components)
