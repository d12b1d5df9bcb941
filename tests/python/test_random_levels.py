"""Blocks that analyses by values need on random refinement levels: what moves is hardly more than what has cells at
the surface, and the results are those of all blocks."""

import csv
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import random_levels
from pairs import few
from random_levels import MISSING, STEPS, World

PROGRAM = Path(random_levels.__file__)
TOOL = os.environ["SIDESTREAM_TOOL"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
SHAPES = [[3, 2], [3, 4], [2, 2], [2, 4], [1, 2], [1, 4]]  # dimensions and ratio
LINES = """\
  - threshold: {variable: t, minimum: LEAST, file: "part-{index}.vtu"}
  - threshold: {name: nodes, variable: n, maximum: -LEAST, file: "nodes-{index}.vtu"}
"""
CUT = """\
  - isosurface: {variable: t, values: VALUES, fields: [t], file: "surface-{index}.vtp"}
  - isosurface: {name: averaged, variable: n, values: VALUES, file: "averaged-{index}.vtp"}
  - slice: {variable: t, normal: NORMAL, origin: ORIGIN, file: "slice-{index}.vtp"}
"""
SEEN = """\
  - isosurface: {name: lit, variable: t, values: VALUES, normals: true, file: "lit-{index}.vtp"}
  - render: {volume: {variable: t, range: [0, 3], opacity: [0, 0, 1]}, size: [60, 50], file: "volume-{index}.png"}
  - render: {name: both, volume: {variable: n, range: [0, 3], opacity: [0, 0.5, 0]}, size: [60, 50],
             file: "inside-{index}.png"}
"""
ENDINGS = (".vtp", ".vtu", ".png")


def tasks(dimensions):
    text = "analyses:\n" + LINES + (CUT if dimensions > 1 else "") + (SEEN if dimensions > 2 else "")
    surfaces = World(dimensions, 2, 0).surfaces()
    text = text.replace("VALUES", str(surfaces)).replace("LEAST", str(surfaces[0]))
    return text.replace("NORMAL", str([1, 0.4, 0.3 if dimensions > 2 else 0])).replace(
        "ORIGIN", str([0.6, 0.5, 0.4 if dimensions > 2 else 0])
    )


def command(results, placement, shape, ranks, text):
    dimensions, ratio = map(str, shape)
    return [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), str(results), placement, dimensions, ratio, text]


def run(results, placement, shape, ranks, text, beside=None):
    endpoint = subprocess.Popen(beside) if beside else None
    try:
        line = command(results, placement, shape, ranks, text)
        done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert endpoint is None or endpoint.wait(60) == 0
    finally:
        if endpoint and endpoint.poll() is None:
            endpoint.kill()
    return {path.name: path.read_bytes() for path in results.glob("*-?.*") if path.suffix in ENDINGS}


def moved(results, prefix=""):
    """Blocks that came to servers, by step."""
    blocks = defaultdict(int)
    with (results / f"{prefix}movement.csv").open() as file:
        for row in csv.DictReader(file):
            if row["role"] == "server":
                blocks[int(row["iteration"])] += int(row["blocks"])
    return [blocks[step] for step in range(STEPS)]


def stream(folder):
    return f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: '{folder}', engine: files}}}}"


def endpoint(folder, results, shape, text, ranks):
    path = folder / "endpoint.yaml"
    head = f"placement: {stream(folder)}\noutput: {{directory: '{results}'}}\n"
    path.write_text(head + random_levels.declared(*shape) + text)
    return [MPIRUN, "-n", str(ranks), TOOL, "endpoint", str(path)]


def name_of(shape):
    return f"{shape[0]}-{shape[1]}"


@pytest.fixture(scope="module", params=few(SHAPES), ids=name_of)
def shape(request):
    return request.param


# In one dimension there are no surfaces.
with_surfaces = pytest.mark.parametrize(
    "shape", few([shape for shape in SHAPES if shape[0] > 1]), ids=name_of, indirect=True, scope="module"
)


