"""Surfaces, cells and points in VTK's XML files, pieces one after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Code, Error
from ..lazy import Index, LazyArray
from .parts import components_of, named, source_of
from .xml import InlineArray, Piece, XmlFile, length_of, parse

# Number of corners of the cells of each section of a surface, and the cells' name.
CORNERS = {"Verts": (1, "vertices"), "Lines": (2, "lines"), "Polys": (3, "triangles")}


@dataclass(frozen=True, eq=False)
class JoinedArray(LazyArray):
    """Arrays of several pieces one after the other. `shifts` are added: points are counted within their piece."""

    parts: Sequence[InlineArray] = field(repr=False)
    shifts: Sequence[int] = field(default=(), repr=False)

    def _read(self, index: Index) -> NDArray[Any]:
        ends = np.cumsum([0, *self.chunks[0]])
        first = index[0]
        low, high = (first.start, first.stop) if isinstance(first, slice) else (first, first + 1)
        read, start = [], 0
        for n, part in enumerate(self.parts):
            if ends[n] < high and ends[n + 1] > low:
                start = int(ends[n]) if not read else start
                values = part.read().reshape(-1, *self.shape[1:])
                read.append(values + self.shifts[n] if self.shifts and self.shifts[n] else values)
        whole = np.concatenate(read) if read else np.empty((0, *self.shape[1:]), self.dtype)
        own = slice(low - start, high - start, first.step) if isinstance(first, slice) else first - start
        return whole[(own, *index[1:])].astype(self.dtype, copy=False)


class Lists:
    """Converts a surface or a set of cells to arrays."""

    def __init__(self, file: XmlFile) -> None:
        self.file = file
        self.pieces: list[Piece] = []
        for piece in file.pieces:
            source = piece.attributes.get("Source")
            self.pieces += [piece] if source is None else parse(source_of(file.path, source)).pieces
        self.points = self._counts("NumberOfPoints")

    def _counts(self, *names: str) -> list[int]:
        return [sum(int(piece.attributes.get(name, 0)) for name in names) for piece in self.pieces]

    def _joined(self, section: str, name: str, dim: str, counts: Sequence[int], **more: Any) -> JoinedArray | None:
        """An array over all pieces that have any; None if one lacks it."""
        used = [n for n, count in enumerate(counts) if count] or range(len(self.pieces))
        held = [(n, self.pieces[n].sections.get(section, {}).get(name)) for n in used]
        arrays = [array for _, array in held if array is not None]
        if not arrays or len(arrays) < len(held):
            return None
        width = more.get("width", arrays[0].components)
        dims, shape = ((f"{dim}_corner",), (width,)) if "width" in more and width > 1 else components_of(width)
        shifts = [more["shifts"][n] for n, _ in held] if "shifts" in more else ()
        sizes = tuple(counts[n] for n, _ in held)
        kind = np.result_type(*(array.dtype for array in arrays))
        chunks = (sizes, *((n,) for n in shape))
        return JoinedArray((dim, *dims), (sum(sizes), *shape), kind, {}, chunks, arrays, shifts)

    def _names(self, section: str) -> dict[str, None]:
        return dict.fromkeys(name for piece in self.pieces for name in piece.sections.get(section, {}))

    def _values(self, section: str, dim: str, counts: Sequence[int]) -> dict[str, LazyArray]:
        found = {name: self._joined(section, name, dim, counts) for name in self._names(section)}
        return {name: array for name, array in found.items() if array is not None}

    def _before(self, counts: Sequence[int]) -> list[int]:
        return [int(n) for n in np.cumsum([0, *counts])[:-1]]

    def _corners(self) -> Iterator[tuple[str, LazyArray]]:
        for section, (width, name) in CORNERS.items():
            counts = self._counts(f"NumberOf{section}")
            found = self._joined(section, "connectivity", name, counts, width=width, shifts=self._before(self.points))
            if found is None:
                continue
            if length_of(found.parts[0]) != width * found.chunks[0][0]:
                raise Error(f"{found.parts[0].path}: {section} have other than {width} corners each", Code.FILE)
            yield name, found

    def _cells(self, counts: Sequence[int]) -> Iterator[tuple[str, LazyArray]]:
        """The arrays of cells of any type, in VTK's form: `offsets` are where each cell ends in the connectivity."""
        if "connectivity" in self._names("Cells"):
            held = [
                p.sections["Cells"].get("connectivity") if n else None for p, n in zip(self.pieces, counts, strict=True)
            ]
            lengths = [length_of(array) if array else 0 for array in held]
            plans = {
                "connectivity": ("link", lengths, self._before(self.points)),
                "offsets": ("cell", counts, self._before(lengths)),
                "types": ("cell", counts, [0] * len(counts)),
            }
            for name, (dim, sizes, shifts) in plans.items():
                found = self._joined("Cells", name, dim, sizes, shifts=shifts)
                if found is not None:
                    yield name, found

    def arrays(self) -> dict[str, LazyArray]:
        cells = self._counts("NumberOfCells", "NumberOfVerts", "NumberOfLines", "NumberOfPolys")
        places = self._values("Points", "point", self.points)
        sections = {
            "PointData": self._values("PointData", "point", self.points),
            "CellData": self._values("CellData", "cell", cells),
            "Points": {"points" if name == "Points" else name: array for name, array in places.items()},
            "Cells": dict([*self._corners(), *self._cells(self._counts("NumberOfCells"))]),
        }
        return named(sections)
