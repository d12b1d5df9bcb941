"""The blast with Sidestream: the same tables in every placement, and restarts that keep every bit."""

import csv
import math
from pathlib import Path

import pytest
from blasting import COUPLED, Leaves, dump, run, succeed

SHIPPED = Path(__file__).resolve().parents[2] / "simulations" / "blast" / "run.yaml"
PROBLEM = ["octant", "--least", 2, "--most", 4, "--end", 1]
TABLES = """
placement: {placement}
output: {{directory: {directory}}}
analyses:
  - statistics: {{variable: density}}
  - statistics: {{variable: velocity, component: 1, file: velocity.csv}}
  - statistics: {{variable: leaf_state, component: 4, file: energy.csv}}
  - histogram: {{variable: pressure, bins: 16}}
"""
CHECKPOINTS = """
placement: {placement}
output: {{directory: {directory}}}
outputs:
  - database: {{directory: restart, kind: checkpoint, variables: [leaf_middle, leaf_level, leaf_state]}}
"""


def write(folder, text, placement="inline", directory="out"):
    file = folder / f"{directory}.yaml"
    file.write_text(text.format(placement=placement, directory=folder / directory))
    return file


def tables(folder, placement, ranks, directory, steps=9):
    file = write(folder, TABLES, placement, directory)
    said = succeed(ranks, *PROBLEM, "--steps", steps, "--every", 3, "--sidestream", file, program=COUPLED)
    assert f"{steps // 3 + 1} iterations, {steps // 3 + 1} delivered." in said
    names = ("statistics.csv", "velocity.csv", "energy.csv", "histogram.csv")
    return {name: (folder / directory / name).read_bytes() for name in names}


def test_statistics_are_those_of_the_leaves(tmp_path):
    found = tables(tmp_path, "inline", 3, "out")
    for row, steps in enumerate((0, 3, 6, 9)):
        leaves = Leaves(dump(tmp_path, 1, *PROBLEM, "--steps", steps))
        for name, values in (
            ("statistics.csv", leaves.density),
            ("velocity.csv", leaves.velocity[:, 1]),
            ("energy.csv", leaves.energy),
        ):
            line = list(csv.DictReader(found[name].decode().splitlines()))[row]
            assert int(line["cycle"]) == steps and int(line["count"]) == len(values)
            assert float(line["minimum"]) == values.min() and float(line["maximum"]) == values.max()
            assert float(line["mean"]) == pytest.approx(math.fsum(values) / len(values), rel=1e-13, abs=1e-15)


def test_the_same_bytes_in_every_placement(tmp_path):
    reference = tables(tmp_path, "inline", 1, "reference")
    cases = [
        ("inline", 2),
        ("inline", 5),
        ("{mode: cores, per_node: 1}", 4),
        ("{mode: nodes, servers: 2}", 5),
    ]
    for number, (placement, ranks) in enumerate(cases):
        assert tables(tmp_path, placement, ranks, f"case{number}") == reference, placement


@pytest.mark.parametrize(("wrote", "placement"), [(1, "inline"), (3, "inline"), (4, "{mode: cores, per_node: 1}")])
def test_restarts_on_any_number_of_ranks_keep_every_bit(tmp_path, wrote, placement):
    whole = dump(tmp_path, 2, *PROBLEM, "--steps", 21)
    file = write(tmp_path, CHECKPOINTS, placement)
    # An odd step: the tree is adapted next but one.
    succeed(wrote, *PROBLEM, "--steps", 11, "--sidestream", file, program=COUPLED)
    checkpoints = tmp_path / "out" / "restart"
    for ranks in (1, 2, 3, 5, 8):
        left = dump(tmp_path, ranks, *PROBLEM, "--steps", 21, "--restart", checkpoints, program=COUPLED)
        assert left == whole, ranks


def test_a_restart_goes_on_publishing(tmp_path):
    whole = tables(tmp_path, "inline", 2, "whole")
    file = write(tmp_path, CHECKPOINTS, directory="first")
    succeed(3, *PROBLEM, "--steps", 4, "--every", 4, "--sidestream", file, program=COUPLED)
    file = write(tmp_path, TABLES, directory="second")
    succeed(2, *PROBLEM, "--steps", 9, "--every", 3, "--restart", tmp_path / "first" / "restart", "--sidestream", file,
            program=COUPLED)  # fmt: skip
    first, last = (
        text.decode().splitlines()
        for text in (whole["statistics.csv"], (tmp_path / "second" / "statistics.csv").read_bytes())
    )
    columns = first[0].split(",")
    assert last[0] == first[0] and len(last) == 3

    def values(line):  # the number of the iteration begins anew
        return {name: value for name, value in zip(columns, line.split(","), strict=True) if name != "iteration"}

    assert [values(line) for line in last[1:]] == [values(line) for line in first[3:]]


def test_the_shipped_configuration(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(SHIPPED.read_text().replace("directory: results", f"directory: {tmp_path / 'results'}"))
    arguments = ["sedov", "--least", 2, "--most", 4, "--steps", 12, "--every", 2]
    succeed(3, *arguments, "--sidestream", file, program=COUPLED)
    results = tmp_path / "results"
    assert len((results / "pressure.csv").read_text().splitlines()) == 8
    assert list((results / "data").glob("context-*")) and list(results.glob("fields*"))
    again = dump(tmp_path, 2, *arguments[:-4], "--steps", 15, "--restart", results / "restart", program=COUPLED)
    assert again == dump(tmp_path, 1, *arguments[:-4], "--steps", 15)


def test_mistakes(tmp_path):
    done = run(2, *PROBLEM, "--restart", tmp_path, program=COUPLED)
    assert done.returncode == 1
    assert done.stderr.count("blast: ") == 1 and str(tmp_path) in done.stderr
