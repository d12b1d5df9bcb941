"""Sidestream for Python: a client for simulations with mpi4py and NumPy, and a reader of what was written.

The reader needs neither MPI nor mpi4py; both are loaded when a session is first opened. h5py is loaded when a file is
opened: servers that run analyses in Python have another HDF5.
"""

from typing import TYPE_CHECKING, Any

from .errors import Code, Error

if TYPE_CHECKING:
    from ._client import Handle as Handle
    from .charts.plotting import plot as plot
    from .client.checkpoint import StoredBlock as StoredBlock
    from .client.checkpoint import StoredVariable as StoredVariable
    from .client.declaring import Role as Role
    from .client.restarting import Restart as Restart
    from .client.restarting import restart as restart
    from .client.session import Account as Account
    from .client.session import Session as Session
    from .client.session import open_session as open_session
    from .exporters.exporting import export as export
    from .exporters.parquet import to_parquet as to_parquet
    from .reader.halo_masses import mass_function as mass_function
    from .reader.halo_masses import plot_mass_function as plot_mass_function
    from .reader.lazy import Fields as Fields
    from .reader.lazy import LazyArray as LazyArray
    from .reader.levels.labels import halo_labels as halo_labels
    from .reader.levels.levels import Level as Level
    from .reader.levels.levels import Levels as Levels
    from .reader.merge_tree import MergeTree as MergeTree
    from .reader.opening import Results as Results
    from .reader.opening import open as open
    from .watching.asking import ask as ask
    from .watching.notebook import watch as watch

_READER = {"Fields": "reader.lazy", "LazyArray": "reader.lazy", "Results": "reader.opening", "open": "reader.opening"}
_READER |= {"Level": "reader.levels.levels", "Levels": "reader.levels.levels", "halo_labels": "reader.levels.labels"}
_READER |= {"MergeTree": "reader.merge_tree", "export": "exporters.exporting", "to_parquet": "exporters.parquet"}
_READER |= dict.fromkeys(("mass_function", "plot_mass_function"), "reader.halo_masses")
_READER |= {"plot": "charts.plotting", "ask": "watching.asking", "watch": "watching.notebook"}
_READER |= dict.fromkeys(("StoredBlock", "StoredVariable"), "client.checkpoint")
_READER |= dict.fromkeys(("Restart", "restart"), "client.restarting")
_CLIENT = {
    "Account": "client.session",
    "Handle": "_client",
    "Role": "client.declaring",
    "Session": "client.session",
    "open_session": "client.session",
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
    "ask",
    "export",
    "halo_labels",
    "mass_function",
    "open",
    "open_session",
    "plot",
    "plot_mass_function",
    "restart",
    "to_parquet",
    "watch",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.util import find_spec

    if name in _READER:
        return getattr(import_module(f"sidestream.{_READER[name]}"), name)
    if name not in _CLIENT:
        raise AttributeError(f"module 'sidestream' has no attribute '{name}'")
    import_module("sidestream.client.flavour").choose()
    if find_spec("sidestream._client") is None:
        raise Error(
            f"sidestream.{name}: this installation holds only the reader; install Sidestream where MPI is found, "
            "without SIDESTREAM_PYTHON_CLIENT=OFF"
        )
    return getattr(import_module(f"sidestream.{_CLIENT[name]}"), name)
