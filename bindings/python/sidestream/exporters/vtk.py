"""Export as VTK's XML files, one for each mesh and context, and a .pvd that lists them over time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from ..reader.axes import LISTS
from ..reader.journal import Slot
from ..reader.levels.levels import Levels
from ..reader.stored_fields import StoredArray, fields_of
from .hdf5 import file_of
from .parts import Job, Progress, Remarks, slabs
from .vtk_cells import cells_of
from .vtk_levels import why_not, write_levels
from .vtk_tree import write_tree
from .vtk_xml import Array, write_vtk

ENDINGS = {"ImageData": "vti", "RectilinearGrid": "vtr", "StructuredGrid": "vts", "UnstructuredGrid": "vtu"}


def _in_order(array: StoredArray, progress: Progress) -> Iterator[NDArray[Any]]:
    """The values with i running fastest, components before it."""
    if array.variable.order == "column" or len(array.axes) == 1:
        for _, values in slabs(array):
            progress.add(values.nbytes)
            yield values
        return
    values = array[...]  # k is the fastest: transposed as a whole
    space = tuple(reversed(range(len(array.axes))))
    progress.add(values.nbytes)
    yield values.transpose(*space, *range(len(space), values.ndim))


def _array(name: str, array: StoredArray, progress: Progress) -> Array:
    return Array(name, array.dtype, array.variable.components, array.size, _in_order(array, progress))


class Mesh:
    """The exported data of one mesh in one context."""

    def __init__(self, name: str, arrays: dict[str, StoredArray], job: Job, remarks: Remarks) -> None:
        self.name, self.job = name, job
        any_array = next(iter(arrays.values()))
        self.context = any_array.context
        self.about = self.context.meshes[name]
        self.point_data: dict[str, StoredArray] = {}
        self.cell_data: dict[str, StoredArray] = {}
        self.levels: list[str] = []  # variables with finer levels
        all_nodes = (1 << self.about["dimensions"]) - 1
        roles = set(self.about["arrays"].values())
        # Owned points end before the last cell of periodic axes, and so does VTK's grid.
        self.ends = np.array(self.about["cells"][1]) - (np.array(self.about["periodic"]) & ("points" in self.about))
        short = bool(np.any(self.ends < self.about["cells"][1]))
        for key, array in arrays.items():
            if key in roles:
                continue
            if array.level:
                self.levels.append(array.variable.name)
            elif array.variable.centering == 0 and short:
                remarks.say(f"'{key}' is left out: its cells reach beyond owned points; export to .h5, .nc or .zarr")
            elif array.variable.centering == 0:
                self.cell_data[key] = array
            elif array.variable.centering == all_nodes:
                self.point_data[key] = array
            else:
                remarks.say(f"'{key}' is left out: VTK has no values on faces or edges; export to .h5, .nc or .zarr")

    def array_in(self, role: str) -> NDArray[Any]:
        """All values of a variable with the positions or cells of the mesh."""
        return fields_of(self.context)[self.about["arrays"][role]][...]

    def refined(self) -> Levels:
        """All levels that are exported, of an octree or a uniform mesh."""
        return self.job.levels(self.context, self.name)

    def kind(self) -> str | None:
        """The type of VTK's data set; None: there is none."""
        kinds = {"uniform": "ImageData", "rectilinear": "RectilinearGrid", "curvilinear": "StructuredGrid"}
        return kinds.get(self.about["type"], "UnstructuredGrid" if self.about["type"] in LISTS[:2] else None)


def _three(numbers: Any, fill: float) -> NDArray[Any]:
    return np.array([*numbers, *(fill,) * (3 - len(numbers))])


def _points(coordinates: NDArray[Any]) -> Array:
    """Positions, padded to three components."""
    flat = coordinates.reshape(-1, coordinates.shape[-1]) if coordinates.ndim > 1 else coordinates[:, None]
    whole = np.zeros((len(flat), 3), np.float64 if flat.dtype.kind != "f" else flat.dtype)
    whole[:, : flat.shape[1]] = flat
    return Array.of("Points", whole)


def _structure(mesh: Mesh, kind: str) -> tuple[dict[str, str], dict[str, str], list[tuple[str, list[Array]]]]:
    """Attributes of the data set and of its piece, and the sections with its positions."""
    about = mesh.about
    dimensions = about["dimensions"]
    if kind == "UnstructuredGrid":
        points, cells, counts = cells_of(mesh, about)
        piece = {"NumberOfPoints": str(counts[0]), "NumberOfCells": str(counts[1])}
        return {}, piece, [("Points", [_points(points)]), ("Cells", cells)]
    lo, hi = np.array(about["cells"][0]), mesh.ends
    extent = " ".join(f"{a} {b if n < dimensions else a}" for n, (a, b) in enumerate(zip(lo, hi, strict=True)))
    whole, piece = {"WholeExtent": extent}, {"Extent": extent}
    if kind == "ImageData":
        for key, fill in (("origin", 0.0), ("spacing", 1.0)):
            whole[key.capitalize()] = " ".join(repr(float(x)) for x in _three(about[key], fill))
        return whole, piece, []
    if kind == "StructuredGrid":
        return whole, piece, [("Points", [_points(_column(mesh))])]
    nodes = [np.array(n, np.float64) for n in about["nodes"]]
    axes = [nodes[n][: hi[n] - lo[n] + 1] if n < dimensions else np.zeros(1) for n in range(3)]
    return whole, piece, [("Coordinates", [Array.of("xyz"[n], axis) for n, axis in enumerate(axes)])]


