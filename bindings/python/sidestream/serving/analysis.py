"""The input of analyses in Python: blocks as NumPy arrays, and the servers to combine results with.

docs/python-analyses.md describes which objects come when. Nothing here needs MPI, mpi4py or h5py.
"""

import pickle
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..client.communicator import checked_mpi4py
from ..errors import Code, Error
from .metadata import Box, Index, Mesh, Variable, slices

if TYPE_CHECKING:
    from mpi4py import MPI

Record = dict[str, Any]

_ENDED = "the call that this block was for has ended; keep copies of what is needed later (array.copy())"


class Block(Mapping[str, NDArray[Any]]):
    """One block of a mesh, for the duration of a call: a mapping from the names of variables to their values.

    `block["t"]` is a read-only array over the block's points, without a copy. Its axes are [k, j, i], or [i, j, k] for
    a variable in row order, as far as the mesh has them; then the component, if there are several. A variable that was
    not delivered for this block is missing.
    """

    def __init__(self, data: "Data", mesh: Mesh, records: list[Record]) -> None:
        first = records[0]
        self.data = data
        self.mesh = mesh
        self.id: int = first["block"]
        self.level: int = first["level"]
        self.client: int = first["client"]
        self.lo: Index = first["cells"][0][: mesh.axes]  # bounds of its cells, in (i, j, k) of its level
        self.hi: Index = first["cells"][1][: mesh.axes]
        self._records = {record["variable"]: record for record in records}

    def _record(self, name: str) -> Record:
        if self.data.has_ended:
            raise Error(_ENDED, Code.USAGE)
        if name in self._records:
            return self._records[name]
        known = ", ".join(sorted(self._records)) or "none"
        raise KeyError(f"block {self.id} has no values of '{name}' in this iteration, but of {known}")

    def __getitem__(self, name: str) -> NDArray[Any]:
        record = self._record(name)
        return self.published(name)[self._slices(record, record["points"], record["box"][0])]

    def __contains__(self, name: object) -> bool:
        return name in self._records and self.data.variables[str(name)].role == "none"

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._records if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _slices(self, record: Record, box: Box, origin: Index) -> tuple[slice, ...]:
        return slices(box, origin, self.mesh.axes, self.data.variables[record["variable"]].order)

    def published(self, name: str) -> NDArray[Any]:
        """The whole array that was published, ghosts included, as described by `box`. Read-only, not a copy."""
        return np.asarray(self._record(name)["values"])

    def box(self, name: str) -> tuple[Index, Index]:
        """The points that `published` covers, lo and hi in (i, j, k)."""
        lo, hi = self._record(name)["box"]
        return lo[: self.mesh.axes], hi[: self.mesh.axes]

    def counted(self, name: str) -> NDArray[np.bool_]:
        """True for the points of `block[name]` that count as this block's, so that over all blocks each point counts
        once: not nodes that a neighbour owns, cells that finer ones cover, and points that the simulation flags as
        ghosts.
        """
        record = self._record(name)
        points = record["points"]
        whole = self._slices(record, points, points[0])
        mask = np.zeros([part.stop for part in whole], bool)
        for box in record["counted"]:
            mask[self._slices(record, box, points[0])] = True
        if record["flags"] is not None:
            mask &= np.asarray(record["flags"])[self._slices(record, points, record["flags_box"][0])] == 0
        return mask

    def with_halo(self, name: str, width: int | None = None) -> NDArray[np.float64]:
        """Returns a new float64 array of the values with `width` more points on every side (by default the entry's
        `halo`). Each value comes from the block that owns it. Points beyond the mesh, or in a block that was not
        delivered, have NaN."""
        record = self._record(name)
        variable = self.data.variables[name]
        wide = self.data.halo if width is None else width
        if self.mesh.is_list:
            raise ValueError(f"with_halo: '{name}' lies on '{self.mesh.name}', whose blocks have no neighbours")
        if not 0 <= wide <= self.data.halo:
            raise ValueError(
                f"with_halo: {wide} points are asked for; the entry's `halo` is {self.data.halo}: raise it"
            )
        grow = [wide if axis < self.mesh.axes else 0 for axis in range(3)]
        lo, hi = record["points"]
        lo = tuple(n - more for n, more in zip(lo, grow, strict=True))
        hi = tuple(n + more for n, more in zip(hi, grow, strict=True))
        parts = []
        for component in range(variable.components):
            part = np.empty([b - a for a, b in zip(lo, hi, strict=True)][::-1])
            record["values"].gather(lo, hi, component, part)
            part = part.reshape(part.shape[3 - self.mesh.axes :])
            parts.append(part if variable.order == "column" else part.T)
        return parts[0] if variable.components == 1 else np.stack(parts, axis=-1)

    def coordinates(self, name: str) -> tuple[NDArray[np.float64], ...]:
        """Positions of the points of `block[name]` along x, y and z: an array for each axis of the mesh, which must be
        uniform or rectilinear."""
        lo, hi = self._record(name)["points"]
        return self.mesh.positions(self.data.variables[name], lo, hi, self.level)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays with the positions and cells of a curvilinear or unstructured mesh, an octree or points, by role:
        `coordinates`, `connectivity`, ... (docs/mesh-kinds.md)."""
        return {
            self.data.variables[name].role: self[name]
            for name in self._records
            if self.data.variables[name].role != "none"
        }


class Event(NamedTuple):
    """An event with values or for a scope, or a barrier that all clients have reached (docs/events.md)."""

    name: str
    client: int  #: the client that raised it; -1: all, at a barrier
    scope: str  #: server, node or all
    raised: int  #: the iteration in which it was raised; an earlier one if that was refused
    values: NDArray[Any]


class Data:
    """The data of a server in an iteration, for the duration of a call. Iterating gives its blocks;
    there may be none."""

    index: int  #: counts iterations
    cycle: int  #: the simulation's
    time: float  #: the simulation's
    pass_number: int  #: from 0
    feedback: Any  #: return value of `combine` in the previous pass; None in the first
    server: int  #: the number of this server
    servers: int  #: the number of servers
    events: list[Event]  #: events that this server sees in this iteration, in the same order on all servers
    halo: int  #: the entry's option
    meshes: dict[str, Mesh]
    variables: dict[str, Variable]
    has_ended = False

    def __init__(self, iteration: tuple[int, int, float], records: list[Record]) -> None:
        self.index, self.cycle, self.time = iteration
        self._records = records

    def blocks(self, mesh: str | None = None) -> list[Block]:
        """The blocks of a mesh, or of all meshes with requested variables, by ascending id."""
        if mesh is not None and mesh not in self.meshes:
            raise KeyError(f"there is no mesh '{mesh}'; there are {', '.join(self.meshes)}")
        found: dict[tuple[str, int], list[Record]] = {}
        for record in self._records:
            found.setdefault((self.variables[record["variable"]].mesh, record["block"]), []).append(record)
        order = list(self.meshes)
        keys = sorted(found, key=lambda key: (order.index(key[0]), key[1]))
        return [Block(self, self.meshes[key[0]], found[key]) for key in keys if mesh in (None, key[0])]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks())

    def _end(self) -> list[Record]:
        """Ends access to the data. Returns the records whose arrays are still in use."""
        self.has_ended = True
        records, self._records = self._records, []
        kept = [record for record in records if record["values"].end() > 0]
        for record in records:
            if record["flags"] is not None and record["flags"].end() > 0:
                kept.append(record)
        return kept


class Whole(Mapping[str, NDArray[Any]]):
    """A whole mesh, gathered on one server: a mapping from the names of variables to arrays with the axes of `Block`.
    Points of blocks that were not delivered have NaN, or 0 for whole numbers. Lists have the points that count, block
    after block."""

    def __init__(
        self,
        iteration: tuple[int, int, float],
        mesh: Mesh,
        variables: dict[str, Variable],
        values: dict[str, NDArray[Any]],
        known: dict[str, NDArray[np.bool_]],
    ) -> None:
        self.index, self.cycle, self.time = iteration
        self.mesh, self.variables = mesh, variables
        self._values, self._known = values, known

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._values if self.variables[name].role == "none")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def known(self, name: str) -> NDArray[np.bool_]:
        """True for points with values: all except those of blocks that were not delivered."""
        return self._known[name]

    def coordinates(self, name: str) -> tuple[NDArray[np.float64], ...]:
        """Positions as in Block.coordinates."""
        return self.mesh.positions(self.variables[name], *self.variables[name].points, 0)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The mesh's own arrays by role, as in Block."""
        return {v.role: self._values[n] for n, v in self.variables.items() if v.role != "none" and n in self._values}


