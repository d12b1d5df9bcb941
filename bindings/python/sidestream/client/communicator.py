"""Conversion of mpi4py's communicators to numbers and back."""

from typing import TYPE_CHECKING, Any

from ..errors import Code, Error

if TYPE_CHECKING:
    from mpi4py import MPI


def _mpi4py(call: str) -> Any:
    try:
        from mpi4py import MPI
    except ImportError as problem:
        raise Error(
            f"{call}: mpi4py cannot be imported ({problem}); install mpi4py 4 or later", Code.USAGE
        ) from problem
    return MPI


def checked_mpi4py(call: str, library: str, handle_size: int) -> Any:
    """mpi4py.MPI, if it uses the MPI whose library describes itself by the same text."""
    module = _mpi4py(call)
    theirs, ours = module.Get_library_version().strip("\0\n "), library.strip("\0\n ")
    if theirs != ours or module._sizeof(module.Comm) != handle_size:
        raise Error(
            f"{call}: mpi4py uses '{theirs}' and Sidestream '{ours}'; they must use the same MPI: "
            "install one of them again with the other's",
            Code.SYSTEM,
        )
    return module


def handle_of(comm: Any, call: str = "open") -> int:
    """MPI's handle of a communicator, for a library of the same MPI."""
    from .. import _client

    if not isinstance(comm, _mpi4py(call).Comm):
        raise Error(f"{call}: comm is of {type(comm).__name__}, expected a communicator of mpi4py", Code.USAGE)
    module = checked_mpi4py(call, _client.mpi_library(), _client.handle_size)
    return module._handleof(comm)


def communicator_of(handle: int) -> "MPI.Comm":
    """A communicator that Sidestream owns; the program must not free it."""
    return _mpi4py("comm").Comm.fromhandle(handle)
