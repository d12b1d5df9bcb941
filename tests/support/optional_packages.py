"""Packages that tests read and compare with, where they are installed: else `make test` lists what is not tested."""

from importlib.util import find_spec

import pytest


def without(name):
    return f"{name} is not installed: the comparison with it is NOT TESTED"


def needs(name):
    """The package; skips the test that asks where it is not installed."""
    return pytest.importorskip(name, reason=without(name))


def all_need(*names):
    """A mark for all tests of a module: skipped one by one, so that pytest does not fail for want of tests."""
    missing = [name for name in names if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=without(" and ".join(missing)))
