"""Databases: the contexts that are shown to HDF5's readers. The format stands in docs/database.md."""

from pathlib import Path

from .errors import Code, Error
from .fields import read_hdf5
from .lazy import Fields
from .series import Entry, over_time

JOURNAL = "contexts"


def is_database(place: Path) -> bool:
    """Whether a directory is a database."""
    return (place / JOURNAL).is_file()


def read_database(place: Path) -> Fields:
    """All contexts over time, in the order of writing, without their values. A context has its file only once it is
    committed, and no longer when it is removed."""
    files = sorted(place.glob("context-*.h5"), key=lambda path: int(path.stem.rpartition("-")[2]))
    if not files:
        raise Error(
            f"{place}: none of this database's contexts is shown as HDF5; it is new, or has `hdf5: false`: "
            "see `sidestream ls`",
            Code.FILE,
        )
    entries = []
    for path in files:
        of = read_hdf5(path).attrs
        entries.append(Entry(path, float(of["time"]), int(of["cycle"]), int(of["iteration"])))
    return over_time(place, entries)
