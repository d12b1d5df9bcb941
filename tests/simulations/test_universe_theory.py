"""The universe compared with theory: colossus' spectrum and growth, plane waves, energies."""

import csv

import numpy as np
import pytest
from colossus.cosmology import cosmology
from pairs import few
from test_universe import PLAIN, growth, particles, run, spectrum, succeed

BOX = 100.0


def columns(file):
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def theory(matter=0.3, baryons=0.05, hubble=0.7, tilt=0.96, sigma8=0.8):
    """A cosmology of the independent package colossus: flat and without radiation, as in the universe program."""
    given = {"flat": True, "H0": 100 * hubble, "Om0": matter, "Ob0": baryons, "sigma8": sigma8, "ns": tilt}
    return cosmology.Cosmology(name="test", relspecies=False, interpolation=False, persistence="", **given)


def bins_of(n, box, power):
    """Mean of a function of k over the modes in each bin of width one, as in the universe's table."""
    number = np.fft.fftfreq(n, 1 / n)
    length = np.sqrt(sum(k**2 for k in np.meshgrid(number, number, number, indexing="ij"))).ravel()
    which = (length + 0.5).astype(int)
    lengths, inverse = np.unique(length[(which > 0) & (which <= n // 2)], return_inverse=True)
    values = power(2 * np.pi / box * lengths)[inverse]
    which = which[(which > 0) & (which <= n // 2)]
    return np.bincount(which, values)[1:] / np.bincount(which)[1:]


@pytest.mark.keep(1)
@pytest.mark.parametrize("box", [4000, 200, 10])
@pytest.mark.parametrize("options", [{}, {"matter": 0.25, "baryons": 0.06, "hubble": 0.6, "tilt": 1.05, "sigma8": 0.9}])
def test_the_linear_spectrum_is_that_of_another_program(tmp_path, box, options):
    """The transfer function of Eisenstein and Hu with wiggles, its normalisation in balls of 8 Mpc/h, and growth."""
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    other = theory(**options)
    for last in (0, 3):
        run_options = ["--particles", 16, "--box", box, "--first", 30, "--last", last, "--steps", 1]
        found = spectrum(tmp_path, 1, *run_options, *words)
        expected = bins_of(16, box, lambda k, z=last: other.matterPowerSpectrum(k, z, model="eisenstein98"))
        assert found["linear"] == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("mass", [0.85, 2.1])
def test_warm_dark_matter_has_no_small_scales(tmp_path, mass):
    """Viel et al. (2005), by the length at which half of the power is left: both masses of Friesen et al., figure 4."""
    run_options = ["--particles", 16, "--box", 4, "--first", 30, "--last", 3, "--steps", 1]
    cold, warm = (spectrum(tmp_path, 1, *run_options, *more) for more in ([], ["--warm", mass]))
    alpha = 0.049 * mass**-1.11  # Mpc/h, for densities and a Hubble constant as those of the program
    left = bins_of(16, 4, lambda k: theory().matterPowerSpectrum(k, 3) * (1 + (alpha * k) ** 2.24) ** (-10 / 1.12))
    left /= bins_of(16, 4, lambda k: theory().matterPowerSpectrum(k, 3))
    assert warm["linear"] / cold["linear"] == pytest.approx(left, rel=1e-2)
    assert left[-1] < 0.7


def test_growth_is_that_of_another_program():
    """Checks the quadrature of the tests with which others compare the universe."""
    other = theory()
    for z in (49, 10, 2, 0.5):
        assert growth(1 / (1 + z)) / growth(1) == pytest.approx(other.growthFactor(z), rel=1e-4)


@pytest.mark.test_all
def test_large_scales_grow_by_theory_all_the_way(tmp_path):
    """The spectrum of matter is right to 2 % at any time, for waves of at least 32 cells."""
    options = ["--particles", 64, "--box", 1000, "--first", 49, "--last", 0, "--steps", 40]
    first = spectrum(tmp_path, 2, *options, "--stop", 1)

    def scale_factor(step):
        return 0.02 ** (1 - step / 40)

    for step in (10, 20, 30, 40):
        now = spectrum(tmp_path, 2, *options, "--stop", step)
        expected = (growth(scale_factor(step)) / growth(scale_factor(1))) ** 2
        grown = now["power"][:2] / first["power"][:2]
        assert grown == pytest.approx(expected, rel=0.02), step


@pytest.mark.parametrize(("axis", "ranks"), few([(1, 3), (0, 1), (2, 4)], keep=0))
def test_a_plane_wave_is_zeldovichs_until_it_crosses(tmp_path, axis, ranks):
    """The solution is exact in one dimension. Particles move through many cells and from rank to rank."""
    n, crossing, last = 32, 1.0, 1.2
    options = ["--particles", n, "--box", BOX, "--first", 49, "--last", last, "--steps", 100, "--wave", crossing]
    found = particles(tmp_path, ranks, *options, "--wave-axis", axis)
    numbers = found["id"]
    site = np.stack([numbers % n, numbers // n % n, numbers // n**2], axis=1).astype(float)
    grown = growth(1 / (1 + last)) / growth(1 / (1 + crossing))
    expected = site.copy()
    expected[:, axis] -= grown * np.sin(2 * np.pi / n * site[:, axis]) * n / (2 * np.pi)
    apart = (found["place"] - expected + n / 2) % n - n / 2
    assert np.abs(np.delete(apart, axis, axis=1)).max() < 1e-6
    amplitude = grown * n / (2 * np.pi)
    # The mesh smooths the force where the sheet is thinner than a cell.
    assert np.abs(apart[:, axis]).max() < 0.06 * amplitude
    assert np.sqrt((apart[:, axis] ** 2).mean()) < 0.02 * amplitude


@pytest.mark.test_all
def test_a_finer_grid_follows_a_plane_wave_better(tmp_path):
    def error(n):
        options = ["--particles", n, "--box", BOX, "--first", 49, "--last", 1.5, "--steps", 100, "--wave", 1]
        found = particles(tmp_path, 2, *options)
        site = (found["id"] % n).astype(float)
        moved = growth(1 / 2.5) / growth(0.5) * np.sin(2 * np.pi / n * site) / (2 * np.pi)
        apart = (found["place"][:, 0] / n - (site / n - moved) + 0.5) % 1 - 0.5
        return np.sqrt((apart**2).mean())

    assert error(32) < 0.5 * error(16)


@pytest.mark.test_all
def test_energies_balance_and_momentum_stays(tmp_path):
    """Layzer and Irvine's equation, d(a (K + W)) = -K da, from linear waves to halos."""
    file = tmp_path / "energies.csv"
    options = ["--particles", 32, "--cells", 64, "--box", 40, "--last", 0, "--steps", 120]
    succeed(2, *options, "--quiet", "--energies", file)
    found = columns(file)
    a, kinetic, potential = found["scale_factor"], found["kinetic"], found["potential"]
    assert len(a) == 121 and a[0] == pytest.approx(0.02) and a[-1] == pytest.approx(1)
    total = a * (kinetic + potential)
    lost = np.concatenate([[0], np.cumsum(0.5 * (kinetic[1:] + kinetic[:-1]) * np.diff(a))])
    off = np.abs(total - total[0] + lost)
    assert off.max() < 0.015 * np.abs(a * potential).max()
    # Halos are bound: kinetic energy is about half of the potential energy.
    assert 0.3 < kinetic[-1] / abs(potential[-1]) < 1
    momenta = np.stack([found[f"momentum_{axis}"] for axis in "xyz"])
    assert (np.abs(momenta).max(axis=0)[1:] < 1e-6 * found["speeds"][1:]).all()


@pytest.mark.test_all
def test_a_wave_that_is_asked_for_wrongly(tmp_path):
    done = run(1, "--particles", 8, "--steps", 1, "--wave", 1, "--wave-axis", 3, program=PLAIN)
    assert done.returncode != 0 and "--wave-axis" in done.stderr
    done = run(1, "--particles", 8, "--steps", 1, "--energies", tmp_path / "no" / "energies.csv", program=PLAIN)
    assert done.returncode == 1 and "--energies" in done.stderr