def _column(mesh: Mesh) -> NDArray[Any]:
    values = mesh.array_in("coordinates")
    variable = mesh.context.variables[mesh.about["arrays"]["coordinates"]]
    if variable.order == "row":
        space = mesh.about["dimensions"]
        values = values.transpose(*reversed(range(space)), *range(space, values.ndim))
    return values


def meshes_of(job: Job, slot: Slot, remarks: Remarks) -> list[Mesh]:
    fields = job.fields(slot)
    by_mesh: dict[str, dict[str, StoredArray]] = {}
    for name, array in fields.items():
        by_mesh.setdefault(array.variable.mesh, {})[name] = array
    return [Mesh(name, arrays, job, remarks) for name, arrays in by_mesh.items()]


def _export_tree(mesh: Mesh, path: Path, about: list[Array], remarks: Remarks) -> None:
    levels = mesh.refined()
    if "level_times" in levels.attrs:
        about = [*about, Array.of("level_times", np.array(levels.attrs["level_times"], np.float64))]
    for name in mesh.point_data:
        remarks.say(f"'{name}' is left out: VTK's trees have no values at points; export to .h5, .nc or .zarr")
    write_tree(path, levels, [name for name in levels.variables if name in mesh.cell_data], about)


def _export_levels(mesh: Mesh, folder: Path, target: Path, name_of: Any, remarks: Remarks) -> None:
    """Writes all levels of a mesh that may have several, next to the coarsest one, which the .pvd lists. Also for
    contexts without finer ones, so that no time is missing."""
    may = mesh.about["type"] == "uniform" and mesh.about["refinement"] and mesh.cell_data
    if not mesh.levels and not may:
        return
    levels = mesh.refined() if mesh.about["type"] == "uniform" else None
    why = why_not(levels) if levels is not None else f"is {mesh.about['type']}, but VTK's levels are uniform"
    if levels is None or why:
        if mesh.levels:
            remarks.say(f"finer levels are left out: the mesh '{mesh.name}' {why}; export to .h5, .nc or .zarr")
        return
    name = name_of(target.with_name(f"{target.stem}-{mesh.name}-levels.vtkhdf"))
    write_levels(folder / name, levels, [v for v in levels.variables if v in mesh.cell_data])
    remarks.say(
        f"{target.name} lists the coarsest level of '{mesh.name}': all are in {target.stem}-{mesh.name}-levels-*.vtkhdf"
    )
    for variable in mesh.point_data:
        remarks.say(
            f"finer levels of '{variable}' are left out: VTK's have values in cells; export to .h5, .nc or .zarr"
        )


def export_vtk(job: Job, target: Path, folder: Path, compress: bool, progress: Progress, remarks: Remarks) -> None:
    """Writes into `folder`: NAME-MESH-000010.vti, .vtr, .vts or .vtu, for octrees .htg, with refinement levels .vtkhdf,
    and NAME.pvd, which lists them."""
    del compress
    used: set[str] = set()
    lines = []
    for slot in job.slots:
        for part, mesh in enumerate(meshes_of(job, slot, remarks)):
            about = [Array.of("TimeValue", np.array([slot.time])), Array.of("CYCLE", np.array([slot.cycle]))]
            name_of = lambda pattern, cycle=slot.cycle: file_of(pattern, cycle, used)  # noqa: E731
            kind = mesh.kind()
            if kind is None:
                name = name_of(target.with_name(f"{target.stem}-{mesh.name}.htg"))
                _export_tree(mesh, folder / name, about, remarks)
                lines.append(f'  <DataSet timestep="{slot.time!r}" part="{part}" file={quoteattr(name)}/>\n')
                continue
            _export_levels(mesh, folder, target, name_of, remarks)
            pattern = target.with_name(f"{target.stem}-{mesh.name}.{ENDINGS[kind]}")
            name = file_of(pattern, slot.cycle, used)
            whole, piece, sections = _structure(mesh, kind)
            data = {"PointData": mesh.point_data, "CellData": mesh.cell_data}
            sections += [(key, [_array(n, a, progress) for n, a in arrays.items()]) for key, arrays in data.items()]
            write_vtk(folder / name, kind, whole, piece, sections, about)
            lines.append(f'  <DataSet timestep="{slot.time!r}" part="{part}" file={quoteattr(name)}/>\n')
    text = '<VTKFile type="Collection" version="1.0">\n <Collection>\n'
    (folder / target.name).write_text(f"{text}{''.join(lines)} </Collection>\n</VTKFile>\n", encoding="utf-8")
