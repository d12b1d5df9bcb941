"""Patches on refinement levels that appear, vanish, change and go to other clients. Results are the same in every
placement, and blocks that no analysis needs do not move."""

import csv
import functools
import math
import os
import re
import subprocess
import uuid

import h5py
import numpy as np
import pytest
from kinds_database import check_database
from launched import run_in_job
from pairs import few, pairs
from patches import counted, patches, values
from programs import built
from support import run_beside
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkCellCenters
from vtkmodules.vtkIOXML import vtkXMLMultiBlockDataReader

PROGRAM = built("SIDESTREAM_PATCHES_PROGRAM")
PLUGIN = built("SIDESTREAM_LEVELS_PLUGIN")
TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS = 8

DECLARED = """\
meshes: {m: {type: uniform, size: SIZE, refinement: RATIOS}}
variables:
  t: {mesh: m}
  n: {mesh: m, centering: node, type: float32, components: 2}
  sometimes: {mesh: m}
"""
TASKS = """\
analyses:
  - statistics: {variable: t, file: t.csv}
  - statistics: {name: nodes, variable: n, file: n.csv}
  - statistics: {name: s, variable: sometimes, file: sometimes.csv}
  - histogram: {variable: t, bins: 9, file: "h-{index}.csv"}
  - histogram: {name: hn, variable: n, component: 0, bins: 9, file: "hn-{index}.csv"}
  - threshold: {variable: t, minimum: 200000, file: "part-{index}.vtu"}
  - threshold: {name: small, variable: n, component: 0, maximum: 900, file: "small-{index}.vtu"}
  - clip: {variable: t, normal: [1, 0.3, 0], origin: [3, 3, 0], file: "cut-{index}.vtu"}
  - projection: {variable: t, axis: x, file: "line-{index}.h5"}
  - probe: {variables: [t], point: [{name: a, at: [1.1, 2.2, 0.3]}, {name: b, at: [5.3, 4.6, 0.6]}], file: probe.csv}
outputs:
  - hdf5: {variables: [t, n, sometimes]}
  - vtk: {variables: [t, sometimes], file: "cells-{cycle:06}.vtm"}
  - database: {directory: data, variables: [t, n, sometimes]}
"""
PLACEMENTS = [
    ("inline", 2, 0),
    ("inline", 3, 0),
    ("inline", 8, 0),
    ("{mode: cores, per_node: 1, buffer: 8 MiB}", 2, 1),
    ("{mode: cores, per_node: 2, buffer: 8 MiB}", 5, 2),
    ("{mode: nodes, servers: 1, buffer: 8 MiB}", 3, 1),
    ("{mode: nodes, servers: 3, buffer: 8 MiB}", 5, 3),
    ("{mode: nodes, servers: 2, buffer: 8 MiB, move: all}", 2, 2),
    ("{mode: nodes, servers: 2, buffer: 8 MiB, partitioner: {replicated: {copies: 2}}}", 5, 2),
    ("{mode: nodes, servers: 3, buffer: 8 MiB, partitioner: {balanced: {by: bytes}}}", 4, 3),
    ("{mode: nodes, servers: 2, buffer: 8 MiB, forward: blocks}", 3, 3),
]
TABLES = ("t.csv", "n.csv", "sometimes.csv", "probe.csv", "h-*.csv", "hn-*.csv", "part-*.vtu", "small-*.vtu",
          "cut-*.vtu", "line-*.h5")  # fmt: skip


def configure(folder, placement, tasks=TASKS, dimensions=3, calls=0):
    path = folder / "run.yaml"
    if dimensions < 3:
        tasks = tasks.replace("2.2, 0.3]", "2.2]").replace("4.6, 0.6]", "4.6]")
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}, existing: replace}}\n"
    ratios = "['2', 2x2x1]" if dimensions > 2 else "[2x2x1, 2x2x1]"
    declared = DECLARED.replace("SIZE", str([8, 8, 4][:dimensions])).replace("RATIOS", ratios)
    path.write_text(text + ("" if calls else declared) + tasks)
    return path


