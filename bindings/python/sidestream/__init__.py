"""Sidestream for Python: a client for simulations with mpi4py and NumPy, and a reader of what was written.

The reader needs neither MPI nor mpi4py; both are loaded when a session is first asked for.
"""

from typing import TYPE_CHECKING, Any

from .errors import Code, Error
from .lazy import Fields, LazyArray
from .reader import Results, open

if TYPE_CHECKING:
    from .declaring import Role as Role
    from .session import Account as Account
    from .session import Session as Session
    from .session import open_session as open_session

_CLIENT = {"Account": "session", "Role": "declaring", "Session": "session", "open_session": "session"}

__all__ = [
    "Account",
    "Code",
    "Error",
    "Fields",
    "LazyArray",
    "Results",
    "Role",
    "Session",
    "open",
    "open_session",
]


def __getattr__(name: str) -> Any:
    if name not in _CLIENT:
        raise AttributeError(f"module 'sidestream' has no attribute '{name}'")
    from importlib import import_module
    from importlib.util import find_spec

    if find_spec("sidestream._client") is None:
        raise Error(
            f"sidestream.{name}: this installation holds the reader alone; install Sidestream where MPI is found, "
            "without SIDESTREAM_PYTHON_CLIENT=OFF"
        )
    return getattr(import_module(f"sidestream.{_CLIENT[name]}"), name)
