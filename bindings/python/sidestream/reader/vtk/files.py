"""Sidestream's VTK XML files as arrays: grids as one array over the mesh, surfaces and cells as they
are in the file."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import Code, Error
from ..lazy import Fields
from .grids import Grid
from .lists import Lists
from .parts import source_of
from .xml import XmlFile, parse

GRIDS = {"ImageData": "uniform", "RectilinearGrid": "rectilinear", "StructuredGrid": "curvilinear"}
LISTS = ("PolyData", "UnstructuredGrid")
LISTED = {f"P{kind}": kind for kind in (*GRIDS, *LISTS)}
OF_ITERATION = {"TimeValue": "time", "CYCLE": "cycle", "ITERATION": "iteration"}


def _attributes(file: XmlFile) -> dict[str, Any]:
    """Time, cycle and iteration."""
    found = {own: file.fields[name].read() for name, own in OF_ITERATION.items() if name in file.fields}
    return {name: values[0].item() for name, values in found.items() if values.size}


class Blocks(Mapping[str, Fields]):
    """The blocks of a mesh with refinement levels by `level L/block N`, each opened on access."""

    def __init__(self, path: Path, files: Mapping[str, Path], finished: Callable[[Fields], Any] = lambda f: f) -> None:
        self.path, self._files, self._finished = path, dict(files), finished

    def finished_by(self, finished: Callable[[Fields], Any]) -> "Blocks":
        """The same blocks, each of which goes through a function."""
        return Blocks(self.path, self._files, finished)

    def __getitem__(self, name: str) -> Any:
        return self._finished(read_vtk(self._files[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def read_vtk(path: Path) -> Any:
    """The arrays of one of VTK's XML files, or of all files that it lists, without their values."""
    file = parse(path)
    kind = LISTED.get(file.kind, file.kind)
    if kind == "vtkMultiBlockDataSet":
        return Blocks(path, {name: source_of(path, source) for name, source in file.sets})
    if kind in GRIDS:
        grid = Grid(file)
        return Fields(path, grid.arrays(), grid.coords(), _attributes(file) | {"mesh_type": GRIDS[kind]})
    if kind in LISTS:
        return Fields(path, Lists(file).arrays(), {}, _attributes(file))
    raise Error(f"{path}: VTK's type '{file.kind}' is not read here, but {', '.join((*GRIDS, *LISTS))}", Code.FILE)
