"""Cinema databases of pictures, and several cameras: the same in every placement, whole after kills, on full disks."""

import csv
import importlib.util
import re
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
import sidestream
from optional_packages import without
from pairs import few
from PIL import Image
from programs import built
from support import needs_small_disks, prepare, ranks_of, run, send, small_disk, started

PLACEMENTS = {
    "{mode: nodes, servers: 2}": 4,
    "inline": 2,
    "{mode: cores, buffer: 32 MiB, per_node: 1}": 3,
    "{mode: nodes, servers: 3, forward: partials}": 5,
}
VIEWS = """\
analyses:
  - render:
      isosurface: {variable: t, values: [-0.3, 0.4]}
      slice: {variable: t, axis: z, position: 0.2}
      size: [48, 36]
      camera: {phi: [0, 120, 240], theta: [-30, 45]}
      file: VIEWS/views.cdb
"""
VIEWS_AT = VIEWS.replace("VIEWS/", "")
SEVERAL = """\
analyses:
  - render:
      isosurface: {variable: p, component: 0, values: [0.2], colour_by: p}
      range: running
      size: [48, 36]
      camera:
        - {view: [1, 1, -1], file: "front-{cycle:03}.png"}
        - {file: "turning-{cycle:03}.png", path: [{cycle: 0, phi: 0}, {cycle: 10, phi: 90}]}
"""
ANGLES = [(phi, theta) for theta in (-30.0, 45.0) for phi in (0.0, 120.0, 240.0)]


def read_strictly(database):
    """The rows of a database, after the rules of Cinema's specification D, version 1.1."""
    text = (database / "data.csv").read_bytes().decode("utf-8")
    assert text.endswith("\n")
    header, *rows = csv.reader(text.splitlines(), strict=True)
    assert len(set(header)) == len(header) and all(header)
    files = [name.startswith("FILE") for name in header]
    assert any(files) and files == sorted(files), "columns of files come last"
    assert rows and all(len(row) == len(header) for row in rows)
    assert not re.search(r" ,|, ", text), "no blanks around commas"
    columns = {}
    for name, values in zip(header, zip(*rows, strict=True), strict=True):
        whole = [re.fullmatch(r"[+-]?\d+", value) is not None for value in values]
        real = [re.fullmatch(r"[+-]?\d*\.\d+([eE][+-]?\d+)?", value) is not None for value in values]
        assert all(whole) or not any(whole), f"{name}: {values}"
        assert all(real) or not any(real), f"{name}: {values}"
        columns[name] = [int(v) if all(whole) else float(v) if all(real) else v for v in values]
    for name in columns["FILE"]:
        assert not name.startswith("/")
        with Image.open(database / name) as picture:
            picture.load()
            assert picture.size == (48, 36)
    assert len(set(columns["FILE"])) == len(rows)
    return columns


def check_whole(database, cycles):
    """Each of these cycles has a picture from each direction, and nothing else is listed."""
    columns = read_strictly(database)
    views = list(zip(columns["phi"], columns["theta"], strict=True))
    assert views == ANGLES * len(cycles)
    assert columns["cycle"] == [cycle for cycle in cycles for _ in ANGLES]
    return columns


@pytest.mark.parametrize(("placement", "ranks"), few(list(PLACEMENTS.items()), keep=2))
def test_the_pictures_of_all_views_are_the_same_in_every_placement(tmp_path, placement, ranks):
    def views(folder, ranks, placement):
        done = run(folder, ranks, placement, VIEWS_AT, ["steps=3", "blocks=2"])
        assert done.status == 0, done.text
        return done.results / "views.cdb"

    here = views(tmp_path / "here", ranks, placement)
    columns = check_whole(here, [0, 10, 20])
    assert columns["time"] == pytest.approx([0.01 * cycle for cycle in columns["cycle"]])
    alone = views(tmp_path / "alone", 1, "inline")
    files = {path.relative_to(alone) for path in alone.rglob("*") if path.is_file()}
    assert files == {path.relative_to(here) for path in here.rglob("*") if path.is_file()}
    assert all((here / name).read_bytes() == (alone / name).read_bytes() for name in files)
    assert len({(here / name).read_bytes() for name in columns["FILE"]}) == len(columns["FILE"]), "all differ"


