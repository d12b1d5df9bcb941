"""Whole meshes made of blocks, described for ParaView's interpreter.

A description is a dict that JSON can hold; numbers in it that stand for arrays are positions in a list beside it.
Arrays have the axes [k, j, i], then the component.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Piece = dict[str, Any]


def pieces_of(data: Any) -> tuple[dict[str, Any], dict[str, Any], list[Piece]]:
    """The declarations, and copies of the blocks of one server. Raises ValueError for what ParaView does not get."""
    for name, variable in data.variables.items():
        if variable.role == "none" and variable.centering not in ("cell", "node"):
            raise ValueError(f"found '{name}' at {variable.centering}, expected a variable in cells or at nodes")
    return data.meshes, data.variables, [_piece(data, block) for block in data]


def _piece(data: Any, block: Any) -> Piece:
    mesh = block.mesh
    _check(mesh)
    values, masks = {}, {}
    for name in block._records:
        variable = data.variables[name]
        given, counted = block[name], block.counted(name)
        values[name] = in_order(given, variable, mesh).copy()
        masks[name] = in_order(counted, variable, mesh).copy()
    points = {name: block._records[name]["points"] for name in values}
    place = {"mesh": mesh.name, "id": block.id, "level": block.level, "lo": block.lo, "hi": block.hi}
    return {**place, "values": values, "counted": masks, "points": points}


def _check(mesh: Any) -> None:
    if mesh.kind == "octree":
        raise ValueError(
            f"found the octree '{mesh.name}', which ParaView does not get; draw it with the analysis `render`"
        )
    if mesh.refinement and mesh.kind != "uniform":
        raise ValueError(f"found refinement levels of the {mesh.kind} mesh '{mesh.name}', expected a uniform mesh")


def in_order(array: NDArray[Any], variable: Any, mesh: Any) -> NDArray[Any]:
    """The array with the axes [k, j, i] of its mesh first."""
    if mesh.is_list or variable.order != "row":
        return array
    return array.transpose([*reversed(range(mesh.axes)), *range(mesh.axes, array.ndim)])


class Arrays(list[NDArray[Any]]):
    """Arrays that descriptions name by position."""

    def put(self, array: NDArray[Any]) -> int:
        self.append(np.ascontiguousarray(array))
        return len(self) - 1


def joined(partials: list[Any]) -> tuple[list[dict[str, Any]], list[NDArray[Any]]]:
    """Descriptions of the meshes that have blocks, and their arrays."""
    arrays = Arrays()
    pieces = sorted((piece for _, _, own in partials for piece in own), key=lambda piece: piece["id"])
    meshes: list[dict[str, Any]] = []
    if not pieces:
        return meshes, arrays
    declared, variables, _ = partials[0]
    for mesh in declared.values():
        mine = [piece for piece in pieces if piece["mesh"] == mesh.name]
        if not mine:
            continue
        own = {
            name: v for name, v in variables.items() if v.mesh == mesh.name and any(name in p["values"] for p in mine)
        }
        make = _lists if mesh.is_list else _levels if mesh.refinement else _boxes
        meshes.append({"name": mesh.name, **make(mesh, own, mine, arrays)})
    return meshes, arrays


def three(values: Any, missing: Any) -> list[Any]:
    """Numbers for three axes."""
    return [*values, *[missing] * (3 - len(values))]


def uniform(mesh: Any) -> tuple[list[float], list[float]]:
    """Origin and spacing of level 0."""
    axes = mesh.nodes[: mesh.axes]
    spacing = [float((axis[-1] - axis[0]) / (len(axis) - 1)) if len(axis) > 1 else 1.0 for axis in axes]
    return three([float(axis[0]) for axis in axes], 0.0), three(spacing, 1.0)


def _boxes(mesh: Any, variables: dict[str, Any], pieces: list[Piece], arrays: Arrays) -> dict[str, Any]:
    """One grid over all cells; values that were not delivered are NaN, or 0 for whole numbers."""
    cells = [hi - lo for lo, hi in zip(mesh.cells[0][: mesh.axes], mesh.cells[1][: mesh.axes], strict=True)]
    made: dict[str, Any] = {"kind": mesh.kind, "cells": three(cells, 0), "fields": []}
    if mesh.kind == "uniform":
        made["origin"], made["spacing"] = uniform(mesh)
    elif mesh.kind == "rectilinear":
        made["nodes"] = [arrays.put(axis) for axis in mesh.nodes[: mesh.axes]]
    for name, variable in variables.items():
        whole = _whole(mesh, variable, pieces)
        if variable.role == "none":
            made["fields"].append({"name": name, "at": variable.centering, "array": arrays.put(whole)})
        elif variable.role == "coordinates":
            made["coordinates"] = arrays.put(with_three(whole.reshape(-1, mesh.dimensions)))
    return made


def _whole(mesh: Any, variable: Any, pieces: list[Piece]) -> NDArray[Any]:
    first, last = (corner[: mesh.axes][::-1] for corner in variable.points)
    shape = [b - a for a, b in zip(first, last, strict=True)]
    more = [variable.components] if variable.components > 1 else []
    whole = np.full([*shape, *more], np.nan if variable.type.startswith("float") else 0, variable.type)
    for piece in pieces:
        if variable.name in piece["values"]:
            lo, hi = (corner[: mesh.axes][::-1] for corner in piece["points"][variable.name])
            where = tuple(slice(a - f, b - f) for a, b, f in zip(lo, hi, first, strict=True))
            mask = piece["counted"][variable.name]
            whole[where][mask] = piece["values"][variable.name][mask]
    return whole


def _levels(mesh: Any, variables: dict[str, Any], pieces: list[Piece], arrays: Arrays) -> dict[str, Any]:
    """The blocks of all levels, coarse ones under finer ones included."""
    origin, spacing = uniform(mesh)
    blocks = []
    for piece in pieces:
        fields = [
            {"name": name, "at": variable.centering, "array": arrays.put(piece["values"][name])}
            for name, variable in variables.items()
            if name in piece["values"]
        ]
        place = {"level": piece["level"], "lo": three(piece["lo"], 0), "hi": three(piece["hi"], 1)}
        blocks.append({**place, "fields": fields})
    ratios = [three(step[: mesh.axes], 1) for step in mesh.refinement]
    first = three(mesh.cells[0][: mesh.axes], 0)
    shape = {"origin": origin, "spacing": spacing, "first": first, "axes": mesh.axes, "ratios": ratios}
    return {"kind": "levels", **shape, "blocks": blocks}


def _lists(mesh: Any, variables: dict[str, Any], pieces: list[Piece], arrays: Arrays) -> dict[str, Any]:
    """All points; of cells, those that count."""
    role = {variable.role: name for name, variable in variables.items() if variable.role != "none"}
    if mesh.kind == "unstructured" and "faces" in role:
        raise ValueError(f"found polyhedra on '{mesh.name}', which ParaView does not get")
    whole = [piece for piece in pieces if all(name in piece["values"] for name in variables)]
    counted = mesh.kind == "points"  # only of particles: cells refer to all points of their block

    def kept(name: str, piece: Piece) -> NDArray[Any]:
        at_points = variables[name].centering == "node" or variables[name].role == "coordinates"
        mask = piece["counted"][name] if counted or not at_points else slice(None)
        return np.asarray(piece["values"][name][mask])

    made: dict[str, Any] = {"kind": mesh.kind, "fields": []}
    places = np.concatenate([kept(role["coordinates"], piece) for piece in whole])
    made["coordinates"] = arrays.put(with_three(places.reshape(len(places), mesh.dimensions)))
    for name, variable in variables.items():
        if variable.role == "none":
            array = np.concatenate([kept(name, piece) for piece in whole])
            at = "node" if mesh.kind == "points" else variable.centering
            made["fields"].append({"name": name, "at": at, "array": arrays.put(array)})
    if mesh.kind == "unstructured":
        cells = [_cells(role, piece) for piece in whole]
        first = np.cumsum([0, *(len(piece["values"][role["coordinates"]]) for piece in whole)])
        links = np.concatenate([links + n for (links, _, _), n in zip(cells, first, strict=False)])
        ends = np.cumsum([0, *np.concatenate([lengths for _, lengths, _ in cells])])
        made["connectivity"], made["offsets"] = arrays.put(links), arrays.put(ends.astype(np.int64))
        made["types"] = arrays.put(np.concatenate([types for _, _, types in cells]))
    return made


def _cells(role: dict[str, str], piece: Piece) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The points, lengths and types of the cells of a block that count."""
    values = piece["values"]
    counted = piece["counted"][role["types"]]
    lengths = np.diff(values[role["offsets"]].astype(np.int64), prepend=0)
    links = values[role["connectivity"]].astype(np.int64)[np.repeat(counted, lengths)]
    return links, lengths[counted], values[role["types"]][counted]


def with_three(places: NDArray[Any]) -> NDArray[Any]:
    """Positions with three components."""
    made = np.zeros((len(places), 3), places.dtype)
    made[:, : places.shape[1]] = places
    return made
