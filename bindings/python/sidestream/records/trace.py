"""The trace of a run: JSON in the Trace Event Format, which Perfetto and Chrome open.

Clients and servers of a session are two processes of the trace, and each rank is a thread. What a rank did is a
complete event (X); moved bytes, and iterations that servers have not finished, are counters (C); messages, and
iterations that were not delivered, are instants (i). Times are microseconds since the earliest start of a session.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import Error
from ..exporters.parts import in_ranges
from ..watching.times import OF_CLIENTS, by_iteration, waiting_iterations
from .sessions import Session, start_of_all

_PROCESSES = ("client", "server")


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _complete(name: str, process: int, rank: int, start: int, end: int, args: dict[str, Any]) -> dict[str, Any]:
    """An event from and to nanoseconds."""
    return {
        "name": name,
        "cat": "sidestream",
        "ph": "X",
        "pid": process,
        "tid": rank,
        "ts": start / 1000,
        "dur": (end - start) / 1000,
        "args": args,
    }


class Track:
    """Events of one rank, of which each lies within another or beside it: rounding must not make them overlap."""

    def __init__(self) -> None:
        self._open: list[int] = []  # ends of the events around the next one

    def fitted(self, start: int, end: int) -> tuple[int, int]:
        while self._open and self._open[-1] <= start:
            self._open.pop()
        if self._open:
            end = min(end, self._open[-1])
        self._open.append(end)
        return start, end


class Trace:
    """Writes the events of sessions one after the other."""

    def __init__(self, sessions: list[Session], iterations: list[range] | None) -> None:
        self._sessions, self._iterations = sessions, iterations
        self._zero = start_of_all(sessions)

    def remarks(self) -> list[str]:
        """Sentences about what the trace cannot show."""
        if self._zero is not None:
            return []
        several = len(self._sessions) > 1
        more = "; the sessions of simulation and servers all begin at 0" if several else ""
        return [f"trace: a record has no time of its start, so messages are left out{more}"]

    def events(self) -> Iterator[dict[str, Any]]:
        for number, session in enumerate(self._sessions):
            offset = 0
            if self._zero is not None and session.started is not None:
                offset = _nanoseconds((session.started - self._zero).total_seconds())
            first = 1 + len(_PROCESSES) * number
            yield from self._names(session, first)
            rows = [row for row in session.rows if in_ranges(row[2], self._iterations)]
            tracks: dict[tuple[int, int], list[Any]] = {}
            for row in rows:
                process = first + _PROCESSES.index(row[1])
                tracks.setdefault((process, int(row[0])), []).append(row)
            for (process, rank), own in sorted(tracks.items()):
                of_role = self._of_client if own[0][1] == "client" else self._of_server
                yield from of_role(own, process, rank, offset)
            yield from self._counters(session, rows, first, offset)
            yield from self._instants(session, first, offset)

    def _names(self, session: Session, first: int) -> Iterator[dict[str, Any]]:
        shown = sorted({(row[1], int(row[0])) for row in session.rows})
        before = f"{session.title}: " if session.title else ""
        for number, role in enumerate(_PROCESSES):
            if any(own == role for own, _ in shown):
                yield _metadata("process_name", first + number, 0, {"name": f"{before}{role}s"})
                yield _metadata("process_sort_index", first + number, 0, {"sort_index": first + number})
        for role, rank in shown:
            process = first + _PROCESSES.index(role)
            yield _metadata("thread_name", process, rank, {"name": f"{role} {rank}"})
            yield _metadata("thread_sort_index", process, rank, {"sort_index": rank})

    def _of_client(self, rows: list[Any], process: int, rank: int, offset: int) -> Iterator[dict[str, Any]]:
        """An iteration, and within it its parts in a fixed order: only their sums are recorded."""
        for _, _, iteration, numbers, _ in sorted(rows, key=lambda row: row[3][0]):
            at = offset + _nanoseconds(numbers[0])
            parts = [max(0, _nanoseconds(seconds)) for seconds in numbers[1:]]
            args = {"iteration": iteration}
            yield _complete("iteration", process, rank, at, at + sum(parts), args)
            for name, length in zip(OF_CLIENTS, parts, strict=True):
                if length > 0:
                    yield _complete(name, process, rank, at, at + length, args)
                at += length

    def _of_server(self, rows: list[Any], process: int, rank: int, offset: int) -> Iterator[dict[str, Any]]:
        track = Track()
        for _, _, iteration, numbers, task in sorted(rows, key=lambda row: (row[3][0], -row[3][1])):
            start = offset + _nanoseconds(numbers[0])
            start, end = track.fitted(start, start + max(0, _nanoseconds(numbers[1])))
            yield _complete(task, process, rank, start, end, {"iteration": iteration})

    def _counters(self, session: Session, rows: list[Any], first: int, offset: int) -> Iterator[dict[str, Any]]:
        for moment, number in waiting_iterations(by_iteration(rows)):
            at = (offset + _nanoseconds(moment)) / 1000
            yield _counter("iterations in the buffer", first + 1, at, {"iterations": number})
        begins: dict[tuple[str, int], float] = {}
        for rank, _, iteration, numbers, _ in rows:
            key = rank, iteration
            begins[key] = min(begins.get(key, numbers[0]), numbers[0])
        for rank, role, iteration, _, count in session.moved:
            if (rank, iteration) not in begins:
                continue
            process = first + (1 if role == "server" else 0)
            at = (offset + _nanoseconds(begins[rank, iteration])) / 1000
            yield _counter(f"moved by {role} {rank}", process, at, {"bytes": count})

    def _instants(self, session: Session, first: int, offset: int) -> Iterator[dict[str, Any]]:
        for iteration, outcome, reason in session.outcomes:
            if outcome == "delivered" or iteration not in session.ends or not in_ranges(iteration, self._iterations):
                continue
            at = (offset + _nanoseconds(session.ends[iteration])) / 1000
            args = {"iteration": iteration, "reason": reason}
            yield _instant(f"iteration {outcome}", first, 0, at, "p", args)
        if self._zero is None:
            return
        for moment, level, process, text in session.messages:
            role, rank = process.split(" ", 1)
            number = first if role == "client" else first + 1
            at = (moment - self._zero).total_seconds() * 1e6
            yield _instant(f"{level}: {text}", number, int(rank), at, "t", {"text": text})


def _metadata(name: str, process: int, rank: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": process, "tid": rank, "ts": 0, "args": args}


def _counter(name: str, process: int, at: float, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "cat": "sidestream", "ph": "C", "pid": process, "tid": 0, "ts": at, "args": args}


def _instant(name: str, process: int, rank: int, at: float, scope: str, args: dict[str, Any]) -> dict[str, Any]:
    shared = {"name": name, "cat": "sidestream", "ph": "i", "s": scope}
    return {**shared, "pid": process, "tid": rank, "ts": max(at, 0.0), "args": args}


CLOCK = (
    "Seconds since the session's start, at which its ranks leave a barrier; each rank counts with the clock of its "
    "node. Sessions of simulation and servers apart, and messages, are placed by the time of day of their nodes."
)


def write_trace(path: Path, sessions: list[Session], iterations: list[range] | None) -> tuple[int, list[str]]:
    """Writes the trace, whole or not at all. Returns the number of events, and sentences about what is left out."""
    numbers = {row[2] for session in sessions for row in session.rows}
    if not numbers:
        raise Error("trace: the run has no times; was it run with `output: {timings: false}`, or has it not ended?")
    if not any(in_ranges(number, iterations) for number in numbers):
        raise Error(f"trace: none of the iterations is there; the times are of {min(numbers)} to {max(numbers)}")
    trace, count = Trace(sessions, iterations), 0
    record = sessions[0].record
    other = {name: str(record[name]) for name in ("sidestream", "placement", "started") if name in record}
    with replaced(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ms", "otherData": ' + json.dumps({**other, "clock": CLOCK}))
        file.write(', "traceEvents": [')
        for event in trace.events():
            file.write(("," if count else "") + "\n" + json.dumps(event, ensure_ascii=False))
            count += 1
        file.write("\n]}\n")
    return count, trace.remarks()


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A new file beside `path`, which gets its name at the end, unless an exception ends the block."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
