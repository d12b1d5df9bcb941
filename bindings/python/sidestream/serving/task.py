"""The three kinds of callables that an entry of the configuration may name: a function of blocks or of whole meshes, or
a class."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .analysis import Block, Data, Servers, Whole
from .metadata import Mesh, Variable, slices
from .results import columns_of


class Unfit(ValueError):
    """An option, and its error."""


class Task(Protocol):
    """One entry at work: `local` reduces a server's blocks, `combine` merges the partials."""

    passes: int
    tolerance: float
    meshes: dict[str, Mesh]
    variables: dict[str, Variable]

    def local(self, data: Data) -> Any: ...
    def combine(self, partials: list[Any], servers: Servers) -> Any: ...


class _Of:
    passes = 1
    tolerance = 0.0

    def __init__(self, meshes: dict[str, Mesh], variables: dict[str, Variable]) -> None:
        self.meshes, self.variables = meshes, variables


class OfBlocks(_Of):
    """A function that is called for each block and returns columns: the table has those of all blocks, by block."""

    def __init__(self, call: Callable[[Block], Any], *declared: Any) -> None:
        super().__init__(*declared)
        self._call = call

    def local(self, data: Data) -> list[tuple[int, dict[str, NDArray[Any]]]]:
        rows = []
        for block in data:
            found = self._call(block)
            if found is None:
                continue
            if hasattr(found, "columns") and hasattr(found, "to_numpy"):
                found = {name: found[name].to_numpy() for name in found.columns}
            if not hasattr(found, "items"):
                raise TypeError(
                    f"found a result of type {type(found).__name__} for block {block.id}, expected a dict of numbers "
                    "or columns, a DataFrame or None; a picture or arrays are of a whole mesh: write `whole: true`"
                )
            rows.append((block.id, columns_of(found)))
        return rows

    def combine(self, partials: list[Any], servers: Servers) -> Any:
        gathered = servers.gather([row for partial in partials for row in partial])
        rows = sorted((row for part in gathered or [] for row in part), key=lambda row: row[0])
        if not rows:
            return None
        names = list(rows[0][1])
        for block, columns in rows:
            if list(columns) != names:
                raise TypeError(
                    f"found the columns {list(columns)} of block {block}, expected {names} as of block {rows[0][0]}"
                )
        lengths = [len(next(iter(columns.values()), ())) for _, columns in rows]
        table = {"block": np.repeat([block for block, _ in rows], lengths)}
        return table | {name: np.concatenate([columns[name] for _, columns in rows]) for name in names}


class OfWhole(_Of):
    """A function that is called once, on the first server, with the whole mesh."""

    def __init__(self, call: Callable[[Whole], Any], mesh: Mesh, asked: list[str], *declared: Any) -> None:
        super().__init__(*declared)
        self._call, self._mesh, self._asked = call, mesh, asked

    def local(self, data: Data) -> list[tuple[int, str, Any, NDArray[Any], NDArray[np.bool_]]]:
        return [part for block in data for part in self._parts(data, block)]

    def _parts(self, data: Data, block: Block) -> Iterator[tuple[int, str, Any, NDArray[Any], NDArray[np.bool_]]]:
        for name, record in block._records.items():
            mask = block.counted(name)
            values = block[name]
            if self._mesh.is_list:
                yield block.id, name, None, values[mask], mask[mask]
            else:
                yield block.id, name, record["points"], values.copy(), mask

    def combine(self, partials: list[Any], servers: Servers) -> Any:
        gathered = servers.gather([part for partial in partials for part in partial])
        if gathered is None:
            return None
        parts = sorted((part for all_of in gathered for part in all_of), key=lambda part: part[:2])
        values: dict[str, NDArray[Any]] = {}
        known: dict[str, NDArray[np.bool_]] = {}
        for name in dict.fromkeys([v.name for v in self.variables.values() if v.mesh == self._mesh.name]):
            mine = [part[2:] for part in parts if part[1] == name]
            if mine or name in self._asked:
                values[name], known[name] = self._joined(self.variables[name], mine)
        iteration = (servers.index, servers.cycle, servers.time)
        return self._call(Whole(iteration, self._mesh, self.variables, values, known))

    def _joined(self, variable: Variable, parts: list[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        more = () if variable.components == 1 else (variable.components,)
        if self._mesh.is_list:
            empty = np.empty((0, *more), variable.type)
            joined = np.concatenate([empty, *(values for _, values, _ in parts)])
            return joined, np.ones(len(joined), bool)
        lo, _ = variable.points
        shape = [part.stop for part in slices(variable.points, lo, self._mesh.axes, variable.order)]
        values = np.full([*shape, *more], np.nan if variable.type.startswith("float") else 0, variable.type)
        known = np.zeros(shape, bool)
        for points, part, mask in parts:
            where = slices(points, lo, self._mesh.axes, variable.order)
            values[where][mask] = part[mask]
            known[where] |= mask
        return values, known


class OfClass(_Of):
    """An object with `local` and `combine`."""

    def __init__(self, made: Any, *declared: Any) -> None:
        super().__init__(*declared)
        self.passes, self.tolerance = getattr(made, "passes", 1), float(getattr(made, "tolerance", 0.0))
        self.local, self.combine = made.local, made.combine


def _mesh_of(variables: list[str], known: dict[str, Variable], meshes: dict[str, Mesh]) -> Mesh:
    names = list(dict.fromkeys(known[name].mesh for name in variables))
    if len(names) > 1:
        raise Unfit(
            "variables",
            f"found variables on the meshes {', '.join(names)} for a function, which gets blocks of one; make an entry "
            "of each, or write a class",
        )
    return meshes[names[0]]


def _object(call: type, name: str, arguments: dict[str, Any]) -> Any:
    missing = [n for n in ("local", "combine") if not callable(getattr(call, n, None))]
    if missing:
        raise Unfit("call", f"the class '{name}' has no method {' and no '.join(missing)}, expected local and combine")
    made = call(**arguments)
    passes = getattr(made, "passes", 1)
    if not isinstance(passes, int) or passes < 1:
        raise Unfit("call", f"'passes' of the class '{name}' is {passes!r}, expected a whole number from 1")
    return made


def task_of(
    call: Callable[..., Any],
    name: str,
    arguments: dict[str, Any],
    meshes: dict[str, Mesh],
    known: dict[str, Variable],
    variables: list[str],
    whole: bool,
) -> Task:
    """Makes the task of an entry. Raises Unfit(option, error)."""
    if isinstance(call, type):
        if whole:
            raise Unfit("whole", f"found `whole` for the class '{name}', expected a function; remove it")
        return OfClass(_object(call, name, arguments), meshes, known)
    mesh = _mesh_of(variables, known, meshes)

    def with_arguments(what: Any) -> Any:
        return call(what, **arguments)

    if not whole:
        return OfBlocks(with_arguments, meshes, known)
    if mesh.refinement or mesh.kind in ("unstructured", "octree"):
        raise Unfit(
            "whole",
            f"found the mesh '{mesh.name}', which is {'refined' if mesh.refinement else mesh.kind}, expected boxes of "
            "one level, or points; leave out `whole` and write a class",
        )
    return OfWhole(with_arguments, mesh, variables, meshes, known)
