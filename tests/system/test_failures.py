"""Analyses that fail, files that cannot be written, signals: errors are contained and reported."""

import signal

import h5py
import pytest
from job_support import STATISTICS
from pairs import few, pairs
from sidecar_support import Job
from support import (
    MPIRUN,
    PROGRAM,
    VARIABLES,
    Run,
    needs_small_disks,
    rank_of,
    run,
    send,
    small_disk,
    started,
    wait_for,
)

PLACEMENTS = {
    "{mode: cores, buffer: 32 MiB, per_node: 2}": 4,
    "inline": 2,
    "{mode: nodes, buffer: 32 MiB, servers: 2}": 4,
    "{mode: nodes, servers: 1, buffer: 32 MiB, forward: partials}": 4,
    "{mode: nodes, servers: 1, buffer: 32 MiB, forward: blocks}": 4,
}


@pytest.mark.keep(2)
@pytest.mark.parametrize(("placement", "how"), pairs(PLACEMENTS, ["error", "odd", "combine"], strength=1))
def test_a_failing_analysis_costs_one_iteration_of_itself(tmp_path, placement, how):
    tasks = f"""\
analyses:
  - fail: {{variable: t, at: 1, how: {how}}}
  - statistics: {{variable: t}}
"""
    done = run(tmp_path, PLACEMENTS[placement], placement, tasks=tasks, options=["steps=4"])
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == 4 and account["failed"] == 1
    assert "fail: " in done.text and done.text.count("iteration 1: fail") == 1
    statistics = (done.results / "statistics.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in statistics[1:]] == ["0", "1", "2", "3"]
    assert "message" in (done.results / "run.yaml").read_text()


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_on_error_stop_reaches_every_client(tmp_path, placement):
    tasks = "analyses:\n  - fail: {variable: t, at: 0}\n"
    done = run(
        tmp_path,
        PLACEMENTS[placement],
        placement,
        tasks=tasks,
        options=["steps=50", "pause_ms=20"],
        extra="on_error: stop\n",
    )
    assert done.status != 0
    assert len(done.errors) == 2, done.text
    assert all("error 4" in line and "planned failure" in line for line in done.errors)


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_directory_that_cannot_be_made(tmp_path, placement):
    (tmp_path / "file").write_text("in the way")
    done = run(
        tmp_path,
        PLACEMENTS[placement],
        placement,
        tasks="analyses:\n  - statistics: {variable: t}\n",
        extra=f"output: {{directory: {tmp_path}/file/results}}\n",
    )
    assert done.status != 0
    assert len(done.errors) == PLACEMENTS[placement], done.text
    assert len(set(done.errors)) == 1 and f"{tmp_path}/file" in done.errors[0]


@pytest.mark.keep(1)
@needs_small_disks
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_full_disk(tmp_path, placement):
    with small_disk(tmp_path / "disk", "700k") as disk:
        tasks = "analyses:\n  - statistics: {variable: t}\noutputs:\n  - hdf5: {variables: [t]}\n"
        done = run(
            tmp_path,
            PLACEMENTS[placement],
            placement,
            tasks=tasks,
            options=["steps=20"],
            extra=f"output: {{directory: {disk}/results}}\n",
        )
        left = [path.name for path in (disk / "results").iterdir()]
    accounts = done.accounts
    assert len(accounts) == 2, done.text
    for account in accounts:
        assert account["delivered"] == 20
        assert 0 < account["failed"] < 20
    assert "No space left on device" in done.text
    assert not [name for name in left if "part" in name or "tmp" in name], left


def lines_of(table):
    return len(table.read_text().splitlines()) if table.exists() else 0


@needs_small_disks
@pytest.mark.parametrize("placement", few(PLACEMENTS))
def test_a_disk_without_room_for_records_leaves_the_account(tmp_path, placement):
    disk = tmp_path / "disk"
    (tmp_path / "run.yaml").write_text(
        f"placement: {placement}\n{VARIABLES}analyses: [statistics: {{variable: t}}]\n"
        f"output: {{directory: {disk}/results}}\n"
    )
    until = tmp_path / "until"
    options = ["steps=100000000", "pause_ms=20", f"until={until}"]
    command = [MPIRUN, "-n", str(PLACEMENTS[placement]), PROGRAM, str(tmp_path / "run.yaml"), *options]
    with small_disk(disk, "700k"), Job(command, tmp_path / "said.txt") as running:
        ended = lambda: running.process.poll() is not None  # noqa: E731
        wait_for(lambda: lines_of(disk / "results/statistics.csv") > 2 or ended(), "two results")
        with pytest.raises(OSError, match="No space left"), (disk / "in-the-way").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(512))
        wait_for(lambda: "No space" in running.text() or ended(), "a result that has no room")
        until.touch()
        status = running.wait(100)
        left = [path.name for path in (disk / "results").iterdir()]
    text = running.text()
    done = Run(status, text, disk)
    assert done.status == 0 and len(done.accounts) == 2, text
    steps = done.accounts[0]["iterations"]
    assert [account["delivered"] for account in done.accounts] == [steps, steps], text
    assert all(0 < account["failed"] < steps for account in done.accounts), text
    assert text.count("a record of the run is missing: cannot write") >= 2, text
    assert f"of {steps} iterations {steps} were delivered" in text and "iterations.csv says" not in text
    assert not [name for name in left if "part" in name], left


@pytest.mark.parametrize("placement", few(["{mode: cores, buffer: 32 MiB}", "{mode: nodes, servers: 1}"]))
def test_sigterm_to_a_server_loses_nothing(tmp_path, placement):
    until = tmp_path / "until"
    options = ["steps=100000000", "pause_ms=20", f"until={until}"]
    with started(tmp_path, 2, placement, tasks=STATISTICS, options=options) as going:
        wait_for(lambda: lines_of(going.results / "statistics.csv") > 1, "the first result")
        send(rank_of(going, 1), signal.SIGTERM)  # rank 1, the last one, is the server
        known = lines_of(going.results / "statistics.csv")
        wait_for(lambda: lines_of(going.results / "statistics.csv") > known + 5, "more results")
        until.touch()
        done = going.finish()
    assert done.status == 0, done.text
    (account,) = done.accounts
    assert account["delivered"] == account["iterations"] > 5 and account["failed"] == 0, done.text


@pytest.mark.parametrize("placement", few(["{mode: nodes, servers: 1}", "{mode: cores, buffer: 32 MiB}"]))
def test_a_killed_client_ends_the_job_and_keeps_what_was_committed(tmp_path, placement):
    tasks = "outputs:\n  - hdf5: {variables: [t]}\n"
    done = run(tmp_path, 3, placement, tasks=tasks, options=["steps=50", "pause_ms=20", "die_at=25"], timeout=60)
    assert done.status != 0
    files = sorted(done.results.glob("fields-*-000.h5"))
    assert len(files) > 5
    for file in files:
        with h5py.File(file) as opened:
            assert opened.keys()
