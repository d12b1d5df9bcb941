"""The oscillators with Sidestream: the same tables in every placement, and an orderly end."""

import csv
import signal
import subprocess

import numpy as np
import pytest
from pairs import few, pairs, without
from running import COUPLED, INPUTS, command, dump, run

CONFIGURATION = """
placement: {placement}
output: {{directory: {directory}}}
meshes:
  grid: {{type: uniform, size: [$nx, $ny, $nz], spacing: [$hx, $hy, $hz]}}
variables:
  field: {{mesh: grid, type: {type}, centering: {centering}, label: Field}}
analyses:
  - statistics: {{variable: field}}
  - histogram: {{variable: field, bins: 16}}
"""
GRID = (14, 11, 9)
SOURCES = [INPUTS / "eight.osc", "--grid", *GRID, "--dt", 0.13]
PROBLEM = [*SOURCES, "--steps", 5]


def write(folder, placement, directory="out", dtype="float64", centering="cell"):
    file = folder / "run.yaml"
    file.write_text(
        CONFIGURATION.format(placement=placement, directory=folder / directory, type=dtype, centering=centering)
    )
    return file


def tables(folder, placement, ranks, *options, directory="out", **declared):
    """The tables, as bytes, of a run that must succeed and deliver everything."""
    file = write(folder, placement, directory, **declared)
    done = run(ranks, *PROBLEM, "--sidestream", file, *options, program=COUPLED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 iterations, 5 delivered." in done.stdout
    return [(folder / directory / name).read_bytes() for name in ("statistics.csv", "histogram.csv")]


def test_statistics_are_those_of_the_field(tmp_path):
    tables(tmp_path, "inline", 2, "--blocks", 5)
    values = dump(tmp_path, 0, *PROBLEM, shape=GRID)
    with (tmp_path / "out" / "statistics.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [int(row["cycle"]) for row in rows] == list(range(5))
    for row, field in zip(rows, values, strict=True):
        assert int(row["count"]) == field.size
        assert float(row["minimum"]) == field.min()
        assert float(row["maximum"]) == field.max()
        assert float(row["mean"]) == pytest.approx(field.mean(), rel=1e-13)
        assert float(row["standard_deviation"]) == pytest.approx(field.std(), rel=1e-12)
        assert float(row["time"]) == pytest.approx(0.13 * int(row["cycle"]))


@pytest.mark.parametrize(("dtype", "centering"), few([("float64", "node"), ("float64", "cell"), ("float32", "cell")]))
def test_same_bytes_in_every_placement(tmp_path, dtype, centering):
    declared = {"dtype": dtype, "centering": centering}
    same = ["--type", dtype, "--centering", centering]
    reference = tables(tmp_path, "inline", 1, *same, **declared)
    cases = [
        ("inline", 3, ["--blocks", 7, "--ghosts", 1]),
        ("{mode: cores, buffer: 32 MiB}", 2, ["--blocks", 3]),
        ("{mode: cores, buffer: 32 MiB}", 4, ["--blocks", 2]),
        ("{mode: cores, buffer: 32 MiB}", 3, ["--blocks", 6, "--ghosts", 2, "--ghost-values", "nan", "--in-place"]),
        ("{mode: cores, buffer: 32 MiB, per_node: 2}", 5, ["--blocks", 12, "--ghosts", 1]),
        ("{mode: nodes, buffer: 32 MiB, servers: 2}", 5, ["--in-place"]),
    ]
    later = [cases[1], cases[2]]
    for number, (placement, ranks, options) in enumerate(without(later, cases)):
        directory = f"out-{number}"
        found = tables(tmp_path, placement, ranks, *same, *options, directory=directory, **declared)
        assert found == reference, (placement, ranks, options)


def test_sidestream_changes_no_value(tmp_path):
    plain = dump(tmp_path, 2, *PROBLEM, shape=GRID)
    for number, extra in enumerate(([], ["--in-place"])):
        file = write(tmp_path, "{mode: cores, buffer: 32 MiB}", f"out-{number}")
        coupled = dump(tmp_path, 3, *PROBLEM, "--sidestream", file, *extra, program=COUPLED, shape=GRID)
        assert coupled.tobytes() == plain.tobytes()


def test_placement_off_leaves_no_results(tmp_path):
    file = write(tmp_path, "off")
    done = run(2, *PROBLEM, "--sidestream", file, program=COUPLED)
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "out").glob("*.csv"))


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "ranks", "change", "sentence"),
    pairs(
        [("inline", 1), ("inline", 3), ("{mode: cores, buffer: 32 MiB}", 3)],
        [
            (("float64", "float32"), "field"),
            (("statistics:", "statistic:"), "statistic"),
            (("$hx", "$hq"), "$hq"),
        ],
        strength=1,
    ),
)
def test_bad_configuration_is_one_sentence(tmp_path, placement, ranks, change, sentence):
    file = write(tmp_path, placement)
    file.write_text(file.read_text().replace(*change))
    done = run(ranks, *PROBLEM, "--sidestream", file, program=COUPLED)
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("oscillators:")]
    assert len(lines) == 1, done.stderr
    assert sentence in lines[0]


def test_a_failing_analysis_stops_all_ranks(tmp_path):
    """The failure is reported at some later step, on any rank. Every rank ends, with one sentence."""
    for placement, ranks in [("inline", 3), ("{mode: cores, buffer: 32 MiB}", 3)]:
        file = write(tmp_path, placement)
        blocked = "  - statistics: {variable: field, file: 'blocked/{cycle}.csv'}\n"
        file.write_text(file.read_text() + blocked + "on_error: stop\n")
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "blocked").touch()
        file.write_text(file.read_text().replace("output: {", "output: {existing: replace, "))
        done = run(ranks, *SOURCES, "--steps", 100000, "--sidestream", file, program=COUPLED)
        assert done.returncode != 0
        lines = [line for line in done.stderr.splitlines() if line.startswith("oscillators:")]
        assert len(lines) == 1, done.stderr
        assert "blocked" in lines[0]


def test_environment_names_the_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDESTREAM_CONFIG", str(write(tmp_path, "inline")))
    done = run(1, *PROBLEM, program=COUPLED)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "statistics.csv").exists()


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "ranks"), [("inline", 2), ("{mode: cores, buffer: 32 MiB}", 3)])
def test_sigterm_closes_in_order(tmp_path, placement, ranks):
    """Every rank gets the signal at another moment. All that was published is delivered and written."""
    file = write(tmp_path, placement)
    options = ["--grid", 24, "--steps", 1000000, "--progress", "--sidestream", file]
    line = command(ranks, INPUTS / "eight.osc", *options, program=COUPLED)
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while "step 5 of" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGUSR1)  # mpirun passes it on and survives
        rest = process.stdout.read()
        assert process.wait(timeout=60) == 0, process.stderr.read()
    assert "stopped by a signal after step" in rest
    steps = int(rest.split("stopped by a signal after step ")[1].split()[0])
    assert f"{steps} iterations, {steps} delivered." in rest
    rows = np.genfromtxt(tmp_path / "out" / "statistics.csv", delimiter=",", names=True)
    assert len(rows) == steps
