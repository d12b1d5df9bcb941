"""Lets `pytest tests/python/test_fields.py` by itself find the package of the build."""

from programs import find_package


def pytest_sessionstart():
    """Runs after tests/conftest.py has found the build."""
    find_package()