def test_several_cameras_have_files_of_their_own(tmp_path):
    done = run(tmp_path, 3, "{mode: nodes, servers: 1}", SEVERAL, ["steps=2"])
    assert done.status == 0, done.text
    assert {path.name for path in done.results.glob("*.png")} == {
        f"{name}-{cycle}.png" for name in ("front", "turning") for cycle in ("000", "010")
    }
    assert (done.results / "front-ranges.csv").exists()
    opened = sidestream.open(done.results)
    assert {"front.png", "turning.png"} <= set(opened)


def test_a_database_opens_in_python(tmp_path):
    done = run(tmp_path, 2, "inline", VIEWS_AT, ["steps=2"])
    assert done.status == 0, done.text
    opened = sidestream.open(done.results)
    assert "views.cdb" in opened and not [name for name in opened if "image" in name]
    table = opened["views.cdb"]
    assert list(table["phi"][:3]) == [0, 120, 240] and table["FILE"][0] == "image/00000000/phi0_theta-30.png"


@pytest.mark.skipif(importlib.util.find_spec("pycinema") is None, reason=without("pycinema"))
def test_pycinema_reads_a_database(tmp_path, monkeypatch):
    """Its reader, and its choice of pictures by parameters, without its windows, which need graphics."""
    done = run(tmp_path, 2, "inline", VIEWS_AT, ["steps=2"])
    assert done.status == 0, done.text
    folder = Path(importlib.util.find_spec("pycinema").origin).parent
    for name, path in {"pycinema": folder, "pycinema.filters": folder / "filters"}.items():
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        monkeypatch.setitem(sys.modules, name, package)
    core = importlib.import_module("pycinema.Core")
    vars(sys.modules["pycinema"]).update(vars(core))
    reader = importlib.import_module("pycinema.filters.CinemaDatabaseReader").CinemaDatabaseReader()
    query = importlib.import_module("pycinema.filters.TableQuery").TableQuery()
    reader.inputs.path.set(str(done.results / "views.cdb"), False)
    query.inputs.table.set(reader.outputs.table, False)
    query.inputs.sql.set("SELECT * FROM input WHERE phi=120 AND theta=45", False)
    reader.update()
    query.update()
    header, *rows = query.outputs.table.get()
    assert len(rows) == 2
    for row in rows:
        with Image.open(row[header.index("FILE")]) as picture:
            assert picture.size == (48, 36)


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few(["{mode: nodes, servers: 2}", "inline"]))
def test_a_run_that_goes_on_continues_the_database(tmp_path, placement):
    ranks = PLACEMENTS[placement]
    first = run(tmp_path, ranks, placement, VIEWS_AT, ["steps=5"])
    assert first.status == 0, first.text
    before = {path: path.read_bytes() for path in (first.results / "views.cdb").rglob("*.png")}
    extra = f"output: {{directory: {tmp_path}/results, existing: resume}}\n"
    again = run(tmp_path, ranks, placement, VIEWS_AT, ["steps=4", "first=3"], extra=extra)
    assert again.status == 0, again.text
    columns = check_whole(again.results / "views.cdb", [0, 10, 20, 30, 40, 50, 60])
    assert columns["iteration"][-1] == 3
    assert all(path.read_bytes() == content for path, content in before.items()), "what was committed stays"
    assert columns["FILE"][3 * len(ANGLES)] == "image/00000030/phi0_theta-30-v2.png"


