"""Halos found in situ in the universe's density, compared with friends-of-friends groups of its particles."""

import csv
import itertools
import os
import subprocess
import sys
from pathlib import Path

import friends
import numpy as np
import pytest
from test_universe import COUPLED, succeed

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "universe"

BOX, PARTICLES, CELLS = 20.0, 48, 96
HALOS = """
placement: {mode: cores, buffer: 128 MiB, per_node: 1}
output: {directory: .}
analyses:
  - halos: {variable: density, units: mean, boundary: 81.66, halo: 90, connectivity: 14, file: halos.csv}
"""


def test_friends_are_those_of_brute_force():
    places = np.random.default_rng(1).uniform(0, 1, (300, 3))
    apart = np.abs(places[:, None] - places[None])
    near = (np.minimum(apart, 1 - apart) ** 2).sum(-1) <= 0.07**2
    label = np.arange(len(places))
    for _ in places:  # the least number spreads over the connected component
        label = np.where(near, label[None], len(places)).min(axis=1)
    found = friends.groups(places, 1.0, 0.07)
    assert len(set(zip(found, label, strict=True))) == len(set(found)) == len(set(label)) > 50


@pytest.fixture(scope="module")
def universe(tmp_path_factory):
    """Halos found in situ, and the group of each particle, at the end of a run."""
    folder = tmp_path_factory.mktemp("halos")
    (folder / "case.yaml").write_text(HALOS.replace("directory: .", f"directory: {folder}"))
    options = ["--particles", PARTICLES, "--cells", CELLS, "--box", BOX, "--last", 2, "--steps", 60, "--every", 60]
    succeed(3, *options, "--sidestream", folder / "case.yaml", "--dump", folder / "dump", program=COUPLED)
    with (folder / "halos.csv").open() as file:
        halos = [row for row in csv.DictReader(file) if row["iteration"] == "1"]
    places = friends.read_places(folder / "dump", CELLS, BOX)
    return halos, places, friends.groups(places, BOX, 0.168 * BOX / PARTICLES)


@pytest.mark.test_all
def test_as_many_heavy_halos_as_friends_of_friends_find(universe):
    halos, _, group = universe
    particle = (BOX / PARTICLES) ** 3
    mass = np.array([float(row["mass"]) for row in halos]) / particle
    members = np.bincount(group)
    for least in (100, 200):
        cells, particles = (mass >= least).sum(), (members >= least).sum()
        assert particles >= 10 and abs(cells - particles) <= 0.3 * particles, (least, cells, particles)


@pytest.mark.test_all
def test_heavy_halos_are_the_same_ones(universe):
    """Most particles near a peak are in one group, whose mass is about that of the halo."""
    halos, places, group = universe
    members, ratios = np.bincount(group), []
    for row in halos:
        mass = float(row["mass"]) / (BOX / PARTICLES) ** 3
        if mass < 100:
            continue
        peak = np.array([float(row[f"peak_{axis}"]) for axis in "xyz"])
        apart = np.abs(places - peak)
        near = np.minimum(apart, BOX - apart).max(axis=1) < 1.5 * BOX / CELLS
        theirs = np.bincount(group[near])
        assert theirs.max() > 0.5 * near.sum() and near.sum() > 20
        ratios.append(mass / members[theirs.argmax()])
    assert len(ratios) >= 10 and 0.75 < np.median(ratios) < 1.15, ratios
    assert np.mean(np.abs(np.array(ratios) - 1) < 0.35) > 0.8, ratios


@pytest.mark.test_all
def test_a_finer_universe_has_the_same_heavy_halos(universe, tmp_path):
    """The program of the figure, with both resolutions, table and picture."""
    command = [sys.executable, EXAMPLE / "mass_function", "--program", COUPLED, "--results", tmp_path / "results"]
    command += ["--particles", 32, PARTICLES, "--steps", 60, "--box", BOX]
    environment = {**os.environ, "MPIRUN": os.environ["MPIEXEC"]}
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "mass-function.png").stat().st_size > 10_000
    with (tmp_path / "results" / "mass-function.csv").open() as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    counts = {(row["particles"], row["mass"]): row for row in rows}
    # These halos are found in situ, in the same universe as in the test above.
    mass = np.array([float(row["mass"]) for row in universe[0]]) * 2.775e11 * 0.3
    assert counts[PARTICLES, 1e12]["cells"] == (mass >= 1e12).sum()
    coarse, fine = (counts[n, 1e12] for n in (32, PARTICLES))
    # Friends are found in situ among places of 32 bits, above in the particles that the program wrote.
    groups = np.bincount(universe[2]) * 2.775e11 * 0.3 * (BOX / PARTICLES) ** 3
    assert abs(fine["friends"] - (groups >= 1e12).sum()) <= 1
    assert abs(coarse["friends"] - fine["friends"]) <= 0.35 * fine["friends"] and fine["friends"] >= 8
    falling = [row["cells"] for row in rows if row["particles"] == PARTICLES]
    assert all(a >= b for a, b in itertools.pairwise(falling))
