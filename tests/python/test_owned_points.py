"""Meshes of points that no two blocks share: results have the bits of one block of an ordinary mesh with the same
points at its nodes, for any division and in any placement."""

import base64
import math
import re
import subprocess
import sys
import uuid
from pathlib import Path

import numpy as np
import owned_points
import pytest
import sidestream
from pairs import few
from programs import built

SCRIPT = Path(owned_points.__file__)
TOOL = built("SIDESTREAM_TOOL")

TASKS = """\
variables:
  t: {mesh: m, CENTERING}
  v: {mesh: m, components: 2, order: row, CENTERING}
  n: {mesh: m, type: int32, CENTERING}
derived:
  d: t + abs(gradient(t).x)
analyses:
  - statistics: {variable: t}
  - histogram: {variable: n, bins: 9}
  - histogram: {name: derived, variable: d, bins: 9, file: derived.csv}
"""
SPACE = """\
  - isosurface: {variable: t, values: [0.3], fields: [n], normals: true, file: "surface-{index}.vtp"}
  - isosurface: {name: other, variable: d, values: [0.9], file: "derived-{index}.vtp"}
  - slice: {variable: v, origin: [2, 2, 1.5], normal: [1, 0.4, -0.3], file: "slice-{index}.vtp"}
  - render: {volume: {variable: t, opacity: [0, 0.2]}, isosurface: {variable: n, values: [20]},
             size: [60, 50], file: "frame-{index}.png"}
  - probe: {variables: [t, v], line: {name: ray, from: [0.3, 0.2, 0.1], to: [6.9, 4.6, 3.1]}, file: probe.csv}
"""
FLAT = """\
  - isosurface: {variable: t, values: [0.3], fields: [n], file: "surface-{index}.vtp"}
  - render: {isosurface: {variable: t, values: [0.3]}, size: [60, 50], file: "frame-{index}.png"}
"""
OUTPUTS = """\
outputs:
  - hdf5: {}
  - database: {directory: base, kind: checkpoint}
  - vtk: {variables: [t], file: "blocks-{index}.pvtKIND"}
"""


def axis(n, a):
    """Stretched coordinates."""
    return [round(i + 0.3 * math.sin(i + a), 3) for i in range(n)]


def write(folder, size, periodic, placement, kind, owned):
    """Writes a configuration. `owned`: size counts points; otherwise the mesh is an ordinary one. Outputs need servers
    that have blocks."""
    writes = owned and "partials" not in placement
    text = f"placement: {placement}\noutput: {{directory: results}}\nmeshes:\n  m: {{type: {kind}, "
    text += f"periodic: [{', '.join(periodic)}], " + ("points: owned, " if owned else "")
    closed = [n + (x in periodic) for n, x in zip(size, "xyz", strict=False)]
    if kind == "uniform":
        text += f"size: {list(size) if owned else [n - 1 for n in closed]}, spacing: 1}}\n"
    else:
        lines = (f"{x}: {axis(n, a)}" for a, (n, x) in enumerate(zip(closed, "xyz", strict=False)))
        text += f"coordinates: {{{', '.join(lines)}}}}}\n"
    tasks = TASKS.replace(", CENTERING", "" if owned else ", centering: node")
    tasks = tasks.replace("gradient(t).x", "gradient(t)") if len(size) == 1 else tasks
    tasks += SPACE if len(size) == 3 else FLAT if len(size) == 2 else ""
    folder.mkdir()
    (folder / "run.yaml").write_text(
        text + tasks + (OUTPUTS.replace("KIND", kind[0].replace("u", "i")) if writes else "")
    )


def run(folder, ranks, size, periodic, blocks, *how, seed=5, beside=()):
    """Runs the program and, with `beside`, processes of the tool next to it: their number and its command."""
    others = None
    if beside:
        line = ["mpirun", "--oversubscribe", "-n", str(beside[0]), TOOL, beside[1], "run.yaml"]
        others = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        printed = run_program(folder, ranks, size, periodic, blocks, *how, seed=seed)
        if others:
            printed += others.communicate(timeout=100)[0]
            assert others.returncode == 0, printed
    finally:
        if others:
            others.kill()
    return printed


def run_program(folder, ranks, size, periodic, blocks, *how, seed):
    command = ["mpirun", "--oversubscribe", "-n", str(ranks), sys.executable, SCRIPT, "run.yaml"]
    command += ["x".join(str(n) for n in size), periodic or "-", str(blocks), str(seed), *how]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=150)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout + found.stderr


