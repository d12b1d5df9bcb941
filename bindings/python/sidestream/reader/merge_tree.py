"""Queries, after a run, of merge trees that the analysis `merge_tree` has written. See docs/cosmology.md."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Code, Error
from .tables import read_csv, read_pieces

Column = NDArray[Any]
_TREE = ("birth_index", "birth", "saddle_index", "death", "into_index")
_CELLS = ("cell_index", "value", "top_index")
_ROWS_AT_ONCE = 1 << 20


class _File(Mapping[str, Any]):
    """Columns of a table; those of HDF5 are each read on access."""

    def __init__(self, path: Path, names: tuple[str, ...]) -> None:
        if not path.is_file():
            raise Error(f"{path}: there is no such file", Code.FILE)
        if path.suffix == ".h5":
            import h5py

            self._file: Any = h5py.File(path)
            self._names = list(self._file)
        else:
            self._file = read_pieces(path) if path.suffix == ".pieces" else read_csv(path)
            self._names = list(self._file.dtype.names)
        missing = [name for name in names if name not in self._names]
        if missing:
            raise Error(f"{path}: it has no column '{missing[0]}', expected {', '.join(names)}", Code.FILE)

    def __getitem__(self, name: str) -> Any:
        return self._file[name]

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _place(column: Any, wanted: int) -> int:
    """The position of a number in an ascending column that need not be in memory; -1: nowhere."""
    low, high = 0, len(column)
    while low < high:
        middle = (low + high) // 2
        if column[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(column) and column[low] == wanted else -1


class MergeTree:
    """The tree of a field's maxima. `path` is the table that `merge_tree` wrote (.csv, .pieces, .h5). `cells` is the
    table of its option `cells`, for queries about places other than maxima; only the needed parts of .h5 files are
    read.

    Places are linear indices (i nj + j) nk + k, counted from the mesh's lower end; `index_of` computes them. Of octrees
    and refinement levels they are the numbers in the tables.
    """

    def __init__(self, path: str | os.PathLike[str], cells: str | os.PathLike[str] | None = None) -> None:
        table = _File(Path(path), _TREE)
        self._cells = _File(Path(cells), _CELLS) if cells is not None else None
        self._kept: MergeTree | None = None  # for a simplified tree: the original one
        self._set(*(np.asarray(table[name][...]) for name in _TREE))

    def _set(self, index: Column, birth: Column, saddle: Column, death: Column, into: Column) -> None:
        order = np.argsort(index, kind="stable")
        self.maxima: NDArray[np.int64] = index[order].astype(np.int64)  #: places of the maxima, ascending
        self.birth, self.death = birth[order].astype(float), death[order].astype(float)
        self.saddles: NDArray[np.int64] = saddle[order].astype(np.int64)  #: the places at which they end; -1: nowhere
        into = into[order].astype(np.int64)
        row = np.searchsorted(self.maxima, into)
        self._into = np.where(into < 0, -1, row)
        known = (into < 0) | (self.maxima[np.minimum(row, len(self.maxima) - 1)] == into) if len(row) else np.empty(0)
        if not np.all(known):
            raise Error(
                f"a maximum leads to {into[~known][0]}, which is not in the table: it is not a whole one", Code.FILE
            )

    def __len__(self) -> int:
        return len(self.maxima)

    def __repr__(self) -> str:
        return f"<sidestream.MergeTree: {len(self)} maxima{'' if self._cells is None else ', with cells'}>"

    @property
    def persistence(self) -> NDArray[np.float64]:
        """The persistence of each maximum; infinite for those that never end."""
        return self.birth - self.death

    def pairs(self, persistence: float = 0) -> Column:
        """Maxima and the saddles at which they end, of at least that persistence, the most persistent first."""
        rows = np.flatnonzero(self.persistence >= persistence)
        rows = rows[np.lexsort((self.maxima[rows], -self.persistence[rows]))]
        pairs = np.empty(
            len(rows),
            [("birth_index", "i8"), ("birth", "f8"), ("saddle_index", "i8"), ("death", "f8"), ("persistence", "f8")],
        )
        columns = (self.maxima, self.birth, self.saddles, self.death, self.persistence)
        for name, column in zip(pairs.dtype.names, columns, strict=True):
            pairs[name] = column[rows]
        return pairs

    def simplify(self, persistence: float) -> "MergeTree":
        """The tree without branches of less persistence. Cells of a removed branch belong to the branch
        that it led to."""
        rows = self.persistence >= persistence
        into = np.where(self._into < 0, -1, self.maxima[self._into])
        fewer = MergeTree.__new__(MergeTree)
        fewer._cells, fewer._kept = self._cells, self
        fewer._set(self.maxima[rows], self.birth[rows], self.saddles[rows], self.death[rows], into[rows])
        return fewer

    def _rows_of(self, maxima: ArrayLike) -> NDArray[np.int64]:
        wanted = np.atleast_1d(np.asarray(maxima, np.int64))
        rows = np.minimum(np.searchsorted(self.maxima, wanted), max(len(self) - 1, 0))
        missing = np.ones(len(wanted), bool) if not len(self) else self.maxima[rows] != wanted
        if not missing.any():
            return rows
        if self._kept is None:
            raise Error(
                f"cell {wanted[missing][0]} is no maximum of this tree; give one of `maxima`, or open the tree with "
                "the cells that were kept beside it"
            )
        # In a simplified tree: follows the removed branches.
        before = self._kept
        gone = before._rows_of(wanted)
        while True:
            rows = np.minimum(np.searchsorted(self.maxima, before.maxima[gone]), max(len(self) - 1, 0))
            missing = self.maxima[rows] != before.maxima[gone]
            if not missing.any():
                return rows
            gone = np.where(missing, before._into[gone], gone)

    def _follow(self, rows: NDArray[np.int64], level: float) -> NDArray[np.int64]:
        while True:
            on = (self.death[rows] >= level) & (self._into[rows] >= 0)
            if not on.any():
                return rows
            rows = np.where(on, self._into[rows], rows)

    def component(self, maxima: ArrayLike, level: float) -> NDArray[np.int64]:
        """Returns for each maximum the highest maximum of its component of cells >= `level`."""
        return self.maxima[self._follow(self._rows_of(maxima), level)]

    def halos(self, boundary: float, halo: float) -> Column:
        """Components of cells >= `boundary` whose maximum is >= `halo`: `peak_index`, `peak_value`; with cells also
        `cells`, their number, and `sum` of their values (the mass after multiplication by a cell's volume). Of octrees
        and refinement levels also `volume`, and `mass`, the sum of values times volumes."""
        taken = np.flatnonzero((self.birth >= max(boundary, halo)) & ~(self.death >= boundary))
        sums = self._sums(boundary) if self._cells is not None else {}
        kinds = [(name, "i8" if name == "cells" else "f8") for name in sums]
        found = np.empty(len(taken), [("peak_index", "i8"), ("peak_value", "f8"), *kinds])
        found["peak_index"], found["peak_value"] = self.maxima[taken], self.birth[taken]
        for name, column in sums.items():
            found[name] = column[taken]
        return found

    def _sums(self, boundary: float) -> dict[str, Column]:
        """Sums over the component of each maximum."""
        assert self._cells is not None
        names = ["value", "top_index", *(name for name in self._cells if name == "volume")]
        sums = {"cells": np.zeros(len(self), np.int64), "sum": np.zeros(len(self))}
        if "volume" in names:
            sums |= {"volume": np.zeros(len(self)), "mass": np.zeros(len(self))}
        columns, lowest = [self._cells[name] for name in names], np.inf
        for start in range(0, len(columns[0]), _ROWS_AT_ONCE):
            values, tops, *volumes = (np.asarray(column[start : start + _ROWS_AT_ONCE]) for column in columns)
            lowest = min(lowest, values.min())
            above = values >= boundary
            rows = self._follow(self._rows_of(tops[above]), boundary)
            sums["cells"] += np.bincount(rows, minlength=len(self))
            sums["sum"] += np.bincount(rows, values[above], minlength=len(self))
            for volume in volumes:
                sums["volume"] += np.bincount(rows, volume[above], minlength=len(self))
                sums["mass"] += np.bincount(rows, values[above] * volume[above], minlength=len(self))
        if boundary < lowest:
            raise Error(
                f"the lowest cell that was kept is {lowest}, of those from {boundary} on some may be missing; keep "
                "more of them (`cells: {above: ...}` of `merge_tree`), or ask a tree without cells"
            )
        return sums

    def _cell(self, index: int) -> tuple[float, int]:
        """The value of a cell and the row of its maximum; -inf below everything that was kept."""
        row = int(np.searchsorted(self.maxima, index))
        if row < len(self) and self.maxima[row] == index:
            return float(self.birth[row]), row
        if self._cells is None:
            return -np.inf, int(self._rows_of(index)[0])
        place = _place(self._cells["cell_index"], index)
        if place < 0:
            return -np.inf, -1
        return float(self._cells["value"][place]), int(self._rows_of(self._cells["top_index"][place])[0])

    def highest(self, a: int, b: int) -> float:
        """Returns the highest level at which cells >= it connect two places. -inf: there is none, or it is below all
        cells that were kept."""
        (level, row), (other_level, other) = self._cell(int(a)), self._cell(int(b))
        level = min(level, other_level)
        if level == -np.inf:
            return level
        row, other = (int(self._follow(np.array([n]), level)[0]) for n in (row, other))
        while row != other:
            # Follows the branch that ends first, seen from above.
            if self.death[row] < self.death[other]:
                row, other = other, row
            if self._into[row] < 0:
                return -np.inf
            level = min(level, float(self.death[row]))
            row = int(self._into[row])
            row, other = (int(self._follow(np.array([n]), level)[0]) for n in (row, other))
        return level

    def connected(self, a: int, b: int, level: float) -> bool:
        """True if a path through cells >= `level` leads from one place to another."""
        return bool(self.highest(a, b) >= level > -np.inf)


def index_of(place: tuple[int, ...], size: tuple[int, ...]) -> int:
    """The linear index of a cell of a mesh of so many cells, all counted from 0."""
    return int(np.ravel_multi_index(place, size))
