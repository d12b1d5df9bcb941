"""Runs that resume where others ended. Files on disk stay, whatever the second run repeats."""

import csv
import json
import re
import xml.etree.ElementTree as ET

import h5py
import numpy as np
import pytest
from pairs import few
from sidestream.charts import times
from sidestream.charts.given import read_given
from support import run
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader

N = 12
PLACEMENTS = {"inline": 2, "{mode: cores, buffer: 32 MiB, per_node: 1}": 3, "{mode: nodes, servers: 2}": 4}
TASKS = """\
analyses:
  - statistics: {variable: t}
  - slice: {variable: t, axis: z, position: 0.5, file: "s-{cycle:03}.vtp"}
  - render: {isosurface: {variable: t, values: [0.2]}, size: [40, 30], file: "frame-{cycle:03}.png"}
  - histogram: {variable: t, bins: 5, file: "h-{cycle:03}.csv"}
outputs:
  - hdf5: {variables: [t]}
  - vtk: {variables: [t]}
"""


def expected(cycle):
    x, y, z = ((np.arange(N) + 0.5) / N for _ in range(3))
    z, y, x = np.meshgrid(z, y, x, indexing="ij")
    time = 0.01 * cycle
    return np.sin(6.3 * x + time) * np.cos(4.1 * y) + 0.7 * np.sin(5.2 * z - 0.5 * time) + 0.1 * x * y


def read_h5(path):
    with h5py.File(path) as file:
        assert file["variables/t"].attrs["missing"] == 0
        return file["variables/t"][...], int(file.attrs["cycle"])


def read_vtk(path):
    reader = vtkXMLPImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    values = vtk_to_numpy(data.GetCellData().GetArray("t")).reshape(N, N, N)
    return values, int(data.GetFieldData().GetArray("CYCLE").GetValue(0))


def series(results, name):
    return [(f["name"], f["cycle"]) for f in json.loads((results / name).read_text())["files"]]


def snapshot(results):
    """Files that a resumed run must not change: all except tables, indices and records of the run."""
    kept = (".h5", ".vti", ".pvti", ".vtp", ".png")
    return {
        path.relative_to(results): path.read_bytes()
        for path in results.rglob("*")
        if path.suffix in kept or path.name.startswith("h-")
    }


def resume(folder, ranks, placement, *options):
    extra = f"output: {{directory: {folder}/results, existing: resume}}\n"
    return run(folder, ranks, placement, tasks=TASKS, options=[f"grid={N}", *options], extra=extra)


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_what_an_earlier_run_committed_stays(tmp_path, placement):
    """Runs cycles 0 to 90, then resumes at 60 and repeats four cycles."""
    ranks = PLACEMENTS[placement]
    first = run(tmp_path, ranks, placement, tasks=TASKS, options=[f"grid={N}", "steps=10"])
    assert first.status == 0, first.text
    before = snapshot(first.results)
    rows = (first.results / "statistics.csv").read_text().splitlines(keepends=True)
    again = resume(tmp_path, ranks, placement, "steps=6", "first=6")
    assert again.status == 0, again.text
    assert all(a["delivered"] == 6 and a["failed"] == 0 for a in again.accounts)
    after = snapshot(again.results)
    assert {name: after[name] for name in before} == before
    check_files(again.results)
    check_tables(again.results, rows)
    check_times(again.results, clients=len(again.accounts))
    assert not [p for p in again.results.rglob(".*") if p.is_file()], "nothing hidden stays"


def check_times(results, clients):
    """The table of times has the rows of both runs, and tells them apart: 10 iterations, then 6."""
    given = read_given(results / "timings.csv", None, lambda columns: True)
    ranks = {role: set(given.numbers("rank", given.columns["role"] == role)) for role in ("client", "server")}
    total, spare = times.work(given)
    assert len(times.held(given)) == (10 + 6) * clients
    assert len(total) == (10 + 6) * len(ranks["server"])
    assert len(spare) == (10 + 6) * len(ranks["server"] - ranks["client"])


