"""The condensate without Sidestream: what it conserves, the solution of its equation, and the same bits on any number
of ranks."""

import functools
import os
import re
from pathlib import Path

import mini_app
import numpy as np
import pytest
from pairs import few
from split_step import energies, evolved, windings

PLAIN, COUPLED = os.environ["BEC_PLAIN"], os.environ["BEC"]

run, succeed = (functools.partial(call, program=PLAIN, timeout=200) for call in (mini_app.run, mini_app.succeed))


def fields(folder, ranks, size, *arguments, **options):
    """re, im and density at the end of a run, each as [z, y, x], or [y, x] for a size of two numbers."""
    file = folder / "dump"
    succeed(ranks, "--size", ",".join(map(str, size)), "--quiet", "--dump", file, *arguments, **options)
    return np.fromfile(file, "<f8").reshape(3, *reversed(size))


def wave(folder, ranks, size, *arguments):
    re, im, _ = fields(folder, ranks, size, *arguments)
    return re + 1j * im


def reports(said):
    """A dictionary for each line of --report."""
    lines = re.findall(r"^step .*", said, re.MULTILINE)
    return [{name: float(value) for name, value in re.findall(r"([a-z]+):? +([-+.0-9E]+)", line)} for line in lines]


def difference(one, two):
    return np.linalg.norm(one - two) / np.linalg.norm(two)


@pytest.mark.parametrize("start", few(["tangle", "rings", "quadrupole"]))
def test_the_amplitudes_keep_their_norm(start):
    size = "48,40" if start == "quadrupole" else "24,20,22"
    options = ["--size", size, "--start", start, "--a", 0.05, "--relax", 20, "--steps", 300, "--report", 30]
    found = reports(succeed(2, *options))
    assert [row["step"] for row in found] == list(range(0, 301, 30))
    for row in found:
        assert row["norm"] == pytest.approx(found[0]["norm"], rel=1e-13, abs=0)
        assert row["total"] == pytest.approx(found[0]["total"], rel=0.01)


def errors(folder, cells):
    """Relative to the solution by transforms, of the same quadrupole on grids of so many cells, at the same time."""
    found = []
    for n in cells:
        refined = (n / 64) ** 2
        options = ["--start", "quadrupole", "--separation", 0.35, "--a", 0.05 / refined]
        start = wave(folder, 0, (n, n), *options, "--steps", 0)
        end = wave(folder, 0, (n, n), *options, "--steps", round(100 * refined))
        expected = evolved(start, 0.05 / refined, 1, 100 * refined, refined)
        assert difference(start, expected) > 0.3  # the vortices moved
        found.append(difference(end, expected))
    return found


def test_of_second_order_in_two_dimensions(tmp_path):
    coarse, fine = errors(tmp_path, [64, 128])
    assert fine < 0.006 and coarse / fine >= 3.4


@pytest.mark.test_all
def test_of_second_order_on_a_fine_grid(tmp_path):
    coarse, fine = errors(tmp_path, [128, 256])
    assert fine < 0.0016 and coarse / fine >= 3.4


def strayed(found, expected, reach):
    """The fraction of vortices that have none of the same sign within so many cells, along both axes, in the other."""
    lost = total = 0
    for sign in (-1, 1):
        near = expected == sign
        for axis in (-1, -2):
            near = np.any([np.roll(near, step, axis) for step in range(-reach, reach + 1)], axis=0)
        lost += (~near & (found == sign)).sum()
        total += (found == sign).sum()
    assert total > 0
    return lost / total


def through_planes(psi):
    """Vortices of lines through the planes across z, y and x."""
    return np.concatenate([windings(psi.transpose(axes)) for axes in ((0, 1, 2), (1, 2, 0), (2, 0, 1))])


def both_ends(folder, size, steps, *options):
    """The start, the end, what the end should be, and the last report of a run in a cube."""
    start = wave(folder, 0, 3 * (size,), *options, "--a", 0.05, "--steps", 0)
    words = ["--size", size, *options, "--a", 0.05, "--steps", steps, "--report", steps]
    report = reports(succeed(2, *words, "--dump", folder / "end"))[-1]
    re, im, _ = np.fromfile(folder / "end").reshape(3, size, size, size)
    return start, re + 1j * im, evolved(start, 0.05, 1, steps, 2), report


@pytest.mark.parametrize(("size", "steps"), few([(32, 60), (48, 200)]))
def test_energies_of_a_tangle(tmp_path, size, steps):
    _, end, expected, report = both_ends(tmp_path, size, steps, "--relax", 50)
    gradient, interaction = energies(expected, 0.05, 1)
    total = gradient + interaction
    assert report["total"] == pytest.approx(total, rel=0.004)
    assert report["gradient"] == pytest.approx(gradient, abs=0.01 * total)
    assert sum(energies(end, 0.05, 1)) == pytest.approx(total, rel=0.004)


@pytest.mark.parametrize(
    ("start", "size", "relax", "steps", "reach", "allowed"),
    few([("rings", 36, 50, 60, 1, 0.01), ("rings", 48, 50, 80, 1, 0.01), ("tangle", 48, 300, 40, 2, 0.02)]),
)
def test_where_the_cores_go(tmp_path, start, size, relax, steps, reach, allowed):
    start, end, expected, _ = both_ends(tmp_path, size, steps, "--relax", relax, "--start", start)
    begun, found, right = (through_planes(psi) for psi in (start, end, expected))
    assert strayed(found, right, reach) <= allowed and strayed(right, found, reach) <= allowed
    assert strayed(found, begun, reach) > 0.5  # that is not because they stayed


