"""The universe with Sidestream: the same tables in every placement, and restarts that keep every bit."""

import csv
import math
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from mini_app import command, write
from pairs import few, without
from test_universe import COUPLED, particles, run, succeed

SHIPPED = Path(__file__).resolve().parents[2] / "simulations" / "universe" / "run.yaml"
BOX = ["--particles", 12, "--cells", 16, "--box", 20, "--last", 3]
TABLES = """
placement: {placement}
output: {{directory: {directory}}}
analyses:
  - statistics: {{variable: density}}
  - statistics: {{variable: velocity, component: 1, file: velocity.csv}}
  - statistics: {{variable: neutral_hydrogen, file: hydrogen.csv}}
  - histogram: {{variable: temperature, bins: 16}}
  - statistics: {{variable: momentum, component: 2, file: momentum.csv}}
"""
CHECKPOINTS = """
placement: {placement}
output: {{directory: {directory}}}
outputs:
  - database: {{directory: restart, kind: checkpoint, variables: [number, cells_from_corner, momentum]}}
"""


def tables(folder, placement, ranks, directory):
    file = write(folder, TABLES, placement, directory)
    said = succeed(ranks, *BOX, "--steps", 9, "--every", 3, "--sidestream", file, program=COUPLED)
    assert "4 iterations, 4 delivered." in said
    names = ("statistics.csv", "velocity.csv", "hydrogen.csv", "histogram.csv", "momentum.csv")
    return {name: (folder / directory / name).read_bytes() for name in names}


@pytest.mark.test_all
def test_the_same_bytes_in_every_placement(tmp_path):
    reference = tables(tmp_path, "inline", 1, "reference")
    rows = list(csv.DictReader(reference["statistics.csv"].decode().splitlines()))
    for row in rows:
        assert int(row["count"]) == 16**3 and float(row["mean"]) == pytest.approx(1, rel=1e-9)
    # The neutral fraction of hydrogen is above 0 and at most 1.
    for row in csv.DictReader(reference["hydrogen.csv"].decode().splitlines()):
        assert 0 <= float(row["minimum"]) < float(row["maximum"]) < 1e-3
    cases = [("inline", 3), ("{mode: cores, buffer: 128 MiB, per_node: 1}", 4), ("{mode: nodes, servers: 2}", 5)]
    for number, (placement, ranks) in enumerate(cases):
        assert tables(tmp_path, placement, ranks, f"case{number}") == reference, placement


@pytest.mark.test_all
@pytest.mark.parametrize(
    ("wrote", "placement"), few([(4, "{mode: cores, buffer: 128 MiB, per_node: 1}"), (1, "inline"), (3, "inline")])
)
def test_restarts_on_any_number_of_ranks_keep_every_bit(tmp_path, wrote, placement):
    whole = particles(tmp_path, 2, *BOX, "--steps", 10).tobytes()
    file = write(tmp_path, CHECKPOINTS, placement)
    succeed(wrote, *BOX, "--steps", 10, "--stop", 6, "--sidestream", file, program=COUPLED)
    checkpoints = tmp_path / "out" / "restart"
    for ranks in without([2, 3], [1, 2, 3, 5, 8]):
        again = particles(tmp_path, ranks, *BOX, "--steps", 10, "--restart", checkpoints, program=COUPLED)
        assert again.tobytes() == whole, ranks


@pytest.mark.test_all
def test_a_signal_ends_the_run_in_order_and_a_restart_goes_on(tmp_path):
    """A signal arrives as from a batch system when the time is up."""
    options = ["--particles", 24, "--box", 20, "--last", 3, "--steps", 4000, "--every", 5]
    file = write(tmp_path, CHECKPOINTS, "{mode: cores, buffer: 128 MiB, per_node: 1}")
    line = command(3, *options, "--sidestream", file, "--progress", program=COUPLED)
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        try:
            said = [running.stdout.readline() for _ in range(12)]
            running.send_signal(signal.SIGUSR1)  # mpirun hands it on to all ranks
            said += running.communicate(timeout=100)[0].splitlines(keepends=True)
        finally:
            running.kill()
    text = "".join(said)
    stopped = int(text.split("stopped by a signal after step ")[1].split()[0])
    assert running.returncode == 0 and 12 <= stopped < 4000 and f"{1 + stopped // 5} delivered." in text
    more = [*options, "--stop", stopped + 3]
    again = particles(tmp_path, 2, *more, "--restart", tmp_path / "out" / "restart", program=COUPLED)
    assert again.tobytes() == particles(tmp_path, 1, *more).tobytes()


@pytest.mark.test_all
def test_a_restart_with_other_particles_is_refused(tmp_path):
    file = write(tmp_path, CHECKPOINTS)
    succeed(1, *BOX, "--steps", 2, "--sidestream", file, program=COUPLED)
    done = run(2, "--particles", 10, "--steps", 4, "--restart", tmp_path / "out" / "restart", program=COUPLED)
    assert done.returncode == 1 and "found 1728 particles, expected 1000" in done.stderr


def test_neutral_hydrogen_balances(tmp_path):
    """Ionisations and recombinations in the densest cell balance, by the values in the tables."""
    reference = tables(tmp_path, "inline", 1, "out")
    density = float(list(csv.DictReader(reference["statistics.csv"].decode().splitlines()))[-1]["maximum"])
    neutral = float(list(csv.DictReader(reference["hydrogen.csv"].decode().splitlines()))[-1]["maximum"])
    hydrogen = 0.76 * 0.05 * 1.87847e-29 * 0.7**2 * 4**3 / 1.672623e-24 * density
    temperature = 1e4 * density**0.6
    ionised = hydrogen - neutral
    assert 1e-12 * neutral == pytest.approx(4.2e-13 * (temperature / 1e4) ** -0.7 * ionised**2, rel=1e-9)
    assert math.isfinite(neutral) and neutral > 0


def test_the_shipped_configuration(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(SHIPPED.read_text().replace("directory: results", f"directory: {tmp_path / 'results'}"))
    succeed(3, *BOX, "--steps", 8, "--every", 2, "--sidestream", file, program=COUPLED)
    results = tmp_path / "results"
    assert len(list(results.glob("density-*.png"))) == 5 and list((results / "data").glob("segment-*"))
    again = particles(tmp_path, 2, *BOX, "--steps", 8, "--restart", results / "restart", program=COUPLED)
    assert again.tobytes() == particles(tmp_path, 1, *BOX, "--steps", 8).tobytes()
    assert np.isfinite(again["place"]).all()
