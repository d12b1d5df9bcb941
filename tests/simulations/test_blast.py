"""The blast by itself: known solutions, and the same bits on any number of ranks."""

import math

import numpy as np
import pytest
from blasting import Leaves, dump, run
from pairs import few, without
from sedov import Sedov

OCTANT = ["octant", "--least", 2, "--most", 4]


def test_the_leaves_cover_the_cube_once_and_neighbours_differ_by_one_level(tmp_path):
    leaves = Leaves(dump(tmp_path, 2, *OCTANT, "--end", 0.1))
    finest = np.full((16, 16, 16), -1)
    for level, at in zip(leaves.level, leaves.at, strict=True):
        width = 2 ** (4 - level)
        part = finest[tuple(slice(n * width, (n + 1) * width) for n in at)]
        assert (part == -1).all()
        part[...] = level
    assert finest.min() >= 2 and finest.max() == 4 and len(np.unique(finest)) == 3
    for axis in range(3):
        assert abs(np.diff(finest, axis=axis)).max() <= 1


@pytest.mark.test_all
@pytest.mark.parametrize("problem", few(["turbulence", "octant", "shear", "sedov"]))
def test_the_same_bits_on_any_number_of_ranks(tmp_path, problem):
    arguments = [problem, "--least", 2, "--most", 4, "--steps", 25, "--end", 1]
    alone = dump(tmp_path, 1, *arguments)
    assert len(np.unique(Leaves(alone).density)) > 100
    for ranks in without([2, 5], [2, 3, 5, 8]):
        assert dump(tmp_path, ranks, *arguments) == alone, ranks


def test_the_same_bits_with_any_number_of_threads(tmp_path):
    arguments = ["octant", "--least", 2, "--most", 4, "--steps", 10, "--end", 1]
    alone = dump(tmp_path, 1, *arguments)
    assert dump(tmp_path, 2, *arguments, "--threads", 3) == alone
    assert dump(tmp_path, 1, *arguments, "--threads", 1000) == alone, "more threads than leaves"


def test_ranks_without_leaves(tmp_path):
    arguments = ["sedov", "--least", 1, "--most", 1, "--steps", 3]
    assert dump(tmp_path, 10, *arguments) == dump(tmp_path, 1, *arguments)


@pytest.mark.parametrize("problem", few(["sedov", "octant", "turbulence", "shear"]))
def test_mass_and_energy_are_kept(tmp_path, problem):
    arguments = [problem, "--least", 2, "--most", 5, "--end", 1]
    before, after = (Leaves(dump(tmp_path, 3, *arguments, "--steps", steps)) for steps in (0, 40))
    assert not np.array_equal(before.density, after.density)
    for name in ("density", "energy"):
        first, last = (math.fsum(leaves.volume * getattr(leaves, name)) for leaves in (before, after))
        assert last == pytest.approx(first, rel=2e-14), name
    if problem != "shear":
        assert math.fsum(before.volume * before.density) == 1
    if problem in ("octant", "sedov"):
        energy = {"octant": 0.125, "sedov": 1}[problem] + 1e-5 / 0.4
        assert math.fsum(before.volume * before.energy) == pytest.approx(energy, rel=1e-14)
    if problem != "octant":  # reflecting faces add momentum
        scale = math.fsum(after.volume * np.linalg.norm(after.momentum, axis=1))
        change = after.volume @ after.momentum - before.volume @ before.momentum
        assert abs(change).max() < 1e-12 * scale


def test_a_uniform_flow_keeps_every_bit(tmp_path):
    arguments = ["uniform", "--least", 2, "--most", 4, "--end", 10]
    before, after = (dump(tmp_path, 2, *arguments, "--steps", steps) for steps in (0, 20))
    assert len(set(Leaves(before).level)) == 3
    assert before == after


def wave_error(folder, *arguments):
    leaves = Leaves(dump(folder, 2, "wave", "--end", 0.25, *arguments))
    exact = 1 + 0.2 * np.sin(2 * np.pi * (leaves.middle.sum(axis=1) - 3 * 0.25))
    return leaves.volume @ abs(leaves.density - exact)


