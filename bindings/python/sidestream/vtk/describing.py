"""Blocks and whole meshes, described as `grids.grid_of` takes them: a dict, and a list of arrays that it names by their
positions. Arrays are views wherever VTK can take them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..paraview.gathered import Arrays, in_order, three, uniform, with_three

Description = tuple[dict[str, Any], Arrays]
Corner = tuple[int, ...]

# Marks of VTK in arrays named vtkGhostType.
DUPLICATE, HIDDEN_POINT, HIDDEN_CELL, COVERED = 1, 2, 32, 8 + 32
_POLYHEDRON = 42


class Given(NamedTuple):
    """The values on a mesh between two corners."""

    what: str  # in messages
    mesh: Any
    variables: dict[str, Any]
    level: int
    lo: Corner  # of cells
    hi: Corner
    values: dict[str, NDArray[Any]]  # [k, j, i], then the component
    marks: dict[str, NDArray[np.uint8]]  # vtkGhostType of cells and nodes (`cell`, `node`), where any is not 0

    @property
    def roles(self) -> dict[str, NDArray[Any]]:
        """The arrays that describe the mesh."""
        return {v.role: self.values[name] for name, v in self.variables.items() if v.role != "none"}


def of_block(block: Any, names: Iterable[str] | None, ghosts: bool) -> Given:
    """The arrays of a block. Raises ValueError for what VTK does not get."""
    what = f"block {block.id} of '{block.mesh.name}'"
    variables = _variables(what, block.mesh, block.data.variables, list(block), block._records, names)
    mesh = block.mesh
    if mesh.is_list:
        marks = {"cell": _marked(block, variables, ("types",)), "node": _marked(block, variables, ("coordinates",))}
        values = {name: block[name] for name in variables}
        return Given(what, mesh, variables, 0, (0,), (0,), values, _any(marks))
    lo, hi = _common(block, variables) if ghosts else (block.lo, block.hi)
    values = {name: _cut(what, block, variable, lo, hi) for name, variable in variables.items()}
    more = COVERED if mesh.refinement else DUPLICATE
    marks = {"cell": _marks(block, variables, lo, hi, 0, more), "node": _marks(block, variables, lo, hi, 1, DUPLICATE)}
    return Given(what, mesh, variables, block.level, lo, hi, values, _any(marks))


def of_whole(whole: Any, names: Iterable[str] | None) -> Given:
    """The arrays of a whole mesh. Raises ValueError for what VTK does not get."""
    mesh = whole.mesh
    what = f"the whole mesh '{mesh.name}'"
    there = [name for name in whole if whole.known(name).any()]  # not those that nobody asked for
    variables = _variables(what, mesh, whole.variables, there, whole._values, names)
    lo, hi = (corner[: mesh.axes] for corner in mesh.cells)
    values = {name: in_order(whole[name], variable, mesh) for name, variable in variables.items()}
    marks: dict[str, NDArray[np.uint8] | None] = {}
    for name, variable in variables.items() if not mesh.is_list else ():
        missing = ~in_order(whole.known(name), variable, mesh)
        mark = HIDDEN_CELL if variable.centering == "cell" else HIDDEN_POINT
        before = marks.get(variable.centering)
        hidden = np.where(missing, np.uint8(mark), np.uint8(0))
        marks[variable.centering] = hidden if before is None else np.maximum(before, hidden)
    return Given(what, mesh, variables, 0, lo, hi, values, _any(marks))


def _variables(
    what: str, mesh: Any, known: dict[str, Any], there: list[str], arrays: Any, names: Iterable[str] | None
) -> dict[str, Any]:
    """The variables asked for, then those that describe the mesh."""
    asked = there if names is None else list(names)
    check_names(what, asked, there)
    for name in asked:
        if known[name].centering not in ("cell", "node"):
            raise ValueError(
                f"found '{name}' at {known[name].centering}, expected a variable in cells or at nodes: name the "
                "others in `variables` of the call"
            )
    own = [name for name in arrays if known[name].mesh == mesh.name and known[name].role != "none"]
    roles = {known[name].role for name in own}
    needed = {"points": ("coordinates",), "curvilinear": ("coordinates",)}
    needed["unstructured"] = ("coordinates", "connectivity", "offsets", "types")
    lacking = [role for role in needed.get(mesh.kind, ()) if role not in roles]
    if lacking:
        raise ValueError(f"{what} has no {lacking[0]} in this iteration; publish the mesh's arrays with its values")
    return {name: known[name] for name in [*asked, *own]}


def check_names(what: str, asked: list[str], there: list[str]) -> None:
    """Raises KeyError unless all are there."""
    absent = [name for name in asked if name not in there]
    if absent:
        raise KeyError(f"{what} has no values of '{absent[0]}' in this iteration, but of {', '.join(there) or 'none'}")


def _any(marks: dict[str, NDArray[np.uint8] | None]) -> dict[str, NDArray[np.uint8]]:
    return {at: mark for at, mark in marks.items() if mark is not None and mark.any()}


def _marked(block: Any, variables: dict[str, Any], roles: tuple[str, ...]) -> NDArray[np.uint8] | None:
    """Points or cells of lists that do not count here are duplicates."""
    for name, variable in variables.items():
        if variable.role in roles:
            return np.where(block.counted(name), np.uint8(0), np.uint8(DUPLICATE))
    return None


def _inside(lo: Corner, hi: Corner, origin: Corner, more: int) -> tuple[slice, ...]:
    """Slices of a box in an array [k, j, i] that begins at `origin`; `more` is 1 for nodes."""
    return tuple(slice(a - o, b - o + more) for a, b, o in zip(lo[::-1], hi[::-1], origin[::-1], strict=True))


def _marks(
    block: Any, variables: dict[str, Any], lo: Corner, hi: Corner, nodes: int, uncounted: int
) -> NDArray[np.uint8] | None:
    """Ghosts are duplicates; those of the block that do not count are marked as `uncounted`."""
    at = "node" if nodes else "cell"
    marks = np.full([b - a + nodes for a, b in zip(lo[::-1], hi[::-1], strict=True)], DUPLICATE, np.uint8)
    own = marks[_inside(block.lo, block.hi, lo, nodes)]
    own[...] = 0
    name = next((n for n, v in variables.items() if v.centering == at and v.role == "none"), None)
    if name is not None:
        own[~in_order(block.counted(name), variables[name], block.mesh)] = uncounted
    return marks


def _cells_of(block: Any, variable: Any) -> tuple[Corner, Corner]:
    """The cells that a published array covers; of an array at nodes, those between them."""
    lo, hi = block.box(variable.name)
    return lo, tuple(n - int(variable.centering == "node") for n in hi)


def _common(block: Any, variables: dict[str, Any]) -> tuple[Corner, Corner]:
    """The cells that all published arrays cover, ghosts included."""
    boxes = [_cells_of(block, variable) for variable in variables.values()] or [(block.lo, block.hi)]
    mesh = block.mesh
    if mesh.kind == "rectilinear":  # which has no nodes beyond its ends
        fine = _fine(mesh, block.level)
        boxes.append(tuple(tuple(n * f for n, f in zip(c[: mesh.axes], fine, strict=False)) for c in mesh.cells))
    return tuple(map(max, zip(*(lo for lo, _ in boxes), strict=True))), tuple(
        map(min, zip(*(hi for _, hi in boxes), strict=True))
    )


def _cut(what: str, block: Any, variable: Any, lo: Corner, hi: Corner) -> NDArray[Any]:
    """The part of a published array that belongs to these cells, as a view."""
    first, last = _cells_of(block, variable)
    if any(a < b for a, b in zip(lo, first, strict=True)) or any(a > b for a, b in zip(hi, last, strict=True)):
        raise ValueError(
            f"{what} has values of '{variable.name}' for the cells {first} to {last}, expected {lo} to {hi}"
        )
    whole = in_order(block.published(variable.name), variable, block.mesh)
    return whole[_inside(lo, hi, first, int(variable.centering == "node"))]


def _fine(mesh: Any, level: int) -> list[int]:
    """Cells of a level along one of level 0, by axis."""
    return [int(n) for n in np.prod([np.ones(3, int), *mesh.refinement[:level]], axis=0)]


def described(given: Given) -> Description:
    """Raises ValueError for polyhedra, which VTK only takes as a copy in another form."""
    arrays = Arrays()
    made = _list(given, arrays) if given.mesh.is_list else _box(given, arrays)
    made["fields"] = fields_of(given, arrays)
    return made, arrays


def fields_of(given: Given, arrays: Arrays) -> list[dict[str, Any]]:
    """The values, and vtkGhostType where something is marked."""
    points = given.mesh.kind == "points"
    fields = [
        {"name": name, "at": "node" if points else variable.centering, "array": arrays.put(given.values[name])}
        for name, variable in given.variables.items()
        if variable.role == "none"
    ]
    marks = dict(given.marks)
    if points and "node" in marks:
        marks["cell"] = marks["node"]  # the vertices, of which there is one for each point
    return fields + [{"name": "vtkGhostType", "at": at, "array": arrays.put(mark)} for at, mark in marks.items()]


def levels_of(mesh: Any, blocks: list[Any], names: list[str] | None) -> Description:
    """The blocks of all levels of a uniform mesh."""
    arrays = Arrays()
    made = []
    blanked = True
    for block in blocks:
        chosen = None if names is None else [name for name in names if name in block]
        given = of_block(block, chosen, False)
        blanked &= any(variable.centering == "cell" for variable in given.variables.values())
        place = {"level": given.level, "lo": three(given.lo, 0), "hi": three(given.hi, 1)}
        made.append({**place, "fields": fields_of(given, arrays)})
    origin, spacing = uniform(mesh)
    ratios = [three(step[: mesh.axes], 1) for step in mesh.refinement]
    first = three(mesh.cells[0][: mesh.axes], 0)
    shape = {"origin": origin, "spacing": spacing, "first": first, "axes": mesh.axes, "ratios": ratios}
    shape |= {"blanked": blanked, "nested": nested(mesh.refinement, mesh.axes, blocks)}
    return {"kind": "levels", **shape, "blocks": made}, arrays


def nested(ratios: Any, axes: int, blocks: list[Any]) -> bool:
    """True if each block of a finer level lies on blocks of the next coarser one that are among these."""

    def cells(lo: Any, hi: Any) -> int:
        return int(np.prod(np.maximum(np.subtract(hi, lo), 0)))

    for block in blocks:
        if block.level > 0:
            step = ratios[block.level - 1][:axes]
            lo = np.floor_divide(block.lo[:axes], step)
            hi = -np.floor_divide(np.negative(block.hi[:axes]), step)
            below = [one for one in blocks if one.level == block.level - 1]
            met = sum(cells(np.maximum(lo, one.lo[:axes]), np.minimum(hi, one.hi[:axes])) for one in below)
            if met < cells(lo, hi):
                return False
    return True


def _box(given: Given, arrays: Arrays) -> dict[str, Any]:
    mesh, axes = given.mesh, given.mesh.axes
    fine = _fine(mesh, given.level)
    first = [int(a) - int(o) * f for a, o, f in zip(given.lo, mesh.cells[0], fine, strict=False)]
    cells = [int(b) - int(a) for a, b in zip(given.lo, given.hi, strict=True)]
    extent = three(cells, 0) if all(cells) else [-1, -1, -1]  # as VTK says that there is nothing
    made: dict[str, Any] = {"kind": mesh.kind, "cells": extent, "first": three(first, 0)}
    if mesh.kind == "uniform":
        origin, spacing = uniform(mesh)
        made |= {"origin": origin, "spacing": [h / f for h, f in zip(spacing, fine, strict=True)]}
        made["refined"] = bool(mesh.refinement)
    elif mesh.kind == "rectilinear":
        ends = zip(given.lo, given.hi, strict=True)
        made["nodes"] = [arrays.put(mesh.nodes_of(n, a, b + 1, given.level)) for n, (a, b) in zip(range(axes), ends)]  # noqa: B905
    else:
        places = given.roles["coordinates"]
        made["coordinates"] = arrays.put(_places(places.reshape(-1, mesh.dimensions)))
    return made


def _places(places: NDArray[Any]) -> NDArray[Any]:
    return places if places.shape[1] == 3 else with_three(places)


def _list(given: Given, arrays: Arrays) -> dict[str, Any]:
    roles = given.roles
    coordinates = roles["coordinates"]
    made: dict[str, Any] = {"kind": given.mesh.kind}
    made["coordinates"] = arrays.put(_places(coordinates.reshape(len(coordinates), given.mesh.dimensions)))
    if given.mesh.kind == "unstructured":
        if (roles["types"] == _POLYHEDRON).any():
            raise ValueError(
                f"found polyhedra in {given.what}, which VTK takes only as a copy in another form: use the output `vtk`"
            )
        links = roles["connectivity"]
        ends = np.zeros(len(roles["offsets"]) + 1, links.dtype)  # VTK wants both of one type, and a 0 in front
        ends[1:] = roles["offsets"]
        made |= {"connectivity": arrays.put(links), "offsets": arrays.put(ends), "types": arrays.put(roles["types"])}
    return made
