"""Spectra, distributions and Lyman-alpha in every placement have the bytes of a run on one rank. They are compared
with NumPy on the fields in its HDF5 file."""

import csv
from pathlib import Path

import h5py
import numpy as np
import pytest
from support import results_of, run, without_charts

STEPS = 2
TASKS = """\
derived:
  warm: {expression: 2 + t, unit: K}
  gas: {expression: (2 + t) * 1e-12, unit: 1/cm^3}
  hot: {expression: 1e4 * warm, unit: K}
  wind: vector(1e6 * t, 2e6 * t, -1e6 * t)
analyses:
  - power_spectrum: {variable: warm, file: "spectrum-{index}.csv", image: {file: "spectrum-{index}.png"}}
  - power_spectrum: {name: slabs, variable: warm, with: t, of: difference, decomposition: slabs,
                    bins: widening, file: "slabs-{index}.csv", image: {file: "slabs-{index}.png", size: [320, 240]}}
  - power_spectrum: {name: lines, variable: warm, along: [x, y, z], file: "lines-{index}.csv",
                    image: {file: "lines-{index}.png", quantity: dimensionless, caption: none}}
  - histogram: {variable: warm, weight: gas, scale: logarithmic, range: [0.5, 4], bins: 9,
               normalise: density, file: "histogram-{index}.csv", image: {file: "histogram-{index}.png", scale: linear}}
  - histogram2d: {x: {variable: t, bins: 8}, y: {variable: warm, bins: 5, scale: logarithmic}, weight: gas,
                  file: "phase-{index}.h5",
                  image: {file: "phase-{index}.png", size: [160, 120]}}
  - lyman_alpha: {hydrogen: gas, temperature: hot, velocity: wind, redshift: 3,
                  mean_flux: 0.7,
                  file: "means-{index}.csv", pdf_file: "pdf-{index}.csv", spectrum_file: "flux-lines-{index}.csv",
                  field_spectrum_file: "flux-{index}.csv", pdf_image: {file: "pdf-{index}.png"},
                  spectrum_image: {file: "flux-lines-{index}.png"},
                  field_spectrum_image: {file: "flux-{index}.png"}, lines: {file: "lines-{index}.h5", every: 2}}
outputs:
  - hdf5: {variables: [t], file: "fields-{index}.h5"}
"""


CORES = "{mode: cores, per_node: 1, buffer: 16 MiB}"


def execute(folder, ranks, placement, blocks=1, charts=False):
    """To draw the charts takes longer than all else."""
    tasks, steps = (TASKS, 1) if charts else (without_charts(TASKS), STEPS)
    done = run(folder, ranks, placement, tasks, [f"steps={steps}", f"blocks={blocks}", "ghosts=1"])
    assert done.status == 0 and not done.errors, done.text
    return done


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return execute(tmp_path_factory.mktemp("one"), 1, "inline")


def rows(results, name):
    with (results / name).open() as file:
        return list(csv.DictReader(file))


def find(file, name):
    found = []
    file.visititems(lambda path, thing: found.append(thing) if path.split("/")[-1] == name else None)
    return next(thing for thing in found if isinstance(thing, h5py.Dataset))[...]


def test_numpy(one):
    for step in range(STEPS):
        with h5py.File(one.results / f"fields-{step}.h5") as file:
            warm = 2 + find(file, "t")
        n = warm.shape[0]
        contrast = np.fft.fftn(warm / warm.mean() - 1) / n**3
        power = np.abs(contrast) ** 2  # the volume of the box is 1
        modes = np.fft.fftfreq(n, 1 / n)
        size = np.sqrt(modes[:, None, None] ** 2 + modes[None, :, None] ** 2 + modes**2)
        shells = np.floor(size + 0.5).astype(int)
        for row in rows(one.results, f"spectrum-{step}.csv"):
            inside = shells == int(row["bin"]) + 1
            assert int(row["modes"]) == inside.sum()
            np.testing.assert_allclose(float(row["power"]), power[inside].mean(), rtol=1e-10)
            np.testing.assert_allclose(float(row["k"]), 2 * np.pi * size[inside].mean(), rtol=1e-12)
        counts, _ = np.histogram(warm, np.geomspace(0.5, 4, 10))
        for row, count in zip(rows(one.results, f"histogram-{step}.csv"), counts, strict=True):
            assert int(row["count"]) == count
        with h5py.File(one.results / f"phase-{step}.h5") as file:
            edges = [file[name][...] for name in ("y_edges", "x_edges")]
            both = [warm.ravel(), (warm - 2).ravel()]
            weights = np.histogram2d(*both, bins=edges, weights=1e-12 * warm.ravel())[0]
            np.testing.assert_array_equal(file["count"], np.histogram2d(*both, bins=edges)[0])
            np.testing.assert_allclose(file["weight"], weights, rtol=1e-12, atol=0)
        with h5py.File(one.results / f"lines-{step}.h5") as file:
            np.testing.assert_allclose(file["flux_y"], np.exp(-file["depth_y"][...]), rtol=1e-13)
            np.testing.assert_allclose(file["z_line_x"], (np.arange(0, n, 2) + 0.5) / n, rtol=1e-14)
        for row in rows(one.results, f"means-{step}.csv"):
            np.testing.assert_allclose(float(row["mean_flux"]), 0.7, rtol=1e-10)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "placement", "blocks"),
    [
        (3, "inline", 2),
        (8, "inline", 1),
        (3, CORES, 3),
        (5, "{mode: nodes, servers: 2, buffer: 16 MiB}", 1),
        (8, "{mode: nodes, servers: 5, buffer: 16 MiB}", 8),
        (8, "{mode: nodes, servers: 3, buffer: 16 MiB, forward: partials}", 2),
    ],
)
def test_placements(tmp_path, one, ranks, placement, blocks):
    done = execute(tmp_path, ranks, placement, blocks)
    assert results_of(done, (".csv",)) == results_of(one, (".csv",))
    for step in range(STEPS):
        with h5py.File(done.results / f"phase-{step}.h5") as mine, h5py.File(one.results / f"phase-{step}.h5") as other:
            np.testing.assert_array_equal(mine["count"], other["count"])
            np.testing.assert_array_equal(mine["weight"], other["weight"])
            np.testing.assert_array_equal(mine["y_edges"], other["y_edges"])
        with h5py.File(done.results / f"lines-{step}.h5") as mine, h5py.File(one.results / f"lines-{step}.h5") as other:
            assert len(mine) == 15 and set(mine) == set(other)
            for name, array in mine.items():
                np.testing.assert_array_equal(array, other[name])


