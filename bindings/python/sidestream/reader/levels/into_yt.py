"""Levels as data sets of yt: octrees by load_octree, patches by load_amr_grids."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import Error
from .cells import Cells, boxes_without, own_parts
from .morton import morton_keys
from .sources import BlockOf, Named, RefinedMesh, Source, in_cell_order


class Refined(Protocol):
    """The parts of Levels that are used here."""

    mesh: RefinedMesh
    variables: dict[str, Named]
    source: Source
    attrs: dict[str, Any]

    @property
    def blocks(self) -> list[Any]: ...
    @property
    def cells(self) -> list[Cells]: ...
    def values(self, name: str, level: int, chosen: NDArray[np.bool_]) -> NDArray[Any]: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True)
class _Field:
    """A field of yt, which has one component: all of a variable or its component `component`."""

    name: str
    variable: str
    component: int | None

    def of(self, values: NDArray[Any]) -> NDArray[np.float64]:
        one = values if self.component is None else values[:, self.component]
        return one.astype(np.float64)


def _fields(levels: Refined, variables: list[str] | None) -> list[_Field]:
    """The fields for the requested variables; components are called NAME_x, NAME_y, NAME_z, or
    from four on NAME_0..."""
    names = list(levels.variables) if variables is None else variables
    wrong = [name for name in names if name not in levels.variables]
    if wrong:
        raise Error(f"yt: there is no variable '{wrong[0]}' in cells, but {', '.join(levels.variables)}")
    found = []
    for name in names:
        count = levels.variables[name].components
        axes = "xyz"[:count] if count <= 3 else [str(n) for n in range(count)]
        found += (
            [_Field(name, name, None)] if count == 1 else [_Field(f"{name}_{x}", name, n) for n, x in enumerate(axes)]
        )
    return found


def _bounds(levels: Refined) -> NDArray[np.float64]:
    mesh = levels.mesh
    return np.stack([mesh.origin + mesh.spacing * mesh.lo, mesh.origin + mesh.spacing * mesh.hi], axis=1)


def _depth_first(levels: Refined) -> tuple[NDArray[np.uint8], NDArray[np.int64], list[NDArray[np.bool_]]]:
    """Returns yt's mask (k fastest, 8 where an oct follows), the index of our leaf for each leaf of yt, and our leaves.
    yt does not accept roots without children, so these are divided once, into leaves of the same value."""
    mesh, deepest = levels.mesh, max(len(levels) - 1, 1)
    rows, leaves, count = [], [], 0
    for n, cells in enumerate(levels.cells):
        root = cells.index >> n
        key = morton_keys((cells.index - (root << n))[:, ::-1], 3) << np.uint64(3 * (deepest - n))
        number = (root[:, 0] * mesh.hi[1] + root[:, 1]) * mesh.hi[2] + root[:, 2]
        leaf = np.where(cells.refined, -1, count + np.cumsum(~cells.refined) - 1)
        leaves.append(~cells.refined)
        count += int((~cells.refined).sum())
        if n == 0:
            bare = ~cells.refined
            parts = np.tile(np.arange(8, dtype=np.uint64) << np.uint64(3 * (deepest - 1)), int(bare.sum()))
            rows.append((np.repeat(number[bare], 8), parts, np.full(len(parts), 1), np.repeat(leaf[bare], 8)))
            leaf = np.full(len(leaf), -1)
        rows.append((number, key, np.full(len(key), n), leaf))
    number, key, level, leaf = (np.concatenate(columns) for columns in zip(*rows, strict=True))
    order = np.lexsort((level, key, number))
    mask = np.where(leaf[order] < 0, 8, 0).astype(np.uint8)
    return mask, leaf[order][mask == 0], leaves


def _load_octree(levels: Refined, fields: list[_Field], options: dict[str, Any]) -> Any:
    import yt

    if levels.mesh.dimensions != 3:
        raise Error(f"yt: '{levels.mesh.name}' has {levels.mesh.dimensions} dimensions, but yt's octrees have three")
    mask, order, leaves = _depth_first(levels)
    data = {}
    for field in fields:
        values = [field.of(levels.values(field.variable, n, leaf)) for n, leaf in enumerate(leaves)]
        nobody = [cells.owner[leaf] < 0 for cells, leaf in zip(levels.cells, leaves, strict=True)]
        joined = np.where(np.concatenate(nobody), np.nan, np.concatenate(values))
        data[("stream", field.name)] = joined[order][:, None]
    roots = levels.mesh.hi.astype(np.int64)
    fixed = {"num_zones": 1, "partial_coverage": 0, "domain_dimensions": roots, "bbox": _bounds(levels)}
    return yt.load_octree(mask, data, **fixed, **options)


def _with_one_parent(levels: Refined) -> Iterator[tuple[BlockOf, list[NDArray[np.int64]]]]:
    """Splits each block at the pieces of the next coarser level, if there is one, because in yt a grid covers only one
    coarser grid."""
    parents: list[NDArray[np.int64]] = []
    for level in range(max((block.level for block in levels.blocks), default=-1) + 1):
        blocks = [b for b in levels.blocks if b.level == level and np.all(b.lo < b.hi)]
        pieces = []
        for block, own in zip(blocks, own_parts([np.array([b.lo, b.hi]) for b in blocks]), strict=True):
            found, rest = [], own
            for parent in parents:
                inside = [np.array([np.maximum(p[0], parent[0]), np.minimum(p[1], parent[1])]) for p in rest]
                found += [p for p in inside if np.all(p[0] < p[1])]
                rest = [left for part in rest for left in boxes_without(part, parent)]
            pieces += found + rest
            yield block, found + rest
        parents = [p * levels.mesh.ratio(level, level + 1) for p in pieces]


def _load_grids(levels: Refined, fields: list[_Field], options: dict[str, Any]) -> Any:
    import yt

    mesh = levels.mesh
    used = {n for ratio in mesh.ratios for n in ratio[: mesh.dimensions]}
    if len(used) > 1:
        raise Error(f"yt: '{mesh.name}' is refined by {sorted(used)}, but yt wants one ratio for all levels and axes")
    grids = []
    for block, pieces in _with_one_parent(levels):
        spacing, extents = mesh.spacing / mesh.ratio(0, block.level), block.hi - block.lo
        arrays = {}
        for field in fields:
            stored = levels.source.read(field.variable, block)
            if stored is None:
                values = np.full(int(np.prod(extents)), np.nan)
            else:
                values = field.of(in_cell_order(stored, levels.variables[field.variable], mesh, block))
            arrays[field.name] = values.reshape(*(int(n) for n in extents[::-1])).transpose(2, 1, 0)
        for lo, hi in pieces:
            grid: dict[Any, Any] = {"level": block.level, "dimensions": hi - lo}
            grid["left_edge"] = mesh.origin + spacing * lo
            grid["right_edge"] = mesh.origin + spacing * hi
            part = tuple(slice(int(n), int(m)) for n, m in zip(lo - block.lo, hi - block.lo, strict=True))
            grids.append(grid | {("stream", name): array[part] for name, array in arrays.items()})
    refine_by = used.pop() if used else 2
    return yt.load_amr_grids(grids, mesh.hi - mesh.lo, bbox=_bounds(levels), refine_by=refine_by, **options)


def load_into_yt(levels: Refined, variables: list[str] | None = None, **options: Any) -> Any:
    """Makes a data set of yt in memory with fields ("stream", NAME), for several components ("stream", NAME_x) and so
    on. `options` go to yt (length_unit, ...). Leaves that no block owns are NaN."""
    fields = _fields(levels, variables)
    given = {"sim_time": float(levels.attrs["time"]), "periodicity": (False,) * 3, **options}
    if levels.mesh.kind == "octree":
        return _load_octree(levels, fields, given)
    return _load_grids(levels, fields, given)
