"""Opens the levels of a mesh: of a database, of HDF5 files, or of an index of those over time."""

from pathlib import Path

from ...errors import Code, Error
from ..database import chosen, is_database
from ..series import entries_of
from ..stored import Context
from .levels import Levels
from .of_hdf5 import OfHdf5
from .sources import OfDatabase


def _of_series(index: Path, iteration: int | None, cycle: int | None) -> Path:
    entries = entries_of(index)
    found = [e for e in entries if iteration in (None, e.iteration) and cycle in (None, e.cycle)]
    if not found:
        there = ", ".join(f"{e.iteration} (cycle {e.cycle})" for e in entries[-8:]) or "none"
        raise Error(f"{index}: the iteration that was asked for is not in it; the last ones are {there}", Code.FILE)
    return found[-1].path


def read_levels(
    place: Path, iteration: int | None, cycle: int | None, mesh: str | None, deepest: int | None = None
) -> Levels:
    """The levels of one iteration, the last one unless a number is given; levels down to `deepest`."""
    if is_database(place):
        return Levels(OfDatabase(Context(place, chosen(place, iteration, cycle)[-1]), mesh), deepest)
    if not place.is_file():
        raise Error(f"{place}: there is no such file or directory", Code.FILE)
    if place.suffix == ".series":
        return read_levels(_of_series(place, iteration, cycle), None, None, mesh, deepest)
    if iteration is not None or cycle is not None:
        raise Error(
            f"{place}: iteration and cycle choose from a database or a .series, and this is none; leave them out"
        )
    if place.suffix != ".h5":
        raise Error(f"{place}: levels are read from databases and .h5; open this file without into='levels'", Code.FILE)
    try:
        return Levels(OfHdf5(place, mesh), deepest)
    except (OSError, KeyError) as problem:
        raise Error(f"{place}: the levels of this file cannot be read ({problem})", Code.FILE) from problem