def simulate(folder, placement, ranks, tasks=TASKS, beside=None, dimensions=3, calls=0, steps=STEPS, **further):
    path = configure(folder, placement, tasks, dimensions, calls)
    further |= {"dimensions": dimensions, "calls": calls, "steps": steps}
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(path), *(f"{key}={value}" for key, value in further.items())]
    run_beside(folder, command, steps, beside)
    return folder / "results"


def tables(results):
    found = {file.name: file.read_bytes() for name in TABLES for file in sorted(results.glob(name))}
    assert len(found) >= 4 + 6 * STEPS, sorted(found)
    return found


def stored(results, name):
    """Values of a variable in the servers' files, by step and cell of a level."""
    found = {}
    for path in results.glob("fields-*-*.h5"):
        with h5py.File(path) as file:
            for block in file.get(f"variables/{name}", {}).values():
                key = int(path.stem.split("-")[1]), int(block.attrs["level"]), tuple(block.attrs["lo"])
                assert key not in found
                found[key] = block[...].tobytes()
    return found


def shown(results, step):
    """The cells that VTK shows in a step: centres, and values as texts, so that NaN equals itself."""
    reader = vtkXMLMultiBlockDataReader()
    reader.SetFileName(str(results / f"cells-{step:06}.vtm"))
    reader.Update()
    found = []
    iterator = reader.GetOutput().NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        grid = iterator.GetCurrentDataObject()
        centres = vtkCellCenters()
        centres.SetInputData(grid)  # leaves out flagged cells
        centres.Update()
        places = vtk_to_numpy(centres.GetOutput().GetPoints().GetData()).astype(float)
        flags = grid.GetCellData().GetArray("vtkGhostType")
        here = np.ones(grid.GetNumberOfCells(), bool) if flags is None else vtk_to_numpy(flags) == 0
        numbers = vtk_to_numpy(grid.GetCellData().GetArray("t"))
        found += [
            (*place, number)
            for place, number in zip(places.round(6).tolist(), map(str, numbers[here].tolist()), strict=True)
        ]
        iterator.GoToNextItem()
    return sorted(found)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Blocks that are declared and removed one by one. All other runs give whole lists."""
    return simulate(tmp_path_factory.mktemp("alone"), "inline", 1, single=1)


def everything(results):
    """Tables, the values of each variable in the servers' files, and the cells that VTK shows in each step."""
    written = [stored(results, name) for name in ("t", "n", "sometimes")]
    return tables(results), written, [shown(results, step) for step in range(STEPS)]


expected_of = functools.cache(everything)


def check_same(results, alone):
    (expected, *others), (found, *mine) = expected_of(alone), everything(results)
    assert [name for name in expected if found[name] != expected[name]] == []
    assert mine == others
    check_database(results, STEPS)


def exact_rows(step, dimensions=3):
    numbers = np.concatenate([values(p.cells[c], p.level, step) for p, c in counted(step, dimensions)])
    return numbers[np.isfinite(numbers)], np.isnan(numbers).sum(), np.isinf(numbers).sum()


def check_statistics(file, dimensions=3, steps=range(STEPS)):
    rows = {int(row["cycle"]): row for row in csv.DictReader(file.open())}
    assert sorted(rows) == list(steps)
    for step, row in rows.items():
        finite, nan, infinite = exact_rows(step, dimensions)
        assert (int(row["count"]), int(row["nan"]), int(row["infinite"])) == (len(finite), nan, infinite)
        assert (float(row["minimum"]), float(row["maximum"])) == (finite.min(), finite.max())
        assert float(row["sum"]) == math.fsum(finite)