class Servers:
    """The servers that combine. All of them must make the same calls in the same order: if one raises an exception, or
    calls something else, all fail with a sentence."""

    _CALLS = ("return", "barrier", "gather", "all_gather", "broadcast", "sum", "minimum", "maximum")

    def __init__(self, group: Any, iteration: tuple[int, int, float], pass_number: int) -> None:
        self._group = group
        self.index, self.cycle, self.time = iteration
        self.pass_number = pass_number
        self.rank: int = group.rank()
        self.size: int = group.size()

    def _enter(self, call: str, *facts: int) -> None:
        """Checks that all servers are at the same call with the same facts; otherwise all of them raise."""
        if self.size == 1:
            return
        mine = [self._CALLS.index(call), *facts, 0, 0, 0][:4]
        both = np.array([*mine, *(-n for n in mine)], np.int64)
        self._group.reduce("minimum", both, False)
        if (both[:4] == -both[4:]).all():
            return
        calls = sorted({self._CALLS[both[0]], self._CALLS[-both[4]]})
        what = (
            f"one is at '{calls[0]}' and another at '{calls[1]}'" if len(calls) > 1 else f"of '{call}' the sizes differ"
        )
        raise Error(f"the servers do not do the same in `combine`: {what}; make the same calls on all", Code.ANALYSIS)

    def barrier(self) -> None:
        self._enter("barrier")
        self._group.barrier()

    def gather(self, value: Any, root: int = 0) -> list[Any] | None:
        """The values of all servers by rank, on `root`; None on others. Any value that can be pickled."""
        self._enter("gather", root)
        all_bytes = self._group.gather(pickle.dumps(value, protocol=5), root)
        return [pickle.loads(one) for one in all_bytes] if self.rank == root else None

    def all_gather(self, value: Any) -> list[Any]:
        """The values of all servers by rank, on all of them."""
        self._enter("all_gather")
        return [pickle.loads(one) for one in self._group.all_gather(pickle.dumps(value, protocol=5))]

    def broadcast(self, value: Any, root: int = 0) -> Any:
        """The value of `root`, on all servers."""
        self._enter("broadcast", root)
        mine = pickle.dumps(value, protocol=5) if self.rank == root else b""
        return pickle.loads(self._group.broadcast(mine, root))

    def _reduce(self, call: str, values: ArrayLike) -> Any:
        given = np.asarray(values)
        if given.dtype.kind not in "biuf":
            raise TypeError(f"{call}: found values of {given.dtype}, expected numbers")
        real = given.dtype.kind == "f"
        if real and call == "sum":
            raise TypeError(
                "sum: real numbers are not summed over servers, since the result would depend on how many there are; "
                "gather what belongs together and use math.fsum, or sum whole numbers"
            )
        out = np.array(given, np.float64 if real else np.int64, order="C")
        self._enter(call, out.size, int(real))
        self._group.reduce(call, out, real)
        return out if out.ndim else out[()]

    def sum(self, values: ArrayLike) -> Any:
        """The element-wise sum over all servers, of whole numbers, as int64. Wraps."""
        return self._reduce("sum", values)

    def minimum(self, values: ArrayLike) -> Any:
        """The element-wise minimum over all servers, as int64 or float64. No NaN."""
        return self._reduce("minimum", values)

    def maximum(self, values: ArrayLike) -> Any:
        """The element-wise maximum over all servers, as int64 or float64. No NaN."""
        return self._reduce("maximum", values)

    @property
    def mpi(self) -> "MPI.Intracomm":
        """The communicator as an object of mpi4py, for this analysis only; do not free it. If one server raises an
        exception while others wait in a call through it, they wait forever, as always with MPI."""
        from .. import _servers

        module = checked_mpi4py("servers.mpi", _servers.mpi_library, _servers.handle_size)
        return module.Intracomm.fromhandle(self._group.handle())
