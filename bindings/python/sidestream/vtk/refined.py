"""Octrees and refinement levels that the reader lists, described as `grids.grid_of` takes them. An octree's values are
copied, since VTK has its cells tree by tree."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error
from ..paraview.gathered import Arrays
from ..reader.levels.forest import Forest
from ..reader.levels.levels import Levels
from ..reader.levels.sources import BlockOf, Named, RefinedMesh, in_cell_order
from .describing import COVERED, DUPLICATE, Description, nested


def described(levels: Levels, names: Iterable[str]) -> Description:
    """The trees of an octree, or the blocks of all levels of a uniform mesh, with these variables in cells. Raises
    Error(usage) for levels that VTK has no form for."""
    return _forest(levels, names) if levels.mesh.kind == "octree" else _patches(levels, list(names))


def _forest(levels: Levels, names: Iterable[str]) -> Description:
    forest, arrays = Forest(levels), Arrays()
    made: dict[str, Any] = {"kind": "tree", "nodes": [arrays.put(axis) for axis in forest.axes()]}
    parts = {"trees": forest.trees, "depths": forest.depths, "counts": forest.cells_per_depth}
    parts |= {"refined": forest.descriptors(), "mask": forest.mask()}
    made |= {name: arrays.put(array) for name, array in parts.items()}
    made["fields"] = [{"name": name, "at": "cell", "array": arrays.put(forest.values(name))} for name in names]
    return made, arrays


def _patches(levels: Levels, names: list[str]) -> Description:
    mesh, used, arrays = levels.mesh, levels.mesh.dimensions, Arrays()
    wrong = [ratio for ratio in mesh.ratios if len(set(ratio[:used])) > 1]
    if used < 2 or wrong:
        found = f"is refined by {list(wrong[0][:used])}" if used > 1 else "has one dimension"
        raise Error(
            f"{levels.path}: the mesh '{mesh.name}' {found}, expected two or three dimensions and one ratio for all "
            "axes, which VTK's levels have; export to .h5, .nc or .zarr",
            Code.USAGE,
        )
    made = []
    for n, block in enumerate(levels.blocks):
        fields = {name: _values(levels, name, block) for name in names}
        fields["vtkGhostType"] = _marks(levels, n, block)
        entries = [{"name": name, "at": "cell", "array": arrays.put(array)} for name, array in fields.items()]
        made.append({"level": block.level, "lo": block.lo.tolist(), "hi": block.hi.tolist(), "fields": entries})
    unit = np.arange(3) < used
    origin, spacing = np.where(unit, mesh.origin, 0.0).tolist(), np.where(unit, mesh.spacing, 1.0).tolist()
    shape = {"origin": origin, "spacing": spacing, "first": mesh.lo.tolist(), "axes": used}
    shape |= {"ratios": mesh.ratios, "blanked": True, "nested": nested(mesh.ratios, used, levels.blocks)}
    return {"kind": "levels", **shape, "blocks": made}, arrays


def _values(levels: Levels, name: str, block: BlockOf) -> NDArray[Any]:
    """The values of a block, i fastest; NaN or 0 if they were not published."""
    named, cells = levels.variables[name], int(np.prod(block.hi - block.lo))
    stored = levels.source.read(name, block)
    if stored is not None:
        return in_cell_order(stored, named, levels.mesh, block)
    more = (named.components,) if named.components > 1 else ()
    return np.full((cells, *more), np.nan if named.dtype.kind == "f" else 0, named.dtype)


def _marks(levels: Levels, number: int, block: BlockOf) -> NDArray[np.uint8]:
    """Cells that a block of a lower id also has are duplicates."""
    marks = np.full(int(np.prod(block.hi - block.lo)), DUPLICATE, np.uint8)
    cells = levels.cells[block.level]
    mine = cells.block == number
    marks[cells.place[mine]] = np.where(cells.refined[mine], COVERED, 0)
    return marks


class OfBlocks:
    """Blocks of an octree that an analysis gets, as a source of levels."""

    def __init__(self, blocks: list[Any], mesh: Any, known: dict[str, Any]) -> None:
        """`known` has the declared variables by name."""
        self.path, self.attrs = Path(mesh.name), dict[str, Any]()
        roles = {v.role: name for name, v in known.items() if v.mesh == mesh.name and v.role != "none"}
        cells, origin, spacing = (np.array(numbers) for numbers in mesh.roots)
        self.mesh = RefinedMesh(
            *(mesh.name, "octree", mesh.dimensions, np.zeros(3, np.int64), cells, origin, spacing, ()), roles
        )
        self._given = {block.id: block for block in blocks}
        self._known = known

    def variables(self) -> dict[str, Named]:
        there = dict.fromkeys(name for block in self._given.values() for name in block)
        declared = {name: self._known[name] for name in there}
        return {n: Named(n, np.dtype(v.type), v.components, v.order, v.unit) for n, v in declared.items()}

    def blocks(self) -> list[BlockOf]:
        ends = {key: np.array([block.hi[0], 1, 1]) for key, block in self._given.items()}
        return [BlockOf(key, 0, np.zeros(3, np.int64), ends[key]) for key in sorted(ends)]

    def read(self, name: str, block: BlockOf, first: int = 0, past: int | None = None) -> NDArray[Any] | None:
        given = self._given[block.id]
        return given[name][first:past] if name in given._records else None
