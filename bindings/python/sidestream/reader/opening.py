"""Opens what a run wrote."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from ..errors import Code, Error
from .damages import reading
from .database import JOURNAL, is_database, read_database
from .lazy import Fields
from .levels.files import read_levels
from .levels.levels import Levels
from .records import read_yaml
from .series import READERS as OF_FIELDS
from .series import entries_of, read_series
from .tables import read_csv, read_pieces
from .vtk.files import Blocks, read_vtk

if TYPE_CHECKING:
    import xarray

FIRST = (".csv", ".pieces", ".h5")
Into = Literal["xarray", "numpy", "levels"]
READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": read_csv,
    ".pieces": read_pieces,
    ".series": read_series,
    **OF_FIELDS,
    ".vtm": read_vtk,
    ".yaml": read_yaml,
}
# Pieces and servers' files are read through the files that list them.
_PART = re.compile(r"piece-\d+\.(csv|h5|vt.)|block-\d+\..*|gap-\d+\.vt.")
_OF_SERVER = re.compile(r"(?P<stem>.*)-\d{3,}\.h5")


def _finished(found: Any, into: Into | None) -> Any:
    if isinstance(found, Blocks):
        return found.finished_by(lambda block: _finished(block, into))
    if not isinstance(found, Fields):
        return found
    if into is None:
        into = "xarray" if find_spec("xarray") else "numpy"
    if into == "numpy":
        return found
    if find_spec("xarray") is None:
        raise Error("open: xarray is not installed; install it, or pass into='numpy'")
    from .into_xarray import dataset_of

    return dataset_of(found)


def _is_pictures(folder: Path) -> bool:
    """True for a Cinema database."""
    return folder.suffix == ".cdb" and (folder / "data.csv").is_file()


class Results(Mapping[str, Any]):
    """The results in a directory by name, such as `statistics.csv` or `fields.h5` (over time). Each is opened on
    access. Folders and the ending may be left out if the name is unambiguous."""

    def __init__(self, path: Path, into: Into | None = None) -> None:
        self.path, self._into = path, into
        self._files = dict(sorted(self._find()))

    def _find(self) -> Iterator[tuple[str, Path]]:
        inside = [p for p in self.path.rglob("*") if p.is_file() and not p.name.startswith(".")]
        databases = {p.parent for p in inside if p.name == JOURNAL or _is_pictures(p.parent)} - {self.path}
        for place in databases:
            yield place.relative_to(self.path).as_posix(), place
        files = {p for p in inside if p.suffix in READERS and not databases & set(p.parents)}
        listed: set[Path] = set()
        for index in (p for p in files if p.suffix == ".series"):
            entries = entries_of(index)
            listed |= {entry.path for entry in entries}
            if not any(entry.path.suffix in READERS for entry in entries):
                listed.add(index)
        for path in files - listed:
            of_server = _OF_SERVER.fullmatch(path.name)
            if of_server and path.with_name(of_server["stem"] + ".h5").exists():
                continue
            if _PART.fullmatch(path.name):
                continue
            name = path.relative_to(self.path).as_posix()
            yield name.removesuffix(".series"), path

    def _name(self, given: str) -> str:
        if given in self._files:
            return given
        meant = [name for name in self._files if given in (name.rsplit(".", 1)[0], Path(name).name, Path(name).stem)]
        # Tables, and HDF5 files of fields, take precedence over pictures and VTK's files of the same name.
        meant = [name for name in meant if Path(name).suffix in FIRST] or meant
        if len(meant) != 1:
            raise KeyError(f"'{given}' in {self.path}; there are: {', '.join(self._files) or 'no results'}")
        return meant[0]

    def __getitem__(self, name: str) -> Any:
        return open(self._files[self._name(name)], into=self._into)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"<sidestream.Results {self.path}: {', '.join(self._files) or 'nothing'}>"


def open(
    path: str | os.PathLike[str],
    *,
    into: Into | None = None,
    iteration: int | None = None,
    cycle: int | None = None,
    mesh: str | None = None,
    deepest: int | None = None,
) -> "xarray.Dataset | Fields | Levels | NDArray[Any] | Results":
    """Opens a directory of results, or one of them, without reading values of fields.

    Tables (`.csv`, `.pieces`) become structured arrays. Fields and data sets (`.h5`, VTK's files), surfaces, parts of
    meshes and pictures become an xarray.Dataset. With into="numpy", or without xarray, they become `Fields`: arrays by
    name that are read when they are indexed. A mesh with refinement levels in VTK's files (`.vtm`) gives one of these
    for each block, by name. An index over time (`.series`) gives all its files, over time. The directory of a database
    gives its contexts, over time; `iteration` or `cycle` selects the one of that number that was written last. Finer
    levels are arrays NAME_level1, ..., and checksums are verified if the package xxhash is installed. A Cinema database
    (`.cdb`) gives the table of its pictures, with their paths in the column `FILE`. `.yaml` (metadata, records of runs)
    gives a dict, whose tables are structured arrays. Pictures need pillow, `.yaml` needs PyYAML.

    into="levels" gives the octree or the mesh with refinement levels of one iteration (by default the last one) as
    `Levels`: the cells of each level, and any region at one resolution. `mesh` names the mesh if there are several.
    `deepest` leaves out finer levels: the cells of that level count as leaves, with the values of parents. Values of
    the finer levels of a database are then not read."""
    place = Path(path)
    if into == "levels" and not (place.is_dir() and not is_database(place)):
        if deepest is not None and deepest < 0:
            raise Error(
                f"{place}: deepest={deepest}, expected 0 or more, the number of the finest level that is wanted"
            )
        with reading(str(place)):
            return read_levels(place, iteration, cycle, mesh, deepest)
    if deepest is not None:
        raise Error(
            f"{place}: deepest={deepest} says how fine levels may be; pass into='levels' to one file, or leave it out"
        )
    if mesh is not None:
        raise Error(f"{place}: mesh={mesh!r} chooses the mesh whose levels are opened; pass into='levels' to one file")
    if is_database(place):
        return _finished(read_database(place, iteration, cycle), into)
    if iteration is not None or cycle is not None:
        raise Error(f"{place}: iteration and cycle choose a context of a database, and this is none; leave them out")
    if _is_pictures(place):
        place = place / "data.csv"
    if place.is_dir():
        return Results(place, into)
    if not place.is_file():
        raise Error(f"{place}: there is no such file or directory", Code.FILE)
    reader = READERS.get(place.suffix)
    if reader is None:
        raise Error(
            f"{place}: files that end in '{place.suffix}' are not read here, but {', '.join(READERS)} and directories",
            Code.FILE,
        )
    with reading(str(place)):
        return _finished(reader(place), into)
