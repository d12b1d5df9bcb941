"""The advection with Sidestream: the same tables in every placement, and restarts that keep every bit."""

import csv
import math
import os
import uuid
from pathlib import Path

import pytest
import sidestream
from advecting import COUPLED, Cells, dump, run, succeed
from mini_app import beside, without_iteration, write
from pairs import few, without

TOOL = os.environ["SIDESTREAM_TOOL"]
SHIPPED = Path(__file__).resolve().parents[2] / "simulations" / "advection" / "run.yaml"
PROBLEM = ["cylinder", "--cells", 32, "--levels", 3, "--largest", 16, "--end", 1]
TABLES = """
placement: {placement}
output: {{directory: {directory}}}
analyses:
  - statistics: {{variable: density}}
  - histogram: {{variable: density, bins: 16}}
  - threshold: {{variable: density, minimum: 0.5, file: "inside-{{index}}.vtu"}}
  - projection: {{variable: density, axis: y, file: "line-{{index}}.h5"}}
  - resample: {{variables: [density], size: [24, 24], makes: even}}
  - isosurface: {{variable: even_density, values: 0.5, file: "rim-{{index}}.vtp"}}
  - render:
      threshold: {{variable: density, minimum: 0.5}}
      patches: {{mesh: patches, colour: black}}
      size: [96, 96]
      file: "look-{{index}}.png"
"""
CHECKPOINTS = """
placement: {placement}
output: {{directory: {directory}}}
outputs:
  - database: {{directory: restart, kind: checkpoint, variables: [density]}}
"""


def results(folder):
    names = ("statistics.csv", "histogram*.csv", "inside-*.vtu", "line-*.h5", "rim-*.vtp", "look-*.png")
    found = {file.name: file.read_bytes() for name in names for file in folder.glob(name)}
    assert len(found) > 10, sorted(found)
    return found


def tables(folder, placement, ranks, directory, *more, servers=None):
    file = write(folder, TABLES, placement, directory)
    arguments = [*PROBLEM, "--steps", 24, "--every", 6, "--sidestream", file, *more]
    with beside(servers and [*servers, str(file)]):
        said = succeed(ranks, *arguments, program=COUPLED)
    assert "5 iterations, 5 delivered." in said
    return results(folder / directory)


@pytest.mark.test_all
def test_statistics_are_those_of_the_finest_cells(tmp_path):
    found = tables(tmp_path, "inline", 3, "out")
    rows = list(csv.DictReader(found["statistics.csv"].decode().splitlines()))
    for row, steps in zip(rows, (0, 6, 12, 18, 24), strict=True):
        cells = Cells(dump(tmp_path, 1, *PROBLEM, "--steps", steps), 32)
        values = cells.density[cells.counted]
        assert (int(row["cycle"]), int(row["count"])) == (steps, len(values))
        assert (float(row["minimum"]), float(row["maximum"])) == (values.min(), values.max())
        assert float(row["sum"]) == math.fsum(values)


@pytest.mark.test_all
def test_the_same_bytes_in_every_placement(tmp_path):
    reference = tables(tmp_path, "inline", 1, "reference")
    session = f"test-{uuid.uuid4().hex[:12]}"
    cases = [
        ("inline", 2, [], None),
        ("inline", 9, [], None),  # some ranks have no patch
        ("{mode: cores, buffer: 32 MiB, per_node: 1}", 4, ["--ghosts"], None),
        ("{mode: nodes, buffer: 32 MiB, servers: 2}", 5, [], None),
        ("{mode: nodes, buffer: 32 MiB, servers: 3, partitioner: {replicated: {copies: 2}}}", 5, ["--ghosts"], None),
        ("{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks}", 5, [], None),
        ("{mode: nodes, buffer: 32 MiB, servers: 2, move: all}", 4, [], None),
        (f"{{mode: sidecar, buffer: 32 MiB, session: {session}, when_full: wait}}", 3, [], [TOOL, "serve"]),
        (
            f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}",
            3,
            [],
            [TOOL, "endpoint"],
        ),
    ]
    later = [cases[0], cases[6]]
    for number, (placement, ranks, more, servers) in enumerate(without(later, cases)):
        assert tables(tmp_path, placement, ranks, f"case{number}", *more, servers=servers) == reference, placement


