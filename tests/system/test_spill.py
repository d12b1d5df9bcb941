"""`when_full: spill` gives the results of `wait`, in order, also if servers are slow or die, or disks are full."""

import os
import re
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from job_support import endpoint, finished, simulation, write_configuration
from pairs import few
from programs import built
from sidecar_support import Sidecar
from support import ANALYSES, needs_small_disks, ranks_of, results_of, run, send, started, wait_for

SLOW = "  - sleep: {variable: t, seconds: 0.05}\n"
STATISTICS = "analyses:\n  - statistics: {variable: t}\n  - statistics: {name: nodes, variable: p, file: nodes.csv}\n"
STEPS = 12


@pytest.fixture
def disk():
    """A folder on disk, not in memory, for files of clients."""
    folder = Path("/var/tmp") / f"spill-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def placement(disk, mode="cores", buffer="600 KiB", size="64 MiB", extra=""):
    return f"{{mode: {mode}, buffer: {buffer}, when_full: spill, spill: {{directory: {disk}, size: {size}}}{extra}}}"


def record(run_):
    text = (run_.results / "run.yaml").read_text()
    return {name: int(value) for name, value in re.findall(r"^  (\w+): (\d+)$", text, re.M)}


def check(run_, clients, steps=STEPS):
    assert run_.status == 0, run_.text
    assert len(run_.accounts) == clients, run_.text
    for account in run_.accounts:
        assert account["iterations"] == account["delivered"] == steps, run_.text
    rows = (run_.results / "statistics.csv").read_text().splitlines()[1:]
    assert [int(row.split(",")[0]) for row in rows] == list(range(steps))  # none is lost or out of order


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "more", "options"),
    few(
        [
            (4, ", per_node: 2", ["in_place=1", "empty=1"]),
            (6, ", pretend_nodes: 2", ["blocks=2"]),
            (2, "", []),
            (3, "", ["blocks=3", "ghosts=1"]),
        ],
        keep=2,
    ),
)
def test_same_bytes_as_with_wait(tmp_path, disk, ranks, more, options):
    variables = ANALYSES + SLOW
    options = [f"steps={STEPS}", *options]
    waited = run(tmp_path / "wait", ranks, f"{{mode: cores, buffer: 600 KiB{more}}}", variables, options)
    spilled = run(tmp_path / "spill", ranks, placement(disk, extra=more), variables, options)
    clients = len(waited.accounts)
    check(waited, clients)
    check(spilled, clients)
    assert results_of(spilled) == results_of(waited)
    told = record(spilled)
    assert 0 < told["spilled"] <= STEPS
    assert told["bytes_spilled"] > 0
    assert record(waited)["spilled"] == 0
    assert not list(disk.iterdir())  # each client removes its file


@pytest.mark.test_all
def test_the_simulation_does_not_wait_until_the_share_is_used_up(tmp_path, disk):
    """Seconds that clients waited for room, as they measured them."""

    def waited(run_):
        rows = [line.split(",") for line in (run_.results / "timings.csv").read_text().splitlines()]
        column = rows[0].index("wait")
        return sum(float(row[column] or 0) for row in rows[1:] if row[1] == "client")

    tasks = STATISTICS + "  - sleep: {variable: t, seconds: 0.1}\n"
    large = run(tmp_path / "large", 2, placement(disk), tasks, [f"steps={STEPS}"])
    small = run(tmp_path / "small", 2, placement(disk, size="300 KiB"), tasks, [f"steps={STEPS}"])
    check(large, 1)
    check(small, 1)
    assert record(large)["spilled"] > record(small)["spilled"]
    assert waited(small) > 10 * waited(large)
    assert results_of(large) == results_of(small)


def test_a_block_that_never_fits_the_share_waits(tmp_path, disk):
    done = run(tmp_path, 2, placement(disk, size="64 KiB"), STATISTICS + SLOW, [f"steps={STEPS}"])
    check(done, 1)
    assert record(done)["spilled"] < STEPS  # p does not fit, and only t may


@needs_small_disks
@pytest.mark.parametrize("kibibytes", few([100, 4, 500]))
def test_a_full_disk_is_said_and_waited_for(tmp_path, disk, kibibytes):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"NOT TESTED: {mounted.stderr}")
    try:
        done = run(tmp_path, 3, placement(disk), STATISTICS + SLOW, [f"steps={STEPS}", "blocks=2"])
    finally:
        subprocess.run(["umount", disk], check=True)
    check(done, 2)
    assert "No space left on device; the simulation waits for room instead" in done.text
    assert "lies in memory (tmpfs)" in done.text


