"""Series of pictures: the frames that an index over time lists, those of a Cinema database, and single pictures."""

import csv
import json
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from .folders import Tree
from .growing import Growing
from .inside import relative_of

ENDINGS = (".png", ".jpg", ".jpeg", ".svg")
INDEX = ".series"
# A number in a name by which frames without an index belong together.
_NUMBER = re.compile(r"\d+(?=\D*$)")
MOST_SERIES = 500


@dataclass(frozen=True)
class Frame:
    """A picture: its file relative to the output directory, and its iteration if it is known."""

    file: str
    iteration: int | None = None
    cycle: int | None = None
    time: float | None = None


@dataclass
class Series:
    """Frames in the order of time. Those of a Cinema database are by view, others belong to the view ''."""

    name: str
    views: dict[str, list[Frame]] = field(default_factory=lambda: {"": []})

    def frames(self, view: str) -> list[Frame]:
        """The frames of a view; of the first one if there is none of that name."""
        found = self.views.get(view)
        return found if found is not None else next(iter(self.views.values()), [])

    @property
    def newest(self) -> Frame | None:
        lists = [frames for frames in self.views.values() if frames]
        return lists[0][-1] if lists else None


class Index:
    """The frames of a `.series` file, with those in the hidden file beside it that it lacks while its run goes on."""

    def __init__(self, root: Path, name: str) -> None:
        self.folder = PurePosixPath(name).parent
        self._path = root / name
        self._rest = Growing(self._path.parent / f".{self._path.name}.rest")
        self._stamp: tuple[int, int] | None = None
        self._frames: dict[str, Frame] = {}
        self._names: dict[str, None] = {}  # of all listed files, also of those that are no pictures
        self.newest_file: str | None = None

    def refresh(self) -> bool:
        """Reads what is new; returns true if there is something."""
        changed = False
        try:
            facts = self._path.stat()
            stamp = (facts.st_ino, facts.st_mtime_ns)
            if stamp != self._stamp:
                listed = json.loads(self._path.read_text(encoding="utf-8"))["files"]
                self._frames, self._names = {}, {}
                self._take(listed)
                self._stamp, changed = stamp, True
        except (OSError, ValueError, KeyError, TypeError):
            return False
        news = self._rest.read()
        try:
            lines = [json.loads(line) for line in news.text.splitlines() if line]
        except ValueError:
            lines = []
        self._take(lines)
        return changed or bool(lines)

    def _take(self, listed: list[Any]) -> None:
        for entry in listed:
            name = relative_of(str(self.folder / entry["name"]))
            if name is None:
                continue
            self._names[name] = None
            self.newest_file = name
            if name.endswith(ENDINGS):
                self._frames[name] = Frame(name, int(entry["iteration"]), int(entry["cycle"]), float(entry["time"]))

    @property
    def frames(self) -> list[Frame]:
        return list(self._frames.values())

    @property
    def names(self) -> dict[str, None]:
        return self._names


class Cinema:
    """The pictures of a Cinema database, from its table."""

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self._table = Growing(root / name / "data.csv")
        self._columns: list[str] = []
        self.views: dict[str, list[Frame]] = {}

    def refresh(self) -> bool:
        """Reads new rows; returns true if there are some."""
        news = self._table.read()
        if news.restarted:
            self._columns, self.views = [], {}
        for row in csv.reader(news.text.splitlines()):
            if not self._columns:
                self._columns = row
            elif len(row) == len(self._columns):
                self._take(dict(zip(self._columns, row, strict=True)))
        return bool(news.text) or news.restarted

    def _take(self, row: dict[str, str]) -> None:
        file = relative_of(f"{self.name}/{row.get('FILE', '')}")
        if file is None or not file.endswith(ENDINGS):
            return
        known = ("iteration", "cycle", "time", "FILE")
        view = ", ".join(f"{key} {value}" for key, value in row.items() if key not in known and value != "nan")
        try:
            frame = Frame(file, int(row["iteration"]), int(row["cycle"]), float(row["time"]))
        except (KeyError, ValueError):
            frame = Frame(file)
        self.views.setdefault(view, []).append(frame)


def unlisted(tree: Tree, listed: dict[str, None]) -> dict[str, list[Frame]]:
    """Pictures that no index lists. Several whose names differ by their last number are a series, with # for it."""
    found: dict[str, list[tuple[int, str]]] = {}
    for folder, names in tree:
        if folder.endswith(".cdb"):
            continue
        before = f"{folder}/" if folder else ""
        for name in names.files | names.links:
            if not name.endswith(ENDINGS) or before + name in listed:
                continue
            number = _NUMBER.search(name)
            pattern = name if number is None else f"{name[: number.start()]}#{name[number.end() :]}"
            found.setdefault(before + pattern, []).append((int(number[0]) if number else 0, before + name))
    series = {}
    for pattern, files in found.items():
        files.sort()
        series[files[0][1] if len(files) == 1 else pattern] = [Frame(file) for _, file in files]
    return series


class Pictures:
    """All series of pictures in a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.indices: dict[str, Index] = {}
        self._cinemas: dict[str, Cinema] = {}
        self._single: dict[str, list[Frame]] = {}
        self.series: dict[str, Series] = {}

    def refresh(self, tree: Tree, names_changed: bool) -> bool:
        """Returns true if something has changed."""
        if names_changed:
            self._find(tree)
        parts = [*self.indices.values(), *self._cinemas.values()]
        changed = [part.refresh() for part in parts]  # all of them
        if not (names_changed or any(changed)):
            return False
        listed: dict[str, None] = {}
        for index in self.indices.values():
            listed |= index.names
        self._single = unlisted(tree, listed)
        self._put_together()
        return True

    def _find(self, tree: Tree) -> None:
        indices, cinemas = set(), set()
        for folder, names in tree:
            before = f"{folder}/" if folder else ""
            if folder.endswith(".cdb") and "data.csv" in names.files:
                cinemas.add(folder)
            elif not folder.endswith(".cdb"):
                indices |= {before + name for name in names.files if name.endswith(INDEX)}
        self.indices = {name: self.indices.get(name) or Index(self._root, name) for name in sorted(indices)}
        self._cinemas = {name: self._cinemas.get(name) or Cinema(self._root, name) for name in sorted(cinemas)}

    def _put_together(self) -> None:
        found: dict[str, Series] = {}
        for name, index in self.indices.items():
            if index.frames:
                own = name.removesuffix(INDEX)
                found[own] = Series(own, {"": index.frames})
        for name, cinema in self._cinemas.items():
            if cinema.views:
                found[name] = Series(name, cinema.views)
        for name, frames in sorted(self._single.items()):
            if len(found) < MOST_SERIES:
                found.setdefault(name, Series(name, {"": frames}))
        self.series = found
