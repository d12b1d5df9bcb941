"""time_statistics of values whose sums or squares pass the largest double, against exact fractions."""

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import h5py
import numpy as np
import pytest
from pairs import few

MOST = sys.float_info.max
# A row for each cell, a column for each iteration of the window.
CELLS = np.array([
    [MOST, MOST, MOST, MOST],
    [MOST, -MOST, MOST, -MOST],
    [1.5e308, 1.7e308, 1.6e308, -1.1e308],
    [1e154, -1e154, 1.1e154, 1e154],  # the sum of squares passes it, the variance does not
    [1e300, 1e300, -1e300, -1e300],
    [1.0, 1e308, -1e308, 2.0],
    [2.0**480, -(2.0**480), 3.0, 4.0],
    [1e-300, 2e-300, 1e200, 1e-300],
    [0.1, 0.2, 0.3, 0.4],
    [9e307, 9e307, 9e307, 9e307],
])  # fmt: skip
PROGRAM = """
import sys
import numpy as np
import sidestream
from mpi4py import MPI
cells = np.load("cells.npy")
comm = MPI.COMM_WORLD
with sidestream.open_session(comm, "run.yaml") as session:
    if session.is_server:
        session.serve()
    else:
        me, all = session.comm.Get_rank(), session.comm.Get_size()
        lo, hi = (len(cells) * n // all for n in (me, me + 1))
        session.add_uniform_mesh("line", [len(cells)])
        session.add_variable("s", "line")
        session.set_block("line", me, [lo], [hi])
        for step in range(cells.shape[1]):
            session.publish("s", me, np.ascontiguousarray(cells[lo:hi, step]))
            session.end_iteration(step, float(step))
"""
TASKS = """
analyses:
  - time_statistics: {variables: [s], statistics: [mean, variance, standard_deviation, sum, minimum, maximum],
                      quantiles: [0.25, 0.5], window: 4, makes: w%s}
outputs:
  - hdf5: {variables: [w_s_mean, w_s_variance, w_s_standard_deviation, w_s_sum, w_s_minimum, w_s_maximum, w_s_q25,
                       w_s_q50]}
"""


def real(fraction):
    """The nearest double, or an infinity."""
    try:
        return float(fraction)
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def root(fraction):
    """The square root of a fraction to 80 bits."""
    shift = max(0, 200 - fraction.numerator.bit_length() + fraction.denominator.bit_length())
    shift += shift % 2
    return real(Fraction(math.isqrt((fraction.numerator << shift) // fraction.denominator), 1 << (shift // 2)))


def expected(row):
    exact = [Fraction(float(x)) for x in row]
    mean = sum(exact) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / len(exact)
    ordered = sorted(exact)
    quarter = ordered[0] + Fraction(3, 4) * (ordered[1] - ordered[0])
    return {
        "mean": mean, "variance": variance, "standard_deviation": variance, "sum": sum(exact), "minimum": ordered[0],
        "maximum": ordered[-1], "q25": quarter, "q50": (ordered[1] + ordered[2]) / 2,
    }  # fmt: skip


@pytest.mark.parametrize(("ranks", "placement"), few([(3, "inline"), (1, "inline"), (4, "{mode: cores, per_node: 2}")]))
@pytest.mark.parametrize("nan", few(["propagate", "skip"]))
def test_sums_past_the_largest_double(tmp_path, ranks, placement, nan):
    np.save(tmp_path / "cells.npy", CELLS)
    tasks = TASKS % f", nan: {nan}"
    (tmp_path / "run.yaml").write_text(f"placement: {placement}\noutput: {{directory: results}}\n{tasks}")
    command = ["mpirun", "--oversubscribe", "-n", str(ranks), sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with h5py.File(tmp_path / "results" / "fields-000003.h5") as file:
        found = {name.removeprefix("w_s_"): file["variables"][name][...].ravel() for name in file["variables"]}
    bound, least = Fraction(16, 2**53), Fraction(5e-324)  # as documented for four values; the smallest double
    for cell, name in itertools.product(range(len(CELLS)), found):
        exact, value = expected(CELLS[cell])[name], float(found[name][cell])
        if math.isinf(real(exact)) and name != "standard_deviation":
            assert value == real(exact), (cell, name)
            continue
        size = max(abs(Fraction(float(x))) for x in CELLS[cell])
        tolerance = size * bound
        if name == "standard_deviation":
            exact = Fraction(root(exact))
            tolerance += exact * bound
        elif name == "variance":
            tolerance = exact * bound + tolerance**2 + least
        assert math.isfinite(value), (cell, name)
        assert abs(Fraction(value) - exact) <= tolerance, (cell, name, value, real(exact))
