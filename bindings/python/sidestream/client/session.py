"""Sessions: the interface for simulations in Python. sidestream/sidestream.h describes the calls, their order and which
are collective; docs/python.md describes what is different here."""

import os
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _client
from .._client import Handle
from ..errors import Error
from .communicator import communicator_of, handle_of
from .declaring import TYPES, Declaring

if TYPE_CHECKING:
    from mpi4py import MPI


_SCOPES = ("server", "node", "all")


def _offer_analyses() -> None:
    """Tells the library about this interpreter, and about this package's library for analyses in Python, which fits the
    interpreter. Sidestream may be installed elsewhere, without such a library or with that of another interpreter."""
    folder = Path(__file__).parents[1]
    before = os.environ.get("SIDESTREAM_PLUGIN_PATH", "")
    if (folder / "sidestream_python.so").is_file() and str(folder) not in before.split(":"):
        os.environ["SIDESTREAM_PLUGIN_PATH"] = f"{before}:{folder}" if before else str(folder)
    if sys.executable:  # charts are drawn with the program's packages
        os.environ.setdefault("SIDESTREAM_PYTHON", sys.executable)


@dataclass(frozen=True)
class Account:
    """Counts of what happened to the iterations; see sidestream_account in sidestream.h."""

    iterations: int
    delivered: int
    refused: int
    failed: int
    unknown: int
    absent_blocks: int
    dropped: int
    bytes_published: int
    spilled: int
    bytes_spilled: int