def test_what_is_counted(alone):
    check_statistics(alone / "t.csv")
    check_statistics(alone / "sometimes.csv", steps=range(0, STEPS, 2))
    for step in range(STEPS):
        finite, nan, infinite = exact_rows(step)
        assert len(shown(alone, step)) == len(finite) + nan + infinite
        with (alone / f"h-{step}.csv").open() as file:
            assert sum(int(row["count"]) for row in csv.DictReader(file)) == len(finite)
        with h5py.File(alone / f"line-{step}.h5") as file:
            assert np.nanmax(file["length"][...]) == 8, "no place counts twice"
    keys = {(step, p.level, tuple(p.lo)) for step in range(STEPS) for p in patches(step)}
    assert set(stored(alone, "t")) == keys
    assert set(stored(alone, "sometimes")) == {key for key in keys if key[0] % 2 == 0}


@pytest.mark.parametrize(("placement", "clients", "servers"), few(PLACEMENTS, kept=[PLACEMENTS[10]]))
def test_placements(tmp_path, alone, placement, clients, servers):
    check_same(simulate(tmp_path, placement, clients + servers), alone)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("further", "placement"),
    pairs(
        [{"calls": 1, "single": 1}, {"ghosts": 1}], ["inline", "{mode: nodes, servers: 2, buffer: 8 MiB}"], strength=1
    ),
)
def test_declared_by_calls_and_with_ghosts(tmp_path, alone, placement, further):
    check_same(simulate(tmp_path, placement, 5, **further), alone)


@pytest.mark.test_all
def test_sidecar(tmp_path, alone):
    placement = f"{{mode: sidecar, session: test-{uuid.uuid4().hex[:12]}, buffer: 8 MiB, when_full: wait}}"
    check_same(simulate(tmp_path, placement, 4, beside=[TOOL, "serve", str(tmp_path / "run.yaml")]), alone)


@pytest.mark.test_all
@pytest.mark.parametrize("readers", few([3, 1]))
def test_job(tmp_path, alone, readers):
    placement = f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}"
    beside = [MPIRUN, "-n", str(readers), TOOL, "endpoint", str(tmp_path / "run.yaml")]
    check_same(simulate(tmp_path, placement, 5, beside=beside), alone)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "ranks"), [("inline", 1), ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5)])
def test_two_dimensions(tmp_path, placement, ranks):
    results = simulate(tmp_path, placement, ranks, dimensions=2)
    check_statistics(results / "t.csv", dimensions=2)


@pytest.mark.test_all
def test_the_second_run_in_a_directory(tmp_path, alone):
    """Results of the first run are replaced, whatever patches it had. Files of servers that no longer exist stay,
    and no index names them."""
    simulate(tmp_path, "inline", 3, first=3, steps=5)
    results = simulate(tmp_path, "{mode: nodes, servers: 2, buffer: 8 MiB}", 4)
    assert tables(results) == tables(alone)
    assert [shown(results, step) for step in range(STEPS)] == [shown(alone, step) for step in range(STEPS)]


def run_with_hole(folder, placement, ranks, step):
    """Does not publish patch 3 in that step. Returns the table of `t`, and the reasons by iteration."""
    path = configure(folder, placement, CELLS)
    status, text = run_in_job(PROGRAM, ranks, folder / "printed", [path, f"hole={step}"])
    assert status == 0, text
    accounts = re.findall(r"delivered=8 refused=0 failed=0 unknown=0 absent=(\d+)", text)
    # There are variables in cells and at nodes, and in every other step another one in cells.
    assert accounts and {int(absent) for absent in accounts} == {2 + (step % 2 == 0)}, text
    assert f"iteration {step}: " in text and "missing on block 3 of the mesh 'm'" in text, text
    assert "block 3 of level 1 lies over block" in text
    rows = list(csv.DictReader((folder / "results" / "iterations.csv").open()))
    return (folder / "results" / "t.csv").read_bytes(), [row["reason"] for row in rows]


