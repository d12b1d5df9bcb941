"""Veros with Sidestream: fields are those of Veros' own output, on any number of processes."""

import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import few
from running import run

SOURCE = Path(__file__).resolve().parents[2] / "simulations" / "veros"
DAYS, STEPS = 1, 2
FIELDS = ("temp", "u", "v")


def simulate(folder, placement, shape):
    program = [sys.executable, SOURCE / "acc.py"]
    # Several processes would write one file, which needs a parallel h5py.
    quiet = {"VEROS_LOGLEVEL": "error", "OMP_NUM_THREADS": "1", "VEROS_DISKLESS_MODE": "1" if shape != (1, 1) else "0"}
    run(folder, SOURCE / "run.yaml", placement, shape[0] * shape[1], program, [DAYS, *shape], 200, quiet)
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("alone"), "inline", (1, 1))


def published(folder, step, name):
    """[z, y, x]"""
    with h5py.File(folder / "results" / f"ocean-{step:03}.h5") as file:
        return file[f"variables/{name}"][...].T


def own(folder, step, name):
    """Veros' own output, and a mask of water; on land its values have no meaning."""
    with h5py.File(folder / "acc.snapshot.nc") as file:
        values = file[name][step]
        return values, values != file[name].attrs["_FillValue"]


@pytest.mark.parametrize("name", FIELDS)
def test_fields_are_those_of_its_own_output(alone, name):
    for step in range(STEPS):
        values, water = own(alone, step, name)
        assert 0.9 < water.mean() < 1
        assert np.array_equal(published(alone, step, name)[water], values[water])
    assert np.ptp(values[water]) > 0
    with h5py.File(alone / "acc.snapshot.nc") as theirs, h5py.File(alone / "results" / "ocean-000.h5") as ours:
        assert len(theirs["Time"]) == STEPS
        for axis, upper in zip("xyz", ("xu", "yu", "zw"), strict=True):
            np.testing.assert_array_equal(ours[f"meshes/ocean/{axis}"][1:], theirs[upper])


@pytest.mark.parametrize(("placement", "shape"), few([("cores", (2, 1)), ("sidecar", (2, 2))], keep=0))
def test_on_several_processes(tmp_path, alone, placement, shape):
    """Veros' sums round differently there."""
    folder = simulate(tmp_path, placement, shape)
    for step in range(STEPS):
        for name in FIELDS:
            values, water = own(alone, step, name)
            found = published(folder, step, name)
            np.testing.assert_allclose(
                found[water], values[water], rtol=0, atol=1e-12 * max(1, np.abs(values[water]).max())
            )
    assert len(list((folder / "results").glob("surface-*.png"))) == STEPS
