"""What tests of several files find around them."""

import time
import uuid

import pytest
from programs import find_package
from workers import MARK, workers


def pytest_sessionstart():
    """When tests/conftest.py has found the build."""
    find_package()


@pytest.fixture
def nobody_is_left(monkeypatch):
    """Marks the programs of a test, and looks that none of their workers outlives it by much."""
    monkeypatch.setenv(MARK, uuid.uuid4().hex)
    yield
    deadline = time.monotonic() + 10
    while workers() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers()
