"""Compares the field with an independent implementation; it does not depend on the decomposition."""

import math
import signal
import subprocess
import time

import numpy as np
import pytest
from pairs import without
from running import INPUTS, command, dump, run

SAMPLE = """# type x y z radius omega0 [zeta]
periodic 0.30 0.40 0.50 0.20 1.30
decaying 0.70 0.20 0.60 0.15 0.70   # a comment
damped   0.55 0.80 0.35 0.25 3.14 0.30
damped   0.10 0.10 0.90 0.30 2.00 0.0
"""


def strength(words, time):
    """Amplitude of one oscillator, from the published formula."""
    kind, omega0 = words[0], float(words[5])
    t = 2 * math.pi * time
    if kind == "damped":
        zeta = float(words[6])
        phi = math.acos(zeta)
        root = math.sqrt(1 - zeta**2)
        return 1 - math.exp(-zeta * omega0 * t) * (math.sin(root * omega0 * t + phi) / math.sin(phi))
    t += 1 / omega0
    return math.sin(t / omega0) / (omega0 * t) if kind == "decaying" else math.sin(t / omega0)


def expected(text, points, time):
    """The field at `points`, three arrays of positions that broadcast."""
    x, y, z = points
    total = 0
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        cx, cy, cz, radius = map(float, words[1:5])
        square = (x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2
        total = total + strength(words, time) * np.exp(-square / (2 * radius**2))
    return total


def positions(cells, lengths, nodes):
    """Positions as arrays of shape [1, 1, i], [1, j, 1], [k, 1, 1]."""
    axes = []
    for n, length in zip(cells, lengths, strict=True):
        index = np.arange(n + 1) if nodes else np.arange(n) + 0.5
        axes.append(index * length / n)
    return axes[0][None, None, :], axes[1][None, :, None], axes[2][:, None, None]


@pytest.fixture
def sample(tmp_path):
    file = tmp_path / "sample.osc"
    file.write_text(SAMPLE)
    return file


@pytest.mark.keep(1)
@pytest.mark.parametrize("kind", ["periodic", "decaying", "damped", "all"])
@pytest.mark.parametrize("centering", ["cell", "node"])
def test_values_follow_the_formula(tmp_path, kind, centering):
    lines = [line for line in SAMPLE.splitlines() if kind == "all" or line.startswith(kind)]
    file = tmp_path / "one.osc"
    file.write_text("\n".join(lines) + "\n")
    cells, lengths, dt = (13, 9, 11), (1.0, 2.0, 0.5), 0.17
    shape = [n + (centering == "node") for n in cells]
    options = ["--grid", *cells, "--size", *lengths, "--dt", dt, "--steps", 7, "--centering", centering]
    values = dump(tmp_path, 0, file, *options, shape=shape)
    assert len(values) == 7
    points = positions(cells, lengths, centering == "node")
    for step, field in enumerate(values):
        want = expected("\n".join(lines), points, step * dt)
        np.testing.assert_allclose(field, want, rtol=1e-12, atol=1e-14)
    assert np.ptp(values) > 0.1


def test_shipped_inputs_follow_the_formula(tmp_path):
    for name, count in [("eight.osc", 8), ("knot-1024.osc", 1024)]:
        text = (INPUTS / name).read_text()
        assert sum(1 for line in text.splitlines() if line.split("#")[0].strip()) == count
        values = dump(tmp_path, 0, INPUTS / name, "--grid", 12, "--steps", 3, "--dt", 0.4, shape=(12, 12, 12))
        want = expected(text, positions((12, 12, 12), (1, 1, 1), False), 0.8)
        np.testing.assert_allclose(values[2], want, rtol=1e-10, atol=1e-13)


def test_generated_input_is_the_shipped_one():
    assert run(0, "--generate", 1024).stdout == (INPUTS / "knot-1024.osc").read_text()


def test_float32_is_the_rounded_float64(tmp_path, sample):
    options = [sample, "--grid", 10, "--steps", 3]
    double = dump(tmp_path, 0, *options, shape=(10, 10, 10))
    single = dump(tmp_path, 0, *options, "--type", "float32", shape=(10, 10, 10), dtype="float32")
    assert (double.astype("float32") == single).all()


@pytest.mark.keep(1)
@pytest.mark.parametrize("centering", ["cell", "node"])
def test_decomposition_changes_no_bit(tmp_path, sample, centering):
    cells = (17, 12, 9)
    shape = [n + (centering == "node") for n in cells]
    options = [sample, "--grid", *cells, "--steps", 3, "--dt", 0.21, "--centering", centering]
    reference = dump(tmp_path, 0, *options, shape=shape)
    cases = [(1, 1), (1, 8), (2, 2), (2, 7), (3, 3), (3, 12), (5, 5), (5, 3), (8, 8), (8, 24)]
    for number, (ranks, blocks) in enumerate(without([(1, 8), (2, 2), (3, 3), (5, 5), (8, 8)], cases)):
        ghosts = (0, 2, 1)[number % 3]
        values = dump(tmp_path, ranks, *options, "--blocks", blocks, "--ghosts", ghosts, shape=shape)
        assert values.tobytes() == reference.tobytes(), (ranks, blocks, ghosts)


def test_repeats_and_unfilled_ghosts_change_no_owned_value(tmp_path, sample):
    options = [sample, "--grid", 9, "--steps", 2, "--blocks", 4]
    reference = dump(tmp_path, 2, *options, shape=(9, 9, 9))
    spoilt = dump(tmp_path, 2, *options, "--ghosts", 1, "--ghost-values", "nan", shape=(9, 9, 9))
    repeated = dump(tmp_path, 2, *options, "--compute-repeat", 3, shape=(9, 9, 9))
    assert reference.tobytes() == spoilt.tobytes() == repeated.tobytes()


def test_times_have_a_row_per_rank_and_step(tmp_path, sample):
    file = tmp_path / "times.csv"
    assert run(2, sample, "--grid", 8, "--steps", 4, "--times", file).returncode == 0
    rows = np.genfromtxt(file, delimiter=",", names=True)
    assert rows.dtype.names == ("rank", "step", "start", "compute", "publish", "end")
    assert [(row["rank"], row["step"]) for row in rows] == [(rank, step) for rank in range(2) for step in range(4)]
    assert (rows["compute"] > 0).all()


def test_sigterm_ends_after_the_step(sample):
    line = command(0, sample, "--grid", 32, "--steps", 1000000, "--progress")
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        while "step 3 of" not in process.stdout.readline():
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        assert process.wait(timeout=30) == 0
    assert "stopped by a signal after step" in rest
