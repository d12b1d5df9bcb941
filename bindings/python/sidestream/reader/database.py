"""Databases: contexts over time, or one of them. docs/database-format.md describes the format."""

import warnings
from pathlib import Path

from ..errors import Code, Error
from .journal import JOURNAL, Removed, Slot, is_database, read_journal
from .lazy import Fields
from .series import stacked
from .stored import Context
from .stored_fields import fields_of

__all__ = ["JOURNAL", "chosen", "continued", "is_database", "read_database"]

REOPENED = 10  # times that a database is reopened because a context was removed meanwhile


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


def read_database(place: Path, iteration: int | None = None, cycle: int | None = None) -> Fields:
    """Opens all contexts over time that no later run has written anew, without reading values. `iteration` or `cycle`
    selects the one of that number that was written last."""
    slots = chosen(place, iteration, cycle)
    if iteration is not None or cycle is not None:
        return fields_of(Context(place, slots[-1]))
    for _ in range(REOPENED):
        try:
            return _over_time(place, slots)
        except Removed:  # by a run that is writing at the same time and has newer ones
            slots = chosen(place)
    return _over_time(place, slots)


def _over_time(place: Path, slots: list[Slot]) -> Fields:
    kept = continued(slots)
    fields = stacked(place, [fields_of(Context(place, slot)) for slot in kept])
    if len(kept) < len(slots):
        fields.attrs["rewritten"] = len(slots) - len(kept)
    return fields