def test_a_patch_that_is_not_delivered(tmp_path):
    """The missing patch covers nothing: coarser cells count, and the iteration has a reason."""
    found = set()
    for placement, ranks in (("inline", 1), ("inline", 4), ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5)):
        table, reasons = run_with_hole(tmp_path, placement, ranks, 2)
        assert ["missing on block 3" in reason for reason in reasons] == [step == 2 for step in range(STEPS)]
        found.add(table)
    assert len(found) == 1
    rows = list(csv.DictReader(found.pop().decode().splitlines()))
    numbers = np.concatenate([values(p.cells[c], p.level, 2) for p, c in counted(2, without=3)])
    assert int(rows[2]["count"]) == np.isfinite(numbers).sum()


def test_a_patch_below_others_that_is_not_delivered(tmp_path):
    """A finer patch on the missing one cuts coarse cells. Analyses that would count them twice are left out, with a
    message."""
    table, reasons = run_with_hole(tmp_path, "inline", 4, 1)
    assert [int(row["iteration"]) for row in csv.DictReader(table.decode().splitlines())] == [0, *range(2, STEPS)]
    assert "missing on block 3" in reasons[1] and "left out" in reasons[1]


@pytest.mark.keep(2)
@pytest.mark.parametrize(("placement", "ranks"), [("inline", 3), ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5)])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_statistics_by_size(tmp_path, placement, ranks, dimensions):
    """Values are weighted by the size of their cell, on levels with different ratios along the axes."""
    tasks = "analyses:\n  - statistics: {variable: t, by: size, file: t.csv}\n"
    tasks += "  - statistics: {name: fine, variable: t, by: size, levels: [1, 2], file: fine.csv}\n"
    results = simulate(tmp_path, placement, ranks, tasks, dimensions=dimensions)
    for name, levels in (("t.csv", {0, 1, 2}), ("fine.csv", {1, 2})):
        rows = list(csv.DictReader((results / name).open()))
        for step, row in enumerate(rows):
            numbers, sizes = [np.zeros(0)], [np.zeros(0)]
            for p, c in counted(step, dimensions):
                if p.level in levels:
                    numbers.append(values(p.cells[c], p.level, step))
                    sizes.append(np.full(c.sum(), p.ratio.prod() / (16.0 * (2 if dimensions > 2 else 1))))
            numbers, sizes = np.concatenate(numbers), np.concatenate(sizes)
            numbers, sizes = numbers[np.isfinite(numbers)], sizes[np.isfinite(numbers)]
            assert int(row["count"]) == len(numbers)
            assert float(row["size"]) == math.fsum(sizes)
            assert float(row["sum"]) == math.fsum(sizes * numbers)  # sizes are powers of two
            if len(numbers) == 0:
                assert math.isnan(float(row["mean"]))
                continue
            mean = math.fsum(sizes * numbers) / math.fsum(sizes)
            assert float(row["mean"]) == mean
            variance = math.fsum(sizes * (numbers - mean) ** 2) / math.fsum(sizes)
            assert float(row["variance"]) == pytest.approx(variance, rel=1e-12)
        assert len(rows) == STEPS


# ---- what moves

CELLS = "analyses:\n  - statistics: {variable: t, file: t.csv}\n"


def moved(results):
    """Blocks and bytes that came to servers, by iteration."""
    found = [[0, 0] for _ in range(STEPS)]
    for row in csv.DictReader((results / "movement.csv").open()):
        if row["role"] == "server":
            found[int(row["iteration"])][0] += int(row["blocks"])
            found[int(row["iteration"])][1] += int(row["bytes"])
    return [tuple(one) for one in found]


def amounts(needed):
    return [(len(step), sum(8 * len(p.cells) for p in step)) for step in needed]


ALL = amounts([patches(step) for step in range(STEPS)])
UNCOVERED = amounts([[p for p, c in counted(step) if c.any()] for step in range(STEPS)])
BRACKETED = amounts(
    [
        [p for p, c in counted(step) if c.any() and (values(p.cells, p.level, step) >= 200000).any()]
        for step in range(STEPS)
    ]
)