@pytest.mark.test_all
@pytest.mark.parametrize(
    ("wrote", "placement"), few([(4, "{mode: nodes, buffer: 32 MiB, servers: 1}"), (1, "inline"), (3, "inline")])
)
def test_restarts_on_any_number_of_ranks_keep_every_bit(tmp_path, wrote, placement):
    whole = dump(tmp_path, 2, *PROBLEM, "--steps", 45)
    file = write(tmp_path, CHECKPOINTS, placement)
    # This checkpoint lies between two changes of the patches.
    succeed(wrote, *PROBLEM, "--steps", 22, "--every", 11, "--sidestream", file, program=COUPLED)
    checkpoints = tmp_path / "out" / "restart"
    for ranks in without([2, 3], [1, 2, 3, 5, 8]):
        left = dump(tmp_path, ranks, *PROBLEM, "--steps", 45, "--restart", checkpoints, program=COUPLED)
        assert left == whole, ranks


@pytest.mark.test_all
def test_a_restart_in_three_dimensions(tmp_path):
    problem = ["gaussian", "--dimensions", 3, "--cells", 16, "--levels", 2, "--ratio", 4, "--end", 1]
    whole = dump(tmp_path, 2, *problem, "--steps", 13)
    file = write(tmp_path, CHECKPOINTS)
    succeed(2, *problem, "--steps", 6, "--ghosts", "--sidestream", file, program=COUPLED)
    assert dump(tmp_path, 3, *problem, "--steps", 13, "--restart", tmp_path / "out" / "restart",
                program=COUPLED) == whole  # fmt: skip


@pytest.mark.test_all
def test_a_restart_goes_on_publishing(tmp_path):
    whole = tables(tmp_path, "inline", 2, "whole")
    file = write(tmp_path, CHECKPOINTS, directory="first")
    succeed(3, *PROBLEM, "--steps", 12, "--every", 12, "--sidestream", file, program=COUPLED)
    file = write(tmp_path, TABLES, "{mode: nodes, buffer: 32 MiB, servers: 2}", "second")
    succeed(4, *PROBLEM, "--steps", 24, "--every", 6, "--restart", tmp_path / "first" / "restart", "--sidestream", file,
            program=COUPLED)  # fmt: skip
    first, last = (
        without_iteration(text.decode())
        for text in (whole["statistics.csv"], (tmp_path / "second" / "statistics.csv").read_bytes())
    )
    assert last[0] == first[0] and len(last) == 3
    assert last[1:] == first[4:]


def test_patches_in_python(tmp_path):
    """The database has the values of the simulation's dump, level by level. Blocks come, go and move to other ranks."""
    text = TABLES.split("analyses:")[0] + "outputs: [database: {{directory: data, kind: post, variables: [density]}}]\n"
    file = write(tmp_path, text)
    cells = Cells(dump(tmp_path, 3, *PROBLEM, "--steps", 48, "--every", 12, "--sidestream", file, program=COUPLED), 32)
    opened = sidestream.open(tmp_path / "out" / "data", into="levels", mesh="patches", cycle=48)
    for number, level in enumerate(opened):
        here = (cells.level == number) & cells.counted
        counted = ~level["refined"] & (level["owner"] >= 0)
        found = {
            (i, j): value for i, j, value in zip(*(level[name][counted] for name in ("i", "j", "density")), strict=True)
        }
        expected = {(i, j): value for (i, j, _), value in zip(cells.at[here], cells.density[here], strict=True)}
        assert found == expected


def test_the_shipped_configuration(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(SHIPPED.read_text().replace("directory: results", f"directory: {tmp_path / 'results'}"))
    arguments = ["gaussian", "--cells", 32, "--steps", 40, "--every", 10]
    succeed(3, *arguments, "--sidestream", file, program=COUPLED)
    assert len((tmp_path / "results" / "statistics.csv").read_text().splitlines()) == 6
    again = dump(tmp_path, 2, *arguments[:-4], "--steps", 60, "--restart", tmp_path / "results" / "restart",
                 program=COUPLED)  # fmt: skip
    assert again == dump(tmp_path, 1, *arguments[:-4], "--steps", 60)


@pytest.mark.test_all
def test_mistakes(tmp_path):
    done = run(2, *PROBLEM, "--restart", tmp_path, program=COUPLED)
    assert done.returncode == 1
    assert done.stderr.count("advection: ") == 1 and str(tmp_path) in done.stderr
    file = write(tmp_path, CHECKPOINTS)
    succeed(1, *PROBLEM, "--steps", 2, "--sidestream", file, program=COUPLED)
    done = run(2, "cylinder", "--cells", 64, "--restart", tmp_path / "out" / "restart", program=COUPLED)
    assert done.returncode == 1 and done.stderr.count("that run had other --cells") == 1
