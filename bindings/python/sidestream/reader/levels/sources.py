"""Sources of the blocks of a refined mesh, such as a context of a database."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import Code, Error
from ..stored import Context, Piece

ROLES = ("refined", "owned")


@dataclass(frozen=True)
class RefinedMesh:
    """A mesh with levels. Boxes and positions are those of level 0, in (i, j, k)."""

    name: str
    kind: str  # octree or uniform
    dimensions: int
    lo: NDArray[np.int64]
    hi: NDArray[np.int64]
    origin: NDArray[np.float64]
    spacing: NDArray[np.float64]
    ratios: tuple[tuple[int, ...], ...]  # from each level to the next; 2 for octrees
    roles: dict[str, str] = field(default_factory=dict)  # for an octree: the names of its arrays by role

    def ratio(self, level: int, to: int) -> NDArray[np.int64]:
        """Number of cells of level `to` along one of `level`, which is no finer."""
        if self.kind == "octree":
            return np.where(np.arange(3) < self.dimensions, 1 << (to - level), 1).astype(np.int64)
        return np.prod([[1, 1, 1], *self.ratios[level:to]], axis=0).astype(np.int64)


@dataclass(frozen=True)
class BlockOf:
    """A block. Its box has the cells on its level; for a tree it is 0 and the number of cells."""

    id: int
    level: int
    lo: NDArray[np.int64]
    hi: NDArray[np.int64]


@dataclass(frozen=True)
class Named:
    """A variable in cells."""

    name: str
    dtype: np.dtype[Any]
    components: int
    order: str
    unit: str


class Source(Protocol):
    """The data of one mesh in one iteration."""

    path: Path
    mesh: RefinedMesh
    attrs: dict[str, Any]

    def variables(self) -> dict[str, Named]:
        """The variables in cells."""
        ...

    def blocks(self) -> list[BlockOf]:
        """The blocks by level and id."""
        ...

    def read(self, name: str, block: BlockOf, first: int = 0, past: int | None = None) -> NDArray[Any] | None:
        """Reads the stored values of a block; for a tree those of the cells from `first` to `past`. Returns None if
        they were not published."""
        ...


def one_of(place: Path, names: list[str], asked: str | None) -> str:
    """The mesh that is asked for, of those that have levels."""
    if asked is not None and asked in names:
        return asked
    there = ", ".join(names) or "none"
    if asked is not None:
        raise Error(f"{place}: the mesh '{asked}' is no octree and no uniform mesh; there are: {there}", Code.FILE)
    if len(names) != 1:
        raise Error(f"{place}: levels are of one mesh, an octree or a uniform one; say mesh=..., there are: {there}")
    return names[0]


class OfDatabase:
    """A context of a database."""

    def __init__(self, context: Context, mesh: str | None) -> None:
        self.context, self.path = context, context.place
        kinds = {name: m["type"] for name, m in context.meshes.items() if m["type"] in ("octree", "uniform")}
        about = context.meshes[one_of(context.place, list(kinds), mesh)]
        lo, hi = about["cells"] if about["type"] == "uniform" else ([0] * 3, about["roots"])
        self.mesh = RefinedMesh(
            *(about["name"], about["type"], int(about["dimensions"])),
            *(np.array(lo, np.int64), np.array(hi, np.int64)),
            *(np.array(about["origin"], np.float64), np.array(about["spacing"], np.float64)),
            tuple(tuple(int(n) for n in ratio) for ratio in about["refinement"]),
            {role: about["arrays"][role] for role in ROLES if role in about["arrays"]},
        )
        self._pieces: dict[str, dict[tuple[int, int], Piece]] = {}
        slot = context.slot
        self.attrs = {"iteration": slot.iteration, "cycle": slot.cycle, "time": slot.time}
        if "level_times" in about:
            self.attrs["level_times"] = [float(time) for time in about["level_times"]]

    def variables(self) -> dict[str, Named]:
        mine = [v for v in self.context.variables.values() if v.mesh == self.mesh.name and v.centering == 0]
        return {v.name: Named(v.name, v.dtype.newbyteorder("="), v.components, v.order, v.unit) for v in mine}

    def blocks(self) -> list[BlockOf]:
        return [
            BlockOf(int(b["id"]), int(b["level"]), b["lo"].astype(np.int64), b["hi"].astype(np.int64))
            for b in self.context.blocks(self.mesh.name)
        ]

    def read(self, name: str, block: BlockOf, first: int = 0, past: int | None = None) -> NDArray[Any] | None:
        variable = self.context.variables[name]
        if name not in self._pieces:
            pieces = self.context.pieces(variable)
            self._pieces[name] = {(int(p.block["level"]), int(p.block["id"])): p for p in pieces}
        piece = self._pieces[name].get((block.level, block.id))
        each = variable.components
        end = None if past is None else past * each
        return self.context.read(variable, piece, first * each, end) if piece is not None else None


def in_cell_order(values: NDArray[Any], named: Named, mesh: RefinedMesh, block: BlockOf) -> NDArray[Any]:
    """Values of a block with i running fastest: a row for each cell, components after it."""
    more = (named.components,) if named.components > 1 else ()
    if mesh.kind == "octree" or named.order == "column":
        return values.reshape(-1, *more)
    extents = tuple(int(n) for n in block.hi - block.lo)
    turned = values.reshape(*extents, *more).transpose(2, 1, 0, *((3,) if more else ()))
    return turned.reshape(-1, *more)


def names_of(variables: dict[str, Named], mesh: RefinedMesh) -> Iterator[str]:
    """All names except those of the arrays that describe the tree."""
    return (name for name in variables if name not in mesh.roles.values())