def read_block(path):
    """The first point of a block in a file of VTK, and the values of `t`: base64, after the number of bytes."""
    text = path.read_text(encoding="utf-8")
    extent = [int(n) for n in re.search(r'<Piece Extent="([^"]*)"', text)[1].split()]
    coded = re.search(r'Name="t"[^>]*>\s*([^<\s]*)', text)[1]
    shape = [extent[2 * a + 1] - extent[2 * a] + 1 for a in range(3)]
    values = np.frombuffer(base64.b64decode(coded)[-8 * int(np.prod(shape)) :], np.float64)
    return extent[::2], values.reshape(shape[::-1]).T


def results(folder, *stems):
    found = {}
    for path in sorted((folder / "results").iterdir()):
        if path.suffix in (".vtp", ".png", ".csv", ".vti") and path.name.startswith(stems):
            found[path.name] = re.sub(rb"^#.*\n", b"", path.read_bytes(), flags=re.M)
    return found


GEOMETRY = ("surface", "slice", "frame", "probe")
COUNTED = ("statistics", "histogram", "derived")


def check_files(folder, size):
    """HDF5 files and databases have each point once, and no plane between blocks."""
    opened = [sidestream.open(folder / "results/base", cycle=1)]
    opened.append(sidestream.open(folder / "results/fields-000001.h5"))
    for data in opened:
        wave, vector, whole = owned_points.values(size, 1)
        np.testing.assert_array_equal(np.asarray(data["t"]).T, wave)
        np.testing.assert_array_equal(np.asarray(data["v"]), vector)
        np.testing.assert_array_equal(np.asarray(data["n"]).T, whole)


def check_blocks(folder, size, periodic, blocks):
    """VTK's files have blocks with the plane beyond their own points, so that there are no gaps."""
    whole = owned_points.closed(owned_points.values(size, 1)[0], size, periodic)
    whole = whole.reshape(whole.shape + (1,) * (3 - len(size)))
    paths = list((folder / "results").glob("blocks-1/*.vt?"))
    assert len(paths) >= blocks
    covered = np.zeros(whole.shape, bool)
    for path in paths:
        lo, found = read_block(path)
        part = tuple(slice(low, low + n) for low, n in zip(lo, found.shape, strict=True))
        np.testing.assert_array_equal(found, whole[part])
        covered[part] = True
    assert covered.all()
    cells = sum(np.prod([max(n - 1, 1) for n in read_block(path)[1].shape]) for path in paths)
    assert cells == np.prod([max(n - 1, 1) for n in whole.shape])


CASES = {
    "space": ((9, 7, 6), "", "uniform"),
    "periodic": ((9, 7, 6), "xz", "uniform"),
    "torus": ((6, 5, 4), "xyz", "rectilinear"),
    "stretched": ((8, 6, 7), "y", "rectilinear"),
    "flat": ((11, 8), "y", "uniform"),
    "line": ((23,), "", "uniform"),
    "ring": ((23,), "x", "uniform"),
}
PLACES = {
    "inline-1": ("inline", 1, 5),
    "inline-3": ("inline", 3, 7),
    "inline-5": ("inline", 5, 3),  # ranks without blocks
    "cores": ("{mode: cores, per_node: 2, buffer: 8 MiB}", 5, 6),
    "nodes": ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5, 7),
    "split": ("{mode: nodes, servers: 3, buffer: 8 MiB, partitioner: balanced}", 5, 2),
    "forward": ("{mode: nodes, servers: 2, buffer: 8 MiB, forward: blocks}", 5, 6),
    "partials": ("{mode: nodes, servers: 1, buffer: 8 MiB, forward: partials}", 5, 6),
    "sidecar": ("{mode: sidecar, buffer: 8 MiB, per_node: 2, session: SESSION}", 3, 5),
    "job": ("{mode: job, per_node: 1, buffer: 8 MiB, stream: {directory: streams, engine: files}}", 4, 6),
    "groups": ("{mode: nodes, buffer: 8 MiB, groups: {first: 1, rest: 2}}", 6, 7),
}
# Processes that run next to the program: their number, and the command of the tool.
BESIDE = {"sidecar": (2, "serve"), "job": (2, "endpoint")}


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """Results of ordinary meshes in one block, made once for each case."""
    made = {}

    def of(case):
        if case not in made:
            size, periodic, kind = CASES[case]
            folder = tmp_path_factory.mktemp("reference") / case
            write(folder, size, periodic, "inline", kind, owned=False)
            run(folder, 1, size, periodic, 1, "shared")
            made[case] = folder
        return made[case]

    return of


