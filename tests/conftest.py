"""What tests of all folders find around them: the programs of a build, and which cases are left to `make test-all`.

pytest tests/system/test_groups.py -k spill [--build build/debug]
"""

import contextlib
import os
import re
import shutil
from pathlib import Path

import left_out
from programs import read_environment


def pytest_addoption(parser):
    parser.addoption("--build", metavar="DIR", help="the build whose programs are tested, instead of build/release")


# Files that are synced to a disk take most of the time of a small run, so they lie in memory where there is enough.
MEMORY, ENOUGH = Path("/dev/shm"), 4 << 30


def has_room_in_memory():
    """Also for programs that tests compile, which must be allowed to run there."""
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return False
    available = re.search(r"^MemAvailable: *([0-9]+) kB$", Path("/proc/meminfo").read_text(), re.M)
    return shutil.disk_usage(MEMORY).free >= ENOUGH and available and int(available[1]) << 10 >= ENOUGH


def remove_what_was_left(root):
    """Folders of earlier runs of pytest that were killed: the process that their lock names is gone."""
    for lock in root.glob("pytest-of-*/pytest-*/.lock"):
        with contextlib.suppress(OSError, ValueError):
            if not Path(f"/proc/{int(lock.read_text())}").exists():
                shutil.rmtree(lock.parent, ignore_errors=True)


def pytest_configure(config):
    remove_what_was_left(MEMORY)
    if has_room_in_memory():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    config.pluginmanager.register(left_out)
    read_environment(config.getoption("--build"), Path(__file__).resolve().parents[1] / "build" / "release")
