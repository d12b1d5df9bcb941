"""An analysis in C from a plug-in, with options, halo, two passes and a table of any length, is the same in every
placement."""

import csv
import subprocess
from pathlib import Path

import numpy as np
import pytest
from job_support import endpoint, simulation, write_configuration
from programs import built
from sidecar_support import Sidecar
from support import prepare, run

PLUGIN = built("SIDESTREAM_C_PLUGIN")
STEPS, CELLS = 2, 20
TASKS = f"""\
plugins: [{PLUGIN}]
analyses:
  - steepest: {{variable: t, fraction: 0.75}}
  - steepest: {{name: of-nodes, variable: p, axis: x, file: "nodes-{{index:02}}.csv"}}
"""
FILES = ("steepest.csv", "nodes-00.csv", "nodes-01.csv")
OPTIONS = [f"steps={STEPS}", "blocks=2", "ghosts=1"]


def rows_of(path):
    """A table's columns, without those that identify iterations."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {name: np.array([float(row[name]) for row in rows]) for name in ("layer", "steepest", "points")}


def by_hand(step):
    """For each layer of t across z: the greatest difference between neighbours, and points with 3/4 of it or more."""
    x = (np.arange(CELLS) + 0.5) / CELLS
    i, j, k = x[:, None, None], x[None, :, None], x[None, None, :]
    time = 0.1 * step
    t = np.sin(6.3 * i + time) * np.cos(4.1 * j) + 0.7 * np.sin(5.2 * k - 0.5 * time) + 0.1 * i * j
    slope = np.zeros_like(t)
    for axis in range(3):
        differences = np.abs(np.diff(t, axis=axis))
        for pad in ((1, 0), (0, 1)):
            widths = [(0, 0)] * 3
            widths[axis] = pad
            slope = np.maximum(slope, np.pad(differences, widths))
    highest = slope.max(axis=(0, 1))
    return highest, (slope >= 0.75 * highest).sum(axis=(0, 1))


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", TASKS, [f"steps={STEPS}"])
    assert done.status == 0, done.text
    return {name: (done.results / name).read_bytes() for name in FILES}


def check(results, reference):
    for name, content in reference.items():
        assert (Path(results) / name).read_bytes() == content, f"{name} differs"


def test_as_calculated(tmp_path):
    done = run(tmp_path, 3, "inline", TASKS, OPTIONS)
    assert done.status == 0, done.text
    found = rows_of(done.results / "steepest.csv")
    assert len(found["layer"]) == STEPS * CELLS
    for step in range(STEPS):
        part = slice(step * CELLS, (step + 1) * CELLS)
        highest, points = by_hand(step)
        np.testing.assert_array_equal(found["layer"][part], np.arange(CELLS))
        np.testing.assert_allclose(found["steepest"][part], highest, rtol=1e-12)
        np.testing.assert_array_equal(found["points"][part], points)
    assert len(rows_of(done.results / "nodes-00.csv")["layer"]) == CELLS + 1


@pytest.mark.keep(3)
@pytest.mark.parametrize(
    ("ranks", "placement"),
    [
        (2, "inline"),
        (4, "{mode: cores, buffer: 32 MiB, per_node: 1}"),
        (5, "{mode: cores, buffer: 32 MiB, per_node: 2}"),
        (4, "{mode: nodes, buffer: 32 MiB, servers: 1}"),
        (5, "{mode: nodes, buffer: 32 MiB, servers: 2}"),
        (5, "{mode: nodes, servers: 1, buffer: 32 MiB, forward: blocks}"),
        (5, "{mode: nodes, servers: 1, buffer: 32 MiB, forward: partials}"),
        # Two forwarders report to one server, and nobody to the others.
        (6, "{mode: nodes, servers: 1, buffer: 32 MiB, forward: partials, per_node: 2}"),
        (7, "{mode: nodes, servers: 3, buffer: 32 MiB, forward: partials, per_node: 1}"),
        (8, "{mode: nodes, servers: 2, buffer: 32 MiB, forward: partials, per_node: 1, pretend_nodes: 2}"),
    ],
)
def test_placements(tmp_path, reference, ranks, placement):
    done = run(tmp_path, ranks, placement, TASKS, OPTIONS)
    assert done.status == 0, done.text
    check(done.results, reference)


def test_sidecar(tmp_path, reference):
    with Sidecar(tmp_path, TASKS, per_node=2) as sidecar:
        servers = sidecar.serve(2)
        assert sidecar.start(3, *OPTIONS).wait() == 0, sidecar.simulation.text()
        assert servers.wait() == 0, servers.text()
        check(sidecar.results, reference)


def test_job(tmp_path, reference):
    write_configuration(tmp_path, stream="engine: files", tasks=TASKS)
    with simulation(tmp_path, 3, OPTIONS) as clients, endpoint(tmp_path, 2) as readers:
        status, text = clients.finish()
        assert status == 0, text
        status, text = readers.finish()
        assert status == 0, text
    check(tmp_path / "results", reference)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("variable: t, fraction: 2", "found '2' for 'fraction', expected a number from 0 to 1"),
        ("variable: t, axes: x", "did you mean 'axis'?"),
        ("axis: x", "found no 'variable'"),
    ],
)
def test_options_are_checked(tmp_path, options, says):
    done = run(tmp_path, 2, "inline", f"plugins: [{PLUGIN}]\nanalyses: [steepest: {{{options}}}]\n")
    assert done.status != 0
    assert says in done.text


def test_what_create_refuses_has_its_place(tmp_path):
    command, _ = prepare(tmp_path, 1, "inline", "", [])
    file = Path(command[4])
    text = file.read_text().replace("size: [$n, $n, $n]", "size: [8, 8]").replace(", spacing: [$h, $h, $h]", "")
    file.write_text(text + f"plugins: [{PLUGIN}]\nanalyses: [steepest: {{variable: t}}]\n")
    done = subprocess.run(
        [built("SIDESTREAM_TOOL"), "check", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "found the axis z and the variable 't' on a mesh of 2 dimensions" in done.stderr
    assert "run.yaml:" in done.stderr