@pytest.fixture(scope="module")
def reference(shape, tmp_path_factory):
    results = tmp_path_factory.mktemp("all") / "results"
    text = tasks(shape[0])
    found = run(results, "{mode: nodes, servers: 1, buffer: 32 MiB, move: all}", shape, 2, text)
    assert len(found) >= 2 * STEPS and sum(map(len, found.values())) > 20000
    return found


RUNS = few(
    [
        ("{mode: nodes, servers: 3, buffer: 32 MiB}", 5),
        ("{mode: nodes, servers: 1, buffer: 32 MiB}", 4),
        ("{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks}", 4),
        ("{mode: cores, per_node: 2, buffer: 32 MiB}", 5),
        ("inline", 3),
    ]
)


@pytest.mark.parametrize(("placement", "ranks"), RUNS)
def test_results_are_those_of_all_blocks(tmp_path, shape, reference, placement, ranks):
    assert run(tmp_path / "results", placement, shape, ranks, tasks(shape[0])) == reference


@pytest.mark.test_all
def test_results_in_another_job(tmp_path, shape, reference):
    text, results = tasks(shape[0]), tmp_path / "results"
    assert run(results, stream(tmp_path), shape, 4, text, endpoint(tmp_path, results, shape, text, 2)) == reference


def surface(dimensions):
    return f"analyses: [isosurface: {{variable: t, values: {World(dimensions, 2, 0).surfaces()}}}]\n"


def check_counts(shape, counts, but=()):
    """Never fewer than the patches at surfaces, and at most a tenth more, over all steps but some."""
    worlds = [World(*shape, step) for step in range(STEPS)]
    exact = [len(world.at_surface()) for world in worlds]
    assert all(few <= many for few, many in zip(exact, counts, strict=True)), (exact, counts)
    steps = [step for step in range(STEPS) if step not in but]
    assert sum(counts[n] for n in steps) <= 1.1 * sum(exact[n] for n in steps), (exact, counts)
    assert sum(counts[n] for n in steps) < 0.8 * sum(len(worlds[n].blocks) for n in steps)


@with_surfaces
@pytest.mark.parametrize(
    "rest", few(["servers: 2, forward: blocks", "servers: 1", "servers: 2, partitioner: {isosurface: WHERE}"])
)
def test_moved_blocks(tmp_path, shape, rest):
    rest = rest.replace("WHERE", f"{{variable: t, values: {World(*shape, 0).surfaces()}}}")
    text = surface(shape[0])
    if "partitioner" in rest:
        text = "analyses: [histogram: {variable: t, bins: 4}]\n"
    results = tmp_path / "results"
    run(results, f"{{mode: nodes, {rest}, buffer: 32 MiB}}", shape, 4, text)
    check_counts(shape, moved(results))


@with_surfaces
@pytest.mark.test_all
def test_moved_blocks_in_another_job(tmp_path, shape):
    results, text = tmp_path / "results", surface(shape[0])
    run(results, stream(tmp_path), shape, 3, text, endpoint(tmp_path, results, shape, text, 2))
    # Writers measure as if all were there, so where a value is missing whole blocks decide.
    check_counts(shape, moved(results, "endpoint-"), but=[MISSING])


@with_surfaces
@pytest.mark.test_all
def test_a_plan_says_so_before(tmp_path, shape):
    """`sidestream plan` counts the same blocks from the ranges in a metadata file."""
    results = tmp_path / "results"
    run(results, "inline", shape, 3, 'outputs: [metadata: {ranges: t, file: "m-{index}.yaml"}]\n')
    case = tmp_path / "case.yaml"
    placement = "placement: {mode: nodes, servers: 2}\n"
    case.write_text(placement + random_levels.declared(*shape) + surface(shape[0]))
    counts = []
    for step in range(STEPS):
        line = [TOOL, "plan", str(case), "--metadata", str(results / f"m-{step}.yaml")]
        said = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        assert said.returncode == 0, said.stderr
        row = next(line for line in said.stdout.splitlines() if line.split()[:1] == ["isosurface"])
        counts.append(int(row.split()[1]))
    check_counts(shape, counts)
