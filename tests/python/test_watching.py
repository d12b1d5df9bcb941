"""The page of `sidestream watch` knows of a directory: pictures, tables, times, outcomes, and the state of a run."""

import fcntl
import os
import shutil
import struct

import pytest
import sidestream
from optional_packages import all_need
from watched_run import CHUNK, PNG, add_frame, add_rows, put, record, replaced_time, spool, timings

pytestmark = all_need("yaml")
watched = pytest.importorskip("sidestream.watching.watched", reason="the page is NOT TESTED: PyYAML is missing")


def seen(root):
    page = watched.Watched(root)
    page.refresh()
    return page


def part(page, key):
    return page.parts[key][1]


def test_directory_that_appears_later(tmp_path):
    root = tmp_path / "later"
    page = seen(root)
    assert part(page, "run")["state"] == "waiting" and not part(page, "run")["there"]
    root.mkdir()
    page.refresh()
    assert part(page, "run")["there"]
    assert {key for key in page.parts if ":" in key} == set()
    record(root)
    add_frame(root, 0)
    page.refresh()
    assert part(page, "series:frame.png")["views"] == {"": 1}


def test_series_have_the_names_that_the_reader_gives(tmp_path):
    for number in range(3):
        add_frame(tmp_path / "frames", number)
    add_rows(tmp_path / "statistics.csv", 0, 3)
    put(tmp_path / "chart.png", PNG)
    put(tmp_path / "views.cdb" / "image" / "0" / "a.png", PNG)
    put(tmp_path / "views.cdb" / "data.csv", "iteration,cycle,time,phi,FILE\n0,0,0.0,20.0,image/0/a.png\n")
    page = seen(tmp_path)
    keys = {key.split(":", 1)[1] for key in page.parts if ":" in key}
    assert keys == {"frames/frame.png", "statistics.csv", "chart.png", "views.cdb"}
    assert keys - {"chart.png"} <= set(sidestream.open(tmp_path))
    newest = part(page, "series:frames/frame.png")["newest"][""]
    assert (newest["file"], newest["iteration"], newest["time"]) == ("frames/frame-00002.png", 2, 0.2)
    assert part(page, "series:views.cdb")["newest"]["phi 20.0"]["file"] == "views.cdb/image/0/a.png"


def test_frames_without_an_index_belong_together_by_their_number(tmp_path):
    for number in (2, 10, 1):
        put(tmp_path / f"film-{number}.png", PNG)
    page = seen(tmp_path)
    assert part(page, "series:film-#.png")["newest"][""]["file"] == "film-10.png"


def test_entries_beside_the_index_count(tmp_path):
    add_frame(tmp_path, 0)
    page = seen(tmp_path)
    put(tmp_path / "frame-00001.png", PNG)
    with (tmp_path / ".frame.png.series.rest").open("w") as file:
        file.write('{"name": "frame-00001.png", "time": 1, "cycle": 1, "iteration": 1}\n{"name": "frame-0')
    page.refresh()
    assert part(page, "series:frame.png")["views"] == {"": 2}


def test_a_picture_that_is_replaced_is_a_new_one(tmp_path):
    put(tmp_path / "chart.png", PNG)
    page = seen(tmp_path)
    before = part(page, "series:chart.png")["newest"][""]["version"]
    put(tmp_path / "chart.png", PNG + b" ")
    page.refresh()
    assert part(page, "series:chart.png")["newest"][""]["version"] != before


def test_folders_that_have_not_changed_are_not_read_again(tmp_path, monkeypatch):
    for number in range(30):
        put(tmp_path / f"folder-{number % 3}" / f"a-{number}.png", PNG)
    for path in (*tmp_path.iterdir(), tmp_path):
        replaced_time(path, 60)
    page = seen(tmp_path)
    for _, folder in page._tree:
        folder.changed_at -= 60
    page.refresh()  # reads again, because the folders were young
    read = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: read.append(path) or scandir(path))
    page.refresh()
    assert read == []


@pytest.mark.parametrize(
    "name", ["a b.png", 'it\'s "so".png', "größe-π.png", "<img src=x onerror=alert(1)>.png", "a#b?c%41.png"]
)
def test_names_of_all_kinds(tmp_path, name):
    put(tmp_path / name, PNG)
    assert part(seen(tmp_path), f"series:{name}")["newest"][""]["file"] == name


def test_index_that_points_elsewhere(tmp_path):
    put(
        tmp_path / "out" / "a.png.series", '{"files": [{"name": "../../x.png", "time": 0, "cycle": 0, "iteration": 0}]}'
    )
    put(tmp_path / "out" / "b.png.series", '{"files": [')
    put(tmp_path / "out" / "c.png.series", '{"files": [7]}')
    page = seen(tmp_path / "out")
    assert not [key for key in page.parts if key.startswith("series:")]


