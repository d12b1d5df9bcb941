"""Files of an earlier run in the output directory stay, whatever names a later run uses."""

import subprocess

import pytest
from programs import built
from support import run

FIRST = ("grid=8", "steps=3")
LATER = ("grid=8", "steps=3", "first=1")
HDF5 = "outputs:\n  - hdf5: {{variables: [t], file: '{}'}}\n"
DATABASE = "  - database: {directory: data, fsync: false}\n"
PICTURE = "  - render: {isosurface: {variable: t, values: [LEVEL]}, size: [40, 40], file: frame.png}\n"
# Files that later runs continue with rows or names of files.
GROWS = (".csv", ".series", ".pvd", "contexts", "messages.txt")


def snapshot(results):
    return {p.relative_to(results).as_posix(): p.read_bytes() for p in results.rglob("*") if p.is_file()}


def kept(before, after):
    """Checks that all earlier contents still exist, under their name or another one."""
    contents = list(after.values())
    for name, content in before.items():
        if name.endswith(GROWS):
            assert name in after, name
        else:
            assert content in contents, name


def twice(folder, first, later, ranks=2, status=0):
    done = run(folder, ranks, "inline", tasks=first, options=FIRST)
    assert done.status == 0, done.text
    before = snapshot(done.results)
    extra = f"output: {{directory: {folder}/results, existing: resume}}\n"
    again = run(folder, ranks, "inline", tasks=later, options=LATER, extra=extra)
    assert (again.status != 0) == bool(status), again.text
    after = snapshot(again.results)
    kept(before, after)
    return before, after, again


def check(folder):
    tool = [built("SIDESTREAM_TOOL"), "check", str(folder / "run.yaml"), "--set", "n=8", "--set", "h=0.125"]
    return subprocess.run(tool, capture_output=True, text=True, timeout=60, check=False)


TASKS = {
    "time": (HDF5.format("f-{time}.h5"), HDF5.format("f-{time}.h5")),
    "names of versions": (HDF5.format("f-{cycle}-v2.h5"), HDF5.format("f-{cycle}.h5")),
    "versions of versions": (HDF5.format("f-{cycle}-v2.h5"), HDF5.format("f-{cycle}-v2.h5")),
    "another format": (HDF5.format("f-{cycle}.h5"), "outputs:\n  - vtk: {variables: [t], file: 'f-{cycle}.pvti'}\n"),
    "a file of its own each": ("analyses:\n  - statistics: {variable: t, file: 's-{cycle}.csv'}\n",) * 2,
    "metadata": ("outputs:\n  - metadata: {}\n",) * 2,
    "a database in the directory itself": ("outputs:\n  - database: {directory: '.', fsync: false}\n",) * 2,
    "the last contexts": ("outputs:\n  - database: {directory: data, fsync: false, keep: 1}\n",) * 2,
    "names of a database": ("outputs:\n" + DATABASE, HDF5.format("data/context-{cycle:06}.h5")),
}


@pytest.mark.parametrize("name", TASKS)
def test_patterns(tmp_path, name):
    twice(tmp_path, *TASKS[name])


def test_the_record_of_each_run_stays(tmp_path):
    before, after, _ = twice(tmp_path, HDF5.format("f-{cycle}.h5"), HDF5.format("f-{cycle}.h5"))
    assert after["run-v1.yaml"] == before["run.yaml"] and after["run.yaml"] != before["run.yaml"]


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", ["cores", "inline"])
def test_a_picture_that_each_iteration_replaces(tmp_path, placement):
    """The newest file has the name, and the last one of the earlier run is kept."""
    picture = "analyses:\n" + PICTURE
    first = run(tmp_path, 3, placement, tasks=picture.replace("LEVEL", "0.2"), options=FIRST)
    assert first.status == 0, first.text
    before = snapshot(first.results)
    extra = f"output: {{directory: {tmp_path}/results, existing: resume}}\n"
    again = run(tmp_path, 3, placement, tasks=picture.replace("LEVEL", "-0.5"), options=LATER, extra=extra)
    assert again.status == 0, again.text
    after = snapshot(again.results)
    kept(before, after)
    assert after["frame-v1.png"] == before["frame.png"] != after["frame.png"]
    assert "frame-v2.png" not in after, "only what an earlier run left"