def failing(disk, call, after):
    return {
        "LD_PRELOAD": built("SIDESTREAM_FAILING_DISK"),
        "FAILING_DISK_FOLDER": str(disk),
        "FAILING_DISK_CALL": call,
        "FAILING_DISK_AFTER": str(after),
    }


def delivered_rows(done):
    lines = (done.results / "statistics.csv").read_text().splitlines()[1:]
    rows = [int(row.split(",")[0]) for row in lines]
    assert rows == sorted(set(rows))
    return rows


@pytest.mark.parametrize("after", few([3, 0]))
def test_an_error_of_the_disk_ends_the_publication(tmp_path, disk, after):
    """The program is told which publication failed and why. Earlier iterations are delivered, and nobody hangs."""
    done = run(
        tmp_path, 3, placement(disk), STATISTICS + SLOW, [f"steps={STEPS}"], environment=failing(disk, "pwritev", after)
    )
    assert done.status != 0
    assert "(when_full: spill): Input/output error; the iteration is refused" in done.text
    rows = delivered_rows(done)
    assert rows == list(range(len(rows))) and len(rows) < STEPS
    assert not list(disk.iterdir())


def test_an_error_while_reading_costs_iterations(tmp_path, disk):
    done = run(
        tmp_path, 2, placement(disk), STATISTICS + SLOW, [f"steps={STEPS}"], environment=failing(disk, "pread", 4)
    )
    assert done.status == 0, done.text
    (account,) = done.accounts
    assert account["iterations"] == STEPS and 0 < account["refused"] < STEPS, done.text
    assert account["delivered"] + account["refused"] == STEPS
    assert "Input/output error" in done.text
    assert len(delivered_rows(done)) == account["delivered"]