def test_second_run_in_the_same_directory(tmp_path):
    for number in range(5):
        add_frame(tmp_path, number)
    add_rows(tmp_path / "statistics.csv", 0, 50)
    record(tmp_path, account={"iterations": 5, "delivered": 5, "refused": 0, "failed": 0})
    page = seen(tmp_path)
    assert part(page, "run")["state"] == "ended" and page.tables["statistics.csv"].rows == 50
    for path in tmp_path.iterdir():
        path.unlink()
    record(tmp_path)
    add_frame(tmp_path, 0)
    add_rows(tmp_path / "statistics.csv", 0, 60)  # longer than the table of the first run
    page.refresh()
    assert part(page, "run")["state"] == "stopped"
    assert part(page, "series:frame.png")["views"] == {"": 1}
    assert page.tables["statistics.csv"].rows == 60
    assert page.changes({"series:gone.png": 1})["gone"] == ["series:gone.png"]


def test_the_lock_of_a_run_is_seen_and_not_taken(tmp_path):
    record(tmp_path)
    with (tmp_path / ".run.lock").open("w") as file:
        whole = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, whole)
        page = seen(tmp_path)
        assert part(page, "run")["state"] == "running"
        with (tmp_path / ".run.lock").open("r+") as other, pytest.raises(OSError):
            fcntl.fcntl(other, fcntl.F_OFD_SETLK, whole)
    page.refresh()
    assert part(page, "run")["state"] == "stopped"
    record(tmp_path, account={"delivered": 1})
    page.refresh()
    assert part(page, "run")["state"] == "ended"


def test_table_that_grows_is_read_where_it_grows(tmp_path, monkeypatch):
    path = tmp_path / "statistics.csv"
    add_rows(path, 0, 3)
    page = seen(tmp_path)
    with path.open("a") as file:
        file.write("3,3,0.3,0,9\n4,4")  # not whole, and not marked as whole
    page.refresh()
    assert page.tables["statistics.csv"].rows == 3
    (tmp_path / ".statistics.csv.committed").unlink()
    page.refresh()
    assert page.tables["statistics.csv"].rows == 4
    shown = page.tables["statistics.csv"].shown()
    assert shown["values"][shown["columns"].index("mean")] == [0, 1, 4, 9]
    assert page.changes(told := {}) and page.changes(told) == {}


def test_huge_tables_stay_small(tmp_path):
    path = tmp_path / "long.csv"
    with path.open("w") as file:
        file.write("iteration,cycle,time,mean\n")
        file.writelines(f"{n},{n},{n},{n}\n" for n in range(50000))
    table = seen(tmp_path).tables["long.csv"]
    shown = table.shown()
    assert table.rows == 50000 and shown["thinned"]
    assert 1000 < len(shown["values"][0]) <= 4001
    assert shown["values"][3][0] == 0 and shown["values"][3][-1] == 49999
    assert len(shown["last"]) == 100


def test_long_files_are_read_from_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("sidestream.watching.growing.FROM_THE_END", 1000)
    add_rows(tmp_path / "long.csv", 0, 1000)
    table = seen(tmp_path).tables["long.csv"]
    assert table.columns[0] == "iteration" and table.rows < 100 and table.last[-1][0] == "999"
    assert table.shown()["thinned"]


def test_table_with_many_rows_in_an_iteration_shows_the_newest(tmp_path):
    rows = "".join(f"{n},{n},{n},{b},{n * 100 + b}\n" for n in range(4) for b in range(64))
    put(tmp_path / "histogram.csv", "iteration,cycle,time,bin,count\n" + rows)
    shown = seen(tmp_path).tables["histogram.csv"].shown()
    assert not shown["over_time"] and shown["values"][4] == list(range(300, 364))


def test_odd_tables(tmp_path):
    put(tmp_path / "empty.csv", "")
    put(tmp_path / "header.csv", "a,b\n")
    put(tmp_path / "odd.csv", 'iteration,name,value\n0,"a, ""b""\nc",nan\n1,short\n2,<b>,inf\n')
    put(tmp_path / "binary.csv", bytes(range(256)) * 20)
    page = seen(tmp_path)
    assert "table:empty.csv" not in page.parts and part(page, "table:header.csv")["rows"] == 0
    assert page.tables["header.csv"].shown()["values"] == [[], []]
    shown = page.tables["odd.csv"].shown()
    assert shown["values"] == [[0, 2], ['a, "b"\nc', "<b>"], [None, None]]


