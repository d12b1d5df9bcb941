"""A plug-in of pytest: cases with the mark `test_all` run only where SIDESTREAM_TEST_ALL=1.

A line at the end says how many were left out."""

import os

import pytest

MARK = "test_all"
LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config):
    config.addinivalue_line("markers", f"{MARK}: runs in `make test-all` only (SIDESTREAM_TEST_ALL=1)")


@pytest.hookimpl(trylast=True)  # after `-k`: what that leaves out is not counted
def pytest_collection_modifyitems(config, items):
    if os.environ.get("SIDESTREAM_TEST_ALL") == "1":
        return
    later = [item for item in items if item.get_closest_marker(MARK)]
    config.stash[LEFT_OUT] = len(later)
    if later:
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if not item.get_closest_marker(MARK)]


def pytest_terminal_summary(terminalreporter, config):
    count = config.stash.get(LEFT_OUT, 0)
    if count:
        cases = "1 case runs" if count == 1 else f"{count} cases run"
        terminalreporter.write_line(f"{cases} in `make test-all` only (SIDESTREAM_TEST_ALL=1)")