def check_files(results):
    """For each cycle the indices name the file of the resumed run, and it has the values."""
    versions = {60: "-v2", 70: "-v2", 80: "-v2", 90: "-v2"}
    cycles = list(range(0, 120, 10))
    for stem, ending, read in (("fields", "h5", read_h5), ("fields", "pvti", read_vtk)):
        listed = series(results, f"{stem}.{ending}.series")
        assert listed == [(f"fields-{c:06}{versions.get(c, '')}.{ending}", c) for c in cycles]
        reference, _ = read(results / listed[0][0])
        np.testing.assert_allclose(reference, expected(0), rtol=1e-13, atol=1e-15)
        for name, cycle in listed + [(f"fields-{c:06}.{ending}", c) for c in versions]:
            values, read_cycle = read(results / name)
            assert read_cycle == cycle
            np.testing.assert_allclose(values, expected(cycle), rtol=1e-12, atol=1e-14)
        for cycle, version in versions.items():
            old, new = (read(results / f"fields-{cycle:06}{v}.{ending}")[0] for v in ("", version))
            np.testing.assert_array_equal(old, new)
    for name in ("s.vtp.series", "frame.png.series", "h.csv.series"):
        stem, ending = name.split(".")[:2]
        assert series(results, name) == [(f"{stem}-{c:03}{versions.get(c, '')}.{ending}", c) for c in cycles]
        for cycle, version in versions.items():
            old, new = (results / f"{stem}-{cycle:03}{v}.{ending}" for v in ("", version))
            if ending == "csv":
                assert old.read_bytes() == new.read_bytes()
            assert new.stat().st_size > 0
    for pvd in ("s.pvd", "fields.pvd"):
        assert len(ET.parse(results / pvd).getroot().findall("./Collection/DataSet")) == len(cycles)


