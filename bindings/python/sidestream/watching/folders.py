"""Names of the files below a directory, looked up again only in folders that have changed."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# A folder whose time changed less than so many seconds ago is read again: times of files may be that coarse.
UNSETTLED = 2.0
DEEPEST = 12
# Folders of results in a form of their own.
CLOSED = (".cdb",)
DATABASE = "contexts"


@dataclass
class Folder:
    """The names in a folder. `links` are names of symbolic links, which are in none of the other lists."""

    stamp: tuple[int, int, int] = (0, 0, 0)
    changed_at: float = 0.0
    files: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    links: frozenset[str] = frozenset()
    generation: int = 0


@dataclass
class Tree:
    """All folders below `root`, by their path relative to it, "" for itself. Hidden names and links to folders are left
    out. Databases and what is in Cinema databases are not read."""

    root: Path
    known: dict[str, Folder] = field(default_factory=dict)

    @property
    def unsettled(self) -> bool:
        """True if a folder has changed so recently that a file may have been replaced without a trace."""
        now = time.monotonic()
        return any(now - folder.changed_at <= UNSETTLED for folder in self.known.values())

    def refresh(self) -> bool:
        """Looks at all folders; returns true if names have changed anywhere, or files were replaced."""
        seen: dict[str, Folder] = {}
        changed = False
        waiting = [""]
        while waiting:
            name = waiting.pop()
            folder = self.known.get(name) or Folder()
            before = folder.generation
            if not _look(self.root / name, folder):
                continue
            changed = changed or folder.generation != before
            seen[name] = folder
            if DATABASE in folder.files or name.count("/") >= DEEPEST or name.endswith(CLOSED):
                continue
            waiting.extend(f"{name}/{inner}" if name else inner for inner in folder.folders)
        changed = changed or len(seen) != len(self.known)
        self.known = seen
        return changed

    def __iter__(self) -> Iterator[tuple[str, Folder]]:
        return iter(sorted(self.known.items()))


def _look(path: Path, folder: Folder) -> bool:
    """Reads names again if the folder has changed. Returns false if it cannot be read."""
    try:
        # Opening a folder makes a network file system ask its server for the current state.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        facts = os.fstat(descriptor)
        stamp = (facts.st_dev, facts.st_ino, facts.st_mtime_ns)
        now = time.monotonic()
        if stamp != folder.stamp:
            folder.stamp, folder.changed_at = stamp, now
            folder.generation += 1
        elif now - folder.changed_at > UNSETTLED:
            return True
        _read_names(descriptor, folder)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _read_names(descriptor: int, folder: Folder) -> None:
    files, folders, links = [], [], []
    with os.scandir(descriptor) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                links.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                files.append(entry.name)
    found = (frozenset(files), tuple(sorted(folders)), frozenset(links))
    if found != (folder.files, folder.folders, folder.links):
        folder.files, folder.folders, folder.links = found
        folder.generation += 1
