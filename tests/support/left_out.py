"""A plug-in of pytest: cases with the mark `test_all` run only with SIDESTREAM_TEST_ALL=1. Otherwise a function with
the mark `keep(n)` runs only n of its cases, spread over all.

A line at the end tells how many were left out."""

import os
from collections import defaultdict

import pytest

MARK, KEEP = "test_all", "keep"
LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config):
    config.addinivalue_line("markers", f"{MARK}: runs in `make test-all` only (SIDESTREAM_TEST_ALL=1)")
    config.addinivalue_line(
        "markers", f"{KEEP}(n): so many of its cases run in `make test`, the others in `make test-all`"
    )


def beyond_those_kept(items):
    """Cases beyond the number that the mark `keep` of their function allows. The first, the last and some between
    stay."""
    functions = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker(KEEP)
        if mark:
            functions[item.parent, item.originalname, *mark.args].append(item)
    later = []
    for (*_, most), cases in functions.items():
        if len(cases) <= most:
            continue
        step = (len(cases) - 1) / max(most - 1, 1)
        kept = {round(n * step) for n in range(most)}
        later += [case for n, case in enumerate(cases) if n not in kept]
    return later


@pytest.hookimpl(trylast=True)  # after `-k`, so that cases that it leaves out are not counted
def pytest_collection_modifyitems(config, items):
    if os.environ.get("SIDESTREAM_TEST_ALL") == "1":
        return
    later = [item for item in items if item.get_closest_marker(MARK)]
    later += beyond_those_kept([item for item in items if not item.get_closest_marker(MARK)])
    config.stash[LEFT_OUT] = len(later)
    if later:
        config.hook.pytest_deselected(items=later)
        left_out = set(later)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter, config):
    count = config.stash.get(LEFT_OUT, 0)
    if count:
        cases = "1 case runs" if count == 1 else f"{count} cases run"
        terminalreporter.write_line(f"{cases} in `make test-all` only (SIDESTREAM_TEST_ALL=1)")
