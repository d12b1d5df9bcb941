"""What tests of all folders find around them: the programs of a build, and which cases are left to `make test-all`.

pytest tests/system/test_groups.py -k spill [--build build/debug]
"""

import os
import shutil
from pathlib import Path

import left_out
from programs import read_environment


def pytest_addoption(parser):
    parser.addoption("--build", metavar="DIR", help="the build whose programs are tested, instead of build/release")


# Files that each test syncs to a disk take most of the time of a small run, so they lie in memory where there is enough.
MEMORY, ENOUGH = Path("/dev/shm"), 4 << 30


def pytest_configure(config):
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ENOUGH:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    config.pluginmanager.register(left_out)
    read_environment(config.getoption("--build"), Path(__file__).resolve().parents[1] / "build" / "release")
