"""The fields that the universe publishes (section 4.2 of the Nyx paper), computed again from its particles."""

import h5py
import numpy as np
import pytest
from test_universe import COUPLED, PARTICLE, run, succeed

CELLS, PARTICLES, BOX, FILTER, A = 24, 16, 12.0, 0.8, 0.25
OUTPUT = """
placement: {{mode: cores, buffer: 128 MiB, per_node: 1}}
output: {{directory: {directory}}}
derived:
  total: {{expression: "0.25 / 0.3 * density + 0.05 / 0.3 * baryon_density", unit: mean}}
  baryons: {{expression: "0.05 * 1.878e-29 * 0.49 * baryon_density / time^3", unit: g/cm^3}}
outputs:
  - hdf5:
      variables: [density, baryon_density, velocity, temperature, neutral_hydrogen, total, baryons]
      file: "fields-{{index:05}}.h5"
"""
UNITS = {"density": "1", "baryon_density": "1", "velocity": "cm/s", "temperature": "K", "neutral_hydrogen": "1/cm^3"}


def fields(folder, ranks, *arguments):
    """All published fields at the end, [z, y, x], their units, and the particles."""
    file = folder / "case.yaml"
    file.write_text(OUTPUT.format(directory=folder / "out"))
    options = ["--particles", PARTICLES, "--cells", CELLS, "--box", BOX, "--last", 1 / A - 1, "--steps", 20]
    options += ["--every", 20, "--sidestream", file, "--dump", folder / "dump", *arguments]
    succeed(ranks, *options, program=COUPLED)
    with h5py.File(folder / "out" / "fields-00001.h5") as data:
        found = {name: data["variables"][name][()] for name in data["variables"]}
        units = {name: data["variables"][name].attrs["unit"] for name in found}
    return found, units, np.fromfile(folder / "dump", PARTICLE)


def clouds(places, values):
    """Cloud-in-cell density by the definition, [z, y, x]."""
    field = np.zeros((CELLS, CELLS, CELLS))
    lower = np.floor(places - 0.5).astype(int)
    part = places - 0.5 - lower
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, part, 1 - part), axis=1)
        x, y, z = ((lower + corner) % CELLS).T
        np.add.at(field, (z, y, x), weight * values)
    return field


def diffused(field, length):
    """Solves the heat equation on the mesh in many small steps over the six neighbours; positive for any length."""
    time = (length * CELLS / BOX) ** 2
    steps = 4000
    for _ in range(steps):
        around = sum(np.roll(field, s, axis) for s in (1, -1) for axis in range(3))
        field = field + time / steps * (around - 6 * field)
    return field


@pytest.mark.test_all
def test_fields_are_those_of_the_particles(tmp_path):
    found, units, matter = fields(tmp_path, 4, "--filter", FILTER)
    density = clouds(matter["place"], np.full(len(matter), (CELLS / PARTICLES) ** 3))
    assert found["density"] == pytest.approx(density, abs=1e-8)
    assert {name: units[name] for name in UNITS} == UNITS
    gas = found["baryon_density"]
    assert gas == pytest.approx(diffused(density, FILTER), rel=2e-3, abs=2e-3)
    assert (gas >= 0).all() and gas.mean() == pytest.approx(1, rel=1e-9) and gas.var() < 0.5 * density.var()
    # After each step of the leapfrog, momenta and positions are known at the same time.
    mass = diffused(density, FILTER)
    for axis in range(3):
        momentum = diffused(clouds(matter["place"], matter["momentum"][:, axis] * (CELLS / PARTICLES) ** 3), FILTER)
        speed = momentum / mass * 1e7 * BOX / CELLS / A
        assert found["velocity"][..., axis] == pytest.approx(speed, rel=0.02, abs=0.005 * np.abs(speed).max())
    assert found["temperature"] == pytest.approx(1e4 * np.maximum(gas, 0.01) ** 0.6, rel=1e-9)
    hydrogen = 0.76 * 0.05 * 1.87847e-29 * 0.49 / A**3 / 1.672623e-24 * gas
    neutral, ionised = found["neutral_hydrogen"], hydrogen - found["neutral_hydrogen"]
    balance = 4.2e-13 * (found["temperature"] / 1e4) ** -0.7 * ionised**2
    assert 1e-12 * neutral == pytest.approx(balance, rel=1e-9)
    assert found["total"] == pytest.approx(5 / 6 * found["density"] + gas / 6, rel=1e-12)
    # The mean density of baryons is Omega_b rho_critical (1 + z)^3.
    assert found["baryons"].mean() == pytest.approx(0.05 * 1.878e-29 * 0.49 * 64, rel=1e-9)


def test_without_a_filter_gas_is_where_matter_is(tmp_path):
    found, _, _ = fields(tmp_path, 3)
    assert (found["baryon_density"] == found["density"]).all() and (found["density"] == 0).any()
    assert (found["velocity"][found["density"] == 0] == 0).all()


@pytest.mark.test_all
def test_a_negative_filter_is_refused():
    done = run(1, "--filter", -1, program=COUPLED)
    assert done.returncode == 2 and "--filter" in done.stderr
