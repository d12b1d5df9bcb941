"""Ticks of charts, for ranges of all sizes: their texts give their positions, and their number is as requested."""

import re

import numpy as np
import pytest
from sidestream.charts.scales import is_even, linear_ticks, logarithmic_ticks, usable

RANGES = [(0, 1), (-3, 17), (2.1e6, 2.4e6), (1e-9, 3e-9), (101325, 101325.004), (-1e300, 1e300), (0, 1e-310 * 1e10)]
LOGARITHMIC = [(1, 10), (1, 1e9), (3e-7, 2), (1.2, 1.9), (0.013, 0.7), (5, 80), (1e-200, 1e200)]
POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def value(text):
    """The number that a text such as 0.25, 10⁻⁷ or 5×10⁴ shows."""
    found = re.fullmatch(r"(?:(\d+)×)?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", text)
    return float(found[1] or 1) * 10.0 ** int(found[2].translate(POWERS)) if found else float(text.replace("−", "-"))


@pytest.mark.parametrize("most", [2, 3, 5, 9])
@pytest.mark.parametrize("limits", RANGES)
def test_linear(limits, most):
    ticks = linear_ticks(*limits, most)
    room = 1e-6 * (limits[1] - limits[0])
    assert 2 <= len(ticks.at) <= max(most, 2) and len(set(ticks.texts)) == len(ticks.at)
    assert all(limits[0] - room <= at <= limits[1] + room for at in ticks.at)
    read = [value(text) * 10.0**ticks.exponent + ticks.offset for text in ticks.texts]
    np.testing.assert_allclose(read, ticks.at, rtol=0, atol=1e-5 * (ticks.at[1] - ticks.at[0]))
    assert max(map(len, ticks.texts)) <= 9


@pytest.mark.parametrize("most", [2, 4, 9])
@pytest.mark.parametrize("limits", LOGARITHMIC)
def test_logarithmic(limits, most):
    ticks = logarithmic_ticks(*limits, most)
    assert 2 <= len(ticks.at) <= max(most, 2) + 1 and sorted(ticks.at) == ticks.at
    assert all(limits[0] * (1 - 1e-6) <= at <= limits[1] * (1 + 1e-6) for at in ticks.at + ticks.minor)
    read = [value(text) * 10.0**ticks.exponent + ticks.offset for text in ticks.texts]
    np.testing.assert_allclose(read, ticks.at, rtol=1e-6)


def test_ranges_without_width():
    for logarithmic in (False, True):
        for limits in ((3, 3), (np.inf, -np.inf), (1, 1)):
            low, high = usable(*limits, logarithmic)
            assert np.isfinite([low, high]).all() and low < high and (low > 0 or not logarithmic)
    assert usable(0, 0, False) == (-0.5, 0.5)


def test_which_intervals_are_of_one_width():
    assert is_even(np.linspace(1, 7, 9)) and not is_even(np.geomspace(1, 7, 9)) and is_even(np.array([1.0, 9.0]))