def check_tables(results, rows):
    """The table is continued. Rows that were dropped from it are kept in a file beside it."""
    with (results / "statistics.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [int(row["cycle"]) for row in table] == list(range(0, 120, 10))
    text = (results / "statistics.csv").read_text().splitlines(keepends=True)
    assert text[:7] == rows[:7]
    assert (results / "statistics-v1.csv").read_text() == "".join(rows)


RUNNING = """\
analyses:
  - render:
      slice: {{variable: t, axis: z}}
      size: [40, 30]
      range: running
      file: "frame-{{cycle:03}}.png"
      isolate: {0}
  - render: {{isosurface: {{variable: t, values: [9]}}, size: [40, 30], file: "none-{{cycle:03}}.png", isolate: {0}}}
"""


@pytest.mark.parametrize(("placement", "isolate"), few(PLACEMENTS, ["none", "process"], kept=[("inline", "process")]))
def test_a_running_range_goes_on_in_a_resumed_run(tmp_path, placement, isolate):
    """The frames of two runs, one after the other, are those of one. Also from a process of its own."""
    ranks = PLACEMENTS[placement]
    (tmp_path / "whole").mkdir()
    options = [f"grid={N}"]
    whole = run(tmp_path / "whole", 2, "inline", tasks=RUNNING.format("none"), options=[*options, "steps=6"])
    assert whole.status == 0, whole.text
    tasks = RUNNING.format(isolate)
    first = run(tmp_path, ranks, placement, tasks=tasks, options=[*options, "steps=3"])
    assert first.status == 0, first.text
    extra = f"output: {{directory: {tmp_path}/results, existing: resume}}\n"
    second = run(tmp_path, ranks, placement, tasks=tasks, options=[*options, "steps=3", "first=3"], extra=extra)
    assert second.status == 0, second.text
    frames = sorted(path.name for path in whole.results.glob("frame-*.png"))
    assert len(frames) == 6
    # Their numbers count anew in each run.
    rows = [
        [line.split(",")[1:] for line in (done.results / "frame-ranges.csv").read_text().splitlines()]
        for done in (whole, second)
    ]
    assert rows[0] == rows[1]
    for name in frames:
        assert (second.results / name).read_bytes() == (whole.results / name).read_bytes(), name
    # The range that an empty picture's message names comes from the blocks that the server received.
    said = re.search(r"isosurface of 't' at 9, and its values reach from (\S+) to (\S+);", first.text)
    assert said, first.text
    low, high = (re.search(r"'none.*?reach from (\S+) to (\S+);", whole.text)[n] for n in (1, 2))
    assert said.groups() == (low, high)


def test_a_third_run_finds_the_next_version(tmp_path):
    tasks = "outputs:\n  - hdf5: {variables: [t]}\n"
    assert run(tmp_path, 2, "cores", tasks=tasks, options=["steps=3"]).status == 0
    extra = f"output: {{directory: {tmp_path}/results, existing: resume}}\n"
    for version in (2, 3):
        done = run(tmp_path, 2, "cores", tasks=tasks, options=["steps=2", "first=1"], extra=extra)
        assert done.status == 0, done.text
        assert "is kept" in done.text
        names = [name for name, _ in series(done.results, "fields.h5.series")]
        assert names == ["fields-000000.h5", f"fields-000010-v{version}.h5", f"fields-000020-v{version}.h5"]


def test_names_that_a_resumed_run_would_repeat_are_refused(tmp_path):
    extra = f"output: {{directory: {tmp_path}/results, existing: resume}}\n"
    tasks = 'outputs:\n  - hdf5: {variables: [t], file: "f-{index:04}.h5"}\n'
    done = run(tmp_path, 2, "cores", tasks=tasks, extra=extra)
    assert done.status != 0
    assert "{index}" in done.errors[0] and "{cycle}" in done.errors[0] and "run.yaml:7:" in done.errors[0]


def test_an_iteration_with_the_cycle_of_another_keeps_both(tmp_path):
    """Some codes call their output twice in one step."""
    tasks = "outputs:\n  - hdf5: {variables: [t]}\n  - vtk: {variables: [t]}\n"
    done = run(
        tmp_path,
        3,
        "{mode: cores, buffer: 32 MiB, per_node: 1}",
        tasks=tasks,
        options=[f"grid={N}", "steps=4", "repeat=2"],
    )
    assert done.status == 0, done.text
    for ending, read in (("h5", read_h5), ("pvti", read_vtk)):
        names = [f"fields-{c:06}{v}.{ending}" for c in (0, 10) for v in ("", "-v2")]
        assert [name for name, _ in series(done.results, f"fields.{ending}.series")] == names
        times = [f["time"] for f in json.loads((done.results / f"fields.{ending}.series").read_text())["files"]]
        for name, time in zip(names, times, strict=True):
            np.testing.assert_allclose(read(done.results / name)[0], expected(100 * time), rtol=1e-12, atol=1e-14)
    assert "2 files of" in done.text, "counted, and said at the end"


def test_files_that_fail_in_each_iteration_are_logged_once_and_counted(tmp_path):
    """Directories have the names of all files."""
    for cycle in range(0, 80, 10):
        (tmp_path / f"results/f-{cycle:06}.h5").mkdir(parents=True)
    tasks = 'outputs:\n  - hdf5: {variables: [t], file: "f-{cycle:06}.h5"}\n'
    extra = f"output: {{directory: {tmp_path}/results}}  # existing: refuse, nothing is there\n"
    done = run(tmp_path, 2, "inline", tasks=tasks, options=["grid=8", "steps=8"], extra=extra)
    assert all(a["failed"] == 8 for a in done.accounts), done.text
    logged = [line for line in done.text.splitlines() if "Is a directory" in line]
    assert len(logged) == 2, done.text
    assert "f-000000.h5" in logged[0] and "iterations 0 to 7" in logged[1] and "8 cases" in logged[1]
