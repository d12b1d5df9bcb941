"""Databases: contexts over time, or one of them. docs/database-format.md describes the format."""

from pathlib import Path

from .journal import JOURNAL, Removed, Slot, chosen, continued, is_database
from .lazy import Fields
from .series import stacked
from .stored import Context
from .stored_fields import fields_of

__all__ = ["JOURNAL", "chosen", "continued", "is_database", "read_database"]

REOPENED = 10  # times that a database is reopened because a context was removed meanwhile


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
