"""The calls that declare: parameters, meshes, variables, blocks. Boxes are half-open and in (i, j, k), with an entry
for each axis of the mesh."""

from collections.abc import Sequence
from enum import IntEnum
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .. import _client
from ..errors import Error

TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
CENTERINGS = ("cell", "x-face", "y-face", "z-edge", "z-face", "y-edge", "x-edge", "node")
ORDERS = ("column", "row")


class Role(IntEnum):
    """The role of a variable for its mesh; see sidestream_role in sidestream.h."""

    COORDINATES = 1
    CONNECTIVITY = 2
    OFFSETS = 3
    TYPES = 4
    FACES = 5
    FACE_OFFSETS = 6
    POINT_IDS = 7
    CELL_IDS = 8
    POINT_GHOSTS = 9
    CELL_GHOSTS = 10
    REFINED = 11
    OWNED = 12


# Bounds of an omitted axis; the library fills it in or refuses it once it knows the mesh.
_NOT_GIVEN = -(2**63)

Indices = Sequence[SupportsIndex]
Reals = Sequence[SupportsFloat]


def _number_of(call: str, what: str, name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise Error(f"{call}: the {what} is '{name}', expected one of {', '.join(names)}")
    return names.index(name)


def _indices(call: str, name: str, given: Indices, fill: int | None = None) -> list[int]:
    """`given` as whole numbers, padded to three entries if `fill` is given."""
    if not 1 <= len(given) <= 3:
        raise Error(f"{call}: {name} has {len(given)} entries, expected one for each axis of the mesh, 1 to 3")
    numbers = [n.__index__() for n in given]
    return numbers if fill is None else numbers + [fill] * (3 - len(numbers))


def _reals(call: str, name: str, given: Reals | None, count: int, default: float) -> list[float]:
    if given is None:
        return [default] * count
    if len(given) != count:
        raise Error(f"{call}: {name} has {len(given)} entries, expected {count}, one for each axis")
    return [float(x) for x in given]


def _whole(call: str, name: str, given: ArrayLike, count: int | None = None) -> NDArray[np.int64]:
    """`given` as a list of whole numbers, `count` of them unless that is None."""
    array = np.asarray(given)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise Error(f"{call}: {name} is of {array.dtype} and the shape {array.shape}, expected a list of whole numbers")
    if count is not None and len(array) != count:
        raise Error(f"{call}: {name} has {len(array)} entries, expected {count}")
    return array.astype(np.int64)


def _rows(call: str, name: str, given: ArrayLike, count: int) -> NDArray[np.int64]:
    """`given` as `count` rows of one to three whole numbers, one for each axis of the mesh."""
    array = np.asarray(given)
    if array.size == 0 and count == 0:
        return np.zeros((0, 1), np.int64)
    if array.ndim != 2 or len(array) != count or not 1 <= array.shape[1] <= 3 or array.dtype.kind not in "iu":
        raise Error(
            f"{call}: {name} is of {array.dtype} and the shape {array.shape}, expected {count} rows of whole numbers, "
            "one for each axis of the mesh"
        )
    return array.astype(np.int64)


class Declaring:
    """The part of a session that declares."""

    _session: _client.Session

    def set(self, name: str, value: SupportsIndex | SupportsFloat) -> None:
        """Sets $name for the configuration, to a whole or a real number; the same on every client."""
        if isinstance(value, SupportsIndex):
            self._session.set_int(name, value.__index__())
        elif isinstance(value, SupportsFloat):
            self._session.set_real(name, float(value))
        else:
            raise Error(f"set: the value of '{name}' is of {type(value).__name__}, expected a number")

    def add_uniform_mesh(
        self, name: str, size: Indices, origin: Reals | None = None, spacing: Reals | None = None
    ) -> None:
        """Declares a mesh with nodes at origin + spacing * index; the origin is 0 and the spacing 1 unless given."""
        cells = _indices("add_uniform_mesh", "size", size)
        start = _reals("add_uniform_mesh", "origin", origin, len(cells), 0)
        step = _reals("add_uniform_mesh", "spacing", spacing, len(cells), 1)
        self._session.add_uniform_mesh(name, cells, start, step)

    def add_rectilinear_mesh(self, name: str, coordinates: Sequence[ArrayLike]) -> None:
        """Declares a mesh by increasing positions of the nodes of each axis, one more than cells."""
        if not 1 <= len(coordinates) <= 3:
            raise Error(f"add_rectilinear_mesh: there are {len(coordinates)} lists of coordinates, expected 1 to 3")
        self._session.add_rectilinear_mesh(name, [np.asarray(axis, float).ravel().tolist() for axis in coordinates])

    def add_curvilinear_mesh(self, name: str, size: Indices, coordinates: str) -> None:
        """Declares a mesh whose nodes have the positions in the variable `coordinates`."""
        self._session.add_curvilinear_mesh(name, _indices("add_curvilinear_mesh", "size", size), coordinates)

    def add_unstructured_mesh(
        self, name: str, dimensions: int, coordinates: str, connectivity: str, offsets: str, types: str
    ) -> None:
        """Declares a mesh. The arguments name the variables with the positions of its points, and with its cells."""
        self._session.add_unstructured_mesh(name, dimensions, coordinates, connectivity, offsets, types)

    def add_points_mesh(self, name: str, dimensions: int, coordinates: str) -> None:
        """Declares a mesh of points only: particles, markers."""
        self._session.add_points_mesh(name, dimensions, coordinates)

    def add_octree_mesh(
        self, name: str, roots: Indices, refined: str, origin: Reals | None = None, spacing: Reals | None = None
    ) -> None:
        """Declares trees over a box of root cells; `spacing` is the size of a root cell."""
        cells = _indices("add_octree_mesh", "roots", roots)
        start = _reals("add_octree_mesh", "origin", origin, len(cells), 0)
        step = _reals("add_octree_mesh", "spacing", spacing, len(cells), 1)
        self._session.add_octree_mesh(name, cells, start, step, refined)

    def add_spectral_mesh(self, name: str, dimensions: int, continuous: bool = True) -> None:
        """Declares a mesh of spectral elements and its variables, which `set_spectral_block` fills."""
        self._session.add_spectral_mesh(name, dimensions, continuous)

    def set_mesh_array(self, mesh: str, role: Role, variable: str) -> None:
        """Gives a variable of the mesh a role."""
        self._session.set_mesh_array(mesh, int(role), variable)

    def set_periodic(self, mesh: str, periodic: Sequence[bool]) -> None:
        """Declares which axes are periodic."""
        self._session.set_periodic(mesh, _indices("set_periodic", "periodic", [int(p) for p in periodic], 0))

    def set_refinement(self, mesh: str, ratios: Sequence[Indices]) -> None:
        """Declares the refinement ratio from each level to the next, by axis."""
        steps = [_indices("set_refinement", "a step of ratios", ratio, 1) for ratio in ratios]
        self._session.set_refinement(mesh, len(steps), [n for step in steps for n in step])

    def set_fixed(self, mesh: str) -> None:
        """Declares that the blocks of the mesh never change after the start."""
        self._session.set_fixed(mesh)

    def set_owned_points(self, mesh: str) -> None:
        """Declares that no two blocks share points; size and blocks then count points (`points: owned`)."""
        self._session.set_owned_points(mesh)

    def add_variable(
        self,
        name: str,
        mesh: str,
        type: DTypeLike = "float64",
        centering: str = "cell",
        components: int = 1,
        order: str = "column",
    ) -> None:
        """Declares a variable. The words are those of the configuration; `type` may also be a dtype."""
        kind = type if isinstance(type, str) and type in TYPES else np.dtype(type).name
        self._session.add_variable(
            name,
            mesh,
            _number_of("add_variable", "type", kind, TYPES),
            _number_of("add_variable", "centering", centering, CENTERINGS),
            components,
            _number_of("add_variable", "order", order, ORDERS),
        )

    def set_variable_attribute(self, variable: str, attribute: str, value: str) -> None:
        """Sets `unit`, `label`, `group`, `time_varying` or `ghosts`."""
        self._session.set_variable_attribute(variable, attribute, value)

    def set_block(self, mesh: str, block: int, lo: Indices, hi: Indices, level: int = 0) -> None:
        """Declares the cells lo <= index < hi of the mesh as this client's block of that number."""
        low, high = _indices("set_block", "lo", lo, _NOT_GIVEN), _indices("set_block", "hi", hi, _NOT_GIVEN)
        if len(lo) != len(hi):
            raise Error(f"set_block: lo has {len(lo)} entries and hi {len(hi)}, expected one of each for each axis")
        self._session.set_block(mesh, block, level, low, high)

    def set_rectilinear_block(
        self,
        mesh: str,
        block: int,
        lo: Indices,
        hi: Indices,
        x: Reals,
        y: Reals | None = None,
        z: Reals | None = None,
    ) -> None:
        """Declares a block like `set_block`, with the positions of its nodes along each axis, one more than cells. The
        mesh is assembled from all blocks."""
        low = _indices("set_rectilinear_block", "lo", lo, 0)
        high = _indices("set_rectilinear_block", "hi", hi, 1)
        axes = [[float(node) for node in axis] for axis in (x, y, z) if axis is not None]
        self._session.set_rectilinear_block(mesh, block, low, high, axes)

    def set_block_list(
        self,
        mesh: str,
        block: int,
        points: int,
        cells: int,
        corners: int = 0,
        faces: int = 0,
        bounds: Reals | None = None,
    ) -> None:
        """Declares a block of an unstructured mesh or of points by its lengths; `bounds`: xmin, ymin, zmin, xmax, ymax,
        zmax."""
        box = None if bounds is None else _reals("set_block_list", "bounds", bounds, 6, 0)
        self._session.set_block_list(mesh, block, points, cells, corners, faces, box)

    def set_block_bounds(self, mesh: str, block: int, bounds: Reals | None) -> None:
        """Sets the bounds of the block's points from the current iteration on; None: not known."""
        box = None if bounds is None else _reals("set_block_bounds", "bounds", bounds, 6, 0)
        self._session.set_block_bounds(mesh, block, box)

    def remove_block(self, mesh: str, block: int) -> None:
        """Removes the block from the current iteration on."""
        self._session.remove_block(mesh, block)

    def replace_blocks(
        self,
        mesh: str,
        blocks: ArrayLike,
        lo: ArrayLike,
        hi: ArrayLike,
        levels: ArrayLike | None = None,
    ) -> None:
        """Declares all blocks of this client on the mesh, from the current iteration on. `blocks` are their ids. `lo`
        and `hi` have a row for each block; `levels` are 0 if left out."""
        ids = _whole("replace_blocks", "blocks", blocks)
        low, high = (_rows("replace_blocks", *given, len(ids)) for given in (("lo", lo), ("hi", hi)))
        if low.shape != high.shape:
            raise Error(f"replace_blocks: the shapes of lo and hi are {low.shape} and {high.shape}, expected the same")
        on = np.zeros(len(ids), np.int64) if levels is None else _whole("replace_blocks", "levels", levels, len(ids))
        boxes = np.full((2, len(ids), 3), _NOT_GIVEN, np.int64)
        boxes[0, :, : low.shape[1]], boxes[1, :, : high.shape[1]] = low, high
        self._session.replace_blocks(mesh, ids.tolist(), on.tolist(), *(box.ravel().tolist() for box in boxes))

    def replace_block_lists(
        self,
        mesh: str,
        blocks: ArrayLike,
        points: ArrayLike,
        cells: ArrayLike | None = None,
        corners: ArrayLike | None = None,
        faces: ArrayLike | None = None,
        bounds: ArrayLike | None = None,
    ) -> None:
        """Does the same for blocks that are lists. Each argument has an entry for each block, `bounds` a row. Defaults:
        as many cells as points, no corners, no faces, bounds that are not known."""
        call = "replace_block_lists"
        ids = _whole(call, "blocks", blocks)
        lengths = [_whole(call, "points", points, len(ids))]
        lengths.append(lengths[0] if cells is None else _whole(call, "cells", cells, len(ids)))
        for name, given in (("corners", corners), ("faces", faces)):
            lengths.append(np.zeros(len(ids), np.int64) if given is None else _whole(call, name, given, len(ids)))
        places = None if bounds is None else np.asarray(bounds, float)
        if places is not None and places.size != 6 * len(ids):
            raise Error(f"{call}: bounds has {places.size} numbers, expected 6 for each of {len(ids)} blocks")
        self._session.replace_block_lists(
            mesh, ids.tolist(), *(n.tolist() for n in lengths), None if places is None else places.ravel().tolist()
        )

    def set_spectral_block(
        self,
        mesh: str,
        block: int,
        order: int,
        x: ArrayLike,
        y: ArrayLike | None = None,
        z: ArrayLike | None = None,
        numbers: ArrayLike | None = None,
    ) -> None:
        """Declares spectral elements by the positions of their points: in memory element by element, the mesh's first
        axis fastest. `x` may have the shape (elements, n, n, n) with n = order + 1. `numbers`: of the elements."""
        call = "set_spectral_block"
        place = [np.ascontiguousarray(axis, np.float64).ravel() for axis in (x, y, z) if axis is not None]
        if any(axis.size != place[0].size for axis in place):
            raise Error(f"{call}: x, y and z have {[axis.size for axis in place]} numbers, expected as many of each")
        one = max(int(order) + 1, 1) ** len(place)
        elements, rest = divmod(place[0].size, one)
        if rest:
            raise Error(f"{call}: x has {place[0].size} numbers, expected {one} for each element of order {order}")
        own = None if numbers is None else _whole(call, "numbers", numbers, elements)
        self._session.set_spectral_block(mesh, block, order, elements, own, place)

    def set_allocated(self, variable: str, block: int, lo: Indices, hi: Indices) -> None:
        """Sets the indices that the variable's arrays cover on this block, ghosts included."""
        low, high = _indices("set_allocated", "lo", lo, 0), _indices("set_allocated", "hi", hi, 1)
        self._session.set_allocated(variable, block, low, high)
