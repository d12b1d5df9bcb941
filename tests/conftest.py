"""What tests of all folders find around them: the programs of a build, and which cases are left to `make test-all`.

pytest tests/system/test_groups.py -k spill [--build build/debug]
"""

from pathlib import Path

import left_out
from programs import read_environment


def pytest_addoption(parser):
    parser.addoption("--build", metavar="DIR", help="the build whose programs are tested, instead of build/release")


def pytest_configure(config):
    config.pluginmanager.register(left_out)
    read_environment(config.getoption("--build"), Path(__file__).resolve().parents[1] / "build" / "release")
