"""Tables: CSV files, and lists of the pieces of one, as NumPy's structured arrays."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error

# Columns that count or number something. All other columns of numbers are real, even if every value happens to be
# whole, so that a column has the same type in every run.
WHOLE = {"iteration", "cycle", "rank", "component", "bin", "count", "nan", "infinite", "blocks", "bytes", "layer_bytes"}
# Columns of halos, of their histories and profiles, and of merge trees.
WHOLE |= {"halo", "cells", "outside", "shell", "query", "question", "connected", "peak_index", "peak_level"}
WHOLE |= {"track", "progenitors", "other_track", "shared", "previous_iteration"}
WHOLE |= {"birth_index", "saddle_index", "into_index", "cell_index", "top_index"}
WHOLE |= {f"{name}_{axis}" for name in ("peak", "low", "high") for axis in "ijk"}


def _column(name: str, texts: Sequence[str]) -> NDArray[Any]:
    """The values of a column: whole numbers, real numbers with NaN where there is none, or texts."""
    if name in WHOLE:
        try:
            return np.array([int(text) for text in texts], np.int64)
        except ValueError:
            pass
    try:
        if not any(texts) and texts:
            raise ValueError("nothing says that it would be numbers")
        return np.array([float(text or "nan") for text in texts], np.float64)
    except ValueError:
        longest = max((len(text) for text in texts), default=1)
        return np.array(texts, f"U{max(longest, 1)}")


def once(names: Sequence[str], before: Sequence[str] = ()) -> list[str]:
    """Makes names unique: the second `time` becomes `time_2`. NumPy's arrays cannot have duplicate names, but files
    may: analyses can write columns that the library writes, too."""
    taken, made = set(before), []
    for name in names:
        own, number = name, 2
        while own in taken:
            own, number = f"{name}_{number}", number + 1
        taken.add(own)
        made.append(own)
    return made


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], path: Path) -> NDArray[Any]:
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise Error(
                f"{path}: row {number} has {len(row)} entries, expected {len(header)}, those of the header; "
                "the file may still be written",
                Code.FILE,
            )
    header = once(header)
    columns = [_column(name, [row[n] for row in rows]) for n, name in enumerate(header)]
    table = np.empty(len(rows), [(name, values.dtype) for name, values in zip(header, columns, strict=True)])
    for name, values in zip(header, columns, strict=True):
        table[name] = values
    return table


def _rows(path: Path) -> Iterator[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.reader(file)


def read_csv(path: Path) -> NDArray[Any]:
    """A table with the names of its columns."""
    return _with_header(list(_rows(path)), path)


def _with_header(rows: Sequence[Sequence[str]], path: Path) -> NDArray[Any]:
    if not rows:
        raise Error(f"{path}: the file is empty, expected a header line of a table", Code.FILE)
    return _table(rows[0], rows[1:], path)


def read_growing(path: Path, wanted: Callable[[str], str]) -> NDArray[Any]:
    """Reads a table to which rows may be added meanwhile, without an incomplete last row. `wanted` gets the header line
    and returns the beginning of the lines to be read; empty: all."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    begins = wanted(whole[0].strip()) if whole else ""
    return _with_header(list(csv.reader(whole[:1] + [line for line in whole[1:] if line.startswith(begins)])), path)


def read_pieces(path: Path) -> NDArray[Any]:
    """The rows of all pieces that a `.pieces` file lists, in their order."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        names, columns, count = [piece["file"] for piece in listed["pieces"]], listed["columns"], listed["rows"]
    except (ValueError, KeyError, TypeError) as problem:
        raise Error(f"{path}: this is no list of the pieces of a table ({problem})", Code.FILE) from problem
    rows: list[list[str]] = []
    for name in names:
        rows += list(_rows(path.parent / name))[1:]
    if len(rows) != count:
        raise Error(f"{path}: its pieces have {len(rows)} rows, expected {count}", Code.FILE)
    return _table(columns, rows, path)
