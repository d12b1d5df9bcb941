"""Grids in VTK's XML files, put together from their pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lazy import Chunks, Index, LazyArray
from .parts import components_of, named, source_of
from .xml import InlineArray, Piece, XmlFile, parse


@dataclass(frozen=True)
class _Part:
    """An array of one piece, and the points of the whole grid that it holds: (k, j, i)."""

    array: InlineArray
    lo: tuple[int, ...]
    hi: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GridArray(LazyArray):
    """An array over a grid, put together from pieces; where pieces share points the later one counts."""

    parts: Sequence[_Part] = field(repr=False)
    kept: tuple[int, ...] = ()  # the axes of (k, j, i) that the mesh has
    lo: tuple[int, int, int] = (0, 0, 0)
    hi: tuple[int, int, int] = (0, 0, 0)

    def _wanted(self, index: Index) -> tuple[list[int], list[int]]:
        """The box of (k, j, i) that contains the whole index."""
        low, high = list(self.lo), list(self.hi)
        for axis, k in zip(self.kept, index, strict=False):
            ends = (k.start, k.stop) if isinstance(k, slice) else (k, k + 1)
            low[axis], high[axis] = self.lo[axis] + ends[0], self.lo[axis] + min(ends[1], self.hi[axis] - self.lo[axis])
        return low, high

    def _read(self, index: Index) -> NDArray[Any]:
        low, high = self._wanted(index)
        more = self.shape[len(self.kept) :]
        extents = _extents(low, high)
        whole = np.full((*extents, *more), np.nan if self.dtype.kind == "f" else 0, self.dtype)
        for part in self.parts:
            first = [max(a, b) for a, b in zip(low, part.lo, strict=True)]
            last = [min(a, b) for a, b in zip(high, part.hi, strict=True)]
            if all(a < b for a, b in zip(first, last, strict=True)):
                values = part.array.read().reshape(*_extents(part.lo, part.hi), *more)
                whole[_inside(first, last, low)] = values[_inside(first, last, part.lo)]
        left = whole.reshape(*(extents[axis] for axis in self.kept), *more)
        return left[self._of_box(index)]

    def _of_box(self, index: Index) -> Index:
        """The index within the box, whose axes begin at the first wanted element."""
        own = [slice(None, None, k.step) if isinstance(k, slice) else 0 for k in index[: len(self.kept)]]
        return (*own, *index[len(self.kept) :])


def _extents(low: Sequence[int], high: Sequence[int]) -> list[int]:
    return [max(b - a, 0) for a, b in zip(low, high, strict=True)]


def _inside(first: Sequence[int], last: Sequence[int], origin: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(a - o, b - o) for a, b, o in zip(first, last, origin, strict=True))


class Grid:
    """Converts a grid to arrays: its axes, and its pieces with the extent of each."""

    def __init__(self, file: XmlFile) -> None:
        extent = [int(n) for n in file.attributes["WholeExtent"].split()]
        self.file, self.whole = file, extent
        # Those of three axes along which there are cells; a grid of points only has none.
        self.kept = tuple(a for a in (2, 1, 0) if extent[2 * a + 1] > extent[2 * a])
        self.pieces = list(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        # Gaps first, then blocks from the last to the first: where they share points the lowest block counts.
        last_first = self.file.pieces[::-1]
        gaps = [piece for piece in last_first if not _is_block(piece)]
        for piece in gaps + [piece for piece in last_first if _is_block(piece)]:
            if "Source" not in piece.attributes:
                yield piece
                continue
            for own in parse(source_of(self.file.path, piece.attributes["Source"])).pieces:
                yield Piece(piece.attributes, own.sections)

    def _box(self, extent: Sequence[int], nodes: bool) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """First and last index plus 1, of (k, j, i)."""
        lo = tuple(extent[2 * a] for a in (2, 1, 0))
        hi = tuple(extent[2 * a + 1] + (1 if nodes or extent[2 * a + 1] == extent[2 * a] else 0) for a in (2, 1, 0))
        return lo, hi  # type: ignore[return-value]

    def _chunks(self, axis: int, nodes: bool) -> tuple[int, ...]:
        edges = {e for piece in self.pieces for e in piece.extent()[2 * axis : 2 * axis + 2]}
        cuts = sorted(edges | set(self.whole[2 * axis : 2 * axis + 2]))
        sizes = [int(n) for n in np.diff(cuts)]
        return (*sizes[:-1], sizes[-1] + (1 if nodes else 0))

    def array(self, section: str, name: str) -> GridArray:
        nodes = section != "CellData"
        held = [(p, p.sections[section][name]) for p in self.pieces if name in p.sections.get(section, {})]
        parts = [_Part(array, *self._box(piece.extent(), nodes)) for piece, array in held]
        lo, hi = self._box(self.whole, nodes)
        dims, shape = components_of(held[0][1].components)
        axes = tuple(f"{'xyz'[a]}{'_node' if nodes else ''}" for a in self.kept)
        chunks: Chunks = (*(self._chunks(a, nodes) for a in self.kept), *((n,) for n in shape))
        return GridArray(
            (*axes, *dims),
            (*(hi[2 - a] - lo[2 - a] for a in self.kept), *shape),
            held[0][1].dtype,
            {"centering": "node" if nodes else "cell"},
            chunks,
            parts,
            tuple(2 - a for a in self.kept),
            lo,
            hi,
        )

    def arrays(self) -> dict[str, LazyArray]:
        sections = ["CellData", "PointData"] + (["Points"] if self.file.kind.endswith("StructuredGrid") else [])
        names = {s: dict.fromkeys(n for p in self.pieces for n in p.sections.get(s, {})) for s in sections}
        return named({s: {n: self.array(s, n) for n in names[s]} for s in sections})

    def coords(self) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
        found = {}
        for axis in self.kept:
            nodes = self._nodes(axis)
            if nodes is not None:
                name = "xyz"[axis]
                found[f"{name}_node"] = ((f"{name}_node",), nodes)
                found[name] = ((name,), self._centres(axis, nodes))
        return found

    def _nodes(self, axis: int) -> NDArray[np.float64] | None:
        first, last = self.whole[2 * axis : 2 * axis + 2]
        if self.file.kind.endswith("ImageData"):
            return self._along(axis, np.arange(first, last + 1))
        if not self.file.kind.endswith("RectilinearGrid"):
            return None
        nodes = np.full(last - first + 1, np.nan)
        for piece in self.pieces:
            lo, hi = piece.extent()[2 * axis : 2 * axis + 2]
            nodes[lo - first : hi - first + 1] = piece.sections["Coordinates"]["xyz"[axis]].read()
        return nodes

    def _centres(self, axis: int, nodes: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.file.kind.endswith("ImageData"):
            return self._along(axis, np.arange(self.whole[2 * axis], self.whole[2 * axis + 1]) + 0.5)
        return (nodes[1:] + nodes[:-1]) / 2

    def _along(self, axis: int, index: NDArray[Any]) -> NDArray[np.float64]:
        origin, spacing = (float(self.file.attributes[n].split()[axis]) for n in ("Origin", "Spacing"))
        return origin + spacing * index


def _is_block(piece: Piece) -> bool:
    return not Path(piece.attributes.get("Source", "")).name.startswith("gap-")