def put_groups(file):
    """Gives every task a group, in turn."""
    lines = file.read_text().splitlines()
    tasks = [n for n, line in enumerate(lines) if line.startswith("  - ")]
    for turn, n in enumerate(tasks):
        group = ("first", "rest")[turn % 2]
        lines[n] = re.sub(r"^(  - \w+): \{(}?)", rf"\1: {{group: {group}, \2", lines[n])
    file.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("case", "place"),
    few(
        CASES,
        PLACES,
        kept=[("space", "nodes"), ("torus", "job")],
    ),
)
def test_results(tmp_path, references, case, place):
    size, periodic, kind = CASES[case]
    placement, ranks, blocks = PLACES[place]
    placement = placement.replace("SESSION", f"owned-{uuid.uuid4().hex[:12]}")
    write(folder := tmp_path / "owned", size, periodic, placement, kind, owned=True)
    if place == "groups":
        put_groups(folder / "run.yaml")
    printed = run(folder, ranks, size, periodic, blocks, beside=BESIDE.get(place, ()))
    assert "no block delivered" not in printed
    if place != "partials":
        check_files(folder, size)
        check_blocks(folder, size, periodic, blocks)
    # Points of an ordinary mesh's periodic planes count twice.
    stems = GEOMETRY if periodic else (*GEOMETRY, *COUNTED)
    expected = results(references(case), *stems)
    assert results(folder, *stems) == expected
    assert len(expected) >= (0 if len(size) == 1 else 6)


def test_restart(tmp_path):
    """A checkpoint gives the boxes of points that were declared, and the arrays of points that were published."""
    size, periodic, kind = CASES["stretched"]
    write(folder := tmp_path / "owned", size, periodic, "inline", kind, owned=True)
    run(folder, 3, size, periodic, 6)
    expected = owned_points.values(size, 2)[0]
    boxes = owned_points.divided(size, periodic, 6, 5)
    with sidestream.restart(folder / "results/base") as stored:
        assert stored["t"].hi == size and stored["t"].owned
        for block in stored.blocks("m"):
            assert (list(block.lo), list(block.hi)) == tuple(map(list, boxes[block.id]))
            part = expected[tuple(slice(low, high) for low, high in zip(block.lo, block.hi, strict=True))]
            np.testing.assert_array_equal(stored.read_block("t", block.id).T, part)
        np.testing.assert_array_equal(stored.read_box("t", [0, 0, 0], size).T, expected)


def test_neighbour_not_delivered(tmp_path):
    """Points of a block that is missing are NaN between blocks, which is said; no other point is affected."""
    size, periodic = (8, 6), ""
    write(folder := tmp_path / "owned", size, periodic, "{mode: nodes, servers: 2}", "uniform", owned=True)
    printed = run(folder, 4, size, periodic, 2, "lose", seed=1)
    (lo, hi), (low, _) = owned_points.divided(size, periodic, 2, 1)
    assert lo == [0, 0]
    axis = next(a for a in range(2) if low[a] == hi[a])
    assert printed.count("ends at points that no block delivered") == 1
    wave = owned_points.values(size, 1)[0]
    (piece,) = [path for path in (folder / "results").glob("blocks-1/*.vti") if "block-0" in path.name]
    found = read_block(piece)[1].squeeze()
    inside = np.take(wave, range(hi[axis]), axis)
    np.testing.assert_array_equal(np.take(found, range(hi[axis]), axis), inside)
    assert np.isnan(np.take(found, [hi[axis]], axis)).all()
    assert found.shape[axis] == hi[axis] + 1


WRONG = {
    "type: curvilinear, size: [4, 4, 4], coordinates: t": "expected a uniform or rectilinear one",
    "size: [9, 7, 6], refinement: [2]": "expected one level",
    "size: [9, 1, 6]": "one point along y",
}


@pytest.mark.parametrize("mesh", WRONG)
def test_refused(tmp_path, mesh):
    path = tmp_path / "run.yaml"
    path.write_text(
        f"meshes: {{m: {{{mesh}, points: owned}}}}\nvariables: {{t: {{mesh: m, centering: node, components: 3}}}}\n"
    )
    found = subprocess.run([TOOL, "check", path], capture_output=True, text=True, timeout=60)
    assert found.returncode != 0
    assert WRONG[mesh] in found.stdout + found.stderr