def test_times_from_a_part_file_and_then_from_the_table(tmp_path):
    spool(tmp_path / ".timings.csv.rows", [timings(range(3)), None, timings(range(3, 5)) + "1,server,9,0.1"])
    page = seen(tmp_path)
    found = part(page, "times")["timings.csv"]
    assert found["iterations"] == [0, 1, 2, 3, 4]
    assert found["clients"]["publish"] == [0.1] * 5 and found["tasks"]["render"] == [0.4] * 5
    assert [number for _, number in found["waiting"]] == [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
    assert {bar[0] for bar in found["bars"]} == {"client 0", "server 1"}
    (tmp_path / ".timings.csv.rows").unlink()
    head = "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"
    put(tmp_path / "timings.csv", head + timings(range(8)) + timings(range(2)))  # the second part is a resumed run
    page._times_due = 0
    page.refresh()
    assert part(page, "times")["timings.csv"]["iterations"] == [0, 1]


def test_times_of_which_clients_have_fewer(tmp_path):
    servers = "".join(line + "\n" for line in timings(range(800)).splitlines() if "server" in line)
    clients = "".join(line + "\n" for line in timings(range(500)).splitlines() if "client" in line)
    spool(tmp_path / ".timings.csv.rows", [clients, servers])
    found = part(seen(tmp_path), "times")["timings.csv"]
    assert found["iterations"][-1] == 499 and len(found["iterations"]) == 400 and len(found["waiting"]) == 800
    # Old rows are not shown as the newest ones.
    later = "".join(line + "\n" for line in timings(range(800, 1200)).splitlines() if "server" in line)
    spool(tmp_path / ".timings.csv.rows", [clients, servers + later])
    found = part(seen(tmp_path), "times")["timings.csv"]
    assert found["iterations"][-1] == 1199 and not found["waiting"]


def test_the_buffer_is_never_below_empty():
    from sidestream.watching.times import by_iteration, waiting_iterations

    rows = [("0", "client", 0, [0.0, 0.0, 0.0, 0.0, 1.0], ""), ("0", "server", 0, [0.5, 0.5], "render")]
    assert [number for _, number in waiting_iterations(by_iteration(rows))] == [1, 0]


def test_another_run_takes_the_place_of_the_first(tmp_path):
    """Nothing of the first one is shown below the head of the second, though nobody looked when it began."""
    head = "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"
    record(tmp_path, account={"iterations": 9})
    put(tmp_path / "timings.csv", head + timings(range(9)))
    for number in (2, 3):
        add_frame(tmp_path, number)
    page = seen(tmp_path)
    assert part(page, "times") and page._progress
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    record(tmp_path, account={"iterations": 2})
    put(tmp_path / "timings.csv", head + timings(range(2)))
    page.refresh()
    assert part(page, "times")["timings.csv"]["iterations"] == [0, 1] and not page._progress
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    page.refresh()
    assert part(page, "times") == {} and part(page, "iterations") == {}


def test_part_file_is_read_at_its_end_only(tmp_path):
    from sidestream.watching.spools import newest_rows

    spool(tmp_path / "rows", ["old\n", None, "new\n", "half"])
    assert newest_rows(tmp_path / "rows", 2) == "new\n"
    assert (tmp_path / "rows").stat().st_size > 3 * CHUNK
    (tmp_path / "link").symlink_to(tmp_path / "rows")
    os.mkfifo(tmp_path / "pipe")
    assert newest_rows(tmp_path / "link") == newest_rows(tmp_path / "pipe") == newest_rows(tmp_path / "none") == ""


def test_outcomes_with_their_reasons(tmp_path):
    head = "iteration,cycle,time,outcome,reason\n"
    spool(tmp_path / ".iterations.csv.rows", ['0,0,0,delivered,\n1,1,1,refused,"no room, client 0"\n'])
    page = seen(tmp_path)
    found = part(page, "iterations")["iterations.csv"]
    assert found["numbers"] == {"delivered": 1, "refused": 1} and found["so_far"]
    assert found["reasons"] == [["1", "1", "1", "refused", "no room, client 0"]]
    (tmp_path / ".iterations.csv.rows").unlink()
    put(tmp_path / "iterations.csv", head + "".join(f"{n},{n},{n},delivered,\n" for n in range(2000)))
    page._times_due = 0
    page.refresh()
    found = part(page, "iterations")["iterations.csv"]
    assert found["numbers"] == {"delivered": 2000} and len(found["newest"]) == 600 and not found["so_far"]
