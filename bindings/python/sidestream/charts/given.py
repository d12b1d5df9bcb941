"""The columns of the table that is drawn, from files of any format."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error
from ..reader.damages import reading
from ..reader.lazy import Fields
from ..reader.opening import open as open_result
from ..reader.tables import read_growing

OF_ITERATION = ("iteration", "cycle", "time")


@dataclass
class Given:
    """Columns by name, or arrays of a data set. `attributes`: of the file."""

    path: Path | None
    columns: dict[str, NDArray[Any]]
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The table's name in messages."""
        return str(self.path) if self.path is not None else "the table"

    @property
    def is_table(self) -> bool:
        """True if all columns have one axis and the same length."""
        shapes = {column.shape for column in self.columns.values()}
        return len(shapes) == 1 and len(next(iter(shapes))) == 1

    def numbers(self, name: str, rows: Any = slice(None)) -> NDArray[np.float64]:
        """Returns a column of numbers, with NaN where there is none. Throws Error(FILE) if it has other texts."""
        values = self.columns[name][rows]
        try:
            if values.dtype.kind in "USO":
                values = np.array([value if value not in (None, "", b"") else "nan" for value in values.tolist()])
            return values.astype(np.float64)
        except (TypeError, ValueError):
            raise Error(f"{self.named}: the column '{name}' holds text, expected numbers", Code.FILE) from None

    def has(self, *names: str) -> bool:
        return all(name in self.columns for name in names)

    def of_iteration(self, number: int | None) -> "Given":
        """Selects the rows of an iteration, by default the last one."""
        if "iteration" not in self.columns or not self.is_table:
            return self
        if not len(self.columns["iteration"]) and number is None:
            return self
        known = np.unique(self.columns["iteration"])
        if number is not None and number not in known:
            listed = f"; the last ones are {', '.join(str(int(n)) for n in known[-8:])}" if len(known) else ""
            raise Error(f"{self.named}: there is no iteration {number}{listed}")
        chosen = self.columns["iteration"] == (known[-1] if number is None else number)
        return Given(self.path, {name: column[chosen] for name, column in self.columns.items()}, self.attributes)

    def until(self, number: int | None) -> "Given":
        """Selects the rows up to an iteration, by default all."""
        if number is None or "iteration" not in self.columns:
            return self
        chosen = self.numbers("iteration") <= number
        return Given(self.path, {name: column[chosen] for name, column in self.columns.items()}, self.attributes)

    def moment(self) -> dict[str, Any]:
        """Returns iteration, cycle and time, as far as they are known and equal in all rows."""
        found = {name: self.attributes[name] for name in OF_ITERATION if name in self.attributes}
        for name in OF_ITERATION:
            column = self.columns.get(name)
            if column is not None and self.is_table and len(column) and np.all(column == column[0]):
                found[name] = column[0]
        return found


def read_given(table: Any, iteration: int | None, of_all: Callable[[tuple[str, ...]], bool]) -> Given:
    """Reads a file, or a result of sidestream.open. If `iteration` is given, only its rows of a growing table are read.
    `of_all` tells by the columns if a chart needs all iterations instead."""
    path = None
    if isinstance(table, str | os.PathLike):
        path = Path(table)
        table = _opened(path, iteration, of_all)
    attributes = dict(getattr(table, "attrs", {}))
    names = getattr(getattr(table, "dtype", None), "names", None)
    if names:
        return Given(path, {name: table[name] for name in names}, attributes)
    if isinstance(table, Mapping) and len(table):
        along = (
            {name: np.asarray(values) for name, (_, values) in table.coords.items()}
            if isinstance(table, Fields)
            else {}
        )
        return Given(path, {**along, **{str(name): np.asarray(table[name]) for name in table}}, attributes)
    raise Error(f"{path or 'plot'}: this is no table of columns and no data set, so there is no chart of it", Code.FILE)


def _opened(path: Path, iteration: int | None, of_all: Callable[[tuple[str, ...]], bool]) -> Any:
    def wanted(header: str) -> str:
        columns = tuple(header.split(","))
        return f"{iteration}," if columns[0] == "iteration" and iteration is not None and not of_all(columns) else ""

    if path.suffix == ".parquet":
        return _parquet(path)
    if path.suffix == ".csv" and path.is_file():
        with reading(str(path)):
            return read_growing(path, wanted)
    return open_result(path, into="numpy")


def _parquet(path: Path) -> dict[str, NDArray[Any]]:
    if find_spec("pyarrow") is None:
        raise Error(f"{path}: pyarrow is not installed, which reads Parquet; install it", Code.FILE)
    import pyarrow.parquet

    if not path.is_file():
        raise Error(f"{path}: there is no such file or directory", Code.FILE)
    table = pyarrow.parquet.read_table(path)
    return {name: np.asarray(table.column(name).to_pylist()) for name in table.column_names}
