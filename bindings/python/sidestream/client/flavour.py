"""The client for the MPI at hand, in a package that holds it for several.

Such a wheel (packaging/wheels) has the compiled files once for each family of MPI libraries, in folders of their own.
mpi4py has chosen an MPI library when it is imported; the client follows it.
"""

import sys
from pathlib import Path

from ..errors import Code, Error

# Beginnings of the texts by which libraries describe themselves, by family. Intel's, Cray's and others have the binary
# interface of MPICH.
FAMILIES = {
    "_openmpi": ("Open MPI",),
    "_mpich": ("MPICH", "Intel(R) MPI", "MPI VERSION    : CRAY MPICH", "CRAY MPICH", "MVAPICH", "ParaStation MPI"),
}


def family_of(library: str) -> str | None:
    """The folder for an MPI library that describes itself by this text."""
    text = library.strip("\0\n ")
    return next((folder for folder, names in FAMILIES.items() if text.startswith(names)), None)


def choose() -> None:
    """Lets `sidestream._client` be found in the folder of mpi4py's MPI. Without such folders it does nothing."""
    package = sys.modules[__name__.split(".")[0]]
    place = Path(__file__).parents[1]
    there = [name for name in FAMILIES if (place / name).is_dir()]
    if not there or any(Path(path).name in there for path in package.__path__):
        return
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:  # the latter if there is no MPI library
        raise Error(
            f"sidestream: the client needs to know the MPI of mpi4py, which cannot be imported ({problem}); install "
            "mpi4py 4.1 or later, and an MPI library",
            Code.SYSTEM,
        ) from problem
    library = MPI.Get_library_version()
    family = family_of(library)
    if family not in there:
        raise Error(
            f"sidestream: mpi4py uses '{library.strip().splitlines()[0]}', and this package holds the client for "
            f"{' and '.join(name.removeprefix('_') for name in there)} only; build it with this MPI: "
            "pip install --no-binary sidestream sidestream",
            Code.SYSTEM,
        )
    package.__path__.append(str(place / family))