@pytest.mark.test_all
@pytest.mark.parametrize("more", few(["", ", forward: blocks"]))
def test_covered_blocks_stay_where_they_are(tmp_path, more):
    placement = f"{{mode: nodes, servers: 2, buffer: 8 MiB{more}}}"
    ranks = 6 if more else 5
    for tasks in (
        CELLS,
        "analyses:\n  - histogram: {variable: t, bins: 5}\n",
        "analyses:\n  - projection: {variable: t, axis: z}\n",
        "analyses:\n  - clip: {variable: t, normal: [1, 0, 0], origin: [0.01, 0, 0]}\n",
    ):
        assert moved(simulate(tmp_path, placement, ranks, tasks)) == UNCOVERED, tasks
    assert sum(blocks for blocks, _ in ALL) == sum(blocks for blocks, _ in UNCOVERED) + 5
    threshold = "analyses:\n  - threshold: {variable: t, minimum: 200000}\n"
    assert moved(simulate(tmp_path, placement, ranks, threshold)) == BRACKETED
    assert sum(blocks for blocks, _ in BRACKETED) < sum(blocks for blocks, _ in UNCOVERED)
    output = "outputs: [hdf5: {variables: [t]}]\n"
    assert moved(simulate(tmp_path, placement, ranks, CELLS + output)) == ALL, "an output writes them too"


def test_move_all(tmp_path):
    results = simulate(tmp_path, "{mode: nodes, servers: 2, buffer: 8 MiB, move: all}", 5, CELLS)
    assert moved(results) == ALL
    check_statistics(results / "t.csv")


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "ranks"), [("inline", 3), ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5)])
def test_one_level_alone(tmp_path, placement, ranks):
    """Blocks of the level come even if finer levels cover them."""
    for level in (0, 1, 2, -1):
        tasks = f"plugins: ['{PLUGIN}']\nanalyses:\n  - on_level: {{variable: t, level: {level}}}\n"
        results = simulate(tmp_path, placement, ranks, tasks)
        if level >= 0:
            needed = [[p for p in patches(step) if p.level == level] for step in range(STEPS)]
            rows = list(csv.DictReader((results / "level.csv").open()))
            for row, step, there in zip(rows, range(STEPS), needed, strict=True):
                numbers = np.concatenate([values(p.cells, p.level, step) for p in there] or [np.zeros(0)])
                assert int(row["cells"]) == len(numbers)
                assert int(row["sum"]) == np.rint(10 * numbers[np.isfinite(numbers)]).sum()
        if placement != "inline":
            assert moved(results) == (amounts(needed) if level >= 0 else UNCOVERED)


@pytest.mark.keep(1)
@pytest.mark.parametrize("levels", [[0, 0], [1, 1], [1, 2], [2, 2]])
def test_levels_that_are_not_chosen_stay(tmp_path, levels):
    tasks = f"analyses:\n  - statistics: {{variable: t, levels: {levels}, file: t.csv}}\n"
    results = simulate(tmp_path, "{mode: nodes, servers: 2, buffer: 8 MiB}", 5, tasks)
    chosen = [[p for p, c in counted(step) if c.any() and levels[0] <= p.level <= levels[1]] for step in range(STEPS)]
    assert moved(results) == amounts(chosen)
    assert any(chosen)


def test_plan_knows_what_is_covered(tmp_path):
    """`sidestream plan` counts as many blocks and bytes for each iteration as came to servers in a run."""
    results = simulate(tmp_path, "inline", 2, "outputs: [metadata: {}]\n")
    path = configure(tmp_path, "{mode: nodes, buffer: 32 MiB, servers: 2}", CELLS)
    planned = []
    for step in range(STEPS):
        command = [TOOL, "plan", path, "--metadata", results / f"metadata-{step:06}.yaml"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        blocks, size = re.search(r"in all +(\d+) of \d+ blocks .*?\((\d+) B\) of", done.stdout).groups()
        planned.append((int(blocks), int(size)))
    assert planned == UNCOVERED
    assert planned != ALL
