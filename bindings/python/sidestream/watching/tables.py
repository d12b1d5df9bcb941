"""Tables to which a run adds rows, in bounded memory: rows over time thinned out, and the newest rows whole."""

import csv
import math
from collections import deque
from itertools import count
from pathlib import Path
from typing import Any

from .growing import Growing

# Rows that are kept for a chart, newest rows that are kept whole, and rows of one iteration.
MOST, LAST, OF_ONE = 4000, 100, 4000
# A table with more rows in an iteration is drawn for its newest one.
FEW = 12


def value_of(text: str) -> Any:
    """The number that a text is; None if it is not finite; otherwise the text."""
    try:
        number = float(text)
    except ValueError:
        return text or None
    return number if math.isfinite(number) else None


class Table:
    """The content of a CSV file as far as a page shows it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = Growing(path)
        self.version = 0
        self._clear()

    def _clear(self) -> None:
        self.columns: list[str] = []
        self.rows = 0
        self.last: deque[list[str]] = deque(maxlen=LAST)
        self.left_out = False
        self._kept: list[tuple[int, list[Any]]] = []  # with the ordinal number of the iteration
        self._stride, self._ordinal, self._iteration = 1, -1, None
        self._of_one: list[list[Any]] = []
        self._most_in_one = 0

    def refresh(self) -> bool:
        """Reads new rows; returns true if something has changed."""
        changed = False
        for _ in count():
            news = self._file.read()
            if news.restarted:
                self._clear()
            self.left_out = self.left_out or news.left_out
            for row in csv.reader(news.text.splitlines(keepends=True)):
                self._take(row)
            changed = changed or news.restarted or bool(news.text)
            if not news.more:
                break
        self.version += changed
        return changed

    def _take(self, row: list[str]) -> None:
        if not self.columns:
            self.columns = row
            return
        if len(row) != len(self.columns):
            return
        self.rows += 1
        self.last.append(row)
        iteration = row[0] if self.columns[0] == "iteration" else self.rows
        if iteration != self._iteration:
            self._iteration = iteration
            self._ordinal += 1
            self._of_one = []
        values = [value_of(text) for text in row]
        if len(self._of_one) < OF_ONE:
            self._of_one.append(values)
        self._most_in_one = max(self._most_in_one, len(self._of_one))
        # Rows of a table with many rows in an iteration are not needed over time.
        if self._ordinal % self._stride == 0 and self._most_in_one <= FEW:
            self._kept.append((self._ordinal, values))
        if len(self._kept) > MOST:
            self._stride *= 2
            self._kept = [(n, kept) for n, kept in self._kept if n % self._stride == 0]

    @property
    def over_time(self) -> bool:
        """True if rows of all iterations are drawn, false if only the newest iteration has enough of them."""
        return self._most_in_one <= FEW

    @property
    def moment(self) -> dict[str, Any] | None:
        """Iteration, cycle and time of the newest row, if the table has them, and when it was written."""
        if not self.last or self.columns[:3] != ["iteration", "cycle", "time"]:
            return None
        try:
            iteration, cycle, time = int(self.last[-1][0]), int(self.last[-1][1]), value_of(self.last[-1][2])
            return {"iteration": iteration, "cycle": cycle, "time": time, "at": self.path.stat().st_mtime}
        except (ValueError, OSError):
            return None

    def shown(self) -> dict[str, Any]:
        """The table as a page draws it: columns of values, and the newest rows as they are in the file."""
        rows = [values for _, values in self._kept] if self.over_time else list(self._of_one)
        if self.over_time and self._of_one and (not rows or rows[-1] is not self._of_one[-1]):
            rows += self._of_one  # the newest one is always there
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in self.columns]
        return {
            "columns": self.columns,
            "values": columns,
            "over_time": self.over_time,
            "rows": self.rows,
            "thinned": self._stride > 1 or self.left_out,
            "last": list(self.last),
        }