def test_names_in_a_database_are_its_own(tmp_path):
    """It is refused before the first step, and by `check`."""
    for name in ("data/context-{cycle:06}.h5", "./data/segment-{cycle:04}-000000-0000.h5"):
        done = run(tmp_path, 2, "inline", tasks=HDF5.format(name) + DATABASE, options=FIRST)
        assert done.status != 0 and "in the directory of the database" in done.text, done.text
        assert not (tmp_path / "results" / "data").exists()
        found = check(tmp_path)
        assert found.returncode == 1 and "in the directory of the database 'database'" in found.stderr, found.stderr
    done = run(tmp_path, 2, "inline", tasks=HDF5.format("data/fields-{cycle}.h5") + DATABASE, options=FIRST)
    assert done.status == 0, done.text


def test_a_file_with_the_name_of_a_context_stays(tmp_path):
    """Somebody adds files between two runs."""
    tasks = "outputs:\n" + DATABASE
    assert run(tmp_path, 2, "inline", tasks=tasks, options=FIRST).status == 0
    mine = tmp_path / "results" / "data" / "context-000004.h5"
    mine.write_text("mine")
    extra = f"output: {{directory: {tmp_path}/results, existing: resume}}\n"
    again = run(tmp_path, 2, "inline", tasks=tasks, options=LATER, extra=extra)
    assert again.status == 0 and "context-000004.h5' is there, and no part of the database" in again.text, again.text
    assert mine.read_text() == "mine"
    assert (tmp_path / "results" / "data" / "context-000005.h5").exists()


def test_check_says_that_an_earlier_run_is_there(tmp_path):
    tasks = HDF5.format("f-{cycle}.h5")
    extra = f"output: {{directory: {tmp_path}/results, existing: EXISTING}}\n"
    run(tmp_path, 2, "inline", tasks=tasks, options=FIRST, extra=extra.replace("EXISTING", "refuse"))
    found = check(tmp_path)
    assert found.returncode == 0 and "warning" in found.stderr, found.stderr
    assert "holds an earlier run (run.yaml is there)" in found.stderr
    assert "output     hdf5" in found.stdout, "the rest is told all the same"
    again = run(tmp_path, 2, "inline", tasks=tasks, options=FIRST, extra=extra.replace("EXISTING", "refuse"))
    assert again.status != 0 and "holds an earlier run" in again.text
    run(tmp_path, 2, "inline", tasks=tasks, options=LATER, extra=extra.replace("EXISTING", "resume"))
    assert check(tmp_path).returncode == 0


IN_PIECES = """\
analyses:
  - isosurface: {variable: t, values: [0.1], pieces: true}
  - histogram: {variable: t, bins: 300, file: "h/h-{index}.csv", pieces: true}
  - render: {isosurface: {variable: t, values: [0.1]}, size: [40, 40]}
outputs:
  - hdf5: {}
  - vtk: {}
  - metadata: {}
"""


@pytest.mark.test_all
@pytest.mark.parametrize("placement", ["nodes", "inline", "cores"])
def test_a_shorter_run_on_fewer_servers_replaces_all_of_a_longer_one(tmp_path, placement):
    """Results are as if the directory had been empty: without iterations of the earlier run, or pieces of its other
    servers."""
    (ranks, many), (fewer, few) = {
        "inline": ((4, "inline"), (2, "inline")),
        "nodes": ((6, "{mode: nodes, buffer: 32 MiB, servers: 4}"), (4, "{mode: nodes, buffer: 32 MiB, servers: 2}")),
        "cores": ((6, "{mode: cores, buffer: 32 MiB, per_node: 3}"), (3, "{mode: cores, buffer: 32 MiB, per_node: 1}")),
    }[placement]
    steps = ("grid=8", "steps=2")
    alone = run(tmp_path / "alone", fewer, few, tasks=IN_PIECES, options=steps)
    assert alone.status == 0, alone.text
    first = run(tmp_path / "both", ranks, many, tasks=IN_PIECES, options=("grid=8", "steps=5"))
    assert first.status == 0, first.text
    blocks = max(folder for folder in first.results.glob("fields-*") if folder.is_dir())
    (blocks / "mine.txt").write_text("mine")
    (first.results / "fields-notes.h5").write_text("mine")
    extra = f"output: {{directory: {first.results}, existing: replace}}\n"
    again = run(tmp_path / "both", fewer, few, tasks=IN_PIECES, options=steps, extra=extra)
    assert again.status == 0, again.text
    expected = {*snapshot(alone.results), f"{blocks.name}/mine.txt", "fields-notes.h5"}
    assert set(snapshot(again.results)) == expected
