"""Fixtures that tests of several files use."""

import os
import time
import uuid

import pytest
from launched import end_jobs
from programs import find_package
from workers import MARK, workers


def pytest_sessionstart():
    """Runs after tests/conftest.py has found the build."""
    find_package()
    # The mark is set at the start, for programs that go on from test to test.
    os.environ[MARK] = uuid.uuid4().hex


def pytest_sessionfinish():
    end_jobs()


@pytest.fixture
def nobody_is_left():
    """Checks that no worker of a test's programs outlives the test by much."""
    yield
    deadline = time.monotonic() + 10
    while workers() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers()