def test_a_file_that_is_damaged_costs_its_iterations(tmp_path, disk):
    """The test overwrites the files while iterations wait in them. The server waits until then."""
    written_over = tmp_path / "written-over"
    tasks = STATISTICS + f"  - await: {{variable: t, at: 0, path: {written_over}}}\n"
    with started(tmp_path, 2, placement(disk), tasks, ["steps=8"]) as job:
        wait_for(lambda: any(file.stat().st_size > 400_000 for file in disk.iterdir()), "iterations in a file")
        for file in disk.iterdir():
            with file.open("r+b") as opened:
                opened.write(b"nonsense" * (file.stat().st_size // 8))
        written_over.touch()
        done = job.finish()
    assert done.status == 0, done.text
    (account,) = done.accounts
    assert account["iterations"] == 8
    assert account["refused"] > 0
    assert account["delivered"] == 8 - account["refused"]
    assert "it is damaged; it is refused" in done.text
    rows = [int(row.split(",")[0]) for row in (done.results / "statistics.csv").read_text().splitlines()[1:]]
    assert len(rows) == account["delivered"]
    assert rows == sorted(rows)


@pytest.mark.test_all
def test_what_killed_runs_leave_is_named_and_removed(tmp_path, disk):
    tasks = STATISTICS + "  - sleep: {variable: t, seconds: 0.3}\n"
    with started(tmp_path / "first", 3, placement(disk), tasks, ["steps=1000"]) as job:
        deadline = time.monotonic() + 20
        while len([f for f in disk.iterdir() if f.stat().st_size > 0]) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        # Another run in the same folder does not touch files that are in use.
        beside = run(tmp_path / "beside", 2, placement(disk), STATISTICS, ["steps=2"])
        assert beside.status == 0, beside.text
        assert "removed what runs" not in beside.text
        left = {f.name for f in disk.iterdir()}
        assert len(left) == 2
        for pid in ranks_of(job.process).values():
            send(pid, signal.SIGKILL)
        job.process.kill()
        job.process.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        after = run(tmp_path / "after", 2, placement(disk), STATISTICS, ["steps=2"])
        if "removed what runs" in after.text:
            break
    assert after.status == 0, after.text
    for name in left:
        assert name in after.text
    assert not list(disk.iterdir())


def spilling(disk, size="64 MiB"):
    return {"when_full": "spill", "buffer": "600 KiB", "spill": f"{{directory: {disk}, size: {size}}}"}


def stop_until_it_spills(sidecar, servers, disk):
    """Stops the servers until a client has written to its file."""
    sidecar.wait_for_rows(1)
    os.kill(servers.process.pid, signal.SIGSTOP)
    sidecar.wait_until(lambda: any(f.stat().st_size > 0 for f in disk.iterdir()), what="spilling")


@pytest.mark.test_all
def test_sidecar(tmp_path, disk):
    steps = 30
    with Sidecar(tmp_path / "wait", ANALYSES, buffer="600 KiB") as sidecar:
        servers = sidecar.serve(0)
        waited = sidecar.start(2, f"steps={steps}")
        assert waited.wait() == 0, waited.text()
        assert servers.wait() == 0, servers.text()
        expected = results_of(sidecar, (".vtp", ".png"))
        expected["table"] = (sidecar.results / "statistics.csv").read_bytes()
    with Sidecar(tmp_path / "spill", ANALYSES, **spilling(disk)) as sidecar:
        servers = sidecar.serve(0)
        spilled = sidecar.start(2, f"steps={steps}", "pause_ms=100")
        stop_until_it_spills(sidecar, servers, disk)
        os.kill(servers.process.pid, signal.SIGCONT)
        assert spilled.wait() == 0, spilled.text()
        assert servers.wait() == 0, servers.text()
        table = (sidecar.results / "statistics.csv").read_bytes()
        assert {**results_of(sidecar, (".vtp", ".png")), "table": table} == expected
        assert sidecar.rows() == list(range(steps))
        told = (sidecar.results / "run-clients.yaml").read_text()
        assert int(re.search(r"  spilled: (\d+)", told)[1]) > 0
    assert not list(disk.iterdir())


def test_servers_of_a_sidecar_are_killed(tmp_path, disk):
    """Whatever is in the files: the next servers begin with what comes next, and the simulation never stops."""
    kills, most = 5 if os.environ.get("SIDESTREAM_TEST_ALL") == "1" else 2, 64
    with Sidecar(tmp_path, STATISTICS, **spilling(disk, "4 MiB")) as sidecar:
        sidecar.endless(2, "pause_ms=5")
        for kill in range(kills):
            servers = sidecar.serve(0)
            sidecar.wait_for_rows(3)
            if kill == 0:
                stop_until_it_spills(sidecar, servers, disk)
            else:
                os.kill(servers.process.pid, signal.SIGSTOP)
                time.sleep(0.3)
            os.kill(servers.process.pid, signal.SIGKILL)
            assert servers.wait(10) == -signal.SIGKILL, servers.text()
            assert sidecar.simulation.process.poll() is None, sidecar.simulation.text()
        last = sidecar.serve(0)
        sidecar.wait_for_rows(10)
        done = sidecar.finish()
        assert last.wait() == 0, last.text()
        rows = sidecar.rows()
        told = (sidecar.results / "run-clients.yaml").read_text()
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["iterations"] == account["delivered"] + account["refused"] + account["unknown"]
        assert account["delivered"] > 0
        assert account["unknown"] <= most * kills
    assert int(re.search(r"  spilled: (\d+)", told)[1]) > 0
    assert rows == sorted(set(rows))
    assert not list(disk.iterdir())


def test_job_whose_endpoint_comes_late(tmp_path, disk):
    expected = results_of(run(tmp_path / "inline", 2, "inline", ANALYSES, [f"steps={STEPS}"]), (".vtp", ".png"))
    options = ", ".join(f"{name}: {value}" for name, value in spilling(disk).items())
    write_configuration(tmp_path, "engine: files, reader_limit: 60", f"{options},")
    with simulation(tmp_path, 2, [f"steps={STEPS}"]) as job:
        wait_for(lambda: any(f.stat().st_size > 0 for f in disk.iterdir()), "spilling")
        with endpoint(tmp_path, 1) as reader:
            done = finished(tmp_path, job)
            status, text = reader.finish()
    assert status == 0, text
    check(done, 2)
    assert results_of(done, (".vtp", ".png")) == expected
    assert record(done)["spilled"] > 0
    assert not list(disk.iterdir())


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("{mode: inline, when_full: spill}", "found 'when_full: spill' with the mode 'inline'"),
        ("{mode: nodes, buffer: 32 MiB, when_full: spill}", "found 'when_full: spill' with the mode 'nodes'"),
        ("{mode: cores, buffer: 32 MiB, spill: {size: 1 GiB}}", "found 'spill' with 'when_full: wait'"),
        ("{mode: cores, buffer: 32 MiB, when_full: spill, spill: {directory: /proc/none}}", "/proc/none"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, mode, sentence):
    done = run(tmp_path, 2, mode, STATISTICS, ["steps=1"])
    assert done.status != 0
    assert sentence in done.text