@pytest.mark.test_all
def test_charts(tmp_path):
    own, other = execute(tmp_path / "one", 1, "inline", 1, True), execute(tmp_path / "cores", 3, CORES, 3, True)
    pictures = results_of(own, (".png",))
    assert results_of(other, (".png",)) == pictures and len(pictures) == 8


def test_isolated(tmp_path, one):
    """Analyses run in a separate process that has only the partials."""
    tasks = TASKS.replace("power_spectrum: {variable", "power_spectrum: {isolate: process, variable").replace(
        "lyman_alpha: {", "lyman_alpha: {isolate: process, "
    )
    tasks = without_charts(tasks)
    done = run(tmp_path, 3, "{mode: nodes, servers: 2, buffer: 16 MiB}", tasks, [f"steps={STEPS}"])
    assert done.status == 0 and not done.errors, done.text
    assert results_of(done, (".csv",)) == results_of(one, (".csv",))


def balanced(hydrogen, temperature, gamma):
    """The neutral fraction at which ionisation and recombination balance, by bisection of its logarithm."""
    recombination = 8.4e-11 * temperature**-0.5 * (temperature / 1e3) ** -0.2 / (1 + (temperature / 1e6) ** 0.7)
    collisions = 5.85e-11 * temperature**0.5 * np.exp(-157809.1 / temperature) / (1 + (temperature / 1e5) ** 0.5)
    low, high = np.full_like(hydrogen, -30.0), np.zeros_like(hydrogen)
    for _ in range(100):
        middle = 0.5 * (low + high)
        x = 10**middle
        electrons = 1.0789 * hydrogen * (1 - x)
        more = x * (gamma + electrons * collisions) > (1 - x) * electrons * recombination
        low, high = np.where(more, low, middle), np.where(more, middle, high)
    return 10**low


def test_densities_of_the_documentation(tmp_path):
    """The results of section 4.2 of Friesen et al., by the expressions of the example."""
    block = (Path(__file__).parents[2] / "examples/universe/densities.yaml").read_text()
    published = (
        "derived:\n  rho_b: 1e10 * 10^t\n  rho_dm: 5e10 * 10^(t - 0.3 * x)\n  temperature: 1e4 * 10^(0.6 * t + y)\n"
    )
    tasks = block.replace("derived:\n", published) + (
        'outputs: [hdf5: {variables: [t, rho_b, rho_dm, temperature, total, baryons, nhi], file: "f-{index:03}.h5"}]\n'
    )
    done = run(tmp_path, 3, "{mode: nodes, servers: 2, buffer: 16 MiB}", tasks, ["steps=1", "blocks=2"])
    assert done.status == 0 and not done.errors, done.text
    with h5py.File(done.results / "f-000.h5") as file:
        names = ("rho_b", "rho_dm", "temperature", "total", "baryons", "nhi")
        rho_b, rho_dm, temperature, total, baryons, nhi = (find(file, name) for name in names)
    np.testing.assert_allclose(total, rho_b + rho_dm, rtol=1e-15)
    np.testing.assert_allclose(baryons, rho_b / (0.05 * 2.7754e11 * 0.49), rtol=1e-14)
    hydrogen = 0.76 * rho_b * 4.0463e-17 * 64
    np.testing.assert_allclose(nhi, hydrogen * balanced(hydrogen, temperature, 8.2e-13), rtol=1e-11)
    assert nhi.min() < 1e-3 * nhi.max()
    n = nhi.shape[0]
    modes = np.fft.fftfreq(n, 1 / n)
    shells = np.floor(np.sqrt(modes[:, None, None] ** 2 + modes[None, :, None] ** 2 + modes**2) + 0.5).astype(int)
    for name, field in (("b", rho_b), ("dm", rho_dm), ("total", total), ("nhi", nhi)):
        power = np.abs(np.fft.fftn(field / field.mean() - 1) / n**3) ** 2
        for row in rows(done.results, f"p-{name}-000.csv"):
            expected = power[shells == int(row["bin"]) + 1].mean()
            np.testing.assert_allclose(float(row["power"]), expected, rtol=1e-10)
    for name, field, edges in (("b", baryons, (-2, 5)), ("nhi", nhi, (-16, -4))):
        counts, _ = np.histogram(field, np.logspace(*edges, 401))
        assert [int(row["count"]) for row in rows(done.results, f"pdf-{name}-000.csv")] == list(counts)
