"""Packages that tests use to read and to compare, if they are installed. Otherwise `make test` lists what is not
tested."""

from importlib.util import find_spec

import pytest


def without(name):
    return f"{name} is not installed: the comparison with it is NOT TESTED"


def needs(name):
    """Returns the package, or skips the calling test if it is not installed."""
    return pytest.importorskip(name, reason=without(name))


def all_need(*names):
    """A mark for all tests of a module. They are skipped one by one, so that pytest does not fail because there are
    no tests."""
    missing = [name for name in names if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=without(" and ".join(missing)))