def test_an_exact_solution(tmp_path):
    """The coarse half of the convergence tests: a wave, on cells of one size and on cells that are finer in the
    middle."""
    errors = [wave_error(tmp_path, "--least", level, "--most", level) for level in (3, 4)]
    refined = wave_error(tmp_path, "--least", 3, "--most", 4)
    assert errors[0] > 3 * errors[1] and errors[1] < 0.011 and refined < 1.2 * errors[0]


@pytest.mark.test_all
def test_the_order_of_the_method(tmp_path):
    errors = [wave_error(tmp_path, "--least", level, "--most", level) for level in (3, 4, 5)]
    assert errors[0] > 3 * errors[1] > 9 * errors[2]
    first = [wave_error(tmp_path, "--least", level, "--most", level, "--first-order") for level in (4, 5)]
    assert 1.5 < first[0] / first[1] < 2.2 and first[1] > 4 * errors[2]
    # Cells are finer in the middle: borders of levels keep the order.
    refined = [wave_error(tmp_path, "--least", level, "--most", level + 1) for level in (3, 4)]
    assert refined[0] > 3 * refined[1] and refined[1] < 1.2 * errors[1]


def shear_rate(along, across, width):
    """The rate at which a small wave of `along` and `across` periods along x and z grows in the streams of `shear`.

    Linear theory without compression: D(d (U - c) Df - d U' f) = d k^2 (U - c) f, with D = d/dy, density d, speed U and
    the wave's speed c (Chandrasekhar, "Hydrodynamic Stability", section 100). Derivatives are exact for waves on the
    points.
    """
    n = 256
    y = np.arange(n) / n
    inside = 0.25 - abs(y - 0.5)
    tail = 0.5 * np.exp(-abs(inside) / width)
    share = np.where(inside < 0, tail, 1 - tail)
    density, speed = np.diag(1 + share), np.diag(0.5 - share)
    slope = np.diag(-np.sign(0.5 - y) * tail / width)
    waves = np.fft.fftfreq(n, 1 / n)
    waves[n // 2] = 0
    derivative = np.fft.ifft(2j * np.pi * waves[:, None] * np.fft.fft(np.eye(n), axis=0), axis=0).real
    square = (2 * np.pi) ** 2 * (along**2 + across**2)
    left = derivative @ (density @ speed @ derivative - density @ slope) - square * density @ speed
    right = derivative @ density @ derivative - square * density
    return 2 * np.pi * along * np.linalg.eigvals(np.linalg.solve(right, left)).imag.max()


def wave_amplitude(leaves, along, across):
    """The part of the speed along y that varies as this wave, near the layers."""
    x, y, z = leaves.middle.T
    near = leaves.volume * np.exp(-4 * np.pi * abs(abs(y - 0.5) - 0.25)) * np.cos(2 * np.pi * across * z)
    return abs(np.sum(near * leaves.velocity[:, 1] * np.exp(2j * np.pi * along * x)))


@pytest.mark.test_all
def test_waves_between_streams_grow(tmp_path):
    """Layers of less than a cell become thicker, by less than four times here. Thicker layers are less unstable."""
    arguments = ["shear", "--width", 0.025, "--least", 4, "--most", 5, "--refine", 0.02]
    early, late = (Leaves(dump(tmp_path, 2, *arguments, "--end", time)) for time in (0.5, 1.3))
    assert len(set(late.level)) == 2
    for along, across in ((2, 0), (1, 1)):
        rate = np.log(wave_amplitude(late, along, across) / wave_amplitude(early, along, across)) / 0.8
        assert shear_rate(along, across, 0.1) < rate < shear_rate(along, across, 0.025)


@pytest.mark.test_all
def test_the_blast_of_sedov(tmp_path):
    time, exact = 0.3, Sedov(1.4)
    assert exact.xi == pytest.approx(1.0328, abs=1e-4)
    edge = exact.radius(time)
    errors = []
    for level in (4, 5):
        leaves = Leaves(dump(tmp_path, 2, "octant", "--least", 2, "--most", level, "--end", time))
        radius = np.linalg.norm(leaves.middle, axis=1)
        density, speed, pressure = exact.at(radius, time)
        found = (leaves.velocity * leaves.middle).sum(axis=1) / radius
        near = radius < 1.1 * edge
        errors.append(
            [
                leaves.volume[near] @ abs(a - b)[near] / (leaves.volume[near] @ b[near])
                for a, b in ((leaves.density, density), (found, speed), (leaves.pressure, pressure))
            ]
        )
        # The shock is where the mean pressure of a shell is half of that behind it. Shells are as thick as the smallest
        # cells.
        shells = np.arange(0, 1, 0.5**level)
        volume, _ = np.histogram(radius, shells, weights=leaves.volume)
        total, _ = np.histogram(radius, shells, weights=leaves.volume * leaves.pressure)
        last = np.flatnonzero(total > volume * pressure.max() / 2)[-1]
        assert abs(shells[last] + 0.5**level - edge) < 1.5 * 0.5**level
        inner = radius < 0.5 * edge
        assert leaves.pressure[inner] == pytest.approx(pressure[inner], rel=0.25 * 2 ** (4 - level))
    # Most of the gas is in a shell of thickness R / 12, which is less than two cells.
    assert np.all(np.array(errors[1]) < np.array([0.96, 0.8, 0.8]) * errors[0])
    assert np.all(np.array(errors[1]) < [0.47, 0.27, 0.28])


@pytest.mark.test_all
def test_a_blast_is_its_own_image_in_mirrors(tmp_path):
    """The mirror image has the same leaves and, except for rounding errors, the same gas."""
    leaves = Leaves(dump(tmp_path, 3, "sedov", "--least", 3, "--most", 6, "--end", 1, "--steps", 60))
    places = {(level, *at): n for n, (level, at) in enumerate(zip(leaves.level, leaves.at.tolist(), strict=True))}
    assert len(set(leaves.level)) == 4
    for axis in range(3):
        at = leaves.at.copy()
        at[:, axis] = 2**leaves.level - 1 - at[:, axis]
        image = [places[(level, *one)] for level, one in zip(leaves.level, at.tolist(), strict=True)]
        np.testing.assert_allclose(leaves.density[image], leaves.density, rtol=1e-11)
        np.testing.assert_allclose(leaves.energy[image], leaves.energy, rtol=1e-11)


def test_streams_begin_as_asked(tmp_path):
    leaves = Leaves(dump(tmp_path, 2, "shear", "--least", 3, "--most", 3, "--steps", 0, "--width", 0.05))
    x, y, z = leaves.middle.T
    ramp = np.exp(-abs(abs(y - 0.5) - 0.25) / 0.05) / 2
    share = np.where((y > 0.25) & (y < 0.75), 1 - ramp, ramp)
    push = 0.01 * (np.sin(4 * np.pi * x) + np.sin(2 * np.pi * x) * np.cos(2 * np.pi * z))
    np.testing.assert_allclose(leaves.density, 1 + share, rtol=1e-14)
    np.testing.assert_allclose(leaves.velocity, np.stack([0.5 - share, push, 0 * x], -1), atol=1e-14)
    np.testing.assert_allclose(leaves.pressure, 2.5, rtol=1e-14)


@pytest.mark.test_all
def test_turbulence_begins_as_asked(tmp_path):
    arguments = ["turbulence", "--least", 4, "--most", 4, "--steps", 0]
    leaves = Leaves(dump(tmp_path, 2, *arguments, "--mach", 3))
    # Waves have at most 3 periods in the cube, so that sums over 16 points are exact.
    assert np.sqrt((leaves.velocity**2).sum(axis=1).mean()) == pytest.approx(3, rel=1e-12)
    grid = np.empty((16, 16, 16, 3))
    grid[tuple(leaves.at.T)] = leaves.velocity
    waves = np.fft.fftfreq(16, 1 / 16)
    along = sum(np.fft.fftn(grid[..., a]) * waves.reshape(np.roll([16, 1, 1], a)) for a in range(3))
    assert abs(along).max() < 1e-9 * abs(np.fft.fftn(grid[..., 0])).max(), "no divergence"
    assert dump(tmp_path, 1, *arguments, "--seed", 2) != dump(tmp_path, 1, *arguments)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--most", "2", "--least", "3"], "--most: found 2; expected at least --least, 3"),
        (["nova"], "nova"),
        (["--dump", "/nowhere/leaves"], "--dump /nowhere/leaves: the file cannot be written"),
        (["--sidestream", "run.yaml"], "built without Sidestream"),
        (["--restart", "data"], "--restart needs the program that was built with Sidestream"),
    ],
)
def test_mistakes(arguments, said):
    done = run(2, "--steps", 1, *arguments)
    assert done.returncode != 0
    assert done.stderr.count(said) == 1
