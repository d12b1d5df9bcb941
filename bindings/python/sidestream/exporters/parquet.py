"""Tables as Parquet, with the package pyarrow."""

import os
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Code, Error


def _columns(table: Any, named: str) -> dict[str, np.ndarray]:
    names = getattr(getattr(table, "dtype", None), "names", None)
    if names:
        return {name: table[name] for name in names}
    if isinstance(table, Mapping):
        columns = {str(name): np.asarray(table[name]) for name in table}
        lengths = {column.shape for column in columns.values()}
        if columns and len(lengths) == 1 and all(len(shape) == 1 for shape in lengths):
            return columns
    raise Error(
        f"{named}: this is no table; Parquet takes tables of columns (`.csv`, `.pieces`, a `.series` of these, tables "
        "in `.h5`), as sidestream.open gives them",
        Code.FILE,
    )


def to_parquet(table: Any, target: str | os.PathLike[str]) -> None:
    """Writes a table, or the file of one, as Parquet: whole numbers as int64, others as float64, texts as strings. The
    file appears whole or not at all; existing files are not overwritten."""
    if find_spec("pyarrow") is None:
        raise Error("to_parquet: pyarrow is not installed; install it (`pip install 'sidestream[parquet]'`)")
    import pyarrow
    import pyarrow.parquet

    path, named = Path(target), "to_parquet"
    if isinstance(table, str | os.PathLike):
        from ..reader.opening import open as open_result

        named = str(table)
        table = open_result(table, into="numpy")
    if path.exists():
        raise Error(f"to_parquet: {path} is there; give another name, or remove it", Code.FILE)
    columns = {
        name: pyarrow.array(column.tolist() if column.dtype.kind == "U" else column)
        for name, column in _columns(table, named).items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(handle)
    try:
        pyarrow.parquet.write_table(pyarrow.table(columns), temporary)
        Path(temporary).rename(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
