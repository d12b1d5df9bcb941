"""The blast with Sidestream: the same tables in every placement, and restarts that keep every bit."""

import csv
import math
import os
import uuid
from pathlib import Path

import pytest
from blasting import COUPLED, Leaves, dump, run, succeed
from mini_app import beside, without_iteration, write
from pairs import few, without

TOOL = os.environ["SIDESTREAM_TOOL"]
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
  - threshold: {{variable: density, minimum: 1.1, file: "dense-{{index}}.vtu"}}
"""
CHECKPOINTS = """
placement: {placement}
output: {{directory: {directory}}}
outputs:
  - database: {{directory: restart, kind: checkpoint, variables: [leaf_middle, leaf_level, leaf_state]}}
"""


def tables(folder, placement, ranks, directory, *more, problem=PROBLEM, steps=9, servers=None):
    file = write(folder, TABLES, placement, directory)
    arguments = [*problem, "--steps", steps, "--every", 3, "--sidestream", file, *more]
    with beside(servers and [*servers, str(file)]):
        said = succeed(ranks, *arguments, program=COUPLED)
    assert f"{steps // 3 + 1} iterations, {steps // 3 + 1} delivered." in said
    names = ("statistics.csv", "velocity.csv", "energy.csv", "histogram.csv", *(f"dense-{n}.vtu" for n in range(4)))
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


@pytest.mark.test_all
@pytest.mark.parametrize("problem", few([PROBLEM, ["turbulence", "--least", 2, "--most", 4, "--mach", 1, "--end", 1]]))
def test_the_same_bytes_in_every_placement(tmp_path, problem):
    reference = tables(tmp_path, "inline", 1, "reference", problem=problem)
    session = f"test-{uuid.uuid4().hex[:12]}"
    cases = [
        ("inline", 2, ["--blocks", 3], None),
        ("inline", 5, [], None),
        ("{mode: cores, buffer: 32 MiB, per_node: 1}", 4, [], None),
        ("{mode: nodes, buffer: 32 MiB, servers: 2}", 5, ["--blocks", 7], None),
        ("{mode: nodes, buffer: 32 MiB, servers: 2, move: all}", 4, ["--blocks", 2], None),
        ("{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks}", 5, [], None),
        (f"{{mode: sidecar, buffer: 32 MiB, session: {session}}}", 3, ["--blocks", 2], [TOOL, "serve"]),
        (f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}", 4,
         ["--blocks", 5], [TOOL, "endpoint"]),
    ]  # fmt: skip
    later = [cases[1], cases[4]]
    for number, (placement, ranks, more, servers) in enumerate(without(later, cases)):
        found = tables(tmp_path, placement, ranks, f"case{number}", *more, problem=problem, servers=servers)
        assert found == reference, placement


@pytest.mark.test_all
def test_a_restart_of_turbulence(tmp_path):
    problem = ["turbulence", "--least", 2, "--most", 4, "--end", 1, "--seed", 5]
    whole = dump(tmp_path, 2, *problem, "--steps", 15)
    succeed(3, *problem, "--steps", 8, "--sidestream", write(tmp_path, CHECKPOINTS), program=COUPLED)
    for ranks in (1, 5):
        restart = ["--steps", 15, "--restart", tmp_path / "out" / "restart"]
        assert dump(tmp_path, ranks, *problem, *restart, program=COUPLED) == whole, ranks


@pytest.mark.test_all
def test_only_trees_that_are_looked_at_move(tmp_path):
    placement = "{mode: nodes, buffer: 32 MiB, servers: 2}"
    moved = {}
    for name, task in (
        ("all", "statistics: {{variable: density}}"),
        ("some", "clip: {{variable: density, low: [0, 0, 0.5], high: [1, 1, 0.6]}}"),
        ("none", "threshold: {{variable: density, minimum: 100}}"),
    ):
        text = TABLES.split("analyses:")[0] + f"analyses:\n  - {task}\n"
        file = write(tmp_path, text, placement, name)
        succeed(5, *PROBLEM, "--steps", 3, "--blocks", 16, "--sidestream", file, program=COUPLED)
        rows = list(csv.DictReader((tmp_path / name / "movement.csv").open()))
        moved[name] = sum(int(row["bytes"]) for row in rows if row["role"] == "server")
    assert 0 == moved["none"] < moved["some"] < 0.5 * moved["all"]


@pytest.mark.parametrize(
    ("wrote", "placement"),
    few([(4, "{mode: cores, buffer: 32 MiB, per_node: 1}"), (1, "inline"), (3, "inline")], keep=0),
)
def test_restarts_on_any_number_of_ranks_keep_every_bit(tmp_path, wrote, placement):
    whole = dump(tmp_path, 2, *PROBLEM, "--steps", 21)
    file = write(tmp_path, CHECKPOINTS, placement)
    # The step is odd, and the tree is adapted two steps later.
    succeed(wrote, *PROBLEM, "--steps", 11, "--sidestream", file, program=COUPLED)
    checkpoints = tmp_path / "out" / "restart"
    for ranks in without([2, 3], [1, 2, 3, 5, 8]):
        left = dump(tmp_path, ranks, *PROBLEM, "--steps", 21, "--restart", checkpoints, program=COUPLED)
        assert left == whole, ranks


@pytest.mark.test_all
def test_a_restart_goes_on_publishing(tmp_path):
    whole = tables(tmp_path, "inline", 2, "whole")
    file = write(tmp_path, CHECKPOINTS, directory="first")
    succeed(3, *PROBLEM, "--steps", 4, "--every", 4, "--sidestream", file, program=COUPLED)
    file = write(tmp_path, TABLES, directory="second")
    succeed(2, *PROBLEM, "--steps", 9, "--every", 3, "--restart", tmp_path / "first" / "restart", "--sidestream", file,
            program=COUPLED)  # fmt: skip
    first, last = (
        without_iteration(text.decode())
        for text in (whole["statistics.csv"], (tmp_path / "second" / "statistics.csv").read_bytes())
    )
    assert last[0] == first[0] and len(last) == 3
    assert last[1:] == first[3:]


def test_the_shipped_configuration(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(SHIPPED.read_text().replace("directory: results", f"directory: {tmp_path / 'results'}"))
    arguments = ["sedov", "--least", 2, "--most", 4, "--steps", 12, "--every", 2]
    succeed(3, *arguments, "--sidestream", file, program=COUPLED)
    results = tmp_path / "results"
    assert len((results / "pressure.csv").read_text().splitlines()) == 8
    assert list((results / "data").glob("segment-*")) and list(results.glob("fields*"))
    again = dump(tmp_path, 2, *arguments[:-4], "--steps", 15, "--restart", results / "restart", program=COUPLED)
    assert again == dump(tmp_path, 1, *arguments[:-4], "--steps", 15)


def test_mistakes(tmp_path):
    done = run(2, *PROBLEM, "--restart", tmp_path, program=COUPLED)
    assert done.returncode == 1
    assert done.stderr.count("blast: ") == 1 and str(tmp_path) in done.stderr
