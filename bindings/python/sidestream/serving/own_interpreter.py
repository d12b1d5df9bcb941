"""Prepares the interpreter before an analysis is imported, so that the analysis does not change the program's own
settings."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

# Packages whose wheels contain another version of a library that a program with Sidestream already has.
_WITH_HDF5 = ("h5py", "netCDF4", "tables")


class _OtherHdf5(MetaPathFinder):
    """Refuses packages that bring their own HDF5: their calls would go to the program's HDF5 instead, and end in
    incomprehensible errors or a crash. Accepts packages that were built with the program's HDF5."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname in _WITH_HDF5 and any((Path(folder) / f"{fullname}.libs").is_dir() for folder in sys.path):
            raise ImportError(
                f"{fullname} brings an HDF5 of its own, but this program uses Sidestream's: return arrays, which "
                f"Sidestream writes, or install {fullname} built with that HDF5 (pip install --no-binary {fullname})"
            )


def prepare(started_here: bool) -> None:
    """Prepares the interpreter, once, before anything is imported. `started_here`: it is not the program's."""
    os.environ.setdefault("MPLBACKEND", "agg")
    if not started_here:
        return
    sys.meta_path.insert(0, _OtherHdf5())
    try:
        import mpi4py
    except ImportError:
        return
    # MPI is the program's: neither started nor ended here, and its errors are handled as the program wants.
    mpi4py.rc.initialize = mpi4py.rc.finalize = False
    mpi4py.rc.errors = "default"
