"""Export as plotfiles of AMReX (HyperCLaw-V1.1): a directory for each context, which yt, VisIt and ParaView open."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Error
from ..reader.levels.levels import Levels
from ..reader.levels.sources import BlockOf, Named, RefinedMesh, in_cell_order
from .amrex_particles import Cloud, cloud_of, write_particles
from .parts import Job, Progress, Remarks

VERSION = "HyperCLaw-V1.1"
FILE_BYTES = 1 << 30  # size of a file beyond which further boxes go to another one
FORMATS = {
    8: "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))",
    4: "((8, (32 8 23 0 1 9 0 127)),(4, (4 3 2 1)))",
}


@dataclass(frozen=True)
class _Plot:
    """The content of one plotfile."""

    levels: Levels
    variables: list[Named]
    dtype: np.dtype[Any]

    @property
    def mesh(self) -> RefinedMesh:
        return self.levels.mesh

    def names(self) -> list[str]:
        """The names of components, one for each."""
        found = []
        for v in self.variables:
            axes = "xyz"[: v.components] if v.components <= 3 else [str(n) for n in range(v.components)]
            found += [v.name] if v.components == 1 else [f"{v.name}_{axis}" for axis in axes]
        return found

    def blocks(self, level: int) -> list[BlockOf]:
        return [b for b in self.levels.blocks if b.level == level and np.all(b.lo < b.hi)]

    def deepest(self) -> int:
        return max((b.level for b in self.levels.blocks), default=0)

    def values(self, block: BlockOf) -> Iterator[NDArray[Any]]:
        """The values of a block, component by component, i fastest; NaN where it was not published."""
        count = int(np.prod(block.hi - block.lo))
        for variable in self.variables:
            stored = self.levels.source.read(variable.name, block)
            if stored is None:
                rows = np.full((count, variable.components), np.nan, self.dtype)
            else:
                rows = in_cell_order(stored, variable, self.mesh, block).reshape(count, -1)
            for n in range(variable.components):
                yield np.ascontiguousarray(rows[:, n], self.dtype)


def _tuple(numbers: Any) -> str:
    return f"({','.join(str(int(n)) for n in numbers)})"


def _box(plot: _Plot, lo: NDArray[np.int64], hi: NDArray[np.int64]) -> str:
    used = plot.mesh.dimensions
    return f"({_tuple(lo[:used])} {_tuple(hi[:used] - 1)} {_tuple([0] * used)})"


def _reals(numbers: Any) -> str:
    return " ".join(repr(float(n)) for n in numbers)


def _header(plot: _Plot, time: float, cycle: int) -> str:
    mesh, used, deepest = plot.mesh, plot.mesh.dimensions, plot.deepest()
    numbers = range(deepest + 1)
    ratios = [mesh.ratio(0, n) for n in numbers]
    names = plot.names()
    lines = [VERSION, str(len(names)), *names, str(used), repr(time), str(deepest)]
    lines += [_reals((mesh.origin + mesh.spacing * edge)[:used]) for edge in (mesh.lo, mesh.hi)]
    lines.append(" ".join(str(int(mesh.ratio(n, n + 1)[0])) for n in numbers[:-1]))
    lines.append(" ".join(_box(plot, mesh.lo * r, mesh.hi * r) for r in ratios))
    lines.append(" ".join(str(cycle) for _ in numbers))
    lines += [_reals((mesh.spacing / r)[:used]) for r in ratios]
    lines += ["0", "0"]  # Cartesian; no boundary cells
    for n in numbers:
        blocks, spacing = plot.blocks(n), mesh.spacing / ratios[n]
        own = plot.levels.attrs.get("level_times", ())
        lines += [f"{n} {len(blocks)} {own[n] if n < len(own) else time!r}", str(cycle)]
        for block in blocks:
            low, high = mesh.origin + spacing * block.lo, mesh.origin + spacing * block.hi
            lines += [_reals((low[axis], high[axis])) for axis in range(used)]
        lines.append(f"Level_{n}/Cell")
    return "\n".join(lines) + "\n"


def _bounds(values: NDArray[Any]) -> tuple[float, float]:
    """The least and the greatest finite number: readers of texts know no others."""
    numbers = values[np.isfinite(values)]
    return (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)


def _write_level(plot: _Plot, number: int, folder: Path, progress: Progress) -> None:
    folder.mkdir()
    blocks, components = plot.blocks(number), len(plot.names())
    places, bounds, file = [], [], 0
    for block in blocks:
        path = folder / f"Cell_D_{file:05}"
        if path.exists() and path.stat().st_size > FILE_BYTES:
            file += 1
            path = folder / f"Cell_D_{file:05}"
        with path.open("ab") as out:
            places.append((path.name, out.tell()))
            box = _box(plot, block.lo, block.hi)
            out.write(f"FAB {FORMATS[plot.dtype.itemsize]}{box} {components}\n".encode("ascii"))
            row = []
            for values in plot.values(block):
                out.write(values.tobytes())
                row.append(_bounds(values))
                progress.add(values.nbytes)
            bounds.append(row)
    lines = ["1", "1", str(components), "0", f"({len(blocks)} 0"]
    lines += [_box(plot, block.lo, block.hi) for block in blocks]
    lines += [")", str(len(blocks)), *(f"FabOnDisk: {name} {offset}" for name, offset in places), ""]
    for side in (0, 1):
        lines.append(f"{len(blocks)},{components}")
        lines += ["".join(f"{pair[side]!r}," for pair in row) for row in bounds]
        lines.append("")
    (folder / "Cell_H").write_text("\n".join(lines) + "\n", encoding="ascii")


def _why_not(levels: Levels) -> str:
    used = levels.mesh.dimensions
    uneven = [ratio for ratio in levels.mesh.ratios if len(set(ratio[:used])) > 1]
    return f"is refined by {list(uneven[0][:used])}, but plotfiles have one ratio for all axes" if uneven else ""


def _plots(job: Job, slot: Any, remarks: Remarks) -> dict[str, _Plot]:
    """The content of plotfiles by mesh. Remarks list data that a plotfile cannot hold."""
    fields = job.fields(slot)
    contexts = [array.context for array in fields.values()]
    plots: dict[str, _Plot] = {}
    if not contexts:
        return plots
    context, wanted = contexts[0], {array.variable.name for array in fields.values()}
    roles = {name for mesh in context.meshes.values() for name in mesh["arrays"].values()}
    for name, about in context.meshes.items():
        mine = [v for v in context.variables.values() if v.mesh == name and v.name in wanted - roles]
        if not mine:
            continue
        if about["type"] == "points":
            continue  # particles: see _clouds
        if about["type"] != "uniform":
            remarks.say(f"the mesh '{name}' is left out: it is {about['type']}, and plotfiles have uniform meshes")
            continue
        levels = job.levels(context, name)
        if why := _why_not(levels):
            remarks.say(f"the mesh '{name}' is left out: it {why}")
            continue
        for variable in mine:
            if variable.name not in levels.variables:
                remarks.say(
                    f"'{variable.name}' is left out: plotfiles have values in cells; export to .h5, .nc or .zarr"
                )
        named = [levels.variables[v.name] for v in mine if v.name in levels.variables]
        for variable in named:
            if variable.dtype.kind != "f" and variable.dtype.itemsize == 8:
                remarks.say(f"'{variable.name}': whole numbers beyond 2^53 are rounded, plotfiles have real ones")
        if named:
            single = all(v.dtype == np.float32 for v in named)
            plots[name] = _Plot(levels, named, np.dtype("<f4" if single else "<f8"))
    return plots


def _clouds(job: Job, slot: Any, dimensions: set[int], remarks: Remarks) -> list[tuple[int, Cloud]]:
    """Finds the meshes of particles, with their number of dimensions. Leaves out those for which plotfiles have no
    mesh."""
    fields = job.fields(slot)
    contexts, found = [array.context for array in fields.values()], []
    wanted = {array.variable.name for array in fields.values()}
    for name, about in contexts[0].meshes.items() if contexts else ():
        if about["type"] != "points" or all(array.variable.mesh != name for array in fields.values()):
            continue
        used = int(about["dimensions"])
        if used not in dimensions:
            remarks.say(
                f"the particles '{name}' are left out: they need a uniform mesh of {used} dimensions beside them"
            )
        elif (cloud := cloud_of(contexts[0], name, wanted, remarks)) is not None:
            found.append((used, cloud))
    return found


def _write_clouds(plot: _Plot, clouds: list[Cloud], place: Path, progress: Progress) -> None:
    boxes = [plot.blocks(number) for number in range(plot.deepest() + 1)]
    for cloud in clouds:
        write_particles(cloud, plot.mesh, boxes, place / cloud.name, progress)
    if clouds:
        (place / "job_info").write_text("AMReX plotfile, written by Sidestream\n", encoding="ascii")  # required by yt


def export_amrex(job: Job, target: Path, folder: Path, compress: bool, progress: Progress, remarks: Remarks) -> None:
    """Writes into `folder`: TARGET with a plotfile for each context and uniform mesh, plt000010; if there are several
    meshes, MESH-plt000010. Meshes of points become particles in them, in a folder for each mesh; those of a context are
    held in memory. If a cycle occurs twice, the second plotfile is plt000010-v2."""
    del compress
    place, used = folder / target.name, set[str]()
    place.mkdir()
    for slot in job.slots:
        plots = _plots(job, slot, remarks)
        there = {mesh: plot for mesh, plot in plots.items() if plot.blocks(0)}
        for mesh in plots.keys() - there.keys():
            remarks.say(f"the mesh '{mesh}' is left out of iterations in which it has no blocks on level 0")
        clouds = _clouds(job, slot, {plot.mesh.dimensions for plot in there.values()}, remarks)
        for mesh, plot in there.items():
            first = f"plt{slot.cycle:06}" if len(plots) == 1 else f"{mesh}-plt{slot.cycle:06}"
            name, version = first, 2
            while name in used:
                name, version = f"{first}-v{version}", version + 1
            used.add(name)
            (place / name).mkdir()
            for number in range(plot.deepest() + 1):
                _write_level(plot, number, place / name / f"Level_{number}", progress)
            mine = [cloud for used, cloud in clouds if used == plot.mesh.dimensions]
            _write_clouds(plot, mine, place / name, progress)
            (place / name / "Header").write_text(_header(plot, slot.time, slot.cycle), encoding="utf-8")
    if not used:
        why = "".join(f"; {sentence}" for sentence in remarks.said)
        raise Error(f"export: there is nothing that a plotfile can hold: values in cells of a uniform mesh{why}")
