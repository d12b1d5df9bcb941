"""Sessions in an output directory: the simulation with its servers, or each of them apart with `sidecar` and `job`.

Each session counts seconds from its own start. Its record has the time of day of that moment, which places all sessions
and messages on one axis.
"""

import csv
import datetime as dates
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import Code, Error
from ..reader.records import read_yaml
from ..watching.messages import LINE
from ..watching.spools import newest_rows, part_path
from ..watching.times import newest_session, rows_of

# Title; record, and the tables and messages beside it.
SESSIONS = (
    ("", "run.yaml", "timings.csv", "movement.csv", "iterations.csv", "messages.txt"),
    ("simulation", "run-clients.yaml", "timings-clients.csv", "", "iterations-clients.csv", "messages-clients.txt"),
    (
        "endpoint",
        "endpoint.yaml",
        "endpoint-timings.csv",
        "endpoint-movement.csv",
        "endpoint-iterations.csv",
        "endpoint-messages.txt",
    ),
)
_ALL_CHUNKS = 1 << 40


@dataclass
class Session:
    """The records of one session. Times are seconds since its start."""

    title: str  # empty for the one that has run.yaml
    record: dict[str, Any]
    started: dates.datetime | None
    ended: dates.datetime | None
    rows: list[Any]  # of timings, as watching.times.rows_of
    moved: list[tuple[str, str, int, int, int]]  # rank, role, iteration, blocks, bytes
    outcomes: list[tuple[int, str, str]]  # iteration, outcome, reason
    messages: list[tuple[dates.datetime, str, str, str]]  # time, level, process, text
    ends: dict[int, float] = field(default_factory=dict)  # when the last client ended each iteration

    def __post_init__(self) -> None:
        for _, role, iteration, numbers, _ in self.rows:
            if role == "client":
                self.ends[iteration] = max(self.ends.get(iteration, 0.0), sum(numbers))


def moment_of(value: Any) -> dates.datetime | None:
    """A time of day of a record or of a message, in UTC."""
    if isinstance(value, str):
        try:
            value = dates.datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, dates.datetime):
        return None
    return value.replace(tzinfo=dates.UTC) if value.tzinfo is None else value.astimezone(dates.UTC)


def _text_of(root: Path, name: str) -> str:
    """The table, or the rows in its part file while the run goes on or after a crash."""
    part = newest_rows(part_path(root, name), _ALL_CHUNKS) if name else ""
    if part:
        return part
    try:
        return (root / name).read_text(encoding="utf-8", errors="replace") if name else ""
    except OSError:
        return ""


def _moved(text: str) -> Iterator[tuple[str, str, int, int, int]]:
    for row in csv.reader(text.splitlines()):
        if len(row) == 6 and row[2].isdigit():
            yield row[0], row[1], int(row[2]), int(row[3]), int(row[4]) + int(row[5])


def _newest(rows: list[Any], iteration: int) -> list[Any]:
    """Rows of the last session only: a resumed run counts iterations from 0 again, and the last ones count."""
    found = {(row[:iteration], row[iteration]): row for row in rows}
    return list(found.values())


def _messages(root: Path, name: str, since: dates.datetime | None) -> list[tuple[dates.datetime, str, str, str]]:
    found = []
    try:
        lines = (root / name).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []
    for line in lines:
        parts = LINE.fullmatch(line)
        moment = moment_of(parts[1]) if parts else None
        if parts and moment and (since is None or moment >= since):
            found.append((moment, parts[2], parts[3], parts[4]))
    return found


def _session(root: Path, names: tuple[str, ...]) -> Session | None:
    title, record_name, timings, movement, iterations, messages = names
    rows = newest_session(rows_of(_text_of(root, timings)))
    record = read_yaml(root / record_name) if (root / record_name).is_file() else {}
    if not isinstance(record, dict) or not (record or rows):
        return None
    started = moment_of(record.get("started"))
    table = [row for row in csv.reader(_text_of(root, iterations).splitlines()) if len(row) == 5 and row[0].isdigit()]
    outcomes = _newest([(int(row[0]), row[3], row[4]) for row in table], 0)
    moved = _newest(list(_moved(_text_of(root, movement))), 2)
    said = _messages(root, messages, started)
    return Session(title, record, started, moment_of(record.get("ended")), rows, moved, outcomes, said)


def sessions_in(root: Path) -> list[Session]:
    """The sessions of the newest run in a directory, that of run.yaml first. Raises Error if there is none."""
    if not root.is_dir():
        raise Error(f"'{root}' is no directory; name the output directory of a run", Code.FILE)
    found = [session for names in SESSIONS if (session := _session(root, names))]
    if not found:
        raise Error(f"'{root}' has no run.yaml and no timings.csv; name the output directory of a run", Code.FILE)
    return found


def start_of_all(sessions: list[Session]) -> dates.datetime | None:
    """The earliest start; nothing if a record has none, as those of earlier versions."""
    moments = [session.started for session in sessions]
    return min(moment for moment in moments if moment) if all(moments) else None
