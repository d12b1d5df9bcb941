"""What tests of several files find around them."""

import os
import time
import uuid

import pytest
from launched import end_jobs
from programs import find_package
from workers import MARK, workers


def pytest_sessionstart():
    """When tests/conftest.py has found the build."""
    find_package()
    # Programs that go on from test to test have it from the start.
    os.environ[MARK] = uuid.uuid4().hex


def pytest_sessionfinish():
    end_jobs()


@pytest.fixture
def nobody_is_left():
    """Looks that none of the workers of a test's programs outlives it by much."""
    yield
    deadline = time.monotonic() + 10
    while workers() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers()