class Session(Declaring):
    """The handle of one run. Opening, starting, serving and closing are collective over the ranks of `comm`."""

    def __init__(
        self, comm: "MPI.Comm", file: str | os.PathLike[str] | None = None, *, text: str | None = None
    ) -> None:
        """Opens a session with the configuration in `file`, or with the configuration `text`. The environment variable
        SIDESTREAM_CONFIG has precedence over both."""
        if file is not None and text is not None:
            raise Error("open: file and text are both given; give one of them")
        given = None if file is None else os.fsencode(file)
        if text is not None:
            given = text.encode(errors="surrogateescape")
        _offer_analyses()
        self._session = _client.Session(handle_of(comm), given, text is not None)
        self._comm: MPI.Comm | None = None
        self._lent: dict[tuple[str, int], weakref.ref[NDArray[Any]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._session.is_open:
            return
        try:
            self.close()
        except Error as problem:
            if error is None:
                raise
            error.add_note(f"closing the session failed too: {problem}")

    @property
    def is_server(self) -> bool:
        """True if this rank has to call `serve` instead of simulating."""
        return self._session.is_server

    @property
    def should_end(self) -> bool:
        """True if the run was told to end (`ending:`) and the last `end_iteration` ended its last iteration: leave the
        loop. The same on every client that has ended as many iterations."""
        return self._session.should_end

    @property
    def comm(self) -> "MPI.Comm":
        """The communicator of the ranks that run the simulation; valid until close. On a server MPI.COMM_NULL."""
        if self._comm is None:
            self._comm = communicator_of(self._session.comm)
        return self._comm

    @property
    def message(self) -> str:
        """The sentence of the last error or refusal."""
        return self._session.message

    @property
    def account(self) -> Account:
        """The counts so far; `close` returns the final ones."""
        return Account(*self._session.account())

    def serve(self) -> None:
        """Runs a server until every client has closed."""
        self._session.serve()

    def start(self) -> None:
        """Freezes the declarations and checks them. Collective over the clients."""
        self._session.start()

    def publish(
        self,
        variable: str,
        block: int,
        array: NDArray[Any] | memoryview | Sequence[NDArray[Any]],
        component_axis: int = -1,
    ) -> bool:
        """Copies a block's values from an array of any strides. Returns False if the iteration is refused.

        The shape is that of the allocated box with the axes [k, j, i] for a variable in column order and [i, j, k] in
        row order; components are the axis `component_axis`, which may be left out if there is one. A tuple or list of
        arrays has one array per component, all of one dtype, shape and strides.
        """
        if isinstance(array, (tuple, list)):
            return self._session.publish_components(variable, block, array)
        return self._session.publish(variable, block, array, component_axis)

    def publish_values(self, variable: str, block: int, array: NDArray[Any] | memoryview) -> bool:
        """Publishes an array of any shape whose elements are contiguous in the variable's memory order: its first axis
        fastest (`order: column`), components before it. Their number and dtype are compared with the declaration."""
        return self._session.publish_values(variable, block, array)

    def publish_block(self, block: int, arrays: Mapping[str, NDArray[Any] | Sequence[NDArray[Any]]]) -> bool:
        """Publishes several variables of one block, each as `publish` does. All are tried. Returns False if the
        iteration is refused."""
        taken, first = True, None
        for variable, array in arrays.items():
            try:
                taken = self.publish(variable, block, array) and taken
            except Error as error:
                first = first or error
        if first is not None:
            raise first
        return taken

    def get_handle(self, variable: str, block: int) -> Handle:
        """Looks up a variable and a block once, for programs that publish many small blocks.

        `handle.publish(array, component_axis=-1)` does what `publish` does, but faster if successive arrays are
        contiguous and have the same layout.
        """
        return self._session.get_handle(variable, block)

    def alloc(self, variable: str, block: int) -> NDArray[Any] | None:
        """Returns the block's memory in this iteration as an array with the axes of `publish`, components last;
        its contents are undefined. Fill it, then commit. Returns None if the iteration is refused."""
        array = self._session.alloc(variable, block)
        if array is not None:
            self._lent[variable, block] = weakref.ref(array)
        return array

    def commit(self, variable: str, block: int) -> None:
        """Hands over the memory of `alloc`. The array may be read until `clear`; it becomes read-only."""
        self._session.commit(variable, block)
        array = self._lent.pop((variable, block), lambda: None)()
        if array is not None:
            array.flags.writeable = False

    def clear(self, variable: str, block: int) -> None:
        """Gives back the memory. An error while the array or a view of it is still in use: drop it first."""
        self._session.clear(variable, block)

    def signal(self, event: str, values: ArrayLike | bytes | None = None, *, scope: str = "all") -> None:
        """Raises the named event in this iteration. Analyses find `values` (numbers or bytes, at most 1024 bytes) among
        their events: on all servers (`scope="all"`), on those of this client's node (`"node"`), or on the one that
        serves this client (`"server"`)."""
        if values is None and scope == "all":
            self._session.signal(event)
            return
        if scope not in _SCOPES:
            raise Error(f"signal: found the scope '{scope}', expected one of {', '.join(_SCOPES)}")
        if isinstance(values, bytes):
            array = np.frombuffer(values, np.uint8)
        else:
            array = np.ravel(np.ascontiguousarray([] if values is None else values))
        if array.dtype.name not in TYPES:
            raise Error(f"signal: found values of type {array.dtype.name}, expected one of {', '.join(TYPES)}")
        number = TYPES.index(array.dtype.name)
        self._session.signal_values(event, _SCOPES.index(scope), number, array.tobytes(), array.size)

    def signal_barrier(self, event: str) -> None:
        """Reaches a barrier, and continues: the event is raised on all servers once all clients have reached it."""
        self._session.signal_barrier(event)

    def is_needed(self, variable: str, cycle: SupportsIndex | None = None) -> bool:
        """False if no analysis, output or condition reads the variable in the open iteration, so that it need not be
        published; the same on every client. True where that is not known before. `cycle`, which `end_iteration` will
        get, makes it known for schedules of cycles. Begins the iteration, and may wait as `publish` does."""
        return self._session.is_needed(variable, None if cycle is None else cycle.__index__())

    def get_int(self, name: str) -> int:
        """The value of an integer parameter of `steering:`, as of the last `end_iteration`: the same on every client
        that has ended as many iterations. See docs/steering.md."""
        return self._session.get_int(name)

    def get_real(self, name: str) -> float:
        """The value of a real parameter of `steering:`; see `get_int`."""
        return self._session.get_real(name)

    def end_iteration(self, cycle: SupportsIndex, time: SupportsFloat) -> bool:
        """Ends the iteration; every client calls it. False: this client refused it, and `message` says why."""
        return self._session.end_iteration(cycle.__index__(), float(time))

    def close(self) -> Account:
        """Waits for what was published and ends the session. Collective. Iterations that were dropped when
        `drain_limit` was over count as `dropped` in the account; they are no error."""
        self._comm = None
        return Account(*self._session.close())


def open_session(comm: "MPI.Comm", file: str | os.PathLike[str] | None = None, *, text: str | None = None) -> Session:
    """Opens a session, for a `with` statement, which closes it."""
    return Session(comm, file, text=text)
