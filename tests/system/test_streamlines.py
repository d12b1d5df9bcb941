"""Stream lines in whole runs: the same in every placement, read by VTK, and refused where blocks are not at hand."""

import numpy as np
import pytest
from pairs import few
from support import run
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

PLACEMENTS = {
    "{mode: nodes, servers: 3}": 5,
    "inline": 3,
    "{mode: cores, buffer: 32 MiB, per_node: 1}": 3,
    "{mode: nodes, groups: {first: 1, second: 2}}": 5,
}
GROUPS = {"name: lines,": "name: lines, group: first,", "name: picture": "name: picture\n      group: second"}
SEEDS = "line: {from: [0.1, 0.2, 0.15], to: [0.9, 0.7, 0.8], samples: 7}, steps: 200"
TASKS = f"""\
derived: {{slope: gradient(t)}}
analyses:
  - streamlines: {{name: lines, variable: slope, {SEEDS}, fields: t, precision: double,
                  file: "lines-{{cycle:03}}.vtp"}}
  - render:
      name: picture
      streamlines: {{variable: slope, {SEEDS}, colour_by: t}}
      slice: {{variable: t, axis: z, position: 0.2, opacity: 0.5}}
      size: [80, 60]
      file: "picture-{{cycle:03}}.png"
"""


def read(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    surface = reader.GetOutput()
    data = surface.GetPointData()
    arrays = {data.GetArrayName(n): vtk_to_numpy(data.GetArray(n)) for n in range(data.GetNumberOfArrays())}
    return vtk_to_numpy(surface.GetPoints().GetData()), vtk_to_numpy(surface.GetLines().GetConnectivityArray()), arrays


@pytest.mark.parametrize(("placement", "ranks"), few(list(PLACEMENTS.items()), keep=2))
def test_lines_are_the_same_in_every_placement(tmp_path, placement, ranks):
    tasks = TASKS
    for name, grouped in GROUPS.items() if "groups" in placement else ():
        tasks = tasks.replace(name, grouped)
    done = run(tmp_path / "here", ranks, placement, tasks, ["steps=2", "blocks=2"])
    assert done.status == 0 and all(account["failed"] == 0 for account in done.accounts), done.text
    alone = run(tmp_path / "alone", 1, "inline", TASKS, ["steps=2"])
    assert alone.status == 0, alone.text
    for name in ("lines-000.vtp", "lines-010.vtp", "picture-000.png", "picture-010.png"):
        assert (done.results / name).read_bytes() == (alone.results / name).read_bytes(), name
    points, segments, arrays = read(done.results / "lines-010.vtp")
    assert len(np.unique(arrays["line"])) == 7 and len(points) > 100
    a, b = segments.reshape(-1, 2).T
    # Values rise along the gradient, from point to point of each line, if not quite where lines end.
    assert np.mean(arrays["t"][b] >= arrays["t"][a]) > 0.97
    lengths = np.linalg.norm(points[b] - points[a], axis=1)
    steps = arrays["arc_length"][b] - arrays["arc_length"][a]
    assert np.all(lengths <= steps * (1 + 1e-9)) and np.median(lengths / steps) > 0.99


@pytest.mark.keep(2)
@pytest.mark.parametrize("task", [1, 2])
@pytest.mark.parametrize("how", ["forward: partials", "isolate: process"])
def test_lines_need_the_blocks(tmp_path, task, how):
    """Servers that only combine what others reduced have none, nor has an isolated process. The start fails."""
    tasks = TASKS.split("  - ")
    text = tasks[0] + "  - " + tasks[task]
    if how.startswith("isolate"):
        text = text.replace("name: lines,", f"name: lines, {how},").replace(
            "name: picture", f"name: picture\n      {how}"
        )
    placement = "{mode: nodes, servers: 1, forward: partials}" if how.startswith("forward") else "inline"
    done = run(tmp_path, 4, placement, text, ["steps=2"])
    assert done.status != 0 and "run.yaml:" in done.text and how in done.text, done.text
    assert "that combines reduced results only" in done.text, done.text
    assert not list(done.results.glob("*.vtp")) and not list(done.results.glob("*.png"))