def test_a_run_that_replaces_removes_what_the_earlier_database_lists(tmp_path):
    first = run(tmp_path, 2, "inline", VIEWS_AT, ["steps=4"])
    assert first.status == 0, first.text
    database = first.results / "views.cdb"
    (database / "image" / "mine.png").write_bytes(b"of somebody else")
    (database / "image" / "00000020" / "notes.txt").write_bytes(b"of somebody else")
    (first.results / "kept.png").write_bytes(b"of somebody else")
    with (database / "data.csv").open("a") as table:
        table.write("9,90,0.9,0.0,45.0,../kept.png\n9,90,0.9,0.0,45.0,image/00000020/notes.txt\n")
    extra = f"output: {{directory: {tmp_path}/results, existing: replace}}\n"
    again = run(tmp_path, 2, "inline", VIEWS_AT, ["steps=1"], extra=extra)
    assert again.status == 0, again.text
    columns = check_whole(database, [0])
    found = {path.relative_to(database).as_posix() for path in database.rglob("*") if path.is_file()}
    assert (first.results / "kept.png").exists(), "planted rows remove nothing"
    assert found == {"data.csv", "image/mine.png", "image/00000020/notes.txt", *columns["FILE"]}


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few(["{mode: nodes, servers: 2}", "inline", "{mode: cores, buffer: 32 MiB}"]))
def test_a_killed_run_leaves_a_database_that_goes_on(tmp_path, placement):
    ranks = PLACEMENTS.get(placement, 3)
    with started(tmp_path, ranks, placement, VIEWS_AT, ["steps=100000"]) as going:
        table = going.results / "views.cdb" / "data.csv"
        deadline = time.monotonic() + 60
        while not table.exists() or table.read_text().count("\n") < 20:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for process in ranks_of(going.process).values():
            send(process, signal.SIGKILL)
        going.finish()
    extra = f"output: {{directory: {tmp_path}/results, existing: resume}}\n"
    last = max(int(row["cycle"]) for row in csv.DictReader(table.read_text().splitlines()[:-1]))
    again = run(tmp_path, ranks, placement, VIEWS_AT, ["steps=2", f"first={last // 10}"], extra=extra)
    assert again.status == 0, again.text
    check_whole(again.results / "views.cdb", list(range(0, last + 20, 10)))


@needs_small_disks
@pytest.mark.parametrize("placement", few(["{mode: nodes, servers: 2}", "inline"]))
def test_a_full_disk_costs_iterations_and_no_more(tmp_path, placement):
    """The disk takes the pictures of two iterations and part of a third."""
    with small_disk(tmp_path / "small", "128k") as disk:
        tasks = VIEWS.replace("VIEWS", str(disk))
        done = run(tmp_path, PLACEMENTS[placement], placement, tasks, ["steps=12"])
        assert "No space left on device" in done.text
        columns = read_strictly(disk / "views.cdb")
    assert done.status == 0 and all(account["delivered"] == 12 for account in done.accounts), done.text
    cycles = len(columns["cycle"]) // len(ANGLES)
    assert 0 < cycles < 12
    assert list(zip(columns["phi"], columns["theta"], strict=True)) == ANGLES * cycles, "all views or none"


def test_the_check_names_what_cameras_write(tmp_path):
    prepare(tmp_path, 1, "inline", SEVERAL, [])
    command = [built("SIDESTREAM_TOOL"), "check", str(tmp_path / "run.yaml"), "--set", "n=8", "--set", "h=0.125"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "-> front-{cycle:03}.png, turning-{cycle:03}.png\n" in done.stdout
    volume = VIEWS_AT.replace("slice: {variable: t, axis: z, position: 0.2}", "volume: {variable: t, opacity: [0, 1]}")
    for number, tasks in enumerate((VIEWS_AT, volume)):
        prepare(tmp_path / str(number), 1, "inline", tasks, [])
        command[2] = str(tmp_path / str(number) / "run.yaml")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert "-> views.cdb; each frame's colours span its own values" in done.stdout, done
