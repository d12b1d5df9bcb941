"""Results of several iterations: the files that an index over time lists."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error
from .fields import read_hdf5
from .lazy import OF_ITERATION, Fields, LazyArray, StackedArray
from .pictures import read_picture
from .tables import once, read_csv, read_pieces
from .vtk.files import read_vtk
from .vtk.hdf import read_vtkhdf

_XML = ("vti", "vtr", "vts", "vtu", "vtp")
# Attributes of statistics over time, which differ between iterations.
_OF_WINDOW = ("time_begin", "time_end", "window_iterations")
# The functions that read the arrays of one iteration.
READERS: dict[str, Callable[[Path], Any]] = {
    ".h5": read_hdf5,
    **{f".{p}{ending}": read_vtk for p in ("", "p") for ending in _XML},
    ".vtkhdf": read_vtkhdf,
    ".png": read_picture,
}


@dataclass(frozen=True)
class Entry:
    """A file of the series."""

    path: Path
    time: float
    cycle: int
    iteration: int


def entries_of(index: Path) -> list[Entry]:
    """Reads the entries of a `.series` file, and the newest ones, which are not in it while its run continues."""
    try:
        listed: list[Any] = json.loads(index.read_text(encoding="utf-8"))["files"]
        rest = index.parent / f".{index.name}.rest"
        if rest.is_file():
            lines = rest.read_text(encoding="utf-8").split("\n")[:-1]  # the last one is still being written
            listed += [json.loads(line) for line in lines if line]
        found = [
            Entry(index.parent / f["name"], float(f["time"]), int(f["cycle"]), int(f["iteration"])) for f in listed
        ]
    except (ValueError, KeyError, TypeError) as problem:
        raise Error(f"{index}: this is no index over time ({problem})", Code.FILE) from problem
    return list({entry.path: entry for entry in found}.values())


def _stacked(name: str, files: list[Fields]) -> LazyArray | None:
    """The array over all files; None if its shape changes. Values of an iteration without an entry are missing."""
    parts = [file.arrays.get(name) for file in files]
    if any(part is not None and 0 not in part.shape for part in parts):
        parts = [None if part is not None and 0 in part.shape else part for part in parts]
    first = next(part for part in parts if part is not None)
    dtypes = [part.dtype for part in parts if part is not None]
    # Reals may be stored with less precision in some iterations: docs/precision.md.
    dtype = np.result_type(*dtypes) if all(found.kind == "f" for found in dtypes) else first.dtype
    if any(part is not None and part.shape != first.shape for part in parts) or set(dtypes) - {first.dtype, dtype}:
        return None
    attrs = {key: value for key, value in first.attrs.items() if key not in ("missing", *_OF_WINDOW)}
    chunks = ((1,) * len(parts), *first.chunks)
    return StackedArray(("time", *first.dims), (len(parts), *first.shape), dtype, attrs, chunks, parts)


def _spans(files: list[Fields]) -> NDArray[np.float64] | None:
    """The intervals of time that the arrays of each file stand for (docs/time-statistics.md), if they all have one."""
    spans = []
    for file in files:
        found = {(a.attrs.get("time_begin"), a.attrs.get("time_end")) for a in file.arrays.values()}
        if len(found) != 1 or None in (span := found.pop()):
            return None
        spans.append(span)
    return np.array(spans, np.float64)


def over_time(index: Path, entries: list[Entry]) -> Fields:
    """The arrays of all files, iterations first."""
    return stacked(index, [READERS[entry.path.suffix](entry.path) for entry in entries], entries)


def stacked(index: Path, files: list[Fields], entries: list[Entry] | None = None) -> Fields:
    """The arrays of several iterations, iterations first; these come from `entries`, or from the attributes."""
    names = list(dict.fromkeys(name for file in files for name in file))
    arrays, changing = {}, []
    for name in names:
        array = _stacked(name, files)
        if array is None:
            changing.append(name)
        else:
            arrays[name] = array
    coords = {name: value for file in reversed(files) for name, value in file.coords.items()}
    used = {dim for array in arrays.values() for dim in array.dims}
    coords = {name: value for name, value in coords.items() if set(value[0]) <= used}
    for name in OF_ITERATION:
        numbers = [getattr(e, name) for e in entries] if entries is not None else [file.attrs[name] for file in files]
        coords[name] = (("time",), np.array(numbers))
    attrs = {key: value for key, value in files[0].attrs.items() if key not in (*OF_ITERATION, "files")}
    if changing:
        attrs["changing"] = changing  # shapes differ between iterations: open their files one by one
    about = {name: value for file in reversed(files) for name, value in file.about.items() if name in coords}
    spans = _spans(files)
    if spans is not None:
        coords["time_bnds"] = (("time", "bnds"), spans)
        about["time"] = {"bounds": "time_bnds"}
    return Fields(index, arrays, coords, attrs, about)


def _rows_over_time(index: Path, entries: list[Entry]) -> NDArray[Any]:
    tables = [read_pieces(e.path) if e.path.suffix == ".pieces" else read_csv(e.path) for e in entries]
    before = [("iteration", np.int64), ("cycle", np.int64), ("time", np.float64)]
    columns = tables[0].dtype.names or ()
    own = once(columns, OF_ITERATION)
    kinds = [
        (mine, np.result_type(*(table.dtype[name] for table in tables)))
        for name, mine in zip(columns, own, strict=True)
    ]
    whole = np.empty(sum(len(table) for table in tables), before + kinds)
    row = 0
    for entry, table in zip(entries, tables, strict=True):
        part = whole[row : row + len(table)]
        for name in OF_ITERATION:
            part[name] = getattr(entry, name)
        for name, mine in zip(columns, own, strict=True):
            part[mine] = table[name]
        row += len(table)
    return whole


def read_series(index: Path) -> Fields | NDArray[Any]:
    """Fields over time, or the rows of all tables, preceded by the columns iteration, cycle and time."""
    entries = entries_of(index)
    if not entries:
        raise Error(f"{index}: it lists no files; nothing has been written yet", Code.FILE)
    endings = {entry.path.suffix for entry in entries}
    if endings <= set(READERS):
        return over_time(index, entries)
    if endings <= {".csv", ".pieces"}:
        return _rows_over_time(index, entries)
    raise Error(
        f"{index}: it lists files that end in {', '.join(sorted(endings))}, which are not read together; "
        "open them one by one",
        Code.FILE,
    )
