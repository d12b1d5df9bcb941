"""Outcomes of iterations: how many were delivered, and which were not, and why."""

import csv
from collections import Counter, deque
from pathlib import Path
from typing import Any

from .growing import Growing
from .spools import newest_rows, part_path

TABLES = ("iterations.csv", "endpoint-iterations.csv", "iterations-clients.csv")
# Newest iterations that are kept, and newest ones with a reason.
MOST, REASONS = 600, 200


class Outcomes:
    """The newest iterations. While a run goes on its rows come from part files, which lack the newest rows."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._tables = {name: Growing(root / name) for name in TABLES}
        self._parts: dict[str, tuple[int, int]] = {}
        self.found: dict[str, Outcome] = {}

    def refresh(self) -> bool:
        """Returns true if something has changed."""
        changed = [self._refresh(name, file) for name, file in self._tables.items()]
        return any(changed)

    def _refresh(self, name: str, file: Growing) -> bool:
        part = part_path(self._root, name)
        try:
            facts = part.lstat()
            stamp = (facts.st_ino, facts.st_mtime_ns)
        except OSError:
            stamp = (0, 0)
        news = file.read()
        if not (news.text or news.restarted or stamp != self._parts.get(name, (0, 0))):
            return False
        outcome = Outcome() if news.restarted or name not in self.found else self.found[name]
        self._parts[name] = stamp
        outcome.take(news.text)
        outcome.part = Outcome()
        outcome.part.take("iteration,cycle,time,outcome,reason\n" + newest_rows(part, 8) if stamp != (0, 0) else "")
        self.found[name] = outcome
        return True

    def shown(self) -> dict[str, Any]:
        """By table: numbers of outcomes, the newest iterations, and reasons."""
        return {name: found.shown() for name, found in self.found.items() if found.count or found.part_count}


class Outcome:
    """The rows of one table, and of its part file."""

    def __init__(self) -> None:
        self.numbers: Counter[str] = Counter()
        self.newest: deque[list[Any]] = deque(maxlen=MOST)
        self.reasons: deque[list[str]] = deque(maxlen=REASONS)
        self._columns: list[str] = []
        self.part: Outcome | None = None

    @property
    def count(self) -> int:
        return sum(self.numbers.values())

    @property
    def part_count(self) -> int:
        return self.part.count if self.part else 0

    def take(self, text: str) -> None:
        for row in csv.reader(text.splitlines(keepends=True)):
            if row[:1] == ["iteration"]:
                continue
            if len(row) != 5:
                continue
            self.numbers[row[3]] += 1
            self.newest.append([row[0], row[3]])
            if row[3] != "delivered" or row[4]:
                self.reasons.append(row)

    def shown(self) -> dict[str, Any]:
        parts = [self] if self.part is None else [self, self.part]
        newest = [row for part in parts for row in part.newest][-MOST:]
        reasons = [row for part in parts for row in part.reasons][-REASONS:]
        numbers = sum((part.numbers for part in parts), Counter())
        return {"numbers": dict(numbers), "newest": newest, "reasons": reasons, "so_far": self.part_count > 0}
