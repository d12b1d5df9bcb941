"""Analyses in Python on servers, for programs in C++ and in Python: right, and the same bytes in every placement."""

import csv
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

HERE = Path(__file__).parent
TOOL, FIELD = os.environ["SIDESTREAM_TOOL"], os.environ["SIDESTREAM_FIELD_PROGRAM"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
N, STEPS, CLIENTS = 8, 2, 2
OPTIONS = [f"grid={N}", f"steps={STEPS}", "blocks=2"]
PROGRAMS = {"C++": [FIELD], "Python": [sys.executable, str(HERE / "published.py")]}

VARIABLES = """\
meshes: {grid: {type: uniform, size: [$n, $n, $n], spacing: [$h, $h, $h]}}
variables:
  t: {mesh: grid, type: float64, centering: cell, unit: K}
  p: {mesh: grid, type: float32, centering: node, components: 2, order: row}
"""
TASKS = """\
analyses:
  - python: {name: blocks, variables: [t, p], script: good.py, call: blocks, file: blocks.csv,
             arguments: {scale: 2, label: "a text"}}
  - python: {name: picture, variables: [t, p], script: good.py, call: picture, whole: true,
             file: ["picture-{index}.png", "picture-{index}.h5", picture.csv]}
  - python: {name: steepest, variables: t, script: good.py, call: Steepest, halo: 1, arguments: {fraction: 0.5},
             file: "steepest-{index}.csv"}
  - python: {name: names, variables: t, script: good.py, call: names, whole: true, file: names.csv}
  - statistics: {variable: t}
"""
FILES = ["blocks.csv", "picture.csv", "statistics.csv"] + [
    f"{name}-{step}.{ending}"
    for step in range(STEPS)
    for name, ending in (("picture", "png"), ("picture", "h5"), ("steepest", "csv"))
]


class Folder:
    """A folder with a configuration and its scripts, and functions to run programs with it."""

    def __init__(self, folder, tasks=TASKS, placement="inline", variables=VARIABLES):
        self.results = folder / "results"
        self.file = folder / "run.yaml"
        for script in (HERE / "scripts").glob("*.py"):
            shutil.copy(script, folder)
        self.file.write_text(f"placement: {placement}\noutput: {{directory: {self.results}}}\n{variables}{tasks}")

    def run(self, ranks, program="C++", options=OPTIONS, beside=(), **environment):
        """Runs the simulation, and `beside` at the same time. Returns the output."""
        other = (
            subprocess.Popen(beside, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) if beside else None
        )
        try:
            command = [MPIRUN, "-n", str(ranks), *PROGRAMS[program], str(self.file), *options]
            environment = {**os.environ, **environment}
            if program == "C++":
                del environment["PYTHONPATH"]  # servers find what they need beside the library
            done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False, env=environment)
            text = done.stdout + done.stderr
            if other:
                text += other.communicate(timeout=60)[0]
                assert other.returncode == 0, text
        finally:
            if other and other.poll() is None:
                other.kill()
        assert done.returncode == 0, text
        return text

    def check(self):
        """Runs `sidestream check`. Returns its status and output."""
        command = [TOOL, "check", "--set", "n=8", "--set", "h=0.125", str(self.file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The analysis runs on the simulation's ranks, which have two blocks each."""
    folder = Folder(tmp_path_factory.mktemp("reference"))
    folder.run(CLIENTS)
    return folder.results


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def field(at, step):
    time, x, y, z = 0.1 * step, at[None, None, :], at[None, :, None], at[:, None, None]
    return np.sin(6.3 * x + time) * np.cos(4.1 * y) + 0.7 * np.sin(5.2 * z - 0.5 * time) + 0.1 * x * y


def test_rows_of_blocks(reference):
    rows = rows_of(reference / "blocks.csv")
    assert list(rows[0]) == ["iteration", "cycle", "time", "block", "low", "points", "third", "ends", "label"]
    assert [(int(r["iteration"]), int(r["block"])) for r in rows] == [
        (s, b) for s in range(STEPS) for b in (0, 0, 1, 1, 2, 2, 3, 3)
    ]
    assert sum(int(r["points"]) for r in rows) == STEPS * 2 * (N + 1) ** 3  # each node once; a block has two rows
    h, layers = 1 / N, N // 4
    for row in rows:
        k0 = (3 - int(row["block"])) * layers  # ids run against the slabs
        block = field((np.arange(N) + 0.5) * h, int(row["iteration"]))[k0 : k0 + layers]
        assert float(row["low"]) == pytest.approx(2 * block.min(), rel=1e-12)
        i = np.arange(N + 1)
        k = i[k0 : k0 + layers + 1]
        assert int(row["third"]) == (i[:, None, None] + 2 * i[None, :, None] + 3 * k).sum()
        assert row["label"] == "a text"
    first = [float(r["ends"]) for r in rows[6:8]]  # block 3 begins at k = 0
    assert first == [0.5 * h + (N - 0.5) * h, 0.5 * h + (layers - 0.5) * h]


def test_the_whole_mesh(reference):
    at = (np.arange(N) + 0.5) / N
    for step in range(STEPS):
        with h5py.File(reference / f"picture-{step}.h5") as file:
            np.testing.assert_allclose(file["middle"], field(at, step)[N // 2], rtol=1e-12)
            assert file["nodes"].shape == (N + 1, N + 1, N + 1, 2)
            i = np.arange(N + 1)
            np.testing.assert_array_equal(
                file["nodes"][..., 1], i[:, None, None] + 2 * i[None, :, None] + 3 * i[None, None, :]
            )
            assert np.asarray(file["known"]).all()
        assert rows_of(reference / "names.csv")[step]["names"] == "t"
        row = rows_of(reference / "picture.csv")[step]
        assert int(row["hits"]) == (field(at, step) > 0).sum()
        assert float(row["time"]) == float(row["seconds"]) == pytest.approx(0.1 * step)
        with Image.open(reference / f"picture-{step}.png") as image:
            assert image.size == (120, 90)
            assert len(image.convert("RGB").getcolors(120 * 90)) > 10  # the picture is not blank


def test_two_passes_and_a_halo(reference):
    at = (np.arange(N) + 0.5) / N
    for step in range(STEPS):
        t = field(at, step)
        slope = np.zeros_like(t)
        for axis in range(3):
            difference = np.abs(np.diff(t, axis=axis))
            for pad in ((1, 0), (0, 1)):
                widths = [(0, 0)] * 3
                widths[axis] = pad
                slope = np.maximum(slope, np.pad(difference, widths))
        rows = rows_of(reference / f"steepest-{step}.csv")
        highest = slope.max(axis=(1, 2))
        np.testing.assert_allclose([float(r["steepest"]) for r in rows], highest, rtol=1e-12)
        counted = (slope >= 0.5 * highest[:, None, None]).sum(axis=(1, 2))
        np.testing.assert_array_equal([int(r["points"]) for r in rows], counted)
        np.testing.assert_allclose([float(r["mean"]) for r in rows], t.mean(axis=(1, 2)), rtol=1e-10, atol=1e-14)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("program", "servers", "placement"),
    [
        ("Python", 0, "inline"),
        ("Python", 1, "{mode: cores, buffer: 32 MiB}"),
        ("C++", 2, "{mode: cores, buffer: 32 MiB, per_node: 2}"),
        ("C++", 3, "{mode: nodes, buffer: 32 MiB, servers: 3}"),
        ("Python", 2, "{mode: nodes, buffer: 32 MiB, servers: 2}"),
        ("C++", 2, "{mode: nodes, servers: 1, buffer: 32 MiB, forward: partials}"),
        ("Python", 0, "sidecar"),
        ("C++", 1, "job"),
        ("Python", 1, "job"),
        ("C++", 0, "sidecar"),
    ],
)
def test_placements(tmp_path, reference, program, servers, placement):
    beside = placement
    if placement == "sidecar":
        placement = f"{{mode: sidecar, buffer: 32 MiB, per_node: 2, session: test-{uuid.uuid4().hex[:12]}}}"
    elif placement == "job":
        placement = f"{{mode: job, buffer: 32 MiB, stream: {{directory: {tmp_path}/streams, engine: files}}}}"
    folder = Folder(tmp_path, placement=placement)
    others = {
        "sidecar": [MPIRUN, "-n", "2", TOOL, "serve", str(folder.file)],
        "job": [MPIRUN, "-n", "2", TOOL, "endpoint", "--wait", "60", str(folder.file)],
    }
    folder.run(CLIENTS + servers, program, beside=others.get(beside, ()))
    for name in FILES:
        assert (folder.results / name).read_bytes() == (reference / name).read_bytes(), f"{name} differs"


@pytest.mark.test_all
def test_mpi4py(tmp_path):
    """The servers' communicator in a program that is not in Python, also on servers other than the first."""
    tasks = "analyses: [python: {variables: t, script: good.py, call: WithMpi, file: mpi.csv}]\n"
    folder = Folder(tmp_path, tasks, "{mode: nodes, buffer: 32 MiB, servers: 2}")
    folder.run(4)
    assert [(int(r["points"]), int(r["first"])) for r in rows_of(folder.results / "mpi.csv")] == [(N**3, 0)] * STEPS


@pytest.mark.test_all
def test_without_blocks(tmp_path):
    """One server has no blocks, some blocks have no cells, and in one iteration a variable is absent."""
    folder = Folder(
        tmp_path,
        TASKS.replace("true,", "true, arguments: {draw: false},", 1),
        "{mode: nodes, buffer: 32 MiB, servers: 2}",
    )
    text = folder.run(4, options=[*OPTIONS, "blocks=1", "empty=1", "without_p_at=1"])
    assert "Traceback" not in text, text
    assert [(r["iteration"], r["block"]) for r in rows_of(folder.results / "blocks.csv")] == [("0", "0")] * 2
    assert len(rows_of(folder.results / "statistics.csv")) == STEPS
    assert len(rows_of(folder.results / "steepest-1.csv")) == N


@pytest.mark.keep(1)
@pytest.mark.parametrize(("ranks", "placement"), [(2, "{mode: cores, buffer: 256 MiB}"), (1, "inline")])
def test_64_mib_are_not_copied(tmp_path, ranks, placement):
    """The array of an analysis is the memory in which the simulation computed it: the program's, or shared memory."""
    tasks = "analyses: [python: {variables: big, script: addresses.py, call: where, file: where.csv}]\n"
    variables = "meshes: {plane: {type: uniform, size: [2048, 4096]}}\nvariables: {big: {mesh: plane}}\n"
    folder = Folder(tmp_path, tasks, placement, variables)
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(HERE / "in_place.py"), str(folder.file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for step, row in enumerate(rows_of(folder.results / "where.csv")):
        assert int(row["bytes"]) == 1 << 26 and row["owned"] == "0" and float(row["total"]) == 2 * (step + 1)
        assert row["same" if placement == "inline" else "shared"] == "1", row
        assert int(row["more_kb"]) < 1 << 14, row


KINDS = """\
meshes:
  line: {type: uniform, size: [12]}
  plane: {type: uniform, size: [3, 12], spacing: [1, 0.5]}
  curved: {type: curvilinear, size: [3, 12], coordinates: xy}
  cloud: {type: points, dimensions: 3, coordinates: places}
variables:
  a: {mesh: line}
  b: {mesh: plane, type: int32, centering: node, order: row}
  c: {mesh: curved}
  xy: {mesh: curved, centering: node, components: 2}
  places: {mesh: cloud, centering: node, components: 3}
  mass: {mesh: cloud, centering: node, type: float32}
"""


@pytest.mark.keep(1)
@pytest.mark.parametrize(("ranks", "placement"), [(4, "{mode: cores, buffer: 32 MiB}"), (3, "inline")])
def test_kinds_of_meshes(tmp_path, ranks, placement):
    """One and two dimensions, row order, a mesh with coordinates, particles, and a block without any. The program
    ends without closing its session."""
    calls = {"line": "a", "plane": "b", "curved": "c", "cloud": "mass", "whole_cloud": "mass"}
    tasks = "analyses:\n" + "".join(
        f"  - python: {{variables: {variable}, script: kinds.py, call: {call}, file: {call}.csv, "
        f"halo: {int(call == 'plane')}, whole: {str(call.startswith('whole')).lower()}}}\n"
        for call, variable in calls.items()
    )
    folder = Folder(tmp_path, tasks, placement, KINDS)
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(HERE / "kinds.py"), str(folder.file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr
    found = {}
    for call in calls:
        rows = [row for row in rows_of(folder.results / f"{call}.csv") if row["iteration"] == "1"]
        found[call] = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    np.testing.assert_array_equal(found["line"]["x"], np.arange(12) + 0.5)
    np.testing.assert_array_equal(found["line"]["a"], 100 + np.arange(12))
    plane = found["plane"]
    nodes = {(x, y) for x, y in zip(plane["x"], 2 * plane["y"], strict=True)}
    assert nodes == {(i, j) for i in range(4) for j in range(13)} and len(plane["x"]) == 4 * 13  # each once
    np.testing.assert_array_equal(plane["b"], plane["x"] + 20 * plane["y"])
    inside = plane["y"] > 0
    np.testing.assert_array_equal(plane["below"][inside], plane["b"][inside] - 10)
    assert np.isnan(plane["below"][~inside]).all()
    j, i = (n.ravel() for n in np.mgrid[0:12, 0:3])
    np.testing.assert_array_equal(found["curved"]["x"], i + 0.5 + 0.5 * (j + 0.5))
    np.testing.assert_array_equal(found["curved"]["c"], j + 10 * i)
    for call in ("cloud", "whole_cloud"):
        np.testing.assert_array_equal(found[call]["mass"], [2, 3, 3])
        np.testing.assert_array_equal(found[call]["x"], [1, 2, 5])
