"""Points and cells of meshes that are lists, with VTK's numbering over all blocks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Error
from ..reader.stored import Context
from .vtk_xml import Array

_VERTEX = 1


def _by_block(context: Context, name: str) -> dict[int, NDArray[Any]]:
    variable = context.variables[name]
    return {int(p.block["id"]): context.read(variable, p) for p in context.pieces(variable)}


def _vertices(points: int) -> list[Array]:
    numbers = np.arange(points, dtype=np.int64)
    types = np.full(points, _VERTEX, np.uint8)
    return [Array.of("connectivity", numbers), Array.of("offsets", numbers + 1), Array.of("types", types)]


def cells_of(mesh: Any, about: dict[str, Any]) -> tuple[NDArray[Any], list[Array], tuple[int, int]]:
    """Positions, the arrays of the cells, and the numbers of points and cells."""
    points = mesh.array_in("coordinates")
    points = points if points.ndim > 1 else points[:, None]
    if about["type"] == "points":
        return points, _vertices(len(points)), (len(points), len(points))
    if "faces" in about["arrays"]:
        raise Error(f"export: the mesh '{mesh.name}' has polyhedra, which are not exported to VTK; export to .h5")
    context = mesh.context
    names = about["arrays"]
    positions = _by_block(context, names["coordinates"])
    corners = {role: _by_block(context, names[role]) for role in ("connectivity", "offsets", "types")}
    first, end = 0, 0
    connectivity, offsets = [], []
    for block in sorted(positions):
        own = corners["connectivity"].get(block, np.empty(0, np.int64)).astype(np.int64)
        ends = corners["offsets"].get(block, np.empty(0, np.int64)).astype(np.int64)
        connectivity.append(own + first)
        offsets.append(ends + end)
        first += len(positions[block]) // points.shape[1]
        end += len(own)
    types = [values.astype(np.uint8) for _, values in sorted(corners["types"].items())]
    joined = [np.concatenate(parts or [np.empty(0, np.int64)]) for parts in (connectivity, offsets)]
    all_types = np.concatenate(types or [np.empty(0, np.uint8)])
    cells = [Array.of("connectivity", joined[0]), Array.of("offsets", joined[1]), Array.of("types", all_types)]
    return points, cells, (len(points), len(all_types))
