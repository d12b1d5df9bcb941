"""The universe without Sidestream: the same bits on any number of ranks, and growth as in theory."""

import csv
import functools
import os

import mini_app
import numpy as np
import pytest
from pairs import without

PLAIN, COUPLED = os.environ["UNIVERSE_PLAIN"], os.environ["UNIVERSE"]
PARTICLE = np.dtype([("place", "<f8", 3), ("momentum", "<f8", 3), ("id", "<i8")])
MATTER = 0.3


run, succeed = (functools.partial(call, program=PLAIN, timeout=200) for call in (mini_app.run, mini_app.succeed))


def particles(folder, ranks, *arguments, **options):
    succeed(ranks, *arguments, "--quiet", "--dump", folder / "dump", **options)
    return np.fromfile(folder / "dump", PARTICLE)


def spectrum(folder, ranks, *arguments):
    succeed(ranks, *arguments, "--quiet", "--spectrum", folder / "spectrum.csv")
    with (folder / "spectrum.csv").open() as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def growth(a):
    """The growth factor D(a) by quadrature, independent of the program's."""
    fine = np.linspace(1e-8, a, 200_001)
    inner = (fine * np.sqrt(MATTER / fine**3 + 1 - MATTER)) ** -3
    return np.sqrt(MATTER / a**3 + 1 - MATTER) * np.trapezoid(inner, fine)


@pytest.mark.test_all
@pytest.mark.parametrize("arguments", [("--cells", 16), ("--cells", 24, "--order", 1), ("--cells", 11)])
def test_the_same_bits_on_any_number_of_ranks(tmp_path, arguments):
    options = ["--particles", 12, *arguments, "--box", 20, "--last", 3, "--steps", 12]
    one = particles(tmp_path, 1, *options)
    assert len(one) == 12**3 and (one["id"] == np.arange(12**3)).all()
    assert (one["place"] >= 0).all() and (one["place"] < arguments[1]).all()
    for ranks in without([2, 5], [2, 3, 5, 8]):
        assert particles(tmp_path, ranks, *options).tobytes() == one.tobytes(), ranks


@pytest.mark.test_all
def test_large_scales_grow_as_linear_theory_says(tmp_path):
    # Only waves of many cells are compared. Shorter ones grow more slowly, because clouds smooth the force.
    options = ["--particles", 64, "--box", 1000, "--first", 49, "--last", 2, "--steps", 40]
    first, last = spectrum(tmp_path, 2, *options, "--stop", 1), spectrum(tmp_path, 2, *options)
    a = 0.02 * np.exp(np.log((1 / 3) / 0.02) / 40)
    expected = (growth(1 / 3) / growth(a)) ** 2
    large = slice(0, 2)
    # This allows errors of 2 % in amplitudes.
    assert last["power"][large] / first["power"][large] == pytest.approx(expected, rel=0.04)
    assert (last["linear"] / first["linear"])[large] == pytest.approx(expected, rel=1e-5)


@pytest.mark.test_all
def test_the_spectrum_at_the_start_is_that_of_the_linear_field(tmp_path):
    found = spectrum(
        tmp_path, 2, "--particles", 48, "--box", 400, "--first", 49, "--last", 40, "--steps", 100, "--stop", 1
    )
    wide = found["modes"] > 400
    wide &= found["k"] < 0.5 * np.pi * 48 / 400  # clouds in cells blur and alias shorter waves
    scatter = np.sqrt(2 / found["modes"][wide])
    deviation = (found["power"][wide] / found["linear"][wide] - 1) / scatter
    assert wide.sum() > 5 and np.abs(deviation).max() < 4 and abs(deviation.mean()) < 1.5


def test_zeldovich_moves_along_straight_lines(tmp_path):
    """Shortly afterwards particles are where the growing mode takes them; all displacements grow by one factor."""
    at = {}
    for redshift in (49, 48):
        options = ["--particles", 16, "--box", 2000, "--order", 1, "--first", redshift, "--last", redshift - 1e-6]
        found = particles(tmp_path, 1, *options, "--steps", 1)
        site = np.stack(np.meshgrid(*3 * [np.arange(16.0)], indexing="ij"), -1)
        site = site.transpose(2, 1, 0, 3).reshape(-1, 3)  # x fastest
        at[redshift] = (found["place"] - site + 8) % 16 - 8
    ratio = growth(1 / 49) / growth(1 / 50)
    # In this step momenta move them by only a millionth of that.
    assert at[48] == pytest.approx(at[49] * ratio, rel=1e-4, abs=1e-7)


def test_momentum_and_mass_stay(tmp_path):
    found = particles(tmp_path, 3, "--particles", 16, "--box", 20, "--last", 1, "--steps", 40)
    total = np.abs(found["momentum"].sum(axis=0))
    assert (total < 1e-6 * np.abs(found["momentum"]).sum(axis=0)).all()


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--last", 60], "--first"),
        (["--baryons", 0.4], "--matter"),
        (["--particles", 3], "--particles"),
        (["--sidestream", "run.yaml"], "without Sidestream"),
        (["--restart", "somewhere"], "universe"),
        (["--particles", 8, "--steps", 1, "--dump", "/no/such/folder/dump"], "--dump"),
    ],
)
def test_mistakes(arguments, words):
    done = run(2, *arguments)
    assert done.returncode in (1, 2)
    assert words in done.stderr and done.stderr.count("universe: ") == 1


def test_too_many_ranks():
    done = run(7, "--particles", 4, "--steps", 1)
    assert done.returncode == 1 and "too many for a grid of 4" in done.stderr
