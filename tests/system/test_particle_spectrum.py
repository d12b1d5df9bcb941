"""Spectra of particles of tests/system/kinds_program.c have the bytes of a run on one rank in every placement. They
are compared with NumPy and powerbox."""

import csv
import os

import numpy as np
import powerbox
import pytest
from kinds_values import NX, NY, NZ, lists
from programs import built
from support import run_beside
from test_kinds import DECLARATIONS

PROGRAM = built("SIDESTREAM_KINDS_PROGRAM")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS = 2
SIDE = 4096.0
CELLS = 12
ANALYSES = f"""\
  - particle_spectrum: {{mesh: m, weight: n, size: [{CELLS}, {CELLS}, {CELLS}], low: [0, 0, 0],
                        high: [{SIDE}, {SIDE}, {SIDE}], file: "cic-{{index}}.csv"}}
  - particle_spectrum: {{name: b, mesh: m, size: [9, 8, 7], low: [0, 0, 0], high: [{SIDE}, {SIDE}, {SIDE}], method: tsc,
                        bins: widening, file: "tsc-{{index}}.csv"}}
  - particle_spectrum: {{name: c, mesh: m, weight: n, size: [{CELLS}, {CELLS}, {CELLS}], low: [0, 0, 0], method: ngp,
                        high: [{SIDE}, {SIDE}, {SIDE}], deconvolve: false, shot_noise: false,
                        file: "ngp-{{index}}.csv"}}
"""


def run(folder, placement, ranks):
    path = folder / "run.yaml"
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n"
    text += DECLARATIONS["points"].replace("DIMENSIONS", "3").replace("SIZE", str([NX, NY, NZ]))
    path.write_text(text + "analyses:\n" + ANALYSES)
    run_beside(
        folder,
        [MPIRUN, "-n", str(ranks), PROGRAM, str(path), "kind=points", f"steps={STEPS}", "changing=1"],
        STEPS,
        None,
    )
    return folder / "results"


def particles(step, blocks):
    arrays = lists("points", blocks, 1, step)
    counts = np.concatenate(arrays["flags"]) == 0
    return [np.concatenate(arrays[name])[counts].astype(float) for name in ("pos", "n")]


def assigned(places, weights, shape, order):
    """Assigns weights to the nearest cells by the product of B-splines of an order."""
    grid = np.zeros(shape)
    for place, weight in zip(places, weights, strict=True):
        shares = []
        for x, n in zip(place, shape, strict=True):
            u = x / SIDE * n
            cells = np.arange(int(np.floor(u)) - 2, int(np.floor(u)) + 3)
            away = np.abs(cells + 0.5 - u)
            if order == 1:
                part = (cells == np.floor(u)).astype(float)
            elif order == 2:
                part = np.clip(1 - away, 0, None)
            else:
                part = np.where(away <= 0.5, 0.75 - away**2, 0.5 * np.clip(1.5 - away, 0, None) ** 2)
            line = np.zeros(n)
            np.add.at(line, cells % n, part)
            shares.append(line)
        grid += weight * np.einsum("i,j,k->ijk", *shares)
    return grid


def spectrum(grid, weights, order, clean):
    """The power of modes, and their wave numbers in units of the fundamental mode."""
    modes = [np.fft.fftfreq(n, 1 / n) for n in grid.shape]
    power = np.abs(np.fft.fftn(grid / grid.mean() - 1) / grid.size) ** 2 * SIDE**3
    if clean:
        for axis, (m, n) in enumerate(zip(modes, grid.shape, strict=True)):
            shape = [1, 1, 1]
            shape[axis] = n
            power = power / (np.sinc(m / n) ** (2 * order)).reshape(shape)
        power -= SIDE**3 * (weights**2).sum() / weights.sum() ** 2
    return power, np.sqrt(sum(m**2 for m in np.meshgrid(*modes, indexing="ij")))


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def check(path, places, weights, shape, order, clean):
    power, size = spectrum(assigned(places, weights, shape, order), weights, order, clean)
    found = rows(path)
    assert found
    for row in found:
        low, high = (float(row[edge]) * SIDE / (2 * np.pi) for edge in ("k_lower", "k_upper"))
        inside = (size > 0) & (size >= low - 1e-9) & (size < high - 1e-9)
        assert int(row["modes"]) == inside.sum()
        scale = np.abs(power[inside]).mean()
        assert abs(float(row["power"]) - power[inside].mean()) < 1e-10 * scale


PLACEMENTS = [
    ("inline", 1, 0), ("inline", 3, 0), ("{mode: cores, per_node: 2, buffer: 4 MiB}", 3, 2),
    ("{mode: nodes, servers: 5, buffer: 4 MiB}", 3, 5),
    ("{mode: nodes, servers: 2, buffer: 4 MiB, forward: partials}", 5, 3),
]  # fmt: skip


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "clients", "servers"), PLACEMENTS)
def test_placements(tmp_path, placement, clients, servers):
    results = run(tmp_path, placement, clients + servers)
    for step in range(STEPS):
        places, weights = particles(step, 2 * clients)
        check(results / f"cic-{step}.csv", places, weights, [CELLS] * 3, 2, True)
        check(results / f"tsc-{step}.csv", places, np.ones(len(weights)), [9, 8, 7], 3, True)
        check(results / f"ngp-{step}.csv", places, weights, [CELLS] * 3, 1, False)


def test_the_same_bytes(tmp_path):
    """The number of clients, and so the particles, are the same, but the servers differ."""
    kept = []
    for number, (placement, servers) in enumerate([("inline", 0)] + [(p, s) for p, c, s in PLACEMENTS[1:] if c == 3]):
        folder = tmp_path / str(number)
        folder.mkdir()
        results = run(folder, placement, 3 + servers)
        names = [f"{name}-{step}.csv" for name in ("cic", "tsc", "ngp") for step in range(STEPS)]
        kept.append([(results / name).read_bytes() for name in names])
    assert all(one == kept[0] for one in kept[1:])


def test_powerbox(tmp_path):
    results = run(tmp_path, "inline", 1)
    for step in range(STEPS):
        places, weights = particles(step, 2)
        grid = assigned(places, weights, [CELLS] * 3, 1)
        found = rows(results / f"ngp-{step}.csv")
        edges = np.array([float(row["k_lower"]) for row in found] + [float(found[-1]["k_upper"])])
        theirs = powerbox.get_power(
            grid / grid.mean() - 1, SIDE, bins=edges, ignore_zero_mode=True, dimensionless=False
        )
        np.testing.assert_array_equal([int(row["modes"]) for row in found], theirs.nsamples)
        np.testing.assert_allclose([float(row["power"]) for row in found], theirs.power, rtol=1e-10)
