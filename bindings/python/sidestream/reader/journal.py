"""The contexts of a database. docs/database-format.md describes the format."""

import struct
import warnings
from dataclasses import dataclass
from pathlib import Path

from ..codecs.checksums import is_right
from ..errors import Code, Error

JOURNAL = "contexts"
SLOT, VERSION, TREES = 256, 1, 2  # version 2 has contexts with values cut by level
HEAD, CONTEXT, REMOVAL = b"SDSDBASE", b"SDSCNTXT", b"SDSREMVD"
KINDS = ("checkpoint", "post")


@dataclass(frozen=True)
class Slot:
    """An entry of `contexts`."""

    number: int
    run: int
    iteration: int
    cycle: int
    time: float
    kind: str
    groups: int
    contributors: int
    blocks: int
    bytes: int
    stored: int
    group: int
    segment: int
    offset: int
    size: int
    checksum: int


@dataclass(frozen=True)
class Journal:
    """Contexts in the order of writing, without removed ones, and remarks on those that were passed over."""

    slots: tuple[Slot, ...]
    remarks: tuple[str, ...]


def is_database(place: Path) -> bool:
    """True if a directory is a database."""
    return (place / JOURNAL).is_file()


class Removed(Error):
    """A context that existed was removed by a run that is writing at the same time."""


def _remark_on_head(raw: bytes, path: Path) -> list[str]:
    """Returns a remark if the head is damaged, which is harmless, since its content is not needed. Throws Error(FILE)
    for a newer version."""
    whole = len(raw) == SLOT and raw[:8] == HEAD and is_right(raw[:248], int.from_bytes(raw[248:], "little"))
    version = int.from_bytes(raw[8:12], "little")
    if whole and version > VERSION:
        raise Error(f"{path}: version {version} of the format, expected {VERSION}; use a newer Sidestream", Code.FILE)
    if not raw:
        return [f"{path}: the file is empty; it was cut off"]
    return [] if whole and version == VERSION else [f"{path}: the head is damaged; contexts are read all the same"]


def _passed_over(path: Path, number: int, size: int) -> str:
    if size < SLOT:
        return (
            f"{path}: slot {number} has {size} of {SLOT} bytes: a run ended while it committed this context, which is "
            "dropped"
        )
    return (
        f"{path}: slot {number} is damaged, or a run ended while it was written; the context that it stands for is "
        "dropped"
    )


def _slot(number: int, raw: bytes) -> Slot | int | None:
    """Reads a slot: a context, the number of a removed context, or None if it is damaged."""
    checksum = int.from_bytes(raw[248:], "little")
    whole = len(raw) == SLOT and checksum != 0 and is_right(raw[:248], checksum)
    version = struct.unpack_from("<I", raw, 8)[0] if whole else 0
    if version not in (VERSION, TREES) or struct.unpack_from("<Q", raw, 16)[0] != number:
        return None
    if raw[:8] == REMOVAL and version == VERSION:
        return struct.unpack_from("<Q", raw, 24)[0]
    values = struct.unpack_from("<qqdIIQQQQIIQQQ", raw, 24)
    if raw[:8] != CONTEXT or values[3] >= len(KINDS):
        return None
    run = struct.unpack_from("<I", raw, 12)[0]
    return Slot(number, run, *values[:3], KINDS[values[3]], *values[4:])


def read_journal(place: Path) -> Journal:
    """Reads the journal. Throws Error(FILE) if the directory is no database."""
    path = place / JOURNAL
    try:
        if not is_database(place):
            raise FileNotFoundError(f"no file '{path}'")
        data = path.read_bytes()
    except OSError as problem:
        raise Error(
            f"{place}: this is no database; it has no file '{JOURNAL}' that can be read ({problem})", Code.FILE
        ) from problem
    found: dict[int, Slot] = {}
    remarks = _remark_on_head(data[:SLOT], path)
    for number in range(1, -(-len(data) // SLOT)):
        slot = _slot(number, data[number * SLOT : (number + 1) * SLOT])
        if isinstance(slot, Slot):
            found[number] = slot
        elif slot is None:
            remarks.append(_passed_over(path, number, len(data) - number * SLOT))
        else:
            found.pop(slot, None)
    return Journal(tuple(found.values()), tuple(remarks))


def is_removed(place: Path, number: int) -> bool:
    """True if the context of a slot no longer exists."""
    return all(slot.number != number for slot in read_journal(place).slots)


def chosen(place: Path, iteration: int | None = None, cycle: int | None = None) -> list[Slot]:
    """The contexts of a database in the order of writing; with `iteration` or `cycle` only those of it. Warns about
    contexts that are passed over."""
    journal = read_journal(place)
    for remark in journal.remarks:
        warnings.warn(f"sidestream: {remark}", stacklevel=3)
    found = [slot for slot in journal.slots if iteration in (None, slot.iteration) and cycle in (None, slot.cycle)]
    if found:
        return found
    if not journal.slots:
        said = "".join(f"; {remark}" for remark in journal.remarks)
        raise Error(
            f"{place}: this database has no context yet; a run commits one with each iteration{said}", Code.FILE
        )
    asked = f"iteration {iteration}" if iteration is not None else f"cycle {cycle}"
    there = ", ".join(f"{slot.iteration} (cycle {slot.cycle})" for slot in journal.slots[-8:])
    raise Error(f"{place}: there is no context of {asked}; the last iterations are {there}", Code.FILE)


def continued(slots: list[Slot]) -> list[Slot]:
    """Returns the contexts that no later run has written anew: an earlier run's contexts before the first cycle of each
    later run."""
    first: dict[int, int] = {}
    for slot in slots:
        first[slot.run] = min(slot.cycle, first.get(slot.run, slot.cycle))
    return [s for s in slots if all(s.cycle < cycle for run, cycle in first.items() if run > s.run)]
