"""A context of a database as arrays that are read when they are indexed."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codecs.checksums import can_verify
from .axes import NODES, about_axes, coordinates_of, dimensions_of, is_list
from .damages import reading
from .lazy import Fields, Index, LazyArray
from .region import read_region, read_stretch
from .stored import Context, Piece, Variable

MOST_POSITIONS, SPARSEST = 1 << 24, 1024  # along an axis; per value that is stored

# The name of a centring by its number, the bits of its nodes.
CENTERINGS = {sum(1 << "xyz".index(axis) for axis in nodes): name for name, nodes in NODES.items()}


class _Node(dict[str, Any]):
    """A mesh or a variable in the form in which HDF5 would show it, for the functions of axes.py."""

    def __init__(self, name: str, attrs: dict[str, Any], arrays: dict[str, Any] | None = None) -> None:
        super().__init__(arrays or {})
        self.name, self.attrs = name, attrs


@dataclass(frozen=True, eq=False)
class StoredArray(LazyArray):
    """A variable of a context on a level."""

    context: Context = field(repr=False)
    variable: Variable = field(repr=False)
    level: int
    lo: NDArray[np.int64] = field(repr=False)  # indices of its first point along i, j, k; 0 for a list
    axes: tuple[int, ...] = field(repr=False)  # which of these its dimensions are

    def _pieces(self) -> list[Piece]:
        return self.context.pieces(self.variable, None if self.context.is_list(self.variable.mesh) else self.level)

    @property
    def stored(self) -> int:
        """Number of its points that are in blocks."""
        return sum(int(np.prod(piece.hi - piece.lo)) for piece in self._pieces())

    def _read(self, index: Index) -> NDArray[Any]:
        with reading(f"{self.context.place}: '{self.variable.name}' of {self.context.name}"):
            return self._read_part(index)

    def _read_part(self, index: Index) -> NDArray[Any]:
        space = len(self.axes)
        index = (*index, *(slice(None),) * (self.ndim - len(index)))
        bounds = [
            k.indices(n) if isinstance(k, slice) else (k, k + 1, 1) for k, n in zip(index, self.shape, strict=True)
        ]
        lo, hi = self.lo.copy(), self.lo + 1
        for axis, (start, stop, _) in zip(self.axes, bounds[:space], strict=True):
            lo[axis], hi[axis] = self.lo[axis] + start, self.lo[axis] + max(start, stop)
        if self.context.is_list(self.variable.mesh):
            values = read_stretch(self.context, self.variable, int(lo[0]), int(hi[0]), self._pieces())
        else:
            values, _ = read_region(self.context, self.variable, self.level, lo, hi, self._pieces())
        spatial = values.reshape(*(int(hi[axis] - lo[axis]) for axis in self.axes), self.variable.components)
        if self.variable.components == 1:
            spatial = spatial[..., 0]
        rest = index[space:]
        steps = tuple(
            slice(None, None, s) if isinstance(k, slice) else 0 for k, (_, _, s) in zip(index, bounds, strict=True)
        )
        return spatial[(*steps[:space], *rest)]


def _axes_of(variable: Variable, dimensions: int, as_list: bool) -> tuple[int, ...]:
    if as_list:
        return (0,)
    return tuple(range(dimensions)) if variable.order == "row" else tuple(reversed(range(dimensions)))


def _cuts(pieces: list[Piece], axes: tuple[int, ...], lo: Any, hi: Any, nodes: Any) -> tuple[tuple[int, ...], ...]:
    """Sizes of chunks along each axis that blocks do not cross; the whole size if blocks are not in rows."""
    edges = []
    for axis in axes:
        node = int(
            nodes[axis]
        )  # a plane that two blocks share belongs to the later chunk, and the last plane to the one before
        at = {int(p.lo[axis]) for p in pieces} | {int(p.hi[axis]) - node for p in pieces}
        edges.append(sorted({int(lo[axis]), *(n for n in at if lo[axis] < n < hi[axis] - node), int(hi[axis])}))
    if np.prod([len(edge) - 1 for edge in edges]) > 2 * max(1, len(pieces)):
        return tuple((int(hi[axis] - lo[axis]),) for axis in axes)
    return tuple(tuple(int(n) for n in np.diff(edge)) or (0,) for edge in edges)


def _check_axes(variable: Variable, shape: tuple[int, ...], pieces: list[Piece]) -> None:
    """Each axis gets an array of positions, whose length comes from an untrusted file."""
    stored = sum(int(np.prod(p.hi - p.lo)) for p in pieces)
    if max(shape, default=0) > max(MOST_POSITIONS, SPARSEST * stored):
        raise ValueError(f"'{variable.name}' has {max(shape)} points along an axis, and {stored} of them are stored")


def _name_of(centering: int, dimensions: int) -> str:
    """The word of the configuration for a mesh of that many dimensions, as the outputs write it."""
    there = centering & (1 << dimensions) - 1
    return "node" if there and there == (1 << dimensions) - 1 else CENTERINGS[there]


def _attributes(variable: Variable, dimensions: int, level: int) -> dict[str, Any]:
    attrs: dict[str, Any] = {"units": variable.unit} if variable.unit else {}
    attrs |= {"long_name": variable.label} if variable.label else {}
    attrs |= {"mesh": variable.mesh, "centering": _name_of(variable.centering, dimensions)}
    attrs |= {"order": variable.order}
    lists = [" ".join(names) for names in variable.codecs if names]
    attrs |= {"codec": " or ".join(lists)} if lists else {}
    return attrs | ({"level": level} if level else {}) | variable.attributes


class _Opening:
    """Converts a context to arrays and coordinates."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.sizes: dict[str, int] = {}
        self.arrays: dict[str, LazyArray] = {}
        self.coords: dict[str, tuple[tuple[str, ...], NDArray[Any]]] = {}
        self.about: dict[str, dict[str, str]] = {}
        several = len({v.mesh for v in context.variables.values()}) > 1
        self.prefixes = {name: f"{name}_" if several else "" for name in context.meshes}

    def mesh(self, variable: Variable, level: int) -> tuple[_Node, Any, Any]:
        """The mesh on a level, and the first and last index + 1 of the variable's points on it."""
        about = self.context.meshes[variable.mesh]
        ratio = np.prod([[1, 1, 1], *about["refinement"][:level]], axis=0).astype(np.int64)
        cells = np.array(about["cells"], np.int64) * ratio
        attrs = {"kind": about["type"], "dimensions": about["dimensions"], "lo": cells[0], **about["arrays"]}
        attrs |= {name: about[name] for name in ("units", "labels") if name in about}
        if about["type"] == "uniform":
            attrs |= {"origin": np.array(about["origin"], float), "spacing": np.array(about["spacing"], float) / ratio}
        nodes = {axis: np.array(at, np.float64) for axis, at in zip("xyz", about.get("nodes", ()), strict=False)}
        return _Node(variable.mesh, attrs, nodes), cells[0], cells[1] + variable.beyond(about)

    def fitting(self, name: str, dims: tuple[str, ...], shape: tuple[int, ...]) -> tuple[str, ...]:
        """The dimensions, renamed where another one of that name has a different length."""
        found = tuple(d if self.sizes.get(d, n) == n else f"{name}_{d}" for d, n in zip(dims, shape, strict=True))
        self.sizes |= dict(zip(found, shape, strict=True))
        return found

    def add(self, variable: Variable, level: int) -> None:
        mesh, lo, hi = self.mesh(variable, level)
        as_list = is_list(mesh)
        pieces = self.context.pieces(variable, None if as_list else level)
        if as_list:
            lo, hi = np.zeros(3, np.int64), np.array([sum(int(p.hi[0]) for p in pieces), 1, 1])
        suffix = f"_level{level}" if level else ""
        dimensions = int(mesh.attrs["dimensions"])
        axes = _axes_of(variable, dimensions, as_list)
        shape = tuple(int(hi[axis] - lo[axis]) for axis in axes)
        _check_axes(variable, shape, pieces)
        components = (variable.components,) if variable.components > 1 else ()
        shown = _Node(
            variable.name, {"centering": _name_of(variable.centering, dimensions), "components": variable.components}
        )
        shown.attrs |= {"order": variable.order, "lo": lo, "hi": hi}
        prefix = self.prefixes[variable.mesh]
        named = tuple(
            name + (suffix if n < len(axes) else "")
            for n, name in enumerate(dimensions_of(variable.name, shown, mesh, prefix))
        )
        dims = self.fitting(variable.name + suffix, named, (*shape, *components))
        chunks = (
            _cuts(pieces, axes, lo, hi, variable.nodes * ("points" not in self.context.meshes[variable.mesh]))
            if not as_list
            else (tuple(int(p.hi[0]) for p in pieces) or (0,),)
        )
        self.arrays[variable.name + suffix] = StoredArray(
            dims,
            (*shape, *components),
            variable.dtype.newbyteorder("="),
            _attributes(variable, dimensions, level),
            (*chunks, *((n,) for n in components)),
            self.context,
            variable,
            level,
            lo,
            axes,
        )
        if level == 0 or mesh.attrs["kind"] == "uniform":
            for (axis, positions), about in zip(
                coordinates_of(shown, mesh, prefix).items(), about_axes(mesh), strict=False
            ):
                dim = dims[named.index(axis + suffix)]
                self.coords.setdefault(dim, ((dim,), positions))
                self.about.setdefault(dim, about)
        if as_list:
            ids = np.repeat([int(p.block["id"]) for p in pieces], [int(p.hi[0]) for p in pieces]).astype(np.int64)
            self.coords.setdefault(f"{dims[0]}_block", ((dims[0],), ids))

    def levels(self, variable: Variable) -> range:
        """The levels that the variable may have; one for lists, whose blocks are one after the other."""
        if self.context.is_list(variable.mesh):
            return range(1)
        return range(int(max((b for b in self.context.blocks(variable.mesh)["level"]), default=0)) + 1)


def fields_of(context: Context) -> Fields:
    """The variables of a context by name; those of level n > 0 as NAME_leveln."""
    with reading(f"{context.place}: {context.name}"):
        opening = _Opening(context)
        for variable in context.variables.values():
            for level in opening.levels(variable):
                opening.add(variable, level)
    slot = context.slot
    attrs = {"iteration": slot.iteration, "cycle": slot.cycle, "time": slot.time, "kind": slot.kind}
    attrs |= {"provenance": context.provenance, "checksums": "verified" if can_verify() else "not verified"}
    for name, about in context.meshes.items():
        attrs |= {f"{name}_{key}": value for key, value in about.get("attributes", {}).items()}
    return Fields(context.place, opening.arrays, opening.coords, attrs, opening.about)
