"""Time lines of a run: what clients and servers did in the newest iterations, and how many iterations wait in the
buffer. From `timings.csv`, or from its part file while the run goes on."""

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .spools import newest_rows, part_path

TABLES = ("timings.csv", "endpoint-timings.csv", "timings-clients.csv")
OF_CLIENTS = ("compute", "publish", "wait", "end")
NO_WORK = ("idle", "agree")
# Bytes of a table that are read, at most; iterations that are kept; those whose bars are drawn; ranks with bars.
MOST_BYTES, ITERATIONS, WITH_BARS, RANKS = 24 << 20, 400, 12, 32
WINDOWS = 24


@dataclass
class Iteration:
    """Sums and extremes over ranks. Seconds; moments since the start of the session."""

    clients: dict[str, float] = field(default_factory=dict)  # the longest of all clients
    tasks: dict[str, float] = field(default_factory=dict)  # the longest of all servers
    work: dict[str, float] = field(default_factory=dict)  # of each server, all tasks
    ended: float = 0.0  # the last client
    finished: float = 0.0  # the last server


def text_of(path: Path) -> tuple[str, bool]:
    """The table, or some parts of it if it is long; true for these."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= MOST_BYTES:
            return file.read(MOST_BYTES).decode("utf-8", "replace"), False
        texts = []
        for number in range(WINDOWS):
            file.seek(size * number // WINDOWS)
            text = file.read(MOST_BYTES // WINDOWS)
            texts.append(text[text.find(b"\n") + 1 : text.rfind(b"\n") + 1])
    return b"".join(texts).decode("utf-8", "replace"), True


def rows_of(text: str) -> list[tuple[str, str, int, list[float], str]]:
    """Rank, role, iteration, numbers (start, then those of the role) and task of each row that makes sense."""
    rows = []
    for row in csv.reader(text.splitlines(keepends=True)):
        try:
            rank, role, iteration, start, *times, task, seconds = row
            numbers = [float(start), *map(float, times)] if role == "client" else [float(start), float(seconds)]
            if (role == "client" and len(times) == len(OF_CLIENTS)) or role == "server":
                rows.append((rank, role, int(iteration), numbers, task))
        except ValueError:
            continue
    return rows


def newest_session(rows: list[Any]) -> list[Any]:
    """Rows of the last session only: a resumed run counts iterations and seconds from 0 again."""
    begins: dict[str, int] = {}
    last: dict[str, float] = {}
    by_rank: dict[str, list[Any]] = {}
    for row in rows:
        rank, start = f"{row[0]} {row[1]}", row[3][0]
        if start < last.get(rank, start) - 1e-6:
            begins[rank] = len(by_rank[rank])
        last[rank] = start
        by_rank.setdefault(rank, []).append(row)
    # Rows of ranks that did not begin again belong to the same session if nobody did.
    return [row for rank, own in by_rank.items() for row in own[begins.get(rank, 0) :] if not begins or rank in begins]


def by_iteration(rows: Iterable[Any]) -> dict[int, Iteration]:
    """Joins the rows of all ranks."""
    found: dict[int, Iteration] = {}
    for rank, role, number, numbers, task in rows:
        it = found.setdefault(number, Iteration())
        if role == "client":
            for name, seconds in zip(OF_CLIENTS, numbers[1:], strict=True):
                it.clients[name] = max(it.clients.get(name, 0.0), seconds)
            it.ended = max(it.ended, sum(numbers))
        elif task not in NO_WORK:
            it.tasks[task] = max(it.tasks.get(task, 0.0), numbers[1])
            it.work[rank] = it.work.get(rank, 0.0) + numbers[1]
            it.finished = max(it.finished, numbers[0] + numbers[1])
    return found


def waiting_iterations(found: dict[int, Iteration]) -> list[list[float]]:
    """Moments and numbers of iterations that clients have ended and servers have not finished: what the buffer holds.
    Empty without rows of both."""
    both = [it for it in found.values() if it.clients and it.work]
    events = [(it.ended, 1) for it in both] + [(max(it.finished, it.ended), -1) for it in both]
    events.sort(key=lambda event: (event[0], -event[1]))
    line, number = [], 0
    for moment, change in events:
        number += change
        line.append([moment, number])
    return line


def bars_of(rows: list[Any], first: int) -> list[list[Any]]:
    """Rank, what it did, from when, how long, in which iteration, for iterations from `first` on."""
    bars: list[list[Any]] = []
    ranks: set[str] = set()
    for rank, role, number, numbers, task in rows:
        own = f"{role} {rank}"
        if number < first or (own not in ranks and len(ranks) >= RANKS):
            continue
        ranks.add(own)
        if role == "server":
            bars.append([own, task, numbers[0], numbers[1], number])
            continue
        start = numbers[0]
        for name, seconds in zip(OF_CLIENTS, numbers[1:], strict=True):
            bars.append([own, name, start, seconds, number])
            start += seconds
    return bars


def newest_of_both(rows: list[Any]) -> int:
    """The newest iteration of which clients and servers have rows: each writes rows when it has many. If only one of
    them has rows, or is far behind, the newest iteration of the other."""
    newest: dict[str, int] = {}
    for _, role, number, *_ in rows:
        newest[role] = max(newest.get(role, number), number)
    last, first = max(newest.values()), min(newest.values())
    return first if last - first < ITERATIONS else last


def time_lines(text: str, sampled: bool) -> dict[str, Any]:
    """The time lines that a page draws; {} without rows."""
    rows = newest_session(rows_of(text))
    if not rows:
        return {}
    newest = newest_of_both(rows)
    rows = [row for row in rows if newest - ITERATIONS < row[2] <= newest]
    found = dict(sorted(by_iteration(rows).items()))
    tasks = sorted({task for it in found.values() for task in it.tasks})
    return {
        "iterations": list(found),
        "clients": {name: [it.clients.get(name) for it in found.values()] for name in OF_CLIENTS},
        "tasks": {task: [it.tasks.get(task) for it in found.values()] for task in tasks},
        "work": [max(it.work.values(), default=None) for it in found.values()],
        "waiting": waiting_iterations(found),
        "bars": bars_of(rows, newest - WITH_BARS + 1),
        "sampled": sampled,
    }


class Times:
    """Time lines of each table, or of its part file."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._stamps: dict[Path, tuple[int, int, int]] = {}
        self.found: dict[str, dict[str, Any]] = {}

    def refresh(self) -> bool:
        """Returns true if something has changed."""
        changed = [self._refresh(name) for name in TABLES]
        return any(changed)

    def _refresh(self, name: str) -> bool:
        # A part file is newer than the table of an earlier run.
        for path in (part_path(self._root, name), self._root / name):
            try:
                facts = path.lstat()
            except OSError:
                continue
            stamp = (facts.st_ino, facts.st_mtime_ns, facts.st_size)
            if self._stamps.get(self._root / name) == stamp:
                return False
            self._stamps[self._root / name] = stamp
            try:
                text, sampled = (newest_rows(path), False) if path.name.startswith(".") else text_of(path)
            except OSError:
                return False
            self.found[name] = time_lines(text, sampled)
            return True
        self._stamps.pop(self._root / name, None)
        return self.found.pop(name, None) is not None
