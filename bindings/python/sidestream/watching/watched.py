"""State of a directory of results, in parts with versions, so that each watcher is told only what has changed."""

import time
from collections import deque
from pathlib import Path
from typing import Any

from . import asking, steering
from .folders import Tree
from .messages import Messages
from .outcomes import TABLES as OF_ITERATIONS
from .outcomes import Outcomes
from .pictures import Frame, Pictures, Series
from .run_facts import RunFacts
from .tables import Table
from .times import TABLES as OF_TIMES
from .times import Times

# Tables that a page shows as time lines, or not at all.
RECORDS = (*OF_ITERATIONS, *OF_TIMES, "movement.csv", "endpoint-movement.csv")
MOST_TABLES = 300
POINTS = 600  # of the line of progress


class Watched:
    """All that a page shows of a directory. One thread at a time calls `refresh`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._tree = Tree(root)
        self.pictures = Pictures(root)
        self.tables: dict[str, Table] = {}
        self._run, self._outcomes, self._times = RunFacts(root), Outcomes(root), Times(root)
        self._messages = Messages(root)
        self._progress: deque[list[float]] = deque(maxlen=POINTS)
        self.parts: dict[str, tuple[int, Any]] = {}
        self._times_due, self._progress_due = 0.0, 0.0
        self._number = 0  # of the run that is shown

    def refresh(self) -> float:
        """Looks at the directory. Returns the seconds that this took."""
        began = time.monotonic()
        names_changed = self._tree.refresh()
        if self.pictures.refresh(self._tree, names_changed) or self._tree.unsettled:
            self._put_all("series:", {name: self._of_series(one) for name, one in self.pictures.series.items()})
        self._refresh_tables(names_changed)
        self._run.refresh()
        if self._run.number != self._number:
            self._begin_anew()
        if began >= self._times_due:
            self._refresh_records()
        if self._messages.refresh() or "messages" not in self.parts:
            self._put("messages", self._messages.shown())
        self._put("steering", steering.parameters_in(self.root))
        self._put("asking", asking.record_in(self.root))
        newest = self._newest()
        self._put("run", {**self._of_run(), "moment": newest})
        self._note_progress(newest)
        return time.monotonic() - began

    def _begin_anew(self) -> None:
        """Forgets times and outcomes of the run before."""
        self._number = self._run.number
        self._outcomes, self._times = Outcomes(self.root), Times(self.root)
        self._put("iterations", {})
        self._put("times", {})
        self._progress.clear()
        self._times_due = self._progress_due = 0.0

    def _of_run(self) -> dict[str, Any]:
        shown = {**self._run.shown, "directory": str(self.root), "there": self.root.is_dir()}
        if shown["state"] == "waiting" and (self.pictures.series or self.tables):
            shown["state"] = "unrecorded"  # with `output.timings: false`
        return shown

    def _refresh_records(self) -> None:
        """Reads the records of times and outcomes, which takes longer and is therefore done more rarely."""
        began = time.monotonic()
        if self._outcomes.refresh() or "iterations" not in self.parts:
            self._put("iterations", self._outcomes.shown())
        if self._times.refresh() or "times" not in self.parts:
            self._put("times", self._times.found)
        now = time.monotonic()
        self._times_due = now + max(1.0, 10 * (now - began))

    def _refresh_tables(self, names_changed: bool) -> None:
        if names_changed or any(index.newest_file for index in self.pictures.indices.values()):
            self._find_tables()
        for table in self.tables.values():
            table.refresh()
        found = {name: {"rows": t.rows, "columns": t.columns, "version": t.version} for name, t in self.tables.items()}
        self._put_all("table:", {name: facts for name, facts in found.items() if facts["columns"]})

    def _find_tables(self) -> None:
        listed: set[str] = set()
        paths: dict[str, Path] = {}
        for name, index in self.pictures.indices.items():
            if index.newest_file and index.newest_file.endswith(".csv"):
                listed |= set(index.names)
                paths[name.removesuffix(".series")] = self.root / index.newest_file
        for folder, names in self._tree:
            if folder.endswith(".cdb"):
                continue
            before = f"{folder}/" if folder else ""
            for name in sorted(names.files):
                if not name.endswith(".csv") or before + name in listed or (not folder and name in RECORDS):
                    continue
                if name.startswith("piece-"):
                    continue
                paths[before + name] = self.root / before / name
        kept = dict(list(paths.items())[:MOST_TABLES])
        self.tables = {
            name: self.tables[name] if name in self.tables and self.tables[name].path == path else Table(path)
            for name, path in kept.items()
        }

    def _put(self, key: str, value: Any) -> None:
        version, before = self.parts.get(key, (0, None))
        if version == 0 or value != before:
            self.parts[key] = (version + 1, value)

    def _put_all(self, prefix: str, found: dict[str, Any]) -> None:
        for key in [key for key in self.parts if key.startswith(prefix)]:
            if key.removeprefix(prefix) not in found:
                del self.parts[key]
        for name, value in found.items():
            self._put(prefix + name, value)

    def frame_facts(self, frame: Frame) -> dict[str, Any]:
        """A frame for a page. `version` differs if the file was replaced."""
        facts: dict[str, Any] = {
            "file": frame.file,
            "iteration": frame.iteration,
            "cycle": frame.cycle,
            "time": frame.time,
        }
        try:
            stat = (self.root / frame.file).stat()
            facts |= {"version": f"{stat.st_ino:x}-{stat.st_mtime_ns:x}", "at": stat.st_mtime}
        except OSError:
            facts |= {"version": "", "at": None}
        return facts

    def _of_series(self, series: Series) -> dict[str, Any]:
        views = {view: len(frames) for view, frames in series.views.items()}
        newest = {view: self.frame_facts(frames[-1]) for view, frames in list(series.views.items())[:200] if frames}
        return {"views": views, "newest": newest}

    def _newest(self) -> dict[str, Any]:
        """Iteration, cycle and time of the newest picture or row, and the time at which that picture was written."""
        found = [
            frame
            for key, (_, value) in self.parts.items()
            if key.startswith("series:")
            for frame in list(value["newest"].values())[:1]
            if frame["iteration"] is not None
        ]
        found += [table.moment for table in self.tables.values() if table.moment]
        newest = max(found, key=lambda one: one["iteration"], default={})
        return {key: newest.get(key) for key in ("iteration", "cycle", "time", "at")}

    def _note_progress(self, newest: dict[str, Any]) -> None:
        """Adds the newest iteration to the line of progress, with the time at which its result was there."""
        iteration = newest["iteration"]
        if iteration is None:
            return
        if self._progress and iteration < self._progress[-1][1]:
            self._progress.clear()  # another run
        if not self._progress:
            self._progress.extend(self._earlier())
        if not self._progress or iteration > self._progress[-1][1]:
            self._progress.append([newest["at"] or time.time(), iteration, newest["time"]])
        if time.monotonic() >= self._progress_due:
            self._put("progress", list(self._progress))
            self._progress_due = time.monotonic() + 1

    def _earlier(self) -> list[list[float]]:
        """Points of the line of progress before the page was opened, from the times of files."""
        longest = max((one.frames("") for one in self.pictures.series.values()), key=len, default=[])
        chosen = longest[:-1][:: max(len(longest) // 200, 1)]
        facts = [self.frame_facts(frame) for frame in chosen]
        return sorted([f["at"], f["iteration"], f["time"]] for f in facts if f["at"] and f["iteration"] is not None)

    def changes(self, told: dict[str, int]) -> dict[str, Any]:
        """Parts that are newer than what a watcher was `told`, which is updated; {} if nothing has changed."""
        parts = dict(self.parts)
        changed = {key: value for key, (version, value) in parts.items() if told.get(key) != version}
        gone = [key for key in told if key not in parts]
        told.clear()
        told.update({key: version for key, (version, _) in parts.items()})
        return {"changed": changed, "gone": gone} if changed or gone else {}
