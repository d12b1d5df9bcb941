"""Particles next to a plotfile of AMReX: a folder for each mesh of points, Version_Two_Dot_Zero or _One."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reader.levels.sources import BlockOf, RefinedMesh
from ..reader.stored import Context, Variable
from .parts import Progress, Remarks

POSITIVE = np.uint64(1 << 63)  # bit of an id that shares 64 bits with the number of its process


@dataclass(frozen=True)
class Cloud:
    """A mesh of points, all particles of a context together."""

    name: str
    places: NDArray[Any]
    ids: NDArray[np.int64]
    cpus: NDArray[np.int64]
    reals: dict[str, NDArray[Any]]
    integers: dict[str, NDArray[np.int32]]

    @property
    def dtype(self) -> np.dtype[Any]:
        single = all(values.dtype == np.float32 for values in (self.places, *self.reals.values()))
        return np.dtype("<f4" if single else "<f8")


def _values(context: Context, variable: Variable) -> NDArray[Any]:
    parts = [np.asarray(context.read(variable, piece)) for piece in context.pieces(variable)]
    shape = (-1, variable.components)
    return np.concatenate([np.zeros((0, variable.components), variable.dtype), *(p.reshape(shape) for p in parts)])


def cloud_of(context: Context, name: str, wanted: set[str], remarks: Remarks) -> Cloud | None:
    """Reads the particles of a mesh of points: positions, and those of its variables that are wanted."""
    about = context.meshes[name]
    position = about["arrays"].get("coordinates")
    if position is None:
        return None
    places = _values(context, context.variables[position])
    count = len(places)
    ids, cpus = np.arange(1, count + 1), np.zeros(count, np.int64)
    reals: dict[str, NDArray[Any]] = {}
    integers: dict[str, NDArray[np.int32]] = {}
    for variable in context.variables.values():
        if variable.mesh != name or variable.name == position or variable.name not in wanted:
            continue
        values = _values(context, variable)
        if len(values) != count:
            remarks.say(f"'{variable.name}' is left out: some blocks of '{name}' have no values of it")
            continue
        short = variable.name.removeprefix(f"{name}_")
        whole = values.dtype.kind in "iu"
        if short in ("id", "cpu") and whole and variable.components == 1:
            ids, cpus = (values[:, 0], cpus) if short == "id" else (ids, values[:, 0])
            continue
        axes = "xyz"[: variable.components] if variable.components <= 3 else range(variable.components)
        names = [short] if variable.components == 1 else [f"{short}_{axis}" for axis in axes]
        for n, column in enumerate(names):
            if whole and np.can_cast(values.dtype, np.int32):
                integers[column] = values[:, n].astype(np.int32)
                continue
            if whole:
                remarks.say(f"'{variable.name}': whole numbers of 64 bits become real ones, rounded beyond 2^53")
            reals[column] = values[:, n]
    return Cloud(name, places, ids.astype(np.int64), cpus.astype(np.int64), reals, integers)


def grids_of(places: NDArray[Any], mesh: RefinedMesh, boxes: list[list[BlockOf]]) -> list[list[NDArray[np.int64]]]:
    """The numbers of the particles by level and box, each in the finest box that contains its position. Those outside
    of all are in the first box of level 0."""
    used = mesh.dimensions
    left = np.arange(len(places))
    found: list[list[NDArray[np.int64]]] = []
    for level in reversed(range(len(boxes))):
        spacing = (mesh.spacing / mesh.ratio(0, level))[:used]
        with np.errstate(invalid="ignore"):
            cells = np.floor((places[left].astype(np.float64) - mesh.origin[:used]) / spacing)
        order = np.argsort(cells[:, 0], kind="stable")
        left, cells = left[order], cells[order]
        free, mine = np.ones(len(left), bool), []
        for box in boxes[level]:
            first, past = np.searchsorted(cells[:, 0], [box.lo[0], box.hi[0]])
            near = cells[first:past]
            inside = free[first:past] & np.all((near >= box.lo[:used]) & (near < box.hi[:used]), axis=1)
            free[first:past] &= ~inside
            mine.append(np.sort(left[first:past][inside]))
        left = left[free]
        found.insert(0, mine)
    found[0][0] = np.sort(np.concatenate([found[0][0], left]))
    return found


def _box_array(mesh: RefinedMesh, boxes: list[BlockOf]) -> str:
    text = lambda numbers: f"({','.join(str(int(n)) for n in numbers[: mesh.dimensions])})"  # noqa: E731
    lines = [f"({text(b.lo)} {text(b.hi - 1)} {text([0] * 3)})" for b in boxes]
    return "\n".join([f"({len(boxes)} 0", *lines, ")", ""])


def write_particles(
    cloud: Cloud, mesh: RefinedMesh, boxes: list[list[BlockOf]], folder: Path, progress: Progress
) -> None:
    """Writes the folder with a Header and a file for each level; `boxes` are those of the plotfile."""
    folder.mkdir()
    fits = np.iinfo(np.int32)
    packed = bool(np.any(cloud.ids > fits.max) or np.any(cloud.ids < 0))
    version = f"Version_Two_Dot_{'One' if packed else 'Zero'}_{'single' if cloud.dtype.itemsize == 4 else 'double'}"
    count, top = len(cloud.places), int(cloud.ids.max(initial=0)) + 1
    lines = [version, mesh.dimensions, len(cloud.reals), *cloud.reals, len(cloud.integers), *cloud.integers]
    lines += [1, count, top, len(boxes) - 1, *(len(of_level) for of_level in boxes)]
    halves = np.stack([cloud.ids, cloud.cpus], axis=1).astype(np.uint32)
    if packed:
        number = np.abs(cloud.ids).astype(np.uint64) << np.uint64(24) | cloud.cpus.astype(np.uint64)
        number |= np.where(cloud.ids >= 0, POSITIVE, np.uint64(0))
        halves = np.stack([number >> np.uint64(32), number & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32)
    integers = np.column_stack([halves.view(np.int32), *cloud.integers.values()]).astype("<i4")
    reals = np.column_stack([cloud.places, *cloud.reals.values()]).astype(cloud.dtype)
    for level, grids in enumerate(grids_of(cloud.places, mesh, boxes)):
        place = folder / f"Level_{level}"
        if any(len(rows) for rows in grids):
            place.mkdir()
            (place / "Particle_H").write_text(_box_array(mesh, boxes[level]), encoding="ascii")
        for rows in grids:
            if len(rows) == 0:
                lines.append("0 0 0")
                continue
            with (place / "DATA_00000").open("ab") as out:
                lines.append(f"0 {len(rows)} {out.tell()}")
                out.write(integers[rows].tobytes())
                out.write(reals[rows].tobytes())
            progress.add(len(rows) * (integers.shape[1] * 4 + reals.shape[1] * cloud.dtype.itemsize))
    (folder / "Header").write_text("\n".join(map(str, lines)) + "\n", encoding="utf-8")
