"""The data to be exported: contexts, the variables of each, and their values part by part."""

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from numpy.typing import NDArray

from ..errors import Code, Error
from ..reader.journal import Slot
from ..reader.lazy import Fields, LazyArray
from ..reader.levels.levels import Levels
from ..reader.levels.sources import OfDatabase
from ..reader.stored import Context
from ..reader.stored_fields import fields_of

MOST_POINTS, SPARSEST = 1 << 30, 1 << 16  # for arrays written as a whole; per point that is stored
AT_ONCE = 32 << 20  # bytes of a variable that are held in memory


def in_ranges(number: int, ranges: list[range] | None) -> bool:
    """True if the number was asked for."""
    return ranges is None or any(number in r for r in ranges)


def parse_ranges(text: str, command: str = "export") -> list[range]:
    """Parses `3,10:20,100::10`: numbers, and from:to:step with `to` excluded, as in Python."""
    found = []
    for part in text.split(","):
        try:
            numbers = [int(n) if n.strip() else None for n in part.split(":")]
            if len(numbers) == 1 and numbers[0] is not None:
                found.append(range(numbers[0], numbers[0] + 1))
                continue
            start, stop, step = (*numbers, None)[:3] if len(numbers) == 2 else numbers
            found.append(range(start or 0, 1 << 62 if stop is None else stop, step or 1))
        except ValueError as problem:
            raise Error(
                f"{command}: '{part}' is no number and no FROM:TO or FROM:TO:STEP; write 3,10:20,100::10"
            ) from problem
    return found


@dataclass
class Job:
    """Contexts of a database in the order of their cycles, the names of the variables to be exported, and the finest
    level of them."""

    place: Path
    slots: list[Slot]
    variables: list[str] | None
    deepest: int | None = None

    def fields(self, slot: Slot) -> Fields:
        """The exported fields of a context; finer levels of a variable are included, down to the deepest one. Octrees
        are whole."""
        fields = fields_of(Context(self.place, slot))
        kept = {
            name: array
            for name, array in fields.items()
            if (self.variables is None or array.variable.name in self.variables)
            and (self.deepest is None or array.level <= self.deepest)
        }
        if len(kept) == len(fields):
            return fields
        used = {dim for array in kept.values() for dim in array.dims}
        coords = {name: value for name, value in fields.coords.items() if set(value[0]) <= used}
        return Fields(fields.path, kept, coords, fields.attrs)

    def levels(self, context: Context, mesh: str) -> Levels:
        """An octree, or the levels of a uniform mesh, down to the deepest one."""
        return Levels(OfDatabase(context, mesh), self.deepest)

    def check_deepest(self, format: str) -> None:
        """Throws Error if there is no such level, or if a variable lies on an octree, of which some formats have all
        levels."""
        if self.deepest is not None and self.deepest < 0:
            raise Error(
                f"export: found deepest={self.deepest}, expected 0 or more, the number of the finest level wanted"
            )
        whole = self.deepest is not None and format in (".h5", ".nc", ".zarr")
        for slot in self.slots if whole else ():
            for name, array in self.fields(slot).items():
                if array.context.meshes[array.variable.mesh]["type"] == "octree":
                    raise Error(
                        f"export: '{name}' lies on an octree, of which {format} has all levels: export to .pvd or "
                        ".vtkhdf, leave it out with --variables, or leave out --deepest"
                    )

    def check_names(self) -> None:
        """Throws Error if a variable is in none of the contexts."""
        if self.variables is None:
            return
        known = list(dict.fromkeys(name for slot in self.slots for name in Context(self.place, slot).variables))
        wrong = [name for name in self.variables if name not in known]
        if wrong:
            raise Error(f"export: there is no variable '{wrong[0]}', but {', '.join(known)}; correct the name")


def slabs(array: LazyArray, rows: int | None = None) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Gives the array part by part along its first axis, `rows` at a time or as many as fit into memory."""
    points, stored = math.prod(array.shape), getattr(array, "stored", None)
    if stored is not None and points > max(MOST_POINTS, SPARSEST * stored):
        raise Error(
            f"export: a variable has {points} points, of which {stored} are stored; leave it out with --variables, or "
            "export to .vtkhdf or .amrex, which keep blocks apart",
            Code.FILE,
        )
    row = max(1, math.prod(array.shape[1:])) * array.dtype.itemsize
    step = rows or max(1, AT_ONCE // row)
    for first in range(0, array.shape[0], step):
        part = slice(first, min(first + step, array.shape[0]))
        yield part, array[part]


def bytes_of(fields: Fields) -> int:
    return sum(math.prod(array.shape) * array.dtype.itemsize for array in fields.values())


def human(count: float) -> str:
    """A size in bytes as text."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


class Progress:
    """A line on a terminal that shows the progress; elsewhere nothing."""

    def __init__(self, total: int, stream: TextIO = sys.stderr) -> None:
        self.total, self.done = max(total, 1), 0
        self._stream, self._shows = stream, stream.isatty()
        self._begin = self._last = time.monotonic()

    def add(self, count: int) -> None:
        """Adds so many bytes."""
        self.done += count
        now = time.monotonic()
        if not self._shows or (now - self._last < 0.1 and self.done < self.total):
            return
        self._last = now
        elapsed = max(now - self._begin, 1e-9)
        left = elapsed * (self.total - self.done) / max(self.done, 1)
        self._stream.write(
            f"\r\033[K{100 * self.done // self.total:3} %  {human(self.done)} of {human(self.total)}, "
            f"{human(self.done / elapsed)}/s, {left:.0f} s left"
        )
        self._stream.flush()

    def end(self) -> None:
        """Removes the line."""
        if self._shows:
            self._stream.write("\r\033[K")
            self._stream.flush()


class Remarks:
    """Sentences about data that a format cannot hold, each only once."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, sentence: str) -> None:
        if sentence not in self.said:
            self.said.append(sentence)