def test_printed_energies(tmp_path):
    """The program takes gradients by differences of the fourth order."""
    options = ["--size", 24, "--a", 0.1, "--g", 2, "--relax", 30, "--steps", 0, "--report", 1]
    row = reports(succeed(3, *options, "--dump", tmp_path / "dump"))[0]
    re, im, density = np.fromfile(tmp_path / "dump").reshape(3, 24, 24, 24)
    psi = re + 1j * im
    assert density.tobytes() == (re**2 + im**2).tobytes()
    squares = [(np.abs(np.roll(psi, -d, axis) - psi) ** 2).sum() for d in (1, 2) for axis in range(3)]
    gradient, interaction = energies(psi, 0.1, 2)
    assert row["gradient"] == pytest.approx(4 / 3 * sum(squares[:3]) - sum(squares[3:]) / 12, rel=1e-12)
    assert row["gradient"] == pytest.approx(gradient, rel=0.01)
    assert row["interaction"] == pytest.approx(interaction, rel=1e-12)
    assert row["particles"] == pytest.approx(density.sum(), rel=1e-12)
    assert row["norm"] == pytest.approx(density.sum() / 2, rel=1e-12)  # the amplitudes are halves


CASES = [
    ((20, 13, 17), ["--seed", 5]),
    ((31, 16), ["--start", "quadrupole"]),
    ((16, 4, 40), ["--start", "rings", "--winding", 2]),
]


@pytest.mark.test_all
@pytest.mark.parametrize(("size", "arguments"), few(CASES))
def test_the_same_bits_on_any_number_of_ranks(tmp_path, size, arguments):
    options = [*arguments, "--a", 0.1, "--relax", 4, "--steps", 11, "--report", 1]
    words = ["--size", ",".join(map(str, size)), *options, "--dump", tmp_path / "dump"]
    found = []
    for ranks in (1, 2, 3, 5, 8):
        said = succeed(ranks, *words)
        found.append(((tmp_path / "dump").read_bytes(), re.findall(r"^step .*", said, re.MULTILINE)))
    assert len(found[0][1]) == 12
    assert all(other == found[0] for other in found[1:])


@pytest.mark.parametrize(
    ("start", "size", "axes", "lines"),
    [
        ("quadrupole", (40, 30), (0, 1), 4),
        ("tangle", (40, 40, 40), (0, 1, 2), 4),
        ("rings", (40, 40, 40), (1, 0, 2), 4),
    ],
)
def test_vortices_of_the_starts(tmp_path, start, size, axes, lines):
    """So many vortices of alternating sign go through the middle plane."""
    found = windings(wave(tmp_path, 0, size, "--start", start, "--steps", 0).transpose(axes))
    plane = found if found.ndim == 2 else found[found.shape[0] // 2]
    assert np.abs(plane).sum() == lines and plane.sum() == 0


def test_lines_of_several_turns(tmp_path):
    options = ["--start", "quadrupole", "--separation", 0.43, "--winding", 3, "--steps", 0, "--a", 0.3]
    found = windings(wave(tmp_path, 0, (40, 40), *options))
    quarters = [found[j : j + 20, i : i + 20].sum() for j in (0, 20) for i in (0, 20)]
    assert quarters == [quarters[0], -quarters[0], -quarters[0], quarters[0]] and abs(quarters[0]) == 3


def test_relaxing_takes_energy_away_and_keeps_lines():
    totals = []
    for steps in (0, 20, 60):
        row = reports(succeed(0, "--size", 32, "--a", 0.1, "--relax", steps, "--steps", 0, "--report", 1))[0]
        totals.append(row["total"])
    assert totals[0] > 1.03 * totals[1] > 1.03 * 1.03 * totals[2] > 0


def test_another_seed_is_another_tangle(tmp_path):
    one, two = (wave(tmp_path, 0, (16, 16, 16), "--steps", 0, "--seed", seed) for seed in (1, 2))
    assert difference(one, two) > 0.3


@pytest.mark.parametrize(
    ("arguments", "words"),
    few(
        [
            (["--size", "3"], "--size"),
            (["--size", "64,x"], "expected one, two or three whole numbers"),
            (["--size", "64,64"], "only quadrupole"),
            (["--start", "knot"], "found 'knot'"),
            (["--a", "0"], "--a"),
            (["--steps", "many"], "expected a whole number"),
            (["--steps"], "--steps"),
            (["--sped", "3"], "no option '--sped'"),
            (["--separation", "1"], "--separation"),
            (["--sidestream", "run.yaml"], "without Sidestream"),
            (["--size", "4", "--steps", "1", "--dump", "/no/such/folder/dump"], "--dump"),
        ],
    ),
)
def test_mistakes(arguments, words):
    done = run(2, *arguments)
    assert done.returncode in (1, 2)
    assert words in done.stderr and done.stderr.count("bec: ") == 1


def test_too_many_ranks():
    done = run(7, "--size", 4, "--steps", 1)
    assert done.returncode == 1 and "too many ranks" in done.stderr


def test_help():
    said = succeed(0, "--help")
    source = Path(__file__).resolve().parents[2] / "simulations" / "bec" / "options.f90"
    options = set(re.findall(r"case \('(--[a-z]+)'", source.read_text())) - {"--help"}
    assert options <= set(re.findall(r"--[a-z]+", said)) and len(options) > 10
