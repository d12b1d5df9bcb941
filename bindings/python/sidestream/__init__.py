"""Sidestream for Python: a client for simulations with mpi4py and NumPy, and a reader of what was written.

The reader needs neither MPI nor mpi4py; both are loaded when a session is first asked for. h5py
is loaded when a file is: servers on which analyses in Python run have another HDF5.
"""

from typing import TYPE_CHECKING, Any

from .errors import Code, Error

if TYPE_CHECKING:
    from ._client import Handle as Handle
    from .declaring import Role as Role
    from .exporting import export as export
    from .halo_masses import mass_function as mass_function
    from .halo_masses import plot_mass_function as plot_mass_function
    from .lazy import Fields as Fields
    from .lazy import LazyArray as LazyArray
    from .level_labels import halo_labels as halo_labels
    from .levels import Level as Level
    from .levels import Levels as Levels
    from .merge_tree import MergeTree as MergeTree
    from .parquet import to_parquet as to_parquet
    from .reader import Results as Results
    from .reader import open as open
    from .restarting import Restart as Restart
    from .restarting import StoredBlock as StoredBlock
    from .restarting import StoredVariable as StoredVariable
    from .restarting import restart as restart
    from .session import Account as Account
    from .session import Session as Session
    from .session import open_session as open_session

_READER = {"Fields": "lazy", "LazyArray": "lazy", "Results": "reader", "open": "reader"}
_READER |= {"export": "exporting", "Level": "levels", "Levels": "levels"}
_READER |= {"MergeTree": "merge_tree", "to_parquet": "parquet"}
_READER |= {"halo_labels": "level_labels"}
_READER |= dict.fromkeys(("mass_function", "plot_mass_function"), "halo_masses")
_READER |= dict.fromkeys(("Restart", "StoredBlock", "StoredVariable", "restart"), "restarting")
_CLIENT = {
    "Account": "session",
    "Handle": "_client",
    "Role": "declaring",
    "Session": "session",
    "open_session": "session",
}

__all__ = [
    "Account",
    "Code",
    "Error",
    "Fields",
    "Handle",
    "LazyArray",
    "Level",
    "Levels",
    "MergeTree",
    "Restart",
    "Results",
    "Role",
    "Session",
    "StoredBlock",
    "StoredVariable",
    "export",
    "halo_labels",
    "mass_function",
    "open",
    "open_session",
    "plot_mass_function",
    "restart",
    "to_parquet",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.util import find_spec

    if name in _READER:
        return getattr(import_module(f"sidestream.{_READER[name]}"), name)
    if name not in _CLIENT:
        raise AttributeError(f"module 'sidestream' has no attribute '{name}'")
    if find_spec("sidestream._client") is None:
        raise Error(
            f"sidestream.{name}: this installation holds the reader alone; install Sidestream where MPI is found, "
            "without SIDESTREAM_PYTHON_CLIENT=OFF"
        )
    return getattr(import_module(f"sidestream.{_CLIENT[name]}"), name)
