"""State of a run: whether it goes on, what ran, and how it ended. From `run.yaml` and the locks beside it."""

import fcntl
import os
import struct
from pathlib import Path
from typing import Any

from ..errors import Error
from ..reader.records import read_yaml

LOCKS = (".run.lock", ".serve.lock", ".endpoint.lock")
RECORDS = ("run.yaml", "endpoint.yaml", "run-clients.yaml")
SHOWN = ("sidestream", "placement", "clients", "servers", "nodes", "groups", "account", "failures")
# struct flock of Linux: type, whence, start, length, process.
_LOCK = "hhqqi4x"


def is_locked(path: Path) -> bool | None:
    """True if a process holds the lock file; None if that cannot be told. Never takes the lock."""
    query = getattr(fcntl, "F_OFD_GETLK", None)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        if query is None:
            return None
        asked = struct.pack(_LOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        found = fcntl.fcntl(descriptor, query, asked)
        return struct.unpack(_LOCK, found)[0] != fcntl.F_UNLCK
    except (OSError, struct.error):
        return None
    finally:
        os.close(descriptor)


class RunFacts:
    """Facts of the run in a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._stamp: Any = None
        self._record: dict[str, Any] = {}
        self.shown: dict[str, Any] = {"state": "waiting"}
        self.number = 0  # of runs in this directory that were seen to begin after another

    def refresh(self) -> bool:
        """Returns true if something has changed."""
        self._read_record()
        locks = [is_locked(self._root / name) for name in LOCKS]
        shown = {"state": self._state(locks), **{key: self._record[key] for key in SHOWN if key in self._record}}
        changed = shown != self.shown
        self.shown = shown
        return changed

    def _read_record(self) -> None:
        for name in RECORDS:
            path = self._root / name
            try:
                facts = path.stat()
            except OSError:
                continue
            stamp = (name, facts.st_ino, facts.st_mtime_ns)
            if stamp != self._stamp:
                self.number += "account" in self._record or self.shown["state"] == "stopped"
                try:
                    found = read_yaml(path)
                except (Error, OSError):
                    found = {}
                self._record, self._stamp = (found if isinstance(found, dict) else {}), stamp
            return
        self.number += self._stamp is not None  # somebody removed it
        self._record, self._stamp = {}, None

    def _state(self, locks: list[bool | None]) -> str:
        if any(locks):
            return "running"
        if "account" in self._record:
            return "ended"
        if not self._record:
            return "waiting"
        # The lock of a run on another machine may not be visible here.
        return "running" if None in locks else "stopped"
