"""Settings for tests of all folders: the programs of a build, and the cases that are left to `make test-all`.

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


# Small runs spend most of their time on syncing files to a disk, so files are in memory if there is enough.
MEMORY, ENOUGH = Path("/dev/shm"), 4 << 30


def has_room_in_memory():
    """Returns true if the folder suits programs that tests compile, too, which must be allowed to run there."""
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return False
    available = re.search(r"^MemAvailable: *([0-9]+) kB$", Path("/proc/meminfo").read_text(), re.M)
    return shutil.disk_usage(MEMORY).free >= ENOUGH and available and int(available[1]) << 10 >= ENOUGH


def remove_what_was_left(root):
    """Removes folders of earlier runs of pytest that were killed, so that the process of their lock is gone."""
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
